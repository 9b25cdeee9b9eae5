"""The systems that are compared: ours, and what it is measured against, all on the same store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from bench.data import Prompt
from bench.stage import Stage
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Request
from onrecord.record.memory import Memory
from onrecord.search import document, query, rank
from onrecord.search.candidates import Filter
from onrecord.settings import load_settings

MOST_SHOWN = 3
"""Records that may be shown for a prompt."""

_NOISE = 0.25
_NOW = datetime(2026, 6, 1).strftime("%Y-%m-%dT00:00:00Z")


class Hit(NamedTuple):
    """One answer: which record, how good (probability for ours), and whether it would be injected."""

    id: str
    score: float
    shown: bool


System = Callable[[Prompt], list[Hit]]


class Plain:
    """A full-text table of whole words as SQLite makes it, for the baselines."""

    def __init__(self, records: Iterable[Memory], tokenizer: str) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            f"CREATE VIRTUAL TABLE word USING fts5(id UNINDEXED, title, tags, body, tokenize='{tokenizer}')"
        )
        rows = [
            (one.id, one.title, " ".join(one.tags), "\n".join((*one.triggers, *document.passages(one))))
            for one in records
            if not one.superseded_by
        ]
        self._connection.executemany("INSERT INTO word VALUES (?, ?, ?, ?)", rows)
        self._words = {row[0]: frozenset(_ascii_words(row[3])) for row in rows}

    def find(self, expression: str, weights: str, gone: frozenset[str], most: int = 60) -> list[tuple[str, float]]:
        if not expression:
            return []
        rows = self._connection.execute(
            f"SELECT id, -bm25(word, 0, {weights}) FROM word WHERE word MATCH ? ORDER BY 2 DESC LIMIT ?",
            (expression, most),
        )
        return [(one, score) for one, score in rows if one not in gone]

    def body_hits(self, one: str, words: set[str]) -> int:
        return len(words & self._words[one])


class Systems:
    """All systems over one stage. `gone` are the records that were taken away."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.gone: frozenset[str] = frozenset()
        self._settings = load_settings("", "")
        self._original = Plain(stage.records, "unicode61")
        self._porter = Plain(stage.records, "porter unicode61")
        self.all: dict[str, System] = {
            "keyword scorer": self.keywords,
            "original rule": self.original,
            "porter BM25": self.porter,
            "onrecord": self.ours,
        }

    def ours(self, prompt: Prompt) -> list[Hit]:
        """Return hits ranked as for a prompt; injected is what the hook would show as a rule."""
        ranked = rank.find(self.stage.index, query.parse_prompt(prompt.text), Filter("auto", now=_NOW), limit=20)
        request = Request(prompt.text, last_prompt="\n".join(prompt.turns[-1:]))
        decision = for_prompt.decide(self.stage.stores, request, self._settings)
        shown = {candidate.match.id for candidate in decision.rules}
        return [Hit(match.id, match.probability, match.id in shown) for match in ranked if match.status == "active"]

    def keywords(self, prompt: Prompt) -> list[Hit]:
        search_query = query.parse_prompt(prompt.text)
        matches = rank.by_keywords(self.stage.index, search_query, Filter(now=_NOW))[:20]
        return [Hit(match.id, match.score, place < MOST_SHOWN) for place, match in enumerate(matches)]

    def porter(self, prompt: Prompt) -> list[Hit]:
        words = list(dict.fromkeys(_ascii_words(prompt.text)))[:40]
        expression = " OR ".join(f'"{word}"' for word in words)
        scored = self._porter.find(expression, "3, 2, 1", self.gone)[:20]
        return [Hit(record_id, score, place < MOST_SHOWN) for place, (record_id, score) in enumerate(scored)]

    def original(self, prompt: Prompt) -> list[Hit]:
        """Use the original rule: prefixes, BM25 plus 0 to 3 for the body, the top three, less what is far below."""
        words = list(dict.fromkeys(_ascii_words(prompt.text)))[:40]
        expression = " OR ".join(f'"{word}"*' for word in words)
        scored = [
            (record_id, score + min(3, self._original.body_hits(record_id, set(words))))
            for record_id, score in self._original.find(expression, "3, 2, 1", self.gone)
        ]
        scored.sort(key=lambda pair: -pair[1])
        floor = _NOISE * scored[0][1] if scored else 0.0
        return [
            Hit(record_id, score, place < MOST_SHOWN and score >= floor)
            for place, (record_id, score) in enumerate(scored[:20])
        ]


def _ascii_words(text: str) -> list[str]:
    plain = "".join(character if character.isascii() and character.isalnum() else " " for character in text.lower())
    return [word for word in plain.split() if len(word) > 1 and word not in query.ENGLISH]
