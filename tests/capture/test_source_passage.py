"""The passage of a file that a draft was made of: its lines, those that the draft has, and what cannot be read."""

from __future__ import annotations

import os

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
