"""`onrecord status`: what is in a store, how it is used, and all that needs a person, the most important first."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from onrecord import attention, files, paths, timestamps
from onrecord.attention import ChangedFiles, Need
from onrecord.cli import arguments, output
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.coldstart import NamedTuple
from onrecord.hosts import connection, table
from onrecord.project import Project, require_store
from onrecord.recall import trust
from onrecord.search import index, listing
from onrecord.session import holdout
from onrecord.settings import OffSwitch, ProjectSetting, Settings, load_settings, off_switches, project_settings
from onrecord.shared import remotes, replicas, sync_base
from onrecord.shared.replicas import Replica
from onrecord.store import record_names
from onrecord.text import plural
from onrecord.usage import usage_log
from onrecord.usage.usage_log import EVENTS, Corrections, Counts, current_corrections, per_record

_DAYS = 7
_MAX_IDS = 3
_LABEL_WIDTH = 13
_NAMED = (
    attention.CONFLICT, attention.BROKEN, attention.CONTRADICTED, attention.CORRECTED, attention.CHANGED,
    attention.REFUSED,
)  # fmt: skip
"""Kinds whose subjects are named: those of the others are in the title, or on the page that the command opens."""


class _Status(NamedTuple):
    """The state of one store, and what needs a person."""

    root: str
    is_there: bool
    in_use: dict[str, int]
    """Active records by category."""
    out_of_use: dict[str, int]
    """The other records by status."""
    unreadable: int
    drafts: int
    changed: ChangedFiles
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
    needs: list[Need]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def run(args: argparse.Namespace) -> CommandResult:
    store, project = arguments.store_of(args), Project(args.project)
    only = args.remote or ("user" if args.user else "")
    if not store.exists and (only or not project.store_refs):
        require_store(store)
    settings = load_settings(store.root)
    needs = [need for need in attention.needs(project) if not only or need.store in (only, "")]
    flags = arguments.store_flags(args)
    needs = [need._replace(command=output.add_store_flags(need.command, flags)) for need in needs]
    status = _status(store.root, settings, needs)
    return CommandResult(_data(status), lambda screen: _text(screen, status))


def _status(root: str, settings: Settings, needs: list[Need]) -> _Status:
    is_there = files.is_folder(root)
    totals = listing.counts(index.open(root)) if is_there else {}
    week = per_record(root, timestamps.days_before(timestamps.now(), _DAYS)).values()
    return _Status(
        root,
        is_there,
        {category: count for (category, status), count in totals.items() if status == "active"},
        _sums(((status, count) for (_, status), count in totals.items() if status != "active")),
        len(listing.broken(index.open(root))) if is_there else 0,
        len(record_names.drafts(root)),
        attention.changed_files(root) if is_there else ChangedFiles(),
        usage_log.total(week),
        current_corrections(root),
        list(off_switches(settings)),
        _agents(),
        [paths.store_name(store_ref.prefix) for store_ref in replicas.select(replicas.replicas(""), settings)],
        _waiting_changes(),
        replicas.missing_names(settings),
        settings.number("retrieval.holdout"),
        list(project_settings(settings)),
        [problem.key for problem in settings.problems if problem.is_refusal],
        not trust.caution(root, settings),
        needs,
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


def _data(status: _Status) -> dict[str, Any]:
    return {
        "store": status.root,
        "records": sum(status.in_use.values()),
        "categories": status.in_use,
        "out_of_use": status.out_of_use,
        "unreadable": status.unreadable,
        "drafts": status.drafts,
        "changed": list(status.changed.ids),
        "checked": status.changed.checked,
        "unchecked": dict(status.changed.unchecked),
        "anchored": status.changed.anchored,
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
        "needs": [_need_data(need) for need in status.needs],
        "next": {"reason": status.needs[0].title, "command": status.needs[0].command} if status.needs else None,
    }


def _need_data(need: Need) -> dict[str, Any]:
    return {**need._asdict(), "subjects": [subject._asdict() for subject in need.subjects]}


def _text(screen: Screen, status: _Status) -> str:
    where = clean(status.root)
    count = f"{plural(sum(status.in_use.values()), 'record')} in {where}"
    records = count if status.is_there else f"there is no memory at {where}; others are read here"
    lines = [screen.paint(records, "bold")]
    lines += [_labelled(screen, label, text) for label, text in _facts(status)]
    for number, need in enumerate(status.needs):
        about = f" ({need.names})" if need.kind in _NAMED and need.names else ""
        lines.append(_labelled(screen, "" if number else "needs you", f"{need.title}{about}: {need.command}"))
    return "\n".join(lines if status.needs else [*lines, "Nothing to do."])


def _facts(status: _Status) -> Iterator[tuple[str, str]]:
    """Yield the facts that are worth a line, each with its label."""
    if status.in_use:
        by_size = sorted(status.in_use.items(), key=lambda item: -item[1])
        yield "in use", ", ".join(plural(count, name.replace("_", " ")) for name, count in by_size)
    if status.out_of_use:
        yield "not in use", ", ".join(f"{count:,} {name}" for name, count in status.out_of_use.items())
    yield f"last {_DAYS} days", _week(status.usage)
    if status.corrections:
        yield "corrections", _corrections_text(status.corrections)
    connected = [title for title, is_connected in status.agents.items() if is_connected]
    if status.agents:
        yield "agents", f"connected: {', '.join(connected)}" if connected else "none is connected"
    if status.shared:
        yield "shared", f"{', '.join(status.shared)}: onrecord remote status"
    if status.holdout:
        yield (
            "holdout",
            f"{holdout.percent(status.holdout)} of your sessions get no records; to compare: onrecord effect",
        )


def _corrections_text(corrections: dict[str, Corrections]) -> str:
    """Return the rules that agents broke most often."""
    texts = [f"{record_names.record_id(path)} {broken.summary}" for path, broken in corrections.items()]
    more = f"; {plural(len(texts) - _MAX_IDS, 'more rule')}" if len(texts) > _MAX_IDS else ""
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
    return screen.paint(f"{label:<{_LABEL_WIDTH}}", "dim") + wrapped
