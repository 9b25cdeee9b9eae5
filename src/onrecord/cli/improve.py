"""`onrecord improve`: the records that will be hard to find, why, and what to do about each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence, Set
from typing import Any

from onrecord.audit import hard_to_find
from onrecord.audit.hard_to_find import CHECKS, HardToFind
from onrecord.cli import arguments, output, resolve
from onrecord.cli.output import CommandResult, Screen, clean, fitted, labelled
from onrecord.cli.progress import watched
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors
from onrecord.record import compose, memory
from onrecord.record.memory import Memory
from onrecord.store.inbox import Inbox
from onrecord.store.store import Broken, Entry, Store
from onrecord.text import plural

_MOST_SHOWN = 20
_HISTORY = ("changes", "anchors", "times_updated")
"""What of a record says nothing about how it will be found."""


class _Listing(NamedTuple):
    """What is hard to find: of how many records how many, how many of them have a draft waiting, and those to show."""

    records: int
    total: int
    waiting: int
    shown: list[HardToFind]


class _Filter(NamedTuple):
    """The records and checks that are listed; an empty set is all of them."""

    paths: Set[str]
    categories: Set[str]
    checks: Sequence[str]

    def accepts(self, record: Memory) -> bool:
        """True if the record is among those that are listed."""
        is_named = not self.paths or record.path in self.paths
        return is_named and (not self.categories or record.category in self.categories)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these records (default: all current ones)")
    checks = ", ".join(CHECKS)
    parser.add_argument("--check", action="append", default=[], choices=CHECKS, help=f"only this check: {checks}")
    arguments.add(parser, "--category")
    parser.add_argument(
        "--limit",
        type=arguments.count(),
        default=_MOST_SHOWN,
        metavar="N",
        help=f"the worst N (default: {_MOST_SHOWN}; 0 is all)",
    )


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    scanned = list(watched(store.scan(), "reading records"))
    entries = {entry.memory.path: entry for entry in scanned if isinstance(entry, Entry)}
    asker = arguments.asker(args)
    named = {resolve.record(asker, store, reference).path for reference in args.ids}
    categories = {compose.category_of(name) for name in args.category}
    only = _Filter(named, categories, args.check)
    listed = _wanted(store, entries, only, arguments.store_flags(args))
    drafts = {draft.updates: draft.name for draft in Inbox(store.root).drafts() if draft.updates}
    undecided = [each for each in listed if each.record.id not in drafts]
    listing = _Listing(
        sum(entry.memory.is_current for entry in entries.values()),
        len(listed),
        len(listed) - len(undecided),
        undecided[: args.limit or None],
    )
    data = {
        "records": listing.records,
        "hard_to_find": listing.total,
        "waiting": listing.waiting,
        "findings": [_data(store, entries[each.record.path], each) for each in listing.shown],
    }
    broken = sum(isinstance(each, Broken) for each in scanned)
    warning = f"left out: {plural(broken, 'file')} that cannot be read; to see why: onrecord doctor" if broken else ""
    return CommandResult(data, lambda screen: _text(screen, listing), warning=warning)


def _wanted(store: Store, entries: dict[str, Entry], only: _Filter, where: str) -> list[HardToFind]:
    """Return what is hard to find and fits `only`; all records are compared, as twins may be among the others."""
    records = [entry.memory for entry in entries.values()]
    listed = hard_to_find.find(
        records, anchors.project_root(store.root), lambda texts: watched(texts, "comparing records")
    )
    wanted = []
    for each in listed:
        reasons = tuple(
            reason._replace(fix=output.add_store_flags(reason.fix, where))
            for reason in each.reasons
            if not only.checks or reason.check in only.checks
        )
        if reasons and only.accepts(each.record):
            wanted.append(each._replace(reasons=reasons))
    return sorted(wanted, key=lambda each: (-each.weight, each.record.path))


def _data(store: Store, entry: Entry, each: HardToFind) -> dict[str, Any]:
    record = {key: value for key, value in memory.to_json(entry.memory).items() if key not in _HISTORY}
    reasons = [{"check": reason.check, "message": reason.message, "fix": reason.fix} for reason in each.reasons]
    return {**arguments.record_data(store, entry), "reasons": reasons, "record": record}


def _text(screen: Screen, listing: _Listing) -> str:
    lines = []
    for each in listing.shown:
        lines.append(f"{screen.paint(clean(each.record.path), 'bold')}  {clean(each.record.title)}")
        for reason in each.reasons:
            lines += [fitted(screen, clean(reason.message), "  "), labelled(screen, "fix", reason.fix, indent="    ")]
    if not listing.total:
        return "No record will be hard to find."
    left = listing.total - listing.waiting - len(listing.shown)
    more = f"; {left:,} more with --limit 0" if left else ""
    drafted = f"; drafts wait for {listing.waiting:,} of them: onrecord review" if listing.waiting else ""
    return "\n".join(
        [*lines, f"{listing.total:,} of {plural(listing.records, 'record')} will be hard to find{more}{drafted}"]
    )
