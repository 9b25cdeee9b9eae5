"""The events before and after a tool: they guard the record files and show the records for an action or an error."""

from __future__ import annotations

from onrecord import budget, paths
from onrecord.hosts.events import ADD, ASK, DENY, NOTHING, POWERSHELL, READ, SHELL, WRITE, HookReply
from onrecord.session.action import COMMAND, EDIT, TASK, Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent
    from onrecord.recall.stores import Stores
    from onrecord.settings import Settings

_MAX_FILES = 8
"""Files of one tool call whose records are searched: each takes a few milliseconds."""


def pre_tool_use(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Refuse a call that writes record files by hand; else show the records for the action."""
    if event.tool != READ and _may_touch_a_store(event, event_stores):
        from onrecord.hooks import guard

        guarded = event_stores.with_known().guarded
        if guard.forbids(event.tool, event.files, event.command, guarded, event.cwd):
            return HookReply(DENY, guard.INSTEAD)
    return _for_action(event, event_stores)


def post_tool_use(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Report broken record files that got past the guard; show records if the host cannot show them before a tool."""
    from onrecord.text import join

    damage = _damage(event, event_stores.with_known()) if _may_touch_a_store(event, event_stores) else ""
    records = join(_for_action(event, event_stores).text, _about_failure(event, event_stores))
    return HookReply(ADD, join(damage, records))


def post_tool_use_failure(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Show the runbook for a failed command, if there clearly is one."""
    return HookReply(ADD, _about_failure(event, event_stores))


def action_of(event: HostEvent, event_stores: EventStores) -> Action:
    """Return the action of a tool call; the words of a command that are files of the project are among its files."""
    from onrecord.session import action

    if event.tool in (SHELL, POWERSHELL):
        return action.of_command(event.command, event.cwd, event_stores.project)
    if event.tool == READ:
        return Action(action.READ, files_read=event.files)
    if event.tool == WRITE:
        return Action(action.EDIT, "", (), (), event.files, event.edits, event.is_whole_file)
    return Action(action.TASK, task=event.task)


def _for_action(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Return the reply to an action: a check that forbids it, or the records for it if the host shows them now."""
    is_before = event.name == "pre_tool_use"
    if not event.tool or not (event.shows_files or is_before):
        return NOTHING
    action = action_of(event, event_stores)
    if "/" in event.command or action.is_commit:
        event_stores = event_stores.in_session(event.session, event.command)
    if action.files:
        event_stores = event_stores.at_files(action.files[:_MAX_FILES], event.session)
    if action.kind == COMMAND and not _may_concern(action, event_stores):
        return NOTHING
    from onrecord.recall.stores import Stores
    from onrecord.settings import load_settings
    from onrecord.text import join

    settings = load_settings(event_stores.store)
    if event.is_held_out(settings):
        # Nothing is shown, but what the user wants to be asked about or denied still is.
        event = event._replace(shows_files=False)
    if not settings.flag("retrieval.enabled") or not (event.shows_files or (settings.may_enforce and is_before)):
        return NOTHING
    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    broken = _broken(event, action, stores, settings) if settings.flag("checks.enabled") else NOTHING
    if broken.kind in (ASK, DENY) or not event.shows_files:
        return broken
    return HookReply(ADD, join(broken.text, _about_action(event, action, stores, settings)))


def _broken(event: HostEvent, action: Action, stores: Stores, settings: Settings) -> HookReply:
    """Return what the checks that an action breaks lead to; nothing if there are none, or if anything fails."""
    if action.kind not in (COMMAND, EDIT) or not _may_be_checked(action, stores):
        return NOTHING
    from onrecord.hosts import table
    from onrecord.recall import for_check

    is_before = event.name == "pre_tool_use"
    checked = budget.attempt("check an action", None, for_check.checked, action, stores.project, not is_before)
    if not checked:
        return NOTHING
    can_ask = event.host in table.BY_NAME and table.BY_NAME[event.host].asks
    powers = for_check.Powers(can_warn=event.shows_files, can_stop=is_before, can_ask=can_ask)
    verdict = budget.attempt(
        "check an action", for_check.CheckVerdict(), for_check.verdict, stores, checked, settings, event.reader, powers
    )
    if verdict.enforcement == for_check.WARN:
        return HookReply(ADD, verdict.text)
    return HookReply(ASK if verdict.enforcement == for_check.ASK and can_ask else DENY, verdict.text)


def _may_be_checked(action: Action, stores: Stores) -> bool:
    """True if a record may have a check that an action breaks; for a command the filters tell without a search."""
    from onrecord.search import command_filter

    roots = [store_ref.root for store_ref in stores.store_refs]
    return action.kind != COMMAND or any(command_filter.may_check(root, action.command) for root in roots)


def _about_action(event: HostEvent, action: Action, stores: Stores, settings: Settings) -> str:
    """Return the records for an action: the one that governs it, and those about its files."""
    from onrecord.text import join

    governing = _governing(action, stores, settings, event.reader) if settings.flag("retrieval.actions") else ""
    if not settings.flag("retrieval.files"):
        return governing
    return join(governing, _about_files(event, action, stores, stores.project, settings))


def _may_concern(action: Action, event_stores: EventStores) -> bool:
    from onrecord.hooks import ordinary

    return ordinary.may_concern(action, event_stores)


def _governing(action: Action, stores: Stores, settings: Settings, reader: str) -> str:
    """Return the record that governs a command, or the records for a task that is given to a subagent."""
    if action.kind not in (COMMAND, TASK) or action.is_silenced:
        return ""
    from onrecord.recall import for_action

    if action.kind == TASK:
        return for_action.for_task(stores, action.task, settings, reader)
    return for_action.block(stores, action, settings, reader)


def _about_files(event: HostEvent, action: Action, stores: Stores, project: str, settings: Settings) -> str:
    """Return the records about the files of an action, or of a commit."""
    if action.is_commit:
        from onrecord.recall import for_action

        return for_action.at_commit(stores, action, project, settings, event.reader)
    if not action.files:
        return ""
    from onrecord.recall import for_file
    from onrecord.text import join

    text, edited = "", action.files_changed if event.name == "post_tool_use" else ()
    for file in action.files[:_MAX_FILES]:
        is_edit = file in action.files_changed
        text = join(text, for_file.block(stores, project, file, settings, event.reader, is_edit=is_edit, edited=edited))
    return text


def _damage(event: HostEvent, event_stores: EventStores) -> str:
    """Return a report on record files that got past the guard and cannot be read. Files without JSON are set aside."""
    from onrecord.hooks import guard
    from onrecord.text import flat

    messages: list[str] = []
    shared = {paths.working_root(replica.root) for replica in event_stores.replicas}
    text, stores = _call_text(event), map(paths.working_root, event_stores.stores)
    # A replica may have tens of thousands of files: they are checked only if the call names it.
    for store in (store for store in stores if store not in shared or store in text):
        for file in event.files if event.tool == WRITE else ("",):
            messages += budget.attempt(f"check records in {store}", [], guard.check_written, store, file)
    return flat(f"Memory: {' '.join(list(dict.fromkeys(messages))[:5])}") if messages else ""


def _about_failure(event: HostEvent, event_stores: EventStores) -> str:
    if event.tool not in (SHELL, POWERSHELL) or not event.error:
        return ""
    settings = _settings(event_stores, "retrieval.failures")
    if not settings or event.is_held_out(settings):
        return ""
    from onrecord.recall import for_failure
    from onrecord.recall.stores import Stores

    event_stores = event_stores.in_session(event.session, event.command)
    stores = Stores(event_stores.store_refs(settings), event_stores.project)
    return for_failure.block(stores, event.command, event.error, settings, event.reader)


def _call_text(event: HostEvent) -> str:
    """Return the command, the files and the folder of a tool call as one text."""
    return f"{event.command}{''.join(event.files)}{event.cwd}"


def _may_touch_a_store(event: HostEvent, event_stores: EventStores) -> bool:
    """True if a tool call may concern a store."""
    from onrecord.hooks import ordinary

    return bool(event.tool) and ordinary.may_touch_a_store(_call_text(event), event_stores)


def _settings(event_stores: EventStores, key: str) -> Settings | None:
    """Return the settings; None if they switch `key` off."""
    from onrecord.settings import load_settings

    settings = load_settings(event_stores.store)
    return settings if settings.flag("retrieval.enabled") and settings.flag(key) else None
