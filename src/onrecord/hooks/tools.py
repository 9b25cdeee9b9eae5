"""Before a tool runs, after it, and when it fails: guard the record files; show what belongs to a file or an error."""

from __future__ import annotations

from onrecord import budget
from onrecord.hosts.events import ADD, DENY, POWERSHELL, READ, SHELL, WRITE, HookReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent
    from onrecord.settings import Settings

_MOST_FILES = 8
"""Files of one tool call whose records are looked for: each takes some milliseconds."""


def pre_tool_use(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Refuse to write record files by hand, or show the records about the file that is touched."""
    if event.tool != READ and _may_touch_a_store(event, event_stores):
        from onrecord.hooks import guard

        if guard.forbids(event.tool, event.files, event.command, event_stores.guarded, event.cwd):
            return HookReply(DENY, guard.INSTEAD)
    return HookReply(ADD, _about_files(event, event_stores))


def post_tool_use(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Report the records that were written past the guard and cannot be read; show what could not be shown before."""
    from onrecord.text import join

    damage = _damage(event, event_stores) if _may_touch_a_store(event, event_stores) else ""
    records = join(_about_files(event, event_stores), _about_failure(event, event_stores))
    return HookReply(ADD, join(damage, records))


def post_tool_use_failure(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Show the runbook for a failed command, if there clearly is one."""
    return HookReply(ADD, _about_failure(event, event_stores))


def _about_files(event: HostEvent, event_stores: EventStores) -> str:
    """The records about the files that are touched, where the host delivers them."""
    settings = _settings(event, event_stores, "retrieval.files") if event.shows_files and event.files else None
    if not settings:
        return ""
    from onrecord.recall import for_file
    from onrecord.recall.stores import Stores
    from onrecord.text import join

    stores, text = Stores(event_stores.store_refs(settings), event_stores.project), ""
    is_edit = event.tool != READ
    for file in event.files[:_MOST_FILES]:
        block = for_file.block(stores, event_stores.project, file, settings, event.session, is_edit=is_edit)
        text = join(text, block)
    return text


def _damage(event: HostEvent, event_stores: EventStores) -> str:
    """Which record files were written past the guard and cannot be read; what is not even JSON is set aside."""
    from onrecord.hooks import quarantine
    from onrecord.text import flat

    messages: list[str] = []
    shared, text = {replica.root for replica in event_stores.replicas}, _touched(event)
    # A replica may hold tens of thousands of files: they are looked at only if the call names it.
    for store in (store for store in event_stores.stores if store not in shared or store in text):
        for written in event.files if event.tool == WRITE else ("",):
            messages += budget.attempt(f"check records in {store}", [], quarantine.check, store, written)
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


def _touched(event: HostEvent) -> str:
    """What a tool call names: its command, its files and where it runs."""
    return f"{event.command}{''.join(event.files)}{event.cwd}"


def _may_touch_a_store(event: HostEvent, event_stores: EventStores) -> bool:
    """The cheap test first: nearly no tool call names a store or runs in one."""
    text = _touched(event)
    words = ("memory", "onrecord") if event_stores.replicas else ("memory",)
    is_named = any(store in text for store in event_stores.guarded) or any(word in text.lower() for word in words)
    return bool(event.tool) and is_named


def _settings(event: HostEvent, event_stores: EventStores, key: str) -> Settings | None:
    """The settings, unless they turn this off or a subagent asks."""
    if event.is_subagent:
        return None
    from onrecord.settings import load_settings

    settings = load_settings(event_stores.store)
    return settings if settings.flag("retrieval.enabled") and settings.flag(key) else None
