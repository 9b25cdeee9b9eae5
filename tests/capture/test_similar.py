"""Records that are similar to a new one."""

from __future__ import annotations

import pytest

import onrecord
from onrecord.capture import similar
from onrecord.errors import NearDuplicate
from onrecord.project import Project
from onrecord.record import compose
from onrecord.record.memory import Memory
from onrecord.search import vectors
from tests.known_project import SIX, known_project

SESSIONS = "sessions-live-in-postgres-not-redis"


@pytest.fixture
def project(tmp_path) -> Project:
    return known_project(tmp_path, *SIX.items())


def record(category: str, title: str, tags: tuple[str, ...] = (), **content: object) -> Memory:
    return compose.compose(category, {"title": title, "tags": list(tags) or ["x"], "content": content})


def reversal() -> Memory:
    return record(
        "decision",
        "User sessions move from Postgres to Redis",
        context="Postgres was too slow for sessions.",
        decision="User sessions are kept in Redis with a 14 day expiry.",
        rationale=["speed"],
    )


def ids(project: Project, new: Memory) -> list[tuple[str, bool]]:
    return [(match.memory.id, match.is_same) for match in similar.find(project.store, new)]


def test_the_same_decision_in_nearly_the_same_words_is_refused(project):
    new = record(
        "decision",
        "User sessions live in Postgres and not in Redis",
        context="Redis lost sessions on failover.",
        decision="User sessions are rows in auth.sessions with a 14 day expiry.",
        rationale=["one fewer moving part", "failover cost 40 tickets in May"],
    )

    assert ids(project, new) == [(SESSIONS, True)]
    with pytest.raises(NearDuplicate, match="says nearly the same") as caught:
        similar.refuse(similar.find(project.store, new), similar.command_fix("onrecord save"))
    assert f"--update {SESSIONS}" in caught.value.fix


def test_the_reverse_of_a_decision_is_similar_and_refused_by_nobody(project):
    matches = similar.find(project.store, reversal())

    assert [(match.memory.id, match.is_same) for match in matches] == [(SESSIONS, False)]
    similar.refuse(matches, similar.command_fix("onrecord save"))


def test_without_a_table_of_word_vectors_only_the_same_wording_counts(project, monkeypatch):
    def missing():
        raise OSError("no table")

    monkeypatch.setattr(vectors, "shared", missing)

    assert ids(project, reversal()) == []
    assert ids(project, record("decision", SIX["decision"]["title"], **SIX["decision"]["content"])) == [
        (SESSIONS, True)
    ]


@pytest.mark.parametrize(
    ("category", "title", "content"),
    [
        ("decision", "Passwords are hashed with argon2id",
         {"context": "bcrypt cuts at 72 bytes", "decision": "argon2id, 64 MB, 3 passes", "rationale": ["memory hard"]}),
        ("preference", "British spelling", {"topic": "spelling", "value": "colour, behaviour", "reason": "the docs"}),
        ("tech_debt", "Expired user sessions stay in Postgres",
         {"description": "Expired rows of auth.sessions are not deleted.", "reason_deferred": "no time"}),
    ],
)  # fmt: skip
def test_what_settles_another_question_is_not_similar(project, category, title, content):
    new = record(category, title, tags=("auth", "sessions", "postgres"), **content)

    assert ids(project, new) == []


def test_two_procedures_that_resemble_each_other_are_not_similar(project):
    new = record(
        "runbook",
        "Kafka consumer lag after a broker restart",
        trigger="Consumer lag of group projector grows after a broker restart",
        steps=["Scale projector to 12 replicas", "Wait for the leader election", "Watch the lag fall"],
        verification="lag under 1000",
    )

    assert ids(project, new) == []


def test_a_retired_record_is_not_similar(project):
    project.writer.retire(SESSIONS, "gone")

    assert ids(project, record("decision", SIX["decision"]["title"], **SIX["decision"]["content"])) == []


def test_an_empty_store_has_nothing_similar(tmp_path):
    assert similar.find(onrecord.open(str(tmp_path)).store, reversal()) == []


def test_a_sentence_that_a_record_says_already_is_known(project):
    sentence = "At most 90 calls a minute to the carrier API, the 91st is answered with 429"

    record = similar.find_restated(project.store.root, sentence)

    assert record is not None and record.category == "constraint"
    assert similar.find_restated(project.store.root, "Fares are rounded half up, to the cent, once") is None
