"""A file that the agent has just edited is judged by its commits: the edit itself says nothing about a record."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.freshness import anchors
from onrecord.freshness.check import Freshness, IndexedAnchor, Verdict
from onrecord.record.memory import Anchor, Memory
from tests.git_project import GitCalls, GitProject

NOW = "2026-03-01T00:00:00Z"
BODY = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    git_project = GitProject(tmp_path / "project")
    git_project.write("src/a.py", BODY)
    git_project.commit()
    return git_project


def anchored(root: Path, path: str = "src/a.py") -> IndexedAnchor:
    record = anchors.add_missing(Memory("decision", "x", "X", {}, related_files=(path,)), str(root), NOW)
    return anchors.to_indexed(record)[0]


def edited_verdict(root: Path, anchor: IndexedAnchor, *edited: str) -> Verdict:
    return Freshness(str(root), patience=60, edited=edited or [str(root / anchor.path)]).check(anchor)


def fresh(anchor: IndexedAnchor) -> Verdict:
    return Verdict(anchor, "fresh", anchor.path, -1, "", "", "")


def test_an_edit_alone_leaves_a_file_fresh_without_git(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    anchor = anchored(project.root)
    project.write("src/a.py", "edited\n")
    git_calls = GitCalls(monkeypatch)

    assert edited_verdict(project.root, anchor) == fresh(anchor)
    assert git_calls.times == 0
    assert Freshness(str(project.root)).check(anchor).state == "changed"


def test_other_files_are_judged_as_they_are(project: GitProject) -> None:
    anchor = anchored(project.root)
    project.write("src/a.py", "edited\n")

    assert edited_verdict(project.root, anchor, str(project.root / "src/b.py")).state == "changed"


def test_a_file_edited_through_a_link_is_the_same_file(project: GitProject, tmp_path: Path) -> None:
    anchor = anchored(project.root)
    project.write("src/a.py", "edited\n")
    (tmp_path / "link").symlink_to(project.root)

    assert edited_verdict(project.root, anchor, str(tmp_path / "link/src/a.py")) == fresh(anchor)
    assert edited_verdict(tmp_path / "link", anchor, str(project.root / "src/a.py")) == fresh(anchor)


@pytest.mark.parametrize(("commits", "day"), [(1, "2026-03-03"), (2, "2026-03-04")])
def test_commits_before_the_edit_have_changed_it(project: GitProject, commits: int, day: str) -> None:
    anchor = anchored(project.root)
    for number in range(commits):
        project.write("src/a.py", f"{BODY}more {number}\n")
        last = project.commit()
    project.write("src/a.py", "edited\n")

    assert edited_verdict(project.root, anchor) == Verdict(anchor, "changed", "src/a.py", commits, last, day, "")


def test_a_commit_that_leaves_or_restores_the_file_has_not_changed_it(project: GitProject) -> None:
    anchor = anchored(project.root)
    for text in ("other\n", BODY):
        project.write("src/a.py", text)
        project.commit()
    project.write("src/a.py", "edited\n")

    assert edited_verdict(project.root, anchor) == fresh(anchor)


def test_a_draft_that_was_never_committed_has_no_commits_that_changed_it(project: GitProject) -> None:
    project.write("src/a.py", "draft\n")
    anchor = anchored(project.root)
    project.git("stash", "-q")
    project.commit()
    project.write("src/a.py", "edited\n")

    assert edited_verdict(project.root, anchor) == fresh(anchor)


@pytest.mark.parametrize("move", [("mv", "src/a.py", "src/b.py"), ("rm", "-q", "src/a.py")], ids=["moved", "deleted"])
def test_a_file_that_the_commit_lacks_is_fresh(project: GitProject, move: tuple[str, ...]) -> None:
    anchor = anchored(project.root)
    project.git(*move)
    project.commit()
    project.write("src/a.py", "written anew\n")

    assert edited_verdict(project.root, anchor) == fresh(anchor)


def test_a_file_with_an_unknown_past_is_fresh(project: GitProject) -> None:
    anchor = anchored(project.root)._replace(id="e" * 40, commit="f" * 40)

    assert edited_verdict(project.root, anchor) == fresh(anchor)


def test_a_project_inside_a_repository_is_judged_by_its_own_paths(project: GitProject) -> None:
    anchor = anchored(project.root / "src", "a.py")
    project.write("src/a.py", "committed\n")
    last = project.commit()

    assert edited_verdict(project.root / "src", anchor)[1:5] == ("changed", "a.py", 1, last)


def test_without_a_commit_there_is_nothing_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("one\n")
    plain = anchored(tmp_path, "a.py")
    project = GitProject(tmp_path / "new")
    project.write("a.py", "one\n")
    new = anchored(project.root, "a.py")
    git_calls = GitCalls(monkeypatch)

    for root, anchor in ((tmp_path, plain), (project.root, new)):
        (root / "a.py").write_text("edited\n")
        assert edited_verdict(root, anchor) == fresh(anchor)
    assert git_calls.times == 0


def test_git_is_not_asked_about_a_path_that_leads_out_of_the_project(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside.py").write_text("secret\n")
    record = Memory("decision", "x", "X", {}, anchors=(Anchor("../outside.py", blob="a" * 40, commit="b" * 40),))
    git_calls = GitCalls(monkeypatch)

    assert edited_verdict(project.root, anchors.to_indexed(record)[0]).state == "fresh"
    assert git_calls.times == 0
