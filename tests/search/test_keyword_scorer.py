import pytest

from onrecord.search import index, query, rank, relevance
from onrecord.search.candidates import Filter
from onrecord.settings import Settings
from tests import searching
from tests.records import decision, put, sample


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
    put(root, decision("fresh", "Redis", "", updated_at="2026-03-01T00:00:00Z"))
    put(root, sample(id="gone", title="Redis", superseded_by="fresh"))

    found = rank.by_keywords(index.in_memory(root), query.parse("redis"), Filter(now="2026-03-02T00:00:00Z"))

    assert [(match.id, match.score) for match in found] == [("fresh", 3), ("old", 2)]
    assert all(isinstance(match, rank.Match) for match in found)
