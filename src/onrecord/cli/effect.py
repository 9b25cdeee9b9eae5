"""`onrecord effect`: how often checked rules were broken before they were on record and since, in your own sessions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from onrecord import timestamps
from onrecord.audit import effect
from onrecord.audit.effect import MIN_HOLDOUT_SESSIONS, MIN_SESSIONS, Effect, HoldoutEffect, RecordEffect
from onrecord.audit.session_facts import ReadLimits
from onrecord.audit.share import Share
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted
from onrecord.cli.terminal import Progress, watched
from onrecord.errors import NotFound
from onrecord.hosts import table
from onrecord.project import Project
from onrecord.recall.stores import Stores
from onrecord.session import holdout
from onrecord.session.transcript import Transcript
from onrecord.text import plural

_MAX_SESSIONS = 1_000
"""The newest sessions of one agent that are read, unless `--limit` says otherwise."""

_MAX_RECORDS = 30
_MIN_PLOT, _MAX_PLOT = 10, 50
"""Columns of a plot."""

_SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Where the right end of a plot may be."""

_LABELS = 9
_NUMBERS, _SHORT_NUMBERS = 24, 6
"""Columns for the labels before a plot, and for the numbers behind it, which have no interval on a narrow screen."""

_FRAME = 6
"""Columns for the indent and the frame of a plot."""

_NOTHING_STORED = "Nothing of your sessions was stored, and nothing left this machine."
_CAUTION = (
    "Before and since are different times: other things may have changed, too. Only a holdout compares like with like: "
    "onrecord docs see-the-effect"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="only this record: its id, its beginning, or words of it")
    arguments.add(parser, "--since")
    parser.add_argument(
        "--limit",
        type=arguments.count(1),
        default=_MAX_SESSIONS,
        metavar="N",
        help=f"read the newest N sessions of each agent (default: {_MAX_SESSIONS:,})",
    )


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    warning = project.require_a_store()
    since = args.since or ""
    only = _path_of(project, args.id) if args.id else ""
    by_host = _transcripts(project, args.limit, since)
    with Progress("reading records"):
        stores = Stores(project.known_refs, project.root, hook=False)
    measurement = effect.measure(
        stores,
        project.settings,
        [transcript for transcripts in by_host.values() for transcript in transcripts],
        ReadLimits(),
        watch=watched,
        only=only,
    )
    hosts = {name: len(transcripts) for name, transcripts in by_host.items() if transcripts}
    data = {**to_json(measurement), "since": since, "files": hosts}
    return CommandResult(data, lambda screen: _text(screen, measurement, hosts)).warned(warning)


def _path_of(project: Project, name: str) -> str:
    """Return the path of a record with checks as an agent sees it. Raises NotFound."""
    record_ref = project.find(name)
    prefix = next((ref.prefix for ref in project.known_refs if ref.root == record_ref.root), "")
    stores = Stores(project.known_refs, project.root, hook=False)
    path = prefix + record_ref.path
    from onrecord.recall import for_check

    if not any(rule.path == path for rule in for_check.in_force(stores, project.settings)):
        raise NotFound(
            f"{record_ref.path} has no check, or is not in force",
            fix="add one with --check; its parts: onrecord docs check-changes; onrecord effect",
        )
    return path


def _transcripts(project: Project, limit: int, since: str) -> dict[str, list[Transcript]]:
    """Return the sessions of each agent in the project, without those that were last changed before `since`."""
    by_host = {}
    with Progress("looking for sessions"):
        for host in table.HOSTS:
            transcripts = table.transcripts_of(host.name, project.root, limit)
            by_host[host.title] = [
                transcript for transcript in transcripts if not since or _changed_at(transcript) >= since
            ]
    return by_host


def _changed_at(transcript: Transcript) -> str:
    try:
        return timestamps.from_seconds(transcript.format.modified_at(transcript.path))
    except (OSError, ValueError, OverflowError):
        return ""


