"""A session starts, is compacted, or ends: show what was left unfinished and which rules hold; draft a summary."""

from __future__ import annotations

import os
import sys

from onrecord import budget, paths
from onrecord.hosts.events import ADD, NOTHING, Answer
from onrecord.session import ledger
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.digest.digest import Digest
    from onrecord.digest.render import Page
    from onrecord.hooks.event_stores import Place
    from onrecord.hosts.events import Question


def session_start(asked: Question, place: Place) -> Answer:
    """What was left unfinished and which rules hold for the work at hand, or nothing."""
    if asked.is_subagent:
        return NOTHING
    answer = _start(asked, place)
    budget.attempt("start a sync", None, _sync, place.project)
    return answer


def _start(asked: Question, place: Place) -> Answer:
    if asked.late:
        with ledger.Ledger(asked.session) as session:
            session.owe(asked.source)
        return NOTHING
    return Answer(ADD, _after_compaction(asked, place) if asked.source == "compact" else _digest(asked, place))


def _sync(project: str) -> None:
    """Let shared stores be synced in the background, where the user wants that; this hook does not wait for it."""
    if os.path.exists(paths.remotes_file()):
        from onrecord.shared import background

        background.start(project)


def pre_compact(asked: Question, place: Place) -> Answer:
    """Draft a summary. Never answers: what this hook prints would become part of the instructions for compacting."""
    if asked.late and not asked.is_subagent:
        with ledger.Ledger(asked.session) as session:
            session.owe("compact")
    _draft(asked, place)
    return NOTHING


def session_end(asked: Question, place: Place) -> Answer:
    """Draft a summary, or bring it up to date."""
    _draft(asked, place)
    return NOTHING


def _draft(asked: Question, place: Place) -> None:
    if asked.is_subagent or not place.store or not asked.transcript:
        return
    from onrecord.hooks.stop import captures

    settings = load_settings(place.store)
    if settings.text("capture.mode") == "off" or not captures("session_summary", settings):
        return
    from onrecord.capture import session_summary
    from onrecord.hosts import table

    session_summary.draft(
        project=place.project,
        store=place.store,
        session=asked.session,
        transcript=table.transcript(asked.host, asked.transcript),
        settings=settings,
    )


def _after_compaction(asked: Question, place: Place) -> str:
    settings = load_settings(place.store)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from onrecord.recall import after_compaction
    from onrecord.recall.stores import Stores

    stores = Stores(place.places(settings), place.project)
    return after_compaction.block(stores, asked.session)


def _digest(asked: Question, place: Place) -> str:
    settings, source = load_settings(place.store), asked.source
    if source == "clear":
        with ledger.Ledger(asked.session) as shown:
            shown.reset()
    if not settings.flag("session_start.enabled"):
        return ""
    from onrecord.digest import digest, last_digest

    made = digest.make(place.project, place.places(settings), settings)
    _warn(made)
    page = _new_page(made, asked.session, is_resumed=source in ("resume", "fork"))
    if page.text:
        described = last_digest.describe(made, page)
        last_digest.write(f"session start, {source}", asked.session, place.project, described)
        budget.attempt("count the digest", None, _count, place.stores, page)
    from onrecord.text import joined

    return joined(page.text, _waiting(asked, place))


def _waiting(asked: Question, place: Place) -> str:
    """How many drafts wait for review: said once a session, and only where somebody could review them."""
    if not place.store or asked.source in ("resume", "fork") or not asked.is_attended:
        return ""
    from onrecord.store import waiting

    command = "/memory:review" if asked.host == "claude-code" else "onrecord review"
    drafts = budget.attempt("count the drafts", "", waiting.line, place.store, command)
    return f"Memory: {drafts}" if drafts else ""


def _new_page(made: Digest, session: str, *, is_resumed: bool) -> Page:
    """The page, noted in the session's ledger; a resumed conversation is shown only what is new in it."""
    with ledger.Ledger(session) as shown:
        if is_resumed:
            made = made.only(lambda entry: not shown.has_shown(entry.key, ledger.stamp(entry.text)))
        page = made.render()
        for pick in page.shown:
            stamp = ledger.stamp(pick.candidate.text)
            shown.add_shown(_in_digest(pick.candidate.key), stamp)
            shown.add_shown(pick.candidate.key, stamp)
    return page


def _count(stores: list[str], page: Page) -> None:
    from onrecord import usage

    for store in stores:
        usage.in_digest(store, [pick.candidate.key for pick in page.shown])


def _in_digest(key: str) -> str:
    return f"digest:{key}"


def _warn(made: Digest) -> None:
    from onrecord import state_file
    from onrecord.text import flat

    for warning in made.warnings:
        state_file.leave("session start", warning)
        print(f"onrecord: {flat(warning)}", file=sys.stderr)
