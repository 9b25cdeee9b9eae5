"""The parts of a diff: names in every form, what is deleted or of a store, the notes, and the limits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from onrecord.audit import diff
from onrecord.audit.diff import ChangedFile, ChangeSet
from onrecord.errors import BadInput
from onrecord.git import repository
from onrecord.git.repository import Repository
from onrecord.record.check import FileLines, Line
from tests.git_project import GitProject


def paths(text: str) -> list[str]:
    return [file.path for file in diff.parse(text).files]


def change(old: str, new: str) -> str:
    return f"--- {old}\n+++ {new}\n@@ -1 +1 @@\n-y\n+x\n"


@pytest.mark.parametrize("prefix", ["a/", "b/", "i/", "w/", "c/", "o/", ""])
def test_the_prefix_of_git_is_no_folder(prefix):
    assert paths(change(f"{prefix}src/x", f"{prefix}src/x")) == ["src/x"]


def test_another_letter_is_a_folder():
    assert paths(change("d/src/x", "d/src/x")) == ["d/src/x"]


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        ('"b/\\a\\b\\t\\v\\f\\r\\"\\\\x"', '\a\b\t\v\f\r"\\x'),
        ('"b/\\303\\244\\x"', "ä?"),
        ('"b/\\400"', "\x00"),
        ('"b/x\\', '"b/x\\'),
        ('"', '"'),
        ('"b/ä"', "ä"),
        ('"b/\\12"', "?2"),
    ],
)
def test_a_quoted_name_is_read_with_its_escapes(quoted, name):
    files = diff.parse(change("/dev/null", quoted)).files

    assert [file.path for file in files] == ([] if "\0" in name else [name])


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (change("/dev/null", "b/x"), ("x", True, False, "")),
        (change("a/x", "/dev/null"), ("x", False, True, "")),
        ("diff --git a/x b/x\nnew file mode 100644\n", ("x", True, False, "")),
        ("diff --git a/x b/x\ndeleted file mode 100644\n", ("x", False, True, "")),
        ("diff --git a/x y b/x y\nold mode 100644\n", ("x y", False, False, "")),
        ("diff --git a/x b/y\nrename from x\nrename to y\n", ("y", False, False, "x")),
        ("diff --git a/x b/y\nrename from ../x\nrename to y\n", ("y", False, False, "")),
        ('diff --git a/x b/y\nrename from "\\303\\244"\nrename to y\n', ("y", False, False, "ä")),
        ("diff --cc src/x y\nindex 1..2\n", ("src/x y", False, False, "")),
        ('diff --combined "\\303\\244"\nindex 1..2\n', ("ä", False, False, "")),
        ('diff --git "a/x" "b/x"\nold mode 100644\n', None),
        ("diff --git a/x b/y\nold mode 100644\n", None),
        ("diff -u x y\n", None),
    ],
)
def test_what_happened_to_a_file_is_told_by_its_header(text, file):
    expected = [] if file is None else [file]

    assert [
        (one.path, one.lines.is_new, one.is_deleted, one.old_path) for one in diff.parse(text).files
    ] == expected  # fmt: skip


def test_files_of_a_store_are_listed_and_not_checked_unless_they_are_deleted():
    record = ".claude/memory/decisions/a.json"
    inner = f"web/{record}"

    change_set = diff.parse(change(f"a/{record}", f"b/{record}") + change(f"a/{inner}", f"b/{inner}")
                            + change(f"a/{record}", "/dev/null") + change("a/x", "b/x"))  # fmt: skip

    assert change_set.store_files == (record, inner)
    assert [file.path for file in change_set.files] == ["x"]
    assert (change_set.is_applied, change_set.line_count, change_set.notes) == (False, 1, ())
    assert [diff.is_record(path) for path in (record, inner, "memory/a.json", ".claude/memory")] == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["..", "a/../b", "/x", "a\\..\\b", ".git/config", "a/.git/hooks/x"])
def test_a_name_that_leads_elsewhere_is_passed_over(path):
    assert paths(change("a/x", path)) == []


def test_two_thousand_files_are_read(monkeypatch):
    monkeypatch.setattr(diff, "_MAX_FILES", 2)

    two, three = (diff.parse("".join(change(f"a/{n}", f"b/{n}") for n in range(count))) for count in (1, 3))

    assert (len(two.files), two.notes) == (1, ())
    assert (len(three.files), three.notes) == (2, ("only the first 2 files of the diff were read",))


def test_a_diff_of_as_many_lines_as_are_read_is_whole(monkeypatch):
    text = change("a/x", "b/x").rstrip("\n")
    for limit, notes in ((5, ()), (4, ("only the first 4 lines of the diff were read",))):
        monkeypatch.setattr(diff, "MAX_LINES", limit)
        assert diff.parse(text).notes == notes


@pytest.mark.parametrize(
    ("hunk", "count"),
    [("@@ -1,2 +1,3 @@", 0), ("@@ -x +1 @@", 0), ("@@ -1", 1), ("@@ +1 -1 @@", 1), ("@@@ -1 +1 @@@", 1),
     ("@- -1 +1 @@", 0), ("* Unmerged path x", 1)],
)  # fmt: skip
def test_parts_that_cannot_be_read_are_counted(hunk, count):
    notes = diff.parse(f"--- a/x\n+++ b/x\n{hunk}\n{hunk}").notes if count else diff.parse(f"{hunk}\n").notes

    expected = f"{2 * count} parts of the diff could not be read, such as files not merged yet"
    assert notes == ((expected,) if count else ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12,3", (12, 3)), ("12", (12, 1)), ("12,0", (12, 0)), ("x", (0, 0)), ("1,x", (0, 0)), ("1,", (0, 0)),
     ("123456789,1", (123456789, 1)), ("1234567890,1", (0, 0)), ("1,1234567890", (0, 0)), ("٣", (0, 0)), ("", (0, 0))],
)  # fmt: skip
def test_the_lines_of_a_hunk_are_plain_numbers(text, expected):
    assert diff._range(text) == expected


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    project = GitProject(tmp_path / "repo")
    project.write("src/a.ts", "one\ntwo\n")
    project.commit("first")
    return project


def found(project: GitProject) -> Repository:
    repo = repository.find(str(project.root))
    assert repo is not None
    return repo


def test_records_of_the_working_tree_are_listed_and_binary_files_have_no_lines(project, monkeypatch):
    record = ".claude/memory/decisions/a.json"
    project.write(record, "{}\n")
    (project.root / "near.bin").write_bytes(b"x" * 7_999 + b"\0")
    (project.root / "far.txt").write_bytes(b"x" * 8_000 + b"\0")

    change_set = diff.work_tree(found(project), str(project.root), found(project).head)

    assert change_set.store_files == (record,)
    lines = {file.path: [len(line.text) for line in file.lines.added] for file in change_set.files}
    assert lines == {"near.bin": [], "far.txt": [2_000]}
    assert (change_set.is_applied, change_set.notes) == (True, ())


def test_lines_in_another_encoding_are_compared_too(project):
    first = found(project).head
    (project.root / "old.ts").write_bytes(b"caf\xe9\n")
    second = project.commit("Latin-1")

    (file,) = diff.between(found(project), str(project.root), first, second or found(project).head).files

    assert [line.text for line in file.lines.added] == ["caf\ufffd"]


def test_the_files_of_every_untracked_folder_are_compared(project):
    names = [f"new-{number}/a.ts" for number in range(12)]
    for name in names:
        project.write(name, "x\n")
    inner = project.root / "new-0" / "inner"
    inner.mkdir()
    subprocess.run(("git", "init", "-q", str(inner)), check=True, timeout=60)

    change_set = diff.work_tree(found(project), str(project.root), found(project).head)

    assert (sorted(file.path for file in change_set.files), change_set.notes) == (sorted(names), ())


def test_of_too_many_uncommitted_files_some_are_compared_and_that_is_said(project):
    for number in range(401):
        project.write(f"new/{number}.ts", "x\n")

    change_set = diff.work_tree(found(project), str(project.root), found(project).head)

    assert (len(change_set.files), change_set.notes) == (400, ("only 400 changed files were read",))


def test_so_many_changed_files_are_compared_and_that_is_said(project, monkeypatch):
    monkeypatch.setattr(diff.changes, "MAX_FILES", 2)
    first = found(project).head
    for name in "bcd":
        project.write(f"{name}.ts", "x\n")
    project.commit("second")

    change_set = diff.work_tree(found(project), str(project.root), first)

    assert (len(change_set.files), change_set.notes) == (2, ("only 2 changed files were read",))


def test_a_tree_without_a_commit_and_its_index_are_all_new(tmp_path):
    empty = GitProject(tmp_path / "empty")
    empty.write("a.ts", "x\n")
    empty.git("add", "-A")

    staged = diff.staged(found(empty), str(empty.root))
    changed = diff.work_tree(found(empty), str(empty.root), "")

    for change_set in (staged, changed):
        assert change_set.files == (ChangedFile(FileLines("a.ts", [Line(1, "x")], [], is_new=True)),)


def test_commits_are_named_and_their_parting_found(project):
    first = found(project).head
    project.git("checkout", "-q", "-b", "side")
    project.write("b.ts", "x\n")
    project.commit("side")
    project.git("checkout", "-q", "--orphan", "other")
    project.commit("other")

    def failure(work: object, *words: str) -> tuple[str, str]:
        with pytest.raises(BadInput) as caught:
            work(found(project), *words)
        return caught.value.message, caught.value.fix

    assert diff.merge_base(found(project), "main", "side") == first
    assert failure(diff.merge_base, "main", "other") == (
        "the two commits have no common ancestor here", "fetch more of the history: git fetch --unshallow",
    )  # fmt: skip
    assert failure(diff.commit_of, "nothing") == (
        "'nothing' is neither a file nor a commit", "name a file, a commit, or A..B; list: git log",
    )  # fmt: skip
    message, fix = failure(diff.between, str(project.root), "nothing", "main")
    assert message.startswith("git could not compare: exit code ")
    assert fix == "try git diff, or give its output on standard input"


def test_named_files_count_as_if_all_their_lines_were_added(project, tmp_path):
    full = str(project.root / "src" / "a.ts")
    lines = FileLines("src/a.ts", [Line(1, "one"), Line(2, "two")], [])

    assert diff.whole(str(project.root), [full]) == ChangeSet((ChangedFile(lines),))
    assert list(diff.tracked(str(project.root), ["src/a.ts"])) == [lines._replace(is_new=True)]
    with pytest.raises(BadInput) as caught:
        diff.whole(str(project.root), [str(tmp_path / "x")])
    assert caught.value.message == f"{tmp_path / 'x'} is not in the project {project.root}"
    assert caught.value.fix == "name files of the project"
    assert list(diff.tracked(str(project.root), [os.path.join("..", "x")])) == []


@pytest.mark.parametrize(("same", "is_rename"), [(5, True), (4, False)])
def test_half_of_a_text_must_be_the_same_for_a_renamed_file(project, same, is_rename):
    project.write("old.ts", "".join(f"line {number}\n" for number in range(10)))
    project.commit("second")
    (project.root / "old.ts").unlink()
    project.write("new.ts", "".join(f"{'line' if number < same else 'text'} {number}\n" for number in range(10)))

    files = diff.work_tree(found(project), str(project.root), found(project).head).files

    facts = sorted((file.path, file.old_path, len(file.lines.added)) for file in files)
    assert facts == ([("new.ts", "old.ts", 5)] if is_rename else [("new.ts", "", 10), ("old.ts", "", 0)])
