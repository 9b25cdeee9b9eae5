"""The models of relevance: for prompts, for searches as people type them, and the keyword scorer."""

from __future__ import annotations

import pytest

from onrecord.search import (
    coefficients,
    index,
    query,
    rank,
    relevance,
    word_features,
)
from onrecord.search.candidates import Filter
from onrecord.settings import Settings
from tests import searching
from tests.known_project import known_project
from tests.records import decision, put, sample


def test_the_coefficients_fit_the_features():
    assert tuple(coefficients.WITH_MEANING) == ("base", *relevance.NAMES, *relevance.RELATIVE)
    assert tuple(coefficients.WORDS_ONLY) == ("base", *word_features.NAMES, *relevance.RELATIVE)
    assert 0 < coefficients.POINTER < relevance.THRESHOLD < 1


def test_meaning_counts_where_enough_words_of_the_prompt_have_a_vector():
    in_english, in_another_language = relevance.weights(0.9), relevance.weights(0.1)

    assert len(in_english.rank) == len(relevance.NAMES)
    assert len(in_another_language.rank) == len(word_features.NAMES)
    assert len(in_another_language.relevance) == len(word_features.NAMES) + len(relevance.RELATIVE)


def test_without_a_table_features_of_meaning_change_nothing():
    weights = relevance.weights(0.0)
    values = [0.5] * len(word_features.NAMES)
    compared = (0.5, -0.7, 1.0, 0.2)

    low, high = ([*values, *[meaning] * (len(relevance.NAMES) - len(values))] for meaning in (0.0, 0.9))

    assert relevance.score(weights, low) == relevance.score(weights, high)
    assert relevance.probability(weights, low, compared) == relevance.probability(weights, high, compared)


def test_a_lone_hit_has_no_rivals_and_a_crowd_shares():
    assert relevance.relative([], []) == []
    assert relevance.relative([1.5], ["a"]) == [(1.0, 0.0, 1.5, 2.0)]
    crowd = relevance.relative([1.0, 1.0, 1.0, 1.0], "abcd")
    assert [one[0] for one in crowd] == pytest.approx([0.25] * 4)


def test_records_on_one_subject_do_not_compete():
    alone = relevance.relative([1.0, 0.0], "ab")
    crowd = relevance.relative([1.0, 1.0, 1.0, 0.0], "aaab")

    assert crowd[:3] == [pytest.approx(alone[0])] * 3
    assert crowd[3] == pytest.approx(alone[1])


def test_evidence_from_outside_the_text_moves_a_probability():
    assert relevance.shifted(0.5, 1.0) > 0.5 > relevance.shifted(0.5, -1.0)
    assert relevance.shifted(0.3, 0.0) == pytest.approx(0.3)


@pytest.mark.parametrize(("probability", "word"), [(0.95, "high"), (0.6, "medium"), (0.1, "low")])
def test_confidence(probability, word):
    assert relevance.confidence(probability) == word


_TOPICS = {
    "Rotate the signing keys of the gateway monthly": (
        "The signing key of the API gateway is rotated on the 1st of each month by the cron job key-rotation."
    ),
    "Schema migrations run before the deploy": (
        "Alembic migrations must be backward compatible for one release, and are applied by the release pipeline."
    ),
    "Transactional e-mail goes through Postmark": (
        "Receipts and password resets are sent through Postmark, never through the marketing provider."
    ),
}


def store_of(tmp_path, fillers):
    root = str(tmp_path / "memory")
    for number, (title, text) in enumerate(_TOPICS.items()):
        put(root, decision(f"topic-{number}", title, text))
    for number in range(fillers):
        title = f"Component {number} uses widget {number * 7}"
        text = (
            f"Widget {number * 7} of component {number} is configured in module {number * 3} for tenant {number % 50}."
        )
        put(root, decision(f"filler-{number:04}", title, text))
    return index.in_memory(root)


