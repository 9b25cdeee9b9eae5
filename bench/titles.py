"""Titles: can an agent act on the line that stands for a record at session start?

The lines are those of decision records of public repositories, as `onrecord import` reads them, and of the life sets.
One reader marked each line: it says what to do or what holds, or it only names a subject. A label has the hash of the
line that was read, so a line that has changed since counts as not read. The records themselves are not here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import data, repositories, results
from bench.import_ import NOW
from bench.shares import wilson
from onrecord.importers import adr
from onrecord.importers.adr import Adr
from onrecord.record import rule_title
from onrecord.record.memory import Memory

LABELS = Path(__file__).parent / "sets" / "title-labels.jsonl"
PARTS = {
    "chosen": "decision records of five repositories, read while the words were chosen",
    "new": "decision records of two other repositories",
}
TOPICS = "records of the life sets whose title is a topic"
LIFE = ("life-bitwarden", "life-guardian", "life-hass", "life-numpy", "life-opentofu", "life-zoo")


class Line(NamedTuple):
    """The line of a record, and whether its title was a topic before."""

    place: str
    text: str
    was_topic: bool

    @property
    def hash(self) -> str:
        return hashlib.blake2b(self.text.encode(), digest_size=6).hexdigest()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clones", type=Path, required=True, help="folder of clones, owner+name or owner+name/repo")
    parser.add_argument("--data", type=Path, default=data.SHARED, help="the folder with the life sets")
    parser.add_argument("--list", action="store_true", help="print every line with its label, or ? where it has none")


def run(options: argparse.Namespace) -> int:
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    labels = {(row["place"], row["line"]): row["acts"] for row in rows}
    lines = {
        name: list(_imported(options.clones, [row["place"] for row in rows if row["part"] == part]))
        for part, name in PARTS.items()
    }
    lines[TOPICS] = [line for line in _life(options.data) if line.was_topic]
    measured = {}
    for name, group in lines.items():
        marks = [labels.get((line.place, line.hash)) for line in group]
        if options.list:
            for line, mark in zip(group, marks):
                print(f"{'?' if mark is None else '+' if mark else '-'} {line.place}  {line.text}")
        measured[name] = counts(group, marks)
        print(_sentence(name, measured[name]))
    if any(each["read"] < each["lines"] for each in measured.values()):
        print(f"not stored: label the new lines in {LABELS.name} first (--list marks them with ?)")
        return 1
    results.save("titles", {"groups": measured})
    return 0


def counts(group: Sequence[Line], marks: Sequence[bool | None]) -> dict[str, int]:
    """Count the lines, those that were read, those that can be acted on, and the titles that were topics."""
    read = [mark for mark in marks if mark is not None]
    topics = sum(line.was_topic for line in group)
    return {"lines": len(group), "read": len(read), "act": sum(read), "topics": topics}


def _sentence(name: str, counted: Mapping[str, int]) -> str:
    low, high = wilson(counted["act"], counted["read"])
    share = f"{counted['act']} of {counted['read']} lines can be acted on ({low:.2f} to {high:.2f})"
    return f"{name}: {share}; {counted['topics']} titles were topics; {counted['lines'] - counted['read']} not read"


def _imported(clones: Path, places: Sequence[str]) -> Iterator[Line]:
    """Yield the line of each labelled decision record; a place is `owner+name@commit:path`."""
    for place in places:
        repo, _, rest = place.partition("@")
        commit, _, path = rest.partition(":")
        decision = adr.read(repositories.text(repositories.find(clones, repo), commit, path), path, NOW)
        if isinstance(decision, Adr):
            record = decision.record
            was_topic = bool(record.triggers) or not rule_title.states_a_rule(record.title)
            yield Line(place, rule_title.of_record(record), was_topic)


def _life(folder: Path) -> Iterator[Line]:
    for name in LIFE:
        file = folder / name / "records.jsonl"
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ():
            record = Memory(row["category"], row["key"], row["title"], row["content"])
            yield Line(f"{name}/{row['key']}", rule_title.of_record(record), not rule_title.states_a_rule(record.title))
