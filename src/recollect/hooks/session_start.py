"""A session starts: show what was left unfinished and which rules hold for the work at hand, or nothing."""

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
    from recollect.recall import context_block, for_prompt

    return for_prompt.after_compaction(context_block.Stores(event.store, event.user_store), event.session)


def _digest(event: Event, source: str) -> str:
    settings = load_settings(event.store)
    if source == "clear":
        with ledger.Ledger(event.session) as shown:
            shown.reset()
    if not settings.flag("session_start.enabled"):
        return ""
    from recollect.digest import digest

    made = digest.make(event.project, event.store, event.user_store, settings)
    _warn(made)
    page = _new_page(made, event.session, is_resumed=source in ("resume", "fork"))
    if page.text:
        digest.write_last(f"session start, {source}", event.session, event.project, digest.describe(made, page))
    return page.text


def _new_page(made: Digest, session: str, *, is_resumed: bool) -> Page:
    """The page, noted in the session's ledger; a resumed conversation is shown only what is new in it."""
    with ledger.Ledger(session) as shown:
        if is_resumed:
            made = made.only(lambda entry: not shown.has_shown(_in_digest(entry.key), ledger.stamp(entry.text)))
        page = made.render()
        for pick in page.shown:
            shown.add_shown(_in_digest(pick.candidate.key), ledger.stamp(pick.candidate.text))
        # What was cut short may still be shown in full when a prompt asks for it.
        for pick in page.full:
            shown.add_shown(pick.candidate.key, ledger.stamp(pick.candidate.text))
    return page


def _in_digest(key: str) -> str:
    return f"digest:{key}"


def _warn(made: Digest) -> None:
    from recollect import failure_log

    for warning in made.warnings:
        failure_log.leave("session start", warning)
        print(f"recollect: {warning}", file=sys.stderr)
