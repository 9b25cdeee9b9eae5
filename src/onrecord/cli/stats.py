"""`onrecord stats`: what agents were shown, and whether they used it; for the whole store or for one record."""

from __future__ import annotations

import argparse
from typing import Any

from onrecord import switches, timestamps
from onrecord.cli import arguments, chosen, fixes, record_table
from onrecord.cli.output import CommandResult, Screen, clean, table
from onrecord.errors import OnrecordError
from onrecord.settings import load_settings
from onrecord.store import record_files
from onrecord.store.store import Store
from onrecord.text import many
from onrecord.usage import counts as usage_counts
from onrecord.usage.counts import Advice, Counts, interval, per_record, per_week
from onrecord.usage.usage_log import EVENTS

WEEKS = 12
_BARS = "▁▂▃▄▅▆▇█"
_COLOURS = {"injected": "cyan", "used": "green", "ignored": "yellow", "contradicted": "red"}
_OF_RULES = ("injected", "used", "ignored", "contradicted")
"""What is listed for each record and week; of pointers there is one line."""

_HEADS = ("title", *_OF_RULES, "last", "id")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="one record only: its id, or a beginning or words of it")
    arguments.add(parser, "--since")
    parser.add_argument("--limit", type=int, metavar="N", default=20, help="only the N shown most often (default: 20)")


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing(args)
    since = arguments.since(args.since)[:10]
    counts = per_record(store.root, since)
    only = chosen.record(args, store, args.id).path if args.id else ""
    if only:
        counts = {only: counts.get(only, Counts())}
    weeks = per_week(store.root, WEEKS, only, since)
    where = fixes.where(args)
    placed = [each._replace(fix=fixes.placed(each.fix, where)) for each in usage_counts.advice(store.root)]
    advice = [each for each in placed if each.path == (only or each.path)]
    in_store = sum(1 for _ in record_files.every(store.root))
    data = {**_data(store, counts, weeks, advice), "since": since, "records_in_store": in_store}
    off = "; ".join(map(str, switches.off(load_settings(store.root), *switches.PROMPTS)))
    return CommandResult(data, lambda screen: _text(screen, store.root, data, advice, args.limit, only=only), note=off)


def _data(
    store: Store, counts: dict[str, Counts], weeks: list[tuple[str, Counts]], advice: list[Advice]
) -> dict[str, Any]:
    summed = Counts(*(sum(getattr(each, kind) for each in counts.values()) for kind in EVENTS))
    low, high = interval(summed.used, summed.judged)
    ordered = sorted(counts.items(), key=lambda item: (-item[1].injected, -item[1].used, item[0]))
    share = {"used": summed.used, "of": summed.judged, "low": round(low, 3), "high": round(high, 3)}
    return {
        "totals": _numbers(summed),
        "precision_in_use": {**share, "share": round(summed.used / summed.judged, 3)} if summed.judged else None,
        "weeks": [{"week": monday, **_numbers(week)} for monday, week in weeks],
        "records": [_record(store, path, each) for path, each in ordered],
        "suggestions": [each._asdict() for each in advice],
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
    """The counts, with those whose use is unknown: the turn goes on, or the record has nothing to look for."""
    numbers = {kind: int(getattr(counts, kind)) for kind in EVENTS}
    return {**numbers, "unclear": max(counts.injected - counts.judged, 0)}


def _text(screen: Screen, root: str, data: dict[str, Any], advice: list[Advice], limit: int, *, only: str) -> str:
    if not any(data["totals"].values()):
        since = f" since {data['since']}" if data["since"] else ""
        return f"{'this record was not' if only else 'no record was'} shown to an agent{since}"
    lines = [*_summary(screen, data, only), "", *_chart(screen, data["weeks"])]
    if not only:
        lines += ["", *_table(screen, root, data["records"][: max(0, limit)], len(data["records"]))]
    for each in advice:
        lines += ["", f"{screen.paint(clean(each.id), 'bold')}: {clean(each.reason)}", f"  {clean(each.fix)}"]
    return "\n".join(lines)


def _summary(screen: Screen, data: dict[str, Any], only: str) -> list[str]:
    numbers, records = data["totals"], data["records"]
    shown = len([record for record in records if record["injected"] and record["title"]])
    last = timestamps.ago if screen.is_terminal else "on {}".format
    where = (
        f"last {last(records[0]['last_injected'])}" if only else f"{shown:,} of {data['records_in_store']:,} records"
    )
    lines = [f"shown {many(numbers['injected'], 'time')}, {where}"]
    share = data["precision_in_use"]
    if share:
        spread = f"95 % between {share['low']:.0%} and {share['high']:.0%}"
        used = f"used {share['used']:,} of the {share['of']:,} times that could be judged: {share['share']:.0%}"
        lines.append(f"{screen.paint(used, 'bold')} ({spread})")
    if numbers["unclear"]:
        lines.append(f"{numbers['unclear']:,} unknown: could not tell whether the agent used them")
    if numbers["digest"]:
        lines.append(f"shown {many(numbers['digest'], 'time')} in digests, when a session started")
    if numbers["pointed"]:
        read = f"the agent read the record {many(numbers['opened'], 'time')}"
        lines.append(f"pointed to {many(numbers['pointed'], 'time')}; {read}")
    return lines


def _chart(screen: Screen, weeks: list[dict[str, Any]]) -> list[str]:
    """One line of bars for each kind of event, all to the same scale, a bar for each week."""
    highest = max(max(week[kind] for kind in _OF_RULES) for week in weeks)
    lines = [screen.paint(f"weekly from {weeks[0]['week']}", "dim")]
    for kind in _OF_RULES:
        values = [week[kind] for week in weeks]
        bars = screen.paint(sparkline(values, highest), _COLOURS[kind])
        lines.append(f"{kind:<12}  {bars}  {sum(values):,}")
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
        counts = [str(record[kind]) for kind in _OF_RULES]
        rows.append(
            (title, *counts, timestamps.age(last), names[at]) if names else (*counts, last, record["id"], title)
        )
    lines = [table(screen, _HEADS, rows, gives_way=0)] if rows else []
    if total > len(shown):
        lines.append(screen.paint(f"{total - len(shown):,} more; --limit shows them", "dim"))
    return lines
