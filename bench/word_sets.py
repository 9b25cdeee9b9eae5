"""Sets of real words: what people typed to coding agents, with records and labels.

Two sets are in the shared data. Of the others, `bench/sets/words` has the labels and the records, unless these are
in `bench/sets/commands`, and the prompts are read from clones, by session and place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import data, life_sets, repositories, transcripts
from bench.data import Prompt, Set

KIND = "real words"


class Repository(NamedTuple):
    """Where the prompts of a set are, and under which licence."""

    name: str
    licence: str
    commit: str = transcripts.CHECKPOINTS
    """What the sessions are read at: a commit, or the branch that keeps them."""


REPOSITORIES = {
    "cipherbox": Repository("FSM1/cipher-box", "MIT"),
    "entire": Repository("entireio/cli", "MIT"),
    "ohmyposh": Repository("JanDeDobbeleer/oh-my-posh", "MIT"),
    "chkit": Repository("obsessiondb/chkit", "MIT"),
    "destyler": Repository("destyler/destyler", "MIT", "558faf91c6a180723eabe6a3799eab9431ce70cb"),
    "repiq": Repository("yutakobayashidev/repiq", "MIT", "a26c516407605bc1eed371774e25f5b17dc4038e"),
    "league": Repository("AmbidextrousCoatie/league_analyzer", "MIT", "aad233ccb6d72a72bfec9fb916c06ea691d5225d"),
    "emailbuddy": Repository("IngoS11/EmailBuddy", "MIT", "7c6a638cbca024c7f3c2df3eb5628e39e73a5f4e"),
    "bigmind": Repository("guthubrx/bigmind", "AGPL-3.0", "01e23166976a358e47ed36613293df282d2212bd"),
    "schaerbeek": Repository("JobiJoba/SchaerbeekMunicipality", "MIT", "0a9678d5a709517c461fd72158ab37705befd3be"),
}
"""The repository of each set whose prompts are read from a clone."""

FIT = ("specstory", "polychrome", "destyler", "league")
CHOOSE = ("entire", "chkit", "emailbuddy")
"""Projects on which features, strengths and thresholds were chosen."""

REPORT = ("cipherbox", "ohmyposh", "schaerbeek", "bigmind", "repiq")
"""Projects on which nothing of what prompts are shown was fitted or chosen."""

TRIGGERS = 3
LABELS = data.OWN / "correction-labels.jsonl"


class TypedPrompt(NamedTuple):
    """A prompt that somebody typed, and what an agent that gets it must see."""

    id: str
    text: str
    session: str
    turn: int
    is_first: bool
    relevant: frozenset[str]
    maybe: frozenset[str]
    label: str
    """`correction`, `unclear` (counts neither way), or empty."""
    rules: frozenset[str]
    """The records that state the rule which it corrects the agent with."""
    shape: str = ""
    """`nudge`, `pasted`, `joined`, `past`, `other`; empty if nobody has said."""
    language: str = ""


class WordSet(NamedTuple):
    """Records, in the form of the sets, and prompts."""

    records: Sequence[dict[str, Any]]
    prompts: Sequence[TypedPrompt]


_SHAPES = {"nudge": "nudge", "log": "pasted", "paste": "pasted", "pasted": "pasted"}
"""The shapes that the shared sets name otherwise."""


def load(name: str, clones: Path | None) -> WordSet | None:
    """Load a set by name; None if it is neither in the shared data nor in a clone nor read before."""
    if (data.SHARED / f"words-{name}").is_dir():
        return shared(data.SHARED / f"words-{name}")
    file = life_sets.CACHE / "words" / f"{name}.json"
    if clones:
        texts = {prompt.id: prompt.text for prompt in of_clone(name, clones).prompts}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(texts), encoding="utf-8")
    return _labelled(name, json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def as_set(name: str, word_set: WordSet, triggers: int = TRIGGERS) -> Set:
    """Return a set in the form of the others."""
    successor = {raw["supersedes"]: raw["key"] for raw in word_set.records if raw["supersedes"]}
    records = tuple(life_sets.record_of(raw, successor, triggers) for raw in word_set.records)
    prompts = [
        Prompt(prompt.id, prompt.text, KIND, prompt.relevant, maybe=prompt.maybe - prompt.relevant)
        for prompt in word_set.prompts
    ]
    return Set(f"words-{name}", records, tuple(prompts))


def shared(folder: Path) -> WordSet:
    """Return a set of the shared data."""
    labels = {raw["id"]: str(raw["label"]) for raw in data.lines(LABELS)}
    prompts = [
        TypedPrompt(
            raw["id"],
            raw["text"],
            raw["session"],
            int(raw["turn"]),
            bool(raw["opening"]),
            frozenset(raw["relevant"]),
            frozenset(raw["maybe"]),
            labels.get(raw["id"], ""),
            frozenset(raw["relevant"]),
            _SHAPES.get(raw["shape"], ""),
        )
        for raw in data.lines(folder / "prompts.jsonl")
    ]
    return WordSet(list(data.lines(folder / "records.jsonl")), prompts)


def of_clone(name: str, clones: Path) -> WordSet:
    """Return a set whose prompts are in a clone. Raises SystemExit if the clone has others."""
    repository = REPOSITORIES[name]
    return _labelled(name, transcripts.prompts(repositories.find(clones, repository.name), repository.commit))


def _labelled(name: str, texts: Mapping[str, str]) -> WordSet:
    labels = list(data.lines(labels_path(name)))
    missing = [label["id"] for label in labels if transcripts.hash_of(texts.get(label["id"], "")) != label["hash"]]
    if missing:
        raise SystemExit(f"{name}: the clone lacks {len(missing)} of {len(labels)} prompts, such as {missing[0]}")
    prompts = [_prompt(texts[label["id"]], label) for label in labels]
    return WordSet(list(data.lines(records_path(name))), prompts)


def labels_path(name: str) -> Path:
    """Return the path of the labels of a set whose prompts are in a clone."""
    return data.OWN / "words" / f"{name}.jsonl"


def records_path(name: str) -> Path:
    """Return the path of the records of a set whose prompts are in a clone: those of its commands, or its own."""
    of_commands = data.OWN / "commands" / name / "records.jsonl"
    return of_commands if of_commands.exists() else data.OWN / "words" / f"{name}.records.jsonl"


def _prompt(text: str, label: dict[str, Any]) -> TypedPrompt:
    session, _, turn = label["id"].rpartition(":")
    return TypedPrompt(
        label["id"],
        text,
        session,
        int(turn),
        turn == "1",
        frozenset(label["relevant"]),
        frozenset(label["maybe"]),
        "correction" if label["correction"] else "",
        frozenset(label["corrects_with"]),
        label.get("shape", ""),
        label.get("language", ""),
    )
