"""The triggers that an agent writes for imported drafts: what it is asked, and what of its answers is taken."""

from __future__ import annotations

import pytest

from onrecord.audit import hard_to_find
from onrecord.errors import BadInput
from onrecord.importers import trigger_request
from onrecord.importers.trigger_request import TriggerAnswer
from onrecord.record.drafts import Draft
from tests.records import CONTENT, sample

GOOD = [
    "add a cron job", "run work in the background", "jobs get lost after a restart", "RabbitMQ, Kafka, Celery",
    "why do tasks vanish?", "worker pool", "a list in memory is enough",
]  # fmt: skip


def draft(name: str = "use-nats", **fields) -> Draft:
    record = sample(id=name, title="Use NATS", content=CONTENT["decision"], origin="import", triggers=(), **fields)
    return Draft(name, record._replace(triggers=()))


def test_imported_drafts_without_triggers_are_asked_for_with_what_they_say():
    full = draft("full")._replace(record=draft("full").record._replace(triggers=tuple(GOOD)))
    other = Draft("by-hand", draft().record._replace(origin="user"))

    assert trigger_request.wanted([draft(), full, other]) == [draft()]
    assert trigger_request.described(draft()) == {
        "draft": "use-nats",
        "title": "Use NATS",
        "says": "Sessions live in Redis 7",
        "because": ["One thing to run"],
        "source": draft().record.source,
        "has": [],
    }


def test_a_good_answer_makes_the_draft_easy_to_find():
    (answer,) = trigger_request.check({"use-nats": GOOD}, [draft()])

    assert answer.reason == ""
    assert answer.draft.record.triggers == tuple(GOOD)
    assert hard_to_find.trigger_reasons(answer.draft.record) == []


@pytest.mark.parametrize(
    ("phrases", "reason"),
    [
        (GOOD[:3], "has 3 triggers"),
        ([], "has no triggers"),
        (["use nats"] * 8, "only repeat the title"),
        ([*GOOD, "fix the bug"], "only words that any prompt may have"),
        ([*GOOD, "x " * 21], "more than 20 words"),
        ([*GOOD, "y" * 400], "triggers"),
        ([f"{phrase} {number}" for number in range(3) for phrase in GOOD], "triggers"),
        ([*GOOD, "token ghp_" + "a1B2" * 9], "token"),
    ],
)
def test_a_bad_answer_is_refused_with_the_reason(phrases, reason):
    (answer,) = trigger_request.check({"use-nats": phrases}, [draft()])

    assert answer.draft is None
    assert reason in answer.reason.lower() or reason in answer.reason


def test_a_phrase_of_two_drafts_tells_neither_from_the_other():
    answers = trigger_request.check({"a": GOOD, "b": [*GOOD[:1], *(f"other {phrase}" for phrase in GOOD)]},
                                    [draft("a"), draft("b")])  # fmt: skip

    assert [answer.reason for answer in answers] == [
        "'add a cron job' is a trigger of b, too",
        "'add a cron job' is a trigger of a, too",
    ]


def test_an_unknown_draft_is_named():
    assert trigger_request.check({"nope": GOOD}, []) == [TriggerAnswer("nope", reason="there is no such draft")]


@pytest.mark.parametrize("raw", [{"a": "b"}, {"a": [1]}, {"a": None}, {"b": ["x"], "a": {}}])
def test_what_is_no_list_of_phrases_by_draft_is_refused(raw):
    with pytest.raises(BadInput, match="the triggers of 'a' are not a list of phrases") as caught:
        trigger_request.parse(raw)
    assert caught.value.fix == 'give {"draft": ["phrase", …], …} with the names that the request lists'


def test_no_triggers_at_all_are_refused():
    with pytest.raises(BadInput, match="there are no triggers"):
        trigger_request.parse({})


def test_a_phrase_may_have_twenty_words_and_one_too_long_is_quoted_in_part():
    words = "how do we add one more job to the queue of all the workers at night without losing any"
    assert len(words.split()) == 19

    fits, over = (
        trigger_request.check({"use-nats": [*GOOD, phrase]}, [draft()])[0]
        for phrase in (f"{words}\n again", f"{words} again please")
    )

    assert fits.draft.record.triggers == (*GOOD, f"{words} again")
    assert over.reason == f"{words[:40]!r} has more than 20 words"


def test_a_phrase_is_the_same_in_other_letters_and_spaces_and_all_its_other_drafts_are_named():
    drafts = [draft(name) for name in "abc"]
    answers = trigger_request.check({"c": ["Add  a Job"], "b": ["add a job"], "a": ["add a job "]}, drafts)

    assert [answer.reason for answer in answers] == [
        "'Add  a Job' is a trigger of a, b, too",
        "'add a job' is a trigger of a, c, too",
        "'add a job ' is a trigger of b, c, too",
    ]


def test_new_triggers_come_after_those_that_a_draft_has_and_each_once():
    has = draft()._replace(record=draft().record._replace(triggers=tuple(GOOD[:2])))

    (answer,) = trigger_request.check({"use-nats": GOOD}, [has])

    assert trigger_request.described(has)["has"] == GOOD[:2]
    assert answer.draft.record.triggers == tuple(GOOD)


@pytest.mark.parametrize(
    ("category", "says"), [("constraint", "At most 100 requests a minute"), ("preference", "tabs"), ("runbook", "")]
)
def test_what_a_draft_says_is_its_rule(category, says):
    other = Draft("x", sample(category, origin="import"))

    assert trigger_request.described(other)["says"] == says
    assert trigger_request.described(other)["because"] == []
