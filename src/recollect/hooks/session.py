"""A session starts, is compacted, or ends: show what was left unfinished and which rules hold; draft a summary."""

from __future__ import annotations

import sys

from recollect import budget
from recollect.hooks.event import Event
from recollect.session import ledger
from recollect.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.digest.digest import Digest
    from recollect.digest.render import Page


def session_start(event: Event) -> str:
    """What was left unfinished and which rules hold for the work at hand, or nothing."""
    if event.in_subagent:
        return ""
    source = event.text("source")
    return _after_compaction(event) if source == "compact" else _digest(event, source)


def pre_compact(event: Event) -> str:
    """Draft a summary. Never answers: what this hook prints would become part of the instructions for compacting."""
    if event.in_subagent or not event.store or not event.text("transcript_path"):
        return ""
    from recollect.hooks.stop import captures

    settings = load_settings(event.store)
    if settings.text("capture.mode") == "off" or not captures("session_summary", settings):
        return ""
    from recollect.capture import inbox

    inbox.draft_summary(
        project=event.project,
        store=event.store,
        session=event.session,
        transcript_path=event.text("transcript_path"),
        settings=settings,
    )
    return ""


session_end = pre_compact


def _after_compaction(event: Event) -> str:
    settings = load_settings(event.store)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from recollect.recall import after_compaction, context_block

    return after_compaction.block(context_block.Stores(event.store, event.user_store), event.session)


def _digest(event: Event, source: str) -> str:
    settings = load_settings(event.store)
    if source == "clear":
        with ledger.Ledger(event.session) as shown:
            shown.reset()
    if not settings.flag("session_start.enabled"):
        return ""
    from recollect.digest import digest, last_digest

    made = digest.make(event.project, event.store, event.user_store, settings)
    _warn(made)
    page = _new_page(made, event.session, is_resumed=source in ("resume", "fork"))
    if page.text:
        described = last_digest.describe(made, page)
        last_digest.write(f"session start, {source}", event.session, event.project, described)
        budget.attempt("count the digest", None, _count, event.stores, page)
    from recollect.text import with_note

    return with_note(page.text, _waiting(event, source))


def _waiting(event: Event, source: str) -> str:
    """How many drafts wait for review: said once a session, and only where somebody could review them."""
    if not event.store or source in ("resume", "fork") or not event.is_attended:
        return ""
    from recollect.capture import waiting

    drafts = budget.attempt("count the drafts", "", waiting.line, event.store)
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
    from recollect import usage

    for store in stores:
        usage.in_digest(store, [pick.candidate.key for pick in page.shown])


def _in_digest(key: str) -> str:
    return f"digest:{key}"


def _warn(made: Digest) -> None:
    from recollect import failure_log
    from recollect.text import flat

    for warning in made.warnings:
        failure_log.leave("session start", warning)
        print(f"recollect: {flat(warning)}", file=sys.stderr)
