"""Triggers: one that is typed word for word is sure, and more of them never make a record less probable."""

from __future__ import annotations

import pytest

from onrecord.search import index, query, rank
from onrecord.search.candidates import Filter
from tests.records import decision, put

TRIGGERS = (
    "start working on task 008",
    "what order do the milestones have",
    "pick up the next ticket of the board",
    "which part comes after the import",
    "begin with the following item",
    "continue the plan where it stopped",
    "the next phase of the roadmap",
    "who decides what is built first",
    "is there a list of open tasks",
    "where is the backlog kept",
)


def probability(root, prompt):
    matches = rank.find(index.in_memory(root), query.parse_prompt(prompt), Filter("auto"))
    return next((match.probability for match in matches if match.id == "tasks"), 0.0)


def store(folder, count):
    put(
        str(folder),
        decision("tasks", "Tasks are done in the order of the plan", "See plan.md.", triggers=TRIGGERS[:count]),
    )
    put(str(folder), decision("other", "Times are kept in UTC", "They are shown in the zone of the port."))
    return str(folder)


@pytest.mark.parametrize("typed", ["start working on task 008", "Start working on task 006!", "start working on task"])
@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_trigger_typed_but_for_numbers_is_sure(tmp_path, typed, count):
    assert probability(store(tmp_path, count), typed) >= rank.SURE


def test_a_trigger_in_a_longer_prompt_is_sure_where_it_is_a_passage(tmp_path):
    assert probability(store(tmp_path, 3), "Looks good to me, thanks. Start working on task 012.") >= rank.SURE


@pytest.mark.parametrize("prompt", ["milestones order please", "the next ticket", "tasks in order", "plan the import"])
def test_ten_triggers_never_lower_what_three_give(tmp_path, prompt):
    three, ten = (probability(store(tmp_path / str(count), count), prompt) for count in (3, 10))

    assert ten >= three - 0.02


def test_records_on_one_subject_do_not_silence_each_other(tmp_path):
    found = []
    for count in (1, 6):
        root = str(tmp_path / str(count))
        for number in range(count):
            put(root, decision(f"lag-{number}", "Kafka consumer lag after a deploy", f"Step {number} of the runbook."))
        matches = rank.find(
            index.in_memory(root), query.parse_prompt("kafka consumer lag after the deploy"), Filter("auto")
        )
        found.append(matches[0].probability)

    alone, crowd = found
    assert crowd >= alone - 0.1
