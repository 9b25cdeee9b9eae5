"""`onrecord audit`: the rates of duplicate, outdated and unsafe records, in a store or in the notes of other tools."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from onrecord.audit import audit_item, authority, report
from onrecord.audit.audit_item import AuditItem
from onrecord.audit.report import Evidence, Measure
from onrecord.cli import arguments, help, output
from onrecord.cli.output import CommandResult, Screen, labelled, table
from onrecord.cli.terminal import watched
from onrecord.coldstart import NamedTuple
from onrecord.importers import memories
from onrecord.record.schema import shorten
from onrecord.search import index
from onrecord.store.store import Broken, Entry, Store
from onrecord.text import plural

CHECKS = (
    "duplicates", "superseded", "changed", "missing", "overlong", "secrets", "junk", "checks", "triggers", "authority",
)  # fmt: skip
SERIOUS = ("superseded", "secrets")
"""Checks that `--strict` refuses: an agent would follow an outdated record, or a credential would be published."""

_MAX_FINDINGS, _MAX_IDS = 5, 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-rate",
        action="append",
        type=_rate_limit,
        default=[],
        metavar="[CHECK=]RATE",
        help="exit with 1 if the rate of this check, or of any, is higher (repeatable; 0.05 and 5%% are the same)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help=f"exit with 1 if there are any {', '.join(SERIOUS)} or records that cannot be read",
    )
    parser.add_argument("--category", type=arguments.category, metavar="NAME", help="only the records of this category")
    folder = parser.add_mutually_exclusive_group()
    folder.add_argument(
        "--claude-memory",
        type=help.folder,
        metavar="DIR",
        help="read a folder of Claude Code's auto memory instead",
    )
    folder.add_argument("--markdown", type=help.folder, metavar="DIR", help="read a folder of Markdown notes instead")
    parser.add_argument("--all", action="store_true", help=f"show every finding, not only {_MAX_FINDINGS} of each kind")


def run(args: argparse.Namespace) -> CommandResult:
    limits = {**dict.fromkeys(SERIOUS if args.strict else (), 0.0), **_limits(args.max_rate)}
    folder = args.claude_memory or args.markdown
    arguments.exclude("--category", args.category, {"--claude-memory": args.claude_memory, "--markdown": args.markdown})
    items: Sequence[AuditItem]
    broken: list[str] = []
    if folder:
        items = memories.claude_memory(folder) if args.claude_memory else memories.markdown_folder(folder)
        where = folder
        evidence = Evidence(missing=report.lost_files(items, os.path.abspath(args.project)))
    else:
        store = arguments.existing_store(args)
        category = args.category or ""
        where, (items, evidence, broken) = store.root, _material(store, category)
    measures = report.audit(items, evidence, lambda texts: watched(texts, "comparing records"))
    if folder:
        measures = {name: _for_others(measure) for name, measure in measures.items()}
    measures = {name: _with_flags(measure, arguments.store_flags(args)) for name, measure in measures.items()}
    above = [name for name, measure in measures.items() if (measure.rate or 0) > limits.get(name, 1)]
    data = {
        "store": where,
        "memories": len(items),
        "unreadable": broken,
        "checks": {name: _data(measure, limits.get(name)) for name, measure in measures.items()},
        "above": above,
    }
    limit = None if args.all else _MAX_FINDINGS
    warning = (
        f"left out: {plural(len(broken), 'file')} that cannot be read; to see why: onrecord doctor" if broken else ""
    )
    refused = [*above, *(["records that cannot be read"] if broken else [])] if args.strict else []
    return CommandResult(
        data,
        lambda screen: _text(screen, measures, above, limit),
        status=1 if above or refused else 0,
        warning=warning,
        note=f"refused by --strict: {', '.join(refused)}" if refused else "",
    )


def _material(store: Store, category: str) -> tuple[Sequence[AuditItem], Evidence, list[str]]:
    """Return the records to audit, the evidence about them, and the paths of records that cannot be read."""
    scanned = list(watched(store.scan(category), "reading records"))
    entries = [item for item in scanned if isinstance(item, Entry)]
    broken = [item.path for item in scanned if isinstance(item, Broken)]
    evidence = report.collect(store, entries, lambda entries: watched(entries, "checking files"))
    records = [entry.memory for entry in entries]
    reaches = authority.reaches(index.open(store.root), lambda texts: watched(texts, "trying prompts and commands"))
    names = {record.id for record in records}
    findings = authority.examine(records, reaches, names)
    return audit_item.from_records(records), evidence._replace(authority=tuple(findings)), broken


def _for_others(measure: Measure) -> Measure:
    """Return `measure` without our own commands, which do not work on the notes of other tools."""
    fix = "correct or remove the note; it was only read"
    return measure._replace(findings=tuple(finding._replace(fix=fix) for finding in measure.findings))


def _with_flags(measure: Measure, flags: str) -> Measure:
    findings = tuple(finding._replace(fix=output.add_store_flags(finding.fix, flags)) for finding in measure.findings)
    return measure._replace(findings=findings)


class _RateLimit(NamedTuple):
    """The highest rate that a check, or with an empty name every check, may have."""

    check: str
    rate: float


def _rate_limit(text: str) -> _RateLimit:
    """Return what a `--max-rate` means: a `type=`."""
    name, equals, rate_text = text.rpartition("=")
    try:
        rate = float(rate_text[:-1]) / 100 if rate_text.endswith("%") else float(rate_text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1 or (equals and name not in CHECKS):
        form = f"a rate such as 0.05 or 5%, alone or for one of {', '.join(CHECKS)}: {CHECKS[0]}=5%"
        raise argparse.ArgumentTypeError(f"must be {form}, not {shorten(text)}")
    return _RateLimit(name, rate)


def _limits(rate_limits: Sequence[_RateLimit]) -> dict[str, float]:
    limits: dict[str, float] = {}
    for limit in rate_limits:
        limits.update(dict.fromkeys([limit.check] if limit.check else CHECKS, limit.rate))
    return limits


def _data(measure: Measure, limit: float | None) -> dict[str, Any]:
    rate = measure.rate
    return {
        "count": measure.hits,
        "of": measure.of,
        "rate": None if rate is None else round(rate, 4),
        "max_rate": limit,
        "findings": [{"ids": list(f.ids), "message": f.message, "fix": f.fix} for f in measure.findings],
    }


def _text(screen: Screen, measures: dict[str, Measure], above: list[str], limit: int | None) -> str:
    rows = []
    for name, measure in measures.items():
        rate = "not measured" if measure.rate is None else f"{measure.rate:.1%}"
        count = "" if measure.hits is None else f"{measure.hits:,} of {measure.of:,}"
        rows.append((name, rate, count, "too high" if name in above else ""))
    lines = [table(screen, ("check", "rate", "records", ""), rows)]
    for name, measure in measures.items():
        lines += _findings(screen, name, measure, limit)
    return "\n".join(lines)


def _findings(screen: Screen, name: str, measure: Measure, limit: int | None) -> list[str]:
    if not measure.findings:
        return []
    lines = ["", screen.paint(name, "bold")]
    for finding in measure.findings[:limit]:
        lines.append(labelled(screen, ", ".join(finding.ids[:_MAX_IDS]), finding.message, indent="  "))
        lines.append(labelled(screen, "fix", finding.fix, indent="    "))
    hidden = 0 if limit is None else len(measure.findings) - limit
    return [*lines, f"  and {hidden:,} more (--all shows them)"] if hidden > 0 else lines
