"""`onrecord stats`: how often records were shown to agents and opened by them, for the whole store or one record."""

from __future__ import annotations

import argparse
from typing import Any

from onrecord import timestamps
from onrecord.cli import arguments, record_table, resolve
from onrecord.cli.output import CommandResult, Screen, table
from onrecord.errors import OnrecordError
from onrecord.settings import PROMPT_SWITCHES, load_settings, off_switches
from onrecord.store import record_names
from onrecord.store.store import Store
from onrecord.text import plural
from onrecord.usage.usage_log import EVENTS, Counts, per_record, per_week

WEEKS = 12
_BARS = "▁▂▃▄▅▆▇█"
_COLOURS = {"injected": "cyan", "pointed": "yellow", "opened": "green"}
_LISTED = tuple(_COLOURS)
"""The events that are listed for each record and week."""

_HEADS = ("title", *_LISTED, "last", "id")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="one record only: its id, or a beginning or words of it")
    arguments.add(parser, "--since")
    parser.add_argument(
        "--limit", type=arguments.count(), metavar="N", default=20, help="only the N shown most often (default: 20)"
    )


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    since = arguments.since(args.since)[:10]
    counts = per_record(store.root, since)
    only = resolve.record(arguments.asker(args), store, args.id).path if args.id else ""
    if only:
        counts = {only: counts.get(only, Counts())}
    weeks = per_week(store.root, WEEKS, only, since)
    in_store = sum(1 for _ in record_names.paths(store.root))
    data = {**_data(store, counts, weeks), "since": since, "records_in_store": in_store}
    off = "; ".join(map(str, off_switches(load_settings(store.root), *PROMPT_SWITCHES)))
    return CommandResult(data, lambda screen: _text(screen, store.root, data, args.limit, only=only), note=off)


def _data(store: Store, counts: dict[str, Counts], weeks: list[tuple[str, Counts]]) -> dict[str, Any]:
    summed = Counts(*(sum(getattr(each, kind) for each in counts.values()) for kind in EVENTS))
    ordered = sorted(counts.items(), key=lambda item: (-item[1].injected, -item[1].opened, item[0]))
    return {
        "totals": _numbers(summed),
        "weeks": [{"week": monday, **_numbers(week)} for monday, week in weeks],
        "records": [_record(store, path, each) for path, each in ordered],
    }


def _record(store: Store, path: str, counts: Counts) -> dict[str, Any]:
    """A record's numbers under its name; one that is gone keeps the name its path gives it."""
    try:
        title = store.read(path).memory.title
    except OnrecordError:
        title = ""
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return {"id": name, "path": path, "title": title, **_numbers(counts), "last_injected": counts.last_injected}


def _numbers(counts: Counts) -> dict[str, int]:
    return {kind: int(getattr(counts, kind)) for kind in EVENTS}


def _text(screen: Screen, root: str, data: dict[str, Any], limit: int, *, only: str) -> str:
    if not any(data["totals"].values()):
        since = f" since {data['since']}" if data["since"] else ""
        return f"{'this record was not' if only else 'no record was'} shown to an agent{since}"
    lines = [*_summary(screen, data, only), "", *_chart(screen, data["weeks"])]
    if not only:
        lines += ["", *_table(screen, root, data["records"][:limit], len(data["records"]))]
    return "\n".join(lines)


def _summary(screen: Screen, data: dict[str, Any], only: str) -> list[str]:
    numbers, records = data["totals"], data["records"]
    shown = len([record for record in records if record["injected"] and record["title"]])
    last = timestamps.ago if screen.is_terminal else "on {}".format
    where = (
        f"last {last(records[0]['last_injected'])}" if only else f"{shown:,} of {data['records_in_store']:,} records"
    )
    lines = [f"shown {plural(numbers['injected'], 'time')}, {where}"]
    if numbers["pointed"]:
        lines.append(f"pointed to {plural(numbers['pointed'], 'time')}")
    if numbers["digest"]:
        lines.append(f"shown {plural(numbers['digest'], 'time')} in digests, when a session started")
    lines.append(f"opened by the agent {plural(numbers['opened'], 'time')}")
    return lines


def _chart(screen: Screen, weeks: list[dict[str, Any]]) -> list[str]:
    """One line of bars for each kind of event, all to the same scale, a bar for each week."""
    highest = max(max(week[kind] for kind in _LISTED) for week in weeks)
    lines = [screen.paint(f"weekly from {weeks[0]['week']}", "dim")]
    for kind in _LISTED:
        values = [week[kind] for week in weeks]
        bars = screen.paint(sparkline(values, highest), _COLOURS[kind])
        lines.append(f"{kind:<8}  {bars}  {sum(values):,}")
    return lines


def sparkline(values: list[int], highest: int) -> str:
    """Bars as high as the values, of eight heights; nothing at all is a dot."""
    steps = len(_BARS)
    heights = [min(-(-value * steps // max(highest, 1)), steps) for value in values]
    return "".join(_BARS[height - 1] if height > 0 else "·" for height in heights)


def _table(screen: Screen, root: str, shown: list[dict[str, Any]], total: int) -> list[str]:
    names = record_table.names_in(root, [record["path"] for record in shown]) if screen.is_terminal else []
    rows = []
    for at, record in enumerate(shown):
        title, last = record["title"] or "(gone)", record["last_injected"]
        counts = [str(record[kind]) for kind in _LISTED]
        rows.append(
            (title, *counts, timestamps.age(last), names[at]) if names else (*counts, last, record["id"], title)
        )
    lines = [table(screen, _HEADS, rows, gives_way=0)] if rows else []
    if total > len(shown):
        lines.append(screen.paint(f"{total - len(shown):,} more; --limit shows them", "dim"))
    return lines
