"""How many words, names and passages of a prompt are searched for: each limit at its border."""

from __future__ import annotations

import pytest

from onrecord.search import passages, query, terms


def words(count: int, start: int = 0) -> str:
    return " ".join(f"alpha{number}" for number in range(start, start + count))


def test_a_prompt_is_searched_for_with_64_terms():
    assert len(query.parse(words(65)).terms) == 64


def test_a_word_counts_with_forty_characters():
    long = "7" + "x" * 50

    assert query.parse(long).terms == ["7" + "x" * 39]
    assert len(query.parse("x" * 41).terms[0]) == 40


@pytest.mark.parametrize(
    ("name", "joined"),
    [
        ("MySQL", "mysql"),
        ("aBcDeFgHi", "abcdefghi"),
        ("aBcDeFgHiJk", ""),
        ("A" + "b" * 11 + "C" + "d" * 11, "a" + "b" * 11 + "c" + "d" * 11),
        ("A" + "b" * 11 + "C" + "d" * 12, ""),
        ("plain", ""),
        ("Grüße", ""),
    ],
)
def test_a_name_of_at_most_five_parts_and_24_letters_is_one_term_too(name: str, joined: str):
    assert terms.joined_word(name) == joined


def test_a_prompt_has_six_passages_with_the_last_two_of_a_longer_one():
    sentences = [f"please rotate the signing key number {number}." for number in range(9)]

    read = [passage.text for passage in passages.split("\n".join(sentences))]

    assert read == [*sentences[:4], *sentences[-2:]]
    assert [passage.text for passage in passages.split("\n".join(sentences[:6]))] == sentences[:6]


def test_a_short_clause_joins_the_one_before_it():
    assert [p.text for p in passages.split("rotate the signing key. one two three.")] == [
        "rotate the signing key. one two three."
    ]
    assert [p.text for p in passages.split("rotate the signing key. one two three four.")] == [
        "rotate the signing key.",
        "one two three four.",
    ]


def test_a_passage_has_25_words_and_a_few_more_if_they_are_the_last():
    def sizes(count: int) -> list[int]:
        return [len(passage.text.split()) for passage in passages.split(words(count))]

    assert [sizes(count) for count in (25, 29, 30, 54, 55)] == [[25], [29], [25, 5], [25, 29], [25, 25, 5]]


@pytest.mark.parametrize(
    ("word", "is_noise"),
    [
        ("3f2b9c1", True),
        ("3f2b9c", False),
        ("1234567", True),
        ("A" * 40, True),
        ("A" * 39, False),
        ("A" * 39 + "/" + "A", False),
        ("main-BxT81k.js", True),
        ("main-BxT81.js", False),
        ("main-BxTabk.js", False),
    ],
)
def test_what_a_machine_made_is_known_by_its_length(word: str, is_noise: bool):
    assert (word not in passages.split(f"the build of {word} is broken")[0].text) is is_noise
