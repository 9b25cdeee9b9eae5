"""Commits of a shared store: where its records are, what is read of them, and what we write."""

from __future__ import annotations

import getpass
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from onrecord.errors import BadRemote
from onrecord.shared import git_commits
from onrecord.shared.git_commits import Author, Blob, BrokenMirror
from onrecord.shared.git_mirror import Mirror
from onrecord.shared.transport import Push, Version

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
RECORD = "decisions/use-uv.json"


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    mirror = Mirror(str(tmp_path / "replica" / "repository"))
    assert mirror.create().is_good
    return mirror


def commit(mirror: Mirror, files: dict[str, bytes], parent: str = "") -> str:
    return git_commits.make_commit(mirror, parent, "", [Push(path, data, "") for path, data in files.items()])


@pytest.mark.parametrize(
    ("paths", "prefix"),
    [
        ([RECORD], ""),
        ([RECORD, "src/a.py"], ""),
        ([RECORD, ".claude/memory/decisions/a.json"], ""),
        ([".claude/memory/decisions/a.json", "README.md"], ".claude/memory/"),
        (["README.md", "LICENSE", "licence.txt", "COPYING", "CODEOWNERS", "CONTRIBUTING.md", "SECURITY.md", "NOTICE",
          "INDEX.md", ".gitignore", "decisions/README.md", "inbox/a.txt"], ""),
        (["src/a.py", "README.md"], ".claude/memory/"),
        (["index.html"], ".claude/memory/"),
        (["decisions/a.md", "src/a.json"], ".claude/memory/"),
    ],
)  # fmt: skip
def test_records_are_at_the_root_of_a_repository_of_their_own_and_below_a_folder_of_a_project(mirror, paths, prefix):
    assert git_commits.store_prefix(mirror, commit(mirror, dict.fromkeys(paths, b"x"))) == prefix


def test_the_files_of_the_store_are_listed_and_others_are_not(mirror):
    files = {
        RECORD: b"{}",
        "inbox/a.json": b"{}",
        "decisions/a.md": b"x",
        "src/b.json": b"x",
        "decisions/c/d.json": b"x",
    }
    first = commit(mirror, files)

    listed = git_commits.store_files(mirror, first, "")

    blob = "9e26dfeeb6e641a33dae4961196235bdb965b21b"
    assert [(one.path, one.id == blob, one.flaw) for one in listed] == [
        ("decisions/c/d.json", False, ""), (RECORD, True, ""), ("inbox/a.json", True, ""),
    ]  # fmt: skip


def test_what_differs_between_two_commits_is_as_in_the_second(mirror):
    first = commit(mirror, {RECORD: b"1", "decisions/gone.json": b"1", "decisions/same.json": b"1", "README.md": b"x"})
    second = commit(
        mirror, {RECORD: b"2", "decisions/gone.json": b"", "decisions/new.json": b"3", "README.md": b"y"}, first
    )

    changed = git_commits.changed_files(mirror, first, second, "")

    assert list(git_commits.read_versions(mirror, changed)) == [
        Version("decisions/gone.json", b""), Version("decisions/new.json", b"3"), Version(RECORD, b"2"),
    ]  # fmt: skip


def test_after_a_move_of_the_records_all_are_read_and_those_that_are_gone_deleted(mirror):
    first = commit(mirror, {RECORD: b"1", "decisions/gone.json": b"1"})
    moved = {f".claude/memory/{RECORD}": b"1", RECORD: b"", "decisions/gone.json": b"", "src/a.py": b"x"}
    second = commit(mirror, moved, first)

    changed = git_commits.changed_files(mirror, first, second, ".claude/memory/")

    assert [(blob.path, bool(blob.id)) for blob in changed] == [("decisions/gone.json", False), (RECORD, True)]


def test_a_file_is_read_unless_it_is_too_large_or_a_link(mirror, monkeypatch):
    monkeypatch.setattr(git_commits, "_BATCH_BYTES", 1_000_001)
    first = commit(
        mirror,
        {"decisions/a.json": b"x" * 1_000_000, "decisions/b.json": b"x" * 1_000_001, "decisions/c.json": b"yz"},
    )
    *blobs, last = git_commits.store_files(mirror, first, "")
    link = Blob("decisions/d.json", last.id, "not a file: a link or a submodule")

    versions = list(git_commits.read_versions(mirror, [*blobs, last, link, Blob("decisions/e.json", "")]))

    assert {version.path: (len(version.data), version.flaw) for version in versions} == {
        "decisions/a.json": (1_000_000, ""), "decisions/b.json": (0, "larger than 1,000,000 bytes"),
        "decisions/c.json": (2, ""), "decisions/d.json": (0, "not a file: a link or a submodule"),
        "decisions/e.json": (0, ""),
    }  # fmt: skip


def test_an_empty_file_is_broken_and_not_deleted(mirror, tmp_path):
    empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    mirror.run_local("hash-object", "-w", "--stdin")

    assert list(git_commits.read_versions(mirror, [Blob(RECORD, empty)])) == [Version(RECORD, b"\n")]


