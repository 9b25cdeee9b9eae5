"""The arithmetic of relevance, function by function, with numbers that can be worked out by hand."""

from __future__ import annotations

from math import exp, log
from types import SimpleNamespace

import pytest

from onrecord.search import candidates, coefficients, query, relevance
from onrecord.search.candidates import Corpus
from onrecord.search.relevance import Weights

WEIGHTS = Weights((1.0, -2.0), [0.5, 2.0], [1.0, -1.0, 3.0, 0.0, 0.0, 0.5])


def odds(logit):
    return pytest.approx(1 / (1 + exp(-logit)))


def record(title="", tags="", triggers="", body="", category="decision"):
    return SimpleNamespace(
        title_terms=title, tag_terms=tags, trigger_terms=triggers, body_terms=body, category=category, path="a.json"
    )


def weighed(text, alike=None, on_file=()):
    asked = query.parse(text)
    frequency = dict.fromkeys(on_file, 1)
    return asked, candidates.weighted(asked, Corpus(50, 8, 60, frequency, frequency), alike or {})


def features(**values):
    return [float(values.get(name, 0.0)) for name in relevance.PAST_NAMES]


def test_a_record_without_vectors_has_no_semantic_features():
    assert not any(relevance.NO_MEANING)


def test_a_score_is_weighed_by_the_ranking():
    assert relevance.score(WEIGHTS, [4.0, 3.0]) == 1.0 + 2.0 + 6.0


@pytest.mark.parametrize(
    ("values", "relative", "logit"),
    [
        ((0, 0), (0, 0, 0, 0), -2.0),
        ((1, 0), (0, 0, 0, 0), -1.0),
        ((1, 2, 9, 9), (1, 7, 7, 2), 1.0),
        ((100, 0), (0, 0, 0, 0), 30.0),
        ((-100, 0), (0, 0, 0, 0), -30.0),
    ],
)
def test_a_probability_is_weighed_by_relevance_within_bounds(values, relative, logit):
    assert relevance.probability(WEIGHTS, values, relative) == odds(logit)


def test_a_score_alone_has_the_whole_share():
    assert relevance.relative([], []) == []
    assert relevance.relative([5.0], ["a"]) == [(1.0, 0.0, 5.0, 2.0)]


def test_scores_compete_with_those_of_other_subjects():
    best, second, other = relevance.relative([5.0, 4.0, 1.0], ["a", "a", "b"])

    total = 1 + exp(-4)
    assert best == pytest.approx((1 / total, -log(total), 5.0, 3.0))
    assert second == pytest.approx((exp(-1) / (exp(-1) + exp(-4)), log(exp(-1) / (exp(-1) + exp(-4))), 4.0, 3.0))
    assert other == pytest.approx((exp(-4) / total, -4 - log(total), 1.0, -4.0))
    assert relevance.relative([5.0, 3.5], ["a", "b"])[0][3] == 1.5
    assert relevance.relative([5.0, -95.0], ["a", "b"])[1][0] == pytest.approx(exp(-50))
    assert relevance.relative([5.0, 4.0, -95.0], ["a", "a", "b"])[2][1] == pytest.approx(-50)


def test_a_score_competes_with_twelve():
    shares = [share for share, *_ in relevance.relative([0.0] * 14, list(range(14)))]

    assert shares == pytest.approx([1 / 12] * 12 + [1 / 13] * 2)


@pytest.mark.parametrize(
    ("probability", "logits", "shifted"),
    [(0.5, 0.0, 0.5), (0.5, 1.0, 1 / (1 + exp(-1))), (0.0, 0.0, 1e-9), (1.0, 0.0, 1 - 1e-9), (0.75, -log(3), 0.5)],
)
def test_evidence_shifts_a_probability(probability, logits, shifted):
    assert relevance.shifted(probability, logits) == pytest.approx(shifted, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("probability", "word"), [(1.0, "high"), (0.85, "high"), (0.84, "medium"), (0.5, "medium"), (0.49, "low")]
)
def test_a_probability_in_one_word(probability, word):
    assert relevance.confidence(probability) == word


@pytest.mark.parametrize(("share", "table"), [(0.25, coefficients.WITH_MEANING), (0.24, coefficients.WORDS_ONLY)])
def test_meaning_counts_if_enough_words_have_a_vector(share, table):
    weights = relevance.weights(share)

    assert weights.base == table["base"]
    assert weights.rank == [row[0] for row in list(table.values())[1:-4]]
    assert weights.relevance == [row[1] for row in list(table.values())[1:]]


@pytest.mark.parametrize(
    ("score", "words_base", "words", "base", "weights"),
    [
        (relevance.search_score, coefficients.SEARCH_WORDS_BASE, coefficients.SEARCH_WORDS_WEIGHTS,
         coefficients.SEARCH_BASE, coefficients.SEARCH_WEIGHTS),
        (relevance.past_score, coefficients.PAST_WORDS_BASE, coefficients.PAST_WORDS_WEIGHTS,
         coefficients.PAST_BASE, coefficients.PAST_WEIGHTS),
    ],
    ids=["search", "past"],
)  # fmt: skip
def test_the_log_odds_have_a_table_with_vectors_and_one_without(score, words_base, words, base, weights):
    assert score(features()) == words_base
    assert score(features(mass=2)) == pytest.approx(words_base + 2 * words["mass"])
    assert score(features(mass=99)) == score(features(mass=8)) != score(features(mass=7))
    assert score(features(mass=-99)) == score(features(mass=-8)) != score(features(mass=-7))
    assert score(features(vector_share=1)) == pytest.approx(base + weights["vector_share"])
    assert score(features(vector_share=1, meaning_z=2)) == pytest.approx(
        base + weights["vector_share"] + 2 * weights["meaning_z"]
    )
    assert score(features(window=3)) == words_base