@pytest.mark.parametrize("fillers", [0, 60, 1_000])
def test_the_relevance_model_is_not_fooled_by_the_size_of_the_store(tmp_path, fillers):
    opened = store_of(tmp_path, fillers)

    def best(prompt):
        return max((match.probability for match in searching.find(opened, prompt, mode="auto")), default=0.0)

    assert best("how often is the signing key of the gateway rotated?") >= 0.6
    assert best("are alembic migrations applied before or after the deploy?") >= 0.6
    assert best("make the button on the settings page blue") < relevance.THRESHOLD
    assert best("thanks, looks good") < relevance.THRESHOLD


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

    assert all(chance >= coefficients.SEARCH_FLOOR for chance in chances)
    assert chances == pytest.approx(sorted(chances, reverse=True), abs=0.05)


def test_without_vectors_words_alone_decide(project):
    values = dict.fromkeys(relevance.NAMES, 0.0)
    nothing = relevance.search_score(list(values.values()))
    values.update(coverage=1.0, title_asked=1.0, in_title=1.0, title_both=1.0, matches=0.7, mass=0.5)

    assert relevance.shifted(0.5, relevance.search_score(list(values.values()))) > 0.9
    assert relevance.shifted(0.5, nothing) < 0.2


def test_the_weights_are_of_features_there_are():
    names = {*coefficients.SEARCH_WEIGHTS, *coefficients.SEARCH_WORDS_WEIGHTS}

    assert names <= set(relevance.NAMES)
    assert 0 < coefficients.SEARCH_FLOOR < coefficients.SEARCH_KEYWORD_ASKED < 1


def test_the_weights_of_past_questions_are_of_features_there_are():
    names = {*coefficients.PAST_WEIGHTS, *coefficients.PAST_WORDS_WEIGHTS}

    assert names <= set(relevance.PAST_NAMES)
    for rule, pointer, denied in (coefficients.PAST_ENGLISH, coefficients.PAST_OTHERS):
        assert 0 < denied < pointer < rule < 1


def points(prompt, title, tags=(), text=""):
    class Row:
        title_terms = " ".join(query.terms.stream(title))
        tag_terms = " ".join(query.terms.stream(" ".join(tags)))
        body_terms = " ".join(query.terms.stream(text))
        category = "decision"

    return relevance.keyword_points(set(query.parse(prompt).terms), Row)


@pytest.mark.parametrize(
    ("record", "score"),
    [
        ({"title": "Redis"}, 2),
        ({"title": "x", "tags": ["redis"]}, 3),
        ({"title": "Redistribution"}, 1),
        ({"title": "x", "text": "redis"}, 1),
        ({"title": "Redis", "tags": ["redis"], "text": "redis redis"}, 6),
        ({"title": "nothing"}, 0),
    ],
)
def test_score(record, score):
    assert points("redis", **record) == score


@pytest.mark.parametrize(
    ("prompt", "title", "score"),
    [
        ("redis", "Redis", 3),
        ("redis queue", "Redis", 4),
        ("redis queue worker", "Redis", 4),
        ("queue worker", "Postgres", 0),
    ],
)
def test_what_a_category_is_for_adds_two_points_at_most_to_a_record_that_scores(tmp_path, prompt, title, score):
    root = str(tmp_path / "memory")
    put(root, decision("it", title, "", updated_at="2025-01-01T00:00:00Z"))
    settings = Settings()
    described = {"categories.decision.description": "redis queue worker", "categories.runbook.description": "redis"}
    settings.take("test", True, {"retrieval.match_strategy": "title_tags", **described})

    matches = searching.find(index.in_memory(root), prompt, now="2026-03-02T00:00:00Z", settings=settings)

    assert [match.score for match in matches] == [score][: bool(score)]


def test_recent_records_come_first_among_equals(tmp_path):
    root = str(tmp_path / "memory")
    put(root, decision("old", "Redis", "", updated_at="2025-01-01T00:00:00Z"))
    put(root, decision("fresh", "Redis", "", updated_at="2026-03-01T00:00:00Z", supersedes=["gone"]))
    put(root, sample(id="gone", title="Redis", superseded_by="fresh"))

    found = rank.by_keywords(index.in_memory(root), query.parse("redis"), Filter(now="2026-03-02T00:00:00Z"))

    assert [(match.id, match.score) for match in found] == [("fresh", 3), ("old", 2)]
    assert all(isinstance(match, rank.Match) for match in found)
