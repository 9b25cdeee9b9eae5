"""The events of a session's start, compaction and end: they show the map and draft a summary."""

from __future__ import annotations

import os
import sys

from onrecord import budget, paths
from onrecord.hosts.events import ADD, NOTHING, HookReply
from onrecord.session import holdout, ledger
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.digest.digest import Digest, DigestPage
    from onrecord.digest.selection import DigestCandidate
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent


MAX_CHARACTERS = 9_800
"""Characters of a session's start: the reply of a hook has at most 9,900."""

_MAX_REPLICAS = 3
_MAX_DRAFTS_CHARACTERS = 600
"""Characters of the lines that say how many drafts and conflicts wait, also in up to three shared stores."""

_CONTINUED = ("resume", "fork", "compact")
"""Sources of a session that was started before."""


def session_start(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Show the map, after a compaction with the records that were in use; start a sync in the background."""
    if event.is_subagent:
        return NOTHING
    if event.late:
        with ledger.Ledger(event.session) as session:
            session.owe(event.source)
        budget.attempt("start a sync", None, _sync, event_stores.project)
        return NOTHING
    return HookReply(ADD, start(event, event_stores))


def start(event: HostEvent, event_stores: EventStores, max_characters: int = MAX_CHARACTERS) -> str:
    """Return what a session is shown when it starts, or after a compaction; start a sync in the background."""
    settings = load_settings(event_stores.store)
    holdout.note_share(settings)
    text = "" if event.is_held_out(settings) else _records(event, event_stores, max_characters)
    budget.attempt("start a sync", None, _sync, event_stores.project)
    return text


def _records(event: HostEvent, event_stores: EventStores, max_characters: int) -> str:
    from onrecord.text import join

    in_use = _after_compaction(event, event_stores) if event.source == "compact" else ""
    return join(in_use, _digest(event, event_stores, max_characters - len(in_use)))


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
    """Return the records that were in use before a compaction. The ledger forgets them, so that they can come again."""
    settings = load_settings(event_stores.store)
    if not settings.flag("retrieval.enabled"):
        return ""
    if not settings.count("retrieval.max_inject"):
        with ledger.Ledger(event.session) as session:
            session.reset()
        return ""
    from onrecord.recall import selection
    from onrecord.recall.stores import Stores

    event_stores = event_stores.in_session(event.session)
    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    return selection.after_compaction(stores, event.session)


def _digest(event: HostEvent, event_stores: EventStores, max_characters: int) -> str:
    settings, source = load_settings(event_stores.store), event.source
    if source == "clear":
        with ledger.Ledger(event.session) as session:
            session.reset()
    if not settings.flag("session_start.enabled"):
        return ""
    from onrecord.digest.digest import make as make_digest

    store_refs = event_stores.store_refs(settings)
    digest = make_digest(event_stores.project, store_refs, settings)
    _warn(digest)
    nested_line = _nested(event_stores)
    if not all(store_ref.is_trusted for store_ref in store_refs):
        nested_line = _NOT_ACCEPTED
    room = max_characters - _MAX_DRAFTS_CHARACTERS - len(nested_line)
    page = _new_page(digest, event.session, room, source)
    if page.above or page.lines:
        budget.attempt("count the digest", None, _count, event_stores.stores, page)
    from onrecord.text import join

    return join(join(_draft_count(event, event_stores), nested_line), page.text)


_NOT_ACCEPTED = (
    "Memory: this repository has records that the user has not accepted on this machine, so they are not shown. The "
    "user can accept them with: onrecord trust"
)


def _nested(event_stores: EventStores) -> str:
    """Return a line that names the folders of the project with a memory of their own; empty if there is none."""
    if not event_stores.project:
        return ""
    from onrecord.store import nested

    return budget.attempt("look for nested stores", "", nested.line, event_stores.project)


def _draft_count(event: HostEvent, event_stores: EventStores) -> str:
    """Return lines with the number of drafts to review, once per session and only if a person will read them.

    A conflict in a shared store is a draft there, with our side of it.
    """
    if event.source in _CONTINUED or not event.is_attended:
        return ""
    return budget.attempt("count the drafts", "", _drafts, event, event_stores)


def _drafts(event: HostEvent, event_stores: EventStores) -> str:
    from onrecord.attention import queues

    waiting = queues(event_stores.store, paths.PROJECT_PREFIX, _review_command(event)) if event_stores.store else []
    waiting += queues(event_stores.user_store, paths.USER_PREFIX) if event_stores.user_store else []
    for root, prefix, _ in event_stores.replicas[:_MAX_REPLICAS]:
        waiting += queues(paths.working_root(root), prefix)
    return "\n".join(f"Memory: {need.line}" for need in waiting)


def _review_command(event: HostEvent) -> str:
    """Return what a person types to review drafts: in Claude Code a skill."""
    return f"/{event.skill('review')}" if event.host == "claude-code" else "onrecord review"


def _new_page(digest: Digest, session: str, max_characters: int, source: str) -> DigestPage:
    """Return the page and add it to the session's ledger. A session that goes on gets only what is new to it."""
    with ledger.Ledger(session) as session_ledger:
        if source in _CONTINUED:

            def is_new(entry: DigestCandidate) -> bool:
                return not session_ledger.has_shown(entry.key, ledger.text_hash(entry.text))

            digest = digest.only(is_new)
            if source != "compact" and session_ledger.map:
                digest = digest.after_map(lambda entry: _is_new_line(entry, session_ledger))
        page = digest.render(max_characters)
        for pick in page.above:
            text_hash = ledger.text_hash(pick.candidate.text)
            session_ledger.add_shown(_in_digest(pick.candidate.key), text_hash)
            session_ledger.add_shown(pick.candidate.key, text_hash)
        if page.lines:
            has_all = session_ledger.map_is_whole or not digest.is_update
            session_ledger.add_map(map(_line_hash, page.entries), is_whole=page.is_whole and has_all)
    return page


def _is_new_line(entry: DigestCandidate, session_ledger: ledger.Ledger) -> bool:
    """True if the map of a session has no such line. What a map of some records lacks is new only if it is recent."""
    is_recent = session_ledger.map_is_whole or entry.updated > session_ledger.map_moment
    return is_recent and _line_hash(entry) not in session_ledger.map_lines


def _line_hash(entry: DigestCandidate) -> str:
    return ledger.text_hash(f"{entry.key}\0{entry.line or entry.title}\0{entry.mark}")


def _count(stores: list[str], digest_page: DigestPage) -> None:
    from onrecord import usage

    for number, store in enumerate(stores):
        # The map is of all stores: it is one showing, which the log of the first one has.
        lines = len(digest_page.lines) if number == 0 else 0
        usage.count_digest(store, [pick.candidate.key for pick in digest_page.above], lines)


def _in_digest(key: str) -> str:
    return f"digest:{key}"


def _warn(digest: Digest) -> None:
    from onrecord import state_file
    from onrecord.text import flat

    for warning in digest.warnings:
        state_file.log_failure("session start", warning)
        print(f"onrecord: {flat(warning)}", file=sys.stderr)
