"""The page of a draft: what stands against it, what it changes, and how much of it fits on a terminal."""

from __future__ import annotations

import os
import shutil

import pytest

from onrecord import timestamps
from onrecord.cli import draft_page
from onrecord.cli.draft_page import DraftPage
from onrecord.cli.output import Screen
from onrecord.errors import BadInput
from onrecord.record import compose
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.settings import Settings
from onrecord.store.inbox import BrokenDraft
from onrecord.store.store import Store
from onrecord.store.writer import Writer

NOW = "2026-03-02T09:30:00Z"
TERMINAL, PIPE = Screen(60, is_terminal=True), Screen()
TEXT = "Every request to a carrier waits at most eight seconds, then the breaker opens for a minute and we queue it"


@pytest.fixture
def writer(tmp_path, monkeypatch) -> Writer:
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return Writer(Store(str(tmp_path / "project/.claude/memory")), Settings())


def decision(title: str = "Carrier timeouts", text: str = TEXT, **fields: object) -> Memory:
    content = {"decision": text, "context": "c", "rationale": ["r"]}
    record = compose.compose("decision", {"title": title, "content": content, "tags": ["net"]})
    return record._replace(created_at=NOW, updated_at=NOW, **fields)


def page(writer: Writer, draft: Draft | BrokenDraft, screen: Screen = PIPE) -> list[str]:
    return draft_page.draft_page(writer, draft, screen).whole.split("\n")


def test_a_new_draft_with_all_that_may_speak_against_it(writer):
    writer.save(decision("Timeouts of carriers", TEXT + " again"))
    quotes = ("the first thing that was said, which is longer than a line", "the second", "the third")
    draft = Draft("carrier", decision(origin="tool", supersedes=("older",)), evidence=quotes, supersedes="old",
                  note="only the first part is in it")  # fmt: skip

    piped, shown = page(writer, draft), page(writer, draft, TERMINAL)

    assert piped[:3] == ["Carrier timeouts", "decision · draft · updated 2026-03-02", "agents will be shown"]
    assert piped[3].startswith("  Carrier timeouts: Every request")
    assert piped[4:11] == [
        "says nearly the same: decisions/timeouts-of-carriers.json (Timeouts of carriers)",
        "it would replace old, older",
        "note: only the first part is in it",
        "drafted by onrecord from the transcript, not by an agent",
        "said: the first thing that was said, which is longer than a line",
        "said: the second",
        "said: the third",
    ]
    assert piped[11:13] == ["", "decision"]
    assert piped[-1] == "path: inbox/carrier.json"
    start = shown.index("says nearly the same: decisions/timeouts-of-carriers.json (…")
    assert shown[start + 4 :][:3] == [
        "said: the first thing that was said, which is longer than a…",
        "said: the second",
        "",
    ]
    assert max(map(len, shown)) <= 60


def test_the_source_is_left_out_where_quotations_follow(writer):
    draft = Draft("carrier", decision(source="session 1"))

    assert any("session 1" in line for line in page(writer, draft))
    assert not any("session 1" in line for line in page(writer, draft._replace(evidence=("said",))))


def test_a_draft_that_adds_to_a_record_shows_what_it_changes(writer):
    saved = writer.save(decision())
    draft = Draft("more", decision(triggers=("how long do we wait",)), updates=saved.memory.id, fields=("triggers",))

    lines = page(writer, draft)

    at = lines.index("changes carrier-timeouts:")
    assert lines[at + 1 : at + 3] == ["triggers", "  + how long do we wait"]
    assert "changes gone:" not in page(writer, draft._replace(updates="gone"))
    assert draft_page.difference(writer, draft._replace(updates=""), PIPE) == ""
    assert draft_page.difference(writer, draft._replace(updates="gone"), PIPE) == ""
    same = Draft("same", decision(), updates=saved.memory.id, fields=("title",))
    assert draft_page.difference(writer, same, PIPE) == "The record already says all of it."


