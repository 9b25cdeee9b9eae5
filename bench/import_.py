"""Import: is the decision that the reader proposes of a decision record the one its authors took?

A label has the status, the lines that state the decision, a few words that any right reading of it has, and names of
options that lost; bench/results/import.md says how they were made. The records themselves are not here: they are read
from clones of the repositories, at the commits that the labels name.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import import_read, repositories, results
from bench.shares import wilson
from onrecord.importers import adr
from onrecord.importers.adr import Adr

LABELS = Path(__file__).parent / "sets" / "adr-labels.jsonl"
NOW = "2026-11-16T00:00:00Z"
_FROM_THE_LINES = 0.85
"""Share of a proposed decision's words that the labelled lines must have; the rest are names of options spelled out."""

_WORD = re.compile(r"[^\W_]+")


class Label(NamedTuple):
    """What a record says, as far as it is compared."""

    repo: str
    commit: str
    path: str
    status: str
    lines: tuple[int, int] | None
    chosen: str
    rejected: tuple[str, ...] = ()
    part: str = ""
    """The round in which its repository was first looked at."""


class Verdict(NamedTuple):
    """What became of a record: `right`, `wrong: …`, `agent` or `left out`."""

    label: Label
    outcome: str
    is_swapped: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clones",
        type=Path,
        required=True,
        help="folder of clones, bare or not, each called owner+name (or in it: repo)",
    )
    parser.add_argument("--wrong", action="store_true", help="name the records that were read wrongly")


def run(options: argparse.Namespace) -> int:
    labels = [_label(json.loads(line)) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    missing = repositories.missing(options.clones, (label.repo for label in labels))
    if missing:
        print("clone these first: " + ", ".join(missing))
        return 1
    verdicts = [
        judged(label, repositories.text(repositories.find(options.clones, label.repo), label.commit, label.path))
        for label in labels
    ]
    print(report(verdicts))
    print(import_read.report())
    parts = list(dict.fromkeys(verdict.label.part for verdict in verdicts))
    by_part = {part: [verdict for verdict in verdicts if verdict.label.part == part] for part in parts}
    parts_counted = {part: counts(own) for part, own in by_part.items()}
    results.save("import", {"parts": parts_counted, "at first sight": import_read.counts()})
    if options.wrong:
        print(
            *(f"{each.outcome}: {each.label.repo} {each.label.path}" for each in verdicts if _is_wrong(each)), sep="\n"
        )
    return 0


def _label(row: dict[str, object]) -> Label:
    lines, rejected = row.get("lines"), row.get("rejected", [])
    span = (int(lines[0]), int(lines[1])) if isinstance(lines, list) else None
    names = tuple(map(str, rejected)) if isinstance(rejected, list) else ()
    texts = [str(row[key]) for key in ("repo", "commit", "path", "status")]
    return Label(texts[0], texts[1], texts[2], texts[3], span, str(row["chosen"]), names, str(row.get("part", "")))


def judged(label: Label, text: str) -> Verdict:
    """Compare what the reader makes of a record with its label."""
    decision = adr.read(text, label.path, NOW)
    if not isinstance(decision, Adr):
        return Verdict(label, "agent" if decision.is_for_agent else "left out")
    content = decision.record.content
    if label.lines is None:
        return Verdict(label, "wrong: it decides nothing")
    proposed, chosen = _words(content["decision"]), _words(label.chosen)
    alternatives = [str(each["option"]) for each in content.get("alternatives", [])]
    if not chosen <= proposed:
        names_rejected = any(_words(name) <= proposed for name in label.rejected)
        is_swapped = names_rejected or any(chosen <= _words(each) for each in alternatives)
        return Verdict(label, "wrong: another decision", is_swapped)
    if any(_words(each.partition(":")[0]) == chosen for each in alternatives):
        return Verdict(label, "wrong: chosen and rejected", True)
    if not _is_from(label, text, proposed):
        return Verdict(label, "wrong: words from elsewhere")
    if content["status"] != ("accepted" if label.status == "none" else label.status):
        return Verdict(label, f"wrong: status {content['status']} for {label.status}")
    return Verdict(label, "right")


def _is_from(label: Label, text: str, proposed: frozenset[str]) -> bool:
    """True if a decision's words are those of the labelled lines, or of a line that names what was chosen."""
    assert label.lines is not None
    lines = text.splitlines()
    first, last = label.lines
    label_words = _words(label.chosen)
    allowed = _words(" ".join(lines[first - 1 : last])).union(
        *(_words(line) for line in lines if label_words & _words(line))
    )
    return len(proposed & allowed) >= _FROM_THE_LINES * len(proposed)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _is_wrong(verdict: Verdict) -> bool:
    return verdict.outcome.startswith("wrong")


def report(verdicts: Sequence[Verdict]) -> str:
    """Return a table by repository, and the figures of all of them."""
    lines = [
        "| repository | records | proposed | right | left to the agent | left out |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for part in dict.fromkeys(verdict.label.part for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.label.part == part]
        repos = list(dict.fromkeys(verdict.label.repo for verdict in own))
        lines += [_row(repo, [each for each in own if each.label.repo == repo]) for repo in repos]
        lines.append(_row(f"**all, {part}**", own))
        lines += ["", _sentence(own), ""]
    return "\n".join(lines)


def counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Count the records, those proposed, and of these the ones read right or with two options swapped."""
    right = sum(verdict.outcome == "right" for verdict in verdicts)
    return {
        "records": len(verdicts),
        "proposed": right + sum(map(_is_wrong, verdicts)),
        "right": right,
        "swapped": sum(verdict.is_swapped for verdict in verdicts),
        "left to the agent": sum(verdict.outcome == "agent" for verdict in verdicts),
    }


def _row(name: str, verdicts: Iterable[Verdict]) -> str:
    counts = Counter(verdict.outcome.partition(":")[0] for verdict in verdicts)
    proposed = counts["right"] + counts["wrong"]
    cells = (name, sum(counts.values()), proposed, counts["right"], counts["agent"], counts["left out"])
    return f"| {' | '.join(map(str, cells))} |"


def _sentence(verdicts: Sequence[Verdict]) -> str:
    each = counts(verdicts)
    right, proposed, left = each["right"], each["proposed"], each["left to the agent"]
    low, high = wilson(right, proposed)
    return (
        f"Right: {right} of {proposed} proposed, {right / max(1, proposed):.1%} ({low:.1%} to {high:.1%}); chosen and "
        f"rejected swapped: {each['swapped']}; left to the agent: {left} of {len(verdicts)}, "
        f"{left / max(1, len(verdicts)):.0%}."
    )
