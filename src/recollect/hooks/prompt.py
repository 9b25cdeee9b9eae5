"""A prompt was typed: show the few records that are relevant to it, or nothing."""

from __future__ import annotations

from recollect import budget
from recollect.hooks.event import Event
from recollect.session import ledger, transcript
from recollect.settings import load_settings

_LONG_WORD = 24
"""Characters from which a word may be a key: the shortest API keys have 24."""

_NO_FTS5 = "this Python's SQLite has no FTS5: records are found by keywords alone"


def user_prompt_submit(event: Event) -> str:
    prompt = event.text("prompt")
    if not prompt.strip() or event.in_subagent or event.text("source") not in ("", "user", "sdk"):
        return ""
    if transcript.wants_silence(prompt):
        return ""
    settings = load_settings(event.store)
    if event.store and settings.text("capture.mode") != "off":
        budget.attempt("note a correction", None, _note_correction, prompt, event.session)
    if not settings.flag("retrieval.enabled") or not settings.count("retrieval.max_inject"):
        return ""
    from recollect.recall import context_block, for_prompt

    stores = context_block.Stores(event.store, event.user_store)
    transcript_path = event.text("transcript_path")
    answer = for_prompt.answer(stores, prompt, settings, session=event.session, transcript_path=transcript_path)
    if not stores.has_words:
        budget.attempt("warn", None, _warn_without_fts5, event.session)
    return answer


def _warn_without_fts5(session: str) -> None:
    """Say once a session that records are found by keywords alone."""
    with ledger.Ledger(session) as noted:
        if "fts5" in noted.warnings:
            return
        noted.add_warning("fts5")
    import sys

    from recollect import failure_log

    failure_log.leave("prompt", _NO_FTS5)
    print(f"recollect: {_NO_FTS5}", file=sys.stderr)


def _note_correction(prompt: str, session: str) -> None:
    """Note a correction, so that the end of the turn knows of it however long the turn gets."""
    text = transcript.without_blocks(prompt)
    # A long word may be a key, and of a key there need be no second copy: then the transcript must do.
    if ledger.is_correction(text) and not any(len(word) >= _LONG_WORD for word in text.split()):
        with ledger.Ledger(session) as opened:
            opened.add_correction(text)
