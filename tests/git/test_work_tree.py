"""The comparison of git's index with the files on disk: each kind of difference, and the limits."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from onrecord import coldstart
from onrecord.git import repository, work_tree
from tests.git_project import GitProject


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    made = GitProject(tmp_path / "project")
    for name in "abcdefg":
        made.write(f"{name}.txt", "one\ntwo\n")
    (made.root / "link").symlink_to("a.txt")
    made.commit()
    return made


def listing(project: GitProject) -> bytes:
    repo = repository.find(str(project.root))
    assert repo is not None
    return repo.run("ls-files", "--stage", "--debug", "-z", deadline=time.monotonic() + 60).output


def changed(project: GitProject, seconds: float = 60) -> tuple[list[str], bool]:
    return work_tree.changed_paths(listing(project), str(project.root), time.monotonic() + seconds)


def test_each_kind_of_difference_is_found(project):
    root = project.root
    project.git("update-index", "--skip-worktree", "g.txt")
    (root / "a.txt").write_text("one\nTWO\n")
    (root / "b.txt").write_text("longer than it was\n")
    (root / "c.txt").unlink()
    (root / "d.txt").unlink()
    (root / "d.txt").mkdir()
    (root / "e.txt").unlink()
    (root / "e.txt").symlink_to("f.txt")
    os.utime(root / "f.txt", (1, 1))
    (root / "g.txt").unlink()
    (root / "link").unlink()
    (root / "link").symlink_to("b.txt")

    assert changed(project) == (["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "link"], True)


def test_line_endings_and_a_link_to_the_same_file_are_no_difference(project):
    (project.root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (project.root / "link").unlink()
    (project.root / "link").symlink_to("a.txt")
    # As after a checkout with CRLF elsewhere: then git has that size in its index.
    listed = listing(project).replace(b"size: 8\t", b"size: 10\t")

    assert work_tree.changed_paths(listed, str(project.root), time.monotonic() + 60)[0] == [
        f"{name}.txt" for name in "bcdefg"
    ]


def test_a_file_in_conflict_is_changed_and_a_submodule_is_not(project):
    blob = project.git("rev-parse", ":a.txt")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.git('rev-parse', 'HEAD')},sub")
    project.git("rm", "-q", "--cached", "a.txt")
    stages = "".join(f"100644 {blob} {stage}\ta.txt\n" for stage in (1, 2))
    command = ("git", "-C", str(project.root), "update-index", "--index-info")
    subprocess.run(command, input=stages.encode(), check=True, timeout=120)

    assert changed(project) == (["a.txt"], True)
    assert work_tree.all_paths(listing(project)) == [
        "a.txt", *(f"{name}.txt" for name in "bcdefg"), "link", "sub",
    ]  # fmt: skip


def test_when_the_time_is_up_the_rest_is_not_compared(project):
    (project.root / "a.txt").unlink()

    assert changed(project, seconds=-1) == ([], False)


@pytest.mark.parametrize(("limit", "names"), [(16, ["a.txt", "b.txt"]), (15, ["a.txt"])])
def test_so_many_bytes_are_hashed_and_no_more(project, monkeypatch, limit, names):
    monkeypatch.setattr(work_tree, "MAX_HASHED_BYTES", limit)
    for name in "ab":
        (project.root / f"{name}.txt").write_text("ONE\nTWO\n")

    assert changed(project) == (names, limit == 16)


@pytest.mark.parametrize("details", [b"", b"  ctime: x\n  size: -\tflags: zz\n", b"  mtime: 1:\n"])
def test_details_of_another_form_lead_to_a_comparison_of_the_text(tmp_path, details):
    (tmp_path / "a").write_text("x\n")
    same, other = work_tree.blob_id(b"x\n"), work_tree.blob_id(b"y\n")

    for blob, paths in ((same, []), (other, ["a"])):
        listed = b"100644 %s 0\ta\0%s" % (blob.encode(), details.replace(b"zz", b"0"))
        assert work_tree.changed_paths(listed, str(tmp_path), time.monotonic() + 60) == (paths, True)


def test_the_id_of_a_text_is_that_of_git_in_either_length():
    sha256 = hashlib.sha256(b"blob 2\0x\n").hexdigest()

    assert work_tree.blob_id(b"x\n") == "587be6b4c3f93f93c489c0111bba5596147a26cb"
    assert work_tree.blob_id(b"x\n", 40) == work_tree.blob_id(b"x\n")
    assert work_tree.blob_id(b"x\n", 41) == work_tree.blob_id(b"x\n", 64) == sha256


@pytest.mark.parametrize(
    ("data", "id", "is_same"),
    [
        (b"x\n", work_tree.blob_id(b"x\n"), True),
        (b"x\n", work_tree.blob_id(b"x\n")[:10], True),
        (b"x\r\n", work_tree.blob_id(b"x\n"), True),
        (b"x\n", work_tree.blob_id(b"x\r\n"), True),
        (b"x\ny\r\n", work_tree.blob_id(b"x\r\ny\r\n"), True),
        (b"x\n", coldstart.content_hash(b"x\n"), True),
        (b"x\n", work_tree.blob_id(b"x\n", 64), True),
        (b"x", work_tree.blob_id(b"x\n"), False),
        (b"x\n", "", False),
    ],
)
def test_a_text_has_an_id_whatever_its_line_endings(data, id, is_same):
    assert work_tree.has_id(data, id) is is_same
