"""Queries compared as a whole, with the limits of what is read of a long text."""

from __future__ import annotations

import pytest

from onrecord.search import query


def test_all_that_a_query_says_of_a_prompt():
    assert query.parse("Why is MySQL slow? It's the user_id of A/B")._asdict() == {
        "sequence": ["why", "is", "my", "sql", "slow", "it", "s", "the", "user", "id", "of", "a", "b"],
        "terms": ["my", "sql", "slow", "user", "id", "ab"],
        "compounds": {("a", "b"), ("my", "sql"), ("it", "s"), ("user", "id")},
        "intent": "decision",
        "text": "Why is MySQL slow? It's the user_id of A/B",
        "filler": 0.5,
        "names": {"mysql": "my sql", "userid": "user id"},
        "passages": (),
        "others": 0,
        "printed": 0.0,
        "is_foreign": False,
    }


def test_a_prompt_is_asked_as_a_whole_and_in_passages():
    typed, second, printed = "fix the login test now.", "then drop the old table", "error: it is not here"
    text = f"{typed}\n{second}\n{printed}"

    whole = query.parse_prompt(f"{typed} {second}\n{printed}")

    assert whole == query.parse(text)._replace(
        printed=len(printed) / (len(text) - 2),
        passages=(
            query.parse(typed)._replace(others=2),
            query.parse(second)._replace(others=2),
            query.parse(printed)._replace(others=2, printed=1.0),
        ),
    )


def test_a_prompt_of_one_passage_has_no_passages():
    assert query.parse_prompt(" fix the   login test") == query.parse("fix the login test")


def numbered(count):
    return [f"k{number:04}" for number in range(count)]


def test_of_many_terms_the_first_64_are_searched():
    assert query.parse(" ".join(numbered(63))).terms == numbered(63)
    assert query.parse(" ".join(numbered(70))).terms == numbered(64)


def test_of_a_long_text_the_beginning_and_the_end_are_searched():
    words = numbered(700)

    parsed = query.parse(" ".join(words))

    assert parsed.terms == words[:40] + words[500:524]
    assert parsed.sequence == words[:320] + words[500:]
    assert parsed.text == f"{' '.join(words[:400])}\n{' '.join(words[500:])}"


def test_of_a_long_word_both_ends_are_read():
    head, tail = "x" * 2_400, "y" * 1_200

    assert query.parse(head + tail).text == head + tail
    assert query.parse(f"{head}-{tail}").text == f"{head}\n{tail}"


def test_of_many_short_words_the_first_320_are_read():
    assert query.parse("x " * 319 + "redis kafka").terms == ["redi"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("oder kafka", ["oder", "kafka"]),
        ("oder nicht kafka", ["kafka"]),
        ("pourquoi nous pas kafka", ["kafka"]),
        ("por que donde kafka", ["kafka"]),
        ("porque isso nao kafka", ["kafka"]),
        ("perche non questo kafka", ["kafka"]),
        ("waarom niet deze kafka", ["kafka"]),
        ("dlaczego nie jest kafka", ["kafka"]),
        ("neden bu icin kafka", ["kafka"]),
        ("почему это не kafka", ["почему", "kafka"]),
        ("für nicht Größe", ["gross"]),
        ("いま 実行 하는 설정 的 x ゟ ぁ", ["実行", "설정"]),
    ],
)
def test_words_that_every_question_has_are_no_terms(text, terms):
    assert query.parse(text).terms == terms


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("kafka lag", False),
        ("größe naïve", False),
        ("wie ist das mit kafka", True),
        ("кэш", True),
        ("да kafka", False),
        ("λέξη", True),
        ("データ", True),
    ],
)
def test_a_script_or_stop_words_tell_another_language(text, is_foreign):
    assert query.parse(text).is_foreign is is_foreign


@pytest.mark.parametrize(("text", "filler"), [("", 0.0), ("kafka", 0.0), ("the kafka", 0.5), ("the other", 1.0)])
def test_the_share_of_words_without_a_topic(text, filler):
    assert query.parse(text).filler == filler
