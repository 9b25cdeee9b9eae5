"""Every command that lists records does it alike on a terminal of 80 columns, and what it shows can be typed."""

from __future__ import annotations

import re
import subprocess

import pytest

from onrecord import timestamps
from onrecord.cli.output import Screen, width_of

from .conftest import DECISION


@pytest.fixture
def terminal(project, onrecord, monkeypatch):
    subprocess.run(("git", "init", "-q"), check=True, timeout=120)
    (project / "src").mkdir()
    (project / "src" / "session.py").write_text("LIFETIME_DAYS = 14\n")
    flags = ("--related=src/session.py", "--trigger=where do we keep login state", "--force", *DECISION)
    onrecord("save", "decision", "Sessions live in Postgres", *flags)
    onrecord("save", "decision", "Sessions are never kept in Redis, whatever it costs", "--user", "--force", *DECISION)
    onrecord("save", "decision", "The queue has at most 100 jobs for each worker that there is", "--draft", *DECISION)
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-24T09:30:00Z")
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, is_terminal=True)))
    monkeypatch.setenv("ONRECORD_PAGER", "")
    return onrecord


def test_search(terminal):
    text = re.sub(r"(high|medium|low) [01]\.\d\d", "SCORE", terminal("search", "sessions in postgres or redis").out)

    assert text == (
        " 1  Sessions live in Postgres\n"
        "    decision · 3 weeks · sessions · SCORE\n"
        "    src/session.py\n"
        " 2  Sessions are never kept in Redis, whatever it costs\n"
        "    decision · 3 weeks · --user sessions · SCORE\n"
        "    Sessions are never kept in Redis, whatever it costs. Jobs are rows of the\n"
        "    table jobs, 4 at a time. Why: One thing less to run.\n"
    )


def test_a_search_that_finds_records_of_one_other_store_names_the_store(terminal):
    terminal("retire", "sessions-live-in-postgres", "--reason", "replaced")
    (line,) = (line for line in terminal("search", "sessions in redis").out.splitlines() if "decision ·" in line)

    name = line.split(" · ")[2]

    assert name == "--user sessions"
    assert terminal("show", *name.split()).code == 0


def test_why(terminal):
    text = re.sub(r"0\.\d\d", "SCORE", terminal("why", "where do we keep login state?").out)

    assert "\n\n 1  Sessions live in Postgres\n    decision · 3 weeks · sessions · SCORE shown as a rule\n" in text


def test_inbox(terminal):
    assert terminal("inbox").out == (
        "   title                                            category  age      draft\n"
        "1  The queue has at most 100 jobs for each worker…  decision  3 weeks  the-queue\n"
        "1 waiting: onrecord review\n"
    )
    assert terminal("inbox", "the-queue").code == 0


def test_log(terminal):
    text = re.sub("[0-9a-f]{8}", "CHANGEID", terminal("log").out)

    assert text == (
        "age      change    by      what   records\n"
        "3 weeks  CHANGEID  person  draft  The queue has at most 100 jobs for each worke…\n"
        "3 weeks  CHANGEID  person  save   Sessions live in Postgres\n"
    )
    assert terminal("undo", "--dry-run").out.startswith("would undo: draft 3 weeks ago (1 file)\n")


def test_freshness(project, terminal):
    (project / "src" / "session.py").unlink()

    assert terminal("freshness").out == (
        " 1  Sessions live in Postgres\n    decision · 3 weeks · sessions\n    missing: src/session.py\n1 missing\n"
    )


def test_show(terminal):
    assert terminal("show", "sessions").out.startswith(
        "Sessions live in Postgres\ndecision · active · updated 3 weeks ago\n"
    )


def test_config(project, terminal):
    terminal("config", "set", "retrieval.max_inject", "2")
    setting = terminal("config", "retrieval.max_inject").out
    text = terminal("config").out

    assert setting == (
        "retrieval.max_inject = 2\n"
        "    How many records one prompt may get; 0 is none. Unless it is set, the first\n"
        "    prompt may get more.\n"
        f"    set in {project}/.claude/memory/memory-config.json\n"
    )
    assert setting == terminal("config", "get", "retrieval.max_inject").out
    assert setting in text
    lines = [line for line in text.splitlines() if not line.startswith("    set in ")]
    assert max(map(width_of, lines)) <= 80
