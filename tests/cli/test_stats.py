"""What `onrecord stats` prints about records that were shown and opened."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onrecord.cli.output import Screen
from onrecord.cli.stats import sparkline
from onrecord.usage import usage_log

from .conftest import DECISION

JOBS = "decisions/jobs-are-rows.json"
CACHE = "decisions/no-cache.json"


@pytest.fixture
def store(project, onrecord):
    for title in ("Jobs are rows", "No cache", "Never told"):
        assert onrecord("save", "decision", title, *DECISION, "--tag", "queue").code == 0
    root = str(project / ".claude" / "memory")
    os.makedirs(usage_log.folder(), exist_ok=True)
    lines = [
        *[f"2026-02-2{day}\tinjected\t{JOBS}" for day in range(3, 9)],
        f"2026-02-23\topened\t{JOBS}\t4",
        f"2026-02-23\tignored\t{JOBS}",
        f"2026-01-05\tinjected\t{CACHE}\t2",
        f"2026-03-02\tcontradicted\t{CACHE}",
        f"2026-01-05\tpointed\t{CACHE}\t3",
        f"2026-01-05\topened\t{CACHE}",
        f"2026-01-05\tdigest\t{CACHE}\t2",
        "2026-03-02\tinjected\tdecisions/gone.json",
    ]
    Path(usage_log.log_file(root)).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def test_a_record_that_was_never_shown_has_no_day_of_its_last_showing(store, onrecord):
    assert onrecord("feedback", "never-told", "helped").code == 0

    assert onrecord("stats", "never-told").out.startswith("shown 0 times\nopened by the agent 0 times\n")


NOTHING_SAID = {"helped": 0, "not_relevant": 0, "wrong": 0}


def test_totals_chart_and_table(store, onrecord):
    outcome = onrecord("stats")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "shown 9 times, 2 of 3 records\n"
        "pointed to 3 times\n"
        "shown 2 times in digests, when a session started\n"
        "opened by the agent 5 times\n"
        "\n"
        "weekly from 2025-12-15\n"
        "injected  ···▃······█▂  9\n"
        "pointed   ···▄········  3\n"
        "opened    ···▂······▆·  5\n"
        "\n"
        "6\t0\t4\t2026-02-28\tjobs-are-rows\tJobs are rows\n"
        "2\t3\t1\t2026-01-05\tno-cache\tNo cache\n"
        "1\t0\t0\t2026-03-02\tgone\t(gone)\n"
    )


def test_the_table_and_the_day_on_a_terminal(store, onrecord, monkeypatch):
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, is_terminal=True)))

    assert (
        "title          injected  pointed  opened  last     id\n"
        "Jobs are rows  6         0        4       2 days   jobs\n"
        "No cache       2         3        1       1 month  no-cache\n"
        "(gone)         1         0        0       today    gone\n"
    ) in onrecord("stats").out
    assert onrecord("stats", "jobs").out.startswith("shown 6 times, last 2 days ago\n")


def test_json_has_the_same_numbers(store, onrecord):
    data = json.loads(onrecord("stats", "--json").out)

    assert data["totals"] == {"injected": 9, "pointed": 3, "opened": 5, "digest": 2, "corrected": 0, **NOTHING_SAID}
    assert [record["path"] for record in data["records"]] == [JOBS, CACHE, "decisions/gone.json"]
    assert data["records"][0]["last_injected"] == "2026-02-28"
    assert (len(data["weeks"]), data["weeks"][-1]["week"], data["records_in_store"]) == (12, "2026-03-02", 3)


def test_one_record(store, onrecord):
    outcome = onrecord("stats", "jobs-are-rows")

    assert outcome.out.splitlines()[0] == "shown 6 times, last on 2026-02-28"
    assert "no-cache" not in outcome.out


def test_since_leaves_out_what_is_older(store, onrecord):
    by_age = json.loads(onrecord("stats", "--since", "4d", "--json").out)
    by_day = json.loads(onrecord("stats", "--since", "2026-02-26", "--json").out)

    assert by_age == by_day
    assert by_age["totals"] == {"injected": 4, "pointed": 0, "opened": 0, "digest": 0, "corrected": 0, **NOTHING_SAID}
    assert [week["week"] for week in by_age["weeks"]] == ["2026-02-23", "2026-03-02"]


def test_limit_cuts_the_table_and_says_so(store, onrecord):
    outcome = onrecord("stats", "--limit", "1")

    assert "2 more (use --limit)" in outcome.out
    assert "no-cache\tNo cache" not in outcome.out


def test_before_anything_was_told(project, onrecord):
    onrecord("save", "decision", "Jobs are rows", *DECISION)

    assert onrecord("stats").out == "no record was shown to an agent\n"
    assert (
        onrecord("stats", "jobs-are-rows", "--since", "30d").out
        == "this record was not shown to an agent since 2026-01-31\n"
    )
    assert set(json.loads(onrecord("stats", "--json").out)["totals"].values()) == {0}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nobody"], 1, "NOT_FOUND: "),
        (
            ["--since", "yesterday"],
            2,
            "onrecord stats: --since must be a day (2026-03-01) or an age (3w), not yesterday\n",
        ),
        (["--since", ""], 2, "onrecord stats: --since must be a day (2026-03-01) or an age (3w), not ''\n"),
    ],
)
def test_what_cannot_be_shown_is_said(store, onrecord, words, code, message):
    outcome = onrecord("stats", *words)

    assert outcome.code == code
    assert outcome.err.startswith(message)


@pytest.mark.parametrize(
    ("values", "highest", "bars"),
    [([], 0, ""), ([0, 0], 0, "··"), ([1, 50, 100], 100, "▁▄█"), ([3], 3, "█"), ([0, 1], 1, "·█")],
)
def test_sparkline(values, highest, bars):
    assert sparkline(values, highest) == bars


def test_what_people_said_and_corrected_is_counted_in_words(store, onrecord):
    for path in (JOBS, CACHE):
        usage_log.add_correction(store, path, "codex")
    for record, verdict in (("jobs-are-rows", "helped"), ("no-cache", "not-relevant"), ("never-told", "wrong")):
        assert onrecord("feedback", record, verdict).code == 0

    lines = onrecord("stats").out.splitlines()

    assert lines[4:6] == [
        "broken, so that the user corrected the agent, 2 times",
        "you said: helped 1 time, not relevant 1 time, wrong 1 time",
    ]


@pytest.mark.parametrize(
    ("verdict", "words", "counts"),
    [
        ("helped", "helped", {"helped": 1}),
        ("not-relevant", "was not relevant", {"not_relevant": 1}),
        ("wrong", "was wrong", {"wrong": 1}),
        ("taken-back", "is as if you had said nothing", {}),
    ],
)
def test_each_verdict_is_noted_in_words(store, onrecord, verdict, words, counts):
    assert onrecord("feedback", "jobs-are-rows", verdict).out == f"noted: Jobs are rows {words}\n"

    answer = json.loads(onrecord("feedback", "jobs-are-rows", verdict, "--json").out)
    assert answer["verdict"] == verdict
    assert {key: answer["feedback"][key] for key in NOTHING_SAID} == {**NOTHING_SAID, **counts}


def test_an_agent_gives_no_verdict(store, onrecord, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")

    error = json.loads(onrecord("feedback", "jobs are", "wrong", "--json").out)["error"]

    assert (error["code"], error["message"]) == ("BAD_INPUT", "only a person may say whether a record helped")
    assert error["fix"] == "ask the user to run: onrecord feedback 'jobs are' wrong"


def test_twenty_records_are_listed_unless_a_number_is_given(store, onrecord):
    with open(usage_log.log_file(store), "a", encoding="utf-8") as file:
        file.writelines(f"2026-02-20\tinjected\tdecisions/gone-{number}.json\n" for number in range(18))

    assert onrecord("stats").out.endswith("\n1 more (use --limit)\n")
    assert "more (use" not in onrecord("stats", "--limit", "21").out
    assert onrecord("stats", "--limit", "0").out.endswith("\n\n21 more (use --limit)\n")


def test_records_that_were_shown_as_often_are_sorted_by_how_often_they_were_opened(store, onrecord):
    with open(usage_log.log_file(store), "a", encoding="utf-8") as file:
        file.write("2026-02-20\tinjected\tdecisions/b.json\n2026-02-20\tinjected\tdecisions/a.json\n")
        file.write("2026-02-20\topened\tdecisions/gone.json\t2\n")

    records = json.loads(onrecord("stats", "--json").out)["records"]

    assert [record["id"] for record in records] == ["jobs-are-rows", "no-cache", "gone", "a", "b"]
    assert records[2] == {
        "id": "gone", "path": "decisions/gone.json", "title": "", "injected": 1, "pointed": 0, "opened": 2, "digest": 0,
        "corrected": 0, **NOTHING_SAID, "last_injected": "2026-03-02",
    }  # fmt: skip


def test_a_chart_is_coloured(store, onrecord, monkeypatch):
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, True, True)))

    lines = onrecord("stats", "--limit", "2").out.splitlines()

    assert lines[5:9] == [
        "\x1b[2mweekly from 2025-12-15\x1b[0m",
        "injected  \x1b[36m···▃······█▂\x1b[0m  9",
        "pointed   \x1b[33m···▄········\x1b[0m  3",
        "opened    \x1b[32m···▂······▆·\x1b[0m  5",
    ]
    assert lines[-1] == "\x1b[2m1 more (use --limit)\x1b[0m"