def to_json(measurement: Effect) -> dict[str, Any]:
    """Return all counts, intervals and sentences."""
    reading = measurement.reading
    return {
        "sessions": len(reading.sessions),
        "from": reading.sessions[-1].started_at if reading.sessions else "",
        "to": reading.sessions[0].ended_at if reading.sessions else "",
        "records": [_record_data(record) for record in measurement.records],
        "together": {"records": len(measurement.compared), **_sides(measurement.before, measurement.since)},
        "corrections": {
            "sessions": _share_data(measurement.corrected),
            "total": measurement.corrections,
            "about_checked_records": measurement.about_rules,
            "not_looked_up": measurement.unsearched,
        },
        "commands": sum(session.commands for session in reading.sessions),
        "failed_commands": sum(session.failed_commands for session in reading.sessions),
        "holdout": _holdout_data(measurement.holdout) if measurement.holdout else None,
        "left_out": {
            "over_limit": reading.over_limit,
            "read_in_part": reading.partial,
            "undated": reading.undated,
            "empty": reading.empty,
        },
        "notes": effect.left_out(measurement),
    }


def _record_data(one: RecordEffect) -> dict[str, Any]:
    counts = one.record.counts
    return {
        "id": one.record.record_id,
        "title": one.record.title,
        "record": one.record.path,
        "created_at": one.record.created_at,
        "in_future": one.is_in_future,
        **_sides(one.before, one.since),
        "under_way": one.under_way,
        "outcome": one.outcome,
        "sentence": effect.sentence(one),
        "corrected": {"before": one.corrected_before, "since": one.corrected_since},
        "usage": {"shown": counts.injected, "pointed": counts.pointed, "opened": counts.opened},
    }


def _sides(share_before: Share, share_since: Share) -> dict[str, Any]:
    return {"before": _share_data(share_before), "since": _share_data(share_since)}


def _share_data(one_share: Share) -> dict[str, Any]:
    interval = [round(bound, 4) for bound in one_share.interval] if one_share.of else None
    return {
        "hits": one_share.hits,
        "of": one_share.of,
        "share": round(one_share.value, 4) if one_share.of else None,
        "interval": interval,
    }


def _holdout_data(held: HoldoutEffect) -> dict[str, Any]:
    return {
        "share": held.share,
        "since": held.since,
        "sessions": {"with": held.shown, "without": held.held_out},
        "enough": held.is_enough,
        "compared": [
            {
                "what": one.name,
                "with": _share_data(one.shown),
                "without": _share_data(one.held_out),
                "outcome": one.outcome,
            }
            for one in held.comparisons
        ],
    }


def _text(screen: Screen, measurement: Effect, hosts: dict[str, int]) -> str:
    lines = [screen.paint(fitted(screen, _heading(measurement, hosts)), "bold")]
    scale = _scale(measurement)
    for one in measurement.records[:_MAX_RECORDS]:
        lines += ["", *_record_lines(screen, one, scale)]
    if len(measurement.records) > _MAX_RECORDS:
        lines += ["", f"{len(measurement.records) - _MAX_RECORDS:,} more rules: onrecord effect --json"]
    if len(measurement.compared) > 1:
        lines += ["", *_total_lines(screen, measurement, scale)]
    if measurement.reading.sessions:
        lines += ["", *_session_lines(screen, measurement)]
    if measurement.holdout:
        lines += ["", *_holdout_lines(screen, measurement.holdout)]
    notes = effect.left_out(measurement)
    lines += ["", screen.paint(fitted(screen, f"left out: {'; '.join(notes)}"), "dim")] if notes else []
    return "\n".join([*lines, "", *_ending(screen, measurement)])


def _heading(measurement: Effect, hosts: dict[str, int]) -> str:
    sessions = measurement.reading.sessions
    rules = plural(len(measurement.records), "checked rule")
    if not sessions:
        return f"{rules}, and no sessions of a coding agent in this project on this machine"
    first, last = (effect.day_in_words(moment) for moment in (sessions[-1].started_at, sessions[0].ended_at))
    where = ", ".join(f"{name} {count:,}" for name, count in hosts.items())
    return f"{rules}, {plural(len(sessions), 'session')} from {first} to {last} (files: {where})"


def _ending(screen: Screen, measurement: Effect) -> Iterator[str]:
    if not measurement.records:
        yield fitted(
            screen,
            "No record in force has a check, so there is nothing to count. A program can check a rule that names a "
            "command or a text: onrecord docs check-changes; to save one: onrecord save --help",
        )
    elif measurement.compared:
        yield fitted(screen, _CAUTION)
    yield fitted(screen, _NOTHING_STORED)


