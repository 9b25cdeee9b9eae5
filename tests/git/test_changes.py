from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from onrecord.cli import main
from onrecord.git import changes, repository
from tests.git_project import GitProject
from tests.records import raw

PATH = ".claude/memory/decisions/sessions-in-redis.json"


@pytest.fixture
def project(tmp_path):
    made = GitProject(tmp_path / "project")
    (made.root / "README.md").write_text("x")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "Start")
    return made


def write(project, title="Sessions in Redis"):
    file = Path(project.root) / PATH
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(raw(title=title)))


def found(project):
    return changes.provenance(repository.find(str(project.root)), PATH, time.monotonic() + 10)


def test_a_file_that_is_not_committed_has_none(project):
    write(project)

    assert found(project) is None


def test_the_commit_its_author_and_whether_it_is_on_this_branch_only(project):
    project.git("checkout", "-q", "-b", "feature")
    write(project)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Add a record")
    added = project.git("rev-parse", "HEAD")

    assert found(project)[:4] == (added, "Ada", found(project).date, "Add a record")
    assert (found(project).is_on_this_branch_only, found(project).base) == (True, "main")

    write(project, "Sessions in Valkey")
    project.git("commit", "-qam", "Change it")
    assert (found(project).commit, found(project).changed_by) == (added, "Ada")
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "feature")
    assert not found(project).is_on_this_branch_only


def test_show_says_it(project, capsys):
    project.git("checkout", "-q", "-b", "feature")
    write(project)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Add a \x1b[31mrecord")

    main(["show", "sessions-in-redis", "--project", str(project.root)])

    out = capsys.readouterr().out
    assert "by Ada on 2026-" in out
    assert "on this branch only, not in main" in out
    assert "\x1b" not in out
