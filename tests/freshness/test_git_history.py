"""What git tells about an anchored file: odd names, merges, copies, failing commands, and the lines that differ."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from onrecord.freshness import anchors, git_history, project_files
from onrecord.freshness.check import Freshness, Verdict
from onrecord.record.memory import Anchor, Memory
from tests.git_project import GitCalls, GitProject

NOW = "2026-03-01T00:00:00Z"
BODY = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    git_project = GitProject(tmp_path / "project")
    git_project.write("src/auth.py", BODY)
    git_project.commit()
    return git_project


def anchored(root: Path, *files: str) -> Memory:
    return anchors.add_missing(Memory("decision", "x", "X", {}, related_files=files), str(root), NOW)


def verdict_on(root: Path, record: Memory) -> Verdict:
    return Freshness(str(root), patience=60).check(anchors.to_indexed(record)[0])


def commit_raw(project: GitProject, *arguments: str) -> str:
    """Commit what is staged, below names that are no text."""
    project.git("commit", "-q", "-m", "work", *arguments)
    return project.git("rev-parse", "HEAD")


def put_git(folder: Path, monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    """Put a git on the PATH that fails when an argument matches a pattern of the shell."""
    program = folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase "$*" in {refused}) exit 1;; esac\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_a_name_that_is_not_utf8_is_followed(project: GitProject) -> None:
    # macOS refuses such names.
    name = os.fsdecode(b"src/caf\xe9.py")
    try:
        (project.root / name).write_text(BODY + "more\n")
    except OSError:
        pytest.skip("this file system refuses names that are not UTF-8")
    record = anchored(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    project.git("add", "-A")
    last = commit_raw(project)

    verdict = verdict_on(project.root, record)
    os.utime(project.root / name, (1_700_000_000, 1_700_000_000))

    assert verdict[1:] == ("changed", name, 1, last, "2026-03-03", "")
    assert [verdict_on(project.root, record) for _ in range(2)] == [verdict, verdict]
    again = anchored(project.root, name)
    (project.root / name).write_text("other\n")
    project.git("add", "-A")
    assert (commit_raw(project), 1) == verdict_on(project.root, again)[4:2:-1]


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\x1c"])
def test_a_separator_in_a_name_begins_no_line_of_the_log(project: GitProject, sign: str) -> None:
    name = f"a{sign}commit"
    project.write(name, "one\n")
    project.commit()
    record = anchored(project.root, name)
    project.write(name, "two\n")
    last = project.commit()

    assert verdict_on(project.root, record)[1:] == ("changed", name, 1, last, "2026-03-04", "")


def test_a_file_deleted_in_a_commit_is_missing_though_a_copy_is_untracked(project: GitProject) -> None:
    record = anchored(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    gone = project.commit()
    project.write("copy/auth.py", BODY)

    assert verdict_on(project.root, record)[1:] == ("missing", "src/auth.py", 1, gone, "2026-03-03", "")


def test_a_copy_made_later_is_not_taken_for_a_file_that_was_renamed_and_then_deleted(project: GitProject) -> None:
    record = anchored(project.root, "src/auth.py")
    project.git("mv", "src/auth.py", "src/login.py")
    project.commit()
    project.write("src/login.py", "all else\n" * 20)
    project.write("src/copy.py", BODY)
    project.commit()
    (project.root / "src/login.py").unlink()

    assert verdict_on(project.root, record).state == "missing"


def test_the_first_rename_of_several_in_a_commit_is_not_taken_for_that_of_the_file(project: GitProject) -> None:
    project.write("src/a.py", BODY.replace("line", "part"))
    project.write("src/z.py", BODY.replace("line", "piece"))
    project.write("src/m.py", "m\n")
    project.commit()
    record = anchored(project.root, "src/auth.py")
    project.write("src/m.py", "mm\n")
    for name in ("a", "auth", "z"):
        project.git("mv", f"src/{name}.py", f"src/new_{name}.py")
    project.commit()

    assert verdict_on(project.root, record)[1:3] == ("fresh", "src/new_auth.py")


def test_a_log_that_fails_after_a_rename_counts_from_the_rename(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = anchored(project.root, "src/auth.py")
    project.git("mv", "src/auth.py", "src/login.py")
    project.commit()
    project.write("src/login.py", BODY + "more\n")
    put_git(tmp_path, monkeypatch, refused="*' log '*src/login.py*")

    assert verdict_on(project.root, record)[1:] == ("changed", "src/login.py", 0, "", "", "")


def test_a_git_that_fails_has_not_taken_too_long(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = anchored(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    put_git(tmp_path, monkeypatch, refused="*")

    assert verdict_on(project.root, record)[1:] == ("missing", "src/auth.py", -1, "", "", "")


@pytest.mark.parametrize("refused", ["*", "*' ls-files '*"])
def test_a_missing_file_is_unknown_when_git_takes_too_long(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    record = anchored(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    put_git(tmp_path, monkeypatch, refused)
    git = tmp_path / "bin" / "git"
    git.write_text(git.read_text().replace("exit 1", "exec sleep 600"))

    verdict = Freshness(str(project.root), patience=0.05 if refused == "*" else 1).check(anchors.to_indexed(record)[0])

    assert verdict[1:] == ("unknown", "src/auth.py", -1, "", "", "not checked: git took too long")


@pytest.mark.parametrize(("minutes", "path"), [(35, "z.py"), (25, "")])
def test_the_search_for_a_moved_file_ends_when_the_time_is_up(
    project: GitProject, monkeypatch: pytest.MonkeyPatch, minutes: int, path: str
) -> None:
    """To read a file takes ten minutes of this clock."""
    (anchor,) = anchors.to_indexed(anchored(project.root, "src/auth.py"))
    repository = git_history.find(str(project.root))
    assert repository
    (project.root / "src/auth.py").rename(project.root / "z.py")
    for name in ("a.py", "b.py", "c.py"):
        project.write(name, "other\n")
    late, read = [0], project_files.read

    def read_slowly(root: str, path: str) -> bytes | None:
        late[0] += 600
        return read(root, path)

    monkeypatch.setattr(git_history, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + late[0]))
    monkeypatch.setattr(project_files, "read", read_slowly)

    history = git_history.trace(str(project.root), repository, anchor, None, time.monotonic() + 60 * minutes)

    assert (history.path, history.is_cut_short) == (path, not path)


def test_a_list_of_renames_that_is_cut_off_names_no_file(
    project: GitProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = anchored(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    put_git(tmp_path, monkeypatch, refused="*' diff-index '*")
    git = tmp_path / "bin" / "git"
    renames = r":100644 100644 a b R100\0src/auth.py\0XXcutXX"
    git.write_text(git.read_text().replace("exit 1", f"printf '{renames}'; exit 0"))
    project.write("XX", "x")

    assert verdict_on(project.root, record)[1:3] == ("missing", "src/auth.py")


def test_an_anchor_of_a_missing_file_puts_nothing_but_commits_on_a_command_line(
    project: GitProject, tmp_path: Path
) -> None:
    evil = f"--output={tmp_path}/written"
    (project.root / "src/auth.py").unlink()
    record = Memory("decision", "x", "X", {}, anchors=(Anchor("src/auth.py", blob="a" * 40, commit=evil),))

    assert verdict_on(project.root, record).state == "missing"
    assert not (tmp_path / "written").exists()


def test_a_link_out_of_the_project_is_not_taken_for_a_moved_file(project: GitProject, tmp_path: Path) -> None:
    (tmp_path / "auth.py").write_text(BODY)
    record = anchored(project.root, "src/auth.py")
    (project.root / "src/auth.py").unlink()
    (project.root / "a_auth.py").symlink_to(tmp_path / "auth.py")
    project.write("moved/auth.py", BODY)

    assert verdict_on(project.root, record).now == "moved/auth.py"


class TestChangedLines:
    """What the page of a record shows of a file that has changed."""

    def lines(self, project: GitProject, blob: str, path: str = "src/auth.py") -> list[str]:
        return git_history.changed_lines(str(project.root), blob, path)

    def test_three_lines_around_a_change_are_shown(self, project: GitProject) -> None:
        blob = project.git("hash-object", "src/auth.py")
        project.write("src/auth.py", BODY.replace("line 10\n", "line ten\n"))

        assert self.lines(project, blob) == [
            "@@ -8,7 +8,7 @@",
            " line 7", " line 8", " line 9",
            "-line 10", "+line ten",
            " line 11", " line 12", " line 13",
        ]  # fmt: skip

    def test_a_version_or_file_that_is_gone_or_too_large_has_none(self, project: GitProject) -> None:
        project.write("large.py", "x" * 400_001)
        project.commit()
        small, large = (project.git("hash-object", name) for name in ("src/auth.py", "large.py"))
        project.write("large.py", "x")

        assert self.lines(project, large, "large.py") == []
        assert self.lines(project, "e" * 40) == []
        assert self.lines(project, small, "gone.py") == []

    def test_what_is_no_id_never_reaches_git(self, project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
        git_calls = GitCalls(monkeypatch)

        assert self.lines(project, "--batch") == []
        assert git_calls.times == 0

    def test_without_git_there_are_none(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("a\n")

        assert git_history.changed_lines(str(tmp_path), "a" * 40, "a.py") == []

    def test_bytes_that_are_no_text_are_shown_as_replaced(self, project: GitProject) -> None:
        (project.root / "src/auth.py").write_bytes(b"caf\xe9\n")
        project.commit()
        blob = project.git("hash-object", "src/auth.py")
        (project.root / "src/auth.py").write_bytes(b"caf\xc3\xa9\n")

        assert self.lines(project, blob) == ["@@ -1 +1 @@", "-caf\ufffd", "+caf\xe9"]
