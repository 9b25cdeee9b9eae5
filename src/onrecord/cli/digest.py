"""`onrecord digest`: what an agent is shown when a session starts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted
from onrecord.cli.terminal import Progress
from onrecord.digest import digest
from onrecord.project import Project
from onrecord.recall import trust
from onrecord.search import index
from onrecord.settings import DIGEST_SWITCH, off_switches
from onrecord.store import nested
from onrecord.text import count_tokens, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onrecord.digest.digest import Digest, DigestPage
    from onrecord.digest.selection import Pick

_EMPTY = "Nothing to show: nothing is on record here."
_NOT_ACCEPTED = f"Nothing to show: the records of this repository are not accepted; {trust.COMMAND}"
_MAX_FILES = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--why", action="store_true", help="show the score of each entry, and what was left out")


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    is_bank_enough = not (args.user or args.remote or project.store_refs) and digest.has_knowledge_banks(project.root)
    only, warning = (None, "") if is_bank_enough else arguments.only_store(args, project)
    off = "; ".join(map(str, off_switches(project.settings, DIGEST_SWITCH)))
    if off:
        nothing_shown = {"entries": [], "text": "", "off": off}
        return CommandResult(nothing_shown, lambda screen: fitted(screen, f"Nothing to show: {off}.")).warned(warning)
    store_refs = project.stores_for(only).store_refs
    for store_ref in store_refs:
        # A session may have to begin before its index is complete; here there is time for it.
        index.open(store_ref.root).close()
    with Progress("looking at the work"):
        preview = digest.make(project.root, store_refs, project.settings, only.prefix if only else "")
    page = preview.render()
    reasons = list(map(clean, _explain(preview, page))) if args.why else []
    is_trusted = all(store_ref.is_trusted for store_ref in store_refs)
    nothing = _EMPTY if is_trusted else _NOT_ACCEPTED
    # As the hook does: a session at the root of a monorepo is told of the memories in its folders.
    shown = join("" if only or not is_trusted else nested.line(project.root), page.text)

    def text(screen: Screen) -> str:
        return "\n".join([shown or fitted(screen, nothing), *(fitted(screen, line) for line in reasons)])

    tokens = count_tokens(shown)
    data = {**_describe(preview, page), "tokens": tokens, "text": shown}
    note = f"(about {tokens:,} tokens)" if shown else ""
    return CommandResult(data, text, warning="; ".join(preview.warnings), note=note).warned(warning)


def _describe(digest: Digest, digest_page: DigestPage) -> dict[str, Any]:
    """Return a digest as data: the work context, the settings that counted, and every entry with its numbers."""
    context = digest.context
    shown = {pick.candidate.key for pick in digest_page.lines}
    return {
        "relevance": digest.relevance,
        "weight": digest.weight,
        "query": digest.words,
        "signals": {
            "feature": context.feature.slug if context.feature else None,
            "phase": context.feature.phase if context.feature else None,
            "branch": context.branch or None,
            "files": context.files[:_MAX_FILES],
            "subjects": list(context.changes.subjects) if context.changes.is_own else [],
            "notes": context.notes,
        },
        "above": [_entry(pick) for pick in digest_page.above],
        "entries": [_entry(pick) for pick in digest_page.lines],
        "left_out": digest_page.left_out,
        "not_listed": [_entry(pick) for pick in digest.picks if pick.candidate.key not in shown],
        "warnings": list(digest.warnings),
    }


def _entry(pick: Pick) -> dict[str, Any]:
    return {
        "name": pick.candidate.name,
        "path": pick.candidate.path,
        "category": pick.candidate.category,
        "title": pick.candidate.title,
        "score": round(pick.score, 4),
        "relevance": round(pick.relevance, 4),
        "prominence": round(pick.prominence, 4),
        "observations": pick.candidate.observations,
        "confidence": pick.candidate.confidence,
        "reason": pick.reason,
        "caution": pick.caution,
    }


def _explain(digest: Digest, digest_page: DigestPage) -> Iterator[str]:
    """Yield the same for people: the work context, the score of each entry, and what was left out."""
    context = digest.context
    yield f"branch: {context.branch or '(none)'}; changed files: {len(context.files)}; notes: {context.notes or '-'}"
    if digest.relevance == "active":
        yield f"words of the work: {digest.words}"
    else:
        yield "no work to be relevant to, or no weight on it: prominence alone decides"
    for pick in digest_page.above:
        yield f"above the map: {pick.candidate.path}  ({pick.reason})"
    shown = {pick.candidate.key for pick in digest_page.lines}
    pinned = {pick.candidate.key for pick in digest.pinned}
    for pick in digest.picks:
        where = "in the map" if pick.candidate.key in shown else "left out"
        always = "; always in" if pick.candidate.key in pinned else ""
        numbers = f"{pick.score:.2f} = relevance {pick.relevance:.2f}, prominence {pick.prominence:.2f}"
        observed = f"observed {pick.candidate.observations}, confidence {pick.candidate.confidence:g}"
        yield f"{where}: {pick.candidate.name}  {numbers} ({observed}{always})"
    if digest_page.left_out > len(digest.picks) - len(digest_page.lines):
        yield f"{digest_page.left_out:,} are not in the map; those not named here are older or less severe than these"
