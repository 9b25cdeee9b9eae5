"""Which memories belong to a file."""

from __future__ import annotations

import os
import shutil

import pytest

from onrecord import paths
from onrecord.recall import for_file
from onrecord.recall.stores import Stores
from onrecord.search import index, indexing
from tests.agent_context import file_context
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
    monkeypatch.setattr(indexing, "HOOK_SECONDS", -1.0)
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
    project.save("constraint", constraint("Everything", scope={"paths": ["**"]}))

    assert file_context(project, path) == ""
