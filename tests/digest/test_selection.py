"""Which entries a digest shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.digest import selection
from onrecord.digest.selection import DigestCandidate, Pick
from onrecord.store import record_names

CATEGORIES = selection.PRIORITY


def candidate(key: str, category: str = "pattern", text: str = "", **more: Any) -> DigestCandidate:
    return DigestCandidate(key, category, text or key, text, f"{key}.json", is_local=True, **more)


def keys(picks: list[Pick]) -> list[str]:
    return [pick.candidate.key for pick in picks]


entries = st.lists(
    st.builds(
        lambda category, observations, confidence, updated: (category, observations, confidence, updated),
        st.sampled_from(CATEGORIES),
        st.integers(1, 50),
        st.floats(0, 3),
        st.sampled_from(["", "2026-01-01", "2026-02-01", "2026-03-01"]),
    ),
    max_size=60,
).map(
    lambda rows: [
        candidate(f"k{place:03}", category, observations=observations, confidence=confidence, updated=updated)
        for place, (category, observations, confidence, updated) in enumerate(rows)
    ]
)


def test_prominence_is_the_formula_of_the_specification() -> None:
    found = selection.prominence(
        [
            candidate("a", observations=10, confidence=3.0, updated="2026-03-01"),
            candidate("b", observations=5, confidence=1.5, updated="2026-01-01"),
            candidate("c", observations=1, confidence=0.0, updated="2026-01-01"),
        ]
    )

    assert found == pytest.approx([0.5 + 0.3 + 0.2, 0.25 + 0.15 + 0.1, 0.05 + 0 + 0.1])


def test_the_score_blends_relevance_and_prominence() -> None:
    a, b = candidate("a", observations=2), candidate("b", observations=1)

    ranked = selection.order([a, b], {"b": 1.0}, 0.6)

    assert keys(ranked) == ["b", "a"]
    assert [pick.relevance for pick in ranked] == [1.0, 0.0]
    assert [pick.score for pick in ranked] == pytest.approx([0.6 + 0.4 * (0.25 + 0.2 + 0.2), 0.4 * (0.5 + 0.2 + 0.2)])


@pytest.fixture
def about_parsing() -> list[DigestCandidate]:
    """Twenty entries of much prominence, and ten of little that are about parsing."""
    words = ("deploy", "cache", "retry", "queue", "login", "invoice", "colour", "mail", "build", "index")
    common = [
        candidate(f"c{n}", text=f"The {words[n % 10]} must be checked {n} times", observations=20 + n, confidence=3.0,
                  updated="2026-03-01")
        for n in range(20)
    ]  # fmt: skip
    parsing = [
        candidate(f"p{n}", text=f"The parser was reading the file in mode {n}", observations=1, confidence=1.0)
        for n in range(10)
    ]
    return [*common, *parsing]


@pytest.mark.parametrize(("weight", "least", "most"), [(0.6, 7, 10), (0.0, 0, 4), (1.0, 10, 10)])
def test_what_the_work_is_about_is_chosen_over_what_is_prominent(
    about_parsing: list[DigestCandidate], weight: float, least: int, most: int
) -> None:
    scores = {each.key: 0.9 for each in about_parsing if "parser" in each.text}

    chosen = selection.choose(selection.order(about_parsing, scores, weight), 20)

    assert len(chosen) == 20
    assert least <= sum(key.startswith("p") for key in keys(chosen)) <= most


@given(entries, st.floats(0, 1))
def test_no_query_and_no_weight_give_the_same_order(candidates: list[DigestCandidate], weight: float) -> None:
    scores = {one.key: float(place + 1) for place, one in enumerate(candidates)}

    by_weight = selection.order(candidates, scores, 0.0)
    by_query = selection.order(candidates, {}, weight)

    assert keys(by_weight) == keys(by_query)
    assert keys(selection.choose(by_weight, 20)) == keys(selection.choose(by_query, 20))


@given(entries, st.integers(1, 40), st.integers(0, 5))
def test_every_category_has_its_share_and_the_limit_holds(
    candidates: list[DigestCandidate], limit: int, pins: int
) -> None:
    ranked = selection.order(candidates, {}, 0.6)
    pinned = ranked[:pins]

    chosen = selection.choose(ranked, limit, pinned)

    assert len(chosen) == min(limit, len(candidates))
    assert len(set(keys(chosen))) == len(chosen)
    assert keys(chosen)[: len(pinned)] == keys(pinned)[:limit]
    there = {category: sum(one.category == category for one in candidates) for category in CATEGORIES}
    kinds = [category for category in CATEGORIES if there[category]]
    if limit >= 9 and len(kinds) * 3 <= limit and not pins:
        for category in kinds:
            assert sum(pick.candidate.category == category for pick in chosen) >= min(3, there[category])


def test_below_nine_only_the_score_counts() -> None:
    candidates = [candidate(f"a{n}", "pattern", observations=9) for n in range(9)] + [candidate("z", "heuristic")]
    ranked = selection.order(candidates, {}, 0.6)

    assert keys(selection.choose(ranked, 8)) == [f"a{n}" for n in range(8)]
    assert "z" in keys(selection.choose(ranked, 9))


def test_more_categories_than_the_limit_has_room_for_share_it_equally() -> None:
    candidates = [candidate(f"{kind}{n}", kind, observations=n + 1) for kind in CATEGORIES for n in range(10)]

    chosen = selection.choose(selection.order(candidates, {}, 0.6), 20)

    counts = [sum(pick.candidate.category == kind for pick in chosen) for kind in CATEGORIES]
    assert len(chosen) == 20 and min(counts) == 2


def test_equal_scores_keep_one_order_however_they_come() -> None:
    candidates = [candidate(f"k{n}", kind) for n in range(3) for kind in ("heuristic", "constraint")]

    assert keys(selection.order(candidates, {}, 0.6)) == keys(selection.order(candidates[::-1], {}, 0.6))


def test_nothing_to_choose_from() -> None:
    assert selection.choose(selection.order([], {}, 0.6), 20) == []


@given(st.lists(st.sampled_from(["a", "b", "c", "ab", "abc", "1"]), min_size=1, max_size=6).map("-".join), st.data())
def test_a_name_is_the_shortest_beginning_that_no_other_id_begins_with(name: str, data: st.DataObject) -> None:
    others = data.draw(st.lists(st.sampled_from(["a-b", "a-b-c", "b-c-abc", "ab-1-a-b", name + "-more"]), max_size=4))
    others = [other for other in others if other != name]

    short = record_names.beginning(name, others)

    if short:
        assert name == short or name.startswith(short + "-")
        assert short == name or not any(other.startswith(short) for other in others)
        assert short.count("-") >= min(1, name.count("-"))
        words = name.split("-")
        fewer = "-".join(words[: short.count("-")])
        assert short.count("-") <= 1 or any(other.startswith(fewer) for other in others)


@given(entries, st.integers(9, 40))
def test_with_less_room_the_first_of_a_choice_are_the_choice_for_that(
    candidates: list[DigestCandidate], limit: int
) -> None:
    picks = selection.order(candidates, {}, 0.6)

    assert selection.choose(picks, limit) == selection.choose(picks, 40)[:limit]
