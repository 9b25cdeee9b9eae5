"""A sample of the faults at every file call of every command; `nox -s faults` tries all of them."""

from __future__ import annotations

import os
from itertools import islice

import pytest

from onrecord.cli.commands import COMMANDS
from tests.faults import commands, workbench

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # fork beside xdist's threads
]

STEP = 131
"""One fault in so many is tried here: a prime, so that the kinds of calls and faults take turns."""

ELSEWHERE = {
    "completion": "reads nothing of a project",
    "demo": "makes a project of its own, and removes it",
    "edit": "asks an editor; it writes as `update` does",
    "hub": "needs a server: tests/shared/hub/test_faults.py",
    "judge": "asks a model, and writes nothing",
    "mcp": "a server; it writes as `save` and `update` do",
    "share": "asks before it writes; it writes as `save` does",
    "sync": "tests/shared/test_sync_kill.py",
    "version": "reads nothing",
    "web": "a server; it writes as `save` and `update` do",
}
"""Commands without faults of their own."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> workbench.Workbench:
    workbench.load_modules()
    return commands.prepare(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("case", commands.CASES, ids=lambda case: case.name)
def test_a_fault_leaves_a_command_done_or_not_done_and_it_says_which(bench, case):
    known = workbench.learn(bench, case)
    sample = islice(known.faults(), len(case.name) % STEP, None, STEP)

    flaws = [
        f"{tried.fault} ({tried.kind}): {tried.flaw}" for tried in _attempts(bench, case, known, sample) if tried.flaw
    ]

    assert flaws == []


def _attempts(bench, case, known, faults):
    return (bench.attempt(case, fault, known) for fault in faults)


def test_every_command_has_faults():
    tried = {case.words[0] for case in commands.CASES}

    assert tried | set(ELSEWHERE) == set(COMMANDS)
    assert tried & set(ELSEWHERE) == set()


def test_a_folder_that_is_synced_too_late_leaves_no_half(bench):
    """The fault of 0.2.0: the folder's flush failed after the first of two files was replaced."""
    case = next(case for case in commands.CASES if case.name == "supersede")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if known.kinds[fault.number - 1] == "fsync" and fault.name == "EIO"]

    assert len(faults) > 4
    assert [tried.flaw for tried in _attempts(bench, case, known, faults)] == [""] * len(faults)


def test_status_names_what_the_disk_did_not_give(bench):
    """The flaw of 0.3.0-dev: without the settings, the remotes or a record's file, it said less and did not say so."""
    case = next(case for case in commands.CASES if case.name == "status")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO"][::3]

    assert len(faults) > 100
    assert [f"{tried.fault}: {tried.flaw}" for tried in _attempts(bench, case, known, faults) if tried.flaw] == []
