"""A fix taken apart, and in the words of each surface."""

from __future__ import annotations

import re

import pytest

from onrecord import remedy
from onrecord.remedy import Remedy
from tests.test_fixes import TEMPLATES

FIX = "swap the two: onrecord supersede new old; or add --force; to see it: onrecord show 'a b' --json; wait"


def test_a_fix_is_taken_apart_into_instructions_and_commands() -> None:
    assert remedy.parse(FIX) == [
        Remedy("swap the two", "onrecord supersede new old"),
        Remedy("or add --force"),
        Remedy("to see it", "onrecord show 'a b' --json"),
        Remedy("wait"),
    ]
    assert remedy.parse("") == []


def test_an_agent_is_told_of_tools_and_of_what_to_ask_the_user_for() -> None:
    assert remedy.for_agent(FIX) == (
        "swap the two: ask the user to run `onrecord supersede new old`; or add force; "
        'to see it: call show with id "a b"; wait'
    )


@pytest.mark.parametrize(
    ("fix", "words"),
    [
        ("onrecord init", "ask the user to run `onrecord init`"),
        ("onrecord list", "call overview"),
        ("onrecord search 'login state'", 'call search with query "login state"'),
        ("onrecord edit use-uv", 'call save with updates "use-uv"'),
        ("onrecord show --remote platform use-uv", "ask the user to run `onrecord show --remote platform use-uv`"),
        ("onrecord search", "ask the user to run `onrecord search`"),
        ("name a new file, or add a section: --into", "ask the user, who has a command line: name a new file, or add"),
        ("did you mean tags?", "did you mean tags?"),
        (
            "add --set rule=… --set impact=…; nothing was written",
            "add content.rule content.impact; nothing was written",
        ),
        ("name it with --related, or add --trigger", "name it with related_files, or add triggers"),
    ],
)
def test_the_words_for_an_agent(fix: str, words: str) -> None:
    assert remedy.for_agent(fix).startswith(words)


@pytest.mark.parametrize("where", TEMPLATES)
def test_every_fix_of_the_program_can_be_taken_apart_and_names_no_flag_to_an_agent(where: str) -> None:
    fix = TEMPLATES[where].strip("; ")

    assert "; ".join(map(str, remedy.parse(fix))) == fix
    for_people = r"ask the user to run `[^`]*`|ask the user, who has a command line: [^;]*"
    assert not re.search(r"(^|\s)--\w", re.sub(for_people, "", remedy.for_agent(fix)))


def test_a_command_with_a_page_of_its_own_names_it() -> None:
    assert [part.page for part in remedy.parse("onrecord review; onrecord doctor --fix; onrecord undo; wait")] == [
        "/inbox",
        "/health",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("onrecord search words", 'call search with query "words"'),
        ("onrecord list --limit 1", "call overview"),
        ("onrecord status", "call overview"),
        ("onrecord digest", "call overview"),
        ("onrecord show use-uv", 'call show with id "use-uv"'),
        ("onrecord edit use-uv", 'call save with updates "use-uv"'),
        ("onrecord update use-uv", 'call save with updates "use-uv"'),
        ("onrecord save", "call save"),
        ("onrecord recall 'a task'", 'call recall with task "a task"'),
        ("onrecord why 'a task'", 'call recall with task "a task"'),
        ("onrecord list --user", "ask the user to run `onrecord list --user`"),
        ("onrecord list --project x", "ask the user to run `onrecord list --project x`"),
        ("onrecord edit use-uv --draft", "ask the user to run `onrecord edit use-uv --draft`"),
        ("onrecord show --json", "ask the user to run `onrecord show --json`"),
        ("onrecord sync", "ask the user to run `onrecord sync`"),
    ],
)
def test_the_tool_in_place_of_a_command(command: str, call: str) -> None:
    assert remedy.for_agent(command) == call


@pytest.mark.parametrize(
    ("flag", "argument"),
    [
        ("--force", "force"),
        ("--limit N", "limit"),
        ("--category NAME", "category"),
        ("--tag TAG", "tags"),
        ("--tags", "tags"),
        ("--trigger TEXT", "triggers"),
        ("--related FILE", "related_files"),
        ("--into", None),
    ],
)
def test_the_argument_in_place_of_a_flag(flag: str, argument: str | None) -> None:
    instruction = f"or add {flag} to it"

    assert remedy.for_agent(instruction) == (
        f"or add {argument} to it" if argument else f"ask the user, who has a command line: {instruction}"
    )


@pytest.mark.parametrize(
    ("command", "page"),
    [
        ("review", "/inbox"),
        ("inbox", "/inbox"),
        ("doctor", "/health"),
        ("improve", "/health"),
        ("freshness", "/health"),
        ("config", "/settings"),
        ("search", "/search"),
        ("list", "/search"),
        ("status", "/"),
        ("sync", ""),
    ],
)
def test_the_page_in_place_of_a_command(command: str, page: str) -> None:
    assert Remedy("", f"onrecord {command} x").page == page
    assert Remedy("do it").page == ""


def test_a_command_with_a_quotation_that_is_not_closed_is_still_one() -> None:
    part = Remedy("see", "onrecord show it's")

    assert (part.page, str(part)) == ("", "see: onrecord show it's")
