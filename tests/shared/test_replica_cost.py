"""A session's start and a failed command cost little beside a large replica."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.digest import digest
from onrecord.paths import StoreRef
from onrecord.recall import for_failure
from onrecord.recall.stores import Stores
from onrecord.search import index
from onrecord.settings import Settings
from tests import cost, records, searching
from tests.git_project import GitProject

FEW, MANY = 130, 900
"""Records: those of a full map, and many more."""
WORDS = ["".join(letters) for letters in itertools.product("bdgklm", "aeiou", "nrst", "aeo")]


def _replica(folder: Path, size: int) -> StoreRef:
    """Create and index a replica of short runbooks and decisions."""
    rng = random.Random(size)
    for number in range(size):
        category = ("decision", "runbook")[number % 2]
        field = {"decision": "context", "runbook": "trigger"}[category]
        text = {field: " ".join(rng.choices(WORDS, k=40))}
        record = records.raw(category, id=f"r{number}", content={**records.CONTENT[category], **text})
        file = folder / f"{category}s" / f"r{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record))
    index.open(str(folder)).close()
    return StoreRef(str(folder), paths.replica("platform").prefix)


@pytest.fixture
def project(tmp_path: Path) -> str:
    repository = GitProject(tmp_path / "project")
    for name in ("readme.md", "src/main.py"):
        repository.write(name, name)
        repository.commit(name)
    repository.git("checkout", "-q", "-b", f"feat/{'-'.join(WORDS[:4])}")
    repository.write("src/main.py", "changed")
    return str(repository.root)


def test_a_large_replica_costs_a_sessions_start_little_more_than_a_small_one(tmp_path: Path, project: str) -> None:
    few, many = _replica(tmp_path / "few", FEW), _replica(tmp_path / "many", MANY)

    def start(place: StoreRef) -> object:
        return digest.make(project, [place], Settings())

    cost.assert_at_most(2, lambda: start(few), lambda: start(many))


def test_a_failure_that_no_runbook_quotes_costs_little_more_than_a_prompt(tmp_path: Path, project: str) -> None:
    stores, settings = Stores([_replica(tmp_path / "many", MANY)], project), Settings()
    # No two words stand beside each other: nothing quotes them.
    lines = [" unheard ".join(random.Random(number).sample(WORDS, 8)) for number in range(5)]

    def fail() -> object:
        return for_failure.best(stores, "\n".join(lines), settings)

    cost.assert_at_most(3, lambda: searching.candidates(stores, lines[0], settings), fail)
