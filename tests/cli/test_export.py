"""`onrecord export`: nothing of a record is lost, and nothing of a page but our own section changes.

A generated file is renewed when records change, wherever the setting names it, and no other file ever is.
"""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import open as open_project
from onrecord import store as onrecord_store
from onrecord.categories import CATEGORIES
from onrecord.record import export
from onrecord.record.export import SectionFilter
from onrecord.store import generated_page
from tests import killed

from .conftest import DECISION


@pytest.fixture
def filled(project, onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION, "--tag=jobs", "--trigger=where are jobs?")
    rule = ("--set=rule=At most 7 calls a minute <!-- onrecord: end --> to the harbour", "--set=impact=429")
    onrecord("save", "constraint", "Seven calls", *rule, "--tag=api")
    onrecord("save", "decision", "Gone", *DECISION, "--force")
    onrecord("retire", "gone", "--reason=r")
    return project


def test_json_lines_hold_the_records_as_they_are(filled, onrecord):
    lines = [json.loads(line) for line in onrecord("export", "--format=jsonl").out.splitlines()]

    assert sorted(line["id"] for line in lines) == ["jobs-in-postgres", "seven-calls"]
    shown = json.loads(onrecord("show", "jobs-in-postgres", "--json").out)["record"]
    assert next(line for line in lines if line["id"] == "jobs-in-postgres") == shown
    assert len(onrecord("export", "--format=jsonl", "--all").out.splitlines()) == 3


def test_markdown_has_every_field(filled, onrecord):
    page = onrecord("export", "--category=decision").out

    assert page.startswith("# Project memory\n\n## Decisions\n\n### Jobs in Postgres\n\n- id: jobs-in-postgres\n")
    for text in ("- tags: jobs", "- triggers: where are jobs?", "**decision**\n\nJobs are rows of the table jobs"):
        assert text in page
    assert "Seven" not in page
    assert onrecord("export", "--tag=api").out.count("### ") == 1


def test_the_section_of_a_page_is_renewed_and_nothing_else(filled, onrecord):
    page = filled / "AGENTS.md"
    page.write_text("# Rules\n\nBe kind.\n")

    first = onrecord("export", "--into=AGENTS.md")
    before = page.read_text()
    page.write_text(before + "\nMore of mine.\n")
    onrecord("retire", "seven-calls", "--reason=r")
    onrecord("export", "--format=agents", "--into=AGENTS.md")

    assert first.out == "wrote AGENTS.md (2 records, about 91 tokens)\n"
    assert before.startswith(f"# Rules\n\nBe kind.\n\n{export.BEGIN}\n")
    assert (before.count(export.BEGIN), before.count(export.END)) == (1, 1)
    after = page.read_text()
    assert after.startswith("# Rules\n\nBe kind.\n\n") and after.endswith(f"{export.END}\n\nMore of mine.\n")
    assert "Jobs in Postgres" in after and "Seven" not in after


OLD_SECTION = "<!-- recollect: begin -->\n\n## Project memory\n\n- Old.\n\n<!-- recollect: end -->"
"""As 0.2.0 wrote it."""


@pytest.mark.parametrize("ours", ["", f"\n\n{export.BEGIN}\n\n- New.\n\n{export.END}"], ids=["alone", "beside ours"])
def test_the_section_of_0_2_0_is_renewed_and_no_second_one_is_added(filled, onrecord, ours):
    page = filled / "AGENTS.md"
    page.write_text(f"# Rules\n\n{OLD_SECTION}{ours}\n\nMore of mine.\n")

    outcome = onrecord("export", "--into=AGENTS.md")

    after = page.read_text()
    assert outcome.code == 0
    assert after.startswith(f"# Rules\n\n{export.BEGIN}\n") and after.endswith(f"{export.END}\n\nMore of mine.\n")
    assert (after.count(export.BEGIN), after.count("## Project memory"), "recollect" in after) == (1, 1, False)


