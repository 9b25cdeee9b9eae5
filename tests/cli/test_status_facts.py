"""Each fact of `onrecord status`, which has a line only where it says something."""

from __future__ import annotations

import pytest

from onrecord import attention
from onrecord.attention import ChangedFiles, Need, Subject
from onrecord.cli import status
from onrecord.cli.output import Screen
from onrecord.cli.status import _Status
from onrecord.settings import OffSwitch, ProjectSetting
from onrecord.usage.usage_log import Corrections, Counts

NOTHING = _Status("/m", True, {}, {}, 0, 0, ChangedFiles(), Counts(), {}, [], {}, [], {}, [], 0.0, [], [], True, [])
OFTEN = {f"decisions/d{n}.json": Corrections(n, f"2026-03-0{n}", ("codex",)) for n in (4, 3, 2, 1)}
THREE = (
    "d4 4 times, last on 2026-03-04 (codex); d3 3 times, last on 2026-03-03 (codex); "
    "d2 2 times, last on 2026-03-02 (codex)"
)
WEEK = "last 7 days  no record was shown to an agent"


def _lines(**fields) -> list[str]:
    return status._text(Screen(200), NOTHING._replace(**fields)).split("\n")


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({}, [WEEK]),
        (
            {"in_use": {"decision": 1, "tech_debt": 12, "runbook": 1}},
            ["in use       12 tech debts, 1 decision, 1 runbook", WEEK],
        ),
        ({"out_of_use": {"retired": 1_234, "archived": 1}}, ["not in use   1,234 retired, 1 archived", WEEK]),
        ({"usage": Counts(injected=2, opened=1)}, ["last 7 days  records shown 2 times, opened 1 time"]),
        ({"usage": Counts(pointed=1)}, ["last 7 days  records shown 0 times, pointed to 1 time"]),
        ({"usage": Counts(digest=2)}, ["last 7 days  records shown 0 times, in digests 2 times"]),
        ({"usage": Counts(opened=2)}, [WEEK]),
        (
            {"corrections": dict(list(OFTEN.items())[:3])},
            [WEEK, f"corrections  agents broke {THREE}"],
        ),
        ({"corrections": OFTEN}, [WEEK, f"corrections  agents broke {THREE}; 1 more rule"]),
        (
            {"agents": {"Claude Code": True, "Codex": False, "Gemini": True}},
            [WEEK, "agents       connected: Claude Code, Gemini"],
        ),
        ({"agents": {"Codex": False}}, [WEEK, "agents       none is connected"]),
        ({"shared": ["acme", "platform"]}, [WEEK, "shared       acme, platform: onrecord remote status"]),
        (
            {"holdout": 0.25},
            [WEEK, "holdout      25 % of your sessions get no records; to compare: onrecord effect"],
        ),
    ],
)  # fmt: skip
def test_a_fact_has_a_line_where_it_says_something(fields, lines):
    records = sum(fields.get("in_use", {}).values())

    assert _lines(**fields) == [f"{records} records in /m", *lines, "Nothing to do."]


def test_a_missing_store_beside_others_says_so():
    assert _lines(is_there=False) == ["there is no memory at /m; others are read here", WEEK, "Nothing to do."]


def test_what_needs_you_names_records_but_not_what_the_page_shows():
    about = (Subject("use-uv"), Subject("use-nats"))
    needs = [
        Need(kind, f"about {kind}", "…", "onrecord x", "p").about("project", about)
        for kind in (attention.CHANGED, attention.WAITING)
    ]

    assert _lines(needs=needs)[2:] == [
        "needs you    about changed (use-uv, use-nats): onrecord x",
        "             about waiting: onrecord x",
    ]
    assert _lines(needs=[needs[0]._replace(subjects=())])[2:] == ["needs you    about changed: onrecord x"]


def test_labels_are_dim_and_the_first_line_is_bold():
    lines = status._text(Screen(80, True, True), NOTHING).split("\n")

    assert lines[:2] == ["\x1b[1m0 records in /m\x1b[0m", f"\x1b[2m{WEEK[:13]}\x1b[0m{WEEK[13:]}"]


def test_programs_get_all_of_it():
    need = Need("drafts", "1 draft waits", "It waits.", "onrecord review", "/inbox").about("project", [Subject("x")])
    rich = NOTHING._replace(
        in_use={"decision": 2, "runbook": 1},
        out_of_use={"retired": 1},
        unreadable=3,
        drafts=4,
        changed=ChangedFiles(("a",), 5, 6, {"b": "too large"}),
        usage=Counts(1, 2, 3, 4, 5, 6, 7, 8),
        corrections={"decisions/d1.json": OFTEN["decisions/d1.json"]},
        off=[OffSwitch("k", "false", "/f", "no record is shown", "onrecord config unset k")],
        agents={"Codex": True},
        shared=["acme"],
        waiting={"acme": 2},
        missing=["platform"],
        holdout=0.5,
        changes=[ProjectSetting("k", "1", "2", "adds", "/f")],
        refused=["q"],
        is_accepted=False,
        needs=[need],
    )

    week = {"injected": 1, "pointed": 2, "opened": 3, "digest": 4, "corrected": 5, "helped": 6, "not_relevant": 7}
    assert status._data(rich) == {
        "store": "/m",
        "records": 3,
        "categories": {"decision": 2, "runbook": 1},
        "out_of_use": {"retired": 1},
        "unreadable": 3,
        "drafts": 4,
        "changed": ["a"],
        "checked": 5,
        "unchecked": {"b": "too large"},
        "anchored": 6,
        "last_days": {"days": 7, **week, "wrong": 8},
        "corrections": [
            {"id": "d1", "path": "decisions/d1.json", "times": 1, "last_day": "2026-03-01", "hosts": ("codex",)}
        ],
        "agents": {"Codex": True},
        "shared": ["acme"],
        "waiting": {"acme": 2},
        "asked_for": ["platform"],
        "holdout": 0.5,
        "off": [
            {"key": "k", "value": "false", "file": "/f", "consequence": "no record is shown",
             "fix": "onrecord config unset k"}
        ],
        "project_settings": [{"key": "k", "value": "1", "own": "2", "effect": "adds", "file": "/f"}],
        "refused_settings": ["q"],
        "accepted": False,
        "needs": [
            {"kind": "drafts", "title": "1 draft waits", "sentence": "It waits.", "command": "onrecord review",
             "page": "/inbox", "store": "project", "number": 1,
             "subjects": [{"name": "x", "path": "", "title": "", "note": ""}]}
        ],
        "next": {"reason": "1 draft waits", "command": "onrecord review"},
    }  # fmt: skip
    assert status._data(NOTHING)["next"] is None
