"""`onrecord freshness` and `reanchor`: the records whose files have changed since, and their confirmation."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from onrecord import globs, paths, timestamps
from onrecord.audit import report
from onrecord.audit.report import LooseFile, RecordFreshness
from onrecord.cli import arguments, record_table, resolve
from onrecord.cli.output import CommandResult, Screen, clean, table, wrap
from onrecord.cli.questions import Asker
from onrecord.cli.record_table import ListedPath
from onrecord.cli.terminal import watched
from onrecord.errors import BadInput
from onrecord.freshness import anchors, check
from onrecord.freshness.check import Verdict
from onrecord.record import validity
from onrecord.record.memory import Memory
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.text import plural

UNANCHORED = "unanchored"
_COLOURS = {check.FRESH: "green", check.CHANGED: "yellow", check.MISSING: "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "reanchor":
        parser.add_argument("ids", nargs="+", metavar="ID", help="records that still hold for their current files")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen and write nothing")
    else:
        parser.add_argument("ids", nargs="*", metavar="ID", help="only these records (default: all active ones)")
        parser.add_argument("--stale", action="store_true", help="leave out fresh records")


def run(args: argparse.Namespace) -> CommandResult:
    asker = arguments.asker(args)
    if args.command == "reanchor":
        writer = arguments.existing_writer(args)
        return _reanchor(writer, asker, args.ids).warned(*writer.store.warnings)
    return _freshness(arguments.existing_store(args), asker, args.ids, only_stale=args.stale)


def _freshness(store: Store, asker: Asker, ids: Sequence[str], *, only_stale: bool) -> CommandResult:
    _require_project(store)
    entries = [resolve.record(asker, store, reference) for reference in ids]
    if not entries:
        everything = list(watched(store.entries(), "reading records"))
        current = {record.path for record in validity.current(entry.memory for entry in everything)}
        entries = [entry for entry in everything if entry.memory.path in current]
    checked = report.check_all(store, watched(entries, "checking files"))
    reports = [record for record in checked if record.is_stale or not only_stale]
    states = Counter(verdict.state for record in checked for verdict in record.verdicts)
    states[UNANCHORED] = sum(len(record.loose) for record in checked)
    data = {"records": [_data(record) for record in reports], "files": dict(sorted(states.items()))}
    if not asker.is_json:
        record_table.save_listing(ListedPath(store.root, record.entry.path) for record in reports)
    return CommandResult(data, lambda screen: _text(screen, store.root, reports, states))


def _data(checked: RecordFreshness) -> dict[str, Any]:
    record = checked.entry.memory
    rows = [
        {
            "path": verdict.anchor.path,
            "symbol": verdict.anchor.symbol,
            "state": verdict.state,
            "now": verdict.now,
            "since": verdict.anchor.day,
            "commits": None if verdict.commits < 0 else verdict.commits,
            "last": verdict.last,
            "last_day": verdict.day,
            "text": check.sentence(verdict),
        }
        for verdict in checked.verdicts
    ]
    return {
        "id": record.id,
        "path": checked.entry.path,
        "anchors": rows,
        "unanchored": [file.path for file in checked.loose],
    }


def _text(screen: Screen, root: str, reports: list[RecordFreshness], states: Counter[str]) -> str:
    if not sum(states.values()):
        return "no record names a file"
    if screen.is_terminal:
        lines = list(_listing(screen, reports, record_table.names_in(root, [record.entry.path for record in reports])))
    else:
        rows = [(record.entry.memory.id, *row) for record in reports for row in _rows(record, screen)]
        lines = [table(screen, (), rows)] if rows else []
    counts = ", ".join(
        f"{count:,} {screen.paint(state, _COLOURS.get(state, 'dim'))}" for state, count in states.items() if count
    )
    return "\n".join([*lines, counts])


def _listing(screen: Screen, reports: list[RecordFreshness], names: list[str]) -> Iterator[str]:
    for number, (checked, name) in enumerate(zip(reports, names), 1):
        record = checked.entry.memory
        yield record_table.head(screen, number, record.title)
        yield record_table.facts(record.category, timestamps.age(record.updated_at), name)
        for file, state, since in _rows(checked, screen):
            # The colour is added last: a line is measured without it.
            line = wrap(clean(f"{state}: {file}{', ' if since else ''}{since}"), screen.width, record_table.INDENT)
            yield line.replace(state, screen.paint(state, _COLOURS.get(state, "dim")), 1)


def _rows(checked: RecordFreshness, screen: Screen) -> list[tuple[str, str, str]]:
    """Return for each file of a record its state and what happened since."""
    rows = []
    for verdict in checked.verdicts:
        anchor = verdict.anchor
        file = f"{anchor.path}#{anchor.symbol}" if anchor.symbol else anchor.path
        rows.append((file, verdict.state, _since(verdict, screen)))
    return rows + [(file.path, UNANCHORED, _why_loose(file)) for file in checked.loose]


def _why_loose(loose_file: LooseFile) -> str:
    if not loose_file.now:
        return "there is no such file"
    if loose_file.is_moved:
        return f"now {loose_file.now}"
    return "a pattern" if globs.is_pattern(loose_file.path) else "its version was not noted: it is a folder, or new"


def _since(verdict: Verdict, screen: Screen) -> str:
    parts = [f"now {verdict.now}"] if verdict.is_moved else []
    if verdict.state == check.CHANGED:
        counts = {-1: "changed", 0: "changed, not committed", 1: "1 commit"}
        parts.append(counts.get(verdict.commits, f"{verdict.commits} commits"))
    if verdict.last:
        when = timestamps.ago(verdict.day) if screen.is_terminal else f"on {verdict.day}"
        parts.append(f"last {verdict.last[:10]} {when}")
    return ", ".join([*parts, *([verdict.reason] if verdict.reason else [])])


def _reanchor(writer: Writer, asker: Asker, ids: Sequence[str]) -> CommandResult:
    _require_project(writer.store)
    outcomes = []
    for reference in ids:
        before = resolve.record(asker, writer.store, reference, changes=True)
        (checked,) = report.check_all(writer.store, [before]) or [RecordFreshness(before, (), ())]
        after = writer.reanchor(before.path, checked.moved)
        outcome = _outcome(before.memory, after.memory, checked)
        outcomes.append({**arguments.record_data(writer.store, after), **outcome})
    return CommandResult(
        {"records": outcomes, "dry_run": asker.is_dry_run},
        lambda screen: _summary(screen, outcomes, dry_run=asker.is_dry_run),
    )


def _outcome(before: Memory, after: Memory, checked: RecordFreshness) -> dict[str, Any]:
    anchored = {anchor.path for anchor in after.anchors}
    names = {checked.moved.get(name, name) for name in (*before.related_files, *(a.path for a in before.anchors))}
    # Folders and patterns are watched without an anchor.
    there = {file.now for file in checked.loose}
    return {"anchored": sorted(anchored), "moved": checked.moved, "let_go": sorted(names - anchored - there)}


def _summary(screen: Screen, outcomes: list[dict[str, Any]], *, dry_run: bool) -> str:
    lines = []
    for outcome in outcomes:
        verb = "would confirm" if dry_run else screen.paint("confirmed", "green")
        lines += [f"{verb} {outcome['path']}", f"  anchored to {plural(len(outcome['anchored']), 'file')}"]
        lines += [f"  {clean(old)} is now {clean(new)}" for old, new in outcome["moved"].items()]
        lines += [f"  {clean(name)} does not exist and is no longer watched" for name in outcome["let_go"]]
    return "\n".join(lines)


def _require_project(store: Store) -> None:
    if not anchors.project_root(store.root):
        flag = paths.store_flag(paths.prefix_of(store.root)).strip()
        raise BadInput("this store does not belong to a project with files", fix=f"leave out {flag}")
