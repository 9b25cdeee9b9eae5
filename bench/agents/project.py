"""A project of the experiment: its records, its tasks, and the repository that the subjects see."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from bench import data
from onrecord.record import naming
from onrecord.record.memory import Memory, from_json

_DAY = "2026-01-01T00:00:00Z"


class Task(NamedTuple):
    """A request, its kind, and the keys of the records that apply to it."""

    id: str
    text: str
    kind: str
    applies: tuple[str, ...]
    branch: str = ""
    """What a developer would call the branch for it."""


class Project(NamedTuple):
    """A repository with its memory, and what subjects are asked about it."""

    name: str
    repo: Path
    records: dict[str, Memory]
    """By their keys in the set; superseded ones are among them."""
    tasks: tuple[Task, ...]

    def in_order(self, kinds: tuple[str, ...]) -> list[Task]:
        """Return the tasks of these kinds in an order that is random, and the same in every condition."""
        chosen = [task for task in self.tasks if task.kind in kinds]
        return sorted(chosen, key=lambda task: hashlib.sha256(task.id.encode()).hexdigest())


def load(folder: Path) -> Project:
    tasks = tuple(
        Task(raw["id"], raw["text"], raw["kind"], tuple(raw.get("applies", ())), raw.get("branch", ""))
        for raw in data.lines(folder / "tasks.jsonl")
    )
    return Project(folder.name, folder / "repo", _records(folder), tasks)


def _records(folder: Path) -> dict[str, Memory]:
    """Return the records with ids made of their titles, as a save would make them."""
    raws = list(data.lines(folder / "records.jsonl"))
    ids: dict[str, str] = {}
    for raw in raws:
        name = naming.slug(raw["title"])
        ids[raw["key"]] = f"{name}-{raw['key']}" if name in ids.values() else name
    successors = {raw["supersedes"]: raw["key"] for raw in raws if raw["supersedes"]}
    return {raw["key"]: _record(raw, ids, successors) for raw in raws}


def _record(raw: dict[str, Any], ids: dict[str, str], successors: dict[str, str]) -> Memory:
    named = {key: raw[key] for key in ("category", "title", "tags", "related_files", "triggers", "content")}
    return from_json(
        {
            **named,
            "schema_version": "1.0",
            "record_status": "active",
            "id": ids[raw["key"]],
            "created_at": _DAY,
            "updated_at": _DAY,
            "supersedes": [ids[raw["supersedes"]]] if raw["supersedes"] else [],
            "superseded_by": ids.get(successors.get(raw["key"], ""), ""),
        }
    )
