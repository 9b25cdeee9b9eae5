"""Anchors are taken from real files and real repositories, and name content as git does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from onrecord.errors import UnsafePath
from onrecord.freshness import anchors, project_files
from onrecord.git import work_tree
from onrecord.git.repository import find
from onrecord.project import Project
from onrecord.record.memory import Anchor, Memory
from onrecord.settings import load_settings
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests import cost
from tests.git_project import GitProject

NOW = "2026-03-02T09:00:00Z"
DECISION = {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    git_project = GitProject(tmp_path / "project")
    git_project.write("src/auth.py", "def login():\n    return 1\n\n\ndef logout():\n    return 2\n")
    git_project.commit()
    return git_project


def writer_of(project: GitProject, now: str = NOW) -> Writer:
    root = str(project.root / ".claude" / "memory")
    return Writer(Store(root), load_settings(root), now)


def a_decision(*files: str) -> Memory:
    return Memory(
        "decision", "use-x", "Use X", DECISION, tags=("x",), created_at=NOW, updated_at=NOW, related_files=files
    )


@pytest.mark.parametrize("data", [b"", b"one\n", b"\x00\xff" * 1000, "größe\r\n".encode()])
def test_a_blob_id_is_the_one_git_gives(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)

    output = subprocess.run(
        ["git", "hash-object", "--no-filters", str(file)], check=True, capture_output=True, text=True, timeout=120
    )

    assert work_tree.blob_id(data) == output.stdout.strip()


def test_a_blob_id_of_64_digits_is_the_one_a_sha256_repository_gives(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(tmp_path)], check=True, timeout=120)
    (tmp_path / "file").write_text("one\n")

    output = subprocess.run(
        ["git", "-C", str(tmp_path), "hash-object", "file"], check=True, capture_output=True, text=True, timeout=120
    ).stdout.strip()

    assert work_tree.blob_id(b"one\n", 64) == output


def test_line_endings_do_not_change_what_content_is() -> None:
    assert work_tree.has_id(b"a\r\nb\r\n", work_tree.blob_id(b"a\nb\n"))
    assert work_tree.has_id(b"a\nb\n", work_tree.blob_id(b"a\r\nb\r\n"))
    assert not work_tree.has_id(b"a\nc\n", work_tree.blob_id(b"a\r\nb\r\n"))


def test_saving_anchors_each_related_file(project: GitProject) -> None:
    entry = writer_of(project).save(a_decision("src/auth.py", "./src/auth.py"))

    assert entry.memory.related_files == ("src/auth.py",)
    assert entry.memory.anchors == (
        Anchor(
            "src/auth.py",
            blob=project.git("hash-object", "src/auth.py"),
            commit=project.git("rev-parse", "HEAD"),
            date=NOW,
        ),
    )


def test_a_file_may_be_named_with_the_symbol_or_lines_meant(project: GitProject) -> None:
    entry = writer_of(project).save(a_decision("src/auth.py#login", "src/auth.py#L5-L6"))

    assert entry.memory.related_files == ("src/auth.py",)
    assert [(anchor.symbol, bool(anchor.block)) for anchor in entry.memory.anchors] == [
        ("login", True),
        ("L5-L6", True),
    ]


def test_an_absolute_path_in_the_project_is_made_relative(project: GitProject) -> None:
    entry = writer_of(project).save(a_decision(str(project.root / "src" / "auth.py")))

    assert entry.memory.related_files == ("src/auth.py",)


def test_without_git_a_content_hash_stands_in(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")

    (anchor,) = anchors.add_missing(a_decision("notes.txt"), str(tmp_path), NOW).anchors

    assert (anchor.blob, len(anchor.hash), anchor.commit) == ("", 32, "")


def test_files_that_are_not_the_projects_are_named_but_not_anchored(project: GitProject, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret\n")
    (project.root / "link").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(project.root / "pipe")
    (project.root / "large").write_bytes(b"x" * (project_files.MAX_FILE_BYTES + 1))
    names = ("../outside.txt", str(tmp_path / "outside.txt"), "link", "pipe", "large", "src", "gone.py", "nul\0byte")

    entry = anchors.add_missing(a_decision(*names), str(project.root), NOW)

    assert entry.related_files == names
    assert entry.anchors == ()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a\0b", "pipe", "link"])
def test_content_outside_the_project_is_refused(project: GitProject, path: str) -> None:
    os.mkfifo(project.root / "pipe")
    (project.root / "link").symlink_to("/etc/hostname")

    with pytest.raises(UnsafePath):
        project_files.read(str(project.root), path)


def test_an_update_of_the_content_anchors_anew_and_one_of_the_tags_does_not(project: GitProject) -> None:
    writer = writer_of(project)
    saved = writer.save(a_decision("src/auth.py"))
    project.write("src/auth.py", "changed\n")

    tagged = writer_of(project, "2026-04-01T00:00:00Z").update(saved.path, {"tags": ["y"]}, saved.hash)
    restated = writer_of(project, "2026-04-02T00:00:00Z").update(
        tagged.path, {"content": {"decision": "e"}}, tagged.hash
    )

    assert tagged.memory.anchors == saved.memory.anchors
    assert restated.memory.anchors[0].blob == work_tree.blob_id(b"changed\n")
    assert restated.memory.anchors[0].date == "2026-04-02T00:00:00Z"


def test_an_update_while_a_file_is_gone_keeps_its_anchor(project: GitProject) -> None:
    saved = writer_of(project).save(a_decision("src/auth.py"))
    (project.root / "src/auth.py").unlink()

    restated = writer_of(project).update(saved.path, {"content": {"decision": "e"}}, saved.hash)

    assert restated.memory.anchors == saved.memory.anchors


def test_a_file_taken_off_a_record_loses_its_anchor(project: GitProject) -> None:
    saved = writer_of(project).save(a_decision("src/auth.py"))

    edited = writer_of(project).update(saved.path, {"related_files": None}, saved.hash, may_shrink=True)

    assert (edited.memory.related_files, edited.memory.anchors) == ((), ())


def test_the_users_own_store_is_tied_to_no_files(home: Path) -> None:
    assert anchors.project_root(str(home / ".claude" / "memory")) == ""


def test_the_project_of_a_store_is_two_folders_up(project: GitProject) -> None:
    assert anchors.project_root(Project(str(project.root)).store.root) == str(project.root.resolve())


class TestHead:
    def test_of_a_branch(self, project: GitProject) -> None:
        assert self.head(project.root) == project.git("rev-parse", "HEAD")

    def test_of_packed_refs(self, project: GitProject) -> None:
        project.git("pack-refs", "--all")

        assert not (project.root / ".git/refs/heads/main").exists()
        assert self.head(project.root) == project.git("rev-parse", "HEAD")

    def test_detached(self, project: GitProject) -> None:
        project.git("checkout", "-q", "--detach")

        assert self.head(project.root) == project.git("rev-parse", "HEAD")

    def test_of_a_linked_worktree(self, project: GitProject, tmp_path: Path) -> None:
        project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        (tmp_path / "side" / "new.txt").write_text("x")
        command = ["git", "-C", str(tmp_path / "side"), "-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run([*command, "add", "-A"], check=True, timeout=120)
        subprocess.run([*command, "commit", "-qm", "side"], check=True, timeout=120)

        assert self.head(tmp_path / "side") == project.git("rev-parse", "side")
        assert self.head(tmp_path / "side") != project.git("rev-parse", "main")

    def test_before_the_first_commit(self, tmp_path: Path) -> None:
        GitProject(tmp_path / "empty")

        assert self.head(tmp_path / "empty") == ""

    def test_that_leads_out_of_the_repository_or_in_a_circle(self, project: GitProject) -> None:
        for hostile in ("ref: ../../../etc/passwd\n", "ref: HEAD\n", "--upload-pack=evil\n", "\0"):
            (project.root / ".git/HEAD").write_text(hostile)

            assert self.head(project.root) == ""

    def head(self, root: Path) -> str:
        repository = find(str(root))
        assert repository is not None
        return repository.head


PYTHON = """import os

