"""The examples that models are fitted on: the candidates of every prompt of a set, also in other stores.

Finding them takes minutes, so they are kept in `.bench-cache` until the search or the set changes.
"""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import life_sets
from bench.data import Prompt, Set
from bench.stage import Stage
from onrecord.record.memory import render
from onrecord.search import coefficients, query, rank, relevance, vectors
from onrecord.search.candidates import Filter

CANDIDATES = 30
"""Candidates of a prompt that are kept: more than a hook ever compares."""


class Pool(NamedTuple):
    """The candidates of one prompt, for it as a whole and for each of its passages, and which of them answer it.

    A row is one record for one passage; a record may have several.
    """

    id: str
    kind: str
    features: np.ndarray
    labels: np.ndarray
    maybe: np.ndarray
    passages: np.ndarray
    """The number of the passage of each row; 0 is the whole prompt."""
    records: np.ndarray
    """The number of the record of each row."""
    subjects: np.ndarray
    """The number of the subject of each row."""
    relevant: int
    """Records of the store that answer the prompt, found or not."""
    has_maybe: bool

    @property
    def is_idle(self) -> bool:
        """Whether nothing should be shown for the prompt, and nobody would mind nothing."""
        return not self.relevant and not self.has_maybe


def gather(own: Set, *, removed: bool = False) -> list[Pool]:
    """Return the pools of all prompts of a set, from the cache where nothing has changed since.

    If `removed`, each prompt is asked of the store without its answer.
    """
    kind = "removed-" if removed else ""
    file = life_sets.CACHE / "examples" / f"{own.name}-{kind}{_digest(own)}.pickle"
    if file.exists():
        return [Pool(*each) for each in pickle.loads(file.read_bytes())]
    with _neutral(), Stage(own.records) as stage:
        pools = [(_removed if removed else pool)(stage, prompt) for prompt in own.prompts]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps([tuple(each) for each in pools]))
    return pools


@contextmanager
def _neutral() -> Iterator[None]:
    """Use coefficients that are always the same: what is learnt must not depend on what was learnt before.

    They choose between the text of a record and that of one it replaces.
    """
    names = ("WITH_MEANING", "WORDS_ONLY")
    shipped = {name: getattr(coefficients, name) for name in names}
    for name in names:
        setattr(coefficients, name, {key: (float(key == "coverage"),) * 2 for key in shipped[name]})
    try:
        yield
    finally:
        for name in names:
            setattr(coefficients, name, shipped[name])


def pool(stage: Stage, prompt: Prompt) -> Pool:
    """Return the candidates for a prompt, in the order of their ids."""
    search_query = query.parse_prompt(prompt.text)
    rows, passages, ids, subjects = list[list[float]](), list[int](), list[str](), list[int]()
    numbers: dict[object, int] = {}
    for place, passage in enumerate((search_query._replace(passages=()), *search_query.passages)):
        matches = rank.find(stage.index, passage, Filter("auto"), CANDIDATES)
        for match in sorted((match for match in matches if match.status == "active"), key=lambda match: match.id):
            rows.append([match.features[name] for name in relevance.NAMES])
            passages.append(place)
            ids.append(match.id)
            subjects.append(numbers.setdefault(match.subject, len(numbers)))
    table = np.array(rows, dtype=float).reshape(-1, len(relevance.NAMES))
    labels = np.array([id in prompt.relevant for id in ids], dtype=bool)
    maybe = np.array([id in prompt.maybe for id in ids], dtype=bool)
    present = prompt.relevant & stage.paths.keys()
    places = {id: place for place, id in enumerate(dict.fromkeys(ids))}
    records = np.array([places[id] for id in ids], dtype=int)
    about = (np.array(passages, dtype=int), records, np.array(subjects, dtype=int))
    return Pool(
        prompt.id, prompt.kind, table, labels, maybe, *about, len(present), bool(prompt.maybe & stage.paths.keys())
    )


def _removed(stage: Stage, prompt: Prompt) -> Pool:
    with stage.without(prompt.relevant):
        return pool(stage, prompt._replace(relevant=frozenset()))


def smaller(own: Set, size: int) -> Set:
    """Return a set with some of the records: most of its prompts have no answer there, as in a young store."""
    rng = random.Random(f"{own.name}-{size}")
    current = [record for record in own.records if not record.superseded_by]
    records = rng.sample(current, min(size, len(current)))
    ids = frozenset(record.id for record in records)
    prompts = [
        prompt._replace(relevant=prompt.relevant & ids, maybe=prompt.maybe & ids)
        for prompt in rng.sample(own.prompts, min(200, len(own.prompts)))
    ]
    return Set(f"{own.name}-{size}", tuple(record._replace(supersedes=()) for record in records), tuple(prompts))


def joined(own: Set) -> Set:
    """Return a set of prompts that each ask for two things: pairs of answerable ones, joined in three ways."""
    rng = random.Random(own.name)
    prompts = [
        prompt for prompt in own.answerable if prompt.kind != life_sets.COMMIT and len(prompt.text) < _MAX_JOINED
    ]
    rng.shuffle(prompts)
    pairs = [pair for pair in zip(prompts[::2], prompts[1::2]) if not pair[0].relevant & pair[1].relevant]
    return own._replace(
        name=f"{own.name}-joined",
        prompts=tuple(_joined(*pair, _JOINTS[place % len(_JOINTS)]) for place, pair in enumerate(pairs)),
    )


_MAX_JOINED = 250
_JOINTS = ("\n", ". ", " and also ")


def _joined(first: Prompt, second: Prompt, joint: str) -> Prompt:
    start, end = first.text.rstrip(" .") if joint != "\n" else first.text, second.text
    if joint == " and also ":
        start, end = start.rstrip("?!"), end[:1].lower() + end[1:]
    relevant = first.relevant | second.relevant
    maybe = (first.maybe | second.maybe) - relevant
    return Prompt(f"{first.id}+{second.id}", f"{start}{joint}{end}", first.kind, relevant, maybe=maybe)


def together(sets: Sequence[Set], name: str, most: int = 80) -> Set:
    """Return several sets in one store, with some of the prompts of each."""
    rng = random.Random(name)
    records = [record for each in sets for record in each.records]
    prompts = [prompt for each in sets for prompt in rng.sample(each.prompts, min(most, len(each.prompts)))]
    return Set(name, tuple(records), tuple(prompts))


def sample(prompts: Sequence[Prompt], most: int, seed: str) -> tuple[Prompt, ...]:
    """Return some prompts, the same ones every time."""
    return tuple(random.Random(seed).sample(list(prompts), min(most, len(prompts))))


def _digest(own: Set) -> str:
    """Return a key that changes with the set, the program and the table of vectors."""
    prompts = [(*prompt[:3], sorted(prompt.relevant), prompt.turns, sorted(prompt.maybe)) for prompt in own.prompts]
    digest = hashlib.sha256(repr((CANDIDATES, prompts)).encode())
    for record in own.records:
        digest.update(render(record))
    for file in _sources():
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterable[Path]:
    """Return the files that the features depend on: the search without its coefficients."""
    folder = Path(relevance.__file__).parent
    return [*sorted(set(folder.glob("*.py")) - {Path(coefficients.__file__)}), Path(vectors.FILE)]
