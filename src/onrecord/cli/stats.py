"""`onrecord stats`: how often records were shown to agents and opened; `onrecord feedback`: whether one helped."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from onrecord import timestamps
from onrecord.cli import arguments, record_table, resolve
from onrecord.cli.output import CommandResult, Screen, clean, table
from onrecord.cli.questions import Asker
from onrecord.errors import BadInput, OnrecordError
from onrecord.record import author
from onrecord.settings import PROMPT_SWITCHES, load_settings, off_switches
from onrecord.store import record_names
from onrecord.store.store import Store
from onrecord.text import plural
from onrecord.usage import event_log
from onrecord.usage.event_log import FEEDBACK, TAKEN_BACK
from onrecord.usage.usage_log import EVENTS, Counts, per_record, per_week, total

WEEKS = 12
_BARS = "▁▂▃▄▅▆▇█"
_COLOURS = {"injected": "cyan", "pointed": "yellow", "opened": "green"}
_KINDS = tuple(_COLOURS)
"""Events that are counted for each record and week."""

_HEADS = ("title", *_KINDS, "last", "id")

_VERDICTS = {name.replace("_", "-"): name for name in (*FEEDBACK, TAKEN_BACK)}
_WORDS = {
    "helped": "helped",
    "not_relevant": "was not relevant",
    "wrong": "was wrong",
    TAKEN_BACK: "is as if you had said nothing",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "feedback":
        parser.add_argument("id", metavar="ID", help="the record: its id, its beginning, or words of it")
        parser.add_argument("verdict", choices=list(_VERDICTS), metavar="VERDICT", help=", ".join(_VERDICTS))
        return
    parser.add_argument("id", metavar="ID", nargs="?", help="only this record: its id, its beginning, or words of it")
    arguments.add(parser, "--since")
    parser.add_argument(
        "--limit", type=arguments.count(), metavar="N", default=20, help="only the N shown most often (default: 20)"
    )


def run(args: argparse.Namespace) -> CommandResult:
    if args.command == "feedback" and author.detect().origin == author.AGENT:
        fix = f"ask the user to run: onrecord feedback {shlex.quote(args.id)} {args.verdict}"
        raise BadInput("only a person may say whether a record helped", fix=fix)
    store = arguments.existing_store(args)
    if args.command == "feedback":
        return _note_verdict(arguments.asker(args), store, args.id, args.verdict)
    since = (args.since or "")[:10]
    counts = per_record(store.root, since)
    only = resolve.record(arguments.asker(args), store, args.id).path if args.id else ""
    if only:
        counts = {only: counts.get(only, Counts())}
    weeks = per_week(store.root, WEEKS, only, since)
    in_store = sum(1 for _ in record_names.paths(store.root))
    data = {**_data(store, counts, weeks), "since": since, "records_in_store": in_store}
    off = "; ".join(map(str, off_switches(load_settings(store.root), *PROMPT_SWITCHES)))
    return CommandResult(data, lambda screen: _text(screen, store.root, data, args.limit, only=only), note=off)


def _data(store: Store, counts_by_path: dict[str, Counts], weeks: list[tuple[str, Counts]]) -> dict[str, Any]:
    ordered = sorted(counts_by_path.items(), key=lambda item: (-item[1].injected, -item[1].opened, item[0]))
    return {
        "totals": _numbers(total(counts_by_path.values())),
        "weeks": [{"week": monday, **_numbers(week)} for monday, week in weeks],
        "records": [_record(store, path, counts) for path, counts in ordered],
    }


def _record(store: Store, path: str, counts: Counts) -> dict[str, Any]:
    """Return the counts of a record; one that was deleted has no title, and the id in its path."""
    try:
        title = store.read(path).memory.title
    except OnrecordError:
        title = ""
    name = record_names.record_id(path)
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
    shown_count = len([record for record in records if record["injected"] and record["title"]])
    last = timestamps.ago if screen.is_terminal else "on {}".format
    if not only:
        where = f", {shown_count:,} of {data['records_in_store']:,} records"
    else:
        where = f", last {last(records[0]['last_injected'])}" if numbers["injected"] else ""
    lines = [f"shown {plural(numbers['injected'], 'time')}{where}"]
    if numbers["pointed"]:
        lines.append(f"pointed to {plural(numbers['pointed'], 'time')}")
    if numbers["digest"]:
        lines.append(f"shown {plural(numbers['digest'], 'time')} in digests, when a session started")
    lines.append(f"opened by the agent {plural(numbers['opened'], 'time')}")
    if numbers["corrected"]:
        lines.append(f"broken, so that the user corrected the agent, {plural(numbers['corrected'], 'time')}")
    verdicts = [f"{name.replace('_', ' ')} {plural(numbers[name], 'time')}" for name in FEEDBACK if numbers[name]]
    return [*lines, f"you said: {', '.join(verdicts)}"] if verdicts else lines


def _chart(screen: Screen, weeks: list[dict[str, Any]]) -> list[str]:
    """Return a line of bars for each kind of event, with a bar for each week, all to the same scale."""
    highest = max(max(week[kind] for kind in _KINDS) for week in weeks)
    lines = [screen.paint(f"weekly from {weeks[0]['week']}", "dim")]
    for kind in _KINDS:
        values = [week[kind] for week in weeks]
        bars = screen.paint(sparkline(values, highest), _COLOURS[kind])
        lines.append(f"{kind:<8}  {bars}  {sum(values):,}")
    return lines


def sparkline(values: list[int], highest: int) -> str:
    """Return a bar for each value, of eight heights up to `highest`; zero is a dot."""
    steps = len(_BARS)
    heights = [min(-(-value * steps // max(highest, 1)), steps) for value in values]
    return "".join(_BARS[height - 1] if height > 0 else "·" for height in heights)


def _table(screen: Screen, root: str, record_data: list[dict[str, Any]], total: int) -> list[str]:
    names = record_table.names_in(root, [record["path"] for record in record_data]) if screen.is_terminal else []
    rows = []
    for position, record in enumerate(record_data):
        title, last = record["title"] or "(gone)", record["last_injected"]
        counts = [str(record[kind]) for kind in _KINDS]
        rows.append(
            (title, *counts, timestamps.age(last), names[position]) if names else (*counts, last, record["id"], title)
        )
    lines = [table(screen, _HEADS, rows, gives_way=0)] if rows else []
    if total > len(record_data):
        lines.append(screen.paint(f"{total - len(record_data):,} more (use --limit)", "dim"))
    return lines


def _note_verdict(asker: Asker, store: Store, typed_id: str, typed_verdict: str) -> CommandResult:
    """Note what a person says about a record."""
    entry = resolve.record(asker, store, typed_id)
    verdict = _VERDICTS[typed_verdict]
    # It is about the record, unless it was just shown: then about that showing, as on the page.
    shown = event_log.newest(store.root, 1, entry.path)
    event_log.give_feedback(store.root, entry.path, verdict, shown[0].session if shown else "")
    judgement = event_log.feedback(store.root).get(entry.path, event_log.Feedback())
    data = {**arguments.record_data(store, entry), "verdict": typed_verdict, "feedback": judgement._asdict()}

    def text(screen: Screen) -> str:
        return f"{screen.paint('noted', 'green')}: {clean(entry.memory.title)} {_WORDS[verdict]}"

    return CommandResult(data, text)
