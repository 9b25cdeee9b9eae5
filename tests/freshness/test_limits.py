"""How much of files, names, histories and differences is read: each limit at its border."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from onrecord.freshness import anchors, check, git_history, project_files
from onrecord.freshness.check import Freshness, IndexedAnchor, Verdict
from onrecord.git import repository
from onrecord.record.memory import Memory
from tests.git_project import GitProject

NOW = "2026-03-01T00:00:00Z"


def anchored(root: Path, *files: str) -> Memory:
    return anchors.add_missing(Memory("decision", "x", "X", {}, related_files=files), str(root), NOW)


def verdict_on(root: Path, record: Memory) -> Verdict:
    return Freshness(str(root), patience=60).check(anchors.to_indexed(record)[0])


def has_symbol(text: str, symbol: str) -> bool:
    return bool(project_files.block_id(text.encode(), symbol))


def test_a_file_of_two_megabytes_is_anchored_and_one_that_grows_beyond_has_changed(tmp_path: Path) -> None:
    (tmp_path / "whole").write_bytes(b"x" * 2_000_000)
    (tmp_path / "larger").write_bytes(b"x" * 2_000_001)
    record = anchored(tmp_path, "whole", "larger")

    assert [anchor.path for anchor in record.anchors] == ["whole"]
    assert verdict_on(tmp_path, record).state == "fresh"
    with (tmp_path / "whole").open("ab") as file:
        file.write(b"x")
    assert verdict_on(tmp_path, record).state == "changed"
    assert len(project_files.read(str(tmp_path), "larger") or b"") == 2_000_001


def test_a_record_has_a_hundred_anchors_at_most(tmp_path: Path) -> None:
    names = [f"{number}.txt" for number in range(101)]
    for name in names:
        (tmp_path / name).write_text("x")

    record = anchored(tmp_path, *names)

    assert [anchor.path for anchor in record.anchors] == names[:100]
    assert list(record.related_files) == names


def test_a_hook_checks_twelve_anchors_of_a_record(tmp_path: Path) -> None:
    names = [f"{number}.txt" for number in range(13)]
    for name in names:
        (tmp_path / name).write_text("x")

    assert len(Freshness(str(tmp_path)).verdicts(anchors.dump(anchored(tmp_path, *names)))) == 12


@pytest.mark.parametrize(
    ("symbol", "span"),
    [
        ("L1-L500", (1, 500)),
        ("L1-L501", None),
        ("7", (7, 7)),
        (" l7 : L9 ", (7, 9)),
        ("L0", None),
        ("L9-L7", None),
        ("L999999", (999_999, 999_999)),
        ("L1000000", None),
        ("login", None),
    ],
)
def test_a_range_of_lines_has_at_most_five_hundred(symbol: str, span: tuple[int, int] | None) -> None:
    assert project_files.line_range(symbol) == span


def test_a_name_in_more_than_two_thousand_lines_is_not_looked_up() -> None:
    text = "def f():\n    pass\n" + "f\n" * 1_999

    assert has_symbol(text, "f")
    assert not has_symbol(text + "f\n", "f")


def test_definitions_of_more_than_five_thousand_lines_anchor_the_whole_file() -> None:
    text = "def f():" + "\n    x = 1" * 4_999

    assert has_symbol(text, "f")
    assert not has_symbol(text + "\n    x = 1", "f")


def test_a_symbol_has_eight_names_at_most() -> None:
    text = "".join("  " * depth + f"class C{depth}:\n" for depth in range(9)) + "  " * 9 + "x = 1\n"
    names = [f"C{depth}" for depth in range(9)]

    assert has_symbol(text, ".".join(names[:8]))
    assert not has_symbol(text, ".".join(names))
    assert not has_symbol(text, "C0..C1")


def test_a_definition_in_a_line_of_more_than_four_hundred_characters_is_none() -> None:
    line = "def f(): return " + "x" * 384

    assert len(line) == 400
    assert has_symbol(line, "f")
    assert not has_symbol(line + "x", "f")


@pytest.mark.parametrize(("above", "is_there"), [(999, True), (1_000, False)])
def test_lines_that_moved_are_compared_up_to_ten_million_characters(above: int, is_there: bool) -> None:
    # A part of two lines has 10,000 characters with its two line ends: a thousand parts may be compared.
    part = "a" * 4_999 + "\n" + "b" * 4_999
    block = project_files.block_id(part.encode(), "L1-L2")
    text = ("x" * 4_999 + "\n") * above + part

    assert project_files.has_block(text.encode(), "L1-L2", block) is is_there


def test_a_long_path_is_shown_by_its_last_eighty_characters() -> None:
    def sentence(path: str) -> str:
        return check.sentence(Verdict(IndexedAnchor(path, "", "", "", "", ""), "missing", path))

    assert sentence("a" * 80) == f"`{'a' * 80}` no longer exists"
    assert sentence("b" + "a" * 80) == f"`…{'a' * 79}` no longer exists"
    assert sentence("a`b") == "`a'b` no longer exists"


@pytest.fixture
def project(tmp_path: Path) -> GitProject:
    git_project = GitProject(tmp_path / "project")
    git_project.write("a.py", "first\n")
    git_project.commit()
    return git_project


def test_a_thousand_commits_of_a_file_are_read(project: GitProject) -> None:
    record = anchored(project.root, "a.py")
    stream, start = "", "from refs/heads/main^0\n"
    for number in range(1_001):
        stream += f"commit refs/heads/main\ncommitter a <a@b.c> {1_800_000_000 + number} +0000\ndata 1\nx\n{start}"
        stream += f"M 100644 inline a.py\ndata {len(str(number))}\n{number}\n"
        start = ""
    command = ["git", "-C", str(project.root), "fast-import", "--quiet"]
    subprocess.run(command, input=stream, text=True, check=True, timeout=120)
    project.git("reset", "-q", "--hard")

    assert verdict_on(project.root, record).commits == 1_000


def test_a_file_is_followed_through_twenty_renames(project: GitProject) -> None:
    record = anchored(project.root, "a.py")
    names = ["a.py", *(f"{number}.py" for number in range(21))]
    for old, new in zip(names[:20], names[1:]):
        project.git("mv", old, new)
        project.commit()

    assert verdict_on(project.root, record).now == "19.py"
    project.git("mv", "19.py", "20.py")
    project.commit()
    assert verdict_on(project.root, record).state == "missing"


def test_sixty_untracked_files_are_read_in_search_of_a_moved_one(project: GitProject) -> None:
    (anchor,) = anchors.to_indexed(anchored(project.root, "a.py"))
    repo = repository.find(str(project.root))
    assert repo

    def path_now() -> str:
        return git_history.trace(str(project.root), repo, anchor, None, time.monotonic() + 60).path

    (project.root / "a.py").rename(project.root / "z.py")
    for number in range(59):
        project.write(f"m{number}.py", "other\n")
    assert path_now() == "z.py"
    project.write("m59.py", "other\n")
    assert path_now() == ""
    (project.root / "z.py").rename(project.root / "za.py")
    assert path_now() == "za.py", "a name that ends like the old one comes first"


def test_a_difference_is_shown_up_to_two_hundred_lines_of_files_up_to_400_kilobytes(project: GitProject) -> None:
    def changed(text: str) -> list[str]:
        project.write("a.py", text)
        return git_history.changed_lines(str(project.root), blob, "a.py")

    blob = project.git("hash-object", "a.py")

    assert changed("first\nsecond\n") == ["@@ -1 +1,2 @@", " first", "+second"]
    assert changed("first\n" + "x\n" * 198)[-1] == "+x"
    assert changed("first\n" + "x\n" * 199)[-2:] == ["+x", "… 1 more lines"]
    assert len(changed("first\n" + "x" * 399_994)) == 3
    assert changed("first\n" + "x" * 399_995) == []
    assert git_history.changed_lines(str(project.root), "no-blob", "a.py") == []
