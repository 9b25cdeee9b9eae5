"""Which files a command changes, and what a file has after edits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.session import action
from onrecord.session.action import FileEdit


def files(command: str, folder: Path, cwd: str = "") -> tuple[str, str]:
    """Return the names of the files that a command reads and changes."""
    called = action.of_command(command, cwd or str(folder), str(folder))
    read, changed = (
        " ".join(os.path.relpath(path, folder) for path in paths) for paths in (called.files_read, called.files_changed)
    )
    return read, changed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name in ("a.py", "b.py", "src/c.py"):
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    "program", [*"rm rmdir mv tee touch truncate dd shred unlink patch chmod chown".split(), "git rm", "git mv"]
)
def test_a_program_changes_all_files_among_its_words(folder: Path, program: str):
    assert files(f"{program} a.py b.py", folder) == ("", "a.py b.py")


@pytest.mark.parametrize("program", ["cp", "install", "rsync", "ln", "scp"])
def test_a_program_that_copies_changes_the_last_file(folder: Path, program: str):
    assert files(f"{program} a.py b.py", folder) == ("a.py", "b.py")


@pytest.mark.parametrize("program", ["sed", "perl", "awk", "gawk"])
@pytest.mark.parametrize(("option", "is_change"), [("-i", True), ("--in-place", True), ("-pi", True), ("-n", False)])
def test_an_editor_changes_its_files_in_place_only(folder: Path, program: str, option: str, is_change: bool):
    assert files(f"{program} {option} x a.py", folder) == (("", "a.py") if is_change else ("a.py", ""))


@pytest.mark.parametrize("subcommand", ["restore", "checkout", "rm", "mv", "apply"])
def test_a_subcommand_of_git_changes_its_files(folder: Path, subcommand: str):
    assert files(f"git {subcommand} a.py", folder) == ("", "a.py")


@pytest.mark.parametrize("words", ["git diff", "git log --", "git", "cat", "python3"])
def test_any_other_program_reads_its_files(folder: Path, words: str):
    assert files(f"{words} a.py", folder) == ("a.py", "")


@pytest.mark.parametrize("program", ["echo", "printf", "export", "cd"])
def test_the_words_of_some_programs_are_no_files(folder: Path, program: str):
    assert files(f"{program} a.py", folder) == ("", "")


@pytest.mark.parametrize(
    ("command", "read", "changed"),
    [
        ("cat < a.py", "a.py", ""),
        ("echo a.py > b.py", "", "b.py"),
        ("cat a.py 2>&1 b.py", "a.py b.py", ""),
        ("cat ./a.py", "a.py", ""),
        ("cat src/../a.py", "a.py", ""),
        ("X=a.py cat X=b.py", "", ""),
        ("cat a.py && rm a.py", "", "a.py"),
        ("cat src", "", ""),
        ("cd src && cat c.py && cat ../a.py", "src/c.py a.py", ""),
        ("cd; cat a.py", "a.py", ""),
        ("cat {folder}/a.py /etc/passwd", "a.py", ""),
        ("cat {folder}-two/a.py", "", ""),
        ("touch noname a.py", "", "a.py"),
    ],
)
def test_files_are_those_of_the_project_that_are_there(folder: Path, command: str, read: str, changed: str):
    beside = folder.with_name(folder.name + "-two")
    beside.mkdir()
    (beside / "a.py").touch()
    (folder / "noname").touch()

    assert files(command.replace("{folder}", str(folder)), folder) == (read, changed)


def test_a_command_without_a_folder_runs_in_the_project(folder: Path):
    called = action.of_command("cat a.py", "", str(folder))

    assert called.files_read == (str(folder / "a.py"),)
    assert called.files == called.files_read
    assert files("cat c.py", folder, str(folder / "src")) == ("src/c.py", "")


def test_files_that_are_changed_come_first(folder: Path):
    assert action.of_command("cat a.py > b.py", str(folder), str(folder)).files == (
        str(folder / "b.py"), str(folder / "a.py")
    )  # fmt: skip


@pytest.mark.parametrize("option", ["-a", "-am", "--all", "-A"])
def test_a_commit_of_everything_stages_its_files(option: str):
    assert action.of_command(f"git commit {option} x", "/p", "/p").stages
    assert not action.of_command(f"git push {option} x", "/p", "/p").stages
    assert not action.of_command(f"hg commit {option} x", "/p", "/p").stages


@pytest.mark.parametrize("command", ["git commit", "git push", "gh pr create", "glab mr create"])
def test_work_is_handed_over_by_these_commands(command: str):
    delivered = action.of_command(f"cd x && {command} -m y", "/p", "/p")

    assert delivered.delivery == command
    assert delivered.is_commit is (command == "git commit")


@pytest.mark.parametrize(
    ("edits", "before", "after"),
    [
        ([], "a", "a"),
        ([FileEdit("a", "b", "")], "a a", "b a"),
        ([FileEdit("a", "b", "", is_everywhere=True)], "a a", "b b"),
        ([FileEdit("a", "b", ""), FileEdit("b", "c", "")], "a", "c"),
        ([FileEdit("a\r\nb", "c\r\nd", "")], "a\r\nb", "c\nd"),
        ([FileEdit("x", "y", "")], "a", None),
        ([FileEdit("", "new", "")], "", "new"),
        ([FileEdit("", "new", "", is_everywhere=True)], "", "new"),
        ([FileEdit("", "new", "")], "a", None),
        ([FileEdit("a", "b", "")], "", None),
        ([FileEdit("a", "b", "", is_patch=True)], "a", None),
    ],
)
def test_edits_are_applied_to_a_text_they_fit(edits: list[FileEdit], before: str, after: str | None):
    assert action.text_after(edits, before) == after


def test_edits_of_a_call_are_for_a_file_or_for_each():
    edits = [FileEdit("a", "", "/p/x"), FileEdit("b", "c", ""), FileEdit("", "d", "/p/y")]

    assert action.edits_of(edits, "/p/x") == edits[:2]
    assert (action.text_removed(edits), action.text_added(edits)) == ("a\nb", "c\nd")
