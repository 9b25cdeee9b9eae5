"""Session summaries that answer questions about the work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.project import Project
from onrecord.recall import for_prompt
from onrecord.recall.work_question import local_day
from onrecord.search import indexing
from tests.agent_context import prompt_context
from tests.known_project import known_project


@pytest.fixture
def project(tmp_path) -> Project:
    return known_project(tmp_path / "project")


def days_ago(days: float) -> str:
    return timestamps.days_before(timestamps.now(), days)


def save_summary(project: Project, goal: str, days: float, **content: object) -> str:
    """Save a session summary that was written some days ago, and return its day."""
    fields = {"goal": goal, "outcome": "partial", "completed": [f"{goal} written"], "next_actions": [f"ship {goal}"]}
    entry = project.save("session_summary", {"title": f"Session: {goal}", "content": {**fields, **content}})
    file = Path(project.store.root, entry.path)
    record = json.loads(file.read_text())
    record["created_at"] = record["updated_at"] = days_ago(days)
    file.write_text(json.dumps(record))
    return local_day(days_ago(days))


def test_what_was_done_comes_newest_first_with_dates(project):
    older, newer = save_summary(project, "the importer", 3), save_summary(project, "the exporter", 2)
    save_summary(project, "the parser", 60)

    text = prompt_context(project, "what did we do in the last 5 days?")

    assert "Session summaries of the last 5 days" in text
    assert text.index("the exporter written") < text.index("the importer written")
    assert f'updated="{newer}"' in text and f'updated="{older}"' in text
    assert "the parser" not in text


def test_a_period_without_a_summary_says_so_with_the_date_of_the_last_one(project):
    day = save_summary(project, "the importer", 40)

    text = prompt_context(project, "what was I working on yesterday?")

    yesterday = local_day(days_ago(1))
    assert text == (
        f"No session summary of yesterday ({yesterday}) is on file. The last one is of {day}: onrecord show"
        " session-the-importer"
    )


def test_where_we_left_off_is_the_last_summary(project):
    save_summary(project, "the importer", 3)
    save_summary(project, "the exporter", 1, in_progress=["the CSV header"])

    text = prompt_context(project, "where did we leave off?")

    assert text.startswith("The last session summary on file:")
    assert "Left off at: the CSV header" in text and "the importer" not in text


def test_what_is_next_is_in_the_unfinished_summaries(project):
    save_summary(project, "the importer", 3)
    save_summary(project, "the exporter", 1, next_actions=[], outcome="success")

    text = prompt_context(project, "what's next?")

    assert "ship the importer" in text and "the exporter" not in text


def test_nothing_is_said_about_what_is_next_where_no_summary_is(project):
    project.save("preference", {"title": "Tabs", "topic": "tabs", "value": "Use tabs.", "reason": "width"})

    assert prompt_context(project, "what's next?") == ""
    assert prompt_context(project, "where did we leave off?") == "No session summary is on file."


def test_a_summary_that_made_room_for_newer_ones_is_history(project):
    for number in range(7):
        save_summary(project, f"part {number}", 20 - number)

    text = prompt_context(project, "what did we do in the last 30 days?", session="")
    assert "part 6 written" in text

    decision = for_prompt.preview(project.stores, "what did we do in the last 30 days?", project.settings, first=True)
    assert [candidate.match.title[-1] for candidate in decision.candidates] == ["6", "5", "4", "3", "2", "1", "0"]


def test_a_summary_that_a_person_retired_is_not_shown(project):
    save_summary(project, "the importer", 1)
    project.writer.retire("session-the-importer", "wrong")

    assert prompt_context(project, "what was I working on yesterday?") == "No session summary is on file."


def test_a_topic_picks_its_summaries(project):
    save_summary(project, "the importer", 2)
    save_summary(project, "the exporter", 1)

    text = prompt_context(project, "what did we do in the last 5 days on the importer?")

    assert "the importer written" in text and "the exporter" not in text


def test_a_topic_that_no_summary_has_is_an_ordinary_prompt(project):
    save_summary(project, "the importer", 2)

    decision = for_prompt.preview(
        project.stores, "what happened yesterday with kubernetes?", project.settings, first=True
    )
    assert decision.work == ""


def test_a_summary_that_the_session_was_shown_is_not_repeated(project):
    save_summary(project, "the importer", 1)

    assert "the importer" in prompt_context(project, "where did we leave off?", session="s")
    assert prompt_context(project, "where were we?", session="s") == ""


def test_nothing_is_denied_while_the_index_is_incomplete(project, monkeypatch):
    save_summary(project, "the importer", 40)
    monkeypatch.setattr(indexing, "is_complete", lambda index: False)

    assert prompt_context(project, "what did we do yesterday?") == ""


def test_a_category_that_is_turned_off_is_not_shown(project):
    save_summary(project, "the importer", 1)
    Path(project.store.root, "memory-config.json").write_text('{"categories": {"session_summary": {"enabled": false}}}')

    assert prompt_context(project, "where did we leave off?") == ""


def test_a_search_finds_the_summaries_of_the_period(project):
    save_summary(project, "the importer", 3)
    save_summary(project, "the parser", 60)

    assert [hit.title for hit in project.search("what did we do in the last 5 days?")] == ["Session: the importer"]
