"""A prompt was typed: show the few records that are relevant to it, or nothing."""

from __future__ import annotations

from onrecord import budget
from onrecord.hosts import table
from onrecord.hosts.events import ADD, NOTHING, START, Answer
from onrecord.session import ledger, transcript
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import Place
    from onrecord.hosts.events import Question

_LONG_WORD = 24
"""Characters from which a word may be a key: the shortest API keys have 24."""

_LATE_START = 0.7
"""Seconds of computing for the digest, so that as much is left for the prompt."""

_NO_FTS5 = "this Python's SQLite has no FTS5: records are found by keywords alone"


def user_prompt_submit(asked: Question, place: Place) -> Answer:
    if not asked.prompt.strip() or asked.is_subagent or not asked.is_typed or transcript.wants_silence(asked.prompt):
        return NOTHING
    start = ""
    if asked.late:
        start = budget.attempt("tell the session's start", "", _late_start, asked, place, seconds=_LATE_START)
    from onrecord.text import joined

    # What the prompt is about stands first: of too long a text the end is cut.
    return Answer(ADD, joined(_memories(asked, place), start))


def _memories(asked: Question, place: Place) -> str:
    """The few records that are relevant to the prompt."""
    settings = load_settings(place.store)
    if place.store and settings.text("capture.mode") != "off":
        budget.attempt("note a correction", None, _note_correction, asked.prompt, asked.session)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from onrecord.recall import for_prompt
    from onrecord.recall.stores import Stores

    stores = Stores(place.places(settings), place.project)
    session = table.transcript(asked.host, asked.transcript)
    answer = for_prompt.answer(stores, asked.prompt, settings, session=asked.session, transcript=session)
    if not stores.has_words:
        budget.attempt("warn", None, _warn_without_fts5, asked.session)
    return answer


def _late_start(asked: Question, place: Place) -> str:
    """What the session's start, or its going on after compaction, would have shown in another host."""
    with ledger.Ledger(asked.session) as session:
        source = session.owed or ("startup" if asked.late == START and not session.has_started else "")
        session.start()
    if not source or not asked.session:
        return ""
    from onrecord.hooks.session import session_start

    return session_start(asked._replace(event="session_start", source=source, late=""), place).text


def _warn_without_fts5(session: str) -> None:
    """Say once a session that records are found by keywords alone."""
    with ledger.Ledger(session) as noted:
        if "fts5" in noted.warnings:
            return
        noted.add_warning("fts5")
    import sys

    from onrecord import state_file

    state_file.leave("prompt", _NO_FTS5)
    print(f"onrecord: {_NO_FTS5}", file=sys.stderr)


def _note_correction(prompt: str, session: str) -> None:
    """Note a correction, so that the end of the turn knows of it however long the turn gets."""
    text = transcript.without_blocks(prompt)
    # A long word may be a key, and of a key there need be no second copy: then the transcript must do.
    if ledger.is_correction(text) and not any(len(word) >= _LONG_WORD for word in text.split()):
        with ledger.Ledger(session) as opened:
            opened.add_correction(text)
