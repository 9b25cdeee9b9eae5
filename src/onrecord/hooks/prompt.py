"""The event of a prompt: shows the few records that are relevant to it, or nothing."""

from __future__ import annotations

from onrecord import budget
from onrecord.hosts import table
from onrecord.hosts.events import ADD, NOTHING, START, HookReply
from onrecord.session import correction, holdout, ledger, transcript
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent
    from onrecord.recall.stores import Stores
    from onrecord.settings import Settings

_LATE_START_SECONDS = 0.7
"""CPU time for the digest. It is half of the limit, so that the other half is left for the prompt."""

_ROOM_FOR_RECORDS = 2_600
"""Characters left beside a late start for the records of the prompt: 600 tokens for the first, by default."""

_NO_FTS5 = "this Python's SQLite has no FTS5: records are found by keywords alone"


def user_prompt_submit(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Show the records that are relevant to a prompt, and the session's start where the host has no event for it."""
    if not event.prompt.strip() or event.is_subagent or not event.is_typed:
        return NOTHING
    if transcript.wants_silence(event.prompt):
        if transcript.SILENCE in event.prompt:
            budget.attempt("note a prompt", None, _note_silence, event.session)
        return NOTHING
    start = ""
    if event.late:
        start = budget.attempt(
            "show the session's start", "", _late_start, event, event_stores, seconds=_LATE_START_SECONDS
        )
    from onrecord.text import join

    # Records for the prompt come first: if the text is too long, its end is cut.
    return HookReply(ADD, join(_records(event, event_stores), start))


def _records(event: HostEvent, event_stores: EventStores) -> str:
    """Return the block of records that are relevant to the prompt."""
    settings = load_settings(event_stores.store)
    holdout.note_share(settings)
    own_text = transcript.without_blocks(event.prompt)
    level = correction.strength(own_text)
    if event_stores.store and settings.text("capture.mode") != "off":
        budget.attempt("note a correction", None, _note_correction, own_text, level, event.session)
        budget.attempt("note a language", None, _note_language, event_stores.project, own_text)
    if not settings.flag("retrieval.enabled") or event.is_held_out(settings):
        return ""
    if not settings.count("retrieval.max_inject"):
        # Actions still show records: a prompt before this one may have asked for silence.
        budget.attempt("note a prompt", None, _note_prompt, event.session)
        return ""
    from onrecord.recall import candidate, for_prompt
    from onrecord.recall.stores import Stores

    event_stores = event_stores.in_session(event.session, event.prompt)
    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    session = table.transcript(event.host, event.transcript)
    broken = ""
    if level and settings.flag("retrieval.corrections"):
        broken = budget.attempt("look for a broken rule", "", _broken, stores, event, own_text, level, settings)
    # What was broken is in the ledger by now, so it is not shown twice.
    block = for_prompt.answer(stores, event.prompt, settings, session=event.session, transcript=session)
    if block in (candidate.NOTHING_ON_FILE, candidate.NOTHING_CERTAIN):
        block = f"{block} Other words may find one: {_search_command(event)}"
    if not stores.has_words:
        budget.attempt("warn", None, _warn_without_fts5, event.session)
    from onrecord.text import join

    return join(broken, block)


def _search_command(event: HostEvent) -> str:
    """Return the skill or the command by which an agent searches."""
    return f"/{event.skill('search')}" if event.host == "claude-code" else 'onrecord search "…"'


def _broken(stores: Stores, event: HostEvent, own_text: str, level: int, settings: Settings) -> str:
    """Return the block of the rules that the user corrects the agent with."""
    from onrecord.recall import for_correction

    typed = for_correction.Correction(own_text, level, event.session, event.host)
    return for_correction.block(stores, typed, settings, table.transcript(event.host, event.transcript))


def _late_start(event: HostEvent, event_stores: EventStores) -> str:
    """Return the text that other hosts show earlier, at the start of the session or after a compaction."""
    with ledger.Ledger(event.session) as session:
        source = session.owed or ("startup" if event.late == START and not session.has_started else "")
        session.start()
    if not source or not event.session:
        return ""
    from onrecord.hooks import session as sessions

    late_event = event._replace(name="session_start", source=source, late="")
    return sessions.start(late_event, event_stores, sessions.MAX_CHARACTERS - _ROOM_FOR_RECORDS)


def _note_silence(session: str) -> None:
    """Record that no record is shown at commands until the next prompt."""
    with ledger.Ledger(session) as session_ledger:
        session_ledger.quiet()


def _note_prompt(session: str) -> None:
    """Count a prompt for which nothing is searched."""
    with ledger.Ledger(session) as session_ledger:
        session_ledger.count_prompt()


def _warn_without_fts5(session: str) -> None:
    """Warn once a session that records are found only by keywords."""
    with ledger.Ledger(session) as session_ledger:
        if "fts5" in session_ledger.warnings:
            return
        session_ledger.add_warning("fts5")
    import sys

    from onrecord import state_file

    state_file.log_failure("prompt", _NO_FTS5)
    print(f"onrecord: {_NO_FTS5}", file=sys.stderr)


def _note_language(project: str, own_text: str) -> None:
    """Count the language of a prompt, so that saving asks for triggers in it."""
    from onrecord.capture import prompt_languages

    prompt_languages.note(project, own_text)


def _note_correction(own_text: str, level: int, session: str) -> None:
    """Record a correction in the ledger for the Stop hook, which reads only the last messages of a session."""
    # What may be a key or a password must not be copied; then only the transcript has the correction.
    if not (level or correction.is_instruction(own_text)) or len(own_text) > correction.MAX_CHARACTERS:
        return
    if not _may_have_secret(own_text):
        with ledger.Ledger(session) as session_ledger:
            session_ledger.add_correction(own_text)


def _may_have_secret(text: str) -> bool:
    """True if a text must not be copied: it names a password or a key, or the detector of secrets finds one in it."""
    if correction.may_have_secret(text):
        return True
    from onrecord.record import secrets

    return any(True for _ in secrets.find_leaks(text))
