"""What the benchmark of knowledge banks counts."""

from __future__ import annotations

from bench import banks, figure_tables


def state(*, fits: int, now: int, bm25: int, old: int = 0) -> dict[str, int]:
    return {"fits": fits, "now": now, "bm25": bm25, "old": old}


def test_a_feature_has_enough_with_three_lessons_or_all_that_fit() -> None:
    counts = [state(fits=5, now=3, bm25=2), state(fits=2, now=2, bm25=1), state(fits=4, now=4, bm25=0)]

    assert banks.summary(counts) == {
        "features": 3,
        "fits": 11,
        "with_bm25": 2,
        "found": {"now": 9, "bm25": 3, "old": 0},
        "enough": {"now": 2, "bm25": 0, "old": 0},
    }


def test_the_table_has_a_column_for_each_ranking() -> None:
    counted = banks.summary([state(fits=5, now=3, bm25=2)])

    lines = figure_tables.banks({"parts": {"new": {"what": "features", **counted}}}).splitlines()

    assert lines[2] == "| 1 features: fitting lessons among the first ten, of 5 | 3 | 2 | 0 |"
    assert lines[3].endswith("| 1 | 0 | 0 |")


def test_lessons_are_ranked_by_relevance_and_then_by_key() -> None:
    assert banks._first({"b": 0.5, "a": 0.5, "c": 0.9}) == ["c", "a", "b"]
