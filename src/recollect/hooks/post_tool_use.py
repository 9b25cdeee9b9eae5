"""A tool has run: check the records it may have written past the guard."""

from __future__ import annotations

from recollect.hooks.event import Event, context
from recollect.hooks.pre_tool_use import could_concern_us


def handle(event: Event) -> str:
    if not could_concern_us(event):
        return ""
    from recollect.guard import quarantine

    told = [line for store in (event.store, event.user_store) if store for line in quarantine.set_aside_broken(store)]
    return context("PostToolUse", "Memory: " + " ".join(told[:5])) if told else ""
