"""Life sets: what a memory is asked in a real project. How they are made: docs/benchmarks.md.

A set has records, prompts that developers would type, and real commit subjects taken as prompts. Six sets are ours, in
`bench/sets/life-*`; their commit subjects are other people's, and `python -m bench life --repositories` reads them from
clones. Six more are read from a folder of their own and are no part of this repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench import data, repositories
from bench.data import Prompt, Set
from onrecord.record.memory import Memory, from_json

FIT = ("life-bitwarden", "life-guardian", "life-hass", "life-numpy", "life-opentofu", "life-zoo")
CHOOSE = ("life-bevy", "life-pandas")
"""Projects on which features, strengths and thresholds were chosen, beside leaving out each fitted one."""

REPORT = ("life-modplat", "life-sklearn", "life-thunderbird", "life-tock")
"""Projects on which nothing was fitted and nothing chosen."""

VARIANTS = {"none": 0, "lean": 3, "full": 16}
"""Triggers of a record that are used."""

COMMIT = "commit"
CACHE = Path(__file__).parents[1] / ".bench-cache"
_DAY = "2026-01-01T00:00:00Z"


def load(name: str, variant: str = "full", *, folder: Path | None = None) -> Set:
    """Load a set by name, its records with as many triggers as the variant has."""
    path = data.OWN / name if (data.OWN / name).is_dir() else (folder or data.SHARED) / name
    raw = list(data.lines(path / "records.jsonl"))
    successor = {each["supersedes"]: each["key"] for each in raw if each["supersedes"]}
    records = tuple(record_of(each, successor, VARIANTS[variant]) for each in raw)
    prompts = [prompt_of(each, successor) for each in data.lines(path / "prompts.jsonl")]
    return Set(name, records, (*prompts, *_commits(path, successor)))


def has_full_triggers(name: str) -> bool:
    """True if the records of a set have more triggers than the lean variant uses."""
    return name not in FIT


def record_of(raw: dict[str, Any], successor: dict[str, str], triggers: int) -> Memory:
    """Return a record of a set, with its first triggers; `successor` says what replaces which."""
    own_fields = {key: raw[key] for key in ("category", "title", "tags", "related_files", "content")}
    dates = {"created_at": _DAY, "updated_at": _DAY}
    links = {
        "supersedes": [raw["supersedes"]] if raw["supersedes"] else [],
        "superseded_by": successor.get(raw["key"], ""),
    }
    fixed = {"schema_version": "1.0", "record_status": "active", "id": raw["key"]}
    return from_json({**fixed, **own_fields, **dates, **links, "triggers": raw["triggers"][:triggers]})


def prompt_of(raw: dict[str, Any], successor: dict[str, str], kind: str = "") -> Prompt:
    """Return a prompt of a set; relevant is what holds now in place of the records that it names."""
    relevant = _in_force(raw["relevant"], successor)
    maybe = _in_force(raw.get("maybe", ()), successor) - relevant
    return Prompt(raw["id"], raw["text"], kind or raw["kind"], relevant, maybe=maybe)


def _in_force(keys: Iterable[str], successor: dict[str, str]) -> frozenset[str]:
    """Return the records that hold in place of those named: a superseded one is answered by its successor."""
    current = set()
    for key in keys:
        while key in successor:
            key = successor[key]
        current.add(key)
    return frozenset(current)


def _commits(path: Path, successor: dict[str, str]) -> list[Prompt]:
    labels = path / "commit_labels.jsonl"
    subjects = _subjects(path.name)
    prompts = []
    for raw in data.lines(labels) if labels.exists() else ():
        text = raw.get("text") or subjects.get(raw["id"])
        if text:
            prompts.append(prompt_of({**raw, "text": text}, successor, COMMIT))
    return prompts


def has_subjects(name: str) -> bool:
    """True if the commit subjects of a set are there."""
    return bool(_subjects(name))


def _subjects(name: str) -> dict[str, str]:
    file = CACHE / "subjects" / f"{name}.jsonl"
    return {each["id"]: each["text"] for each in data.lines(file)} if file.exists() else {}


def repository(name: str) -> str:
    """Return the public repository that a set of ours was made from, as `owner/name`."""
    return str(json.loads((data.OWN / name / "project.json").read_text(encoding="utf-8"))["repository"])


def rebuild(name: str, clones: Path) -> int:
    """Read the commit subjects of a set from a clone below a folder into the cache; return how many there are."""
    clone = repositories.find(clones, repository(name))
    hashes = [raw["id"] for raw in data.lines(data.OWN / name / "commit_labels.jsonl")]
    words = ("log", "--no-walk=unsorted", "--format=%H%x09%s", "--stdin")
    output = repositories.git(clone, *words, stdin="\n".join(hashes)).decode()
    pairs = [line.split("\t", 1) for line in output.splitlines()]
    file = CACHE / "subjects" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in pairs), encoding="utf-8")
    return len(pairs)
