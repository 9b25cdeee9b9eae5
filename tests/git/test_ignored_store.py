"""A line by which git ignores a store: what is said of it, what is written to undo it, and the merge driver."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from onrecord.errors import BadInput, Unwritable
from onrecord.git import git_files
from onrecord.git.git_files import IgnoreRule
from tests.git_project import GitProject

AGAIN = ("!.claude/", ".claude/*", "!.claude/memory/", "!.claude/memory/**")
AGAIN_TEXT = "`!.claude/` and `.claude/*` and `!.claude/memory/` and `!.claude/memory/**`"


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    return GitProject(tmp_path / "project")


@pytest.mark.parametrize(
    ("rule", "new_lines", "fix"),
    [
        (IgnoreRule(".gitignore", 3, ".claude/"), (".claude/*", "!.claude/memory/"),
         "replace line 3 of .gitignore with `.claude/*` and `!.claude/memory/`; this does it: onrecord init --yes"),
        (IgnoreRule(".gitignore", 3, "**/.claude/**"), (".claude/*", "!.claude/memory/"),
         "replace line 3 of .gitignore with `.claude/*` and `!.claude/memory/`; this does it: onrecord init --yes"),
        (IgnoreRule(".gitignore", 3, "*.json"), AGAIN,
         f"add {AGAIN_TEXT} at the end of .gitignore; this does it: onrecord init --yes"),
        (IgnoreRule("/home/ann/.gitignore", 3, ".claude"), AGAIN,
         f"add {AGAIN_TEXT} at the end of .gitignore; this does it: onrecord init --yes"),
        (IgnoreRule(".gitignore", 3, "/.claude/memory/"), (),
         "delete that line of .gitignore, unless the records are for you alone"),
        (IgnoreRule(".claude/.gitignore", 1, "*"), (),
         "delete that line of .claude/.gitignore, unless the records are for you alone"),
    ],
)  # fmt: skip
def test_the_fix_fits_the_line(rule, new_lines, fix):
    assert (rule.new_lines, rule.fix) == (new_lines, fix)
    assert rule.sentence == (
        f"git ignores .claude/memory/ ({rule.file}, line {rule.line}: `{rule.pattern}`), "
        "so other people do not get these records"
    )


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("a\n.claude/\nb\n", 2, "a\n.claude/*\n!.claude/memory/\nb\n"),
        (".claude/*", 1, ".claude/*\n!.claude/memory/\n"),
        ("*.json\r\n", 1, "*.json\r\n" + "".join(f"{line}\r\n" for line in AGAIN)),
        ("a\n.*\n", 2, "a\n.*\n" + "".join(f"{line}\n" for line in AGAIN)),
    ],
)
def test_the_line_is_found_and_undone(project, before, line, after):
    (project.root / ".gitignore").write_bytes(before.encode())

    rule = git_files.find_ignore_rule(str(project.root))
    assert rule is not None
    assert (rule.file, rule.line) == (".gitignore", line)
    rule.write(str(project.root))

    assert (project.root / ".gitignore").read_bytes() == after.encode()
    assert git_files.find_ignore_rule(str(project.root)) is None


def test_the_wrong_line_was_replaced_below_a_form_feed(project):
    project.write(".gitignore", "*.pyc\n# part\x0c two\u2028\n.claude\nbuild/\n")

    git_files.find_ignore_rule(str(project.root)).write(str(project.root))

    text = (project.root / ".gitignore").read_bytes().decode()
    assert text == "*.pyc\n# part\x0c two\u2028\n.claude/*\n!.claude/memory/\nbuild/\n"
    assert git_files.find_ignore_rule(str(project.root)) is None


def test_the_last_line_got_a_line_feed_that_it_did_not_have(project):
    project.write(".gitignore", ".claude/\npackage.json")

    git_files.find_ignore_rule(str(project.root)).write(str(project.root))

    assert (project.root / ".gitignore").read_bytes() == b".claude/*\n!.claude/memory/\npackage.json"


def test_the_end_of_a_huge_gitignore_was_lost(tmp_path):
    text = "*.tmp\n" * 200_000
    (tmp_path / ".gitignore").write_text(text)

    with pytest.raises(Unwritable, match="more than 1,000,000 bytes"):
        git_files.ensure(str(tmp_path))

    assert (tmp_path / ".gitignore").read_text() == text


def test_a_line_with_colons_and_one_that_takes_back_are_read_right(project):
    project.write("a:1:b/.gitignore", "x\n")
    project.write(".gitignore", "*.js[:o]n\n")
    assert git_files.find_ignore_rule(str(project.root)) == IgnoreRule(".gitignore", 1, "*.js[:o]n")

    project.write(".gitignore", "*.json\n!*.json\n")

    assert git_files.find_ignore_rule(str(project.root)) is None


def test_what_cannot_be_undone_is_put_back_and_said(project):
    project.write(".gitignore", "a\n")
    project.write(".claude/memory/.gitignore", "*\n")
    rule = IgnoreRule(".gitignore", 1, "*.json")

    with pytest.raises(BadInput) as caught:
        rule.write(str(project.root))

    assert caught.value.message == "git would ignore .claude/memory/ by .claude/memory/.gitignore, line 1, all the same"
    assert caught.value.fix == "delete that line of .claude/memory/.gitignore, unless the records are for you alone"
    assert project.read(".gitignore") == "a\n"


def test_a_note_is_for_a_store_of_a_project_alone(project, home):
    project.write(".gitignore", ".claude/\n")
    store = str(project.root / ".claude" / "memory")

    rule = IgnoreRule(".gitignore", 1, ".claude/")
    assert git_files.ignored_note(store) == f"{rule.sentence}: {rule.fix}"
    assert git_files.ignored_note(str(home / ".claude" / "memory")) == ""
    project.write(".gitignore", "")
    assert git_files.ignored_note(store) == ""


def test_outside_a_clone_nothing_is_ignored(tmp_path):
    (tmp_path / ".gitignore").write_text("*\n")

    assert git_files.is_clone(str(tmp_path)) is False
    assert git_files.find_ignore_rule(str(tmp_path)) is None


def test_both_files_have_the_lines_that_a_store_needs(tmp_path):
    git_files.ensure(str(tmp_path))

    assert (tmp_path / ".gitattributes").read_text() == "index.md merge=union\n*/*.json merge=onrecord\n"
    (tmp_path / ".gitattributes").write_text("index.md merge=ours\n")
    assert git_files.missing(str(tmp_path)) == [".gitattributes"]
    assert git_files.ensure(str(tmp_path)) == [".gitattributes"]
    assert (tmp_path / ".gitattributes").read_text() == "index.md merge=ours\n*/*.json merge=onrecord\n"


def test_what_cannot_be_written_whole_is_put_back(tmp_path):
    (tmp_path / ".gitattributes").mkdir()
    with pytest.raises(Unwritable) as caught:
        git_files.ensure(str(tmp_path))
    assert caught.value.fix == f"move {tmp_path / '.gitattributes'} away"
    assert not (tmp_path / ".gitignore").exists()


def test_the_driver_is_registered_once_and_another_one_is_kept(project, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name == "onrecord" else None)
    root, command = str(project.root), "onrecord merge-driver %O %A %B %L %P"

    assert git_files.register_driver(root) == (
        f"registered the merge driver: git config merge.onrecord.driver '{command}'"
    )
    assert git_files.register_driver(root) == "the merge driver was registered already"
    assert git_files.merge_driver(root) == command
    assert git_files.merge_driver(root, "other") == ""
    assert project.git("config", "merge.onrecord.name") == "Onrecord: records merged field by field"

    project.git("config", "merge.onrecord.driver", f"/old/{command}")
    assert git_files.register_driver(root).startswith("registered")
    project.git("config", "merge.onrecord.driver", "other %O")
    assert git_files.register_driver(root) == "git has another driver for records and keeps it: other %O"


def test_a_driver_needs_a_clone(tmp_path):
    with pytest.raises(BadInput) as caught:
        git_files.register_driver(str(tmp_path))

    assert (caught.value.message, caught.value.fix) == (
        f"{tmp_path} is not a git clone", "git init; onrecord init --merge-driver",
    )  # fmt: skip


def test_a_git_that_refuses_or_does_not_answer_is_named(project, monkeypatch):
    (project.root / ".git" / "config.lock").write_text("")
    with pytest.raises(Unwritable) as refused:
        git_files.register_driver(str(project.root))
    monkeypatch.setattr(git_files, "_GIT_SECONDS", -1)
    monkeypatch.setattr(git_files, "is_clone", lambda root: True)
    monkeypatch.setenv("PATH", str(project.root))
    with pytest.raises(Unwritable) as silent:
        git_files.merge_driver(str(project.root))

    assert refused.value.message.startswith("git config failed: exit code ")
    assert refused.value.fix == "check the permissions of .git/config"
    assert (silent.value.message, silent.value.fix) == (
        "git did not answer: git was not found", "try again, or without --merge-driver",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("onrecord", ""),
        ("/gone/python /gone/onrecord", "/gone/python"),
        ("{python} /gone/onrecord", "/gone/onrecord"),
        ("{python} -m onrecord", ""),
        ("{python} {python}", ""),
        ("gone-program", "gone-program"),
        ("'open", ""),
    ],
)
def test_a_program_of_our_driver_that_was_deleted_is_named(monkeypatch, command, missing):
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/x" if name == "onrecord" else which(name))
    whole = f"{command.format(python=shlex.quote(sys.executable))} merge-driver %O %A %B %L %P"

    assert git_files.missing_program(whole) == missing
    assert git_files.missing_program("/gone/other %O") == ""


def test_our_own_command_is_the_installed_one_or_that_of_the_clone(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/onrecord")
    assert git_files.own_command() == "onrecord"

    monkeypatch.setattr(shutil, "which", lambda name: None)

    script = Path(__file__).parents[2] / "bin" / "onrecord"
    assert git_files.own_command() == f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    monkeypatch.setattr(git_files.paths, "clone", lambda: "/gone")
    assert git_files.own_command() == f"{shlex.quote(sys.executable)} -m onrecord"
