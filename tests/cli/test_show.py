"""`onrecord show`: names of the map, several at once, in whatever store they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import DECISION


@pytest.fixture
def saved(onrecord):
    for title in ("Use uv for Python", "Use uv to lock versions", "Jobs are rows of a table"):
        assert onrecord("save", "decision", title, *DECISION, "--force").code == 0
    assert onrecord("save", "decision", "Answer mail within a day", *DECISION, "--user", "--force").code == 0


def shown(onrecord, *names):
    return json.loads(onrecord("show", *names, "--json").out)


def test_every_name_of_the_map_is_one_that_show_takes(onrecord, saved):
    names = [entry["name"] for entry in json.loads(onrecord("digest", "--json").out)["entries"]]

    assert sorted(names) == ["answer-mail", "jobs-are", "use-uv-for", "use-uv-to"]
    titles = {record["title"] for record in shown(onrecord, *names)["records"]}
    assert titles == {
        "Use uv for Python",
        "Use uv to lock versions",
        "Jobs are rows of a table",
        "Answer mail within a day",
    }


def test_one_name_gives_one_object(onrecord, saved):
    assert shown(onrecord, "jobs-are")["id"] == "jobs-are-rows-of-a-table"


def test_several_are_printed_one_after_the_other(onrecord, saved):
    out = onrecord("show", "jobs-are", "answer-mail").out

    assert out.index("Jobs are rows of a table") < out.index("Answer mail within a day")


def test_an_ambiguous_name_lists_what_it_may_mean(onrecord, saved):
    outcome = onrecord("show", "use-uv")

    assert outcome.code == 1 and outcome.out == ""
    assert "AMBIGUOUS: 'use-uv' matches 2 records: use-uv-for-python, use-uv-to-lock-versions" in outcome.err


def test_a_wrong_name_among_others_costs_only_itself(onrecord, saved):
    outcome = onrecord("show", "jobs-are", "nothing-like-it")

    assert outcome.code == 1 and "Jobs are rows of a table" in outcome.out
    assert "no record 'nothing-like-it'" in outcome.err


def test_an_entry_of_a_knowledge_bank_is_shown_by_its_name(onrecord, saved):
    folder = Path("docs", "knowledge-bank")
    folder.mkdir(parents=True)
    text = "### Rename at the end\nWrite aside, then rename.\n- Observation count: 4\n"
    (folder / "patterns.md").write_text(text)
    names = [entry["name"] for entry in json.loads(onrecord("digest", "--json").out)["entries"]]

    assert "rename-at" in names
    lesson = shown(onrecord, "rename-at")
    assert (lesson["text"], lesson["observations"]) == ("Write aside, then rename.", 4)
    assert "Write aside, then rename." in onrecord("show", "rename-at").out


def test_banks_alone_are_enough(onrecord, monkeypatch, tmp_path):
    """S4: a project without any store."""
    folder = tmp_path / "bare" / "docs" / "knowledge-bank"
    folder.mkdir(parents=True)
    (folder / "patterns.md").write_text("### Rename at the end\nWrite aside, then rename.\n")
    monkeypatch.chdir(tmp_path / "bare")

    assert "- rename-at: " in onrecord("digest").out
    assert "Write aside" in onrecord("show", "rename-at").out
    assert onrecord("show", "another").code == 1


def test_a_field_without_a_value_has_no_heading(onrecord):
    summary = ("--set=goal=Move the jobs", "--set=outcome=partial", "--set=completed=The table")
    onrecord("save", "session_summary", "Jobs were moved", *summary, "--set=next_actions=Measure")
    (path,) = (paths for paths in Path(".claude/memory/sessions").iterdir())
    record = json.loads(path.read_text(encoding="utf-8"))
    record["content"].update(next_actions=[], blockers=[])
    path.write_text(json.dumps(record), encoding="utf-8")

    lines = onrecord("show", "jobs-were").out.splitlines()

    assert "completed" in lines and not {"next_actions", "blockers"} & set(lines)
