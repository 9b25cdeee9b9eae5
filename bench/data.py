"""Evaluation sets: records and prompts, from our own projects or from any folder of the documented shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from onrecord.record.memory import Memory, from_json

OWN = Path(__file__).parent / "sets"
SHARED = Path(__file__).parents[2] / "shared" / "bench-data"
OWN_NAMES = ("harbor", "lumen", "quarry")
HELD_OUT = "quarry"
"""The project that no coefficient, threshold or choice may be fitted on."""

_DAY = "2026-01-01T00:00:00Z"
_BODY = {
    "decision": {"status": "accepted", "decision": "", "rationale": []},
    "constraint": {"kind": "policy", "impact": [], "severity": "medium", "active": True},
    "preference": {"topic": "", "reason": "", "strength": "default"},
    "runbook": {"trigger": "", "verification": ""},
    "tech_debt": {"status": "open", "priority": "medium", "reason_deferred": ""},
    "session_summary": {"outcome": "success", "completed": [], "next_actions": []},
}
_FIELD = {
    "decision": "context", "constraint": "rule", "preference": "value", "runbook": "steps",
    "tech_debt": "description", "session_summary": "goal",
}  # fmt: skip


class Prompt(NamedTuple):
    """Something typed to an agent, and the ids of the records that answer it."""

    id: str
    text: str
    kind: str
    relevant: frozenset[str]
    turns: tuple[str, ...] = ()
    maybe: frozenset[str] = frozenset()
    """Records that are no answer, but that nobody would mind."""


class Set(NamedTuple):
    """Records and the prompts asked of them."""

    name: str
    records: tuple[Memory, ...]
    prompts: tuple[Prompt, ...]

    @property
    def answerable(self) -> tuple[Prompt, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.relevant)

    @property
    def unanswerable(self) -> tuple[Prompt, ...]:
        return tuple(prompt for prompt in self.prompts if not prompt.relevant)


def outside(folder: Path | None = None) -> list[str]:
    """Return the names of the sets by other people that can be read here."""
    folder = folder or SHARED
    return sorted(path.parent.name for path in folder.glob("*/corpus.jsonl")) if folder.is_dir() else []


def load(name: str, *, triggers: bool = True, folder: Path | None = None) -> Set:
    """Load a set by name: one of ours, a folder of the shared data, or the path of any folder."""
    if (OWN / name / "records.jsonl").exists():
        return _own(name, triggers)
    path = Path(name) if Path(name).is_dir() else (folder or SHARED) / name
    return _outside(path)


def _own(name: str, triggers: bool) -> Set:
    records = []
    for raw in lines(OWN / name / "records.jsonl"):
        full = {"schema_version": "1.0", "record_status": "active", "created_at": _DAY, "updated_at": _DAY, **raw}
        records.append(from_json(full if triggers else {**full, "triggers": []}))
    path = OWN / name / "prompts.jsonl"
    prompts = tuple(
        Prompt(raw["id"], raw["text"], raw["kind"], frozenset(raw["relevant"]), tuple(raw.get("turns") or ()))
        for raw in (lines(path) if path.exists() else ())
    )
    return Set(name, tuple(records), prompts)


def _outside(path: Path) -> Set:
    slugs: dict[str, str] = {}
    records = []
    for number, raw in enumerate(lines(path / "corpus.jsonl"), 1):
        slugs[raw["id"]] = slug = f"r{number:05}"
        records.append(_record(slug, raw))
    prompts = []
    for raw in lines(path / "queries.jsonl"):
        relevant = frozenset(slugs[key] for key in raw["relevant"] if key in slugs)
        prompts.append(Prompt(raw["id"], raw["text"], raw.get("type", ""), relevant))
    return Set(path.name, tuple(records), tuple(prompts))


def _record(slug: str, raw: dict[str, Any]) -> Memory:
    category = raw.get("category") or "decision"
    field = _FIELD[category]
    tags = raw["tags"].split() if isinstance(raw["tags"], str) else raw["tags"]
    content = {**_BODY[category], field: [raw["body"]] if field == "steps" else raw["body"]}
    return Memory(category, slug, raw["title"], content, created_at=_DAY, updated_at=_DAY, tags=tuple(tags))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one on each line."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
