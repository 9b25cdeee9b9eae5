"""A sample of the faults at every file call of every command; `nox -s faults` tries all of them."""

from __future__ import annotations

import os
import re
from itertools import chain, islice
from pathlib import Path

import pytest

import onrecord
from onrecord.cli.commands import COMMANDS
from tests.faults import __main__, commands, workbench

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # fork beside xdist's threads
]

STEP = 521
"""One fault in so many is tried here: a prime, so that the kinds of calls and faults take turns."""

ELSEWHERE = {
    "demo": "makes a project of its own, and removes it",
    "edit": "asks an editor; it writes as `update` does",
    "hub": "needs a server: tests/shared/hub/test_faults.py",
    "judge": "asks a model, and writes nothing",
    "mcp": "a server; it writes as `save` and `update` do",
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


def _flaws(bench, case, known, faults):
    return [f"{tried.fault}: {tried.flaw}" for tried in _attempts(bench, case, known, faults) if tried.flaw]


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
    assert _flaws(bench, case, known, faults) == []


STRICT = (
    "audit",
    "freshness/related_files.py",
    "store",
    "capture/review.py",
    "hosts",
    "git/git_files.py",
    "cli",
    "importers/sources.py",
    "record/drafts.py",
    "shared/local_repository.py",
)
READ_ONLY = {
    "completion.py": "completes a line that is typed, and never fails",
    "form_file.py": "says beside another error whether the text is kept",
    "nested.py": "finds stores",
    "opencode.py": "reads sessions",
    "record_names.py": "the folder is listed next, which says what is wrong",
}


def test_what_is_written_over_or_called_missing_is_asked_for_with_functions_that_tell_absent_from_unseen():
    """`export --into` took a file whose status failed for a missing one, and wrote over all that the user had there."""
    package = Path(onrecord.__file__).parent
    files = [[package / name] if "." in name else (package / name).glob("*.py") for name in STRICT]
    sources = chain.from_iterable(files)
    asks = re.compile(r"os\.path\.(exists|lexists|isfile)\(|\bfiles\.is_file\(")
    asked = {source.name for source in sources if asks.search(source.read_text(encoding="utf-8"))}

    assert asked | {"completion.py"} == set(READ_ONLY)
    folders = {source.name for source in (package / "cli").glob("*.py") if "os.path.isdir(" in source.read_text()}
    assert folders == {"completion.py"}


def test_connect_writes_the_same_program_whatever_file_the_disk_did_not_show(bench):
    """The flaw of 0.3.0-dev: without the status of bin/onrecord, it wrote the script of the environment instead."""
    case = next(case for case in commands.CASES if case.name == "connect")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO" and known.kinds[fault.number - 1] == "stat"]

    assert len(faults) > 30
    assert _flaws(bench, case, known, faults) == []


def test_a_trial_without_room_for_temporary_files_says_so(bench):
    """The flaw of 0.3.0-dev: Python calls the folder for them not found, which was taken for a bug: exit 3."""
    case = next(case for case in commands.CASES if case.name == "try")
    known = workbench.learn(bench, case)
    faults = [
        fault for fault in known.faults() if fault.stays and known.kinds[fault.number - 1] in ("open to write", "mkdir")
    ]
    outcomes = []
    for fault in faults:
        bench.reset()
        outcomes.append(bench.run(case.words, fault))

    assert len(outcomes) > 10
    assert {outcome.status for outcome in outcomes} <= {0, 1}
    assert any("cannot make a temporary folder: No usable temporary directory" in each.errors for each in outcomes)


def test_no_module_makes_temporary_folders_of_its_own():
    package = Path(onrecord.__file__).parent
    makes = re.compile(r"tempfile\.\w+\((?!.*\bdir=)")
    modules = {path.name for path in package.rglob("*.py") if makes.search(path.read_text(encoding="utf-8"))}

    assert modules == {"files.py"}


def test_no_module_takes_a_folder_that_cannot_be_listed_for_an_empty_one():
    """The flaw of 0.3.0-dev: `onrecord docs` ended as if it had a bug, and an import left out what the disk hid."""
    package = Path(onrecord.__file__).parent
    modules = {path.name for path in package.rglob("*.py") if "os.walk(" in path.read_text(encoding="utf-8")}

    assert modules == {"files.py"}


@pytest.mark.parametrize("command", ["docs", "import"])
def test_a_folder_that_cannot_be_listed_is_named(bench, command):
    case = next(case for case in commands.CASES if case.name == command)
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if known.kinds[fault.number - 1] == "scandir" and fault.name == "EIO"]

    assert faults
    assert _flaws(bench, case, known, faults) == []


