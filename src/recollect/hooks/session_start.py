"""A session starts: say what a colleague would when you sit down, or nothing."""

from __future__ import annotations

import sys

from recollect.hooks.event import Event, context
from recollect.session import ledger
from recollect.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.digest.digest import Digest
    from recollect.digest.render import Page

BUDGET = 3.0
"""Seconds for all of it; git and a first indexing have smaller budgets within it."""


def handle(event: Event) -> str:
    if event.in_subagent:
        return ""
    _give_up_after(BUDGET)
    try:
        ledger.prune()
        source = event.text("source")
        text = _after_compaction(event) if source == "compact" else _digest(event, source)
    finally:
        _give_up_after(0)
    return context("SessionStart", text) if text else ""


def _give_up_after(seconds: float) -> None:
    """Let whatever hangs raise, so that the session starts without a digest; 0 takes that back."""
    # The package `signal` wraps this one in enumerations, which cost a cold hook more than the digest's own work.
    import _signal  # type: ignore[import-not-found]

    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _give_up if seconds else _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _give_up(number: int, frame: object) -> None:
    raise TimeoutError(f"took more than {BUDGET:g} seconds")


def _after_compaction(event: Event) -> str:
    from recollect.recall import for_prompt

    return for_prompt.after_compaction(for_prompt.Stores(event.store, event.user_store), event.session)


def _digest(event: Event, source: str) -> str:
    settings = load_settings(event.store)
    if source == "clear":
        with ledger.Ledger(event.session) as told:
            told.reset()
    if not settings.flag("session_start.enabled"):
        return ""
    from recollect.digest import digest, last_digest

    made = digest.make(event.project, event.store, event.user_store, settings)
    _warn(made)
    page = _told_once(made, event.session, goes_on=source in ("resume", "fork"))
    if page.text:
        last_digest.note(f"session start, {source}", event.session, event.project, last_digest.describe(made, page))
    return page.text


def _told_once(made: Digest, session: str, *, goes_on: bool) -> Page:
    """The page, noted in the session's ledger; a conversation that goes on is shown only what is new in it."""
    with ledger.Ledger(session) as told:
        if goes_on:
            made.keep(lambda one: not told.has_shown(_in_digest(one.key), ledger.stamp(one.text)))
        page = made.render()
        for pick in page.shown:
            told.add_shown(_in_digest(pick.candidate.key), ledger.stamp(pick.candidate.text))
        # What was cut short may still be told in full when a prompt asks for it.
        for pick in page.full:
            told.add_shown(pick.candidate.key, ledger.stamp(pick.candidate.text))
    return page


def _in_digest(key: str) -> str:
    return f"digest:{key}"


def _warn(made: Digest) -> None:
    from recollect import failure_log

    for warning in made.warnings:
        failure_log.leave("session start", warning)
        print(f"recollect: {warning}", file=sys.stderr)
