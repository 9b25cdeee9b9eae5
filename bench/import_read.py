"""Import at first sight: drafts that a reader held against their pages, sentence by sentence.

`sets/adr-verdicts.jsonl` has a line for each page: the repository, the commit, the round, and what became of it at
first sight: `right`, `false: …`, `garbled: …`, `dangling: …`, `agent` or `left out`. None of the pages' text is in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.shares import wilson

VERDICTS = Path(__file__).parent / "sets" / "adr-verdicts.jsonl"
_WRONG = ("false", "garbled", "dangling")


class PageVerdict(NamedTuple):
    """What became of a page at first sight."""

    repo: str
    number: int
    """The round."""
    outcome: str


def read() -> list[PageVerdict]:
    """Return the verdicts of all rounds."""
    rows = (json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines())
    return [PageVerdict(row["repo"], int(row["round"]), str(row["verdict"]).partition(":")[0]) for row in rows]


def report() -> str:
    """Return a table: a row for each repository, each round, and all of them."""
    verdicts = read()
    lines = [
        "| repository | pages | drafts | right | false | garbled | points elsewhere | left to the agent | left out |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for number in sorted({verdict.number for verdict in verdicts}):
        own = [verdict for verdict in verdicts if verdict.number == number]
        for repo in dict.fromkeys(verdict.repo for verdict in own):
            lines.append(_row(repo, (verdict for verdict in own if verdict.repo == repo)))
        lines.append(_row(f"**all, round {number}**", own))
    first, last = min(verdict.number for verdict in verdicts), max(verdict.number for verdict in verdicts)
    lines.append(_row(f"**all, rounds {first} to {last}**", verdicts))
    return "\n".join(lines)


def counts() -> dict[str, dict[str, int]]:
    """Return the counts by round."""
    rounds: dict[str, Counter[str]] = {}
    for verdict in read():
        rounds.setdefault(f"round {verdict.number}", Counter())[verdict.outcome] += 1
    return {name: dict(outcomes) for name, outcomes in rounds.items()}


def _row(name: str, verdicts: Iterable[PageVerdict]) -> str:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    drafts = outcomes["right"] + sum(outcomes[kind] for kind in _WRONG)
    low, high = wilson(outcomes["right"], drafts) if drafts else (0.0, 0.0)
    share = f" ({low:.0%} to {high:.0%})" if drafts and name.startswith("**") else ""
    cells = (sum(outcomes.values()), drafts, f"{outcomes['right']}{share}", *(outcomes[kind] for kind in _WRONG))
    return f"| {' | '.join(map(str, (name, *cells, outcomes['agent'], outcomes['left out'])))} |"