def test_a_page_with_odd_marks_is_left_alone(filled, onrecord):
    page = filled / "AGENTS.md"
    page.write_text(f"{export.END}\n{export.BEGIN}\n")

    refused = onrecord("export", "--format=agents", "--into=AGENTS.md")

    assert refused.err.startswith("BAD_INPUT")
    assert page.read_text() == f"{export.END}\n{export.BEGIN}\n"
    assert (
        "--into and --format jsonl exclude each other" in onrecord("export", "--format=jsonl", "--into=AGENTS.md").err
    )
    assert "--file and --into exclude each other" in onrecord("export", "--file=MEMORY.md", "--into=AGENTS.md").err
    (filled / "bytes.md").write_bytes(b"\xff\xfe")
    assert onrecord("export", "--format=agents", "--into=bytes.md").err.startswith("BAD_INPUT")


def test_a_file_is_made_once_and_written_only_when_it_changes(filled, onrecord):
    file = filled / "MEMORY.md"

    first = onrecord("export", "--file=MEMORY.md")
    written = file.stat().st_mtime_ns
    again = onrecord("export", "--file=MEMORY.md")

    assert first.out.startswith("wrote MEMORY.md (2 records, about ")
    assert again.out.startswith("MEMORY.md is up to date (2 records, ")
    assert first.err == "to update it after every change: onrecord config set export.file MEMORY.md\n"
    onrecord("config", "set", "export.file", "MEMORY.md")
    assert onrecord("export", "--file=MEMORY.md").err == ""
    assert onrecord("export", "--file=../elsewhere.md").err == ""
    assert file.stat().st_mtime_ns == written
    page = file.read_text()
    assert page.startswith(f"{export.BEGIN}\n") and page.endswith(f"{export.END}\n")
    assert "Change the records, not this section." in page


def test_a_file_of_somebody_else_is_refused(filled, onrecord):
    (filled / "NOTES.md").write_text("mine\n")

    refused = onrecord("export", "--file=NOTES.md")

    assert (refused.code, (filled / "NOTES.md").read_text()) == (1, "mine\n")
    assert "was not made by `onrecord export`" in refused.err
    assert "--file and --all exclude each other" in onrecord("export", "--file=x.md", "--all").err
    assert "--file and --format markdown exclude" in onrecord("export", "--file=x.md", "--format=markdown").err
    assert not (filled / "x.md").exists()


def test_a_check_says_whether_the_file_is_what_the_records_say(filled, onrecord):
    onrecord("export", "--file=MEMORY.md")
    fresh = onrecord("export", "--check", "--file=MEMORY.md")
    onrecord("retire", "seven-calls", "--reason=r")
    stale = onrecord("export", "--check", "--file=MEMORY.md")
    text = (filled / "MEMORY.md").read_text()
    missing = onrecord("export", "--check", "--file=none.md")

    assert (fresh.code, fresh.out) == (0, "MEMORY.md is up to date\n")
    assert (stale.code, stale.out) == (
        1,
        f"MEMORY.md is out of date; to update it: onrecord export --file {filled}/MEMORY.md\n",
    )
    assert "Seven" in text
    assert missing.code == 1 and not (filled / "none.md").exists()
    assert onrecord("export", "--check").err.startswith("BAD_INPUT")


def test_the_file_that_a_setting_names_is_renewed_after_every_change(filled, onrecord):
    file = filled / "MEMORY.md"
    onrecord("export", "--file=MEMORY.md")
    onrecord("config", "set", "export.file", "MEMORY.md")

    steps = {
        ("save", "preference", "Tabs", "--set=topic=t", "--set=value=tabs", "--set=reason=r"): "tabs",
        ("update", "jobs-in-postgres", "--related=MEMORY.md"): "`MEMORY.md`",
        ("supersede", "seven-calls", "tabs"): "",
        ("undo",): "harbour",
        ("retire", "seven-calls", "--reason=r"): "",
        ("restore", "seven-calls"): "harbour",
    }
    for words, text in steps.items():
        assert onrecord(*words).code == 0, words
        assert onrecord("export", "--check") == (0, "MEMORY.md is up to date\n", ""), words
        assert text in file.read_text()
    before = file.stat().st_mtime_ns
    onrecord("save", "decision", "A draft", "--draft", *DECISION, "--force")
    assert file.stat().st_mtime_ns == before


