"""A file that git renamed keeps its records, when it is read or edited under its new path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import onrecord
from onrecord.recall import for_file
from onrecord.search import index
from tests.agent_context import file_context
from tests.git_project import GitCalls, GitProject

BODY = "".join(f"def handler_{number}(): return {number}\n" for number in range(40))
RULE = {"title": "No floats", "severity": "high", "rule": "No floats for money.", "impact": ["x"]}


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    made = GitProject(tmp_path / "project")
    made.write("src/session.py", BODY)
    made.write("src/other.py", "other\n" * 30)
    made.commit()
    onrecord.open(str(made.root)).save("constraint", {**RULE, "related_files": ["src/session.py"]})
    return made


def aged(project: GitProject) -> None:
    """Make every file look older than the clock's doubt, so that verdicts on it are remembered."""
    for path in project.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_700_000_000, 1_700_000_000))


def titles(project: GitProject, path: str) -> list[str]:
    opened = onrecord.open(str(project.root))
    rows = for_file.records_about(index.open(opened.store.root), opened.root, path)
    return [row.title for row in rows]


def context(project: GitProject, path: str) -> str:
    return file_context(onrecord.open(str(project.root)), path, f"session-{path}")


def test_a_file_renamed_edited_and_committed_brings_its_rule_under_the_new_path(project: GitProject) -> None:
    project.git("mv", "src/session.py", "src/store.py")
    project.write("src/store.py", BODY + "def more(): return 1\n")
    project.commit()

    assert "No floats for money." in context(project, "src/store.py")
    assert "No floats for money." in context(project, "src/session.py")
    assert titles(project, "src/other.py") == []


def test_a_file_renamed_twice_is_followed(project: GitProject) -> None:
    project.git("mv", "src/session.py", "src/store.py")
    project.commit()
    project.git("mv", "src/store.py", "vault.py")
    project.commit()

    assert titles(project, "vault.py") == ["No floats"]
    assert titles(project, "src/store.py") == []


def test_a_rename_that_is_staged_only_counts_and_one_that_git_was_not_told_of(project: GitProject) -> None:
    project.git("mv", "src/session.py", "src/store.py")
    assert titles(project, "src/store.py") == ["No floats"]

    project.git("reset", "-q", "--hard")
    os.rename(project.root / "src/session.py", project.root / "src/untracked.py")
    assert titles(project, "src/untracked.py") == ["No floats"]


def test_a_file_that_was_deleted_gives_its_rule_to_no_other(project: GitProject) -> None:
    project.git("rm", "-q", "src/session.py")
    project.write("src/new.py", "something = 'else'\n" * 20)
    project.commit()

    assert titles(project, "src/new.py") == titles(project, "src/other.py") == []


def test_one_symbol_of_a_renamed_file_is_enough(project: GitProject) -> None:
    rule = {**RULE, "title": "Symbol", "related_files": ["src/other.py", "src/session.py#handler_3"]}
    onrecord.open(str(project.root)).save("constraint", rule)
    project.git("mv", "src/session.py", "src/store.py")
    project.commit()

    assert titles(project, "src/store.py") == ["No floats", "Symbol"]


def test_git_is_asked_once_for_each_commit_and_never_while_no_file_is_lost(
    project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(project)
    asked = GitCalls(monkeypatch)
    titles(project, "src/other.py")
    assert asked.times == 0

    project.git("mv", "src/session.py", "src/store.py")
    project.commit()
    assert titles(project, "src/store.py") == ["No floats"]
    first = asked.times
    assert first > 0

    assert titles(project, "src/store.py") == ["No floats"]
    assert titles(project, "src/other.py") == []
    project.commit("unrelated")
    assert titles(project, "src/store.py") == ["No floats"]
    assert asked.times == first


def test_a_git_without_time_is_asked_again_at_the_next_file(
    project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.git("mv", "src/session.py", "src/store.py")
    project.write("src/store.py", BODY + "def more(): return 1\n")
    project.commit()
    patience = for_file._MAX_GIT_SECONDS
    monkeypatch.setattr(for_file, "_MAX_GIT_SECONDS", 0.000_1)
    assert titles(project, "src/store.py") == []

    monkeypatch.setattr(for_file, "_MAX_GIT_SECONDS", patience)
    assert titles(project, "src/store.py") == ["No floats"]
