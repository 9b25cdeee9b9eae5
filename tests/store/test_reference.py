from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord.errors import Ambiguous, NotFound
from onrecord.store import record_names, reference
from onrecord.store.reference import PREFIX, WORDS, NameMatch
from tests.known_project import known_project

PATHS = [
    "decisions/sessions-live-in-postgres.json",
    "decisions/use-postgres-16.json",
    "decisions/use-uv.json",
    "decisions/use-uv-2.json",
    "constraints/no-network-in-tests.json",
    "runbooks/testing-by-hand.json",
    "runbooks/Old_Name.json",
]


@pytest.mark.parametrize(
    ("text", "how", "names"),
    [
        ("sess", PREFIX, ["sessions-live-in-postgres"]),
        ("SESS", PREFIX, ["sessions-live-in-postgres"]),
        ("use-p", PREFIX, ["use-postgres-16"]),
        ("use postgres", PREFIX, ["use-postgres-16"]),
        ("use-uv", PREFIX, ["use-uv", "use-uv-2"]),
        ("old_n", PREFIX, ["Old_Name"]),
        ("old-n", WORDS, ["Old_Name"]),
        ("network", WORDS, ["no-network-in-tests"]),
        ("netw", WORDS, ["no-network-in-tests"]),
        ("tests network", WORDS, ["no-network-in-tests"]),
        ("test", PREFIX, ["testing-by-hand"]),
        ("hand-testing", WORDS, ["testing-by-hand"]),
        ("postgres", WORDS, ["sessions-live-in-postgres", "use-postgres-16"]),
        ("decision/postgres", WORDS, ["sessions-live-in-postgres", "use-postgres-16"]),
        ("runbooks/use", "", []),
        ("runbook/hand", WORDS, ["testing-by-hand"]),
        (".claude/memory/decisions/use-p", PREFIX, ["use-postgres-16"]),
        ("sesion", "", []),
        ("", "", []),
        ("/", "", []),
        ("---", "", []),
    ],
)
def test_fit(text, how, names):
    match = reference.match_names(text, PATHS)

    assert (match.how, [reference.name_of(path) for path in match.paths]) == (how, names)


def test_a_whole_word_goes_before_the_beginning_of_one():
    paths = ["decisions/the-auth-flow.json", "decisions/the-authors.json"]

    assert reference.match_names("auth", paths) == NameMatch(WORDS, (paths[0],))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("sesion", ["sessions-live-in-postgres"]),
        ("use-postgers-16", ["use-postgres-16", "sessions-live-in-postgres"]),
        ("use-postgres-17", ["use-postgres-16", "sessions-live-in-postgres"]),
        ("no-netwrok", ["no-network-in-tests"]),
        ("kubernetes", []),
        ("", []),
    ],
)
def test_nearest(text, names):
    assert [reference.name_of(path) for path in reference.similar_paths(text, PATHS)] == names


def test_no_more_than_three_are_suggested_the_nearest_first():
    paths = [f"decisions/{name}.json" for name in ("cache-a", "cache-b", "cache-size", "cash", "cache-in-redis-at-7")]

    assert reference.similar_paths("cahce-size", paths)[0] == "decisions/cache-size.json"
    assert len(reference.similar_paths("cahce", paths)) == 3


WORD = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=6)
NAME = st.lists(WORD, min_size=1, max_size=4).map("-".join)
NAMES = st.lists(NAME, min_size=1, max_size=5, unique=True)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("mobile", ("decisions/a.json",)),
        ("app lifetime", ("decisions/a.json",)),
        ("データ", ("decisions/b.json",)),
        ("PREISLISTEN", ("runbooks/c.json",)),
        ("decision/preis", ()),
        ("is", ("decisions/a.json", "runbooks/c.json")),
        ("fe", ()),
        ("", ()),
        ("!", ()),
    ],
)
def test_words_of_titles(text, paths):
    titles = [
        ("decisions/a.json", "Lifetime is a contract with the mobile_app"),
        ("decisions/b.json", "データベース"),
        ("runbooks/c.json", "Is it new? Preislisten"),
    ]

    assert reference.match_titles(text, titles).paths == paths


@settings(max_examples=50)
@given(text=st.text(max_size=12), names=NAMES)
def test_any_text_fits_something_or_nothing(text, names):
    paths = [f"decisions/{name}.json" for name in names]

    match = reference.match_names(text, paths)

    assert set(match.paths) <= set(paths)
    assert bool(match.how) == bool(match.paths)
    assert set(reference.similar_paths(text, paths)) <= set(paths)


@settings(max_examples=50)
@given(names=NAMES, data=st.data())
def test_a_beginning_that_one_name_has_means_that_one(names, data):
    name = data.draw(st.sampled_from(names))
    text = name[: data.draw(st.integers(1, len(name)))]
    paths = [f"decisions/{other}.json" for other in names]
    matches = tuple(path for path, other in zip(paths, names) if other.startswith(text))

    assert reference.match_names(text, paths) == NameMatch(PREFIX, matches)


TABS = {"topic": "t", "value": "v", "reason": "r"}


