"""What is read of a project's files, and which lines are the definition of a name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord import coldstart
from onrecord.errors import UnsafePath
from onrecord.freshness import project_files
from onrecord.freshness.check import IndexedAnchor
from onrecord.git import work_tree


def block(text: str, symbol: str) -> str:
    """Return the lines of `text` that `symbol` refers to, found by their hash among all runs of lines."""
    lines = [line.rstrip() for line in text.split("\n")]
    block_id = project_files.block_id(text.encode(), symbol)
    runs = ("\n".join(lines[start:end]) for start in range(len(lines)) for end in range(start + 1, len(lines) + 1))
    return next((run for run in runs if coldstart.content_hash(run.encode()) == block_id), "")


@pytest.mark.parametrize(
    ("path", "is_inside"),
    [
        ("a.py", True), ("a/b.py", True), ("..a/b..", True), (".../x", True), ("a b", True), ("a\udcffb", True),
        ("", False), ("a\0b", False), ("/a", False), ("..", False), ("../a", False), ("a/../b", False),
        ("a/..", False), ("\ud800", False),
    ],
)  # fmt: skip
def test_a_path_is_inside_if_it_is_relative_and_never_leads_up(path: str, is_inside: bool) -> None:
    assert project_files.is_lexically_inside(path) is is_inside


def test_a_path_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path.parent)

    def refusal(path: str) -> tuple[str, str]:
        with pytest.raises(UnsafePath) as error:
            project_files.read(str(tmp_path), path)
        return error.value.message, error.value.fix

    outside = "name a file of the project, relative to it"
    assert refusal("../x") == ("'../x' leads out of the project", outside)
    assert refusal("link/x") == ("'link/x' leads out of the project", outside)
    readable = "name a readable file of the project"
    assert refusal("folder") == ("'folder' cannot be read: not a regular file", readable)
    assert project_files.read(str(tmp_path), "none") is None
    assert project_files.read(str(tmp_path), "file/below") is None

    def fail(path: str, *words: object) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("onrecord.files.read", fail)
    assert refusal("file") == ("'file' cannot be read: Permission denied", readable)


def test_a_file_is_the_same_by_its_content_or_by_its_block() -> None:
    def anchor(symbol: str = "", block: str = "") -> IndexedAnchor:
        return IndexedAnchor("a.py", work_tree.blob_id(b"def f(): pass\n"), "", "", symbol, block)

    mark = project_files.block_id(b"def f(): pass\n", "f")

    assert project_files.is_same(b"def f(): pass\n", anchor())
    assert not project_files.is_same(b"x = 1\ndef f(): pass\n", anchor())
    assert not project_files.is_same(b"x = 1\ndef f(): pass\n", anchor("f"))
    assert project_files.is_same(b"x = 1\ndef f(): pass\n", anchor("f", mark))
    assert not project_files.is_same(b"x = 1\ndef f(): return\n", anchor("f", mark))
    large = b"def f(): pass\n" + b"#" * 2_000_000
    assert not project_files.is_same(large, anchor("f", mark))
    assert not project_files.is_same(large, anchor()._replace(id=work_tree.blob_id(large)))


@pytest.mark.parametrize("word", project_files._KEYWORDS)
def test_a_name_after_any_of_the_keywords_is_a_definition(word: str) -> None:
    assert block(f"use(name)\n{word} name\nend\nname()\n", "name") == f"{word} name\nend"


@pytest.mark.parametrize(
    ("line", "is_definition"),
    [
        ("name = 1", True), ("  name = 1", True), ("export name = 1", True), ("pub name: u8", True),
        ("this.name = 1", True), ("a.b.name = 1", True), ("'name': 1", True), ('"name" = 1', True),
        ("name := 1", True), ("name: int = 1", True), ("name:", True), ("$x.name=1", True),
        ("name == 1", False), ("name::other", False), ("other = name", False), ("namesake = 1", False),
        ("name", False), ("if name = 1", False),
        ("name() {", True), ("static void name(int a,", True), ("List<int>& name<T>(T t) {", True),
        ("name(1);", False), ("return x.name()", False), ("names() {", False), ("name(a; b", False),
        ("def namesake():", False), ("def $name():", False), ("(def name)", True), ("undef name", False),
        ("let other = name", False), ("DEF NAME", True), ("def other; name", False), ("def other { name", False),
        ("x; def name", True),
    ],
)  # fmt: skip
def test_a_line_defines_a_name_or_only_mentions_it(line: str, is_definition: bool) -> None:
    assert bool(project_files.block_id(line.encode(), "name")) is is_definition


def test_the_most_reliable_form_of_a_definition_counts() -> None:
    method, assignment, keyword = "name(a) {\n}", "name = 1", "def name():\n    pass"

    assert block(f"{method}\n{assignment}\n{keyword}\n", "name") == keyword
    assert block(f"{method}\n{assignment}\n", "name") == assignment
    assert block(f"{method}\n", "name") == method


@pytest.mark.parametrize(
    ("text", "definition"),
    [
        ("def f():\n    a\n\n    b\n\nx = 1\n", "def f():\n    a\n\n    b"),
        ("def f():\n    a\n\n\n", "def f():\n    a"),
        ("  def f():\n    a\n  x = 1\n", "  def f():\n    a"),
        ("    def f():\n        a\n}\n", "    def f():\n        a"),
        ("    def f() {\n        a\n    }\n    b\n", "    def f() {\n        a\n    }"),
        ("function f(\n  a,\n) {\n  b\n}\nc\n", "function f(\n  a,\n) {\n  b\n}"),
        ("const f = (\n  a\n) =>\n  b\nc\n", "const f = (\n  a\n) =>\n  b"),
        ("const f = [\n  a\n] =\n  b\nc\n", "const f = [\n  a\n] =\n  b"),
        ("class f\n{\n  a\n}\nb\n", "class f\n{\n  a\n}"),
        ("def f\n  a\nend\nb\n", "def f\n  a\nend"),
        ("def f\n  a\nend.freeze\nb\n", "def f\n  a\nend.freeze"),
        ("def f\n  a\nending\n", "def f\n  a"),
        ("def f\n  a\nend_of\n", "def f\n  a"),
        ("def f\n  a\nend1\n", "def f\n  a"),
        ("@a\n@b\ndef f():\n    c\n", "@a\n@b\ndef f():\n    c"),
        ("#[a]\nfn f() {\n}\n", "#[a]\nfn f() {\n}"),
        ("  @a\ndef f():\n    c\n", "def f():\n    c"),
        ("# a\ndef f():\n    c\n", "def f():\n    c"),
        ("def f(): a", "def f(): a"),
    ],
)
def test_the_lines_of_a_definition(text: str, definition: str) -> None:
    assert block(text, "f") == definition


def test_all_definitions_of_a_name_count_together() -> None:
    text = "def f(a):\n    1\nx\ndef f(b):\n    2\n"
    mark = project_files.block_id(text.encode(), "f")

    assert project_files.has_block(b"y\n" + text.encode(), "f", mark)
    assert mark == project_files.block_id(text.replace("x\n", "").encode(), "f")
    for old in "12":
        assert not project_files.has_block(text.replace(old, "3").encode(), "f", mark)


@pytest.mark.parametrize(
    ("symbol", "definition"),
    [
        ("A.f", "  def f():\n    1"),
        ("B.f", "  def f():\n    2"),
        ("A::f()", "  def f():\n    1"),
        (" B.f ", "  def f():\n    2"),
        ("B", "class B:\n  def f():\n    2"),
        ("A.g", ""),
        (".f", ""),
        ("C.f", ""),
    ],
)
def test_a_dotted_name_is_looked_up_inside_the_first_part(symbol: str, definition: str) -> None:
    assert block("class A:\n  def f():\n    1\nclass B:\n  def f():\n    2\n", symbol) == definition


@pytest.mark.parametrize(
    ("symbol", "part"),
    [("L2", "b"), ("2-3", "b\nc"), ("L2–L3", "b\nc"), ("L1-L9", "a\nb\nc\n"), ("L4", ""), ("L5", "")],
)
def test_a_range_of_lines_is_a_block(symbol: str, part: str) -> None:
    assert block("a  \nb\r\nc\n", symbol) == part


@pytest.mark.parametrize("above", range(-2, 4))
def test_lines_are_found_wherever_they_moved(above: int) -> None:
    text = "a\nb\nc\nd\ne"
    mark = project_files.block_id(text.encode(), "L3-L4")
    moved = "\n".join(["x"] * above + text.split("\n")[max(-above, 0) :])

    assert project_files.has_block(moved.encode(), "L3-L4", mark)
    assert not project_files.has_block(moved.replace("d", "D").encode(), "L3-L4", mark)


def test_lines_of_a_file_that_is_now_shorter_than_the_way_they_moved_are_found() -> None:
    mark = project_files.block_id(b"a\nb\nc\nd\ne", "L3-L4")

    assert project_files.has_block(b"c\nd", "L3-L4", mark)
    assert project_files.has_block(b"c\nd\ne", "L3-L4", mark)
    assert not project_files.has_block(b"c", "L3-L4", mark)
    assert not project_files.has_block(b"", "L3-L4", mark)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(UnsafePath, match="'pipe' cannot be read: "):
        project_files.read(str(tmp_path), "pipe")
