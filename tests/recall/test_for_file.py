"""The records that belong to a file, also after git renamed it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import onrecord
from onrecord import paths
from onrecord.recall import for_file
from onrecord.recall.stores import Stores
from onrecord.search import index, refresh
from tests.agent_context import file_context
from tests.git_project import GitCalls, GitProject
from tests.known_project import known_project


def constraint(title: str, severity: str = "high", **more: object) -> dict[str, object]:
    return {"title": title, "severity": severity, "rule": f"{title}.", "impact": ["x"], **more}


@pytest.fixture
def project(tmp_path):
    return known_project(tmp_path)


def titles(project, path):
    return [row.title for row in for_file.records_about(index.open(project.store.root), project.root, path)]


@pytest.mark.parametrize(
    ("given", "path", "belongs"),
    [
        ({"related_files": ["src/auth.py"]}, "src/auth.py", True),
        ({"related_files": ["./src/auth.py"]}, "src/auth.py", True),
        ({"related_files": ["src/auth/"]}, "src/auth/token.py", True),
        ({"related_files": ["src/auth"]}, "src/auth/deep/er/token.py", True),
        ({"related_files": ["src/auth"]}, "src/authors.py", False),
        ({"scope": {"paths": ["src/**/*.sql"]}}, "src/a/b/c.sql", True),
        ({"scope": {"paths": ["*.sql"]}}, "db/c.sql", True),
        ({"scope": {"paths": ["src/**/*.sql"]}}, "db/c.sql", False),
        ({"related_files": ["src/auth.py"]}, "src/other.py", False),
    ],
)
def test_files_folders_and_globs(project, given, path, belongs):
    project.save("constraint", constraint("One rule", **given))

    assert titles(project, path) == (["One rule"] if belongs else [])


def test_a_file_that_moved_is_known_by_its_name(project):
    project.save("constraint", constraint("Moved", related_files=["old/place/tariff.py"]))

    assert titles(project, "new/place/tariff.py") == ["Moved"]

    os.makedirs(os.path.join(project.root, "old/place"))
    with open(os.path.join(project.root, "old/place/tariff.py"), "w") as file:
        file.write("still here")
    assert titles(project, "new/place/tariff.py") == []


def test_the_gravest_comes_first(project):
    files = {"related_files": ["a.py"]}
    project.save("tech_debt", {"title": "D", "description": "d", "reason_deferred": "r", "priority": "low", **files})
    project.save("preference", {"title": "P", "topic": "t", "value": "v", "reason": "r", **files})
    project.save("constraint", constraint("C low", "low", **files))
    project.save("constraint", constraint("C high", "high", **files))
    project.save("decision", {"title": "A", "context": "c", "decision": "d", "rationale": "r", **files})

    assert titles(project, "a.py") == ["C high", "A", "P", "C low", "D"]


def test_what_is_settled_or_of_no_concern_to_a_file_is_left_out(project):
    files = {"related_files": ["a.py"]}
    project.save("tech_debt", {"title": "D", "description": "d", "reason_deferred": "r", "status": "resolved", **files})
    project.save("runbook", {"title": "R", "trigger": "t", "steps": ["s"], "verification": "v", **files})
    project.save("session_summary", {"title": "S", "goal": "g", **files})

    assert titles(project, "a.py") == []


def test_stores_are_indexed_as_far_as_a_hook_has_time_for_unless_it_is_said_otherwise(project, monkeypatch):
    monkeypatch.setattr(refresh, "HOOK_SECONDS", -1.0)
    for number in range(3):
        project.save("constraint", constraint(f"Rule {number}", related_files=["a.py"]))
    root = project.store.root
    shutil.rmtree(paths.cache_dir(), ignore_errors=True)

    in_a_hook = Stores(paths.store_refs(root)).open(root)._select()
    completely = Stores(paths.store_refs(root), hook=False).open(root)._select()

    assert len(in_a_hook) < len(completely) == 3


def test_a_file_brings_its_rule_once_per_session(project):
    project.save("constraint", constraint("No floats for money", related_files=["src/money.py"]))
    path = os.path.join(project.root, "src", "money.py")

    first = file_context(project, path)
    assert "No floats for money" in first
    assert "confidence" not in first
    assert file_context(project, path) == ""
    assert "No floats for money" in file_context(project, path, session="another")


def test_what_no_longer_holds_is_not_told(project):
    files = {"related_files": ["a.py"]}
    project.save("constraint", constraint("Expired", expires="2020-01-01", **files))
    project.save("constraint", constraint("Lifted", active=False, **files))
    project.save("decision", {"title": "Old way", "context": "c", "decision": "old", "rationale": "r", **files})
    project.save("decision", {"title": "New way", "context": "c", "decision": "new", "rationale": "r", **files})
    project.writer.supersede("old-way", "new-way")
    project.save("constraint", constraint("Gone", **files))
    project.writer.retire("gone", "no longer")

    text = file_context(project, "a.py")

    assert "New way" in text
    assert text.count("<result ") == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "../elsewhere.py", "", "."])
def test_files_outside_the_project_have_nothing_beside_them(project, path):
    project.save("constraint", constraint("Everything", scope={"paths": ["*.py", "passwd"]}))

    assert file_context(project, path) == ""


BODY = "".join(f"def handler_{number}(): return {number}\n" for number in range(40))
RULE = {"title": "No floats", "severity": "high", "rule": "No floats for money.", "impact": ["x"]}


@pytest.fixture
def git_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    # A machine that stalls fails no test about something else.
    monkeypatch.setattr(for_file, "_MAX_GIT_SECONDS", 30.0)
    git_project = GitProject(tmp_path / "project")
    git_project.write("src/session.py", BODY)
    git_project.write("src/other.py", "other\n" * 30)
    git_project.commit()
    onrecord.open(str(git_project.root)).save("constraint", {**RULE, "related_files": ["src/session.py"]})
    return git_project


def aged(git_project: GitProject) -> None:
    """Make every file look older than the clock's doubt, so that verdicts on it are remembered."""
    for path in git_project.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_700_000_000, 1_700_000_000))


