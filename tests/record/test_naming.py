from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.record import naming, schema

OURS = re.compile(r"<\s*/?\s*(memory-context|result|system-reminder|memory)\b", re.IGNORECASE)
WORDS = ["<", ">", "/", " ", "result", "memory", "-context", "system-reminder", "-", "#", "tags:", "->"]
tricky = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Use\tPostgres\n16 ", "Use Postgres 16"),
        ("a -> b #tags:c", "a → b # tags:c"),
        ("bell\x07 null\x00", "bell null"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("over\u202eride", "override"),
        ("<memory-context source='x'>hi</memory-context>", "hi"),
        ("< / Result >quoted", "quoted"),
        ("a <b> c", "a <b> c"),
        ("cafe\u0301", "café"),
        ("z\u0351\u0351a\u0334lgo", "zalgo"),
        ("क्षत्रिय", "क्षत्रिय"),
        ("می‌خواهم", "می‌خواهم"),
        ("x" * 130, "x" * 120),
        ("\ud800lone", "lone"),
    ],
)
def test_titles(text, expected):
    assert naming.clean_title(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Data Base", "data-base"),
        ("a,b#c", "abc"),
        ("--x--y--", "x-y"),
        ("<result>", ""),
        ("İstanbul", "istanbul"),
        ("x" * 59 + ":y", "x" * 59),
        ("c++", "c++"),
        ("데이터", "데이터"),
    ],
)
def test_tags(text, expected):
    assert naming.clean_tag(text) == expected


def test_tags_come_sorted_each_once_and_none_empty():
    assert naming.clean_tags(["b", "A", "a ", "", "#"]) == ("a", "b")


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Use Postgres 16", ["Use", "Postgres", "16"]),
        ("データベースにはPostgreSQL 16を使う", ["データベース", "PostgreSQL", "16"]),
        ("缓存使用Redis", ["缓存使用", "Redis"]),
        ("これ", ["これ"]),
        ("데이터베이스 선택", ["데이터베이스", "선택"]),
    ],
)
def test_words_of_titles(title, words):
    assert naming.words(title) == words


def test_latin_letters_stand_apart_in_the_id_of_a_japanese_title():
    assert naming.slug("データにはPostgreSQL 16をつかう").startswith("detaniha-postgresql-16-wotukau")


@pytest.mark.parametrize("text", ["< <result> memory x>", "<<result>/memory>", "<me<memory>mory>", "##tags:tags:"])
def test_markup_that_appears_when_markup_is_removed_was_let_through(text):
    clean = naming.clean_title(text)

    assert not OURS.search(clean)
    assert "#tags:" not in clean


def test_a_title_cut_in_the_middle_of_a_word_does_not_become_markup():
    assert not OURS.search(naming.clean_title("x" * 113 + "<resultant>"))


@pytest.mark.parametrize("clean", [naming.clean_title, naming.clean_tag, naming.one_line, naming.remove_invisible])
@given(text=tricky)
def test_cleaning_twice_changes_nothing(clean, text):
    once = clean(text)

    assert clean(once) == once


@given(tricky)
def test_a_clean_title_is_one_visible_line_without_our_marks(text):
    clean = naming.clean_title(text)

    assert len(clean) <= naming.MAX_TITLE_CHARACTERS
    assert not OURS.search(clean)
    assert "->" not in clean
    assert "#tags:" not in clean
    assert not {unicodedata.category(char) for char in clean} & {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(tricky)
def test_a_clean_tag_is_one_the_schema_accepts(text):
    (tags,) = (field for field in schema.RECORD if field.name == "tags")
    clean = naming.clean_tag(text)

    assert not clean or re.fullmatch(tags.kind.item.pattern.regex, clean)
    assert len(clean) <= tags.kind.item.max_length


@pytest.mark.parametrize(
    "trigger",
    ["fix it", "what do we do", "continue", "how to run this", "Fix it!", "let's go", "mach weiter", "qué hacemos"],
)
def test_a_trigger_that_fits_any_prompt_is_generic(trigger):
    assert naming.is_generic(trigger)


@pytest.mark.parametrize(
    "trigger",
    ["run the tests", "commit", "start working on task 008", "npm i", "&&", "", "認証を直す", "review this", "push"],
)
def test_a_trigger_that_names_something_is_not_generic(trigger):
    assert not naming.is_generic(trigger)


def test_the_note_on_generic_triggers_has_one_wording():
    assert naming.generic_note(["add redis"]) == ""
    assert naming.generic_note(["fix it", "add redis"]) == (
        'the trigger "fix it" has only words that any prompt may have, so it is not matched as such: '
        "name the thing asked for"
    )
    assert naming.generic_note(["fix it", "go on", "run this", "continue"]).startswith(
        'the triggers "fix it", "go on", "run this" and 1 more have only words'
    )