def _record_lines(screen: Screen, one: RecordEffect, scale: float) -> Iterator[str]:
    title = f"{clean(one.record.title)} ({one.record.record_id})"
    yield screen.paint(fitted(screen, title), "bold")
    yield fitted(screen, clean(effect.sentence(one)), "  ")
    yield from _plot(screen, {"before": one.before, "since": one.since}, scale)
    if one.before.of and one.since.of:
        yield fitted(screen, effect.conclusion(one.before, one.since, MIN_SESSIONS), "  ")
    yield fitted(screen, f"corrected {_times(one.corrected_before)} before, {one.corrected_since:,} since", "  ")
    counts = one.record.counts
    yield fitted(screen, f"shown {_times(counts.injected)}, opened by the agent {_times(counts.opened)}", "  ")


def _times(count: int) -> str:
    return plural(count, "time")


def _total_lines(screen: Screen, measurement: Effect, scale: float) -> Iterator[str]:
    before, since = measurement.before, measurement.since
    yield screen.paint(f"{plural(len(measurement.compared), 'rule')} with sessions before and since, together", "bold")
    yield fitted(screen, effect.total_sentence(measurement), "  ")
    yield from _plot(screen, {"before": before, "since": since}, scale)


def _session_lines(screen: Screen, measurement: Effect) -> Iterator[str]:
    yield screen.paint("All sessions", "bold")
    yield fitted(screen, effect.sessions_sentence(measurement), "  ")


def _holdout_lines(screen: Screen, held: HoldoutEffect) -> Iterator[str]:
    now = f"{holdout.percent(held.share)} of your sessions get no records" if held.share else "it has ended"
    yield screen.paint(f"Holdout: {now}", "bold")
    if not held.since:
        yield fitted(screen, "no session has begun since it was switched on", "  ")
        return
    yield fitted(
        screen,
        f"sessions since {effect.day_in_words(held.since)}: {held.shown:,} with records, {held.held_out:,} without",
        "  ",
    )
    if not held.is_enough:
        yield fitted(
            screen,
            f"not enough to tell yet: at least {MIN_HOLDOUT_SESSIONS} sessions are needed with records, and as many "
            "without",
            "  ",
        )
    scale = _fitting_scale([one.interval[1] for row in held.comparisons for one in (row.shown, row.held_out) if one.of])
    for row in held.comparisons:
        yield fitted(screen, row.name, "  ")
        yield from _plot(screen, {"with": row.shown, "without": row.held_out}, scale)
        if held.is_enough:
            words = effect.conclusion(row.held_out, row.shown, MIN_HOLDOUT_SESSIONS)
            yield fitted(screen, f"with records {words}", "  ")


def _scale(measurement: Effect) -> float:
    """Return the right end of all plots, so that they can be compared."""
    parts = [part for one in measurement.records for part in (one.before, one.since) if part.of]
    return _fitting_scale([part.interval[1] for part in parts])


def _fitting_scale(bounds: list[float]) -> float:
    return next(end for end in _SCALES if all(bound <= end for bound in bounds))


def _plot(screen: Screen, shares: dict[str, Share], scale: float) -> Iterator[str]:
    """Yield a line for each share: a dot where it is, and dashes for its interval."""
    is_narrow = screen.width < _LABELS + _NUMBERS + _MIN_PLOT + _FRAME
    numbers_width = _SHORT_NUMBERS if is_narrow else _NUMBERS
    width = min(max(screen.width - _LABELS - numbers_width - _FRAME, _MIN_PLOT), _MAX_PLOT)
    for label, part in shares.items():
        if part.of:
            low, high = (_column(bound, scale, width) for bound in part.interval)
            cells = ["-" if low <= column <= high else " " for column in range(width)]
            cells[_column(part.value, scale, width)] = "o"
            numbers = effect.percent(part.value) + ("" if is_narrow else f" ({effect.range_text(part)})")
            yield f"  {label:<{_LABELS}}|{screen.paint(''.join(cells), 'cyan')}| {numbers}"
    if any(part.of for part in shares.values()):
        end = effect.percent(scale)
        yield screen.paint(f"  {'':<{_LABELS}}0{end:>{width + 1}}", "dim")


def _column(value: float, scale: float, width: int) -> int:
    return min(int(min(value / scale, 1.0) * (width - 1) + 0.5), width - 1)
