"""A tool has failed: bring up the runbook for it, if there clearly is one."""

from __future__ import annotations

from recollect.hooks.event import Event, context


def handle(event: Event) -> str:
    error = event.text("error")
    if event.text("tool_name") not in ("Bash", "PowerShell") or not error or event.flag("is_interrupt"):
        return ""
    if event.in_subagent:
        return ""
    from recollect.settings import load_settings

    settings = load_settings(event.store)
    if not settings.flag("retrieval.enabled") or not settings.flag("retrieval.failures"):
        return ""
    from recollect.recall import for_failure, for_prompt

    command = event.fields("tool_input").get("command")
    stores = for_prompt.Stores(event.store, event.user_store)
    text = for_failure.told(stores, command if isinstance(command, str) else "", error, settings, event.session)
    return context("PostToolUseFailure", text) if text else ""
