import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.search import terms


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("userId user_id user-id user.id", ["user", "id"] * 4),
        ("HTTPServer", ["http", "server"]),
        ("two URLs, three IDs", ["two", "url", "three", "id"]),
        ("C++ and C#", ["cpp", "and", "csharp"]),
        ("Überprüfung Straße café", ["uberprufung", "strass", "cafe"]),
        ("nai\u0308ve naïve", ["naiv", "naiv"]),
        ("데이터베이스", ["데이", "이터", "터베", "베이", "이스"]),
        ("速度制限を", ["速度", "度制", "制限", "限を"]),
        ("rate制限", ["rate", "制限"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Конфигурация", ["конфигурация"]),
        ("\ud800 x\x00y —", ["x", "y"]),
        ("b" * 35 + "aings", ["b" * 35 + "a"]),
        ("b" * 36 + "aings", ["b" * 36 + "aing"]),
        ("ж" * 41, ["ж" * 40]),
    ],
)
def test_stream(text, stream):
    assert terms.stream(text) == stream


def test_forms_of_a_word_are_one_term():
    assert {terms.stream(word)[0] for word in ("retry", "retries", "retried", "retrying")} == {"retri"}


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("vietnamization", "vietnam"),
        ("hopefulness", "hope"),
        ("adoption", "adopt"),
        ("controlling", "control"),
        ("is", "is"),
    ],
)
def test_stem(word, base):
    assert terms.stem(word) == base


@given(st.text())
def test_terms_hold_only_letters_digits_and_marks(text):
    for term in terms.stream(text):
        assert term
        assert not any(character.isspace() or character in '"|*^:(){}' for character in term)


@given(st.text())
def test_the_stream_of_a_stream_of_unspaced_words_is_stable(text):
    once = terms.words(text)

    assert terms.words(" ".join(once)) == once
