"""Before a tool runs, after it, and when it fails: guard the record files; show what belongs to a file or an error."""

from __future__ import annotations

from onrecord import budget
from onrecord.hosts.events import ADD, DENY, POWERSHELL, READ, SHELL, WRITE, Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import Place
    from onrecord.hosts.events import Question
    from onrecord.settings import Settings

_MOST_FILES = 8
"""Files of one tool call whose records are looked for: each takes some milliseconds."""


def pre_tool_use(asked: Question, place: Place) -> Answer:
    """Refuse to write record files by hand, or show the records about the file that is touched."""
    if asked.tool != READ and _may_touch_a_store(asked, place):
        from onrecord.hooks import guard

        if guard.forbids(asked.tool, asked.files, asked.command, place.guarded, asked.cwd):
            return Answer(DENY, guard.INSTEAD)
    return Answer(ADD, _about_files(asked, place))


def post_tool_use(asked: Question, place: Place) -> Answer:
    """Report the records that were written past the guard and cannot be read; show what could not be shown before."""
    from onrecord.text import joined

    damage = _damage(asked, place) if _may_touch_a_store(asked, place) else ""
    return Answer(ADD, joined(damage, joined(_about_files(asked, place), _about_failure(asked, place))))


def post_tool_use_failure(asked: Question, place: Place) -> Answer:
    """Show the runbook for a failed command, if there clearly is one."""
    return Answer(ADD, _about_failure(asked, place))


def _about_files(asked: Question, place: Place) -> str:
    """The records about the files that are touched, where the host delivers them."""
    settings = _settings(asked, place, "retrieval.files") if asked.shows_files and asked.files else None
    if not settings:
        return ""
    from onrecord.recall import for_file
    from onrecord.recall.stores import Stores
    from onrecord.text import joined

    stores, text = Stores(place.places(settings), place.project), ""
    for file in asked.files[:_MOST_FILES]:
        is_edit = asked.tool != READ
        text = joined(text, for_file.block(stores, place.project, file, settings, asked.session, is_edit=is_edit))
    return text


def _damage(asked: Question, place: Place) -> str:
    """Which record files were written past the guard and cannot be read; what is not even JSON is set aside."""
    from onrecord.hooks import quarantine
    from onrecord.text import flat

    messages: list[str] = []
    shared, text = {replica.root for replica in place.replicas}, _touched(asked)
    # A replica may hold tens of thousands of files: they are looked at only if the call names it.
    for store in (store for store in place.stores if store not in shared or store in text):
        for written in asked.files if asked.tool == WRITE else ("",):
            messages += budget.attempt(f"check records in {store}", [], quarantine.check, store, written)
    return flat(f"Memory: {' '.join(list(dict.fromkeys(messages))[:5])}") if messages else ""


def _about_failure(asked: Question, place: Place) -> str:
    if asked.tool not in (SHELL, POWERSHELL) or not asked.error:
        return ""
    settings = _settings(asked, place, "retrieval.failures")
    if not settings:
        return ""
    from onrecord.recall import for_failure
    from onrecord.recall.stores import Stores

    stores = Stores(place.places(settings), place.project)
    return for_failure.block(stores, asked.command, asked.error, settings, asked.session)


def _touched(asked: Question) -> str:
    """What a tool call names: its command, its files and where it runs."""
    return f"{asked.command}{''.join(asked.files)}{asked.cwd}"


def _may_touch_a_store(asked: Question, place: Place) -> bool:
    """The cheap test first: nearly no tool call names a store or runs in one."""
    text = _touched(asked)
    words = ("memory", "onrecord") if place.replicas else ("memory",)
    is_named = any(store in text for store in place.guarded) or any(word in text.lower() for word in words)
    return bool(asked.tool) and is_named


def _settings(asked: Question, place: Place, key: str) -> Settings | None:
    """The settings, unless they turn this off or a subagent asks."""
    if asked.is_subagent:
        return None
    from onrecord.settings import load_settings

    settings = load_settings(place.store)
    return settings if settings.flag("retrieval.enabled") and settings.flag(key) else None