@pytest.fixture
def project(tmp_path):
    preference = {"title": "Lifetimes of sessions are a contract with the mobile app", "content": TABS}
    content = {"context": "c", "decision": "d", "rationale": "r"}
    titles = ("Use uv", "Use uv for tests", "Sessions live in Postgres", "3")
    decisions = [("decision", {"title": title, "content": content}) for title in titles]
    return known_project(tmp_path, ("preference", preference), *decisions)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("use-uv", "use-uv"),
        ("use-uv-f", "use-uv-for-tests"),
        ("postgres", "sessions-live-in-postgres"),
        ("decision/sess", "sessions-live-in-postgres"),
        ("3", "3"),
        ("mobile", "lifetimes-of-sessions-are-a-7f7d"),
    ],
)
def test_a_whole_id_goes_first_then_a_beginning_then_words(project, text, name):
    assert project.get(text).memory.id == name


def test_what_fits_several_is_refused_with_their_names(project):
    with pytest.raises(Ambiguous) as failure:
        project.get("use")

    assert failure.value.message == "'use' matches 2 records: use-uv-for-tests, use-uv"
    assert failure.value.fix == "onrecord show use-uv-for-tests; or type more of the name you mean"


def test_no_more_than_ten_are_listed():
    paths = [f"decisions/cache-{number:02}.json" for number in range(12)]

    assert reference.ambiguous("cache", paths).message.endswith("cache-08, cache-09 and 2 more")


@pytest.mark.parametrize(("count", "end"), [(10, "cache-08, cache-09"), (11, "cache-08, cache-09 and 1 more")])
def test_ten_names_are_listed_and_those_beyond_are_counted(count, end):
    names = [f"cache-{number:02}" for number in range(count)]

    message = reference.ambiguity_message("cache", names, "drafts")

    assert message.startswith(f"'cache' matches {count} drafts: cache-00, cache-01, ")
    assert message.endswith(end)
    assert "1,200 drafts" in reference.ambiguity_message("cache", ["x"] * 1_200, "drafts")


@pytest.mark.parametrize(
    ("names", "end"),
    [
        ([], ""),
        (["a"], "; did you mean a?"),
        (["a", "b"], "; did you mean a or b?"),
        (["a", "b", "c"], "; did you mean a, b or c?"),
    ],
)
def test_the_names_that_may_be_meant(names, end):
    assert reference.did_you_mean(names) == end


def test_a_text_like_no_name_is_only_searched_for():
    error = reference.not_found("/store", "no-such", PATHS)

    assert (error.message, error.fix) == ("no record 'no-such' in /store", "onrecord search 'no such'")


@pytest.mark.parametrize(
    ("name", "others", "shown"),
    [
        ("abc-defgh", [], "abc-defgh"),
        ("abcd-efgh", [], "abcd"),
        ("abcd-efgh", ["abcd-xy"], "abcd-efgh"),
        ("abcdefghijklmnopqrst-u", [], "abcdefghijklmnopqrst"),
        ("abcdefghijklmnopqrstu-v", [], "abcd"),
        ("abcdefghijklmnopqrs1", ["abcdefghijklmnopqrs2"], "abcdefghijklmnopqrs1"),
        ("abcdefghijklmnopqrst1xxxxx", ["abcdefghijklmnopqrst2"], None),
        ("Abcd-efgh", ["aBCD-xy"], "Abcd-efgh"),
        ("Abcd", ["abcd"], None),
    ],
)
def test_a_shortened_name_has_four_to_twenty_characters(name, others, shown):
    path = f"decisions/{name}.json"
    paths = [path, *(f"runbooks/{other}.json" for other in others)]

    expected = record_names.short_name(path) if shown is None else shown
    assert reference.shortest_names([path], paths) == {path: expected}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("postgres xxxxxxx", ["use-postgres-16", "sessions-live-in-postgres"]),
        ("postgres xxxxxxxxx", []),
        ("testin", ["testing-by-hand", "no-network-in-tests"]),
        ("tasting", ["testing-by-hand"]),
        ("estimx", []),
    ],
)
def test_half_of_the_letters_must_be_in_a_suggested_name(text, names):
    assert [reference.name_of(path) for path in reference.similar_paths(text, PATHS)] == names


def test_what_fits_nothing_is_refused_with_the_nearest(project):
    with pytest.raises(NotFound) as failure:
        project.get("sesions in postgrs")

    assert failure.value.message.endswith("; did you mean sessions-live-in-postgres?")
    assert failure.value.fix == "onrecord show sessions-live-in-postgres; onrecord search 'sesions in postgrs'"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("decisions/sessions-live-in-postgres.json", "sessions"),
        ("decisions/use-postgres-16.json", "use-postgres"),
        ("decisions/use-uv.json", "use-uv"),
        ("decisions/use-uv-2.json", "use-uv-2"),
        ("runbooks/Old_Name.json", "Old_Name"),
    ],
)
def test_shortest(path, name):
    assert reference.shortest_names([path], PATHS) == {path: name}


def test_where_a_beginning_is_long_or_a_number_or_unsafe_the_short_name_stands():
    long = "decisions/a-name-that-others-share-but-for-its-end"
    paths = [f"{long}-1.json", f"{long}-2.json", "decisions/2024.json", "decisions/$(reboot).json", "runbooks/use.json",
             "decisions/use.json"]  # fmt: skip

    assert reference.shortest_names(paths, paths) == {path: record_names.short_name(path) for path in paths}


@settings(max_examples=50)
@given(names=NAMES)
def test_what_a_list_shows_means_its_record(names):
    paths = [f"decisions/{name}.json" for name in names]

    for path, name in reference.shortest_names(paths, paths).items():
        is_exact = name in (reference.name_of(path), record_names.short_name(path))
        assert is_exact or reference.match_names(name, paths) == NameMatch(PREFIX, (path,))
