"""`onrecord status`: summarize a store (records, drafts, changed files, usage), and suggest the next step."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, output
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.terminal import watched
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors
from onrecord.freshness.check import UNKNOWN, Freshness
from onrecord.hosts import connection, table
from onrecord.importers import sources
from onrecord.recall import trust
from onrecord.search import index, listing
from onrecord.search.index import Index
from onrecord.session import holdout
from onrecord.settings import (
    OFF_VARIABLE,
    PROMPT_SWITCHES,
    OffSwitch,
    ProjectSetting,
    Settings,
    load_settings,
    off_switches,
    project_settings,
)
from onrecord.shared import remotes, replicas, sync_base
from onrecord.shared.replicas import Replica
from onrecord.store import record_names, waiting
from onrecord.store.store import Store
from onrecord.text import plural
from onrecord.usage.usage_log import EVENTS, Corrections, Counts, current_corrections, per_record

_DAYS = 7
_MAX_CHECKED_RECORDS = 500
"""The newest records, whose files are compared; checking 200,000 would take minutes."""

_PATIENCE = 3.0
"""Seconds for all calls of git."""

_MAX_IDS = 3
_LABEL_WIDTH = 13


class _Step(NamedTuple):
    """A thing to do: the reason and the command."""

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
    """Ids of the records whose files changed or are gone."""
    checked: int
    unchecked: dict[str, str]
    """Why a file could not be compared, by the id of its record."""
    anchored: int
    usage: Counts
    corrections: dict[str, Corrections]
    """By path: how often the user had to correct an agent with a record, most often first."""
    off: list[OffSwitch]
    agents: dict[str, bool]
    """Coding agents found on this machine; True for those that are connected."""
    shared: list[str]
    """Names of the shared stores that are read here."""
    waiting: dict[str, int]
    """By shared store: changes that it does not have, and that no agent is shown."""
    missing: list[str]
    """Names of shared stores that the project asks for and that are not connected."""
    holdout: float
    """The share of sessions that get no records."""
    changes: list[ProjectSetting]
    """Settings that the project's own config changes."""
    refused: list[str]
    """Settings of the project's own config that it may not change in that way."""
    is_accepted: bool
    """False if the user has yet to accept the records of this repository."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    status = _status(store, load_settings(store.root))
    step = next(_steps(status), None)
    if step:
        step = step._replace(command=output.add_store_flags(step.command, arguments.store_flags(args)))
    return CommandResult(_data(status, step), lambda screen: _text(screen, status, step))


def _status(store: Store, settings: Settings) -> _Status:
    store_index = index.open(store.root)
    totals = listing.counts(store_index)
    changed, unchecked, checked = _changed(store, store_index)
    week = per_record(store.root, timestamps.days_before(timestamps.now(), _DAYS)).values()
    return _Status(
        store.root,
        {category: count for (category, status), count in totals.items() if status == "active"},
        _sums(((status, count) for (_, status), count in totals.items() if status != "active")),
        len(listing.broken(store_index)),
        waiting.count(store.root),
        changed,
        checked,
        unchecked,
        listing.count_anchored(store_index),
        Counts(*(sum(getattr(counts, kind) for counts in week) for kind in EVENTS)),
        current_corrections(store.root),
        list(off_switches(settings)),
        _agents(),
        [paths.store_name(store_ref.prefix) for store_ref in replicas.select(replicas.replicas(""), settings)],
        _waiting_changes(),
        replicas.missing_names(settings),
        settings.number("retrieval.holdout"),
        list(project_settings(settings)),
        [problem.key for problem in settings.problems if problem.is_refusal],
        not paths.is_project(paths.prefix_of(store.root)) or trust.is_accepted(paths.project_of(store.root), settings),
    )


def _waiting_changes() -> dict[str, int]:
    names = [remote.name for remote in remotes.usable()]
    counts = {name: len(sync_base.unpushed_paths(Replica(name))) for name in names}
    return {name: count for name, count in counts.items() if count}


def _agents() -> dict[str, bool]:
    states = {setup: connection.state(setup) for setup in table.setups()}
    present = [setup for setup in states if states[setup].is_connected or connection.installed(setup).is_there]
    return {table.BY_NAME[setup.host].title: states[setup].is_connected for setup in present}


def _sums(named_counts: Iterator[tuple[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for name, count in named_counts:
        totals[name] = totals.get(name, 0) + count
    return totals


def _changed(store: Store, store_index: Index) -> tuple[list[str], dict[str, str], int]:
    """Return the ids of the newest records whose files changed, why others could not be compared, and of how many."""
    root = anchors.project_root(store.root)
    if not root:
        return [], {}, 0
    freshness = Freshness(root, _PATIENCE)
    records = listing.anchored(store_index, _MAX_CHECKED_RECORDS)
    verdicts = {record_id: freshness.verdicts(text) for record_id, text in watched(records, "checking files")}
    changed = [name for name, found in verdicts.items() if any(one.is_stale or one.is_moved for one in found)]
    unchecked = {name: one.reason for name, found in verdicts.items() for one in found if one.state == UNKNOWN}
    return changed, unchecked, len(records)


def _steps(status: _Status) -> Iterator[_Step]:
    """Yield things to do, the most useful first."""
    if status.unreadable:
        yield _Step(f"{plural(status.unreadable, 'file')} cannot be read", "onrecord doctor")
    for off in status.off:
        if off.key in (OFF_VARIABLE, PROMPT_SWITCHES[0]):
            yield _Step(f"{off.key} is {off.value}", off.fix)
    if not status.is_accepted:
        yield _Step("the records of this repository are not accepted", trust.COMMAND)
    if status.agents and not any(status.agents.values()):
        yield _Step("no coding agent is connected", "onrecord connect --list")
    if status.drafts:
        yield _Step(_waiting(status.drafts), "onrecord review")
    if status.changed:
        yield _Step("files of records changed", "onrecord freshness --stale")
    if not status.in_use:
        yield _Step("there are no records yet", _first_command(status.root))


def _first_command(store_root: str) -> str:
    root = anchors.project_root(store_root)
    return "onrecord import --dry-run" if root and sources.discover(root) else "onrecord save --help"


def _waiting(draft_count: int) -> str:
    return f"{plural(draft_count, 'draft')} {'waits' if draft_count == 1 else 'wait'} for review"


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
        "unchecked": status.unchecked,
        "anchored": status.anchored,
        "last_days": {"days": _DAYS, **{kind: getattr(status.usage, kind) for kind in EVENTS}},
        "corrections": [
            {"id": record_names.record_id(path), "path": path, **broken._asdict()}
            for path, broken in status.corrections.items()
        ],
        "agents": status.agents,
        "shared": status.shared,
        "waiting": status.waiting,
        "asked_for": status.missing,
        "holdout": status.holdout,
        "off": [off._asdict() for off in status.off],
        "project_settings": [changed._asdict() for changed in status.changes],
        "refused_settings": status.refused,
        "accepted": status.is_accepted,
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
    """Yield the facts that are worth a line, each with its label."""
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
    if status.unchecked:
        reason = next(iter(status.unchecked.values()))
        yield "files", f"those of {plural(len(status.unchecked), 'record')} could not be compared: {reason}"
    yield f"last {_DAYS} days", _week(status.usage)
    if status.corrections:
        yield "corrections", _corrections_text(status.corrections)
    connected = [title for title, is_connected in status.agents.items() if is_connected]
    if status.agents:
        yield "agents", f"connected: {', '.join(connected)}" if connected else "none is connected"
    if status.shared:
        yield "shared", f"{', '.join(status.shared)}: onrecord remote status"
    for name, count in status.waiting.items():
        yield "waiting", f"{plural(count, 'change')} not in {name} yet, and not shown: onrecord remote status {name}"
    yield from (("shared", replicas.missing_note(name)) for name in status.missing)
    if status.holdout:
        yield (
            "holdout",
            f"{holdout.percent(status.holdout)} of your sessions get no records; to compare: onrecord effect",
        )
    yield from (("off", str(off)) for off in status.off)
    if not status.is_accepted:
        yield "trust", f"agents are only pointed to these records until you accept the repository: {trust.COMMAND}"
    switches = {off.key for off in status.off}
    yield from (("settings", str(changed)) for changed in status.changes if changed.key not in switches)
    if status.refused:
        yield "settings", f"not used, since a project may not set them so: {', '.join(status.refused)}: onrecord doctor"


def _changed_text(status: _Status) -> str:
    count = len(status.changed)
    more = f" and {count - _MAX_IDS:,} more" if count > _MAX_IDS else ""
    some = f", of the {status.checked:,} newest that name files" if status.checked < status.anchored else ""
    verb = "record is" if count == 1 else "records are"
    return f"{count:,} {verb} about files that changed since{some}: {', '.join(status.changed[:_MAX_IDS])}{more}"


def _corrections_text(corrections: dict[str, Corrections]) -> str:
    """Return the rules that agents broke most often."""
    texts = [f"{record_names.record_id(path)} {broken.summary}" for path, broken in corrections.items()]
    more = f"; {len(texts) - _MAX_IDS:,} more rules" if len(texts) > _MAX_IDS else ""
    return f"agents broke {'; '.join(texts[:_MAX_IDS])}{more}"


def _week(counts: Counts) -> str:
    if not (counts.injected or counts.pointed or counts.digest):
        return "no record was shown to an agent"
    parts = [f"records shown {plural(counts.injected, 'time')}"]
    parts += [f"{verb} {plural(count, 'time')}" for verb, count in _other_counts(counts) if count]
    return ", ".join(parts)


def _other_counts(counts: Counts) -> Iterator[tuple[str, int]]:
    yield "pointed to", counts.pointed
    yield "opened", counts.opened
    yield "in digests", counts.digest


def _labelled(screen: Screen, label: str, text: str) -> str:
    indent = " " * _LABEL_WIDTH
    wrapped = wrap(clean(text), screen.width, indent).removeprefix(indent)
    return screen.paint(f"{label:<{_LABEL_WIDTH}}", "bold" if label == "next" else "dim") + wrapped
