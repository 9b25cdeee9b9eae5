"""All that `onrecord effect` prints about one measurement, as text and as JSON, without sessions on the disk."""

from __future__ import annotations

import re

import pytest

from onrecord import timestamps
from onrecord.audit.effect import CheckedRecord, Effect, HoldoutComparison, HoldoutEffect, RecordEffect
from onrecord.audit.session_facts import SessionFacts, SessionReading
from onrecord.audit.share import Share
from onrecord.cli import effect
from onrecord.cli.output import Screen
from onrecord.record import check
from onrecord.usage.usage_log import Counts

WIDE = Screen(100, is_terminal=True)
PAGE = """\
2 checked rules, 2 sessions from 12 February to 25 February (files: Codex CLI 1,001, Claude Code 1)

Rule 0 (rule-0)
  since 10 February: 3 of 60 sessions ran npm install, before 30 of 40
  before   |                             --------o-----       | 75 % (60 to 86 %)
  since    | -o-----                                          | 5.0 % (1.7 to 14 %)
           0                                              100 %
  less often: −81.3 to −52.5 points
  corrected 1 time before, 1,002 since
  shown 1,200 times, opened by the agent 1 time

Rule 1 (rule-1)
  since 10 February: 3 of 60 sessions ran npm install, before 30 of 40
  before   |                             --------o-----       | 75 % (60 to 86 %)
  since    | -o-----                                          | 5.0 % (1.7 to 14 %)
           0                                              100 %
  less often: −81.3 to −52.5 points
  corrected 1 time before, 1,002 since
  shown 1,201 times, opened by the agent 1 time

2 rules with sessions before and since, together
  broken in 6 of 120 cases since they are on record, before in 60 of 80; a case is one rule in one
  session that could have broken it
  before   |                                -----o----        | 75 % (64 to 83 %)
  since    | -o---                                            | 5.0 % (2.3 to 10 %)
           0                                              100 %

All sessions
  you corrected the agent in 2 of 2 (2 corrections, 2,006 about a checked rule); 1 of 1,104 commands
  failed

Holdout: 25 % of your sessions get no records
  sessions since 1 February: 19 with records, 20 without
  not enough to tell yet: at least 20 sessions are needed with records, and as many without
  corrected
  with     | ----o----------                                  | 10 % (2.9 to 31 %)
  without  |                       ---------o-------          | 66 % (47 to 80 %)
           0                                              100 %
  had a failed command

left out: 7 older sessions not read: over the limit; 1 session read in part: only the end of a large
file; 4 sessions without a usable date; 5 files without a prompt or a tool call, such as those of
subagents; 2 sessions under way when a rule was put on record, which count on neither side of it; 2
sessions resumed or forked from another, which the comparison with the holdout leaves out; 9
corrections not looked up: too many

Before and since are different times: other things may have changed, too. Only a holdout compares
like with like:
  onrecord docs see-the-effect
Nothing of your sessions was stored, and nothing left this machine."""

JSON = {
    "sessions": 2,
    "from": "2026-02-12T10:00:00Z",
    "to": "2026-02-25T11:00:00Z",
    "records": [
        {
            "id": "rule-0",
            "title": "Rule 0",
            "record": ".claude/memory/decisions/rule-0.json",
            "created_at": "2026-02-10T08:00:00Z",
            "in_future": False,
            "before": {"hits": 30, "of": 40, "share": 0.75, "interval": [0.5981, 0.8581]},
            "since": {"hits": 3, "of": 60, "share": 0.05, "interval": [0.0171, 0.137]},
            "under_way": 1,
            "outcome": "less",
            "sentence": "since 10 February: 3 of 60 sessions ran npm install, before 30 of 40",
            "corrected": {"before": 1, "since": 1002},
            "usage": {"shown": 1200, "pointed": 3, "opened": 1},
        }
    ],
    "together": {
        "records": 1,
        "before": {"hits": 30, "of": 40, "share": 0.75, "interval": [0.5981, 0.8581]},
        "since": {"hits": 3, "of": 60, "share": 0.05, "interval": [0.0171, 0.137]},
    },
    "corrections": {
        "sessions": {"hits": 2, "of": 2, "share": 1.0, "interval": [0.3424, 1.0]},
        "total": 2,
        "about_checked_records": 1003,
        "not_looked_up": 9,
    },
    "commands": 1104,
    "failed_commands": 1,
    "holdout": {
        "share": 0.0,
        "since": "2026-02-01T00:00:00Z",
        "sessions": {"with": 20, "without": 21},
        "enough": True,
        "compared": [
            {
                "what": "corrected",
                "with": {"hits": 2, "of": 20, "share": 0.1, "interval": [0.0279, 0.301]},
                "without": {"hits": 20, "of": 30, "share": 0.6667, "interval": [0.4878, 0.8077]},
                "outcome": "less",
            },
            {
                "what": "had a failed command",
                "with": {"hits": 0, "of": 0, "share": None, "interval": None},
                "without": {"hits": 0, "of": 0, "share": None, "interval": None},
                "outcome": "too few",
            },
        ],
    },
    "left_out": {"over_limit": 7, "read_in_part": 1, "undated": 4, "empty": 5},
    "notes": [
        "7 older sessions not read: over the limit",
        "1 session read in part: only the end of a large file",
        "4 sessions without a usable date",
        "5 files without a prompt or a tool call, such as those of subagents",
        "1 session under way when a rule was put on record, which count on neither side of it",
        "2 sessions resumed or forked from another, which the comparison with the holdout leaves out",
        "9 corrections not looked up: too many",
    ],
}

