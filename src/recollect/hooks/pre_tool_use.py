"""A tool is about to run: keep hands off the records, and say what belongs to the file it touches."""

from __future__ import annotations

from recollect.hooks.event import Event, context, denial

_PATHS = {
    "Read": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}


def handle(event: Event) -> str:
    tool = event.text("tool_name")
    if tool != "Read" and could_concern_us(event) and _is_forbidden(event, tool):
        from recollect.guard import store_files

        return denial(store_files.INSTEAD)
    file = event.fields("tool_input").get(_PATHS.get(tool, ""))
    if isinstance(file, str) and file and "\0" not in file and not event.in_subagent:
        return _beside(event, file)
    return ""


def could_concern_us(event: Event) -> bool:
    """The cheap test first: nearly no tool call names a store or runs in one."""
    text = f"{event.fields('tool_input')}{event.text('cwd')}"
    return any(store and store in text for store in (event.store, event.user_store)) or "memory" in text


def _is_forbidden(event: Event, tool: str) -> bool:
    from recollect.guard import store_files

    stores = [store for store in (event.store, event.user_store) if store]
    return store_files.forbids(tool, event.fields("tool_input"), stores, event.text("cwd"))


def _beside(event: Event, file: str) -> str:
    from recollect.settings import load_settings

    settings = load_settings(event.store)
    if not settings.flag("retrieval.enabled") or not settings.flag("retrieval.files"):
        return ""
    from recollect.recall import for_file, for_prompt

    stores = for_prompt.Stores(event.store, event.user_store)
    text = for_file.told(stores, event.project, file, settings, event.session)
    return context("PreToolUse", text) if text else ""
