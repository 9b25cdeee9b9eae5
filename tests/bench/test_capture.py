"""The sets that capture is measured on and learnt from, and the measuring itself."""

from __future__ import annotations

import pytest

from bench import capture, sessions, shares
from bench.sessions import Session
from onrecord.capture.triage import SaveCandidate
from onrecord.categories import CATEGORIES
from onrecord.session.transcript import Message

MEASURED = sessions.held()
FIRST = sessions.first()
TAUGHT = sessions.taught()


def test_what_carries_a_label_is_quoted_word_for_word():
    for one in [*MEASURED, *(one for one in TAUGHT if not one.is_phrase)]:
        said = [message.text for message in one.messages if message.kind == "text"]

        assert one.expected <= set(CATEGORIES), one.id
        assert bool(one.expected) == bool(one.evidence), one.id
        assert all(any(quote in text for text in said) for quote in one.evidence), one.id


def test_the_sets_have_everything_that_can_be_found_and_much_that_must_not():
    kinds = [one.kind for one in MEASURED]

    assert len(MEASURED) >= 60
    assert kinds.count("nothing") >= 25
    assert {*CATEGORIES, "correction", "nothing"} == set(kinds)


def test_nothing_that_is_measured_on_is_learnt_from():
    learnt = {message.text for one in TAUGHT for message in one.messages if len(message.text) > 60}

    for one in [*MEASURED, *FIRST]:
        assert not learnt.intersection(quote for quote in one.evidence), one.id
        assert not learnt.intersection(message.text for message in one.messages if message.kind == "text"), one.id


def test_first_prompts_have_something_to_keep_or_nothing_in_three_languages():
    assert {one.label for one in FIRST} == {"nothing", "preference", "constraint", "decision", "tech_debt"}
    assert {one.language for one in FIRST} == {"en", "de", "es"}
    assert min(sum(bool(one.expected) is kept for one in FIRST) for kept in (True, False)) >= 50


@pytest.mark.parametrize(("part", "of", "interval"), [(8, 10, (0.49, 0.94)), (0, 20, (0.0, 0.16)), (0, 0, (0.0, 1.0))])
def test_the_interval_of_a_share(part, of, interval):
    assert tuple(round(bound, 2) for bound in shares.wilson(part, of)) == interval


def session(expected: str, evidence: str = "we go with rows, they are faster") -> Session:
    messages = (Message("user", "text", evidence), Message("assistant", "text", "Done."))
    wanted = frozenset([expected] if expected else [])
    return Session("s", "a", "en", expected or "nothing", wanted, (evidence,) if expected else (), messages)


def finding(category: str, core: str = "we go with rows, they are faster") -> SaveCandidate:
    return SaveCandidate(category, 0.9, core, (core,), around=(core,))


def test_right_wrong_and_missed_offers_are_counted():
    outcomes = [
        capture.replay(session("decision"), lambda end, known: [finding("decision")]),
        capture.replay(session("decision"), lambda end, known: [finding("preference")]),
        capture.replay(session("constraint"), lambda end, known: []),
        capture.replay(session(""), lambda end, known: [finding("decision")]),
        capture.replay(session(""), lambda end, known: []),
    ]

    assert capture.precision(outcomes) == 1 / 3
    assert capture.recall(outcomes) == 1 / 3
    assert capture.silent(outcomes) == 1 / 2
    assert capture.about(outcomes) == 2 / 3
    assert capture.noticed(outcomes) == 2 / 3


def test_a_session_is_replayed_turn_by_turn_and_nothing_is_offered_twice():
    turns = [
        message
        for number in range(3)
        for message in (Message("user", "text", f"do {number}"), Message("assistant", "text", "Done."))
    ]
    seen: list[int] = []

    def find(end, known):
        seen.append(len(end.messages))
        return [finding("decision")]

    outcome = capture.replay(session("decision")._replace(messages=tuple(turns)), find)

    assert seen == [2, 4, 6]
    assert len(outcome.suggested) == 1