ENDED = """\
Holdout: it has ended
  sessions since 1 February: 20 with records, 21 without
  corrected
  with     | ----o----------                                  | 10 % (2.8 to 30 %)
  without  |                        ---------o-------         | 67 % (49 to 81 %)
           0                                              100 %
  with records less often: −72.5 to −29.8 points
  had a failed command
  with records too few to tell: 0 sessions on one side, 20 are needed"""

CHECK = check.parse({"on": "command", "starts": ["npm install"], "say": "pnpm add"})


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")


def rule(number: int, before: Share, since: Share, corrected: tuple[int, int] = (0, 0), under_way: int = 0):
    record = CheckedRecord(
        f"rule-{number}", f"Rule {number}", f".claude/memory/decisions/rule-{number}.json", "2026-02-10T08:00:00Z",
        (CHECK,), frozenset({number}), Counts(injected=1_200 + number, pointed=3, opened=1),
    )  # fmt: skip
    return RecordEffect(record, before, since, under_way, *corrected, False)


def session(day: int, commands: int = 4, failed: int = 1, *, is_whole: bool = True) -> SessionFacts:
    start, end = f"2026-02-{day:02d}T10:00:00Z", f"2026-02-{day:02d}T11:00:00Z"
    nothing: frozenset[int] = frozenset()
    return SessionFacts("s", start, end, 5, 1, ("no",), commands, failed, nothing, nothing, is_whole)


def held_out(now: float, shown: int, held: int, since: str = "2026-02-01T00:00:00Z") -> HoldoutEffect:
    rows = (
        HoldoutComparison("corrected", Share(2, shown), Share(shown, shown + 10)),
        HoldoutComparison("had a failed command", Share(0, 0), Share(0, 0)),
    )
    return HoldoutEffect(now, since, shown, held, rows, continued=2)


def measurement(rules: int = 2, holdout: HoldoutEffect | None = None) -> Effect:
    effects = tuple(
        rule(number, Share(30, 40), Share(3, 60), corrected=(1, 1_002), under_way=1) for number in range(rules)
    )
    reading = SessionReading((session(25, is_whole=False), session(12, 1_100, 0)), over_limit=7, empty=5, undated=4)
    return Effect(effects, reading, Share(2, 2), 9, holdout)


def test_the_page_of_two_rules_and_a_holdout_with_few_sessions():
    page = effect._text(WIDE, measurement(2, held_out(0.25, 19, 20)), {"Codex CLI": 1_001, "Claude Code": 1})

    assert page == PAGE


def test_the_same_page_in_colour():
    coloured = WIDE._replace(has_colour=True)

    page = effect._text(coloured, measurement(2, held_out(0.25, 19, 20)), {"Codex CLI": 1_001, "Claude Code": 1})

    assert page.count("\033[1m") == 6 and page.count("\033[2m") == 5 and page.count("\033[36m") == 8
    assert re.sub(r"\033\[[0-9;]+m", "", page) == PAGE


