"""`python -m bench lines --out FILE`: the line that an agent is shown of every record of the sets, for a second reader.

A reader who sees nothing else marks each line: it says what it is about and what to do or what holds, no word refers to
something outside it, and no sentence is cut. Three figures need no reader: in how many lines the title or all of its
specific words are, how many have a mark, and how many end with the sign that the record says more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench import data
from onrecord.record import rule_title, summary_line
from onrecord.record.memory import Memory

_PATTERNS = ("life-*", "words-*", "commands/*")


class Line(NamedTuple):
    """The rule of a record as a prompt shows it, and its line in the map at session start."""

    set: str
    key: str
    title: str
    rule: str
    in_map: str

    @property
    def names_its_subject(self) -> bool:
        return self.title in self.rule or rule_title.is_named(self.title, self.rule)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=data.SHARED, help="the folder with the sets that are not ours")
    parser.add_argument("--out", type=Path, required=True, help="the file to write, with tabs: set, key, title, line")
    parser.add_argument("--map", action="store_true", help="write the lines of the map instead of the rules")


def run(options: argparse.Namespace) -> int:
    lines = list(gather(options.data))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [(line.set, line.key, line.title, line.in_map if options.map else line.rule) for line in lines]
    text = "".join("\t".join(row) + "\n" for row in [("set", "key", "title", "line"), *rows])
    options.out.write_text(text, encoding="utf-8")
    print(f"{len(lines):,} lines in {options.out}")
    print(f"{sum(line.names_its_subject for line in lines):,} have their title, or all of its specific words")
    print(f"{sum(line.rule.startswith('(') for line in lines):,} begin with a mark")
    print(f"{sum(summary_line.MORE in line.rule for line in lines):,} say that the record says more")
    return 0


def gather(folder: Path) -> Iterator[Line]:
    """Yield the lines of the sets in the repository and of those in a folder."""
    files = [
        file for root in (data.OWN, folder) for pattern in _PATTERNS for file in root.glob(f"{pattern}/records.jsonl")
    ]
    for file in sorted(files, key=lambda file: file.parent.name):
        for raw in data.lines(file):
            record = Memory(raw["category"], raw["key"], raw["title"], raw["content"])
            rule, in_map = summary_line.render(record), rule_title.of_record(record)
            yield Line(file.parent.name, record.id, " ".join(record.title.split()), rule, in_map)
