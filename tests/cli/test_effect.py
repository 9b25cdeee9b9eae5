"""`onrecord effect`: what it prints about sessions of Claude Code, Codex and Gemini, as text and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from onrecord import state_file
from onrecord.audit.share import Share
from onrecord.cli import effect
from onrecord.cli.output import Screen
from onrecord.session import holdout
from tests import sessions
from tests.sessions import Change, Run, say

from .conftest import DECISION

CHECK = '{"on": "command", "starts": ["npm install"], "say": "pnpm add"}'
MOMENT = '{"on": "edit", "paths": ["src/**/*.ts"], "adds": ["moment"]}'
SAVED = "2026-02-10T08:00:00Z"


def date(project: Path, name: str, created_at: str) -> None:
    file = project / ".claude" / "memory" / "decisions" / f"{name}.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**record, "created_at": created_at}), encoding="utf-8")


@pytest.fixture
def rule(project: Path, onrecord, home: Path) -> Path:
    """A rule of 10 February, broken in 9 of 20 sessions before, and in none of 15 since."""
    assert onrecord("save", "decision", "Add packages with pnpm", *DECISION, "--check", CHECK).code == 0
    date(project, "add-packages-with-pnpm", SAVED)
    root = str(project)
    for day in range(1, 21):
        command = "npm install x" if day < 10 else "ls"
        write = sessions.claude_code if day % 2 else sessions.codex
        write(home, root, f"2026-01-{day:02d}T10:00:00Z", say("go on", command))
    for day in range(11, 26):
        sessions.gemini(home, root, f"2026-02-{day:02d}T10:00:00Z", say("go on", Run("make", has_failed=day == 11)))
    return project


def test_sentences_plot_and_numbers(rule, onrecord):
    outcome = onrecord("effect")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "1 checked rule, 35 sessions from 1 January to 25 February"
        " (files: Claude Code 10, Codex CLI 10, Gemini CLI 15)\n"
        "\n"
        "Add packages with pnpm (add-packages-with-pnpm)\n"
        "  since 10 February: 0 of 15 sessions ran npm install, before 9 of 20\n"
        "  before   |          --------o--------              | 45 % (26 to 66 %)\n"
        "  since    |o--------                                | 0 % (0 to 20 %)\n"
        "           0                                     100 %\n"
        "  less often: −65.8 to −17.0 points\n"
        "  corrected 0 times before, 0 since\n"
        "  shown 0 times, opened by the agent 0 times\n"
        "\n"
        "All sessions\n"
        "  you corrected the agent in 0 of 35 (0 corrections, 0 about a checked rule); 1 of 35 commands failed\n"
        "\n"
        "Before and since are different times: other things may have changed, too. Only a holdout compares like with"
        " like: onrecord docs see-the-effect\n"
        "Nothing of your sessions was stored, and nothing left this machine.\n"
    )


def test_json_has_counts_shares_and_intervals(rule, onrecord):
    data = json.loads(onrecord("effect", "--json").out)

    (record,) = data["records"]
    assert record["before"] == {"hits": 9, "of": 20, "share": 0.45, "interval": [0.2582, 0.6579]}
    assert record["since"] == {"hits": 0, "of": 15, "share": 0.0, "interval": [0.0, 0.2039]}
    assert (record["id"], record["outcome"], record["created_at"]) == ("add-packages-with-pnpm", "less", SAVED)
    assert (data["sessions"], data["commands"], data["failed_commands"], data["holdout"]) == (35, 35, 1, None)
    assert data["files"] == {"Claude Code": 10, "Codex CLI": 10, "Gemini CLI": 15}


def test_one_record_by_its_name_and_two_together(rule, onrecord, home):
    assert onrecord("save", "decision", "Dates with date-fns", *DECISION, "--check", MOMENT).code == 0
    date(rule, "dates-with-date-fns", SAVED)
    for moment in ("2026-01-05T10:00:00Z", "2026-02-20T11:00:00Z"):
        sessions.claude_code(home, str(rule), moment, say("dates", Change("src/a.ts", "import 'moment'\n")))

    both, one = onrecord("effect").out, json.loads(onrecord("effect", "date-fns", "--json").out)

    assert "2 rules with sessions before and since, together" in both
    assert "broken in 1 of 16 cases since they are on record, before in 10 of 21" in both
    assert "too few to tell: 1 session on one side, 10 are needed" in both
    assert [record["id"] for record in one["records"]] == ["dates-with-date-fns"]


def test_since_and_limit_read_fewer_sessions(rule, onrecord, home):
    recent = json.loads(onrecord("effect", "--since", "2026-02-12", "--json").out)
    few = json.loads(onrecord("effect", "--limit", "4", "--json").out)

    assert (recent["sessions"], recent["files"]) == (14, {"Gemini CLI": 14})
    assert few["sessions"] == 12
    sessions.codex(home, str(rule), "2026-02-23T09:30:00Z", say("go on"))
    assert json.loads(onrecord("effect", "--since", "1w", "--json").out)["files"] == {"Codex CLI": 1, "Gemini CLI": 3}
    assert json.loads(onrecord("effect", "--limit", "1", "--json").out)["sessions"] == 3
    assert "--limit must be 1 or more, not 0" in onrecord("effect", "--limit", "0").err


@pytest.mark.parametrize("words", [("nothing-like-it",), ("no-check",)])
def test_a_record_that_is_not_there_or_has_no_check_is_refused(rule, onrecord, words):
    onrecord("save", "decision", "No check", *DECISION)

    outcome = onrecord("effect", *words)

    assert outcome.code == 1
    assert "NOT_FOUND" in outcome.err and "fix: " in outcome.err


def test_without_sessions_and_without_checks_it_says_so(project, onrecord):
    onrecord("save", "decision", "No check", *DECISION)

    out = onrecord("effect").out

    assert "0 checked rules, and no sessions of a coding agent in this project on this machine" in out
    assert "No record in force has a check, so there is nothing to count." in out


def test_without_a_memory_it_is_an_error(project, onrecord):
    assert onrecord("effect").code == 1


def test_the_holdout_is_compared_and_with_few_sessions_that_is_said(rule, onrecord, home):
    onrecord("config", "set", "--user", "retrieval.holdout", "0.5")
    assert "no session has begun since it was switched on" in onrecord("effect").out
    Path(state_file.state_path("holdout")).write_text("2026-02-01T00:00:00Z\t0.5\n")

    out = onrecord("effect").out

    assert "Holdout: 50 % of your sessions get no records" in out
    assert re.search(r"sessions since 1 February: \d+ with records, \d+ without", out)
    assert "not enough to tell yet: at least 20 sessions are needed with records, and as many without" in out
    for number in range(60):
        sessions.codex(
            home, str(rule), f"2026-02-26T{number % 24:02d}:{number:02d}:00Z", say("a", "npm install"), say("b")
        )

    data = json.loads(onrecord("effect", "--json").out)["holdout"]
    assert data["enough"] and {one["outcome"] for one in data["compared"]} == {"unclear"}
    assert "with records no clear difference" in onrecord("effect").out


def test_status_and_doctor_say_that_a_holdout_is_on(rule, onrecord):
    assert "holdout" not in onrecord("status").out
    onrecord("config", "set", "--user", "retrieval.holdout", "0.25")

    status, data = onrecord("status").out, json.loads(onrecord("status", "--json").out)

    assert "holdout      25 % of your sessions get no records; to compare: onrecord effect" in status
    assert data["holdout"] == 0.25
    assert "retrieval.holdout: 25 % of your sessions get no records" in onrecord("doctor").out


def test_a_project_can_not_set_it_and_a_bad_value_is_refused(rule, onrecord):
    assert "may be set in your own config only" in onrecord("config", "set", "retrieval.holdout", "0.2").err
    for value in ("20", "-1", "half"):
        assert onrecord("config", "set", "--user", "retrieval.holdout", value).code != 0
    assert not holdout.periods()


def test_hostile_text_of_a_check_does_not_reach_the_terminal(project, onrecord, home):
    check = json.dumps({"on": "command", "has": ["\x1b[31mevil\u202e"]})
    onrecord("save", "decision", "Odd \u202e title", *DECISION, "--check", check)
    sessions.claude_code(home, str(project), "2026-01-05T10:00:00Z", say("a", "echo \x1b[31mevil\u202e"))

    out = onrecord("effect").out

    assert "1 checked rule" in out
    assert "\x1b" not in out and "\u202e" not in out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_plot_fits_the_width(width):
    screen = Screen(width, is_terminal=True)

    lines = list(effect._plot(screen, {"before": Share(9, 120), "since": Share(1, 214)}, 0.2))

    assert len(lines) == 3
    assert all(len(line) <= width for line in lines)
    assert [line.split("|")[1].count("o") for line in lines[:2]] == [1, 1]
    assert len({len(line.split("|")[1]) for line in lines[:2]}) == 1
