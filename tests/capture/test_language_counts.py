"""Counts of languages at their limits, and short texts that may be in one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord import state_file
from onrecord.capture import prompt_languages

GERMAN, RUSSIAN = "wo haben wir die Sitzungen und warum nicht im Cache", "где мы храним сессии"


def _write(project: Path, text: str) -> None:
    prompt_languages.note(str(project), RUSSIAN)
    (name,) = os.listdir(state_file.state_path("languages"))
    Path(state_file.state_path("languages"), name).write_text(text, encoding="utf-8")


def test_the_most_frequent_language_comes_first_from_three_prompts_on(tmp_path):
    _write(tmp_path, "de 3\nes 2\nru 12\nxx 9\nfr -4\n")

    assert prompt_languages.typed(str(tmp_path)) == ["Russian", "German"]
    prompt_languages.note(str(tmp_path), RUSSIAN)
    (name,) = os.listdir(state_file.state_path("languages"))
    assert Path(state_file.state_path("languages"), name).read_text() == "de 3\nes 2\nru 13\n"


@pytest.mark.parametrize(("count", "next_count"), [(9_998, 9_999), (9_999, 9_999)])
def test_a_count_stays_small(tmp_path, count, next_count):
    _write(tmp_path, f"ru {count}\n")

    prompt_languages.note(str(tmp_path), RUSSIAN)

    (name,) = os.listdir(state_file.state_path("languages"))
    assert Path(state_file.state_path("languages"), name).read_text() == f"ru {next_count}\n"


def test_the_names_of_the_languages(tmp_path):
    codes = "ar de es fr it ja ko nl pl pt ru tr zh".split()
    _write(tmp_path, "".join(f"{code} {20 - number}\n" for number, code in enumerate(codes)))

    assert prompt_languages.typed(str(tmp_path)) == [
        *("Arabic", "German", "Spanish", "French", "Italian", "Japanese", "Korean", "Dutch", "Polish", "Portuguese"),
        *("Russian", "Turkish", "Chinese"),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Сaaaaaa", ""),
        ("СЯ" + "a" * 14, "ru"),
        ("СЯ" + "a" * 15, ""),
        ("СЯ", "ru"),
        ("С", ""),
        ("\u3041\u3042", "ja"),
        ("\u30fe\u30ff漢字", "ja"),
        ("漢字", "zh"),
        ("\u4e00\u9fff", "zh"),
        ("가힣", "ko"),
        ("\u0600\u06ff\u0627\u0628", "ar"),
        ("x" * 2_000 + " " + RUSSIAN * 100, ""),
        ("wo und", ""),
        ("wo und nicht", "de"),
        (f"the and of with {GERMAN}", "de"),
        ("the and of with wo und nicht", ""),
    ],
)
def test_what_tells_a_language(text, code):
    assert prompt_languages.language(text) == code


@pytest.mark.parametrize(
    ("code", "text", "may_be"),
    [
        ("ru", "сессии", True),
        ("ru", "sessions", False),
        ("de", "wo sind Sitzungen", True),
        ("de", "Redis Cache", False),
        ("de", "wo are the Sitzungen", False),
        ("zh", "会话", True),
        ("ja", "会话", False),
    ],
)
def test_a_trigger_may_be_in_a_language(code, text, may_be):
    assert prompt_languages.may_be_in(code, text) is may_be


def test_the_languages_without_a_trigger_and_the_request_for_them(tmp_path):
    _write(tmp_path, "ru 5\nde 4\n")

    assert prompt_languages.missing(str(tmp_path), ["wo sind die Sitzungen"]) == ["Russian"]
    assert prompt_languages.request(["Russian", "German"]) == (
        "prompts in this project are also typed in Russian and German: add triggers in Russian and German too"
    )
    assert prompt_languages.request([]) == ""
