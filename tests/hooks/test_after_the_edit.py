"""Hosts that show records only after an edit: the edit itself is no reason to verify them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.hosts import table
from onrecord.project import Project
from tests.git_project import GitCalls, GitProject
from tests.hooks.host_events import HOSTS
from tests.hooks.test_hosts import Session, reply_text

AFTER = [host.name for host in table.HOSTS if host.files == table.RESULT]
FILE = "src/money.py"
RULE = "Never a float for money"
CENTS: dict[str, Any] = {
    "title": "Amounts are whole cents",
    "related_files": [FILE],
    "content": {"rule": f"{RULE}: amounts are integers of cents.", "impact": ["rounding"], "severity": "high"},
}


@pytest.fixture
def git_project(tmp_path: Path) -> GitProject:
    project = GitProject(tmp_path / "project")
    project.write(FILE, "cents = 1\n")
    project.write("src/tax.py", "rate = 7\n")
    project.commit()
    Project(str(project.root)).save("constraint", CENTS)
    project.commit()
    return project


@pytest.fixture(params=AFTER)
def session(request: pytest.FixtureRequest, git_project: GitProject, home: Path) -> Session:
    return Session(request.param, Project(str(git_project.root)), home)


def _save(project: Project, title: str, *related_files: str) -> None:
    content = {"decision": f"{title}.", "context": "rounding", "rationale": ["sums"]}
    project.save("decision", {"title": title, "related_files": list(related_files), "content": content})


def _edit(session: Session, git_project: GitProject, text: str = "cents = 1.5\n") -> str:
    git_project.write(FILE, text)
    return reply_text(session.write(session.events.files_event, FILE))


def test_the_hosts_are_those_that_deliver_after_a_tool():
    assert set(AFTER) == {name for name in HOSTS if HOSTS[name].files_event == "post_tool_use"}
    assert AFTER == ["qwen", "gemini", "opencode", "pi", "droid"]


def test_the_edit_that_a_rule_should_judge_is_no_reason_to_verify_it(session, git_project):
    text = _edit(session, git_project)

    assert RULE in text
    assert "verify" not in text


def test_a_commit_that_changed_the_file_since_is_a_reason(session, git_project):
    git_project.write(FILE, "cents = 2\n")
    git_project.commit()

    assert f"verify: `{FILE}` changed once" in _edit(session, git_project)


def test_a_change_that_was_taken_back_is_none(session, git_project):
    for text in ("cents = 2\n", "cents = 1\n"):
        git_project.write(FILE, text)
        git_project.commit()

    assert "verify" not in _edit(session, git_project)


def test_another_file_that_changed_is_a_reason(home, git_project):
    project = Project(str(git_project.root))
    _save(project, "Tax is added last", FILE, "src/tax.py")
    git_project.write("src/tax.py", "rate = 19\n")

    text = _edit(Session("qwen", project, home), git_project)

    assert "verify: `src/tax.py` changed" in text
    assert f"`{FILE}` changed" not in text


def test_a_record_saved_with_uncommitted_work_is_compared_with_commits_alone(home, git_project):
    git_project.write(FILE, "cents = 3\n")
    project = Project(str(git_project.root))
    _save(project, "Cents are counted twice", FILE)

    assert "verify" not in _edit(Session("pi", project, home), git_project)


def test_without_git_nothing_is_known_of_the_file_before(tmp_path, home):
    root = tmp_path / "plain"
    (root / "src").mkdir(parents=True)
    (root / FILE).write_text("cents = 1\n")
    project = Project(str(root))
    project.save("constraint", CENTS)
    (root / FILE).write_text("cents = 2\n")

    text = reply_text(Session("gemini", project, home).write("post_tool_use", FILE))

    assert RULE in text
    assert "verify" not in text


def test_a_host_that_delivers_before_the_edit_looks_at_the_file(home, git_project):
    git_project.write(FILE, "cents = 2\n")

    text = reply_text(Session("claude-code", Project(str(git_project.root)), home).write("pre_tool_use", FILE))

    assert f"verify: `{FILE}` changed" in text


def test_git_is_asked_only_if_there_were_commits_since(home, git_project, monkeypatch):
    project = Project(str(git_project.root))
    # Saved at the commit that is checked out.
    _save(project, "Cents everywhere", "src/tax.py")
    calls = GitCalls(monkeypatch)
    git_project.write("src/tax.py", "rate = 1\n")

    text = reply_text(Session("pi", project, home).write("post_tool_use", "src/tax.py"))

    assert "Cents everywhere" in text
    assert calls.times == 0
