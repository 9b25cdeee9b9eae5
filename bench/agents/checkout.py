"""The folder of a project of ours: its records and tasks from `bench/sets`, and a checkout of its public repository.

The documents that the records came from are left out of the checkout: an agent can know them by the memory alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench import data, transcripts

SETS = data.OWN / "agents"


def names() -> list[str]:
    return list(_projects())


def _projects() -> dict[str, Any]:
    projects: dict[str, Any] = json.loads((SETS / "projects.json").read_text(encoding="utf-8"))
    return projects


def make(name: str, clone: Path, out: Path) -> Path:
    """Make the folder of a project from a clone of its repository, and return it."""
    project = _projects()[name]
    folder = out / name
    (folder / "repo").mkdir(parents=True)
    records = [record for part in project["records"] for record in data.lines(data.OWN / part / "records.jsonl")]
    kinds = project.get("kinds")
    prefix = "" if project["tasks"] == name else f"{name}-"
    tasks = [task for task in data.lines(SETS / f"{project['tasks']}.jsonl") if not kinds or task["kind"] in kinds]
    _write_lines(folder / "records.jsonl", records)
    _write_lines(folder / "tasks.jsonl", [_in_force(task, records, prefix) for task in tasks])
    own = data.lines(data.OWN / project["records"][0] / "records.jsonl")
    documents = {path.strip() for record in own for path in record["source"].replace(",", ";").split(";")}
    for path, content in transcripts.blobs(clone, project["commit"], lambda path: path not in documents):
        file = folder / "repo" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


def _in_force(task: dict[str, Any], records: list[dict[str, Any]], prefix: str) -> dict[str, Any]:
    """Return a task with the records that replaced those it names; the prefix makes ids unique among projects."""
    successor = {record["supersedes"]: record["key"] for record in records if record["supersedes"]}
    applies = set()
    for key in task["applies"]:
        while key in successor:
            key = successor[key]
        applies.add(key)
    return {**task, "id": prefix + task["id"], "applies": sorted(applies)}


def _write_lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
