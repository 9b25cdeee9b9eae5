"""`onrecord improve`: list records that will be hard to find, with the reasons and fixes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence, Set
from typing import Any

from onrecord import timestamps
from onrecord.audit import hard_to_find, outcomes
from onrecord.audit.hard_to_find import CHECKS, HardToFind, Reason
from onrecord.cli import arguments, output, resolve
from onrecord.cli.output import CommandResult, Screen, clean, fitted, labelled
from onrecord.cli.terminal import watched
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors
from onrecord.record import memory, validity
from onrecord.record.memory import Memory
from onrecord.store.inbox import Inbox
from onrecord.store.store import Broken, Entry, Store
from onrecord.text import plural
from onrecord.usage.event_log import Feedback

_MAX_RECORDS = 20
"""Default of `--limit`."""

_WRONG, _NOT_RELEVANT = 20, 12
"""Weights of what a person says: more than what only makes a record hard to find."""

_HISTORY = ("changes", "anchors", "times_updated")
"""Fields that say nothing about how a record will be found."""


class _Listing(NamedTuple):
    """Records that are hard to find, with counts."""

    records: int
    """Records in the store that are current."""
    total: int
    """Those of them that are hard to find."""
    waiting: int
    """Those of the hard ones that a draft in the inbox would change."""
    items: list[HardToFind]
    """The worst of the others, up to the limit."""


class _Filter(NamedTuple):
    """The records and checks to list; an empty set means all of them."""

    paths: Set[str]
    categories: Set[str]
    checks: Sequence[str]

    def accepts(self, record: Memory) -> bool:
        """True if `record` has one of the paths and one of the categories."""
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
        default=_MAX_RECORDS,
        metavar="N",
        help=f"the worst N (default: {_MAX_RECORDS}; 0 means all)",
    )


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    scanned = list(watched(store.scan(), "reading records"))
    entries = {entry.memory.path: entry for entry in scanned if isinstance(entry, Entry)}
    asker = arguments.asker(args)
    paths = {resolve.record(asker, store, reference).path for reference in args.ids}
    categories = set(args.category)
    items = _hard_to_find(store, entries, _Filter(paths, categories, args.check), arguments.store_flags(args))
    drafts = {draft.updates: draft.name for draft in Inbox(store.root).drafts() if draft.updates}
    undecided = [item for item in items if item.record.id not in drafts]
    listing = _Listing(
        len(validity.current(entry.memory for entry in entries.values())),
        len(items),
        len(items) - len(undecided),
        undecided[: args.limit or None],
    )
    data = {
        "records": listing.records,
        "hard_to_find": listing.total,
        "waiting": listing.waiting,
        "findings": [_data(store, entries[item.record.path], item) for item in listing.items],
    }
    broken = sum(isinstance(entry, Broken) for entry in scanned)
    warning = f"left out: {plural(broken, 'file')} that cannot be read; to see why: onrecord doctor" if broken else ""
    return CommandResult(data, lambda screen: _text(screen, listing), warning=warning)


def _hard_to_find(store: Store, entries: dict[str, Entry], selection: _Filter, where: str) -> list[HardToFind]:
    """Return the records in `selection` that are hard to find, the worst first.

    All records are compared, because one in `selection` may be too similar to one outside it.
    """
    records = [entry.memory for entry in entries.values()]
    root = anchors.project_root(store.root)
    hard_records = hard_to_find.find(records, root, lambda texts: watched(texts, "comparing records"))
    items = []
    for item in _with_judged(hard_records, records, outcomes.badly_judged(store.root)):
        reasons = tuple(
            reason._replace(fix=output.add_store_flags(reason.fix, where))
            for reason in item.reasons
            if not selection.checks or reason.check in selection.checks
        )
        if reasons and selection.accepts(item.record):
            items.append(item._replace(reasons=reasons))
    return sorted(items, key=lambda item: (-item.weight, item.record.path))


def _with_judged(
    hard_items: Sequence[HardToFind], records: Sequence[Memory], judged: Mapping[str, Feedback]
) -> list[HardToFind]:
    """Return the records that are hard to find, and those that a person called wrong or not relevant since."""
    by_path = {item.record.path: item for item in hard_items}
    for record in validity.current(records):
        judgement = judged.get(record.path)
        if judgement and timestamps.order(record.updated_at) <= timestamps.order(judgement.last):
            item = by_path.get(record.path, HardToFind(record, ()))
            by_path[record.path] = item._replace(reasons=(_judged(record, judgement), *item.reasons))
    return list(by_path.values())


def _judged(record: Memory, judgement: Feedback) -> Reason:
    """Return the reason that a person gave, and what to do."""
    if judgement.wrong:
        fix = f"correct it: onrecord edit {record.id}; or: onrecord retire {record.id} --reason 'no longer true'"
        return Reason("feedback", f"you called it wrong {plural(judgement.wrong, 'time')}", fix, _WRONG)
    fix = f"say where it belongs, in its triggers or its scope: onrecord edit {record.id}"
    message = f"you called it not relevant {plural(judgement.not_relevant, 'time')}"
    return Reason("feedback", message, fix, _NOT_RELEVANT)


def _data(store: Store, entry: Entry, finding: HardToFind) -> dict[str, Any]:
    record = {key: value for key, value in memory.to_json(entry.memory).items() if key not in _HISTORY}
    reasons = [{"check": reason.check, "message": reason.message, "fix": reason.fix} for reason in finding.reasons]
    return {**arguments.record_data(store, entry), "reasons": reasons, "record": record}


def _text(screen: Screen, listing: _Listing) -> str:
    lines = []
    for item in listing.items:
        lines.append(f"{screen.paint(clean(item.record.path), 'bold')}  {clean(item.record.title)}")
        for reason in item.reasons:
            lines += [fitted(screen, clean(reason.message), "  "), labelled(screen, "fix", reason.fix, indent="    ")]
    if not listing.total:
        return "No record will be hard to find."
    rest = listing.total - listing.waiting - len(listing.items)
    more = f"; {rest:,} more with --limit 0" if rest else ""
    waiting = f"; {listing.waiting:,} of them changed by drafts: onrecord review" if listing.waiting else ""
    summary = f"{listing.total:,} of {plural(listing.records, 'record')} will be hard to find{more}{waiting}"
    return "\n".join([*lines, summary])
