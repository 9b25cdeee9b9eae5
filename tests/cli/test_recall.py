from __future__ import annotations

import json

import pytest

from onrecord.text import DATA_NOTE

from .conftest import DECISION

NOTE = f'note="{DATA_NOTE}"'

PROMPT = "are jobs rows of the table jobs, 4 at a time?"


@pytest.fixture
def saved(onrecord):
    assert onrecord("save", "decision", "Jobs are rows of the table jobs", *DECISION).code == 0


def test_recall_prints_the_block_and_says_aside_what_it_costs(onrecord, saved):
    outcome = onrecord("recall", PROMPT)

    assert outcome.out.startswith(f'<memory-context source=".claude/memory/" {NOTE}>\n<result category="decision"')
    assert outcome.err == f"(about {json.loads(onrecord('recall', PROMPT, '--json').out)['tokens']} tokens)\n"


def test_recall_prints_nothing_where_nothing_is_relevant(onrecord, saved):
    outcome = onrecord("recall", "write a haiku about the moon")

    assert outcome == (0, "", "(nothing is relevant enough to be shown)\n")


@pytest.mark.parametrize(
    ("setting", "value", "consequence"),
    [
        ("retrieval.enabled", "false", "no record is shown at prompts, files and failed commands"),
        ("retrieval.max_inject", "0", "no record is shown at prompts"),
    ],
)
def test_silence_by_a_setting_is_not_taken_for_lack_of_relevance(onrecord, saved, setting, value, consequence):
    onrecord("config", "set", setting, value)
    reason = f"{setting} is {value}"

    assert onrecord("recall", PROMPT) == (0, "", f"({reason}, so {consequence})\n")
    assert f"warning: {reason}, so {consequence}" in onrecord("why", PROMPT).err
    candidates = json.loads(onrecord("why", PROMPT, "--json").out)["candidates"]
    assert [one["verdict"] for one in candidates] == [f"turned off: {reason}"]


def test_why_says_what_is_shown_and_from_which_score_on(onrecord, saved):
    data = json.loads(onrecord("why", PROMPT, "--json").out)

    assert [one["verdict"] for one in data["candidates"]] == ["shown"]
    assert data["candidates"][0]["probability"] >= data["threshold"]
    text = onrecord("why", PROMPT).out
    assert text.startswith(f"Shown as a rule from a score of {data['threshold']:.2f} on, as a pointer from ")


def test_why_is_sorted_and_agrees_with_recall(onrecord, saved):
    assert onrecord("save", "decision", "Jobs of the night run at 4", *DECISION, "--force").code == 0
    assert onrecord("save", "decision", "The table of prices", *DECISION, "--force").code == 0

    candidates = json.loads(onrecord("why", PROMPT, "--json").out)["candidates"]
    memories = json.loads(onrecord("recall", PROMPT, "--json").out)["memories"]

    assert [one["probability"] for one in candidates] == sorted(
        (one["probability"] for one in candidates), reverse=True
    )
    shown = [one["id"] for one in candidates if one["verdict"] == "shown"]
    assert sorted(shown) == sorted(one["id"] for one in memories)


def test_why_says_that_a_prompt_matches_nothing(onrecord, saved):
    assert "No record matches this prompt, by its words or by its meaning." in onrecord("why", "quokka zebra").out


def test_why_checks_files_as_recall_does(onrecord, project):
    (project / "ferry.py").write_text("gangway = 1\n")
    saved = ("save", "decision", "The gangway closes before sailing", "--related", "ferry.py", *DECISION)
    assert onrecord(*saved).code == 0
    (project / "ferry.py").write_text("gangway = 2\n")

    (candidate,) = json.loads(onrecord("why", "the gangway closes before sailing", "--json").out)["candidates"]

    assert candidate["verdict"] == "shown"
    assert "ferry.py" in candidate["caution"]