LIMIT = 30


@cached
def login(
    name,
):
    return name


class Session:
    def renew(self):
        return 1

    def close(self):
        return 2


def logout(): return 3
"""
GO = """package auth

func (s *Server) Login(w http.ResponseWriter) {
\tw.Write(nil)
}

type Token struct {
\tID string
}
"""
SCRIPT = """export const login = async (name) => {
  return name;
};

export class Session
{
  renew() {
    return 1;
  }
}

function logout() { return 2 }
"""


@pytest.mark.parametrize(
    ("text", "symbol", "inside", "outside"),
    [
        (PYTHON, "login", "return name", "return 1"),
        (PYTHON, "login", "@cached", "LIMIT = 30"),
        (PYTHON, "LIMIT", "LIMIT = 30", "return name"),
        (PYTHON, "Session", "return 2", "return 3"),
        (PYTHON, "Session.renew", "return 1", "return 2"),
        (PYTHON, "logout()", "return 3", "return 2"),
        (GO, "Login", "w.Write(nil)", "ID string"),
        (GO, "Token", "ID string", "w.Write(nil)"),
        (SCRIPT, "login", "return name", "return 1"),
        (SCRIPT, "Session", "return 1", "return 2"),
        (SCRIPT, "Session::renew", "return 1", "return 2"),
        (SCRIPT, "logout", "return 2", "return 1"),
        (PYTHON, "L3", "LIMIT = 30", "import os"),
        (PYTHON, "7-10", "name,", "return 1"),
    ],
)
def test_a_symbol_changes_with_its_own_text_only(text: str, symbol: str, inside: str, outside: str) -> None:
    mark = project_files.block_id(text.encode(), symbol)
    elsewhere = text.replace(outside, outside + " + 40")
    within = text.replace(inside, inside + " + 40", 1)

    assert mark
    assert project_files.has_block(("# a new first line\n" + elsewhere).encode(), symbol, mark)
    assert project_files.has_block(elsewhere.replace("\n", "\r\n").encode(), symbol, mark)
    assert not project_files.has_block(within.encode(), symbol, mark)


def test_a_symbol_that_is_not_there_has_no_mark() -> None:
    assert project_files.block_id(PYTHON.encode(), "nowhere") == ""
    assert project_files.block_id(PYTHON.encode(), "L900-L910") == ""
    assert project_files.block_id(b"\xff\xfe\x00" * 50, "x") == ""


def test_hostile_symbols_and_lines_end_soon() -> None:
    long = ("var " * 500_000).encode()

    assert project_files.block_id(long, "x" * 200) == ""
    assert project_files.block_id(long, "(((a+)+)+)$") == ""
    assert project_files.block_id(b"a\n" * 1_000_000, "L1-L500") != ""
    assert not project_files.has_block(b"a\n" * 1_000_000, "L1-L500", "0" * 32)


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        ("} def f {", "f"),
        ("} def f {", "f.f"),
        ("} def f {", "f.f.f.f.f.f.f.f"),
        ("def " * 90 + "f", "f"),
        ("f " * 150, "f"),
        ("f" + " " * 300 + "f", "f"),
        ("f." * 150, "f"),
        ("f<" * 150, "f"),
        (" " * 300 + "f f f(", "f"),
        ("@a", "f"),
        ("x", "L5-L300"),
        ("", "f"),
    ],
)
def test_the_work_for_a_symbol_does_not_grow_with_the_square_of_the_file(line: str, symbol: str) -> None:
    small, large = (f"{line}\n".encode() * (size // (len(line) + 1)) for size in (62_500, 1_000_000))

    # Four steps of doubling: linear work grows by 16, its square by 256.
    cost.assert_at_most(
        40,
        lambda: project_files.has_block(small, symbol, "0" * 32),
        lambda: project_files.has_block(large, symbol, "0" * 32),
    )


def test_a_file_of_definitions_in_each_other_has_no_block(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("} def f {\n" * 10_000)

    anchor = anchors.take(str(tmp_path), "deep.py", "f", None, NOW)

    assert anchor is not None and (anchor.symbol, anchor.block) == ("f", "")
    assert project_files.block_id(b"} def f {\n" * 10_000, "f") == ""
    assert project_files.block_id(b"def f():\n    pass\n" * 50, "f") != ""


@pytest.mark.parametrize(("moved", "is_there"), [(0, True), (-3, True), (900, True), (30_000, True)])
def test_lines_that_moved_are_found_again(moved: int, is_there: bool) -> None:
    text = [f"line {number}" for number in range(40)]
    block = project_files.block_id("\n".join(text).encode(), "L10-L12")
    shifted = text[-moved:] if moved < 0 else ["x"] * moved + text

    assert project_files.has_block("\n".join(shifted).encode(), "L10-L12", block) is is_there
