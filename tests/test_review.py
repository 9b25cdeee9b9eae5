"""What the store says already decides whether a record is new, a change, a reversal or nothing new."""

from __future__ import annotations

import pytest

import recollect
from recollect.capture import review
from recollect.errors import NearDuplicate, Reverses
from recollect.project import Project
from recollect.record import compose
from recollect.record.memory import Memory
from tests.hooks.conftest import SIX


@pytest.fixture
def project(tmp_path) -> Project:
    known = recollect.open(str(tmp_path))
    for category, given in SIX.items():
        known.save(category, given)
    return known


def record(category: str, title: str, tags: tuple[str, ...] = (), **content: object) -> Memory:
    return compose.compose(category, {"title": title, "tags": list(tags) or ["x"], "content": content})


def verdicts(project: Project, new: Memory) -> list[tuple[str, str]]:
    return [(one.memory.id, one.verdict) for one in review.nearest(project.store, new)]


def test_the_same_decision_in_nearly_the_same_words_is_the_same(project):
    new = record(
        "decision",
        "User sessions live in Postgres and not in Redis",
        context="Redis lost sessions on failover.",
        decision="User sessions are rows in auth.sessions with a 14 day expiry.",
        rationale=["one fewer moving part"],
    )

    assert verdicts(project, new)[0] == ("sessions-live-in-postgres-not-redis", "same")
    with pytest.raises(NearDuplicate, match="says nearly the same") as refused:
        review.refuse(review.nearest(project.store, new), "recollect save")
    assert "--update sessions-live-in-postgres-not-redis" in refused.value.fix


def test_the_reverse_of_a_decision_is_shown_as_one(project):
    new = record(
        "decision",
        "Sessions live in Redis, not Postgres",
        context="c",
        decision="User sessions are kept in Redis with a 14 day expiry.",
        rationale=["speed"],
    )

    assert verdicts(project, new)[0] == ("sessions-live-in-postgres-not-redis", "reverses")
    with pytest.raises(Reverses, match="Supersede it") as refused:
        review.refuse(review.nearest(project.store, new), "recollect save")
    assert "--supersedes sessions-live-in-postgres-not-redis" in refused.value.fix


@pytest.mark.parametrize(
    ("title", "verdict"),
    [
        ("Redis over Postgres for user sessions", "reverses"),
        ("Redis rather than Postgres for user sessions", "reverses"),
        ("Redis, with user sessions of Postgres", ""),
        ("Not Postgres: user sessions in Redis", ""),
        ("User sessions in Redis, Postgres not", ""),
    ],
)
def test_only_a_word_of_contrast_between_two_things_prefers_one(project, title, verdict):
    new = record("decision", title, context="c", decision="User sessions expire.", rationale=["speed"])

    assert [found for _, found in verdicts(project, new) if found == "reverses"] == [verdict][: bool(verdict)]


def test_another_amount_for_the_same_rule_is_a_reversal(project):
    new = record(
        "constraint",
        "The carrier API allows 60 calls a minute",
        rule="At most 60 calls a minute to the carrier API.",
        impact=["429"],
    )

    assert verdicts(project, new)[0] == ("the-carrier-api-allows-90-calls-a-minute", "reverses")


def test_one_shared_tag_decides_nothing(project):
    new = record(
        "decision",
        "Passwords are hashed with argon2id",
        tags=("auth", "sessions", "postgres"),
        context="bcrypt cuts at 72 bytes",
        decision="argon2id, 64 MB, 3 passes",
        rationale=["memory hard"],
    )

    assert [verdict for _, verdict in verdicts(project, new) if verdict != "related"] == []
    review.refuse(review.nearest(project.store, new), "recollect save")


def test_what_has_nothing_to_do_with_anything_has_no_neighbours(project):
    new = record("preference", "British spelling", topic="spelling", value="colour, behaviour", reason="the docs")

    assert verdicts(project, new) == []


def test_a_retired_record_is_no_neighbour(project):
    project.writer.retire("sessions-live-in-postgres-not-redis", "gone")
    new = record("decision", "Sessions live in Postgres, not Redis", **SIX["decision"]["content"])

    assert verdicts(project, new) == []


def test_an_empty_store_has_no_neighbours(tmp_path):
    new = record("decision", "Anything", context="c", decision="d", rationale=["r"])

    assert review.nearest(recollect.open(str(tmp_path)).store, new) == []


def test_the_source_of_a_draft_names_the_session_and_quotes_it_within_bounds():
    assert review.source("s-1", ("one", "two")) == 'session s-1: "one … two"'
    assert review.source("", ()) == "session unknown"
    assert len(review.source("s-1", ("x" * 5_000,))) == 1_000


def test_a_sentence_that_a_record_says_already_is_known(project):
    said = "At most 90 calls a minute to the carrier API, the 91st is answered with 429"

    record = review.saying(project.store.root, said)

    assert record is not None and record.category == "constraint"
    assert review.saying(project.store.root, "Fares are rounded half up, to the cent, once") is None
