"""Sets of real words: what people typed to coding agents, with records and labels.

Two sets are in the shared data. Of the others, `bench/sets/words` has the labels, `bench/sets/commands` the records,
and the prompts are read from clones, by session and place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import data, transcripts

REPOSITORIES = {
    "cipherbox": "FSM1/cipher-box",
    "entire": "entireio/cli",
    "ohmyposh": "JanDeDobbeleer/oh-my-posh",
    "chkit": "obsessiondb/chkit",
}
"""The repository of each set whose prompts are read from a clone."""

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


class WordSet(NamedTuple):
    """Records, in the form of the sets, and prompts."""

    records: Sequence[dict[str, Any]]
    prompts: Sequence[TypedPrompt]


def shared(folder: Path) -> WordSet:
    """A set of the shared data."""
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
        )
        for raw in data.lines(folder / "prompts.jsonl")
    ]
    return WordSet(list(data.lines(folder / "records.jsonl")), prompts)


def of_clone(name: str, clones: Path) -> WordSet:
    """A set whose prompts are in a clone. Raises SystemExit if the clone has others."""
    texts = transcripts.prompts(transcripts.clone(clones, REPOSITORIES[name]))
    labels = list(data.lines(data.OWN / "words" / f"{name}.jsonl"))
    missing = [label["id"] for label in labels if transcripts.hash_of(texts.get(label["id"], "")) != label["hash"]]
    if missing:
        raise SystemExit(f"{name}: the clone lacks {len(missing)} of {len(labels)} prompts, such as {missing[0]}")
    prompts = [_prompt(texts[label["id"]], label) for label in labels]
    return WordSet(list(data.lines(data.OWN / "commands" / name / "records.jsonl")), prompts)


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
    )
