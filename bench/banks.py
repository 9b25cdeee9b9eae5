"""Knowledge banks: are the lessons that fit a feature among the first ten?

The features are those of one public repository that keeps specifications and knowledge banks, each at the first commit
that has its specification; the lessons are those of that commit, so none of them comes from the feature itself. One
reader saw the titles of all lessons and the texts of those that some variant ranked high, and marked those that fit.
Labels are the keys of entries: the texts are read from a clone.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import figure_tables, page, repositories, results
from onrecord import coldstart
from onrecord.digest import knowledge_bank, work_context
from onrecord.digest.selection import DigestCandidate
from onrecord.digest.work_context import WorkContext
from onrecord.git.changes import Changes
from onrecord.search import query, terms

LABELS = Path(__file__).parent / "sets" / "bank-labels.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "knowledge-banks.md"
REPO = "clthuang+pedantic-drip"
PARTS = {"chosen": "features on which the weights were chosen", "new": "others, marked by the titles alone"}
FIRST = 10
_OLD_SHARE = 0.5
"""Share of the words of the work that an entry had to have in 0.2.0."""


class State(NamedTuple):
    """A feature at one commit: what is known about the work, the lessons of that day, the keys of those that fit."""

    feature: str
    context: WorkContext
    lessons: Sequence[DigestCandidate]
    fits: frozenset[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clones", type=Path, required=True, help=f"folder with a clone called {REPO}, bare or not")


def run(options: argparse.Namespace) -> int:
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    if repositories.missing(options.clones, [REPO]):
        print(f"clone this first: {REPO}")
        return 1
    clone = repositories.find(options.clones, REPO)
    counts: dict[str, list[dict[str, Any]]] = {part: [] for part in PARTS}
    for row in rows:
        state = _state(clone, row)
        right = {name: len(state.fits & set(_first(rank(state)))) for name, rank in RANKINGS.items()}
        sizes = {"feature": state.feature, "lessons": len(state.lessons), "fits": len(state.fits)}
        counts[row["part"]].append({**sizes, **right})
        print(counts[row["part"]][-1])
    measured = {"parts": {part: {"what": PARTS[part], **summary(each)} for part, each in counts.items()}}
    results.save("banks", {**measured, "states": counts})
    print(figure_tables.banks(measured))
    page.put(PAGE, "banks", {"lessons": figure_tables.banks(measured)})
    return 0


def summary(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count the fitting lessons that each ranking has among the first ten, and the features with enough of them."""
    with_bm25 = [each for each in counts if each["bm25"]]
    return {
        "features": len(counts),
        "fits": sum(each["fits"] for each in counts),
        "with_bm25": len(with_bm25),
        "found": {name: sum(each[name] for each in counts) for name in RANKINGS},
        # Where fewer than three fit, all of them are enough.
        "enough": {name: sum(each[name] >= min(3, each["fits"]) for each in with_bm25) for name in RANKINGS},
    }


def _state(clone: Path, row: Mapping[str, Any]) -> State:
    commit, folder = str(row["commit"]), str(row["feature"])
    names = [
        f"{folder}/.meta.json",
        f"{folder}/spec.md",
        *(f"docs/knowledge-bank/{name}" for name in knowledge_bank.BANKS),
    ]
    with tempfile.TemporaryDirectory() as project:
        for name in names:
            os.makedirs(os.path.dirname(os.path.join(project, name)), exist_ok=True)
            Path(project, name).write_text(repositories.text(clone, commit, name), encoding="utf-8")
        feature = work_context.active_feature(project, [])
        lessons = [lesson for lesson in knowledge_bank.entries(project) if lesson.is_local]
    changed = _lines(clone, "diff", "--name-only", f"{commit}~3", commit)
    subjects = _lines(clone, "log", "-3", "--first-parent", "--format=%s", commit)
    branch = str(row["branch"])
    context = WorkContext(feature, branch, Changes((), changed, subjects, bool(branch)), [])
    return State(folder.rpartition("/")[2], context, lessons, frozenset(row["fits"]))


def _lines(clone: Path, *words: str) -> list[str]:
    return repositories.git(clone, *words).decode().splitlines()


def _first(relevance: Mapping[str, float]) -> list[str]:
    return sorted(relevance, key=lambda key: (-relevance[key], key))[:FIRST]


def _now(state: State) -> dict[str, float]:
    return knowledge_bank.relevance(state.lessons, state.context)


def _bm25(state: State) -> dict[str, float]:
    """Rank by all words of the work in one query, as anybody would search."""
    words = " ".join(text for _, text in state.context.signals)
    any_word = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms.words(words.lower())))
    connection = coldstart.connect(":memory:", isolation_level=None)
    connection.execute("CREATE VIRTUAL TABLE lesson USING fts5(text, tokenize='porter unicode61')")
    rows = [(place, lesson.text) for place, lesson in enumerate(state.lessons)]
    connection.executemany("INSERT INTO lesson (rowid, text) VALUES (?, ?)", rows)
    scores = connection.execute("SELECT rowid, -bm25(lesson) FROM lesson WHERE lesson MATCH ?", (any_word,)).fetchall()
    connection.close()
    return {state.lessons[place].key: score for place, score in scores}


def _old(state: State) -> dict[str, float]:
    """Rank by the rule of 0.2.0: of the forty best by BM25, those that have half of the words of the intent."""
    stems = set(query.parse(state.context.intent).terms)
    ranked = _bm25(state)
    best = sorted(ranked, key=lambda key: -ranked[key])[:40]
    by_key = {lesson.key: lesson for lesson in state.lessons}
    shares = {key: len(stems.intersection(terms.stream(by_key[key].text))) / max(len(stems), 1) for key in best}
    return {key: share for key, share in shares.items() if share >= _OLD_SHARE}


RANKINGS = {"now": _now, "bm25": _bm25, "old": _old}
