"""The table of categories: its fields are those of the reference page, and its rows decide what is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onrecord.capture import conversation, suggestions, triage
from onrecord.capture.triage import SaveCandidate
from onrecord.categories import CATEGORIES
from onrecord.digest import map_page, selection
from onrecord.record import compose, lifecycle, summary_line, validity
from onrecord.search import document, query
from tests.records import CONTENT, NOW, sample

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "records.md").read_text(encoding="utf-8")
PARTS = {part.split("\n")[0]: part for part in PAGE.split("## Content of a ")[1:]}
"""What the page says of the content of each category."""

KINDS = {
    "text": "text, at most 20,000 characters",
    "lines": "list of at most 200: text, at most 4,000 characters",
    "some lines": "list of 1 to 200: text, at most 4,000 characters",
    "steps": "list of 1 to 200: text, at most 4,000 characters",
    "flag": "true or false",
    "day": "date, or words",
    "object": "object",
    "objects": "list of at most 200: object",
}


def _rows(fields: tuple[Any, ...], prefix: str = "") -> list[str]:
    rows = []
    for name, need, kind, purpose in fields:
        assert need in ("required", "optional")
        head = kind if isinstance(kind, str) else kind[0]
        words = KINDS.get(head, "")
        if head == "choice":
            words = " / ".join(f"`{value}`" for value in kind[1:])
        elif head == "text" and not isinstance(kind, str):
            words = f"text, at most {kind[1]:,} characters"
        rows.append(f"| `{prefix}{name}`{' ★' if need == 'required' else ''} | {words} | {purpose} |")
        if head in ("object", "objects"):
            rows += _rows(kind[1:], f"{prefix}{name}{'[]' if head == 'objects' else ''}.")
    return rows


@pytest.mark.parametrize("category", PARTS)
def test_the_page_of_records_says_what_a_category_holds(category: str) -> None:
    part = PARTS[category]
    row = CATEGORIES[category]

    assert [line for line in part.splitlines() if line.startswith("| `")] == _rows(row.content)
    assert f"\nFor {row.meaning}.\n" in part
    assert f"\nFolder `{row.folder}/` " in part


def test_the_page_of_records_has_every_category_in_the_order_of_the_table() -> None:
    assert list(PARTS) == list(CATEGORIES)
    assert [category.name for category in CATEGORIES.values()] == list(CATEGORIES)


def test_the_order_in_the_map_of_a_session() -> None:
    assert (
        *("constraint", "decision", "preference", "runbook", "tech_debt", "session_summary"),
        *("anti_pattern", "pattern", "heuristic"),
    ) == selection.PRIORITY


@pytest.mark.parametrize(
    ("category", "content", "defaults"),
    [
        ("decision", {"decision": "d", "context": "c", "rationale": ["r"]}, {"status": "accepted"}),
        ("constraint", {"rule": "r", "impact": ["i"]}, {"kind": "technical", "severity": "medium", "active": True}),
        ("preference", {"topic": "t", "value": "v", "reason": "r"}, {"strength": "default"}),
        ("runbook", {"trigger": "t", "steps": ["s"], "verification": "v"}, {}),
        ("tech_debt", {"description": "d", "reason_deferred": "r"}, {"status": "open", "priority": "medium"}),
        ("session_summary", {"goal": "g"}, {"outcome": "partial", "completed": [], "next_actions": []}),
    ],
)
def test_what_an_author_leaves_out(category: str, content: dict[str, Any], defaults: dict[str, Any]) -> None:
    record = compose.compose(category, {"title": "A title", "content": content})

    assert record.content == {**content, **defaults}


@pytest.mark.parametrize(
    ("category", "noun"),
    [
        ("decision", "a decision"),
        ("constraint", "a limit"),
        ("preference", "a preference"),
        ("runbook", "a fix"),
        ("tech_debt", "something left for later"),
        ("session_summary", "the state of the work"),
    ],
)
def test_a_suggestion_to_save_names_what_it_would_be(category: str, noun: str) -> None:
    note = suggestions.note(SaveCandidate(category, 0.9, "We use uv.", ("We use uv.",), ()), "save")

    assert note.startswith(f'Memory: later sessions may need to know this ({noun}): "We use uv."\n')


@pytest.mark.parametrize(
    ("category", "content", "marks"),
    [
        ("decision", {"status": "accepted"}, ()),
        ("decision", {"status": "proposed"}, ("proposed",)),
        ("decision", {"status": "deprecated"}, ("deprecated",)),
        ("decision", {"status": "superseded"}, ("superseded",)),
        ("constraint", {"severity": "medium"}, ()),
        ("constraint", {"severity": "high"}, ("high severity",)),
        ("constraint", {"severity": "high", "active": False}, ("no longer in force", "high severity")),
        ("preference", {"strength": "strong"}, ()),
        ("runbook", {}, ()),
        ("tech_debt", {"status": "open", "priority": "medium"}, ()),
        ("tech_debt", {"status": "in_progress", "priority": "critical"}, ("critical",)),
        ("tech_debt", {"status": "resolved", "priority": "high"}, ("resolved", "high priority")),
        ("tech_debt", {"status": "wont_fix", "priority": "low"}, ("will not be fixed",)),
        ("session_summary", {"outcome": "success"}, ("success",)),
        ("session_summary", {"outcome": "partial"}, ("partial",)),
        ("session_summary", {"outcome": "blocked"}, ("blocked",)),
        ("session_summary", {"outcome": "abandoned"}, ("abandoned",)),
    ],
)
def test_the_marks_in_front_of_a_record(category: str, content: dict[str, Any], marks: tuple[str, ...]) -> None:
    record = sample(category, content={**CONTENT[category], **content})

    assert summary_line.marks(record) == marks


DETAILS = [
    ("decision", {"rationale": ["one thing to run"]}, "Why: one thing to run."),
    ("constraint", {"impact": ["calls fail"]}, "Impact: calls fail."),
    ("constraint", {"impact": ["calls fail"], "workarounds": ["use a queue"]}, "Instead: use a queue."),
    ("preference", {"reason": "widths differ"}, "Why: widths differ."),
    ("preference", {"examples": {"avoid": ["spaces"]}, "reason": "why not"}, "Avoid: spaces. Why: why not."),
    ("runbook", {"steps": ["stop it", "start it"]}, "→ 1. stop it. 2. start it."),
    ("tech_debt", {"suggested_fix": ["share one module"]}, "Fix: share one module."),
    ("session_summary", {"in_progress": ["the import"]}, "Left off at: the import."),
    (
        "session_summary",
        {"in_progress": ["the import"], "blockers": ["DNS"], "next_actions": ["cut over"]},
        "Left off at: the import. Blocked by: DNS. Next: cut over.",
    ),
]


@pytest.mark.parametrize(("category", "content", "end"), DETAILS)
def test_the_details_at_the_end_of_a_line(category: str, content: dict[str, Any], end: str) -> None:
    record = sample(category, content={**CONTENT[category], **content})

    assert summary_line.unmarked(record).endswith(f" {end}")


@pytest.mark.parametrize(
    ("category", "field", "label", "room"),
    [
        ("decision", "rationale", "Why", 160),
        ("constraint", "workarounds", "Instead", 150),
        ("constraint", "impact", "Impact", 120),
        ("preference", "examples.avoid", "Avoid", 100),
        ("preference", "reason", "Why", 120),
        ("tech_debt", "suggested_fix", "Fix", 160),
        ("session_summary", "in_progress", "Left off at", 120),
        ("session_summary", "blockers", "Blocked by", 100),
        ("session_summary", "next_actions", "Next", 180),
    ],
)
def test_a_detail_has_at_most_so_many_characters_with_its_full_stop(
    category: str, field: str, label: str, room: int
) -> None:
    def detail(length: int) -> str:
        text = "x" * length
        content = {name: value for name, value in CONTENT[category].items() if name not in ("rationale", "impact")}
        if category == "preference":
            content["reason"] = "r"
        if field == "examples.avoid":
            content["examples"] = {"avoid": [text]}
        else:
            content[field] = text if field == "reason" else [text]
        line = summary_line.unmarked(sample(category, content=content))
        return line.partition(f" {label}: ")[2].partition(".")[0]

    assert (detail(room - 1), detail(room)) == ("x" * (room - 1), "")


@pytest.mark.parametrize(
    ("category", "statement"),
    [
        ("decision", "Sessions live in Redis 7"),
        ("constraint", "At most 100 requests a minute"),
        ("preference", "indentation: tabs"),
        ("runbook", "Disk is full"),
        ("tech_debt", "Retries are copied four times"),
        ("session_summary", "Move sessions"),
    ],
)
def test_a_line_has_the_main_statement(category: str, statement: str) -> None:
    assert statement in summary_line.unmarked(sample(category, title="Something else"))


@pytest.mark.parametrize(
    ("category", "content", "room"),
    [
        ("tech_debt", {"suggested_fix": ["f" * 150]}, 240),
        ("session_summary", {"blockers": ["b" * 90], "next_actions": ["n" * 170]}, 150),
    ],
)
def test_the_details_leave_so_much_room_for_the_statement(category: str, content: dict[str, Any], room: int) -> None:
    def has(length: int) -> bool:
        whole = {**CONTENT[category], **content, CATEGORIES[category].statement: "x" * length}
        line = summary_line.unmarked(sample(category, title="T", content=whole), 300)
        return "x" * length in line

    # The title, a colon and two spaces are in it.
    assert (has(room - len("T: ")), has(room - len("T: ") + 1)) == (True, False)


def test_a_record_that_is_replaced_says_so_in_its_content() -> None:
    content = {}
    for category in CATEGORIES:
        old, _ = lifecycle.supersede(sample(category), sample(category, id="new"), NOW)
        content[category] = {name: value for name, value in old.content.items() if value != CONTENT[category][name]}

    assert content == {
        **{category: {} for category in CATEGORIES},
        "decision": {"status": "superseded"},
        "constraint": {"active": False},
    }


def test_the_headings_of_the_map() -> None:
    assert list(map_page.HEADINGS.values()) == [
        *("Decisions", "Constraints", "Preferences", "Runbooks", "Debt", "Session summary"),
        *("Anti-patterns", "Patterns", "Heuristics"),
    ]


STATES = [
    ("tech_debt", {"status": "open", "priority": "critical"}, "critical"),
    ("tech_debt", {"status": "in_progress", "priority": "low"}, "low"),
    ("tech_debt", {"status": "resolved", "priority": "critical"}, "closed"),
    ("tech_debt", {"status": "wont_fix", "priority": "high"}, "closed"),
    ("session_summary", {"outcome": "success"}, ""),
    ("session_summary", {"outcome": "partial"}, "open"),
    ("session_summary", {"outcome": "blocked"}, "open"),
    ("session_summary", {"outcome": "success", "next_actions": ["deploy"]}, "open"),
    ("session_summary", {"outcome": "success", "in_progress": ["the import"]}, "open"),
    ("session_summary", {"outcome": "success", "blockers": ["DNS"]}, "open"),
    ("session_summary", {"outcome": "abandoned", "next_actions": ["deploy"]}, ""),
    ("decision", {"status": "proposed"}, ""),
]


@pytest.mark.parametrize(("category", "content", "state"), STATES)
def test_the_state_of_a_record(category: str, content: dict[str, Any], state: str) -> None:
    record = sample(category, content={**CONTENT[category], **content})

    assert CATEGORIES[category].open_state(record) == state
    assert json.loads(document.pack_facts(record))[-1] == state


BY_FILE = {
    ("constraint", "severity", "high"): 0,
    ("tech_debt", "priority", "critical"): 1,
    ("constraint", "severity", "medium"): 2,
    ("decision", "status", "accepted"): 3,
    ("preference", "strength", "strong"): 3,
    ("preference", "strength", "default"): 4,
    ("tech_debt", "priority", "high"): 4,
    ("constraint", "severity", "low"): 5,
    ("tech_debt", "priority", "medium"): 6,
    ("preference", "strength", "soft"): 7,
    ("tech_debt", "priority", "low"): 7,
}


def test_the_order_in_which_an_edited_file_shows_its_records() -> None:
    places = {}
    for category, field, value in BY_FILE:
        record = sample(category, content={**CONTENT[category], field: value}, related_files=["src/a.py"])
        ((_, _, places[category, field, value]),) = document.places(record)

    assert places == BY_FILE


@pytest.mark.parametrize(("category", "content"), [("runbook", {}), ("session_summary", {}), ("tech_debt", "resolved")])
def test_an_edited_file_does_not_show_what_asks_for_nothing(category: str, content: Any) -> None:
    content = {**CONTENT[category], **({"status": content} if content else {})}

    assert document.places(sample(category, content=content, related_files=["src/a.py"])) == []


@pytest.mark.parametrize(
    ("category", "field", "standing"),
    [
        ("constraint", "severity", {"high": 3, "medium": 2, "low": 1}),
        ("preference", "strength", {"strong": 3, "default": 2, "soft": 1}),
        ("tech_debt", "priority", {"critical": 3, "high": 3, "medium": 2, "low": 1}),
        ("decision", "status", {"accepted": 0, "proposed": 0}),
    ],
)
def test_a_severity_counts_more_than_the_confidence_of_a_record(category: str, field: str, standing: dict) -> None:
    for value, number in standing.items():
        record = sample(category, content={**CONTENT[category], field: value}, confidence=0.0)

        assert json.loads(document.pack_facts(record))[1] == number


@pytest.mark.parametrize(
    ("category", "content", "is_current"),
    [
        ("decision", {"status": "accepted"}, True),
        ("decision", {"status": "proposed"}, True),
        ("decision", {"status": "superseded"}, False),
        ("decision", {"status": "deprecated"}, False),
        ("constraint", {"active": True}, True),
        ("constraint", {"active": False}, False),
        ("constraint", {"expires": "2001-01-01"}, False),
        ("constraint", {"expires": "2999-01-01"}, True),
        ("tech_debt", {"status": "resolved"}, True),
        ("preference", {"expires": "2001-01-01"}, True),
    ],
)
def test_what_a_record_says_of_its_own_validity(category: str, content: dict[str, Any], is_current: bool) -> None:
    record = sample(category, content={**CONTENT[category], **content})

    assert bool(validity.current([record])) is is_current


@pytest.mark.parametrize(
    ("prompt", "category"),
    [
        ("why is it so slow", "decision"),
        ("explain the rationale of it", "decision"),
        ("error at the start", "runbook"),
        ("look at the failure", "runbook"),
        ("what is next for the import", "session_summary"),
        ("it stopped again", "session_summary"),
        ("rename the import", ""),
        ("why does the import crash", "runbook"),
        ("why was the import stopped yesterday", "decision"),
        ("does it crash when I resume the import", "runbook"),
    ],
)
def test_the_words_of_a_prompt_that_ask_for_a_category(prompt: str, category: str) -> None:
    assert query.parse(prompt).intent == category
    assert query.parse_prompt(prompt).intent == category


def test_what_says_what_to_do_and_what_holds_for_the_whole_project() -> None:
    assert {name: row.is_strict or None for name, row in CATEGORIES.items() if row.is_rule} == {
        "decision": True,
        "constraint": True,
        "preference": None,
    }
    assert [name for name, row in CATEGORIES.items() if not row.is_in_map] == ["session_summary"]


def test_the_cues_of_a_category_are_cues_that_triage_finds() -> None:
    cues = set(conversation.load("en")["phrases"])
    boosted = {cue for row in CATEGORIES.values() for group in row.boosted for cue in group}
    of_rules = {cue for group in triage._RULE_CUES.values() for cue in group}

    assert (boosted | of_rules) - cues == set()
    assert {*triage._CURES, *triage._ENDS, *triage._NO_ANSWER, *triage._SPEECH_WIDE} - cues == set()