def test_a_file_keeps_the_choice_it_was_made_with(filled, onrecord):
    onrecord("export", "--file=rules.md", "--category=constraint", "--category=decision", "--tag=Jobs")
    onrecord("config", "set", "export.file", "rules.md")
    onrecord("save", "decision", "Files on disk", *DECISION, "--tag=jobs", "--force")

    page = (filled / "rules.md").read_text()
    assert "<!-- only: constraint decision #jobs -->" in page
    assert "Files on disk" in page and "harbour" not in page
    assert onrecord("export", "--file=rules.md").out.startswith("rules.md is up to date (2 records")
    onrecord("export", "--file=rules.md", "--category=constraint")
    assert "harbour" in (filled / "rules.md").read_text()


@given(
    st.lists(st.sampled_from(list(CATEGORIES)), unique=True), st.lists(st.from_regex("[a-z0-9-]{1,9}", fullmatch=True))
)
def test_the_choice_of_a_section_is_read_back(categories, tags):
    only = SectionFilter(tuple(categories), tuple(tags))

    assert export.read_filter(export.agents_section([], only)) == only


@pytest.mark.parametrize(
    "name",
    ["../outside.md", "/etc/motd.md", ".git/hooks/post-commit.md", "Makefile", "link.md", "NOTES.md", "no.md", "\0"],
)
def test_a_setting_leads_to_no_other_file(filled, onrecord, name, tmp_path):
    section = f"{export.BEGIN}\n{export.END}\n"
    (filled / ".git" / "hooks").mkdir(parents=True)
    for path in ("../outside.md", ".git/hooks/post-commit.md", "Makefile"):
        (filled / path).write_text(section)
    (filled / "NOTES.md").write_text("mine\n")
    os.symlink(tmp_path / "outside.md", filled / "link.md")
    config = filled / ".claude" / "memory" / "memory-config.json"
    config.write_text(json.dumps({"export": {"file": name}}))

    outcome = onrecord("retire", "seven-calls", "--reason=r")

    assert outcome.code == 0
    assert "warning: the records are saved, but " in outcome.err
    assert (tmp_path / "outside.md").read_text() == section
    assert (filled / ".git/hooks/post-commit.md").read_text() == (filled / "Makefile").read_text() == section
    assert (filled / "NOTES.md").read_text() == "mine\n"
    assert not (filled / "no.md").exists()


def test_a_writer_that_dies_leaves_no_stale_file_behind(filled, onrecord, tmp_path):
    onrecord("export", "--file=MEMORY.md")
    onrecord("config", "set", "export.file", "MEMORY.md")
    source, copies = os.path.dirname(onrecord_store.__file__), tmp_path / "copies"
    copies.mkdir()

    def work() -> None:
        open_project(str(filled)).writer.retire("seven-calls", "r")

    states = killed.states_during(work, source, str(filled), str(copies))
    assert len(states) > 5
    for state in states:
        opened = open_project(state)
        opened.store.recover()
        page = generated_page.plan(f"{state}/MEMORY.md", (entry.memory for entry in opened.store.entries()))
        assert page.is_fresh, state


def test_a_section_that_somebody_has_changed_is_left_alone(filled, onrecord):
    (filled / "MEMORY.md").write_text(f"{export.BEGIN}\n<!-- only: opinions -->\n{export.END}\n")
    onrecord("config", "set", "export.file", "MEMORY.md")

    outcome = onrecord("retire", "seven-calls", "--reason=r")

    assert "it names a category that does not exist" in outcome.err
    assert "opinions" in (filled / "MEMORY.md").read_text()


def test_a_page_of_two_megabytes_may_get_a_section_and_a_larger_one_may_not(filled, onrecord):
    page = filled / "AGENTS.md"
    page.write_text("x" * 1_999_999 + "\n")
    assert onrecord("export", "--format=agents", "--into=AGENTS.md").code == 0

    page.write_text("x" * 2_000_000 + "\n")
    refused = onrecord("export", "--format=agents", "--into=AGENTS.md")

    assert (refused.code, "is larger than 2,000,000 bytes" in refused.err) == (1, True)
    assert page.read_text() == "x" * 2_000_000 + "\n"
