"""A prompt was typed: show the few records that are relevant to it, or nothing."""

from __future__ import annotations

from onrecord import budget
from onrecord.hosts import table
from onrecord.hosts.events import ADD, NOTHING, START, HookReply
from onrecord.session import ledger, transcript
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent

_LONG_WORD = 24
"""Characters from which a word may be a key: the shortest API keys have 24."""

_LATE_START = 0.7
"""Seconds of computing for the digest, so that as much is left for the prompt."""

_NO_FTS5 = "this Python's SQLite has no FTS5: records are found by keywords alone"


def user_prompt_submit(event: HostEvent, event_stores: EventStores) -> HookReply:
    if not event.prompt.strip() or event.is_subagent or not event.is_typed or transcript.wants_silence(event.prompt):
        return NOTHING
    start = ""
    if event.late:
        start = budget.attempt("tell the session's start", "", _late_start, event, event_stores, seconds=_LATE_START)
    from onrecord.text import join

    # What the prompt is about stands first: of too long a text the end is cut.
    return HookReply(ADD, join(_memories(event, event_stores), start))


def _memories(event: HostEvent, event_stores: EventStores) -> str:
    """The few records that are relevant to the prompt."""
    settings = load_settings(event_stores.store)
    if event_stores.store and settings.text("capture.mode") != "off":
        budget.attempt("note a correction", None, _note_correction, event.prompt, event.session)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from onrecord.recall import for_prompt
    from onrecord.recall.stores import Stores

    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    session = table.transcript(event.host, event.transcript)
    block = for_prompt.answer(stores, event.prompt, settings, session=event.session, transcript=session)
    if not stores.has_words:
        budget.attempt("warn", None, _warn_without_fts5, event.session)
    return block


def _late_start(event: HostEvent, event_stores: EventStores) -> str:
    """What the session's start, or its going on after compaction, would have shown in another host."""
    with ledger.Ledger(event.session) as session:
        source = session.owed or ("startup" if event.late == START and not session.has_started else "")
        session.start()
    if not source or not event.session:
        return ""
    from onrecord.hooks.session import session_start

    return session_start(event._replace(name="session_start", source=source, late=""), event_stores).text


def _warn_without_fts5(session: str) -> None:
    """Say once a session that records are found by keywords alone."""
    with ledger.Ledger(session) as noted:
        if "fts5" in noted.warnings:
            return
        noted.add_warning("fts5")
    import sys

    from onrecord import state_file

    state_file.log_failure("prompt", _NO_FTS5)
    print(f"onrecord: {_NO_FTS5}", file=sys.stderr)


def _note_correction(prompt: str, session: str) -> None:
    """Note a correction, so that the end of the turn knows of it however long the turn gets."""
    text = transcript.without_blocks(prompt)
    # A long word may be a key, and of a key there need be no second copy: then the transcript must do.
    if ledger.is_correction(text) and not any(len(word) >= _LONG_WORD for word in text.split()):
        with ledger.Ledger(session) as opened:
            opened.add_correction(text)
