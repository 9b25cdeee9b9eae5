"""`onrecord freshness` shows whether the files of records have changed since; `reanchor` confirms records."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from onrecord import paths, timestamps
from onrecord.audit import report
from onrecord.audit.report import RecordFreshness
from onrecord.cli import arguments, record_table, resolve
from onrecord.cli.output import CommandResult, Screen, clean, table, wrap
from onrecord.cli.progress import watched
from onrecord.cli.questions import Asker
from onrecord.cli.record_table import ListedPath
from onrecord.errors import BadInput
from onrecord.freshness import anchors, check
from onrecord.freshness.check import Verdict
from onrecord.record.memory import Memory
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.text import plural

UNANCHORED = "unanchored"
_COLOURS = {check.FRESH: "green", check.CHANGED: "yellow", check.MISSING: "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "reanchor":
        parser.add_argument("ids", nargs="+", metavar="ID", help="records that hold for their files as they are now")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen and write nothing")
    else:
        parser.add_argument("ids", nargs="*", metavar="ID", help="only these records (default: all active ones)")
        parser.add_argument("--stale", action="store_true", help="leave out what is fresh")


def run(args: argparse.Namespace) -> CommandResult:
    asker = arguments.asker(args)
    if args.command == "reanchor":
        writer = arguments.existing_writer(args)
        return _reanchor(writer, asker, args.ids).warned(*writer.store.warnings)
    return _freshness(arguments.existing_store(args), asker, args.ids, only_stale=args.stale)


def _freshness(store: Store, asker: Asker, ids: Sequence[str], *, only_stale: bool) -> CommandResult:
    _require_project(store)
    named = [resolve.record(asker, store, reference) for reference in ids]
    entries = named or [entry for entry in store.entries() if entry.memory.is_current]
    checked = report.check_all(store, watched(entries, "checking files"))
    shown = [each for each in checked if each.is_stale or not only_stale]
    states = Counter(each.state for record in checked for each in record.verdicts)
    states[UNANCHORED] = sum(len(record.loose) for record in checked)
    data = {"records": [_data(each) for each in shown], "files": dict(sorted(states.items()))}
    if not asker.is_json:
        record_table.save_listing(ListedPath(store.root, each.entry.path) for each in shown)
    return CommandResult(data, lambda screen: _text(screen, store.root, shown, states))


def _data(checked: RecordFreshness) -> dict[str, Any]:
    record = checked.entry.memory
    rows = [
        {
            "path": each.anchor.path,
            "symbol": each.anchor.symbol,
            "state": each.state,
            "now": each.now,
            "since": each.anchor.day,
            "commits": None if each.commits < 0 else each.commits,
            "last": each.last,
            "last_day": each.day,
            "text": check.sentence(each),
        }
        for each in checked.verdicts
    ]
    return {"id": record.id, "path": checked.entry.path, "anchors": rows, "unanchored": list(checked.loose)}


def _text(screen: Screen, root: str, shown: list[RecordFreshness], states: Counter[str]) -> str:
    if not sum(states.values()):
        return "no record names a file"
    if screen.is_terminal:
        lines = list(_listed(screen, shown, record_table.names_in(root, [each.entry.path for each in shown])))
    else:
        rows = [(each.entry.memory.id, *row) for each in shown for row in _rows(each, screen)]
        lines = [table(screen, (), rows)] if rows else []
    counts = ", ".join(
        f"{count:,} {screen.paint(state, _COLOURS.get(state, 'dim'))}" for state, count in states.items() if count
    )
    return "\n".join([*lines, f"{counts}"])


def _listed(screen: Screen, shown: list[RecordFreshness], names: list[str]) -> Iterator[str]:
    for number, (each, name) in enumerate(zip(shown, names), 1):
        record = each.entry.memory
        yield record_table.head(screen, number, record.title)
        yield record_table.facts(record.category, timestamps.age(record.updated_at), name)
        for file, state, since in _rows(each, screen):
            # The colour is set last: what is measured has none.
            line = wrap(clean(f"{state}: {file}{', ' if since else ''}{since}"), screen.width, record_table.INDENT)
            yield line.replace(state, screen.paint(state, _COLOURS.get(state, "dim")), 1)


def _rows(checked: RecordFreshness, screen: Screen) -> list[tuple[str, str, str]]:
    """Each file of a record, its state, and what happened since."""
    rows = []
    for each in checked.verdicts:
        file = f"{each.anchor.path}#{each.anchor.symbol}" if each.anchor.symbol else each.anchor.path
        rows.append((file, each.state, _since(each, screen)))
    return rows + [(file, UNANCHORED, "not a file, or not there when it was saved") for file in checked.loose]


def _since(each: Verdict, screen: Screen) -> str:
    parts = [f"now {each.now}"] if each.is_moved else []
    if each.state == check.CHANGED:
        counts = {-1: "changed", 0: "changed, not committed", 1: "1 commit"}
        parts.append(counts.get(each.commits, f"{each.commits} commits"))
    if each.last:
        when = timestamps.ago(each.day) if screen.is_terminal else f"on {each.day}"
        parts.append(f"last {each.last[:10]} {when}")
    return ", ".join([*parts, *([each.reason] if each.reason else [])])


def _reanchor(writer: Writer, asker: Asker, ids: Sequence[str]) -> CommandResult:
    _require_project(writer.store)
    done = []
    for reference in ids:
        before = resolve.record(asker, writer.store, reference, changes=True)
        (checked,) = report.check_all(writer.store, [before]) or [RecordFreshness(before, (), ())]
        moved = {each.anchor.path: each.now for each in checked.verdicts if each.is_moved}
        after = writer.reanchor(before.path, moved)
        done.append({**arguments.record_data(writer.store, after), **_outcome(before.memory, after.memory, moved)})
    return CommandResult(
        {"records": done, "dry_run": asker.is_dry_run}, lambda screen: _summary(screen, done, asker.is_dry_run)
    )


def _outcome(before: Memory, after: Memory, moved: dict[str, str]) -> dict[str, Any]:
    held = {anchor.path for anchor in after.anchors}
    names = {moved.get(name, name) for name in (*before.related_files, *(a.path for a in before.anchors))}
    return {"anchored": sorted(held), "moved": moved, "let_go": sorted(names - held)}


def _summary(screen: Screen, done: list[dict[str, Any]], dry_run: bool) -> str:
    lines = []
    for each in done:
        verb = "would confirm" if dry_run else screen.paint("confirmed", "green")
        lines += [f"{verb} {each['path']}", f"  anchored to {plural(len(each['anchored']), 'file')}"]
        lines += [f"  {clean(old)} is now {clean(new)}" for old, new in each["moved"].items()]
        lines += [f"  {clean(name)} is not there and no longer watched" for name in each["let_go"]]
    return "\n".join(lines)


def _require_project(store: Store) -> None:
    if not anchors.project_root(store.root):
        flag = paths.store_flag(paths.prefix_of(store.root)).strip()
        raise BadInput("this store is tied to no project's files", fix=f"leave out {flag}")
