import os

import pytest

from onrecord.search import index, query, rank, relevance
from onrecord.search.candidates import Filter
from onrecord.settings import Settings
from tests import searching
from tests.records import decision, put, sample


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memory")


def search_in(root, text, **options):
    return searching.find(index.in_memory(root), text, **options)


def ids(root, text, **options):
    return [match.id for match in search_in(root, text, **options)]


def test_a_match_carries_what_an_injection_needs(root):
    put(root, decision("keys", "Rotate signing keys monthly", "The signing key of the gateway is rotated on the 1st."))

    (match,) = search_in(root, "when do we rotate the signing key?")

    assert (match.id, match.category, match.path) == ("keys", "decision", "decisions/keys.json")
    assert match.tags == ("topic",)
    assert "rotated on the 1st" in match.summary_line
    assert match.confidence == relevance.confidence(match.probability)
    assert set(match.features) >= {"coverage", "window", "share"}


def test_a_beginning_finds_the_whole_word_and_the_word_its_beginning(root):
    put(root, decision("login", "Authentication by token", "Tokens are opaque."))
    put(root, decision("db", "Short name", "The config lives in etcd."))

    assert ids(root, "auth") == ["login"]
    assert ids(root, "configuration") == ["db"]


def test_an_identifier_does_not_match_words_that_only_begin_like_its_parts(root):
    put(root, decision("wrong", "User identity is checked", "identity of users"))
    put(root, decision("right", "Field names", "the column userId is indexed"))

    assert ids(root, '"user_id"')[0] == "right"
    assert search_in(root, "user_id")[0].features["adjacent"] == 1


def test_a_prompt_in_korean_finds_a_record_in_korean(root):
    put(root, decision("kr", "데이터베이스 마이그레이션 규칙", "마이그레이션은 두 번의 배포로 나눈다"))
    put(root, decision("en", "Database migrations", "two deployments"))

    assert ids(root, "마이그레이션을 어떻게 하지?")[0] == "kr"


def test_the_successor_comes_first_and_what_it_supersedes_is_marked_behind_it(root):
    put(root, decision("old", "Cache sessions in memcached", "memcached it is", superseded_by="new"))
    put(
        root,
        decision("new", "Sessions live in Redis", "Redis it is", supersedes=["old"], updated_at="2026-05-01T00:00:00Z"),
    )

    found = search_in(root, "memcached")
    (told,) = search_in(root, "memcached", mode="auto")

    assert [(match.id, match.status) for match in found] == [("new", "active"), ("old", "superseded")]
    assert (told.id, told.via) == ("new", ("old", "Cache sessions in memcached", "2026-05-01T00:00:00Z"))


@pytest.mark.parametrize("name", ["a-old", "z-old"])
def test_where_both_match_the_successor_is_listed_once_with_the_better_score(root, name):
    """Whichever is read first: the one is before the successor in the store, the other after it."""
    put(root, decision("new", "Sessions live in Redis", "Redis replaces memcached", supersedes=[name]))
    alone = {text: search_in(root, text)[0].score for text in ("Redis sessions", "memcached sessions cache")}
    put(root, decision(name, "Cache sessions in memcached", "the sessions cache is memcached", superseded_by="new"))

    for mode in ("auto", "search"):
        by_itself, by_the_old = (search_in(root, text, mode=mode) for text in alone)
        listed = ["new"] if mode == "auto" else ["new", name]
        assert [match.id for match in by_itself] == [match.id for match in by_the_old] == listed
        assert by_itself[0].via is None
        assert by_the_old[0].via is not None and by_the_old[0].via[0] == name
        assert by_the_old[0].score > alone["memcached sessions cache"]


def test_a_successor_known_to_one_side_only_does_not_count(root):
    old, new = decision("old", "Cache sessions in memcached", "x"), decision("new", "Sessions live in Redis", "x")
    put(root, old)
    put(root, new._replace(supersedes=("old",)))
    assert ids(root, "memcached", mode="auto") == ["old"]

    put(root, old._replace(superseded_by="new"))
    assert ids(root, "memcached", mode="auto") == ["new"]

    put(root, new)
    assert ids(root, "memcached", mode="auto") == ["old"]

    os.unlink(os.path.join(root, "decisions", "new.json"))
    assert ids(root, "memcached", mode="auto") == []


def test_chains_end_at_their_head_and_circles_at_the_newest(root):
    put(root, decision("a", "Alpha queue", "x", superseded_by="b"))
    put(root, decision("b", "Beta queue", "x", superseded_by="c", supersedes=["a"]))
    put(root, decision("c", "Gamma", "x", supersedes=["b"]))
    for name, other, day in (("p", "q", 1), ("q", "p", 2)):
        title = {"p": "Pingpong", "q": "Qwerty"}[name]
        links = {"superseded_by": other, "supersedes": [other]}
        put(root, decision(name, title, "x", updated_at=f"2026-01-0{day}T00:00:00Z", **links))

    assert ids(root, "alpha", mode="auto") == ["c"]
    assert ids(root, "pingpong", mode="auto") == ["q"]


