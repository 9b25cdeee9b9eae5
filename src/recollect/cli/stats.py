"""`recollect stats`: what was told to agents, and what became of it; for the whole store or for one record."""

from __future__ import annotations

import argparse
from typing import Any

from recollect import timestamps, usage
from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean, table
from recollect.errors import BadInput, RecollectError
from recollect.store.store import Store, record_files
from recollect.usage.counts import Counts, interval, total
from recollect.usage.suggestion import Suggestion

WEEKS = 12
_BARS = "▁▂▃▄▅▆▇█"
_KINDS = ("injected", "used", "ignored", "contradicted")
_COLOURS = {"injected": "cyan", "used": "green", "ignored": "yellow", "contradicted": "red"}
_HEADS = (*_KINDS, "last", "id", "title")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="one record only: an id, category/id or path")
    parser.add_argument("--since", metavar="WHEN", help="only what happened since a day (2026-03-01) or an age (30d)")
    parser.add_argument("--limit", type=int, metavar="N", default=20, help="only the N told most often (default: 20)")


def run(args: argparse.Namespace) -> Answer:
    store = store_args.existing(args)
    since = "" if args.since is None else _day(args.since)
    counts = usage.summary(store.root, since)
    only = store.get(args.id).path if args.id else ""
    if only:
        counts = {only: counts.get(only, Counts())}
    weeks = usage.weeks(store.root, WEEKS, only, since)
    advice = [one for one in usage.suggestions(store.root) if one.path == (only or one.path)]
    known = sum(1 for _ in record_files(store.root))
    data = {**_data(store, counts, weeks, advice), "since": since, "records_in_store": known}
    return Answer(data, lambda screen: _text(screen, data, advice, args.limit, only))


def _day(text: str) -> str:
    if text[-1:] in ("d", "D") and text[:-1].isascii() and text[:-1].isdigit():
        return timestamps.days_before(timestamps.now(), min(int(text[:-1]), 100_000))[:10]
    if not timestamps.is_day(text):
        raise BadInput(f"--since {text!r} is neither a day nor an age", fix="write --since 2026-03-01 or --since 30d")
    return text[:10]


def _data(
    store: Store, counts: dict[str, Counts], weeks: list[tuple[str, Counts]], advice: list[Suggestion]
) -> dict[str, Any]:
    summed = total(counts)
    low, high = interval(summed.used, summed.judged)
    ordered = sorted(counts.items(), key=lambda item: (-item[1].injected, -item[1].used, item[0]))
    share = {"used": summed.used, "of": summed.judged, "low": round(low, 3), "high": round(high, 3)}
    return {
        "totals": _numbers(summed),
        "precision_in_use": {**share, "share": round(summed.used / summed.judged, 3)} if summed.judged else None,
        "weeks": [{"week": monday, **_numbers(one)} for monday, one in weeks],
        "records": [_record(store, path, one) for path, one in ordered],
        "suggestions": [one._asdict() for one in advice],
    }


def _record(store: Store, path: str, counts: Counts) -> dict[str, Any]:
    """A record's numbers under its name; one that is gone keeps the name its path gives it."""
    try:
        title = store.read(path).memory.title
    except RecollectError:
        title = ""
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return {"id": name, "path": path, "title": title, **_numbers(counts), "last_injected": counts.last_injected}


def _numbers(counts: Counts) -> dict[str, int]:
    """The counts, with those told whose fate is not known: no Stop seen yet, or nothing in them to look for."""
    found = {kind: int(getattr(counts, kind)) for kind in _KINDS}
    return {**found, "unclear": max(counts.injected - counts.judged, 0)}


def _text(screen: Screen, data: dict[str, Any], advice: list[Suggestion], limit: int, only: str) -> str:
    if not any(data["totals"].values()):
        told = "this record" if only else "any memory"
        since = f" since {data['since']}" if data["since"] else ""
        return f"no agent was told {told}{since}"
    lines = [*_summary(screen, data, only), "", *_chart(screen, data["weeks"])]
    if not only:
        lines += ["", *_table(screen, data["records"], limit)]
    for one in advice:
        lines += ["", f"{screen.paint(clean(one.id), 'bold')}: {clean(one.reason)}", f"  {clean(one.fix)}"]
    return "\n".join(lines)


def _summary(screen: Screen, data: dict[str, Any], only: str) -> list[str]:
    numbers, records = data["totals"], data["records"]
    told = len([one for one in records if one["injected"] and one["title"]])
    where = f"last on {records[0]['last_injected']}" if only else f"{told:,} of {data['records_in_store']:,} records"
    lines = [f"told {numbers['injected']:,} time{'' if numbers['injected'] == 1 else 's'}, {where}"]
    share = data["precision_in_use"]
    if share:
        spread = f"95 % between {share['low']:.0%} and {share['high']:.0%}"
        known = f"used {share['used']:,} of {share['of']:,} times that can be told: {share['share']:.0%}"
        lines.append(f"{screen.paint(known, 'bold')} ({spread})")
    if numbers["unclear"]:
        lines.append(f"{numbers['unclear']:,} unclear: nothing in them that could be recognised, or the turn goes on")
    return lines


def _chart(screen: Screen, weeks: list[dict[str, Any]]) -> list[str]:
    """One line of bars for each kind of event, all to the same scale, a bar for each week."""
    highest = max(max(week[kind] for kind in _KINDS) for week in weeks)
    lines = [screen.paint(f"weekly from {weeks[0]['week']}", "dim")]
    for kind in _KINDS:
        values = [week[kind] for week in weeks]
        bars = screen.paint(sparkline(values, highest), _COLOURS[kind])
        lines.append(f"{kind:<12}  {bars}  {sum(values):,}")
    return lines


def sparkline(values: list[int], highest: int) -> str:
    """Bars as high as the values, of eight heights; nothing at all is a dot."""
    steps = len(_BARS)
    heights = [min(-(-value * steps // max(highest, 1)), steps) for value in values]
    return "".join(_BARS[height - 1] if height > 0 else "·" for height in heights)


def _table(screen: Screen, records: list[dict[str, Any]], limit: int) -> list[str]:
    shown = records[: max(0, limit)]
    rows = [
        (*(str(one[kind]) for kind in _KINDS), one["last_injected"], one["id"], one["title"] or "(gone)")
        for one in shown
    ]
    lines = [table(screen, _HEADS, rows)] if rows else []
    if len(records) > len(shown):
        lines.append(screen.paint(f"{len(records) - len(shown):,} more; --limit shows them", "dim"))
    return lines
