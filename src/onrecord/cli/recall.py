"""`onrecord recall` and `digest`: what an agent would be shown for a prompt, or when a session starts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onrecord import paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.digest import digest, last_digest
from onrecord.hosts import table
from onrecord.paths import StoreRef
from onrecord.project import Project
from onrecord.recall import explanation, for_prompt
from onrecord.recall.for_prompt import Decision
from onrecord.settings import DIGEST_SWITCH, off_switches
from onrecord.text import count_tokens

if TYPE_CHECKING:
    from onrecord.recall.for_prompt import Judge

_EMPTY_DIGEST = "Nothing to show: no record is clearly about this work, and no session was left unfinished."


class PromptToPreview(NamedTuple):
    """A prompt, whether it is the first of its session, and the file of the session so far."""

    text: str
    is_first: bool
    transcript: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "digest":
        parser.add_argument("--why", action="store_true", help="show for each entry why it was chosen")
    else:
        add_prompt(parser)


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that describe a prompt."""
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is shown more")
    meaning = "the session so far, for a prompt that refers to it"
    parser.add_argument("--transcript", metavar="FILE", default="", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only, warning = arguments.only_store(args, project)
    if args.command == "digest":
        return _digest(project, only, with_reasons=args.why).warned(warning)
    prompt = PromptToPreview(" ".join(args.prompt), args.first, args.transcript)
    with Progress("searching"):
        return _recall(project, only, prompt).warned(warning)


def _recall(project: Project, only: StoreRef | None, prompt: PromptToPreview) -> CommandResult:
    """Show byte for byte what an agent would be shown for `prompt`, and its size in tokens."""
    decision = decide(project, only, prompt)
    silence = explanation.silence(prompt.text, project.settings)
    text = "" if silence else decision.text
    cost = count_tokens(text)
    data = {
        "prompt": prompt.text,
        "context": text,
        "tokens": cost,
        "memories": [
            {
                "id": candidate.match.id,
                "source": paths.store_name(candidate.prefix),
                "path": candidate.prefix + candidate.match.path,
                "probability": round(candidate.match.probability, 4),
                "shown": candidate.shown_form,
            }
            for candidate in decision.shown_candidates
            if text
        ],
    }
    note = f"about {cost} tokens" if text else silence or "nothing is relevant enough to be shown"
    return CommandResult(data, lambda _: text, note=f"({note})")


def decide(project: Project, only: StoreRef | None, prompt: PromptToPreview, judge: Judge | None = None) -> Decision:
    """Return the hook's decision for `prompt`; with `only`, the decision if that were the only store."""
    session, stores = table.transcript_at(prompt.transcript), project.stores_for(only)
    first, settings = prompt.is_first, project.settings
    return for_prompt.preview(stores, prompt.text, settings, first=first, transcript=session, judge=judge)


def _digest(project: Project, only: StoreRef | None, *, with_reasons: bool) -> CommandResult:
    off = "; ".join(map(str, off_switches(project.settings, DIGEST_SWITCH)))
    if off:
        nothing = {"entries": [], "text": "", "off": off}
        return CommandResult(nothing, lambda screen: fitted(screen, f"Nothing to show: {off}."))
    store_refs = project.stores_for(only).store_refs
    with Progress("looking at the work"):
        preview = digest.make(project.root, store_refs, project.settings, only.prefix if only else "")
    page = preview.render()
    data = last_digest.describe(preview, page)
    reasons = list(map(clean, last_digest.explain(preview, page))) if with_reasons else []

    def text(screen: Screen) -> str:
        return "\n".join([page.text or fitted(screen, _EMPTY_DIGEST), *(fitted(screen, line) for line in reasons)])

    return CommandResult({**data, "text": page.text}, text, warning="; ".join(preview.warnings))
