"""`recollect freshness` shows whether the files of memories have changed since; `reanchor` confirms memories."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.progress import watched
from recollect.cli.terminal import Screen, clean, table
from recollect.errors import BadInput
from recollect.freshness import anchors, verdict
from recollect.freshness.check import Freshness
from recollect.freshness.verdict import Verdict
from recollect.record.memory import Memory
from recollect.store.store import Entry, Store

PATIENCE = 600.0
UNANCHORED = "unanchored"
_COLOURS = {verdict.FRESH: "green", verdict.DRIFTED: "yellow", verdict.MISSING: "red"}


class Looked(NamedTuple):
    """A record, the verdicts on its anchors, and those of its files that have no anchor."""

    entry: Entry
    verdicts: tuple[Verdict, ...]
    loose: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.loose) or any(each.state != verdict.FRESH or each.is_moved for each in self.verdicts)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "reanchor":
        parser.add_argument("ids", nargs="+", metavar="ID", help="records that hold for their files as they are now")
        parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")
    else:
        parser.add_argument("ids", nargs="*", metavar="ID", help="only these records (default: all active ones)")
        parser.add_argument("--stale", action="store_true", help="leave out what is fresh")


def run(args: argparse.Namespace) -> Answer:
    return _reanchor(args) if args.command == "reanchor" else _freshness(args)


def look(store: Store, entries: Iterable[Entry]) -> list[Looked]:
    """The verdicts on all anchors of some records."""
    root = anchors.root_of(store.root)
    judge = Freshness(root, PATIENCE)
    return [_looked(judge, entry) for entry in entries if entry.memory.anchors or entry.memory.related_files]


def _looked(judge: Freshness, entry: Entry) -> Looked:
    pins = anchors.pins(entry.memory)
    covered = {pin.path for pin in pins}
    loose = tuple(file for file in entry.memory.related_files if file not in covered)
    return Looked(entry, tuple(judge.judge(pin) for pin in pins), loose)


def _freshness(args: argparse.Namespace) -> Answer:
    store = store_args.existing(args)
    _require_project(store)
    named = [store.get(reference) for reference in args.ids]
    entries = named or [entry for entry in store.entries() if entry.memory.is_current]
    found = look(store, watched(entries, "looking at files"))
    shown = [each for each in found if each.is_stale or not args.stale]
    states = Counter(each.state for looked in found for each in looked.verdicts)
    states[UNANCHORED] = sum(len(looked.loose) for looked in found)
    data = {"records": [_data(each) for each in shown], "files": dict(sorted(states.items()))}
    return Answer(data, lambda screen: _text(screen, shown, states))


def _data(looked: Looked) -> dict[str, Any]:
    record = looked.entry.memory
    rows = [
        {
            "path": each.pin.path,
            "symbol": each.pin.symbol,
            "state": each.state,
            "now": each.now,
            "since": each.pin.day,
            "commits": None if each.commits < 0 else each.commits,
            "last": each.last,
            "last_day": each.day,
            "told": verdict.sentence(each),
        }
        for each in looked.verdicts
    ]
    return {"id": record.id, "path": looked.entry.path, "anchors": rows, "unanchored": list(looked.loose)}


def _text(screen: Screen, shown: list[Looked], states: Counter[str]) -> str:
    if not sum(states.values()):
        return "no record names a file"
    rows = [row for looked in shown for row in _rows(looked)]
    lines = [table(screen, ("record", "file", "state", "since then"), rows)] if rows else []
    counts = ", ".join(
        f"{count:,} {screen.paint(state, _COLOURS.get(state, 'dim'))}" for state, count in states.items() if count
    )
    return "\n".join([*lines, f"{counts}"])


def _rows(looked: Looked) -> list[tuple[str, str, str, str]]:
    record = looked.entry.memory
    rows = []
    for each in looked.verdicts:
        file = f"{each.pin.path}#{each.pin.symbol}" if each.pin.symbol else each.pin.path
        rows.append((record.id, file, each.state, _since(each)))
    return rows + [(record.id, file, UNANCHORED, "not a file, or not there when it was saved") for file in looked.loose]


def _since(each: Verdict) -> str:
    parts = [f"now {each.now}"] if each.is_moved else []
    if each.state == verdict.DRIFTED:
        known = {-1: "changed", 0: "changed, not committed", 1: "1 commit"}
        parts.append(known.get(each.commits, f"{each.commits} commits"))
    if each.last:
        parts.append(f"last {each.last[:10]} on {each.day}")
    return ", ".join([*parts, *([each.reason] if each.reason else [])])


def _reanchor(args: argparse.Namespace) -> Answer:
    keeper = store_args.existing_keeper(args)
    _require_project(keeper.store)
    done = []
    for reference in args.ids:
        before = keeper.store.get(reference)
        (looked,) = look(keeper.store, [before]) or [Looked(before, (), ())]
        moved = {each.pin.path: each.now for each in looked.verdicts if each.is_moved}
        after = keeper.reanchor(before.path, moved)
        done.append({**store_args.handle(keeper.store, after), **_outcome(before.memory, after.memory, moved)})
    return Answer({"records": done, "dry_run": args.dry_run}, lambda screen: _told(screen, done, args.dry_run))


def _outcome(before: Memory, after: Memory, moved: dict[str, str]) -> dict[str, Any]:
    held = {anchor.path for anchor in after.anchors}
    names = {moved.get(name, name) for name in (*before.related_files, *(a.path for a in before.anchors))}
    return {"anchored": sorted(held), "moved": moved, "let_go": sorted(names - held)}


def _told(screen: Screen, done: list[dict[str, Any]], dry_run: bool) -> str:
    lines = []
    for each in done:
        verb = "would confirm" if dry_run else screen.paint("confirmed", "green")
        count = len(each["anchored"])
        lines.append(f"{verb} {each['path']}: anchored to {count} file{'' if count == 1 else 's'}")
        lines += [f"  {clean(old)} is now {clean(new)}" for old, new in each["moved"].items()]
        lines += [f"  {clean(name)} is not there and no longer watched" for name in each["let_go"]]
    return "\n".join(lines)


def _require_project(store: Store) -> None:
    if not anchors.root_of(store.root):
        raise BadInput("your own store is tied to no project's files", fix="leave out --user")
