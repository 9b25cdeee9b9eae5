"""`python -m bench similar`: whether the records named as similar at a save are, and whether a search finds what a new
record replaces.

Every record of a life set is saved, in thought, while all others but its own successors are in the store.
`sets/similar.jsonl` has the labels, by key: pairs that an author linked as a supersession, and all other pairs with a
cosine of .70 or more, read by one reader. Similar are two records that settle the same question, so that whoever saves
one should see the other.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench import data, results
from bench.shares import wilson
from onrecord.capture import similar
from onrecord.record import memory
from onrecord.record.memory import Memory, from_json
from onrecord.search import index, query, rank
from onrecord.store.store import Store

CHOSEN_ON = ("bevy", "pandas", "bitwarden", "guardian", "hass", "numpy", "opentofu", "zoo")
"""Sets on which the thresholds were chosen; the others were only measured on."""

_LABELS = data.OWN / "similar.jsonl"
_DAY = "2026-01-01T00:00:00Z"
_TRIGGERS = 3
"""Triggers of a record that are used: as many as agents wrote by themselves."""


class Project(NamedTuple):
    """The records of a life set by key, unlinked, and what each replaces."""

    name: str
    records: dict[str, Memory]
    replaced: dict[str, str]

    def later(self, key: str) -> tuple[str, ...]:
        """Return a record and what came to replace it: none of these is in the store when it is saved."""
        successors = {old: new for new, old in self.replaced.items()}
        chain = [key]
        while chain[-1] in successors:
            chain.append(successors[chain[-1]])
        return tuple(chain)


class Tally(NamedTuple):
    """Saves, the pairs named as similar, those of them that are, refusals, and places of what is replaced."""

    saves: int
    named: set[tuple[str, str]]
    refused: set[tuple[str, str]]
    places: list[int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--life", type=Path, action="append", default=[], help="another folder of a life set")


def run(options: argparse.Namespace) -> int:
    labels = {_pair(each["older"], each["newer"]): each["similar"] for each in _lines(_LABELS)}
    folders = sorted(
        {*data.OWN.glob("life-*"), *data.SHARED.glob("life-*"), *options.life}, key=lambda folder: folder.name
    )
    projects = [read(folder) for folder in folders if (folder / "records.jsonl").exists()]
    tallies = {project.name: measure(project) for project in projects}
    groups = {
        "chosen on": [tally for name, tally in tallies.items() if name in CHOSEN_ON],
        "only measured": [tally for name, tally in tallies.items() if name not in CHOSEN_ON],
        "all": list(tallies.values()),
    }
    values = {name: summary(group, labels) for name, group in groups.items()}
    for name, value in values.items():
        print(name, json.dumps(value))
    results.save("similar", {"sets": sorted(tallies), **values})
    return 0


def read(folder: Path) -> Project:
    raw = list(_lines(folder / "records.jsonl"))
    records = {each["key"]: _record(each) for each in raw}
    return Project(
        folder.name.removeprefix("life-"), records, {e["key"]: e["supersedes"] for e in raw if e["supersedes"]}
    )


def _record(raw: dict[str, Any]) -> Memory:
    named = {key: raw[key] for key in ("category", "title", "tags", "related_files", "content")}
    fixed = {"schema_version": "1.0", "record_status": "active", "created_at": _DAY, "updated_at": _DAY}
    links = {"supersedes": [], "superseded_by": "", "triggers": raw["triggers"][:_TRIGGERS]}
    return from_json({**fixed, **named, **links, "id": raw["key"]})


def measure(project: Project) -> Tally:
    """Return what every save of a project would print, and what a search for its title lists."""
    with tempfile.TemporaryDirectory(prefix="onrecord-similar-") as folder:
        store = _store(Path(folder, "memory"), project)
        named: set[tuple[str, str]] = set()
        refused: set[tuple[str, str]] = set()
        for key, record in project.records.items():
            near = similar.find(store, record._replace(supersedes=project.later(key)))
            named |= {_pair(key, each.memory.id) for each in near}
            refused |= {_pair(key, each.memory.id) for each in near if each.is_same}
        return Tally(len(project.records), named, refused, list(_places(project, store)))


def _store(root: Path, project: Project) -> Store:
    for record in project.records.values():
        path = root / record.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(memory.render(record))
    return Store(str(root))


def _places(project: Project, store: Store) -> Iterator[int]:
    """Yield the places at which searches for new titles list the replaced records; 0 if not among ten."""
    opened = index.open(store.root)
    for new, old in project.replaced.items():
        hits = rank.find(opened, query.parse(project.records[new].title), limit=20)
        others = [hit.id for hit in hits if hit.id not in project.later(new)][:10]
        yield others.index(old) + 1 if old in others else 0


def summary(tallies: list[Tally], labels: dict[tuple[str, str], bool]) -> dict[str, Any]:
    named = {pair for tally in tallies for pair in tally.named}
    right = sum(labels.get(pair, False) for pair in named)
    places = [place for tally in tallies for place in tally.places]
    return {
        "saves": sum(tally.saves for tally in tallies),
        "named": len(named),
        "unread": sum(pair not in labels for pair in named),
        "right": right,
        "interval": [round(bound, 2) for bound in wilson(right, len(named))],
        "refused": len({pair for tally in tallies for pair in tally.refused}),
        "replacements": len(places),
        **{f"found in {depth}": sum(0 < place <= depth for place in places) for depth in (1, 3, 5, 10)},
    }


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def _pair(left: str, right: str) -> tuple[str, str]:
    return (min(left, right), max(left, right))
