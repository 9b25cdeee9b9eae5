"""Names of products are found in whatever case they are written, in records and in queries."""

from __future__ import annotations

import pytest

from onrecord.search import coefficients, index, terms
from tests.product_names import NAMES
from tests.records import decision, put
from tests.searching import find


def spellings(name: str) -> list[str]:
    """Return a name as people type it: as it is, in lower and upper case, with one capital, without its sign."""
    joined = name.lower().replace(".", "").replace("/", "").replace("-", "")
    return list(dict.fromkeys([name, name.lower(), name.upper(), name.capitalize(), joined]))


def spelled_store(folder, spell):
    """Return the index of a store with a record for each name, spelled by `spell`."""
    root = str(folder)
    for number, name in enumerate(NAMES):
        put(root, decision(f"n{number}", f"Why we depend on {spell(name)}", "It was there before us, and it works."))
    return index.in_memory(root)


@pytest.fixture(scope="module", params=[str, str.lower], ids=["mixed", "lower"])
def store(request, tmp_path_factory):
    opened = spelled_store(tmp_path_factory.mktemp("names"), request.param)
    yield opened
    opened.close()


def test_there_are_enough_names():
    assert len(set(map(str.lower, NAMES))) == len(NAMES) >= 200


def test_a_search_finds_each_name_in_every_case(store):
    missed = [
        f"{name} as {text}"
        for number, name in enumerate(NAMES)
        for text in spellings(name)
        if f"n{number}" not in [match.id for match in find(store, text, limit=1)]
    ]

    assert missed == []


def test_a_prompt_ranks_each_name_first_in_every_case_and_nearly_always_names_it(store):
    missed, silent = [], []
    for number, name in enumerate(NAMES):
        for text in spellings(name)[:2]:
            matches = find(store, f"set up {text}", limit=2, mode="auto")
            if f"n{number}" not in [match.id for match in matches]:
                missed.append(f"{name} as {text}")
            elif matches[0].probability < coefficients.POINTER:
                silent.append(f"{name} as {text}")

    assert missed == []
    assert len(silent) <= len(NAMES) // 20


def test_two_words_and_one_are_the_same_name(tmp_path):
    put(str(tmp_path), decision("tests", "Tests of the front-end", "They run in a browser."))
    put(str(tmp_path), decision("keys", "The column userid", "It is indexed."))

    with_both = index.in_memory(str(tmp_path))

    assert find(with_both, "frontend")[0].id == "tests"
    assert find(with_both, "user_id")[0].id == find(with_both, "userId")[0].id == "keys"


def test_a_joined_word_takes_no_place():
    field = " ".join(terms.field("We run MySQL in CI/CD"))

    assert field == "we run my sql __mysql in ci cd __cicd"
    assert terms.respelled(field) == "we run my sql in ci cd"
    assert terms.respelled(field, {"mysql"}) == "we run mysql in ci cd"
    assert terms.respelled("we run mysql", (), {"mysql": "my sql"}) == "we run my sql"


def test_an_abbreviation_reaches_its_word_where_the_store_has_both(tmp_path):
    put(str(tmp_path), decision("login", "Authentication by token", "Tokens are opaque."))
    put(str(tmp_path), decision("other", "The auth header", "It is logged."))

    matches = find(index.in_memory(str(tmp_path)), "auth middleware is broken again", mode="auto")

    assert {match.id for match in matches} == {"login", "other"}


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("auth", "authentication"),
        ("db", "database"),
        ("repo", "repositories"),
        ("k8s", "Kubernetes"),
        ("env", "environment"),
    ],
)
def test_abbreviations_are_stems(short, long):
    assert terms.stream(long)[0] in terms.variants(short)
    assert short in terms.variants(terms.stream(long)[0])


def test_a_word_that_is_only_in_the_tags_reaches_the_records(tmp_path):
    for number, title in enumerate(("Tokens expire after an hour", "Cookies are opaque", "Passwords are hashed")):
        record = decision(f"r{number}", title, "It was so before us.")
        put(str(tmp_path), record._replace(tags=("auth",)))

    matches = find(index.in_memory(str(tmp_path)), "auth middleware is broken again", mode="auto")

    assert len([match for match in matches if match.probability >= coefficients.POINTER]) == 3
