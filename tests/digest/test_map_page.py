"""The lines of a map: how long they are, in what order, and what is said of those that have no room."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.digest import map_page
from onrecord.digest.selection import DigestCandidate, Pick
from onrecord.text import count_tokens

PLENTY = 100_000


def pick(name: str, category: str = "decision", **fields: Any) -> Pick:
    row = {"title": f"Rule {name}", "is_local": True, "areas": (), **fields}
    title, is_local = row.pop("title"), row.pop("is_local")
    return Pick(DigestCandidate(name, category, title, "", f"{name}.json", is_local, name=name, **row), 0.0, 0.0, 0.0)


def compose(*picks: Pick, tokens: int = PLENTY, limit: int = 120, areas: dict[str, int] | None = None) -> list[str]:
    """Return the lines of a map below its head."""
    lines = map_page.compose(picks, (), limit, tokens, areas or {}).lines
    assert not lines or tuple(lines[: len(map_page.HEAD)]) == map_page.HEAD
    return list(lines[len(map_page.HEAD) :])


def test_a_heading_for_each_category_in_their_order():
    lines = compose(
        *(
            pick(name, name)
            for name in (
                *("heuristic", "pattern", "anti_pattern", "session_summary", "tech_debt", "runbook"),
                *("preference", "decision", "constraint"),
            )
        )
    )

    assert lines == [
        *("Constraints:", "- constraint: Rule constraint", "Decisions:", "- decision: Rule decision"),
        *("Preferences:", "- preference: Rule preference", "Runbooks:", "- runbook: Rule runbook"),
        *("Debt:", "- tech_debt: Rule tech_debt", "Session summary:", "- session_summary: Rule session_summary"),
        *("Anti-patterns:", "- anti_pattern: Rule anti_pattern", "Patterns:", "- pattern: Rule pattern"),
        *("Heuristics:", "- heuristic: Rule heuristic"),
    ]


def test_entries_of_one_subject_are_together_the_largest_subject_first_and_marked_ones_before_all():
    lines = compose(
        pick("a", areas=("zoo",)),
        pick("b", areas=("auth", "web")),
        pick("c", areas=("web",)),
        pick("d"),
        pick("e", areas=("auth",), mark="high severity"),
        pick("f", areas=("web",), mark="proposed"),
        pick("g", mark="critical, expires 2026-01-01"),
    )

    assert [line.split(":")[0] for line in lines[1:]] == ["- e", "- g", "- b", "- c", "- f", "- a", "- d"]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "- use-uv: Rule use-uv"),
        ({"line": "Use uv, never pip."}, "- use-uv: Use uv, never pip."),
        ({"mark": "proposed"}, "- use-uv: (proposed) Rule use-uv"),
        ({"shared": "platform"}, "- use-uv: Rule use-uv [platform]"),
        ({"title": "x" * 141}, f"- use-uv: {'x' * 139}…"),
        ({"title": "x" * 140, "mark": "m", "shared": "s"}, f"- use-uv: (m) {'x' * 140} [s]"),
    ],
)
def test_the_line_of_an_entry(fields, line):
    assert map_page.render_line(pick("use-uv", **fields).candidate) == line
    assert compose(pick("use-uv", **fields)) == ["Decisions:", line]


def _cost(lines: list[str]) -> int:
    return sum(count_tokens(line) + 1 for line in (*map_page.HEAD, *lines))


@pytest.mark.parametrize("width", [140, 110, 90, 76])
def test_where_there_is_less_room_every_line_gets_shorter(width):
    picks = [pick(f"n{number}", title="x" * 200) for number in range(4)]
    shortened = ["Decisions:", *(f"- n{number}: {'x' * (width - 1)}…" for number in range(4))]

    assert compose(*picks, tokens=_cost(shortened)) == shortened
    assert compose(*picks, tokens=_cost(shortened) - 1) != shortened


def test_where_lines_cannot_be_shorter_there_are_fewer_and_the_rest_is_counted_by_subject():
    picks = [pick(f"n{number:02}", title="x" * 200, areas=("auth",)) for number in range(20)]
    areas = {"": 1_020, "auth": 30, "web": 1_000, "one": 1, "y" * 31: 2, **{f"s{number:02}": 3 for number in range(12)}}
    kept = ["Decisions:", *(f"- n{number:02}: {'x' * 75}…" for number in range(10))]

    page = map_page.compose(picks, (), 120, _cost(kept) + 110, areas)

    assert list(page.lines[len(map_page.HEAD) : -1]) == kept
    assert [chosen.candidate.name for chosen in page.picks] == [f"n{number:02}" for number in range(10)]
    assert page.left_out == 1_010
    others = ", ".join(f"s{number:02} 3" for number in range(10))
    assert page.lines[-1] == f"1,010 more: onrecord search WORDS. Not listed, by subject: web 1,000, auth 20, {others}"


def test_a_subject_of_which_one_entry_is_left_is_not_named_and_a_long_one_is_cut():
    picks = [pick(f"n{number}") for number in range(10)]

    lines = compose(*picks, areas={"": 13, "one": 1, "y" * 31: 2})

    assert lines[-1] == f"3 more: onrecord search WORDS. Not listed, by subject: {'y' * 29}… 2"
    assert compose(*picks, areas={"": 11, "one": 1})[-1] == "1 more: onrecord search WORDS"
    assert not compose(*picks, areas={"": 10, "one": 5})[-1].startswith("0 more")


def test_without_room_for_any_entry_there_is_no_map():
    page = map_page.compose([pick("a"), pick("b")], (), 120, 10, {})

    assert page == ((), (), 2)


def test_pinned_entries_are_in_a_map_that_has_not_room_for_all():
    picks = [pick(f"n{number}", observations=9 - number) for number in range(5)]

    page = map_page.compose(picks, picks[4:], 2, PLENTY, {})

    assert [chosen.candidate.name for chosen in page.picks] == ["n4", "n0"]
    assert page.left_out == 3


@pytest.mark.parametrize(
    ("can_be_kept", "line"),
    [
        (True, "The index is being built: 1,000 of 20,000 records are known so far, the most urgent ones first."),
        (
            False,
            "No index can be kept here: only 1,000 of 20,000 records are known, the most urgent ones; the reason: "
            "onrecord doctor",
        ),
    ],
)
def test_what_is_said_of_an_index_that_is_not_complete(can_be_kept, line):
    assert map_page.building_line(1_000, 20_000, can_be_kept=can_be_kept) == line


@pytest.mark.parametrize(
    ("is_active", "end"),
    [(False, "inactive*"), (True, 'active, weight=0.6 | context: "the parser of the timetable an…"*')],
)
def test_the_last_line_counts_what_is_of_the_project_and_what_is_not(is_active, end):
    picks = [pick("a"), pick("b", is_local=False), pick("c", is_local=False)]

    line = map_page.last_line(picks, "the parser of the timetable and its tests", 0.6, is_active=is_active)

    assert line == f"*Memory: 3 entries (1 local, 2 global) | relevance: {end}"
