"""The fit of how well a record answers a question about the past, and the choice of its thresholds.

Each question is asked with and without the records that answer it. Beside questions about the past, the written
questions of the six projects that the relevance model is fitted on are taken, as if they were the topics of such.
Thresholds are chosen on two projects, and on the fitted ones, each left out of the fit in turn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import coefficients_file, learn, life_sets, past_sets
from bench.data import Prompt, Set
from bench.stage import Stage
from onrecord.recall import past_question
from onrecord.recall.past_question import PastQuestion
from onrecord.search import query, rank, relevance
from onrecord.search.candidates import Filter
from onrecord.settings import load_settings

TOP = 4
"""Records of a question that are judged: at most three are shown."""

AIMS = {"ENGLISH": (0.03, 0.17, 0.02), "OTHERS": (0.03, 0.4, 0.03)}
"""Of the questions without an answer, those that get a rule, and a rule or a pointer; of those with one, those that
are told that nothing is on file. In other languages more is pointed to, as less is sure."""

_SIZES = (1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 30)
"""Records of the small stores."""

_MAX_OF_PART = 8
_DENIED_BELOW = -0.4
"""Logits by which what is denied is less likely than what is pointed to: between them, nothing is said."""

_OWN_IMPORTANCE = 3.0
"""Questions about the past count more than the written questions, of which there are many more."""

_FEATURES = (
    "title_both", "in_tags", "trigger_asked", "mass", "length", "title_meaning", "trigger_meaning", "meaning_z",
    "soft_coverage", "soft_lead", "apart", "unknown", "window_title", "vector_share", "store",
)  # fmt: skip
"""Chosen by leaving out each of the four projects with past questions in turn: all others together add nothing."""

_SETTINGS = load_settings("", "")


class Asked(NamedTuple):
    """A question, and for each of its best records the features, and whether it is an answer."""

    project: str
    features: np.ndarray
    labels: np.ndarray
    has_answer: bool
    language: str
    """`ENGLISH` or `OTHERS`; empty for what is not recognised as a question about the past."""
    is_small: bool = False
    """True if the store is a small part of the project's."""


class Model(NamedTuple):
    """Weights by the name of the feature."""

    base: float
    weights: Mapping[str, float]

    def logits(self, features: np.ndarray) -> np.ndarray:
        weights = np.array([self.weights.get(name, 0.0) for name in relevance.PAST_NAMES])
        return np.asarray(features @ weights + self.base)


def gather(folder: Path) -> dict[str, list[Asked]]:
    """Return all questions of the projects for fitting and choosing, by project."""
    asked: dict[str, list[Asked]] = {}
    for name in life_sets.FIT:
        for variant in ("none", "lean"):
            own = life_sets.load(name, variant, folder=folder)
            prompts = [prompt for prompt in own.prompts if prompt.kind in ("question", "none")]
            asked.setdefault(name, []).extend(_of_set(own, prompts))
            asked[name].extend(_of_parts(own, prompts, variant))
    for name in (*past_sets.FIT, *past_sets.CHOOSE):
        for variant in life_sets.VARIANTS:
            own = past_sets.load(name, variant)
            asked.setdefault(name, []).extend(_of_set(own, own.prompts))
            asked[name].extend(_of_parts(own, own.prompts, variant))
    return asked


def _of_set(own: Set, prompts: Sequence[Prompt]) -> Iterator[Asked]:
    with Stage(own.records) as stage:
        for prompt in prompts:
            yield _ask(own.name, stage, prompt)
            if prompt.relevant:
                with stage.without(prompt.relevant):
                    yield _ask(own.name, stage, prompt._replace(relevant=frozenset()))


def _of_parts(own: Set, prompts: Sequence[Prompt], variant: str) -> Iterator[Asked]:
    """Yield the same questions, asked of small stores cut out of a whole one."""
    rng = random.Random(f"{own.name}-{variant}")
    current = [record for record in own.records if not record.superseded_by]
    for size in _SIZES:
        part = [record._replace(supersedes=()) for record in rng.sample(current, min(size, len(current)))]
        ids = {record.id for record in part}
        answered = [prompt for prompt in prompts if prompt.relevant & ids]
        others = [prompt for prompt in prompts if not prompt.relevant & ids]
        with Stage(part) as stage:
            for prompt in (*answered[:_MAX_OF_PART], *rng.sample(others, min(_MAX_OF_PART, len(others)))):
                asked = _ask(own.name, stage, prompt._replace(relevant=prompt.relevant & ids))
                yield asked._replace(is_small=True)


