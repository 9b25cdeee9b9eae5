"""Before a tool runs, after it, and when it fails: guard the record files; show what belongs to a file or an error."""

from __future__ import annotations

import os

from recollect.hooks.event import Event, context, denial

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


def handle(event: Event) -> str:
    if event.name == "pre_tool_use":
        return _before(event)
    return _after(event) if event.name == "post_tool_use" else _after_failure(event)


def _before(event: Event) -> str:
    """Refuse to write record files by hand, or show the records about the file that is touched."""
    tool = event.text("tool_name")
    if tool != "Read" and _may_touch_a_store(event):
        from recollect.guard import store_files

        if store_files.forbids(tool, event.fields("tool_input"), event.stores, event.text("cwd")):
            return denial(store_files.INSTEAD)
    file = event.fields("tool_input").get(_PATHS.get(tool, ""))
    if not isinstance(file, str) or not file or "\0" in file or event.in_subagent:
        return ""
    settings = _settings(event, "retrieval.files")
    if not settings:
        return ""
    from recollect.recall import for_file
    from recollect.recall.context_block import Stores

    stores = Stores(event.store, event.user_store)
    text = for_file.block(stores, event.project, file, settings, event.session)
    return context("PreToolUse", text) if text else ""


def _after(event: Event) -> str:
    """Report the records that were written past the guard and cannot be read; set aside what is not even JSON."""
    if not _may_touch_a_store(event):
        return ""
    from recollect.guard import quarantine

    file = event.fields("tool_input").get(_PATHS.get(event.text("tool_name"), ""))
    written = os.path.join(event.text("cwd"), file) if isinstance(file, str) and "\0" not in file else ""
    messages = [message for store in event.stores for message in quarantine.check(store, written)]
    return context("PostToolUse", "Memory: " + " ".join(messages[:5])) if messages else ""


def _after_failure(event: Event) -> str:
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
    text = for_failure.block(stores, command if isinstance(command, str) else "", error, settings, event.session)
    return context("PostToolUseFailure", text) if text else ""


def _may_touch_a_store(event: Event) -> bool:
    """The cheap test first: nearly no tool call names a store or runs in one."""
    text = f"{event.fields('tool_input')}{event.text('cwd')}"
    return any(store in text for store in event.stores) or "memory" in text.lower()


def _settings(event: Event, key: str) -> Settings | None:
    """The settings, unless they turn this off."""
    from recollect.settings import load_settings

    settings = load_settings(event.store)
    return settings if settings.flag("retrieval.enabled") and settings.flag(key) else None
