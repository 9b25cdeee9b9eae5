"""Naming a record at a real terminal: by its number in the last listing, by words, from several that fit."""

from __future__ import annotations

import errno
import os
import shutil
import sys

import pytest

from onrecord import paths
from onrecord.cli import record_table
from onrecord.project import Project
from tests.known_project import known_project
from tests.terminal_session import BIN, DOWN, ENTER, ESCAPE, TerminalSession

CONTENT = {"context": "c", "decision": "d", "rationale": "r"}
SHELL = shutil.which("sh") or "/bin/sh"


@pytest.fixture
def project(tmp_path):
    titles = ("Use Postgres 16", "Sessions live in Postgres", "Jobs run in a table")
    known_project(tmp_path, *(("decision", {"title": title, "content": CONTENT}) for title in titles))
    return tmp_path


def shell(project, *lines):
    """A session of a shell that runs some commands one after the other: a listing belongs to one session."""
    return TerminalSession(
        "-c", "\n".join(lines).replace("onrecord ", f"{sys.executable} {BIN} "), cwd=project, program=(SHELL,)
    )


def test_several_that_fit_are_offered_and_one_is_picked(project):
    with TerminalSession("show", "postgres", cwd=project) as session:
        session.expect("'postgres' matches 2:")
        session.expect("> 1  sessions-live-in-postgres  Sessions live in Postgres\n")
        session.expect("Esc leaves")
        session.press(DOWN)
        session.expect("> 2  use-postgres-16  Use Postgres 16\n")
        session.press(ENTER)
        assert session.end() == 0
        session.expect("Use Postgres 16\ndecision")


def test_none_is_picked_with_escape_and_nothing_changes(project):
    with TerminalSession("retire", "postgres", "--reason=r", cwd=project) as session:
        session.expect("Esc leaves")
        session.press(ESCAPE)
        assert session.end() == 1
        session.expect("BAD_INPUT: none was picked")
    assert Project(str(project)).get("use-postgres-16").memory.record_status == "active"


def test_a_digit_picks_and_is_all_the_consent_that_a_change_needs(project):
    with TerminalSession("retire", "postgres", "--reason=r", cwd=project) as session:
        session.expect("Esc leaves")
        session.press("2")
        assert session.end() == 0
        session.expect("retired decisions/use-postgres-16.json")


@pytest.mark.parametrize(("key", "code", "status"), [("y", 0, "retired"), ("n", 1, "active"), ("\x04", 1, "active")])
def test_a_word_is_shown_before_a_change(project, key, code, status):
    with TerminalSession("retire", "table", "--reason=r", cwd=project) as session:
        session.expect("retire decisions/jobs-run-in-a-table.json (Jobs run in a table)? [y/N]")
        session.press(key)
        assert session.end() == code
    assert Project(str(project)).get("jobs-run-in-a-table").memory.record_status == status


def test_the_beginning_of_an_id_needs_no_question(project):
    with TerminalSession("retire", "jobs", "--reason=r", cwd=project) as session:
        assert session.end() == 0
        session.expect("retired decisions/jobs-run-in-a-table.json")


def test_an_agent_in_a_terminal_of_its_own_is_not_asked_and_changes_nothing_on_a_guess(project):
    agent = {"CLAUDECODE": "1"}
    with TerminalSession("retire", "sess", "--reason=r", cwd=project, env=agent) as session:
        session.expect("'sess' is not a full name; nothing was changed")
        assert session.end() == 1
    with TerminalSession("show", "postgres", cwd=project, env=agent) as session:
        session.expect("'postgres' matches 2 records")
        assert session.end() == 1


def test_a_number_means_what_was_listed_last_on_this_terminal(project):
    commands = "onrecord list --sort id", "onrecord show 2", "onrecord show 9", "onrecord show 2 --json"
    with shell(project, *commands) as session:
        session.expect("3  Use Postgres 16")
        session.expect("2 is decisions/sessions-live-in-postgres.json\n")
        session.expect("Sessions live in Postgres\ndecision")
        session.expect("NOT_FOUND: no record '9'")
        session.expect('"code": "NOT_FOUND"')
        session.end()
    with TerminalSession("show", "2", cwd=project) as other:
        assert other.end() == 1
        other.expect("NOT_FOUND: no record '2'")


def test_a_number_is_shown_before_a_change(project):
    with shell(project, "onrecord list --sort id", "onrecord retire 1 --reason=r") as session:
        session.expect("retire decisions/jobs-run-in-a-table.json (Jobs run in a table)? [y/N]")
        session.press("y")
        session.expect("retired decisions/jobs-run-in-a-table.json")


def test_a_purely_numeric_id_wins_over_a_number(project):
    Project(str(project)).save("decision", {"title": "2", "content": CONTENT})
    with shell(project, "onrecord list --sort id", "onrecord show 2 | grep ^path") as session:
        session.expect("4  Use Postgres 16")
        session.expect("path: .claude/memory/decisions/2.json")


def test_a_number_of_an_old_listing_is_forgotten(project):
    age = f"find {paths.state_dir()}/listings -type f -exec touch -t 202001010000 {{}} +"
    with shell(project, "onrecord list", age, "onrecord show 2") as session:
        session.expect("NOT_FOUND: no record '2'")


def test_a_terminal_without_a_name_has_no_numbers(monkeypatch):
    def nameless(handle: int) -> str:
        raise OSError(errno.ENODEV, "No such device")

    ours, theirs = os.openpty()
    monkeypatch.setattr(os, "ttyname", nameless)
    with open(ours, "rb"), open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr(sys, "stdout", terminal)
        record_table.save_listing([record_table.ListedPath("/store", "decisions/use-uv.json")])

        assert record_table.listed_path("1") is None
