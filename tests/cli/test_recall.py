from __future__ import annotations

import json

import pytest

from .conftest import DECISION

PROMPT = "are jobs rows of the table jobs, 4 at a time?"


@pytest.fixture
def saved(recollect):
    assert recollect("save", "decision", "Jobs are rows of the table jobs", *DECISION).code == 0


def test_recall_prints_the_block_and_says_aside_what_it_costs(recollect, saved):
    outcome = recollect("recall", PROMPT)

    assert outcome.out.startswith('<memory-context source=".claude/memory/">\n<result category="decision"')
    assert outcome.err == f"(about {json.loads(recollect('recall', PROMPT, '--json').out)['tokens']} tokens)\n"


def test_recall_prints_nothing_where_nothing_is_relevant(recollect, saved):
    outcome = recollect("recall", "write a haiku about the moon")

    assert outcome == (0, "", "(nothing is relevant enough: the agent would be told nothing)\n")


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("retrieval.enabled", "false", "retrieval.enabled is false"),
        ("retrieval.max_inject", "0", "retrieval.max_inject is 0"),
    ],
)
def test_silence_by_a_setting_is_not_taken_for_lack_of_relevance(recollect, saved, setting, value, reason):
    recollect("config", "set", setting, value)

    assert recollect("recall", PROMPT) == (0, "", f"({reason}, so the agent is told nothing)\n")
    candidates = json.loads(recollect("why", PROMPT, "--json").out)["candidates"]
    assert [one["verdict"] for one in candidates] == [reason]


def test_why_says_what_is_told_and_from_which_probability_on(recollect, saved):
    data = json.loads(recollect("why", PROMPT, "--json").out)

    assert [one["verdict"] for one in data["candidates"]] == ["told"]
    assert data["candidates"][0]["probability"] >= data["threshold"]
