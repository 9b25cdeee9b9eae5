"""Questions about the work itself, and the days that they ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import timestamps
from onrecord.recall import work_question
from onrecord.recall.work_question import DONE, LEFT_OFF, NEXT, WorkQuestion

NOW = "2026-11-18T12:00:00Z"
"""A Wednesday."""


@pytest.fixture(autouse=True)
def _utc(monkeypatch):
    monkeypatch.setattr(work_question.time, "localtime", work_question.time.gmtime)


@pytest.mark.parametrize(
    ("prompt", "first", "last"),
    [
        ("What did we do last week?", "2026-11-09", "2026-11-15"),
        ("what did we do this week", "2026-11-16", "2026-11-18"),
        ("what was I working on yesterday", "2026-11-17", "2026-11-17"),
        ("what have we done today?", "2026-11-18", "2026-11-18"),
        ("what did i get done last month", "2026-10-01", "2026-10-31"),
        ("what did we do on monday?", "2026-11-16", "2026-11-16"),
        ("what did we do last friday?", "2026-11-13", "2026-11-13"),
        ("what did we do last wednesday?", "2026-11-11", "2026-11-11"),
        ("what did we do 3 days ago?", "2026-11-15", "2026-11-15"),
        ("what did we do in the last three days?", "2026-11-15", "2026-11-18"),
        ("what have we done the past 2 weeks", "2026-11-04", "2026-11-18"),
        ("what have we been working on lately?", "2026-11-04", "2026-11-18"),
        ("Was haben wir letzte Woche gemacht?", "2026-11-09", "2026-11-15"),
        ("woran haben wir gestern gearbeitet?", "2026-11-17", "2026-11-17"),
        ("was habe ich heute geschafft", "2026-11-18", "2026-11-18"),
        ("was haben wir vor 2 Tagen gemacht?", "2026-11-16", "2026-11-16"),
        ("¿qué hicimos la semana pasada?", "2026-11-09", "2026-11-15"),
        ("¿en qué estaba trabajando ayer?", "2026-11-17", "2026-11-17"),
        ("¿qué hicimos hace 3 días?", "2026-11-15", "2026-11-15"),
        ("qu'avons-nous fait la semaine dernière ?", "2026-11-09", "2026-11-15"),
        ("qu'est-ce qu'on a fait hier ?", "2026-11-17", "2026-11-17"),
    ],
)
def test_a_period_has_its_days(prompt, first, last):
    question = work_question.parse(prompt, NOW)

    assert question and (question.kind, question.topic) == (DONE, "")
    assert question.period and (question.period.first, question.period.last) == (first, last)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("where did we leave off?", LEFT_OFF),
        ("hey, where were we?", LEFT_OFF),
        ("continue where we left off", LEFT_OFF),
        ("let's pick up where we left off last time", LEFT_OFF),
        ("where did I stop yesterday?", LEFT_OFF),
        ("wo waren wir stehengeblieben?", LEFT_OFF),
        ("wo haben wir aufgehört?", LEFT_OFF),
        ("¿dónde lo dejamos?", LEFT_OFF),
        ("où en étions-nous ?", LEFT_OFF),
        ("what's next?", NEXT),
        ("what should we do next", NEXT),
        ("what are the next steps?", NEXT),
        ("ok what's left to do", NEXT),
        ("next steps?", NEXT),
        ("wie geht es weiter?", NEXT),
        ("was kommt als nächstes?", NEXT),
        ("¿qué sigue?", NEXT),
        ("¿cuáles son los próximos pasos?", NEXT),
        ("quelle est la prochaine étape ?", NEXT),
    ],
)
def test_the_state_of_the_work_is_asked_for(prompt, kind):
    assert work_question.parse(prompt, NOW) == WorkQuestion(kind)


def test_the_last_session_has_no_days():
    assert work_question.parse("what did we do last time?", NOW) == WorkQuestion(DONE)


def test_a_topic_is_kept():
    question = work_question.parse("what did we do last week on the importer?", NOW)

    assert question and question.topic == "importer?"


@pytest.mark.parametrize(
    "prompt",
    [
        "add a 'continue where you left off' notice",
        "what's next to the submit button?",
        "what is left of the old parser?",
        "the next step is to write the tests",
        "what did we do?",
        "what did we decide about pytest?",
        "where were the fixtures defined",
        "why did the build fail yesterday?",
        "rename last_week to previous_week",
        "what did we do last week " + "and so on " * 20,
        "",
    ],
)
def test_other_prompts_are_no_such_questions(prompt):
    assert work_question.parse(prompt, NOW) is None


WORDS = "what did we do last week where leave off next 3 days ago hier was haben wir gestern gemacht que hicimos monday"


@given(
    st.text(max_size=170) | st.lists(st.sampled_from(WORDS.split()), max_size=24).map(" ".join),
    st.integers(0, 4_000_000_000),
)
def test_days_are_in_order_and_not_in_the_future(prompt, seconds):
    now = timestamps.from_seconds(seconds)
    question = work_question.parse(prompt, now)

    if question and question.period:
        assert question.period.first <= question.period.last <= work_question.local_day(now)
