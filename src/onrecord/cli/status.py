"""`onrecord status`: what a memory holds, what waits, what changed, what was used, and the next thing to do."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, output
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.progress import watched
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors
from onrecord.freshness.check import Freshness
from onrecord.hosts import connection, table
from onrecord.importers import sources
from onrecord.search import index, listing
from onrecord.search.index import Index
from onrecord.settings import OFF_VARIABLE, PROMPT_SWITCHES, OffSwitch, Settings, load_settings, off_switches
from onrecord.shared import replicas
from onrecord.store import waiting
from onrecord.store.store import Store
from onrecord.text import plural
from onrecord.usage.usage_log import EVENTS, Counts, per_record

_DAYS = 7
_MOST_CHECKED = 500
"""Records whose files are compared, the newest first: a look at all of 200,000 would take minutes."""

_PATIENCE = 3.0
"""Seconds that git may take in all to tell what became of files."""

_MOST_NAMED = 3
_LABEL = 13
"""Columns of the words at the left."""


class _Step(NamedTuple):
    """The next thing to do: why, and the command for it."""

    reason: str
    command: str


class _Status(NamedTuple):
    """The state of one store."""

    root: str
    in_use: dict[str, int]
    """Active records by category."""
    out_of_use: dict[str, int]
    """The other records by status."""
    unreadable: int
    drafts: int
    changed: list[str]
    """The ids of records whose files changed or are gone."""
    checked: int
    anchored: int
    shown: Counts
    off: list[OffSwitch]
    agents: dict[str, bool]
    """The coding agents that were found here, and whether each is connected."""
    shared: list[str]
    """The names of the shared stores that are read here."""
    missing: list[str]
    """The names of those that the project asks for and that are not connected."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no argument of its own."""


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    status = _status(store, load_settings(store.root))
    step = next(_steps(status), None)
    if step:
        step = step._replace(command=output.add_store_flags(step.command, arguments.store_flags(args)))
    return CommandResult(_data(status, step), lambda screen: _text(screen, status, step))


def _status(store: Store, settings: Settings) -> _Status:
    opened = index.open(store.root, watch=lambda paths: watched(paths, "reading records"))
    counts = listing.counts(opened)
    changed, checked = _changed(store, opened)
    week = per_record(store.root, timestamps.days_before(timestamps.now(), _DAYS)).values()
    return _Status(
        store.root,
        {category: count for (category, status), count in counts.items() if status == "active"},
        _added(((status, count) for (_, status), count in counts.items() if status != "active")),
        len(listing.broken(opened)),
        waiting.count(store.root),
        changed,
        checked,
        listing.count_anchored(opened),
        Counts(*(sum(getattr(each, kind) for each in week) for kind in EVENTS)),
        list(off_switches(settings)),
        _agents(),
        [paths.store_name(store_ref.prefix) for store_ref in replicas.select(replicas.replicas(""), settings)],
        replicas.missing_names(settings),
    )


def _agents() -> dict[str, bool]:
    states = {setup: connection.state(setup) for setup in table.setups()}
    present = [setup for setup in states if states[setup].is_connected or connection.installed(setup).is_there]
    return {table.BY_NAME[setup.host].title: states[setup].is_connected for setup in present}


