"""The events of a session's start, compaction and end: they show the digest and draft a summary."""

from __future__ import annotations

import os
import sys

from onrecord import budget, paths
from onrecord.hosts.events import ADD, NOTHING, HookReply
from onrecord.session import ledger
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.digest.digest import Digest, DigestPage
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent


def session_start(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Show the digest or, after a compaction, the records in use; start a sync in the background."""
    if event.is_subagent:
        return NOTHING
    reply = _start(event, event_stores)
    budget.attempt("start a sync", None, _sync, event_stores.project)
    return reply


def _start(event: HostEvent, event_stores: EventStores) -> HookReply:
    if event.late:
        with ledger.Ledger(event.session) as session:
            session.owe(event.source)
        return NOTHING
    block = _after_compaction if event.source == "compact" else _digest
    return HookReply(ADD, block(event, event_stores))


def _sync(project: str) -> None:
    """Start a sync of shared stores in the background, for remotes with `--auto`, without waiting for it."""
    if os.path.exists(paths.remotes_file()):
        from onrecord.shared import background

        background.start(project)


def pre_compact(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Draft a summary. Never replies: a reply would become part of the instructions for the compaction."""
    if event.late and not event.is_subagent:
        with ledger.Ledger(event.session) as session:
            session.owe("compact")
    _draft(event, event_stores)
    return NOTHING


def session_end(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Draft a summary, or update it."""
    _draft(event, event_stores)
    return NOTHING


def _draft(event: HostEvent, event_stores: EventStores) -> None:
    if event.is_subagent or not event_stores.store or not event.transcript:
        return
    from onrecord.hooks.stop import captures

    settings = load_settings(event_stores.store)
    if settings.text("capture.mode") == "off" or not captures("session_summary", settings):
        return
    from onrecord.capture import session_summary
    from onrecord.hosts import table

    session_summary.draft(
        project=event_stores.project,
        store=event_stores.store,
        session=event.session,
        transcript=table.transcript(event.host, event.transcript),
        settings=settings,
    )


def _after_compaction(event: HostEvent, event_stores: EventStores) -> str:
    settings = load_settings(event_stores.store)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from onrecord.recall import after_compaction
    from onrecord.recall.stores import Stores

    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    return after_compaction.block(stores, event.session)


def _digest(event: HostEvent, event_stores: EventStores) -> str:
    settings, source = load_settings(event_stores.store), event.source
    if source == "clear":
        with ledger.Ledger(event.session) as session:
            session.reset()
    if not settings.flag("session_start.enabled"):
        return ""
    from onrecord.digest import last_digest
    from onrecord.digest.digest import make as make_digest

    digest = make_digest(event_stores.project, event_stores.store_refs(settings), settings)
    _warn(digest)
    page = _new_page(digest, event.session, is_resumed=source in ("resume", "fork"))
    if page.text:
        described = last_digest.describe(digest, page)
        last_digest.write(f"session start, {source}", event.session, event_stores.project, described)
        budget.attempt("count the digest", None, _count, event_stores.stores, page)
    from onrecord.text import join

    return join(page.text, _draft_count(event, event_stores))


def _draft_count(event: HostEvent, event_stores: EventStores) -> str:
    """Return a line with the number of drafts to review, once per session and only if a person will read it."""
    if not event_stores.store or event.source in ("resume", "fork") or not event.is_attended:
        return ""
    from onrecord.store import waiting

    command = "/memory:review" if event.host == "claude-code" else "onrecord review"
    drafts = budget.attempt("count the drafts", "", waiting.line, event_stores.store, command)
    return f"Memory: {drafts}" if drafts else ""


def _new_page(digest: Digest, session: str, *, is_resumed: bool) -> DigestPage:
    """Return the page and add it to the session's ledger. A resumed session gets only records that are new to it."""
    with ledger.Ledger(session) as session_ledger:
        if is_resumed:
            digest = digest.only(lambda entry: not session_ledger.has_shown(entry.key, ledger.text_hash(entry.text)))
        page = digest.render()
        for pick in page.picks:
            text_hash = ledger.text_hash(pick.candidate.text)
            session_ledger.add_shown(_in_digest(pick.candidate.key), text_hash)
            session_ledger.add_shown(pick.candidate.key, text_hash)
    return page


def _count(stores: list[str], digest_page: DigestPage) -> None:
    from onrecord import usage

    for store in stores:
        usage.count_digest(store, [pick.candidate.key for pick in digest_page.picks])


def _in_digest(key: str) -> str:
    return f"digest:{key}"


def _warn(digest: Digest) -> None:
    from onrecord import state_file
    from onrecord.text import flat

    for warning in digest.warnings:
        state_file.log_failure("session start", warning)
        print(f"onrecord: {flat(warning)}", file=sys.stderr)
