"""Clones are found under each of the names that the benches know, bare or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import repositories
from tests.git_project import GitProject


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    project = GitProject(tmp_path / "project")
    project.write("a.md", "\ufeffOne, two")
    project.commit("Count")
    return project


@pytest.mark.parametrize("path", ["some+thing", "some+thing/repo", "some/thing", "thing", "thing.git"])
@pytest.mark.parametrize("options", [(), ("--bare",)])
def test_a_clone_is_found_and_read(project: GitProject, tmp_path: Path, path: str, options: tuple[str, ...]) -> None:
    clones = tmp_path / "clones"
    project.git("clone", "-q", *options, str(project.root), str(clones / path))

    clone = repositories.find(clones, "some/thing")

    assert clone == clones / path == repositories.find(clones, "some+thing")
    assert repositories.text(clone, "HEAD", "a.md") == "One, two"
    assert repositories.git(clone, "log", "--format=%s", "--stdin", stdin="HEAD") == b"Count\n"


def test_what_is_not_cloned_is_named(tmp_path: Path) -> None:
    (tmp_path / "thing").mkdir()

    assert repositories.missing(tmp_path, ["some/thing", "any/other", "some/thing"]) == ["any/other", "some/thing"]
    with pytest.raises(FileNotFoundError, match=r"no clone of some/thing in .*: git clone it there as thing"):
        repositories.find(tmp_path, "some/thing")