def _added(counts: Iterator[tuple[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for name, count in counts:
        totals[name] = totals.get(name, 0) + count
    return totals


def _changed(store: Store, opened: Index) -> tuple[list[str], int]:
    """The ids of the newest records whose files are not what they were, and how many records were looked at."""
    root = anchors.project_root(store.root)
    if not root:
        return [], 0
    freshness = Freshness(root, _PATIENCE)
    records = listing.anchored(opened, _MOST_CHECKED)
    notes = [(record_id, freshness.note(text)[0]) for record_id, text in watched(records, "checking files")]
    return [record_id for record_id, note in notes if note], len(records)


def _steps(status: _Status) -> Iterator[_Step]:
    """What could be done, the most useful first."""
    if status.unreadable:
        yield _Step(f"{plural(status.unreadable, 'file')} cannot be read", "onrecord doctor")
    for off in status.off:
        if off.key in (OFF_VARIABLE, PROMPT_SWITCHES[0]):
            yield _Step(f"{off.key} is {off.value}", off.fix)
    if status.agents and not any(status.agents.values()):
        yield _Step("no coding agent is connected", "onrecord connect --list")
    if status.drafts:
        yield _Step(_waiting(status.drafts), "onrecord review")
    if status.changed:
        yield _Step("read the records whose files changed", "onrecord freshness --stale")
    if not status.in_use:
        yield _Step("the memory is empty", _first_command(status.root))


def _first_command(store_root: str) -> str:
    root = anchors.project_root(store_root)
    return "onrecord import --dry-run" if root and sources.discover(root) else "onrecord save --help"


def _waiting(drafts: int) -> str:
    return f"{plural(drafts, 'draft')} {'waits' if drafts == 1 else 'wait'} for review"


def _data(status: _Status, step: _Step | None) -> dict[str, Any]:
    return {
        "store": status.root,
        "records": sum(status.in_use.values()),
        "categories": status.in_use,
        "out_of_use": status.out_of_use,
        "unreadable": status.unreadable,
        "drafts": status.drafts,
        "changed": status.changed,
        "checked": status.checked,
        "anchored": status.anchored,
        "last_days": {"days": _DAYS, **{kind: getattr(status.shown, kind) for kind in EVENTS}},
        "agents": status.agents,
        "shared": status.shared,
        "asked_for": status.missing,
        "off": [each._asdict() for each in status.off],
        "next": step._asdict() if step else None,
    }


def _text(screen: Screen, status: _Status, step: _Step | None) -> str:
    records = f"{plural(sum(status.in_use.values()), 'record')} in {clean(status.root)}"
    lines = [screen.paint(records, "bold")]
    for label, text in _facts(status):
        lines.append(_labelled(screen, label, text))
    if step is None:
        return "\n".join([*lines, "Nothing to do."])
    return "\n".join([*lines, _labelled(screen, "next", f"{step.reason}: {step.command}")])


def _facts(status: _Status) -> Iterator[tuple[str, str]]:
    """What is worth a line, each under its word."""
    if status.in_use:
        by_size = sorted(status.in_use.items(), key=lambda item: -item[1])
        yield "in use", ", ".join(plural(count, name.replace("_", " ")) for name, count in by_size)
    if status.out_of_use:
        yield "not in use", ", ".join(f"{count:,} {name}" for name, count in status.out_of_use.items())
    if status.unreadable:
        yield "broken", f"{plural(status.unreadable, 'file')} cannot be read"
    if status.drafts:
        yield "drafts", _waiting(status.drafts)
    if status.changed:
        yield "files", _changed_text(status)
    yield f"last {_DAYS} days", _week(status.shown)
    connected = [title for title, is_connected in status.agents.items() if is_connected]
    if status.agents:
        yield "agents", f"connected: {', '.join(connected)}" if connected else "none is connected"
    if status.shared:
        yield "shared", f"{', '.join(status.shared)}: onrecord remote status"
    yield from (("shared", replicas.missing_note(name)) for name in status.missing)
    yield from (("off", str(off)) for off in status.off)


def _changed_text(status: _Status) -> str:
    count = len(status.changed)
    more = f" and {count - _MOST_NAMED:,} more" if count > _MOST_NAMED else ""
    some = f", of the {status.checked:,} newest that name files" if status.checked < status.anchored else ""
    verb = "record is" if count == 1 else "records are"
    return f"{count:,} {verb} about files that changed since{some}: {', '.join(status.changed[:_MOST_NAMED])}{more}"


def _week(shown: Counts) -> str:
    if not (shown.injected or shown.pointed or shown.digest):
        return "no record was shown to an agent"
    parts = [f"records shown {plural(shown.injected, 'time')}"]
    parts += [f"{verb} {plural(count, 'time')}" for verb, count in _other_counts(shown) if count]
    return ", ".join(parts)


def _other_counts(shown: Counts) -> Iterator[tuple[str, int]]:
    yield "pointed to", shown.pointed
    yield "opened", shown.opened
    yield "in digests", shown.digest


def _labelled(screen: Screen, label: str, text: str) -> str:
    indent = " " * _LABEL
    wrapped = wrap(clean(text), screen.width, indent).removeprefix(indent)
    return screen.paint(f"{label:<{_LABEL}}", "bold" if label == "next" else "dim") + wrapped
