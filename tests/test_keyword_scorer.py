import pytest

from recollect.search import index, query, rank
from recollect.search.candidates import Filter
from tests.records import sample
from tests.test_index import put
from tests.test_search import decision


def points(prompt, title, tags=(), text=""):
    class Row:
        title_terms = " ".join(query.terms.stream(title))
        tag_terms = " ".join(query.terms.stream(" ".join(tags)))
        body_terms = " ".join(query.terms.stream(text))
        category = "decision"

    return rank.keyword_points(set(query.parse(prompt).terms), Row)


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


def test_recent_records_come_first_among_equals(tmp_path):
    root = str(tmp_path / "memory")
    put(root, decision("old", "Redis", "", updated_at="2025-01-01T00:00:00Z"))
    put(root, decision("fresh", "Redis", "", updated_at="2026-03-01T00:00:00Z"))
    put(root, sample(id="gone", title="Redis", superseded_by="fresh"))

    found = rank.by_keywords(index.in_memory(root), query.parse("redis"), Filter(now="2026-03-02T00:00:00Z"))

    assert [(match.id, match.score) for match in found] == [("fresh", 3), ("old", 2)]
    assert all(isinstance(match, rank.Match) for match in found)
