"""Questions about what was decided, agreed or learned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.recall import for_prompt, past_question
from onrecord.recall.candidate import NOTHING_ON_FILE
from onrecord.search import indexing
from tests.agent_context import prompt_context
from tests.known_project import known_project

KEYCLOAK = {"title": "Logins go through Keycloak", "tags": ["auth"], "context": "Three apps had their own logins.",
            "decision": "Keycloak is the only identity provider.", "rationale": "one place to revoke"}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    return known_project(tmp_path / "project")


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("what did we decide about pytest?", "pytest?"),
        ("hey, what did we agree on for retries", "retries"),
        ("why did we choose keycloak?", "keycloak?"),
        ("why do we use two caches", "two caches"),
        ("why did we get rid of stages?", "stages?"),
        ("why was the plugin system rejected", "plugin system"),
        ("why did iter_many change to results", "iter_many results"),
        ("do we have a rule for commit messages?", "commit messages?"),
        ("is there a convention for branch names", "branch names"),
        ("what do we know about kafka", "kafka"),
        ("what's our policy on retries?", "retries?"),
        ("recall the previous decision on kafka", "previous kafka"),
        ("remind me why we pin numpy", "pin numpy"),
        ("have we ever used celery?", "used celery?"),
        ("which queue did we settle on", "queue"),
        ("we said no to that format, why again?", "no format,"),
        ("Was haben wir zu Copy-on-Write entschieden?", "Copy-on-Write"),
        ("warum haben wir Redis rausgeworfen und nicht gelassen?", "Redis rausgeworfen"),
        ("Haben wir eine Regel für Datumsformate?", "Datumsformate?"),
        ("Gibt es bei uns eine Regel zu KI?", "KI?"),
        ("Hatten wir nicht eine Sonderregel für Releases?", "Releases?"),
        ("gab es nicht eine Regel für Flags?", "Flags?"),
        ("was wissen wir über Kafka", "Kafka"),
        ("¿qué decidimos sobre las fechas?", "fechas?"),
        ("¿por qué dejamos naga_oil?", "naga_oil?"),
        ("¿tenemos una política sobre versiones?", "versiones?"),
        ("cual es nuestra convención para ramas", "ramas"),
    ],
)
def test_a_question_about_the_past_has_a_topic(prompt, topic):
    assert past_question.topic(prompt) == topic


@pytest.mark.parametrize(
    "prompt",
    [
        "we decided to use argon2",
        "why do we get a 500 here?",
        "why did we lose sessions last night?",
        "recall is low on the test set",
        "remind me to update the changelog",
        "add a rule for unused imports",
        "warum haben wir hier einen 500er?",
        "wir haben uns für argon2 entschieden",
        "¿por qué obtenemos un 500 aquí?",
        "decidimos usar argon2",
        "add a 'continue where you left off' notice",
        "what did we decide?",
        "what did we decide about pytest? " + "x" * 400,
        "",
    ],
)
def test_other_prompts_are_no_such_questions(prompt):
    assert past_question.topic(prompt) == ""


@given(st.text(max_size=500) | st.lists(st.sampled_from(
    "what why did we decide was haben wir que por tenemos una regla ~3 | ! * ^ do have rule about".split()
), max_size=90).map(" ".join))  # fmt: skip
def test_a_topic_is_made_of_words_of_the_prompt(prompt):
    topic = past_question.topic(prompt)

    assert set(topic.split()) <= set(prompt.split())
    assert not topic or len(topic) < len(prompt) <= 400


@pytest.mark.parametrize(
    "prompt",
    ["why did we choose keycloak?", "what do we know about keycloak", "warum haben wir Keycloak genommen?",
     "¿qué decidimos sobre keycloak?", "do we have a decision on keycloak"],
)  # fmt: skip
def test_the_only_record_on_a_subject_answers(project, prompt):
    project.save("decision", KEYCLOAK)

    assert "Keycloak is the only identity provider" in prompt_context(project, prompt)


def test_at_most_three_records_answer(project):
    for number in range(6):
        project.save("decision", {**KEYCLOAK, "title": f"Keycloak, part {number}"})

    decision = for_prompt.preview(project.stores, "what did we decide about keycloak?", project.settings, first=True)
    assert [candidate.shown_form for candidate in decision.shown_candidates] == ["rule", "rule", "rule"]


def test_nothing_on_file_is_said_where_nothing_matches(project):
    project.save("decision", KEYCLOAK)

    assert prompt_context(project, "why did we choose kubernetes?") == NOTHING_ON_FILE
    assert prompt_context(project, "please deploy to kubernetes") == ""


def test_nothing_is_said_of_an_empty_store(project):
    project.save("decision", KEYCLOAK)
    project.writer.retire("logins-go-through-keycloak", "gone")

    assert prompt_context(project, "why did we choose kubernetes?") == ""


def test_a_retired_record_is_on_file(project):
    project.save("decision", KEYCLOAK)
    project.save("decision", {**KEYCLOAK, "title": "Kubernetes runs the jobs", "decision": "Jobs run in pods."})
    project.writer.retire("kubernetes-runs-the-jobs", "moved")

    assert prompt_context(project, "why did we choose kubernetes?") != NOTHING_ON_FILE


def test_nothing_is_denied_while_the_index_is_incomplete(project, monkeypatch):
    project.save("decision", KEYCLOAK)
    monkeypatch.setattr(indexing, "is_complete", lambda index: False)

    assert prompt_context(project, "why did we choose kubernetes?") == ""


def test_an_answer_that_was_shown_is_not_repeated(project):
    project.save("decision", KEYCLOAK)

    assert "identity provider" in prompt_context(project, "why did we choose keycloak?", session="s")
    assert prompt_context(project, "what did we decide about keycloak?", session="s") == ""
