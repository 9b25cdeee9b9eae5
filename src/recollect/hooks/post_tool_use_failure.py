"""A tool has failed: bring up the runbook for it, if there clearly is one."""

from __future__ import annotations

from recollect.hooks.event import Event, context


def handle(event: Event) -> str:
    error = event.text("error")
    if event.text("tool_name") not in ("Bash", "PowerShell") or not error or event.flag("is_interrupt"):
        return ""
    if event.in_subagent:
        return ""
    from recollect import config

    settings = config.load(event.store)
    if not settings.flag("retrieval.enabled") or not settings.flag("retrieval.failures"):
        return ""
    from recollect.agent import recall, remedy

    command = event.fields("tool_input").get("command")
    stores = recall.Stores(event.store, event.user_store)
    text = remedy.told(stores, command if isinstance(command, str) else "", error, settings, event.session)
    return context("PostToolUseFailure", text) if text else ""
