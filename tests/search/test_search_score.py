"""Searches as people type them: a few words, the beginning of a word, an identifier; and what their score is worth."""

from __future__ import annotations

import pytest

from onrecord.search import relevance, search_coefficients
from tests.known_project import known_project

SESSIONS = {"title": "Sessions live in Postgres", "tags": ["auth"], "context": "Redis lost sessions on failover",
            "decision": "Sessions are rows in auth.sessions, 14 day expiry", "rationale": "one fewer moving part",
            "triggers": ["where do we keep login state?"]}  # fmt: skip
TITLES = (
    "Auth tokens expire after an hour",
    "Authentication goes through Keycloak",
    "Authorization is checked in the gateway",
    "Queues drain nightly",
    "Invoices are numbered per year",
)


@pytest.fixture
def project(tmp_path):
    fields = {"context": "c", "decision": "It is so.", "rationale": "r"}
    decisions = [SESSIONS, *({"title": title, **fields} for title in TITLES)]
    return known_project(tmp_path / "project", *(("decision", decision) for decision in decisions))


def titles(project, text):
    return [hit.title for hit in project.search(text)]


def test_the_words_of_a_trigger_are_a_good_match(project):
    best = project.search("login state")[0]

    assert best.title == "Sessions live in Postgres"
    assert best.probability >= relevance.MEDIUM


def test_a_word_of_one_title_is_a_good_match(project):
    for word in ("keycloak", "nightly", "invoices", "postgres"):
        assert project.search(word)[0].probability >= relevance.MEDIUM, word


def test_a_word_is_found_together_with_the_words_that_begin_like_it(project):
    listed = titles(project, "auth")

    assert listed[0] == "Auth tokens expire after an hour"
    assert {"Authentication goes through Keycloak", "Authorization is checked in the gateway"} <= set(listed)


def test_the_beginning_of_a_word_finds_that_word_first(project):
    assert titles(project, "authoriz")[0] == "Authorization is checked in the gateway"
    assert titles(project, "authent")[0] == "Authentication goes through Keycloak"


def test_words_of_a_sentence_are_not_taken_for_beginnings(project):
    assert "Authorization is checked in the gateway" not in titles(
        project, "every auth token shall expire within an hour"
    )


@pytest.mark.parametrize(
    "text", ["login state", "auth", "postgres", "nightly drain", "expire", "zebra crossing", "the"]
)
def test_noise_is_not_listed_and_the_best_come_first(project, text):
    chances = [hit.probability for hit in project.search(text)]

    assert all(chance >= search_coefficients.FLOOR for chance in chances)
    assert chances == pytest.approx(sorted(chances, reverse=True), abs=0.05)


def test_without_vectors_words_alone_decide(project):
    values = dict.fromkeys(relevance.NAMES, 0.0)
    nothing = relevance.search_score(list(values.values()))
    values.update(coverage=1.0, title_asked=1.0, in_title=1.0, title_both=1.0, matches=0.7, mass=0.5)

    assert relevance.shifted(0.5, relevance.search_score(list(values.values()))) > 0.9
    assert relevance.shifted(0.5, nothing) < 0.2


def test_the_weights_are_of_features_there_are():
    names = {*search_coefficients.WEIGHTS, *search_coefficients.WORDS_WEIGHTS}

    assert names <= set(relevance.NAMES)
    assert 0 < search_coefficients.FLOOR < search_coefficients.ASKED_POINTER < search_coefficients.ASKED < 1
