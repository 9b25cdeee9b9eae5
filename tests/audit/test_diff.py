"""Diffs: what they add and remove, whatever git or a stranger wrote."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st

from onrecord import files
from onrecord.audit import diff
from onrecord.errors import BadInput, Unwritable
from onrecord.git import repository
from tests.git_project import GitProject
from tests.time_limit import at_most


def files_of(text: str) -> dict[str, tuple[list[tuple[int, str]], list[str]]]:
    return {
        file.path: ([tuple(line) for line in file.lines.added], list(file.lines.removed))
        for file in diff.parse(text).files
    }


HUNK = """diff --git a/src/a.ts b/src/a.ts
index 1111111..2222222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -3,2 +3,3 @@ function f() {
-old
 same
+new
+--- not a header
\\ No newline at end of file
"""


def test_lines_have_their_numbers():
    assert files_of(HUNK) == {"src/a.ts": ([(4, "new"), (5, "--- not a header")], ["old"])}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('--- "a/caf\\303\\251.txt"\n+++ "b/caf\\303\\251.txt"\n@@ -0,0 +1 @@\n+x\n', "café.txt"),
        ('--- /dev/null\n+++ "b/a\\tb\\"c.txt"\n@@ -0,0 +1 @@\n+x\n', 'a\tb"c.txt'),
        ("--- a/with space.txt\t\n+++ b/with space.txt\t\n@@ -0,0 +1 @@\n+x\n", "with space.txt"),
        ("--- plain.txt\t2026-01-01\n+++ plain.txt\t2026-01-02\n@@ -1 +1 @@\n-y\n+x\n", "plain.txt"),
    ],
)
def test_odd_names_are_read(text, path):
    (file,) = diff.parse(text).files

    assert file.path == path
    assert [line.text for line in file.lines.added] == ["x"]


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../../b", ".git/config", ""])
def test_no_path_leads_out_of_the_project(path):
    text = f"--- a/x\n+++ {path}\n@@ -0,0 +1 @@\n+x\n"

    assert all(".." not in file.path and not file.path.startswith("/") for file in diff.parse(text).files)
    assert ".git/config" not in files_of(text)


def test_what_has_no_lines_is_touched_too():
    text = (
        "diff --git a/old.txt b/new.txt\nsimilarity index 100%\nrename from old.txt\nrename to new.txt\n"
        "diff --git a/pic.png b/pic.png\nindex 1..2 100644\nBinary files a/pic.png and b/pic.png differ\n"
        "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/sub b/sub\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"
    )

    files = diff.parse(text).files

    assert [(file.path, file.old_path, file.is_deleted) for file in files] == [
        ("new.txt", "old.txt", False),
        ("pic.png", "", False),
        ("gone.txt", "", True),
        ("sub", "", False),
    ]


COMBINED = """diff --cc src/a.ts
index 1111111,2222222..0000000
--- a/src/a.ts
+++ b/src/a.ts
@@@ -1,4 -1,3 +1,5 @@@
  same
- ours, lost
 -theirs, lost
+ from theirs
 +from ours
++new
 +--- from ours
diff --cc pic.png
index 1111111,2222222..3333333
Binary files differ
diff --combined plain.ts
index 1111111,2222222..3333333
--- a/plain.ts
+++ b/plain.ts
@@@ -7,0 -7,0 +8,1 @@@ f() {
++last
"""


def test_a_merge_is_compared_with_its_first_parent():
    assert files_of(COMBINED) == {
        "src/a.ts": ([(2, "from theirs"), (4, "new")], ["ours, lost"]),
        "pic.png": ([], []),
        "plain.ts": ([(8, "last")], []),
    }
    assert diff.parse(COMBINED).notes == ()


@pytest.mark.parametrize("line", ["@@@ -1 +1 @@@", f"{'@' * 200} -1 +1 @@", "@@ x @@", "* Unmerged path a.ts"])
def test_a_part_that_cannot_be_read_is_told(line):
    (note,) = diff.parse(f"--- a/a.ts\n+++ b/a.ts\n{line}\n+x\n").notes

    assert note.startswith("1 part of the diff could not be read")


def test_crlf_and_huge_lines():
    text = f"--- a/a\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\r\n+{'x' * 1_000_000}\n"

    (file,) = diff.parse(text).files

    assert file.lines.added[0].text == "one"
    assert len(file.lines.added[1].text) == 2_000


@given(
    st.lists(
        st.sampled_from(HUNK.split("\n"))
        | st.text('+-@ ab,0123456789\\"/\t', max_size=20)
        | st.sampled_from(
            ["@@ -1,99999999999 +1,2 @@", "@@ -x +y @@", "@@@ -1 -1 +1 @@@", "diff --git", "+++ ", "--- "]
        ),
        max_size=40,
    ).map("\n".join)
)
def test_any_text_is_read_within_bounds(text):
    for file in diff.parse(text).files:
        assert file.path
        assert not os.path.isabs(file.path)
        assert all("\n" not in line.text for line in file.lines.added)


def test_a_diff_of_a_hundred_thousand_lines():
    lines = "".join(f"+line {number} of moment text\n" for number in range(100_000))

    with at_most(30):
        change_set = diff.parse(f"--- a/a\n+++ b/a\n@@ -0,0 +1,100000 @@\n{lines}")

    assert change_set.line_count == 100_000
    assert change_set.notes == ()


def test_a_longer_diff_is_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr(diff, "MAX_LINES", 5)

    change_set = diff.parse("--- a/a\n+++ b/a\n@@ -0,0 +1,9 @@\n" + "+x\n" * 9)

    assert change_set.notes == ("only the first 5 lines of the diff were read",)


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    project = GitProject(tmp_path / "repo")
    project.write("src/a.ts", "one\ntwo\n")
    project.write("gone.ts", "x\n")
    project.write("moved.ts", "".join(f"line {n}\n" for n in range(30)))
    project.commit("first")
    return project


def changed(change_set: diff.ChangeSet) -> dict[str, list[str]]:
    return {file.path: [line.text for line in file.lines.added] for file in change_set.files}


def test_the_working_tree_against_a_commit(project):
    first = project.git("rev-parse", "HEAD")
    project.write("src/a.ts", "one\r\ntwo\r\nthree\r\n")
    project.write("src/new.ts", "brand new")
    (project.root / "gone.ts").unlink()
    (project.root / "pic.png").write_bytes(b"\x89PNG\0\0")
    os.symlink("/etc/passwd", project.root / "link")
    repo = repository.find(str(project.root))

    change_set = diff.work_tree(repo, str(project.root), repo.head)

    assert changed(change_set) == {
        "src/a.ts": ["three"], "gone.ts": [], "src/new.ts": ["brand new"], "pic.png": [], "link": [],
    }  # fmt: skip
    assert [file.path for file in change_set.files if file.is_deleted] == ["gone.ts"]
    project.commit("second")
    project.write("src/a.ts", "four\n")
    assert changed(diff.work_tree(repo, str(project.root), first))["src/a.ts"] == ["four"]


def test_nothing_seemed_to_have_changed_where_git_could_not_read_its_index(project):
    project.write("src/a.ts", "two\n")
    (project.root / ".git" / "index").write_bytes(b"garbage" * 50)
    repo = repository.find(str(project.root))

    with pytest.raises(BadInput, match="git could not compare: git ls-files"):
        diff.work_tree(repo, str(project.root), repo.head)


def test_what_is_staged_and_what_commits_changed(project):
    repo = repository.find(str(project.root))
    project.git("mv", "moved.ts", "there.ts")
    project.write("src/a.ts", "one\nstaged\n")
    project.git("add", "-A")
    project.write("src/a.ts", "one\nlater\n")

    staged = diff.staged(repo, str(project.root))
    project.commit("second")
    between = diff.between(repo, str(project.root), diff.commit_of(repo, "HEAD~1"), diff.commit_of(repo, "HEAD"))

    assert changed(staged) == {"src/a.ts": ["staged"], "there.ts": []}
    assert changed(between) == {"src/a.ts": ["later"], "there.ts": []}
    assert [file.old_path for file in staged.files] == ["", "moved.ts"]


def test_renamed_files_in_the_working_tree(project):
    for name in ("one", "two"):
        project.write(f"lib/{name}/same.ts", "\n  \nshared licence\nand code\n\n")
    project.commit("second")
    text = (project.root / "moved.ts").read_text()
    (project.root / "moved.ts").unlink()
    project.write("there.ts", text.replace("line 7\n", "line seven\n").replace("\n", "\r\n"))
    (project.root / "lib").rename(project.root / "packages")
    (project.root / "gone.ts").unlink()
    project.write("other.ts", "another file\n")
    repo = repository.find(str(project.root))

    files = diff.work_tree(repo, str(project.root), repo.head).files

    found = {file.path: (file.old_path, [line.text for line in file.lines.added], file.is_deleted) for file in files}
    assert found == {
        "there.ts": ("moved.ts", ["line seven"], False),
        "packages/one/same.ts": ("lib/one/same.ts", [], False),
        "packages/two/same.ts": ("lib/two/same.ts", [], False),
        "gone.ts": ("", [], True),
        "other.ts": ("", ["another file"], False),
    }


def test_a_search_for_renamed_files_ends(project):
    for number in range(150):
        project.write(f"old/{number}.ts", "".join(f"old {number} {line}\n" for line in range(200)))
    project.commit("second")
    for number in range(150):
        (project.root / f"old/{number}.ts").unlink()
        project.write(f"new/{number}.ts", "".join(f"new {number} {line}\n" for line in range(200)))
    repo = repository.find(str(project.root))

    with at_most(30):
        assert len(diff.work_tree(repo, str(project.root), repo.head).files) == 300


def test_a_project_in_a_folder_of_the_repository(project):
    project.write("src/a.ts", "one\ntwo\nthree\n")
    project.write("gone.ts", "y\n")
    repo = repository.find(str(project.root / "src"))

    assert changed(diff.work_tree(repo, str(project.root / "src"), repo.head)) == {"a.ts": ["three"]}
    project.git("add", "-A")
    assert changed(diff.staged(repo, str(project.root / "src"))) == {"a.ts": ["three"]}


@pytest.mark.parametrize("name", ["--output=x", "nothing", "", "-", "HEAD\0"])
def test_what_is_no_commit_is_refused(project, name):
    with pytest.raises(BadInput):
        diff.commit_of(repository.find(str(project.root)), name)
    assert not (project.root / "x").exists()


def test_no_program_of_the_repository_is_run(project):
    marks = project.root.parent / "ran"
    script = f"touch {marks}; cat"
    for key in ("diff.evil.command", "diff.evil.textconv", "diff.external", "filter.evil.clean", "core.fsmonitor"):
        project.git("config", key, script)
    project.write(".gitattributes", "*.ts diff=evil filter=evil\n")
    project.write("src/a.ts", "one\nthree\n")
    repo = repository.find(str(project.root))

    diff.work_tree(repo, str(project.root), repo.head)
    diff.staged(repo, str(project.root))
    diff.between(repo, str(project.root), repo.head, repo.head)

    assert not marks.exists()


def test_a_file_that_the_disk_does_not_give_does_not_pass_for_one_without_lines(tmp_path, monkeypatch):
    """The flaw of 0.3.0-dev: `onrecord check` found nothing wrong in it."""
    (tmp_path / "a.py").write_text("eval(x)\n")

    def failing(path, max_bytes):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(files, "read", failing)

    with pytest.raises(Unwritable, match=r"cannot read .*a\.py"):
        diff.whole(str(tmp_path), [str(tmp_path / "a.py")])
