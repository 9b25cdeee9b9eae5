"""`python -m bench nothing`: whether a search that nothing fits says so, and one that has an answer does not.

Searches with an answer: one to three words of a prompt, whether the store has them or not, the prompt itself, and words
of a title. They count if a right record is among the first three, so that it could be lost. Searches without one:
prompts that no record is about, prompts and words of other projects, which share everyday words with this one, and
words that no project has.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator

from bench import life_sets, searches
from bench.data import Prompt, Set
from bench.stage import Stage
from onrecord import project
from onrecord.recall import past_question
from onrecord.search import coefficients, query, rank, terms

STRANGE = (
    "zzzzqqq", "asdfgh", "qwertz uiop", "xkcd7", "lorem ipsum dolor", "hjklm", "blargh frobnicate", "pizza recipe",
    "weather tomorrow", "horoscope", "football results", "knitting pattern", "banana bread", "mortgage rates",
    "stripe refunds", "salesforce sync", "invoice pdf", "german tax", "photoshop layers", "wordpress theme", "zebra",
)  # fmt: skip
_FOREIGN_PROMPTS = 25
_TOP = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


def run(options: argparse.Namespace) -> int:
    for part, names in (("chosen on", life_sets.CHOOSE), ("only measured", life_sets.REPORT)):
        counts: dict[str, list[int]] = {}
        for name in names:
            for kind, says_nothing in _searches(name):
                counts.setdefault(kind, []).append(says_nothing)
        for kind, marks in counts.items():
            print(f"{part}: {kind}: {sum(marks)} of {len(marks)} say that nothing fits ({sum(marks) / len(marks):.3f})")
    return 0


def _searches(name: str) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each search in a set, and whether it says that nothing fits."""
    rng = random.Random(name)
    others = [life_sets.load(other, "lean") for other in (*life_sets.CHOOSE, *life_sets.REPORT) if other != name]
    own = life_sets.load(name, "lean")
    with Stage(own.records) as stage:
        for prompt in _prompts(own):
            for text in _typed(stage, prompt, rng):
                kind, is_nothing = _asked(stage, text, prompt.relevant)
                if kind:
                    yield kind, is_nothing
        for record in own.records:
            if not record.superseded_by:
                kind, is_nothing = _asked(stage, searches.rarest(stage, record.title, 2, rng), frozenset([record.id]))
                if kind:
                    yield kind, is_nothing
        for text in STRANGE:
            yield "words that no project has", _asked(stage, text, frozenset())[1]
        for other in others:
            answered = [prompt for prompt in _prompts(other) if prompt.relevant]
            for prompt in rng.sample(answered, _FOREIGN_PROMPTS):
                for text in (prompt.text, *(_any_words(prompt.text, count, rng) for count in (1, 2, 3))):
                    yield "prompts and words of other projects", _asked(stage, text, frozenset())[1]


def _prompts(life_set: Set) -> Iterable[Prompt]:
    return [prompt for prompt in life_set.prompts if prompt.kind != life_sets.COMMIT]


def _typed(stage: Stage, prompt: Prompt, rng: random.Random) -> list[str]:
    if prompt.kind == "past":
        return [past_question.topic(prompt.text)]
    rare = [searches.rarest(stage, prompt.text, count, rng) for count in (1, 2, 3)]
    return [prompt.text, *rare, *(_any_words(prompt.text, count, rng) for count in (1, 2, 3))]


def _any_words(text: str, count: int, rng: random.Random) -> str:
    words = [word for word in dict.fromkeys(terms.words(text)) if query.parse(word).terms]
    drawn = rng.sample(words, min(count, len(words)))
    return " ".join(word for word in words if word in drawn)


def _asked(stage: Stage, text: str, relevant: frozenset[str]) -> tuple[str, bool]:
    """Return the kind of a search, empty if it has an answer that is not found, and whether it says so."""
    search_query = query.parse(text)
    matches = [match for match in rank.find(stage.index, search_query, limit=10) if match.status == "active"]
    shown = [match for match in matches if match.probability >= coefficients.SEARCH_FLOOR]
    is_nothing = not any(project.fits(match, len(search_query.terms)) for match in shown)
    if not relevant:
        return "prompts that no record is about", is_nothing
    is_short = len(search_query.terms) <= _TOP
    kind = "answer among the first three, up to three words" if is_short else "answer among the first three, longer"
    return (kind if relevant & {match.id for match in matches[:_TOP]} else ""), is_nothing
