import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.search import query
from tests import cost


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("how do we retry the payment?", ["retri", "payment"]),
        ("rename user_id in React.FC", ["renam", "user", "id", "react", "fc"]),
        ("a b c x1", ["x1"]),
        ("wie ist das mit der Anmeldung", ["anmeldung"]),
        ("как работает очередь", ["работает", "очередь"]),
        ("", []),
    ],
)
def test_terms_of_a_query(typed, terms):
    assert query.parse(typed).terms == terms


def test_parts_of_a_compound_are_known_to_belong_together():
    assert query.parse("set user_id of the account").compounds == {("user", "id")}


def test_words_of_intent():
    found = [
        query.parse(text).intent
        for text in ("the deploy crashed", "why did we take redis", "where were we, what is next", "redis")
    ]

    assert found == ["runbook", "decision", "session_summary", ""]


def test_a_prompt_of_a_megabyte_costs_no_more_than_a_paragraph():
    words, question = "lorem ipsum dolor sit amet ", "rotate the signing key"
    paragraph, long = words * 400 + question, words * 40_000 + question

    asked = query.parse(long)

    cost.assert_at_most(4, lambda: query.parse(paragraph), lambda: query.parse(long))
    assert len(asked.terms) <= query.MAX_TERMS
    assert "sign" in asked.terms


@given(st.text())
def test_any_text_makes_a_query_sqlite_accepts(text):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE word USING fts5(body, tokenize='ascii')")

    for term in query.parse(text).terms:
        connection.execute("SELECT rowid FROM word WHERE word MATCH ?", (f'"{term}"',)).fetchall()