def test_a_revision_shows_only_the_changes(writer):
    saved = writer.save(decision())
    draft = Draft("new", decision("Carriers time out"), updates=saved.memory.id, revises=saved.hash,
                  fields=("title",), summary="shorter")  # fmt: skip

    assert page(writer, draft) == [
        "Carrier timeouts",
        "a draft that changes decisions/carrier-timeouts.json",
        "agents will be shown",
        f"  Carriers time out: {TEXT}. Why: r.",
        "why: shorter",
        "title",
        "  - Carrier timeouts",
        "  + Carriers time out",
    ]
    outdated = page(writer, draft._replace(revises="0" * 64, summary=""))
    assert outdated[2] == "the record was changed since: merge puts the draft into it, accept is refused"
    assert not any(line.startswith("why: ") for line in outdated)
    assert page(writer, draft._replace(updates="gone"))[1] == "decision · draft · updated 2026-03-02"


def test_the_labels_of_a_page_are_in_colour(writer):
    saved = writer.save(decision("Timeouts of carriers", TEXT + " again"))
    screen = Screen(200, is_terminal=True, has_colour=True)
    draft = Draft("x", decision(origin="tool"), evidence=("said",), supersedes="old", note="part")
    revision = Draft("y", decision("T"), updates=saved.memory.id, revises="0" * 64, fields=("title",), summary="s")

    lines = page(writer, draft, screen) + page(writer, revision, screen)

    for text in (
        "\033[36magents will be shown\033[0m",
        "\033[33msays nearly the same\033[0m: decisions/timeouts-of-carriers.json (Timeouts of carriers)",
        "\033[33mit would replace old\033[0m",
        "\033[33mnote\033[0m: part",
        "\033[33mdrafted by onrecord from the transcript, not by an agent\033[0m",
        "\033[36msaid\033[0m: said",
        "\033[1mTimeouts of carriers\033[0m",
        "\033[33mthe record was changed since: merge puts the draft into it, accept is refused\033[0m",
        "\033[36mwhy\033[0m: s",
    ):
        assert text in lines


def test_a_draft_that_cannot_be_read_says_why(writer):
    broken = BrokenDraft("x", BadInput("not JSON"))

    assert page(writer, broken) == ["cannot be read: not JSON"]


@pytest.mark.parametrize(
    ("height", "lines", "shown"),
    [
        (14, 10, [*"0123456789"]),
        (14, 11, [*"012345678", "… 2 more lines: press v"]),
        (5, 8, [*"01234567"]),
        (5, 9, [*"0123456", "… 2 more lines: press v"]),
    ],
)
def test_a_page_is_cut_to_the_height_of_the_terminal_but_never_to_less_than_eight_lines(
    monkeypatch, height, lines, shown
):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((60, height)))
    whole = tuple(str(number) for number in range(lines))

    assert DraftPage(whole, TERMINAL).fitted.split("\n") == shown
    assert DraftPage(whole, PIPE).fitted.split("\n") == list(whole)


def test_a_line_that_takes_two_rows_counts_twice(monkeypatch):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((60, 14)))
    whole = ("x" * 61, *"12345678", "9" * 61)

    assert DraftPage(whole, TERMINAL).fitted.split("\n")[-2:] == ["7", "… 3 more lines: press v"]
    coloured = DraftPage(whole, TERMINAL._replace(has_colour=True)).fitted
    assert coloured.endswith("\033[2m… 3 more lines: press v\033[0m")


def test_the_source_of_a_draft_is_its_passage_or_what_was_said(writer, tmp_path):
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    (project / "a.md").write_text(f"# Notes\n{TEXT}\nother words here\n")
    screen = Screen(200, is_terminal=True, has_colour=True)
    imported = decision(source="a.md:1", origin="import")

    assert draft_page.source_text(Draft("x", imported), str(project), screen).split("\n") == [
        "\033[1ma.md:1\033[0m",
        "# Notes",
        f"\033[1m{TEXT}\033[0m",
        "other words here",
    ]
    gone = draft_page.source_text(Draft("x", imported._replace(source="b.md:1")), str(project), PIPE)
    assert gone == "b.md:1\ncannot be read: No such file or directory"
    said = Draft("x", decision(source="session 1"), evidence=("one", "two"))
    assert draft_page.source_text(said, str(project), PIPE) == "session 1\none\ntwo"
    repeated = said._replace(record=decision(source="he said: one\ntwo"))
    assert draft_page.source_text(repeated, str(project), PIPE).split("\n")[1:] == []
