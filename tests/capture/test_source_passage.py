"""The passage of a file that a draft was made of: its lines, those that the draft has, and what cannot be read."""

from __future__ import annotations

import os

import pytest

from onrecord.capture import review
from onrecord.capture.review import PassageLine, SourcePassage
from onrecord.record.memory import Memory

TEXT = "# Tables\n\n## Decision\n\nEach service owns its tables.\nNobody reads others.\n"


def record(source, origin="import"):
    content = {"decision": "Each service owns its tables.", "rationale": ["Nobody waits for another team."]}
    return Memory("decision", "tables", "Services own their tables", content, origin=origin, source=source)


def test_the_lines_that_the_draft_has_are_marked(tmp_path):
    (tmp_path / "adr.md").write_text(TEXT)

    assert review.source_passage(str(tmp_path), record("adr.md:3")) == SourcePassage(
        "adr.md",
        tuple(
            PassageLine(number, text, text == "Each service owns its tables.")
            for number, text in enumerate(TEXT.splitlines(), 1)
        ),
    )


def test_of_a_long_file_the_part_around_the_named_line_is_shown(tmp_path):
    (tmp_path / "long.md").write_text("".join(f"line {number}\n" for number in range(1, 1_001)))

    passage = review.source_passage(str(tmp_path), record("long.md:500"))

    assert (passage.lines[0].text, len(passage.lines)) == ("line 480", 160)


def test_a_file_outside_of_the_project_or_a_missing_one_is_not_read(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("token")
    os.symlink(tmp_path / "secret", project / "link.md")

    flaws = [
        review.source_passage(str(project), record(f"{name}:1"))
        for name in ("../secret", str(tmp_path / "secret"), "link.md", "missing.md")
    ]

    assert [passage.lines for passage in flaws] == [()] * 4
    assert all(passage.flaw.startswith("cannot be read: ") for passage in flaws)


def test_what_was_said_in_a_session_is_no_passage_of_a_file(tmp_path):
    (tmp_path / "adr.md").write_text(TEXT)

    assert review.source_passage(str(tmp_path), record("adr.md:3", origin="agent")) is None
    assert review.source_passage(str(tmp_path), record('session s-1: "we go with rows"')) is None
    assert review.source_passage("", record("adr.md:3")) is None


@pytest.mark.parametrize(("count", "first", "length"), [(160, 1, 160), (161, 30, 132)])
def test_a_file_of_160_lines_is_shown_whole(tmp_path, count, first, length):
    (tmp_path / "a.md").write_text("".join(f"line {number}\n" for number in range(1, count + 1)))

    passage = review.source_passage(str(tmp_path), record("a.md:50"))

    assert (passage.lines[0].number, passage.lines[0].text, len(passage.lines)) == (first, f"line {first}", length)


def test_of_a_long_file_the_beginning_is_shown_where_an_early_line_is_named(tmp_path):
    (tmp_path / "a.md").write_text("x\n" * 200)

    passage = review.source_passage(str(tmp_path), record("a.md:20"))

    assert (passage.lines[0].number, passage.lines[-1].number) == (1, 160)


def test_a_long_line_is_cut_and_a_large_file_read_in_part(tmp_path):
    (tmp_path / "a.md").write_text("x" * 1_001 + "\n" + "y" * 500_000)

    passage = review.source_passage(str(tmp_path), record("a.md:1"))

    assert [len(line.text) for line in passage.lines] == [1_000, 1_000]
    (tmp_path / "b.md").write_text("12345678\n" * 50_000)
    assert len(review.files.read_inside(str(tmp_path), "b.md", 400_000).splitlines()) == 44_445
    assert review.source_passage(str(tmp_path), record("b.md:44440")).lines[-1].number == 44_445


@pytest.mark.parametrize(
    ("line", "is_marked"),
    [
        ("owns its TABLES!", True),
        ("owns its tab", True),
        ("owns its ta", False),
        ("We said: each service owns its tables, and more.", True),
        ("Services own their tables", True),
        ("Nobody waits for another team", True),
        ("something else entirely", False),
    ],
)
def test_a_line_is_marked_if_the_draft_has_its_words_or_it_those_of_the_draft(tmp_path, line, is_marked):
    (tmp_path / "a.md").write_text(f"{line}\n")

    (only,) = review.source_passage(str(tmp_path), record("a.md:1")).lines

    assert only == PassageLine(1, line, is_marked)


@pytest.mark.parametrize("source", ["a.md", "a.md:", ":1", "a.md:12345678", "a.md:x", "a.md:1 "])
def test_a_source_that_names_no_line_has_no_passage(tmp_path, source):
    (tmp_path / "a.md").write_text(TEXT)

    assert review.source_passage(str(tmp_path), record(source)) is None


def test_why_a_file_cannot_be_read(tmp_path):
    (tmp_path / "folder").mkdir()

    flaws = {
        name: review.source_passage(str(tmp_path), record(f"{name}:1")).flaw for name in ("gone.md", "folder", "../x")
    }

    assert flaws == {
        "gone.md": "cannot be read: No such file or directory",
        "folder": "cannot be read: not a regular file",
        "../x": f"cannot be read: '../x' leads out of {tmp_path}",
    }
