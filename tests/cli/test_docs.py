"""`onrecord docs`: pages, headings, settings and words are found, and a terminal shows them whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from onrecord.cli import docs, main
from onrecord.cli.commands import COMMANDS
from onrecord.cli.output import Screen, width_of
from onrecord.setting_table import SETTINGS

ROOT = Path(__file__).parents[2]
NARROW = Screen(60, is_terminal=True)


def _name(*words: str) -> list[str]:
    return [passage.name for passage in docs.find(words)]


def test_without_a_word_it_prints_the_list_of_all_pages(capsys: pytest.CaptureFixture[str]):
    assert main(["docs"]) == 0

    assert capsys.readouterr().out == (ROOT / "docs" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["tutorial"], "tutorial"),
        (["how-to/capture.md"], "how-to/capture"),
        (["CAPTURE"], "how-to/capture"),
        (["agents/README"], "agents/README"),
        (["merge-driver"], "reference/commands#merge-driver"),
        (["how-to/web#publish-the-records"], "how-to/web#publish-the-records"),
        (["complete", "commands", "with", "tab"], "install#complete-commands-with-tab"),
        (["retrieval.max_inject"], "reference/config#retrievalmax_inject"),
    ],
)
def test_a_page_a_heading_and_a_setting_are_found_by_name(words: list[str], name: str):
    assert _name(*words) == [name]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_passage(command: str):
    assert any(passage.page == "reference/commands" for passage in docs.find([f"reference/commands#{command}"]))


@pytest.mark.parametrize("key", [key for key in SETTINGS if "*" not in key])
def test_every_setting_has_its_row(key: str):
    (passage,) = docs.find([key])

    assert passage.source.split("\n")[2].startswith(f"| `{key}` |")


def test_words_find_the_passages_that_have_all_of_them_the_best_first():
    names = _name("holdout", "sessions")

    assert names[0].startswith("how-to/see-the-effect#")
    assert 1 < len(names) <= 10
    for name in names:
        (passage,) = docs.find([name])
        text = f"{passage.title} {passage.source}".lower()
        assert "holdout" in text and "sessions" in text


def test_a_name_in_the_list_prints_that_passage(capsys: pytest.CaptureFixture[str]):
    main(["docs", "holdout", "sessions", "--json"])
    listed = json.loads(capsys.readouterr().out)["matches"]

    for match in listed:
        assert main(["docs", match["name"], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["heading"] == match["heading"]


def test_words_that_no_page_has_are_an_error_with_a_fix(capsys: pytest.CaptureFixture[str]):
    assert main(["docs", "xylophone", "zzz"]) == 1

    assert capsys.readouterr().err == (
        "NOT_FOUND: no page has all of these words: xylophone zzz\nfix: use fewer words; onrecord docs\n"
        "docs: onrecord docs NOT_FOUND\n"
    )


@pytest.mark.parametrize("page", docs.pages(), ids=lambda page: page.page)
def test_no_word_of_a_page_is_lost_on_a_narrow_terminal(page: docs.ManualPassage):
    text = docs.rendered(page, NARROW)

    code = {line.strip() for line in re.findall(r"^    .*$", text, re.M)}
    too_wide = [line for line in text.split("\n") if width_of(line) > 60 and line.strip() not in code]
    # A word that is wider than its column stays whole.
    assert [line for line in too_wide if len(line.split()) > 1 and not re.search(r"\S{12,}", line)] == []
    assert re.findall(r"\]\([^)]*\.md", text) == []


def test_a_table_keeps_every_word():
    page = docs.ManualPassage(
        "cost", "Cost", "", "| what | tokens |\n| --- | --- |\n| a long cell of many more words | 1 \\| 2 |\n"
    )

    assert docs.rendered(page, Screen(28, is_terminal=True)) == (
        "what                  tokens\na long cell of many   1 | 2\nmore words"
    )
    assert docs.rendered(page, Screen(20, is_terminal=True)) == "a long cell of many\nmore words\n  tokens: 1 | 2"
