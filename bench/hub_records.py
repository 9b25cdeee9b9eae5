"""Invented records of many repositories, for a hub of any size, and questions about them.

Most words come from the records of our three invented projects, as often as there; the others are invented, and each
repository prefers some of them. So a few words are in most records, and most words are in a few.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.latency import vocabulary
from onrecord.record.memory import Memory

_SETS = Path(__file__).parent / "sets"
_PROJECTS = ("harbor", "lumen", "quarry")
_OWN = 400
"""Words that a repository prefers."""

_INVENTED = 8
"""Every eighth word is invented; every fourth of those is of no repository in particular."""

_DAY = "2026-01-01T00:00:00Z"


class Generator:
    """Records and questions; the same number always gives the same ones."""

    def __init__(self, rare: int = 300_000) -> None:
        self._random = random.Random(20)
        self._common = list(_words_of_projects())
        self._rare = vocabulary(self._random, rare)

    def record(self, repository: int, number: int) -> Memory:
        """Return one record of a repository."""
        self._random.seed(number)
        text = self._writer(repository)
        words = ("".join(filter(str.isalnum, word)).lower() for word in text(2).split())
        tags = tuple(sorted({f"repository-{repository:04}", *filter(None, words)}))
        files = tuple(f"src/{word}/{number % 97}.py" for word in text(2).split())
        written = Memory("decision", f"r{repository:04}-{number:07}", text(8), {}, created_at=_DAY, updated_at=_DAY)
        written = written._replace(tags=tags, related_files=files)
        if number % 2:
            decision = {
                "status": "accepted",
                "context": text(40),
                "decision": text(45),
                "rationale": [text(15), text(15)],
            }
            return written._replace(content=decision)
        rule = {"kind": "policy", "rule": text(70), "impact": [text(20), text(20)], "severity": "medium"}
        return written._replace(category="constraint", content={**rule, "active": True})

    def question(self, repository: int, number: int) -> str:
        """Return words of a record; in every fifth question one of them is not in it."""
        record = self.record(repository, number)
        text = str(record.content.get("decision") or record.content["rule"])
        self._random.seed(-number)
        words = self._random.sample(
            [*record.title.split(), *text.split()], k=self._random.choice((1, 2, 2, 3, 3, 4, 6))
        )
        return " ".join([*words, self._writer(repository)(1)] if number % 5 == 0 else words)

    def _writer(self, repository: int) -> Callable[[int], str]:
        chance, common, rare = self._random, self._common, self._rare
        start = repository * 7919 % (len(rare) - _OWN)

        def text(count: int) -> str:
            words = chance.choices(common, k=count)
            for at in range(chance.randrange(_INVENTED), count, _INVENTED):
                # Of the words of a repository, the first are used most.
                own = start + int(_OWN * chance.random() ** 3)
                words[at] = rare[own] if at % 4 else chance.choice(rare)
            return " ".join(words)

        return text


def _words_of_projects() -> Iterator[str]:
    for name in _PROJECTS:
        for line in (_SETS / name / "records.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            for text in _texts([record["title"], record["content"]]):
                yield from text.split()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