def test_export_writes_over_nothing_that_the_disk_did_not_show(bench):
    case = next(case for case in commands.CASES if case.name == "export --into")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO" and known.kinds[fault.number - 1] == "lstat"]

    assert len(faults) > 10
    assert _flaws(bench, case, known, faults) == []


def test_status_names_what_the_disk_did_not_give(bench):
    """The flaw of 0.3.0-dev: without the settings, the remotes or a record's file, it said less and did not say so."""
    case = next(case for case in commands.CASES if case.name == "status")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO"][::37]

    assert len(faults) > 8
    assert _flaws(bench, case, known, faults) == []


def test_an_index_that_the_disk_does_not_give_is_not_an_empty_one(bench):
    """The flaw of 0.3.0-dev: every record was called not listed."""
    case = next(case for case in commands.CASES if case.name == "index check")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO"]
    printed = []
    for fault in faults:
        bench.reset()
        printed.append(bench.run(case.words, fault).printed)

    assert [text for text in printed if "not listed" in text] == []
    assert any("cannot be read: " in text for text in printed)


def test_a_removal_that_was_done_is_not_reported_as_a_failure(bench):
    """The flaw of 0.3.0-dev: the last file was removed, and a second removal of it failed on a read-only disk."""
    case = next(case for case in commands.CASES if case.name == "connect --remove")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EROFS" and fault.number > len(known.kinds) - 12]

    assert len(faults) > 4
    assert _flaws(bench, case, known, faults) == []


def test_a_sync_that_cannot_link_a_local_repository_says_so(bench):
    """The flaw of 0.3.0-dev: it took every failing link for Windows, and ended as if it had a bug."""
    case = next(case for case in commands.CASES if case.name == "sync")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO" and known.kinds[fault.number - 1] == "symlink"]

    assert len(faults) > 2
    assert _flaws(bench, case, known, faults) == []


def test_git_files_that_could_not_be_put_back_are_named(bench):
    """The flaw of 0.3.0-dev: one of two was written, the disk became read-only, and the error did not say so."""
    case = next(case for case in commands.CASES if case.name == "init --user")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EROFS" and fault.stays and fault.number > 90]

    assert len(faults) > 2
    assert _flaws(bench, case, known, faults) == []


def test_init_asks_for_all_that_it_needs_before_it_writes(bench):
    """The flaw of 0.3.0-dev: the git files were written, then index.md could not be seen, unsaid."""
    case = next(case for case in commands.CASES if case.name == "init --user")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO" and known.kinds[fault.number - 1] == "lstat"]

    assert len(faults) > 10
    assert _flaws(bench, case, known, faults) == []


def test_a_disk_that_does_not_answer_is_not_a_folder_that_is_missing(bench):
    """The flaw of 0.3.0-dev: `--project must be a folder, not .`."""
    case = next(case for case in commands.CASES if case.name == "save an existing id")
    known = workbench.learn(bench, case)
    faults = [fault for fault in known.faults() if fault.name == "EIO" and known.kinds[fault.number - 1] == "stat"]

    assert len(faults) > 10
    assert _flaws(bench, case, known, faults) == []


def test_what_is_only_needed_to_say_the_result_cannot_end_in_a_bug(bench):
    """The flaw of 0.3.0-dev: the drafts were made, an agent's config could not be read to name its skill: exit 3."""
    case = next(case for case in commands.CASES if case.name == "import")
    known = workbench.learn(bench, case)
    last = len(known.kinds) * 3 // 4
    faults = [fault for fault in known.faults() if fault.name == "EIO" and fault.number > last][::3]

    assert len(faults) > 10
    assert _flaws(bench, case, known, faults) == []


def test_the_processes_together_try_each_fault_of_the_sample_once():
    shares = __main__._shares("", (), first=5, step=7)
    numbers = sorted(number for share in shares for number in range(share.first, 1_000, share.step))

    assert numbers == list(range(5, 1_000, 7))