def titles_after_rename(git_project: GitProject, path: str) -> list[str]:
    project = onrecord.open(str(git_project.root))
    rows = for_file.records_about(index.open(project.store.root), project.root, path)
    return [row.title for row in rows]


def context_after_rename(git_project: GitProject, path: str) -> str:
    return file_context(onrecord.open(str(git_project.root)), path, f"session-{path}")


def test_a_file_renamed_edited_and_committed_brings_its_rule_under_the_new_path(git_project: GitProject) -> None:
    git_project.git("mv", "src/session.py", "src/store.py")
    git_project.write("src/store.py", BODY + "def more(): return 1\n")
    git_project.commit()

    assert "No floats for money." in context_after_rename(git_project, "src/store.py")
    assert "No floats for money." in context_after_rename(git_project, "src/session.py")
    assert titles_after_rename(git_project, "src/other.py") == []


def test_a_file_renamed_twice_is_followed(git_project: GitProject) -> None:
    git_project.git("mv", "src/session.py", "src/store.py")
    git_project.commit()
    git_project.git("mv", "src/store.py", "vault.py")
    git_project.commit()

    assert titles_after_rename(git_project, "vault.py") == ["No floats"]
    assert titles_after_rename(git_project, "src/store.py") == []


def without_anchors(git_project: GitProject) -> None:
    """Leave the records as the earlier plugin wrote them, committed."""
    for path in (git_project.root / ".claude/memory").glob("*/*.json"):
        record = json.loads(path.read_text())
        del record["anchors"]
        path.write_text(json.dumps(record, indent=2))
    git_project.commit()


def test_the_renamed_file_of_a_record_without_anchors_is_followed(git_project: GitProject) -> None:
    without_anchors(git_project)
    git_project.git("mv", "src/session.py", "src/store.py")
    assert titles_after_rename(git_project, "src/store.py") == ["No floats"]

    git_project.write("src/store.py", BODY + "def more(): return 1\n")
    git_project.commit()
    git_project.git("mv", "src/store.py", "vault.py")
    git_project.commit()

    assert "No floats for money." in context_after_rename(git_project, "vault.py")
    assert titles_after_rename(git_project, "src/store.py") == []
    assert titles_after_rename(git_project, "src/other.py") == []


def test_a_deleted_file_of_a_record_without_anchors_gives_its_rule_to_no_other(git_project: GitProject) -> None:
    without_anchors(git_project)
    git_project.git("rm", "-q", "src/session.py")
    git_project.write("src/new.py", "something = 'else'\n" * 20)
    git_project.commit()

    assert titles_after_rename(git_project, "src/new.py") == titles_after_rename(git_project, "src/other.py") == []


def test_a_rename_that_is_staged_only_counts_and_one_that_git_was_not_told_of(git_project: GitProject) -> None:
    git_project.git("mv", "src/session.py", "src/store.py")
    assert titles_after_rename(git_project, "src/store.py") == ["No floats"]

    git_project.git("reset", "-q", "--hard")
    os.rename(git_project.root / "src/session.py", git_project.root / "src/untracked.py")
    assert titles_after_rename(git_project, "src/untracked.py") == ["No floats"]


def test_a_file_that_was_deleted_gives_its_rule_to_no_other(git_project: GitProject) -> None:
    git_project.git("rm", "-q", "src/session.py")
    git_project.write("src/new.py", "something = 'else'\n" * 20)
    git_project.commit()

    assert titles_after_rename(git_project, "src/new.py") == titles_after_rename(git_project, "src/other.py") == []


def test_one_symbol_of_a_renamed_file_is_enough(git_project: GitProject) -> None:
    rule = {**RULE, "title": "Symbol", "related_files": ["src/other.py", "src/session.py#handler_3"]}
    onrecord.open(str(git_project.root)).save("constraint", rule)
    git_project.git("mv", "src/session.py", "src/store.py")
    git_project.commit()

    assert titles_after_rename(git_project, "src/store.py") == ["No floats", "Symbol"]


def test_git_is_asked_once_for_each_commit_and_never_while_no_file_is_lost(
    git_project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(git_project)
    asked = GitCalls(monkeypatch)
    titles_after_rename(git_project, "src/other.py")
    assert asked.times == 0

    git_project.git("mv", "src/session.py", "src/store.py")
    git_project.commit()
    assert titles_after_rename(git_project, "src/store.py") == ["No floats"]
    first = asked.times
    assert first > 0

    assert titles_after_rename(git_project, "src/store.py") == ["No floats"]
    assert titles_after_rename(git_project, "src/other.py") == []
    git_project.commit("unrelated")
    assert titles_after_rename(git_project, "src/store.py") == ["No floats"]
    assert asked.times == first


def test_a_git_without_time_is_asked_again_at_the_next_file(
    git_project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_project.git("mv", "src/session.py", "src/store.py")
    git_project.write("src/store.py", BODY + "def more(): return 1\n")
    git_project.commit()
    patience = for_file._MAX_GIT_SECONDS
    monkeypatch.setattr(for_file, "_MAX_GIT_SECONDS", 0.000_1)
    assert titles_after_rename(git_project, "src/store.py") == []

    monkeypatch.setattr(for_file, "_MAX_GIT_SECONDS", patience)
    assert titles_after_rename(git_project, "src/store.py") == ["No floats"]
