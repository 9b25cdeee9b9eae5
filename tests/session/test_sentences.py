"""How sentences of a prompt are read for a correction: marks, contractions, gaps, code, and what may be a secret."""

from __future__ import annotations

import pytest

from onrecord.session import correction
from onrecord.session.correction import FAULT, NONE, REPROACH, PhraseTable


def occurs(pattern: str, words: str) -> bool:
    return PhraseTable(pattern).occur_in(words.split())


@pytest.mark.parametrize(
    ("pattern", "words", "is_there"),
    [
        ("a b", "x a b y", True),
        ("a b", "a x b", False),
        ("a b", "a", False),
        ("a b | c", "c", True),
        (" | ", "a", False),
        ("a b | a c", "a c", True),
        ("^ a", "^ a", True),
        ("^ a", "^ b a", False),
        ("a *ing", "a going", True),
        ("a *ing", "a goes", False),
        ("a kein*", "a keine", True),
        ("a kein*", "a kein", True),
        ("a kein*", "a ein", False),
        ("a * b", "a b", False),
        ("a * b", "a 1 b", True),
        ("a * b", "a 1 2 3 4 5 b", True),
        ("a * b", "a 1 2 3 4 5 6 b", False),
        ("a * b", "a 1", False),
        ("a * b * c", "a 1 b 2 c", True),
        ("a * b c", "a 1 b 2 b c", True),
        ("a b", "a a b", True),
    ],
)
def test_a_phrase_is_found_with_its_gaps_and_endings(pattern: str, words: str, is_there: bool):
    assert occurs(pattern, words) is is_there


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("No, use it!", "^ no , use it !"),
        ("Why? (really)", "^ why ? really"),
        ("Don’t do that", "^ don't do that"),
        ("dont use it, youre wrong", "^ don't use it , you're wrong"),
        ("a - b -c #d 1) 2x e 42", "^ a , b c d 1 x e 42"),
        ("a: b; c. d", "^ a : b c d"),
        ("“a” `b` *c* _d_ <e> {f} [g] ¡h! ¿i?", "^ a b c d e f g h ! i ?"),
        ("a/b|c\\d…e–f—g", "^ a b c d e f g"),
    ],
)
def test_a_sentence_is_split_into_words_and_marks(sentence: str, words: str):
    assert " ".join(correction._words(sentence)) == words


def test_eighty_words_of_a_sentence_are_read():
    assert correction.strength("x " * 77 + "as i said") == REPROACH
    assert correction.strength("x " * 78 + "as i said") == NONE


@pytest.mark.parametrize(
    ("prompt", "level"),
    [
        ("```\nas i said\n```", NONE),
        ("~~~\nas i said\n~~~", NONE),
        ("  ```python\nas i said\n```", NONE),
        ("```\nx\n```\nas i said", REPROACH),
        ("```\nas i said", NONE),
        ("> as i said", NONE),
        ("\tas i said", NONE),
        ("    as i said", NONE),
        ("$ as i said", NONE),
        ("+ as i said", NONE),
        ("- [ ] as i said", NONE),
        ("- as i said", REPROACH),
        ("   as i said", REPROACH),
        ("x\nas i said", REPROACH),
    ],
)
def test_code_and_quotations_are_not_the_authors_own_words(prompt: str, level: int):
    assert correction.strength(prompt) == level


@pytest.mark.parametrize(
    ("prompt", "level"),
    [
        ("Never use npm.", FAULT),
        ("Add a test. Never use npm.", NONE),
        ("As I said. That is wrong.", REPROACH),
        ("That is wrong. As I said.", REPROACH),
        ("That's wrong?", NONE),
        ("Why did you do that?", FAULT),
        ("why did you do that", FAULT),
        ("You're right, as i said", NONE),
        ("You're right. As I said: use pnpm", REPROACH),
    ],
)
def test_the_plainest_sentence_counts_unless_it_is_harmless(prompt: str, level: int):
    assert correction.strength(prompt) == level


def test_a_prompt_of_2_000_characters_is_read_as_a_whole():
    start = "x" * 1_392 + ". As I said. "
    levels = [correction.strength(start + "y" * (length - len(start))) for length in (2_000, 2_001)]

    # Of a longer one, the end begins in the middle of that sentence.
    assert levels == [REPROACH, NONE]


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"the password {word} geheim"
            for word in ("is", "was", "to", "=", "ist", "war", "lautet", "auf", "es", "era")
        ),
        "the password: geheim",
        "the password=geheim",
        "the passwords: geheim",
        "the 'password' is geheim",
        "password hunter2",
        "password of a hunter2",
        "password (hunter2)",
        "x" * 24,
    ],
)
def test_a_value_that_may_be_secret_is_known(text: str):
    assert correction.may_have_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "the password",
        "the password of hunter two",
        "the password of a new hunter2",
        "the password field, please",
        "the password isn't there",
        "the password 'field'",
        "the word is geheim",
        "hunter2 is a name",
        "x" * 23,
    ],
)
def test_a_text_without_a_value_is_no_secret(text: str):
    assert not correction.may_have_secret(text)


@pytest.mark.parametrize(
    ("sentence", "instructs"),
    [
        ("Always use tabs", True),
        ("From now on, use tabs", True),
        ("ab jetzt nur Tabs", True),
        ("Always use tabs?", False),
        ("Always use tabs? ", False),
        ("use tabs here", False),
        ("", False),
    ],
)
def test_a_standing_instruction_is_known_by_its_cue(sentence: str, instructs: bool):
    assert correction.instructs(sentence) is instructs
    assert correction.is_instruction(f"Hello there.\n{sentence}") is instructs


def test_an_instruction_has_2_000_characters_at_most():
    sentence = "Always use tabs. "

    assert correction.is_instruction(sentence + "x" * (2_000 - len(sentence)))
    assert not correction.is_instruction(sentence + "x" * (2_001 - len(sentence)))
