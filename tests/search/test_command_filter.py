"""The filter beside the index: it rules out what no record has, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord.project import Project
from onrecord.search import command_filter, command_terms, index
from onrecord.session import commands
from tests.known_project import known_project

PNPM = {
    "title": "Packages are added with pnpm, never npm",
    "triggers": ["npm install", "add a dependency"],
    "related_files": ["web/package.json", "infra/**/*.tf"],
    "content": {"topic": "packages", "value": "pnpm add", "reason": "one lockfile", "strength": "strong"},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = known_project(tmp_path / "project", ("preference", PNPM))
    for folder in Path(made.store.root).iterdir():
        # A folder that was changed a moment ago may change again in the same tick of its clock.
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    index.open(made.store.root).close()
    return made


def may_match(project: Project, line: str) -> bool:
    keys = {key for call in command_terms.of_calls(commands.parse(line)) for key in command_terms.keys(call)}
    return command_filter.may_match(project.store.root, keys)


@pytest.mark.parametrize("line", ["npm install lodash", "cd web && npm i x", "pnpm add x"])
def test_a_command_that_a_record_names_may_match(project, line):
    assert may_match(project, line)


@pytest.mark.parametrize(
    "line", ["ls -la", "npm test", "git status --short", "cat README.md | head", "make image", "pwd"]
)
def test_an_ordinary_command_is_ruled_out(project, line):
    assert not may_match(project, line)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("web/package.json", True), ("moved/package.json", True), ("infra/prod/main.tf", True), ("src/a.py", False)],
)
def test_a_file_that_a_record_is_about_may_match(project, path, expected):
    assert command_filter.may_match(project.store.root, command_filter.file_keys(path)) is expected


def test_without_a_filter_everything_may_match(project):
    os.unlink(command_filter.file_of(project.store.root))

    assert may_match(project, "ls")


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 5_000, b"[1, 8, {}]"])
def test_with_a_damaged_filter_everything_may_match(project, damage):
    Path(command_filter.file_of(project.store.root)).write_bytes(damage)

    assert may_match(project, "ls")


def test_a_record_that_was_added_since_may_match(project):
    project.save("preference", {**PNPM, "title": "Deploys run with acme ship", "triggers": ["acme ship"]})

    assert may_match(project, "acme ship")


def test_a_missing_filter_is_made_again(project):
    os.unlink(command_filter.file_of(project.store.root))

    index.open(project.store.root).close()

    assert not may_match(project, "ls")
    assert may_match(project, "npm install x")


def test_the_filter_of_another_version_is_made_again(project, monkeypatch):
    monkeypatch.setattr(command_filter, "_VERSION", 99)
    is_trusted = not may_match(project, "ls")

    index.open(project.store.root).close()

    assert not is_trusted
    assert not may_match(project, "ls")
    assert may_match(project, "npm install x")


WORDS = st.text("abcdefghij", min_size=1, max_size=6)


@settings(max_examples=30)
@given(st.lists(WORDS, min_size=2, max_size=8), st.lists(WORDS, max_size=20))
def test_what_was_added_is_found(tmp_path_factory, added, others):
    root = str(tmp_path_factory.mktemp("store"))
    os.makedirs(os.path.dirname(command_filter.file_of(root)), exist_ok=True)

    command_filter.make(root, [set(others)], 10)
    command_filter.add(root, added)
    command_filter.confirm(root, command_filter.folder_times(root))

    assert all(command_filter.may_match(root, [word]) for word in (*added, *others))