def _ask(project: str, stage: Stage, prompt: Prompt) -> Asked:
    parsed = past_question.parse(prompt.text)
    question = parsed or PastQuestion(prompt.text)
    language = ("ENGLISH" if parsed.is_english else "OTHERS") if parsed else ""
    matches = rank.find(stage.index, query.parse(question.topic), Filter("past", settings=_SETTINGS), 16)
    rows = [[match.features[name] for name in relevance.PAST_NAMES] for match in matches]
    # In the order of a search: that of past questions depends on the weights that are to be fitted.
    best = sorted(range(len(rows)), key=lambda place: -relevance.search_score(rows[place]))[:TOP]
    features = np.array([rows[place] for place in best]).reshape(len(best), len(relevance.PAST_NAMES))
    labels = np.array([matches[place].id in prompt.relevant for place in best], dtype=float)
    return Asked(project, features, labels, bool(prompt.relevant), language)


def fit(asked: Sequence[Asked], names: Sequence[str] = _FEATURES) -> Model:
    columns = [relevance.PAST_NAMES.index(name) for name in names]
    rows = np.vstack([each.features[:, columns] for each in asked])
    labels = np.concatenate([each.labels for each in asked])
    importance = np.concatenate(
        [np.full(len(each.labels), 1.0 if each.project in life_sets.FIT else _OWN_IMPORTANCE) for each in asked]
    )
    weights, base = learn.fit_logistic(rows, labels, importance)
    return Model(base, dict(zip(names, weights.tolist())))


def fit_all(asked: Mapping[str, Sequence[Asked]]) -> tuple[Model, Model, dict[str, tuple[float, ...]]]:
    """Return the model, the one of words alone, and the thresholds."""
    learnt = [each for name in (*life_sets.FIT, *past_sets.FIT) for each in asked[name]]
    words = [name for name in _FEATURES if name not in relevance.MEANING_NAMES]
    model = fit(learnt)
    scored = [(model, each) for name in past_sets.CHOOSE for each in asked[name] if not each.is_small]
    for left_out in past_sets.FIT:
        without = fit([each for each in learnt if each.project != left_out])
        scored += [(without, each) for each in asked[left_out] if not each.is_small]
    marks = {
        language: thresholds([pair for pair in scored if pair[1].language == language], language) for language in AIMS
    }
    return model, fit(learnt, words), marks


def thresholds(scored: Sequence[tuple[Model, Asked]], language: str) -> tuple[float, ...]:
    """Return the probabilities at which a language reaches its aims: of a rule, of a pointer, and of denying."""
    highest = [(model.logits(each.features).max(initial=-30.0), each.has_answer) for model, each in scored]
    answered = [logit for logit, has_answer in highest if has_answer]
    unanswered = [logit for logit, has_answer in highest if not has_answer]
    rule, shown, denied = AIMS[language]
    pointer = np.quantile(unanswered, 1 - shown)
    logits = np.quantile(unanswered, 1 - rule), pointer, min(np.quantile(answered, denied), pointer + _DENIED_BELOW)
    return tuple(round(float(1 / (1 + np.exp(-logit))), 3) for logit in logits)


def write(models: tuple[Model, Model], marks: Mapping[str, tuple[float, ...]]) -> None:
    lines = [f"PAST_{name} = ({', '.join(map(str, values))})" for name, values in marks.items()]
    lines += ['"""Probabilities by language: of a rule, of a pointer, and below which nothing is on file."""']
    for prefix, model in zip(("", "WORDS_"), models):
        lines += coefficients_file.weight_lines(f"PAST_{prefix}", model.base, model.weights)
    coefficients_file.write(coefficients_file.PAST, lines)
