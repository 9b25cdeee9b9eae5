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