def test_a_link_and_a_submodule_are_no_files(mirror, tmp_path):
    work = tmp_path / "work"
    subprocess.run(("git", "init", "-q", str(work)), check=True, timeout=120)
    (work / "decisions").mkdir()
    (work / "decisions" / "link.json").symlink_to("/etc/passwd")
    (work / "decisions" / "run.json").write_text("{}")
    (work / "decisions" / "run.json").chmod(0o755)
    git = ("git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=b")
    subprocess.run((*git, "add", "-A"), check=True, timeout=120)
    subprocess.run((*git, "commit", "-q", "-m", "x"), check=True, timeout=120)

    listed = git_commits.store_files(Mirror(str(work / ".git")), "HEAD", "")

    assert [(blob.path, blob.flaw) for blob in listed] == [
        ("decisions/link.json", "not a file: a link or a submodule"), ("decisions/run.json", ""),
    ]  # fmt: skip


def test_a_blob_that_is_not_there_means_that_the_mirror_is_broken(mirror):
    with pytest.raises(BrokenMirror) as caught:
        list(git_commits.read_versions(mirror, [Blob(RECORD, "a" * 40)]))

    assert (caught.value.message, caught.value.fix) == (
        f"the fetched repository cannot be read: {'a' * 40} missing", "fetch it again: onrecord sync",
    )  # fmt: skip
    assert len(git_commits.broken_mirror("x" * 300).message) == len("the fetched repository cannot be read: ") + 200


def test_more_files_than_a_store_may_have_are_refused(mirror, monkeypatch):
    first = commit(mirror, {RECORD: b"1", "decisions/b.json": b"1"})
    monkeypatch.setattr(git_commits, "MAX_FILES", 2)
    assert len(git_commits.store_files(mirror, first, "")) == 2

    monkeypatch.setattr(git_commits, "MAX_FILES", 1)

    with pytest.raises(BadRemote, match="the shared store has more than"):
        git_commits.store_files(mirror, first, "")


def show(mirror: Mirror, name: str, *words: str) -> str:
    return mirror.run_local("log", "-1", *words, name).text.strip()


def test_a_commit_names_its_files_and_has_its_parent_and_our_author(mirror):
    first = commit(mirror, {RECORD: b"1"})
    many = {f"decisions/r{number:03}.json": b"x" for number in range(120)}
    second = commit(mirror, {**many, RECORD: b""}, first)

    assert show(mirror, first, "--format=%B|%P") == (
        f"Sync 1 file: use-uv\n\nWritten by `onrecord sync`.\n\nwrite {RECORD}\n|"
    )
    lines = show(mirror, second, "--format=%B").split("\n")
    assert lines[0].startswith("Sync 121 files: r000, r001, r002")
    assert (len(lines), lines[-1]) == (4 + 100, "write decisions/r099.json")
    third = commit(mirror, {"decisions/r000.json": b""}, second)
    assert show(mirror, third, "--format=%B").endswith("delete decisions/r000.json")
    assert show(mirror, second, "--format=%P") == first
    author = git_commits.author(mirror)
    assert show(mirror, second, "--format=%an <%ae>%cn") == f"{author.name} <{author.email}>{author.name}"


def test_a_commit_is_written_below_the_folder_of_the_records(mirror):
    made = git_commits.make_commit(mirror, "", ".claude/memory/", [Push(RECORD, b"1", "")])

    assert mirror.run_local("ls-tree", "-r", made).text.split() == [
        "100644", "blob", "56a6051ca2b02b04ef92d5150c9ef600403cb1de", f".claude/memory/{RECORD}",
    ]  # fmt: skip


def test_the_author_is_that_of_gits_config_or_the_user_of_the_system(mirror, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "ann<b>")
    monkeypatch.setattr(platform, "node", lambda: "")
    empty = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for key, value in empty.items():
        monkeypatch.setenv(key, value)
    assert git_commits.author(mirror) == Author("annb", "annb@localhost")

    mirror.run_local("config", "user.name", " Ann\x07 <Smith> ")
    mirror.run_local("config", "user.email", "ann@example.org")

    assert git_commits.author(mirror) == Author("Ann Smith", "ann@example.org")
    branch = git_commits.own_branch(mirror)
    assert branch.startswith("onrecord/ann-b-") and len(branch) == len("onrecord/ann-b-") + 6


def test_a_user_without_a_name_is_called_user(mirror, monkeypatch):
    def unknown() -> str:
        raise KeyError("uid")

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert git_commits.own_branch(mirror).startswith("onrecord/user-")

    monkeypatch.setattr(getpass, "getuser", lambda: "x" * 40)
    other = Mirror(f"{mirror.folder}-other")

    assert git_commits.own_branch(mirror) != git_commits.own_branch(other)
    assert git_commits.own_branch(mirror).rpartition("-")[0] == f"onrecord/{'x' * 30}"