def test_a_holdout_that_has_ended_is_compared_from_twenty_sessions_on_each_side():
    assert "\n".join(effect._holdout_lines(WIDE, held_out(0.0, 20, 21))) == ENDED


def test_all_numbers_in_json():
    assert effect.to_json(measurement(1, held_out(0.0, 20, 21))) == JSON


def test_without_a_session_the_times_are_empty_and_nothing_is_compared():
    none = Effect((rule(0, Share(), Share()),), SessionReading((), 0, 0, 0), Share(), 0, None)

    data = effect.to_json(none)

    assert (data["sessions"], data["from"], data["to"], data["holdout"], data["notes"]) == (0, "", "", None, [])
    assert data["together"]["before"] == {"hits": 0, "of": 0, "share": None, "interval": None}
    assert effect._text(WIDE, none, {}).split("\n") == [
        "1 checked rule, and no sessions of a coding agent in this project on this machine",
        "",
        "Rule 0 (rule-0)",
        "  on record since 10 February; no session could have broken it",
        "  corrected 0 times before, 0 since",
        "  shown 1,200 times, opened by the agent 1 time",
        "",
        "Nothing of your sessions was stored, and nothing left this machine.",
    ]


def test_one_rule_is_not_added_up_and_a_rule_with_one_side_is_not_compared():
    one = effect._text(WIDE, measurement(1), {})
    half = effect._text(WIDE, Effect((rule(0, Share(1, 2), Share()),), measurement(0).reading, Share(), 0, None), {})

    assert "together" not in one and effect._CAUTION.split(":")[0] in " ".join(one.split())
    assert "Before and since" not in half and "often" not in half and "too few" not in half
    assert "before   |" in half and "since    |" not in half


@pytest.mark.parametrize(("rules", "more"), [(30, []), (31, ["1 more rules: onrecord effect --json"])])
def test_thirty_rules_are_shown(rules, more):
    lines = effect._text(WIDE, measurement(rules), {}).split("\n")

    assert sum(line.startswith("Rule ") for line in lines) == 30
    assert lines[lines.index("Rule 29 (rule-29)") + 7 :][: 2 + len(more)] == [
        "  shown 1,229 times, opened by the agent 1 time",
        "",
        *more,
    ]


@pytest.mark.parametrize(
    ("highest", "end"),
    [(0.0, 0.01), (0.01, 0.01), (0.011, 0.02), (0.05, 0.05), (0.1, 0.1), (0.11, 0.2), (0.5, 0.5), (0.51, 1.0), (1, 1)],
)
def test_a_plot_ends_at_the_next_round_share(highest, end):
    assert effect._fitting_scale([0.0, highest]) == end
    assert effect._fitting_scale([]) == 0.01


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (48, [
            "  before   |     -----o--------        | 7.5 %",
            "  since    |-o--                       | 0.5 %",
            "           0                        20 %",
        ]),
        (49, [
            "  before   |  -o---   | 7.5 % (4.0 to 14 %)",
            "  since    |o-        | 0.5 % (0.1 to 2.6 %)",
            "           0       20 %",
        ]),
        (88, [
            "  before   |          --------o---------------               | 7.5 % (4.0 to 14 %)",
            "  since    |-o-----                                          | 0.5 % (0.1 to 2.6 %)",
            "           0                                              20 %",
        ]),
        (200, [
            "  before   |          --------o---------------                | 7.5 % (4.0 to 14 %)",
            "  since    |-o-----                                           | 0.5 % (0.1 to 2.6 %)",
            "           0                                               20 %",
        ]),
    ],
)  # fmt: skip
def test_a_plot_takes_up_to_fifty_columns_and_a_narrow_screen_gets_no_interval(width, lines):
    shares = {"before": Share(9, 120), "since": Share(1, 214), "none": Share()}

    assert list(effect._plot(Screen(width, is_terminal=True), shares, 0.2)) == lines
    assert list(effect._plot(Screen(width, is_terminal=True), {"before": Share()}, 0.2)) == []


def test_a_share_has_its_column_rounded_and_within_the_plot():
    assert [effect._column(share, 1.0, 5) for share in (0, 0.12, 0.13, 0.2, 0.5, 0.9, 1, 2)] == [0, 0, 1, 1, 2, 4, 4, 4]
    assert effect._column(0.005, 0.01, 3) == 1