def test_records_that_supersede_each_other_silence_only_the_older_one(root):
    """Two branches, each of which replaced the other's record, once left a project with neither."""
    status = {"status": "superseded"}
    older = decision("p", "Pingpong queue", "x", superseded_by="q", supersedes=["q"], updated_at="2026-01-01T00:00:00Z")
    newer = decision("q", "Qwerty queue", "x", superseded_by="p", supersedes=["p"], updated_at="2026-02-01T00:00:00Z")
    for record in (older, newer):
        put(root, record._replace(content={**record.content, **status}))

    current = f"SELECT id FROM record WHERE NOT void AND {index.NOT_REPLACED}"
    assert ids(root, "pingpong queue", mode="auto") == ["q"]
    assert index.open(root)._connection.execute(current).fetchall() == [("q",)]
    assert [match.id for match in rank.by_keywords(index.open(root), query.parse("queue"), Filter())] == ["q"]

    put(root, newer._replace(superseded_by=""))
    assert ids(root, "pingpong queue", mode="auto") == ["q"]
    put(root, newer._replace(supersedes=()))
    put(root, older._replace(superseded_by="", updated_at="2026-01-02T00:00:00Z"))
    assert ids(root, "pingpong queue", mode="auto") == ["p"]


def test_a_superseded_record_whose_successor_is_missing_is_found_but_never_told(root):
    put(root, decision("old", "Cache sessions in memcached", "memcached it is", superseded_by="gone"))

    assert ids(root, "memcached") == ["old"]
    assert ids(root, "memcached", mode="auto") == []


def test_retired_records_only_when_asked_for(root):
    put(root, decision("past", "Use memcached", "memcached", record_status="retired"))

    assert ids(root, "memcached") == []
    assert ids(root, "memcached", include_retired=True) == ["past"]


def test_filters(root):
    put(root, decision("one", "Redis for sessions", "redis"))
    put(root, sample("constraint", id="two", title="Redis limit", tags=["cache"]))

    assert ids(root, "redis", categories=["constraint"]) == ["two"]
    assert ids(root, "redis", tags=["topic"]) == ["one"]


def test_what_no_longer_holds_is_never_told_unasked(root):
    limit = {"kind": "policy", "rule": "No deploys of the gateway", "impact": ["x"], "severity": "low", "active": True}
    put(root, sample("constraint", id="expired", title="Gateway freeze", content={**limit, "expires": "2026-01-31"}))
    put(root, sample("constraint", id="off", title="Gateway freeze two", content={**limit, "active": False}))
    put(root, sample("constraint", id="on", title="Gateway freeze three", content=limit))

    assert ids(root, "gateway freeze", mode="auto", now="2026-02-01T00:00:00Z") == ["on"]
    assert len(ids(root, "gateway freeze", now="2026-02-01T00:00:00Z")) == 3


def test_disabled_categories_and_old_records_are_never_told_unasked(root):
    put(root, decision("one", "Gateway one", "x", updated_at="2026-01-01T00:00:00Z"))
    put(root, sample("preference", id="two", title="Gateway two", updated_at="2026-01-01T00:00:00Z"))
    settings = Settings()
    settings.take("x", True, {"categories.decision.enabled": False, "categories.preference.retention_days": 30})

    assert ids(root, "gateway", mode="auto", settings=settings, now="2026-01-15T00:00:00Z") == ["two"]
    assert ids(root, "gateway", mode="auto", settings=settings, now="2026-03-15T00:00:00Z") == []


def test_title_tags_selects_the_keyword_scorer(root):
    put(root, decision("one", "Gateway timeouts", "x"))
    settings = Settings()
    settings.take("x", True, {"retrieval.match_strategy": "title_tags"})

    (match,) = search_in(root, "gateway", settings=settings)

    assert match.is_by_keywords


def test_current_follows_a_path_to_what_holds_now(root):
    put(root, decision("old", "Cache sessions in memcached", "memcached it is", superseded_by="new"))
    put(root, decision("new", "Sessions live in Redis", "Redis it is", supersedes=["old"]))
    opened = index.in_memory(root)

    assert rank.current(opened, "decisions/old.json").id == "new"
    assert rank.current(opened, "decisions/none.json") is None


def test_a_record_deleted_after_indexing_is_not_shown(root):
    put(root, decision("one", "Gateway timeouts", "x"))
    put(root, decision("two", "Gateway retries", "x"))
    opened = index.in_memory(root)
    os.unlink(os.path.join(root, "decisions", "one.json"))

    assert [match.id for match in searching.find(opened, "gateway")] == ["two"]


def test_a_search_in_a_large_store_is_bounded(root):
    for number in range(200):
        put(root, decision(f"r{number:03}", f"Note {number}", "shared words in every record"))
    put(root, decision("special", "Quokka", "shared words and a quokka"))

    assert ids(root, "shared words in every record about the quokka")[0] == "special"
