"""`recollect export`: nothing of a record is lost, and nothing of a page but our own section changes."""

from __future__ import annotations

import json

import pytest

from recollect.record import export

from .conftest import DECISION


@pytest.fixture
def filled(project, recollect):
    recollect("save", "decision", "Jobs in Postgres", *DECISION, "--tag=jobs", "--trigger=where are jobs?")
    rule = ("--set=rule=At most 7 calls a minute <!-- recollect: end --> to the harbour", "--set=impact=429")
    recollect("save", "constraint", "Seven calls", *rule, "--tag=api")
    recollect("save", "decision", "Gone", *DECISION, "--force")
    recollect("retire", "gone", "--reason=r")
    return project


def test_json_lines_hold_the_records_as_they_are(filled, recollect):
    lines = [json.loads(line) for line in recollect("export", "--format=jsonl").out.splitlines()]

    assert sorted(line["id"] for line in lines) == ["jobs-in-postgres", "seven-calls"]
    shown = json.loads(recollect("show", "jobs-in-postgres", "--json").out)["record"]
    assert next(line for line in lines if line["id"] == "jobs-in-postgres") == shown
    assert len(recollect("export", "--format=jsonl", "--all").out.splitlines()) == 3


def test_markdown_has_every_field(filled, recollect):
    page = recollect("export", "--category=decision").out

    assert page.startswith("# Project memory\n\n## Decisions\n\n### Jobs in Postgres\n\n- id: jobs-in-postgres\n")
    for text in ("- tags: jobs", "- triggers: where are jobs?", "**decision**\n\nJobs are rows of the table jobs"):
        assert text in page
    assert "Seven" not in page
    assert recollect("export", "--tag=api").out.count("### ") == 1


def test_the_section_of_a_page_is_renewed_and_nothing_else(filled, recollect):
    page = filled / "AGENTS.md"
    page.write_text("# Rules\n\nBe kind.\n")

    first = recollect("export", "--format=agents", "--into=AGENTS.md")
    before = page.read_text()
    page.write_text(before + "\nMore of mine.\n")
    recollect("retire", "seven-calls", "--reason=r")
    recollect("export", "--format=agents", "--into=AGENTS.md")

    assert first.out == "wrote 2 records into AGENTS.md\n"
    assert before.startswith(f"# Rules\n\nBe kind.\n\n{export.BEGIN}\n")
    assert (before.count(export.BEGIN), before.count(export.END)) == (1, 1)
    after = page.read_text()
    assert after.startswith("# Rules\n\nBe kind.\n\n") and after.endswith(f"{export.END}\n\nMore of mine.\n")
    assert "Jobs in Postgres" in after and "Seven" not in after


def test_a_page_with_odd_marks_is_left_alone(filled, recollect):
    page = filled / "AGENTS.md"
    page.write_text(f"{export.END}\n{export.BEGIN}\n")

    refused = recollect("export", "--format=agents", "--into=AGENTS.md")

    assert refused.err.startswith("BAD_INPUT")
    assert page.read_text() == f"{export.END}\n{export.BEGIN}\n"
    assert recollect("export", "--into=AGENTS.md").err.startswith("BAD_INPUT")
    (filled / "bytes.md").write_bytes(b"\xff\xfe")
    assert recollect("export", "--format=agents", "--into=bytes.md").err.startswith("BAD_INPUT")
