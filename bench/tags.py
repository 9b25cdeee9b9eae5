"""`python -m bench tags`: whether a word that a record has only in its tags reaches the record at a prompt.

The earlier plugin's rules, prefixes with BM25 and points by field, are asked the same. A word is reached if a record
that has it only in its tags is shown, as a rule or as a pointer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import data, life_sets, results
from bench.data import Prompt
from bench.stage import Stage
from bench.systems import Systems
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Request
from onrecord.record.memory import Memory
from onrecord.search import document, query, terms
from onrecord.settings import load_settings

PROMPTS = (
    "{} is broken again",
    "look into the {} problem",
    "how do we deal with {} here?",
    "the {} part fails again since the last release, can you find out why",
)
"""What is asked with each word."""

_MAX_RECORDS = 3
"""Records that may have a word in their tags: one that more have is the name of an area, not of a record."""

_MIN_LETTERS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=data.SHARED, help="folder of the sets that are not ours")
    parser.add_argument("--words", action="store_true", help="list the words that are not reached")


def run(options: argparse.Namespace) -> int:
    measured = [row for name in _names(options.data) for row in measure(name, options.data, list_them=options.words)]
    rare = [row for row in measured if row["is_nowhere_else"]]
    figures = {"only there in its record": summary(measured), "only there in the store": summary(rare)}
    print(json.dumps(figures, indent=2))
    print(f"wrote {results.save('tags', figures)}")
    return 0


def _names(folder: Path) -> list[str]:
    outside = [*life_sets.FIT, *(path.parent.name for path in sorted(folder.glob("words-*/records.jsonl")))]
    return [*life_sets.CHOOSE, *life_sets.REPORT, *(name for name in outside if (folder / name).is_dir())]


def measure(name: str, folder: Path, *, list_them: bool = False) -> list[dict[str, bool]]:
    """Return the systems that reach a record by its tags alone, by word and prompt of a set."""
    path = data.OWN / name if (data.OWN / name).is_dir() else folder / name
    raw = list(data.lines(path / "records.jsonl"))
    successor = {each["supersedes"]: each["key"] for each in raw if each.get("supersedes")}
    records = [life_sets.record_of({"supersedes": "", **each}, successor, 3) for each in raw]
    rows = []
    with Stage(records) as stage:
        systems = Systems(stage)
        for word, ids, is_nowhere_else in words_only_in_tags(records):
            reached = [
                {"is_nowhere_else": is_nowhere_else, **_reached(systems, prompt.format(word), ids)}
                for prompt in PROMPTS
            ]
            rows += reached
            if list_them and not all(each["shown"] for each in reached):
                print(f"{name}: {word} {[int(each['shown']) for each in reached]}")
    return rows


def words_only_in_tags(records: Sequence[Memory]) -> Iterator[tuple[str, frozenset[str], bool]]:
    """Yield each word that a few records have in their tags alone, their ids, and whether no other record has it."""
    in_tags: dict[str, set[str]] = {}
    elsewhere: dict[str, set[str]] = {}
    spelled: dict[str, str] = {}
    for record in (each for each in records if not each.superseded_by):
        for word in terms.words(" ".join(record.tags)):
            for term in terms.of_word(word):
                in_tags.setdefault(term, set()).add(record.id)
                spelled.setdefault(term, word)
        for text in (record.title, *record.triggers, *document.passages(record)):
            for term in terms.stream(text):
                elsewhere.setdefault(term, set()).add(record.id)
    for term, ids in sorted(in_tags.items()):
        alone = ids - elsewhere.get(term, set())
        word = spelled[term].lower()
        is_word = len(word) >= _MIN_LETTERS and word.isalpha() and word not in query.ENGLISH
        if alone and len(ids) <= _MAX_RECORDS and is_word and len(terms.of_word(word)) == 1:
            yield word, frozenset(alone), term not in elsewhere


def prompts(records: Sequence[Memory]) -> Iterator[Prompt]:
    """Yield a prompt for each word that a few records have in their tags alone, and each way to ask."""
    for word, ids, _ in words_only_in_tags(records):
        for number, text in enumerate(PROMPTS):
            yield Prompt(f"{word}-{number}", text.format(word), "tag", ids)


def _reached(systems: Systems, text: str, ids: frozenset[str]) -> dict[str, bool]:
    decision = for_prompt.decide(systems.stage.stores, Request(text), load_settings("", ""))
    rules, pointers = ({candidate.match.id for candidate in part} for part in (decision.rules, decision.pointers))
    prompt = Prompt("", text, "", ids)
    return {
        "ruled": not ids.isdisjoint(rules),
        "shown": not ids.isdisjoint(rules | pointers),
        "original rule": any(hit.id in ids and hit.shown for hit in systems.original(prompt)),
        "keyword scorer": any(hit.id in ids and hit.shown for hit in systems.keywords(prompt)),
    }


def summary(measured: Sequence[dict[str, bool]]) -> dict[str, float]:
    """Return the share of prompts that reach their word, by system."""
    names = [name for name in measured[0] if name != "is_nowhere_else"] if measured else []
    shares = {name: round(sum(row[name] for row in measured) / len(measured), 3) for name in names}
    return {"prompts": len(measured), "words": len(measured) // len(PROMPTS), **shares}