def test_what_is_apart_and_what_is_unknown_follow_the_other_features():
    weights, others = coefficients.PAST_WORDS_WEIGHTS, [0.0] * len(relevance.NAMES)

    assert relevance.past_score([*others, 1.0, 0.0]) == pytest.approx(coefficients.PAST_WORDS_BASE + weights["apart"])
    assert relevance.past_score([*others, 0.0, 1.0]) == pytest.approx(coefficients.PAST_WORDS_BASE + weights["unknown"])


@pytest.mark.parametrize(
    ("row", "apart"),
    [
        (record(title="the user id now"), 0.0),
        (record(tags="user id"), 0.0),
        (record(triggers="user id"), 0.0),
        (record(body="user id"), 0.0),
        (record(title="user", body="id"), 1.0),
        (record(body="user x id"), 1.0),
        (record(body="user ids"), 1.0),
    ],
)
def test_parts_of_a_compound_that_are_not_together_count(row, apart):
    asked, weights = weighed("set user_id kafka")

    assert relevance.past_features([7.0], asked, weights, row)[:2] == [7.0, apart]
    assert relevance.search_cost(asked, weights, row) == 2.0 * apart


def test_of_two_compounds_half_are_apart():
    asked, weights = weighed("set user_id mail.box")

    row = record(body="user id")

    assert relevance.past_features([], asked, weights, row)[0] == 0.5
    assert relevance.search_cost(asked, weights, row) == 1.0


def test_words_that_no_record_has_are_unknown():
    asked, weights = weighed("kafka lag redis", on_file=("kafka",))

    features = relevance.past_features([], asked, weights, record())

    assert features == [0.0, pytest.approx((weights.weights[1] + weights.weights[2]) / 10)]


@pytest.mark.parametrize(
    ("row", "cost"),
    [
        (record(body="conn pool"), 0.0),
        (record(body="connect pool"), 0.5),
        (record(title="connect", tags="conn", body="pool"), 0.0),
        (record(body="nothing"), 0.0),
    ],
)
def test_a_word_with_another_ending_costs(row, cost):
    asked, weights = weighed("conn pool", {"conn": ["connect"]})

    assert relevance.search_cost(asked, weights, row) == cost


class Described:
    """Settings in which each category has a description."""

    def text(self, key):
        return {"categories.decision.description": "Kafka choices about redis and kafka queues"}[key]


@pytest.mark.parametrize(
    ("terms", "row", "points"),
    [
        ("kafka", record(title="kafka"), 2),
        ("kafka", record(tags="kafka"), 3),
        ("kafka", record(title="kafka", tags="kafka"), 5),
        ("kafka", record(body="kafka"), 1),
        ("a b c d", record(body="a b c d"), 3),
        ("conn", record(title="connect"), 1),
        ("connect", record(tags="conn"), 1),
        ("con", record(title="connect"), 0),
        ("connect", record(title="con"), 0),
        ("kafka lag", record(triggers="kafka lag"), 0),
    ],
)
def test_words_have_points(terms, row, points):
    assert relevance.keyword_points(frozenset(terms.split()), row) == points


@pytest.mark.parametrize(
    ("terms", "points"), [("kafka", 3), ("kafka redi", 4), ("kafka redi queue", 4), ("queue", 0), ("kafka lag", 3)]
)
def test_the_description_of_a_category_adds_points_to_those_of_a_record(terms, points):
    settings = Described()

    assert relevance.keyword_points(frozenset(terms.split()), record(title="kafka"), settings) == points


@pytest.mark.parametrize(
    ("points", "position", "lead", "logit"),
    [
        ([5.0, 2.0], 0, 3.0, -2.639 + 5 * 0.219 - 3 * 0.041 + 3 * 0.254),
        ([5.0, 2.0], 1, -3.0, -2.639 + 2 * 0.219 - 3 * 0.041 - 3 * 0.254),
        ([5.0], 0, 5.0, -2.639 + 5 * 0.219 - 3 * 0.041 + 5 * 0.254),
        ([20.0, 2.0, 1.0], 0, 8.0, -2.639 + 20 * 0.219 - 3 * 0.041 + 8 * 0.254),
        ([20.0, 2.0, 1.0], 2, -19.0, -2.639 + 0.219 - 3 * 0.041 - 19 * 0.254),
    ],
)
def test_points_make_a_probability_by_their_lead(points, position, lead, logit):
    rows = [(count, record()) for count in points]

    score = relevance._keyword_score(3, rows, position)

    assert score == (rows[position][1], points[position], lead, odds(logit))
