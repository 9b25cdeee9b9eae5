"""What the index says of a record: its analysed fields, its line in the map, its files, and the passage shown."""

from __future__ import annotations

import pytest

from onrecord.search import document
from onrecord.search.document import Document, InMap
from tests.records import decision, sample

FILES = ["web/a.py", "./infra/*.tf", "Makefile"]
MANY = [f"w{number}" for number in range(60)]


def test_the_analysed_fields_of_a_record():
    record = sample(
        "runbook",
        title="Rotate MySQL keys",
        tags=["ops", "keys"],
        triggers=["the signing key leaked", "how do I restore a tenant?", "fix it"],
        related_files=FILES,
        content={"trigger": "A key leaked", "steps": ["Rotate it"], "verification": "It is new"},
    )

    assert document.build(record) == Document(
        "rotat my sql __mysql kei",
        "ops kei",
        "sign kei leak | restor tenant",
        "a kei leak rotat it it is new web a py infra tf makefil fix it",
    )


def test_of_a_long_body_the_beginning_is_indexed():
    words = [f"x{number}" for number in range(1_600)]

    assert document.build(decision("long", "Long", " ".join(words))).body.split() == words[:1_500]


@pytest.mark.parametrize(
    ("category", "tags", "files", "expected"),
    [
        ("constraint", ["a", "b"], FILES, InMap("T: At most 100 requests a minute", "high severity", "a\nb", 3)),
        ("decision", list("abcdefg"), FILES, InMap("T: Sessions live in Redis 7", "", "a\nb\nc\nd\ne\nf", 2)),
        ("decision", [], ["Makefile", "web/a.py", "x/y"], InMap("T: Sessions live in Redis 7", "", "web", 2)),
        ("decision", [], ["Makefile"], InMap("T: Sessions live in Redis 7", "", "", 2)),
    ],
)
def test_the_line_of_a_record_in_the_map(category, tags, files, expected):
    record = sample(category, title="T", tags=tags, related_files=files)

    assert document.in_map(record) == expected


@pytest.mark.parametrize(
    ("category", "gravity"),
    [("constraint", 0), ("decision", 3), ("preference", 3), ("tech_debt", 4), ("runbook", None)],
)
def test_the_files_of_a_record_and_how_grave_they_are(category, gravity):
    record = sample(category, related_files=[*FILES, "web/a.py/"], scope={"paths": ["docs/"]})

    assert document.places(record) == (
        []
        if gravity is None
        else [
            ("web/a.py", "a.py", gravity),
            ("infra/*.tf", "", gravity),
            ("Makefile", "Makefile", gravity),
            ("docs", "docs", gravity),
        ]
    )


@pytest.mark.parametrize(("confidence", "share"), [(None, 2.0), (0.5, 1.5), (0.3333, 1.0), (1.0, 3.0), (0.0, 0.0)])
def test_a_confidence_counts_up_to_three(confidence, share):
    packed = document.pack_facts(sample(confidence=confidence) if confidence is not None else sample())

    assert packed == f'[1,{share},[],[],""]'


def test_the_facts_of_a_record_are_bounded():
    files, branches = [f"f{number}" for number in range(39)], [f"b{number}" for number in range(41)]
    scope = {"paths": ["x", "y"], "branches": branches}

    packed = document.pack_facts(sample(related_files=files, scope=scope))

    assert packed.count('"f') == 39
    assert ('"x"' in packed, '"y"' in packed) == (True, False)
    assert ('"b39"' in packed, '"b40"' in packed) == (True, False)


@pytest.mark.parametrize(
    ("texts", "terms", "expected"),
    [
        ([" ".join(MANY)], {"w0"}, " ".join(MANY[:28]) + " …"),
        ([" ".join(MANY)], {"w30", "w35"}, f"… {' '.join(MANY[14:42])} …"),
        ([" ".join(MANY)], {"w59"}, f"… {' '.join(MANY[35:])}"),
        ([" ".join(MANY[:28])], {"w27"}, " ".join(MANY[:28])),
        ([" ".join(MANY[:29])], {"w28"}, f"… {' '.join(MANY[7:29])}"),
        (["a x", "a a", "a b", "b a"], {"a", "b"}, "a b"),
        (["a", "a a", "a a"], {"a"}, "a a"),
        (["x", ""], {"a"}, ""),
    ],
)
def test_the_stretch_with_the_most_of_the_words_is_shown(texts, terms, expected):
    assert document.best_passage(texts, frozenset(terms)) == expected


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("MySQL x", "mysql", "<MySQL> x"),
        ("MySQL x", "sql", "<MySQL> x"),
        ("移行スクリプト run", "移行", "<移行>スクリプト run"),
        ("rate制限を", "rate", "<rate>制限を"),
        ("rate制限を", "制限", "rate<制限>を"),
        ("ﾃｽﾄ x", "テス", "<ﾃｽﾄ> x"),
    ],
)
def test_words_of_a_query_are_marked(text, term, expected):
    assert document.marked(decision("a", "T", text), frozenset({term}), ("<", ">")) == expected
