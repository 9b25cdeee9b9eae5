"""Before a tool runs, after it, and when it fails: guard the record files; show what belongs to a file or an error."""

from __future__ import annotations

import os

from recollect import budget
from recollect.hooks.event import Denial, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.settings import Settings

_PATHS = {
    "Read": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}


def pre_tool_use(event: Event) -> str:
    """Refuse to write record files by hand, or show the records about the file that is touched."""
    tool = event.text("tool_name")
    if tool != "Read" and _may_touch_a_store(event):
        from recollect.guard import store_files

        if store_files.forbids(tool, event.fields("tool_input"), event.stores, event.text("cwd")):
            return Denial(store_files.INSTEAD)
    file = _file(event)
    settings = None if event.in_subagent or not file else _settings(event, "retrieval.files")
    if not settings:
        return ""
    from recollect.recall import for_file
    from recollect.recall.context_block import Stores

    stores = Stores(event.store, event.user_store)
    return for_file.block(stores, event.project, file, settings, event.session, is_edit=tool != "Read")


def post_tool_use(event: Event) -> str:
    """Report the records that were written past the guard and cannot be read; set aside what is not even JSON."""
    if not _may_touch_a_store(event):
        return ""
    from recollect.guard import quarantine
    from recollect.text import flat

    file = _file(event)
    written = os.path.join(event.text("cwd"), file) if file else ""
    messages: list[str] = []
    for store in event.stores:
        messages += budget.attempt(f"check records in {store}", [], quarantine.check, store, written)
    return flat(f"Memory: {' '.join(messages[:5])}") if messages else ""


def post_tool_use_failure(event: Event) -> str:
    """Show the runbook for a failed command, if there clearly is one."""
    error = event.text("error")
    if event.text("tool_name") not in ("Bash", "PowerShell") or not error or event.flag("is_interrupt"):
        return ""
    settings = None if event.in_subagent else _settings(event, "retrieval.failures")
    if not settings:
        return ""
    from recollect.recall import for_failure
    from recollect.recall.context_block import Stores

    command = event.fields("tool_input").get("command")
    stores = Stores(event.store, event.user_store)
    return for_failure.block(stores, command if isinstance(command, str) else "", error, settings, event.session)


def _file(event: Event) -> str:
    """The file that a file tool touches; empty for any other tool."""
    file = event.fields("tool_input").get(_PATHS.get(event.text("tool_name"), ""))
    return file if isinstance(file, str) and "\0" not in file else ""


def _may_touch_a_store(event: Event) -> bool:
    """The cheap test first: nearly no tool call names a store or runs in one."""
    text = f"{event.fields('tool_input').get('command')}{_file(event)}{event.text('cwd')}"
    return any(store in text for store in event.stores) or "memory" in text.lower()


def _settings(event: Event, key: str) -> Settings | None:
    """The settings, unless they turn this off."""
    from recollect.settings import load_settings

    settings = load_settings(event.store)
    return settings if settings.flag("retrieval.enabled") and settings.flag(key) else None
