"""A tool is about to run: keep hands off the records."""

from __future__ import annotations

from recollect.hooks.event import Event, denial


def handle(event: Event) -> str:
    tool, given = event.text("tool_name"), event.fields("tool_input")
    if tool == "Read" or not could_concern_us(event):
        return ""
    from recollect import guard

    stores = [store for store in (event.store, event.user_store) if store]
    if guard.forbids(tool, given, stores, event.text("cwd")):
        return denial(guard.INSTEAD)
    return ""


def could_concern_us(event: Event) -> bool:
    """The cheap test first: nearly no tool call names a store or runs in one."""
    text = f"{event.fields('tool_input')}{event.text('cwd')}"
    return any(store and store in text for store in (event.store, event.user_store)) or "memory" in text
