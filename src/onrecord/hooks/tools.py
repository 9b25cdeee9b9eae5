"""The events before and after a tool: they guard the record files and show the records for a file or an error."""

from __future__ import annotations

from onrecord import budget
from onrecord.hosts.events import ADD, DENY, POWERSHELL, READ, SHELL, WRITE, HookReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent
    from onrecord.settings import Settings

_MAX_FILES = 8
"""Files of one tool call whose records are searched: each takes a few milliseconds."""


def pre_tool_use(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Refuse a call that writes record files by hand; else show the records about its files."""
    if event.tool != READ and _may_touch_a_store(event, event_stores):
        from onrecord.hooks import guard

        if guard.forbids(event.tool, event.files, event.command, event_stores.guarded, event.cwd):
            return HookReply(DENY, guard.INSTEAD)
    return HookReply(ADD, _about_files(event, event_stores))


def post_tool_use(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Report broken record files that got past the guard; show records if the host cannot show them before a tool."""
    from onrecord.text import join

    damage = _damage(event, event_stores) if _may_touch_a_store(event, event_stores) else ""
    records = join(_about_files(event, event_stores), _about_failure(event, event_stores))
    return HookReply(ADD, join(damage, records))


def post_tool_use_failure(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Show the runbook for a failed command, if there clearly is one."""
    return HookReply(ADD, _about_failure(event, event_stores))


def _about_files(event: HostEvent, event_stores: EventStores) -> str:
    """Return the records about the files of a tool call, if the host shows them at this event."""
    settings = _settings(event, event_stores, "retrieval.files") if event.shows_files and event.files else None
    if not settings:
        return ""
    from onrecord.recall import for_file
    from onrecord.recall.stores import Stores
    from onrecord.text import join

    stores, text = Stores(event_stores.store_refs(settings), event_stores.project), ""
    is_edit = event.tool != READ
    for file in event.files[:_MAX_FILES]:
        block = for_file.block(stores, event_stores.project, file, settings, event.session, is_edit=is_edit)
        text = join(text, block)
    return text


def _damage(event: HostEvent, event_stores: EventStores) -> str:
    """Return a report on record files that got past the guard and cannot be read. Files without JSON are set aside."""
    from onrecord.hooks import guard
    from onrecord.text import flat

    messages: list[str] = []
    shared, text = {replica.root for replica in event_stores.replicas}, _call_text(event)
    # A replica may have tens of thousands of files: they are checked only if the call names it.
    for store in (store for store in event_stores.stores if store not in shared or store in text):
        for file in event.files if event.tool == WRITE else ("",):
            messages += budget.attempt(f"check records in {store}", [], guard.check_written, store, file)
    return flat(f"Memory: {' '.join(list(dict.fromkeys(messages))[:5])}") if messages else ""


def _about_failure(event: HostEvent, event_stores: EventStores) -> str:
    if event.tool not in (SHELL, POWERSHELL) or not event.error:
        return ""
    settings = _settings(event, event_stores, "retrieval.failures")
    if not settings:
        return ""
    from onrecord.recall import for_failure
    from onrecord.recall.stores import Stores

    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    return for_failure.block(stores, event.command, event.error, settings, event.session)


def _call_text(event: HostEvent) -> str:
    """Return the command, the files and the folder of a tool call as one text."""
    return f"{event.command}{''.join(event.files)}{event.cwd}"


def _may_touch_a_store(event: HostEvent, event_stores: EventStores) -> bool:
    """True if a tool call may concern a store: a cheap test that rules out nearly all calls."""
    text = _call_text(event)
    words = ("memory", "onrecord") if event_stores.replicas else ("memory",)
    is_named = any(store in text for store in event_stores.guarded) or any(word in text.lower() for word in words)
    return bool(event.tool) and is_named


def _settings(event: HostEvent, event_stores: EventStores, key: str) -> Settings | None:
    """Return the settings; None if they switch `key` off, or for a subagent."""
    if event.is_subagent:
        return None
    from onrecord.settings import load_settings

    settings = load_settings(event_stores.store)
    return settings if settings.flag("retrieval.enabled") and settings.flag(key) else None
