"""The current work in a project: the files and subjects that are read, how many, and what is noted of failures."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from onrecord.git import changes, process, repository
from onrecord.git.changes import Changes, Provenance
from onrecord.git.process import ProcessResult
from onrecord.git.repository import Repository
from tests.git_project import GitProject


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    made = GitProject(tmp_path / "project")
    made.write("web/a.py", "one\n")
    made.write("b.py", "one\n")
    made.commit("Start")
    return made


def found(project: GitProject) -> Repository:
    repo = repository.find(str(project.root))
    assert repo is not None
    return repo


def read(project: GitProject, inner: str = "") -> Changes:
    return changes.read(found(project), str(project.root / inner), time.monotonic() + 60)


def test_uncommitted_files_are_changed_staged_and_new_ones_in_that_order(project):
    project.write("web/a.py", "two\n")
    project.write("c.py", "new\n")
    project.git("add", "c.py")
    project.write("new/x/y.py", "new\n")
    project.write("d.py", "new\n")
    (project.root / "b.py").unlink()

    assert list(read(project).uncommitted) == ["b.py", "c.py", "web/a.py", "d.py", "new/x/y.py"]
    assert list(read(project, "web").uncommitted) == ["a.py"]
    assert changes.staged(found(project), str(project.root), time.monotonic() + 60) == ["c.py"]
    assert changes.staged(found(project), str(project.root / "web"), time.monotonic() + 60) == []


def test_on_a_branch_of_ones_own_ten_commits_are_read_and_three_on_a_shared_one(project):
    for number in range(4):
        project.write("b.py", f"{number}\n")
        project.commit(f"Main {number}")
    shared = read(project)
    project.git("checkout", "-q", "-b", "feature")
    for number in range(11):
        project.write(f"web/{number}.py", "x\n")
        project.commit(f"Own {number}")
    own = read(project)

    assert (shared.is_own, list(shared.subjects)) == (False, ["Main 3", "Main 2", "Main 1"])
    assert list(shared.committed) == ["b.py"]
    assert (own.is_own, list(own.subjects)) == (True, [f"Own {number}" for number in range(10, 0, -1)])
    assert list(own.committed) == [f"web/{number}.py" for number in range(10, 0, -1)]
    assert list(read(project, "web").committed) == [f"{number}.py" for number in range(10, 0, -1)]


@pytest.mark.parametrize("branch", ["Main", "master", "trunk", "develop", "development", "dev", "default"])
def test_a_branch_of_a_usual_name_is_shared(project, branch):
    project.git("branch", "other")
    project.git("checkout", "-q", "-B", f"{branch}-x")
    assert changes.branch_bases(found(project))
    project.git("branch", "-m", branch)

    assert changes.branch_bases(found(project)) == []


@pytest.mark.parametrize("base", ["main", "master", "trunk", "develop"])
def test_the_branches_that_others_start_from_are_known_by_name(project, base):
    project.git("checkout", "-q", "-b", "feature")
    project.git("branch", "-m", "main", base)

    assert changes.branch_bases(found(project)) == [project.git("rev-parse", base)]


@pytest.mark.parametrize("ref", ["HEAD", "main", "master"])
def test_so_are_those_of_the_remote(project, ref):
    project.git("checkout", "-q", "-b", "feature")
    project.git("branch", "-D", "-q", "main")
    assert changes.branch_bases(found(project)) == []
    project.git("update-ref", f"refs/remotes/origin/{ref}", "HEAD")

    assert changes.branch_bases(found(project)) == [project.git("rev-parse", "HEAD")]


def test_files_of_eight_new_folders_are_listed_and_of_the_others_the_name(project):
    for number in range(9):
        project.write(f"new{number}/x.py", "x\n")

    assert list(read(project).uncommitted) == ["new8/", *(f"new{number}/x.py" for number in range(8))]


def test_four_hundred_files_are_listed(project):
    for number in range(401):
        project.write(f"n{number:03}.py", "")

    assert list(read(project).uncommitted) == [f"n{number:03}.py" for number in range(400)]


def test_a_repository_without_a_commit_has_its_staged_files_and_a_note(tmp_path):
    empty = GitProject(tmp_path / "empty")
    empty.write("a.py", "x\n")
    empty.git("add", "-A")
    repo = found(empty)

    result = changes.read(repo, str(empty.root), time.monotonic() + 60)

    assert (list(result.uncommitted), list(result.subjects)) == (["a.py"], [])
    assert repo.notes == ["fewer than two commits"]


def test_without_git_nothing_is_known_and_that_is_noted_once(project, monkeypatch, tmp_path):
    repo = found(project)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert changes.read(repo, str(project.root), time.monotonic() + 60) == Changes([], [], [], is_own=False)
    assert repo.notes == ["git was not found"]
    assert changes.provenance(repo, "b.py", time.monotonic() + 60) is None
    assert changes.commit_subjects(repo, str(project.root), 3, time.monotonic() + 60) == []
    assert changes.texts_at_addition(repo, {"b.py": "b.py"}, time.monotonic() + 60) == {}


def test_commands_whose_time_is_up_are_named(project, monkeypatch):
    repo = found(project)

    def late(commands: list[tuple[str, ...]], *limits: object) -> list[ProcessResult]:
        return [ProcessResult(None, b"", "did not answer in time") for _ in commands]

    monkeypatch.setattr(process, "run_all", late)

    assert changes.read(repo, str(project.root), time.monotonic() + 60) == Changes([], [], [], is_own=False)
    assert repo.notes == [
        "git ls-files: did not answer in time", "git diff-index: did not answer in time",
        "git ls-files --others: did not answer in time", "git log: did not answer in time",
    ]  # fmt: skip


def test_the_subjects_of_the_last_commits_leave_out_merges_and_other_folders(project):
    project.git("checkout", "-q", "-b", "side")
    project.write("web/a.py", "two\n")
    project.commit("Side")
    project.git("checkout", "-q", "main")
    project.write("b.py", "two\n")
    project.commit("Main")
    project.git("merge", "-q", "--no-edit", "side")

    def subjects(inner: str, limit: int) -> list[str]:
        return changes.commit_subjects(found(project), str(project.root / inner), limit, time.monotonic() + 60)

    assert sorted(subjects("", 9)) == ["Main", "Side", "Start"]
    assert len(subjects("", 2)) == 2
    assert subjects("web", 9) == ["Side", "Start"]


def test_provenance_is_said_in_words():
    plain = Provenance("a" * 40, "Ada", "2026-03-02T10:00:00+01:00", "Add it")
    whole = plain._replace(changed_in="b" * 40, changed_by="Bob", is_on_this_branch_only=True, base="main")

    assert str(plain) == f"commit {'a' * 10} by Ada on 2026-03-02 (Add it)"
    assert str(whole) == f"{plain}; last changed in {'b' * 10} by Bob; on this branch only, not in main"


def test_the_provenance_of_a_file_names_its_commits_and_the_branch(project):
    first = project.git("rev-parse", "HEAD")
    project.git("update-ref", "refs/remotes/origin/HEAD", first)
    project.write("b.py", "two\n")
    project.commit("Change it")
    last = project.git("rev-parse", "HEAD")

    about = changes.provenance(found(project), "b.py", time.monotonic() + 60)

    assert about is not None
    assert about._replace(date="") == Provenance(
        first, "Ada", "", "Start", last, "Ada", is_on_this_branch_only=False, base="origin",
    )  # fmt: skip
    assert changes.provenance(found(project), "gone.py", time.monotonic() + 60) is None


def test_the_text_of_another_file_is_that_of_the_commit_that_added_the_last(project):
    for number in range(10):
        project.write(f"src/{number}.py", f"first {number}\n")
    project.commit("Sources")
    for number in range(10):
        project.write(f"src/{number}.py", f"second {number}\n")
        project.write(f"memory/{number}.json", "{}\n")
    project.commit("Records")
    project.write("src/1.py", "third\n")
    project.write("memory/gone.json", "{}\n")
    project.commit("Later")
    wanted = {f"memory/{number}.json": f"src/{number}.py" for number in range(10)}

    texts = changes.texts_at_addition(
        found(project), {**wanted, "memory/gone.json": "src/none.py"}, time.monotonic() + 60
    )

    assert texts == {f"src/{number}.py": f"second {number}\n".encode() for number in range(10)}
    assert changes.texts_at_addition(found(project), {}, time.monotonic() + 60) == {}
