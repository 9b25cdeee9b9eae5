"""The ledger's fields, each written in one session's process and read in the next one, and what a reset keeps."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from onrecord import coldstart, paths, timestamps
from onrecord.session import ledger
from onrecord.session.ledger import Ledger

FIELDS = (
    "shown", "pointed", "warnings", "corrections", "folders", "prompts", "broken", "recent", "is_quiet", "has_started",
    "owed", "map", "map_moment", "map_lines",
)  # fmt: skip


def fields(session: Ledger) -> dict[str, Any]:
    """Return the fields that are not empty."""
    return {name: getattr(session, name) for name in FIELDS if getattr(session, name)}


def written(*steps: Callable[[Ledger], None], session: str = "s1") -> dict[str, Any]:
    """Return the fields after some steps, as the process that did them and the next one have them."""
    with Ledger(session) as first:
        for step in steps:
            step(first)
        now = fields(first)
    with Ledger(session) as second:
        assert fields(second) == (now if session else {})
    return now


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], {}),
        ([lambda it: it.add_shown("a", "v")], {"shown": {"a": "v"}}),
        ([lambda it: it.add_shown("/p/a", "v")], {"shown": {"/p/a": "v"}, "recent": {"/p/a": None}}),
        ([lambda it: it.add_shown("/p/a", "v"), Ledger.count_prompt, lambda it: it.add_shown("/p/b", "v")],
         {"shown": {"/p/a": "v", "/p/b": "v"}, "recent": {"/p/b": None}, "prompts": 1}),
        ([Ledger.count_prompt, Ledger.count_prompt], {"prompts": 2}),
        ([Ledger.quiet], {"is_quiet": True}),
        ([Ledger.quiet, Ledger.count_prompt], {"prompts": 1}),
        ([lambda it: it.add_broken("a"), Ledger.count_prompt, lambda it: it.add_broken("b")],
         {"broken": {"a": 0, "b": 1}, "prompts": 1}),
        ([lambda it: it.add_pointer("a")], {"pointed": {"a": None}}),
        ([lambda it: it.add_warning("a")], {"warnings": {"a"}}),
        ([lambda it: it.add_folders(["a", "b"]), lambda it: it.add_folders(["b", "c"])],
         {"folders": {"a": None, "b": None, "c": None}}),
        ([lambda it: it.add_correction("no,\tnot\nthis")], {"corrections": ["no,\tnot\nthis"]}),
        ([lambda it: it.owe("resume")], {"owed": "resume"}),
        ([lambda it: it.owe("resume now")], {"owed": "resume"}),
        ([lambda it: it.owe(" ")], {"owed": "startup"}),
        ([Ledger.start], {"has_started": True}),
        ([lambda it: it.owe("resume"), Ledger.start], {"has_started": True}),
        ([Ledger.start, lambda it: it.owe("compact")], {"has_started": True, "owed": "compact"}),
        ([Ledger.start, lambda it: it.owe("compact"), Ledger.start], {"has_started": True}),
    ],
)  # fmt: skip
def test_each_step_is_known_to_the_next_process(steps, expected):
    assert written(*steps) == expected


def test_a_session_without_a_name_is_remembered_by_nobody():
    assert written(lambda it: it.add_shown("a", "v"), session="") == {"shown": {"a": "v"}}
    assert not os.path.exists(paths.state_dir())


def test_a_folder_and_a_start_are_written_once():
    written(lambda it: it.add_folders(["a"]), lambda it: it.add_folders(["a"]), Ledger.start, Ledger.start)

    with open(os.path.join(paths.state_dir(), "sessions", "s1")) as file:
        assert file.read().splitlines() == ["folder\ta", "started"]


def test_the_map_has_a_moment_and_its_lines(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-01-02T00:00:00Z")

    part = written(lambda it: it.add_map(["a", "b"], is_whole=False))
    whole = written(lambda it: it.add_map(["c"], is_whole=True))

    assert part == {"map": "part", "map_moment": "2026-01-02T00:00:00Z", "map_lines": {"a", "b"}}
    assert whole == {"map": "whole", "map_moment": "2026-01-02T00:00:00Z", "map_lines": {"a", "b", "c"}}
    with Ledger("s1") as session:
        assert session.map_is_whole


def test_a_reset_keeps_what_was_typed_warned_of_and_touched():
    def everything(session: Ledger) -> None:
        session.add_shown("/p/a", "v")
        session.add_pointer("b")
        session.add_warning("z")
        session.add_warning("fts5")
        session.add_folders(["web"])
        session.add_correction("no, not that")
        session.add_broken("/p/a")
        session.add_map(["a"], is_whole=True)
        session.start()
        session.count_prompt()

    kept = {
        "warnings": {"fts5", "z"}, "folders": {"web": None}, "corrections": ["no, not that"], "has_started": True
    }  # fmt: skip
    assert written(everything, Ledger.reset) == kept


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("map\twhole\n", {"map": "whole"}),
        ("map\n", {}),
        ('heard\t{"a\nprompt\n', {"prompts": 1}),
        ("heard\t7\n", {"corrections": ["7"]}),
        ("unknown\tx\n\n", {}),
        ("shown\ta\tv\tw\n", {"shown": {"a": "v\tw"}}),
    ],
)
def test_an_odd_line_costs_nothing_else(lines: str, expected: dict[str, Any]):
    written(Ledger.quiet)
    with open(os.path.join(paths.state_dir(), "sessions", "s1"), "w") as file:
        file.write(lines)

    with Ledger("s1") as session:
        assert fields(session) == expected


@pytest.mark.parametrize(
    ("session", "is_plain"),
    [
        ("a-1", True),
        ("A" * 64, True),
        ("A" * 65, False),
        ("a_b", False),
        ("a/b", False),
        ("ä", False),
        ("٣", False),
        ("..", False),
    ],
)
def test_a_session_is_a_file_of_its_name_or_of_a_hash_of_it(session: str, is_plain: bool):
    assert not ledger.exists(session)

    written(Ledger.quiet, session=session)

    (name,) = (name for name in os.listdir(os.path.join(paths.state_dir(), "sessions")) if "lock" not in name)
    assert name == (session if is_plain else coldstart.content_hash(session.encode()))
    assert ledger.exists(session)


def test_a_record_is_known_by_its_text_in_twelve_characters():
    assert ledger.text_hash("a") == coldstart.content_hash(b"a")[:12]
    assert len(ledger.text_hash("\ud800")) == 12
