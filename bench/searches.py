"""`python -m bench searches`: fit the probability that a record answers a search, and write its weights.

People search with one to three words, or with a question. The life sets have prompts, so searches are made of them:
their rarest words, those of titles, and whole prompts; of whole stores and of small ones cut out of them. Nothing is
written where a set is missing.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bench import coefficients_file, data, learn, life_sets, results
from bench.data import Prompt, Set
from bench.stage import Stage
from onrecord.recall import past_question
from onrecord.search import candidates, document, query, rank, relevance, terms

TOP = 6
"""Results of a search that are judged: further down hardly any is right."""

_SIZES = (1, 2, 4, 8, 8, 16, 16, 30)
"""Records of the small stores."""

_SMALL_IMPORTANCE = 3.0
"""There are fewer searches of small stores, which most stores are at first."""

_FEATURES = (
    "coverage", "title_asked", "in_title", "title_both", "in_tags", "adjacent", "trigger_asked", "in_trigger",
    "matches", "length", "mass", "store", "meaning", "title_meaning", "trigger_meaning", "meaning_lead", "meaning_z",
    "soft_coverage", "soft_lead", "vector_share",
)  # fmt: skip
"""All others together change AUC by less than .005."""

_THRESHOLDS = {"FLOOR": 0.01, "KEYWORD_ASKED": 0.05, "FITS": 0.05, "FITS_LONG": 0.015}
"""What is listed at all; what the keyword scorer shows for a past question; below which a search of up to three words,
and a longer one, says that nothing fits; chosen on bevy and pandas."""


_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b")
_MOST_IDENTIFIERS = 60


class Search(NamedTuple):
    """A search, and for each of its best results the features, and whether it is an answer."""

    kind: str
    features: np.ndarray
    labels: np.ndarray
    answerable: bool
    importance: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show the figures, leave the weights alone")


def run(options: argparse.Namespace) -> int:
    missing = [name for name in (*life_sets.FIT, *life_sets.CHOOSE) if not _is_there(name)]
    if missing:
        print(f"not there: {', '.join(missing)}; the weights are left alone", file=sys.stderr)
        return 1
    learnt = [search for name in life_sets.FIT for variant in ("none", "lean") for search in gather(name, variant)]
    words = [name for name in _FEATURES if name not in relevance.MEANING_NAMES]
    models = fit(learnt, _FEATURES), fit(learnt, words)
    figures = {}
    for name in life_sets.CHOOSE:
        for variant in life_sets.VARIANTS:
            figures[f"{name} {variant}"] = measure(list(gather(name, variant)), models[0])
    print(json.dumps(figures, indent=2))
    if not options.dry_run:
        write(models)
        results.save("searches", {"sets": figures})
        print(f"wrote {coefficients_file.FILE}")
    return 0


def _is_there(name: str) -> bool:
    return (data.OWN / name).is_dir() or (data.SHARED / name).is_dir()


def gather(name: str, variant: str) -> Iterator[Search]:
    """Yield the searches of a set: of its whole store, and of small parts of it."""
    own = life_sets.load(name, variant)
    rng = random.Random(f"{name}-{variant}")
    prompts = [prompt for prompt in own.prompts if prompt.kind != life_sets.COMMIT]
    with Stage(own.records) as stage:
        for prompt in prompts:
            yield from _of_prompt(stage, prompt, rng, 1.0)
        yield from _of_titles(stage, rng, 1.0)
        yield from _of_identifiers(stage, rng, 1.0)
    for size in _SIZES:
        yield from _of_part(own, prompts, size, rng)


def _of_part(own: Set, prompts: Sequence[Prompt], size: int, rng: random.Random) -> Iterator[Search]:
    current = [record for record in own.records if not record.superseded_by]
    part = [record._replace(supersedes=()) for record in rng.sample(current, min(size, len(current)))]
    ids = {record.id for record in part}
    answered = [prompt for prompt in prompts if prompt.relevant & ids]
    others = [prompt for prompt in prompts if not prompt.relevant & ids]
    with Stage(part) as stage:
        for prompt in (*rng.sample(answered, min(8, len(answered))), *rng.sample(others, min(8, len(others)))):
            yield from _of_prompt(stage, prompt._replace(relevant=prompt.relevant & ids), rng, _SMALL_IMPORTANCE)
        yield from _of_titles(stage, rng, _SMALL_IMPORTANCE)


def _of_prompt(stage: Stage, prompt: Prompt, rng: random.Random, importance: float) -> Iterator[Search]:
    if prompt.kind == "past":
        typed = [("past", past_question.topic(prompt.text))]
    else:
        typed = [(f"{count} words", rarest(stage, prompt.text, count, rng)) for count in (1, 2, 3)]
        typed.append(("prompt", prompt.text))
    for kind, text in typed:
        yield from _search(stage, kind, text, prompt.relevant, importance)


def _of_titles(stage: Stage, rng: random.Random, importance: float) -> Iterator[Search]:
    for record in stage.records:
        if not record.superseded_by:
            text = rarest(stage, record.title, 2, rng)
            yield from _search(stage, "title", text, frozenset([record.id]), importance)


def _of_identifiers(stage: Stage, rng: random.Random, importance: float) -> Iterator[Search]:
    """Yield searches for names of several parts: every record that has the name is an answer."""
    holders: dict[str, set[str]] = {}
    for record in stage.records:
        if not record.superseded_by:
            for name in _IDENTIFIER.findall("\n".join((record.title, *document.passages(record)))):
                holders.setdefault(name, set()).add(record.id)
    for name in rng.sample(sorted(holders), min(_MOST_IDENTIFIERS, len(holders))):
        yield from _search(stage, "identifier", name, frozenset(holders[name]), importance)


def _search(stage: Stage, kind: str, text: str, relevant: frozenset[str], importance: float) -> Iterator[Search]:
    matches = rank.find(stage.index, query.parse(text), limit=candidates.MAX_FOR_SEARCH)
    matches = [match for match in matches if match.status == "active"]
    rows = [[match.features[name] for name in relevance.NAMES] for match in matches]
    weights = relevance.weights(max((match.features["vector_share"] for match in matches), default=0.0))
    # In the order of prompts: that of searches depends on the weights that are to be fitted.
    best = sorted(range(len(rows)), key=lambda place: (-relevance.score(weights, rows[place]), matches[place].id))[:TOP]
    if best:
        labels = np.array([matches[place].id in relevant for place in best], dtype=float)
        yield Search(kind, np.array([rows[place] for place in best], dtype=float), labels, bool(relevant), importance)


def rarest(stage: Stage, text: str, count: int, rng: random.Random) -> str:
    """Return some of the rarest words of a text that the store has, in order, as somebody might search."""
    asked = set(query.parse(text).terms)
    words = [word for word in dict.fromkeys(terms.words(text)) if asked.intersection(terms.of_word(word))]
    counts = stage.index.term_counts([term for word in words for term in terms.of_word(word)])
    records = stage.index.totals()[0]
    # A little chance: people do not know which of their words is the rarest.
    weight = {
        word: candidates.rarity(min(counts[term][0] for term in terms.of_word(word)), records) + rng.random()
        for word in words
        if all(term in counts for term in terms.of_word(word))
    }
    best = sorted(weight, key=lambda word: -weight[word])[:count]
    return " ".join(word for word in words if word in best)


class Model(NamedTuple):
    """Weights on raw features, by name."""

    base: float
    weights: dict[str, float]

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        weights = np.array([self.weights.get(name, 0.0) for name in relevance.NAMES])
        return 1 / (1 + np.exp(-np.clip(features @ weights + self.base, -30, 30)))


def fit(searches: Iterable[Search], names: Sequence[str]) -> Model:
    columns = [relevance.NAMES.index(name) for name in names]
    chosen = list(searches)
    rows = np.vstack([search.features[:, columns] for search in chosen])
    labels = np.concatenate([search.labels for search in chosen])
    importance = np.concatenate([np.full(len(search.labels), search.importance) for search in chosen])
    weights, base = learn.fit_logistic(rows, labels, importance)
    return Model(base, dict(zip(names, weights.tolist())))


def measure(searches: Sequence[Search], model: Model) -> dict[str, dict[str, float]]:
    """Return for each kind of search how often an answer is first or among three, and what a probability is worth."""
    return {
        kind: _figures([search for search in searches if search.kind == kind], model)
        for kind in dict.fromkeys(search.kind for search in searches)
    }


def _figures(searches: Sequence[Search], model: Model) -> dict[str, float]:
    judged = [(model.probabilities(search.features), search.labels) for search in searches]
    ordered = [labels[np.argsort(-chances, kind="stable")] for chances, labels in judged]
    answerable = [labels for labels, search in zip(ordered, searches) if search.answerable]
    chances, labels = (np.concatenate(part) for part in zip(*judged))
    figures = {"searches": len(searches)}
    if answerable:
        figures["hit@1"] = round(float(np.mean([labels[:1].any() for labels in answerable])), 3)
        figures["hit@3"] = round(float(np.mean([labels[:3].any() for labels in answerable])), 3)
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 0.5), (0.5, 0.85), (0.85, 1.01)):
        inside = (chances >= low) & (chances < high)
        if inside.any():
            figures[f"right at {low:.2f}"] = round(float(labels[inside].mean()), 3)
    return figures


def write(models: tuple[Model, Model]) -> None:
    lines = [f"SEARCH_{name} = {value}" for name, value in _THRESHOLDS.items()]
    for prefix, model in zip(("", "WORDS_"), models):
        lines += coefficients_file.weight_lines(f"SEARCH_{prefix}", model.base, model.weights)
    coefficients_file.write(coefficients_file.SEARCHES, lines)
