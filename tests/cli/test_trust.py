"""`onrecord trust`: what is accepted, by whom, and what it says about that."""

from __future__ import annotations

import json

import pytest

from onrecord.cli.output import Screen
from tests.git_project import GitProject

from .conftest import DECISION


@pytest.fixture
def clone(project, onrecord):
    """A repository with two records, whose records the user wants to be asked about."""
    GitProject(project)
    for title in ("Jobs are rows", "Logs are JSON"):
        onrecord("save", "decision", title, "--force", *DECISION)
    onrecord("config", "set", "--user", "trust.clones", "ask")
    onrecord("trust", "--revoke")
    return project


def test_a_repository_is_accepted_listed_and_revoked(clone, onrecord, monkeypatch):
    nothing = onrecord("trust", "--list")
    accepted = onrecord("trust", "--json")
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(200, True, True)))
    again = onrecord("trust")
    listed = onrecord("trust", "--list")
    as_json = json.loads(onrecord("trust", "--list", "--json").out)
    revoked = [onrecord("trust", "--revoke").out, onrecord("trust", "--revoke").out]

    name = json.loads(accepted.out)["repository"]
    assert nothing.out == "no repository is accepted yet\n"
    assert (accepted.code, json.loads(accepted.out)) == (0, {"repository": name, "records": 2, "accepted": True})
    assert (again.out, again.err) == (f"\x1b[32maccepted\x1b[0m {name}: 2 records\n", "")
    assert listed.out == f"2026-03-02  {name}\n"
    assert as_json == {"repositories": {name: "2026-03-02T09:30:00Z"}}
    assert revoked == [f"no longer accepted: {name}\n", f"was not accepted: {name}\n"]
    assert json.loads(onrecord("trust", "--revoke", "--json").out) == {"repository": name, "accepted": False}


def test_a_repository_whose_store_the_first_save_makes_is_accepted(project, onrecord):
    """What a person wrote here came from nobody else; what a clone brings is asked about."""
    GitProject(project)
    onrecord("config", "set", "--user", "trust.clones", "ask")

    onrecord("save", "decision", "Jobs are rows", *DECISION)

    accepted = json.loads(onrecord("trust", "--list", "--json").out)["repositories"]
    assert list(accepted.values()) == ["2026-03-02T09:30:00Z"]
    assert onrecord("trust", "--revoke").out.startswith("no longer accepted: ")


def test_where_the_host_is_asked_it_says_that_the_records_were_in_use(clone, onrecord):
    onrecord("config", "set", "--user", "trust.clones", "host")

    assert onrecord("trust").err == "the setting trust.clones is not ask, so the records were in use before\n"


def test_an_agent_accepts_nothing_but_may_look(clone, onrecord, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")

    for words in ((), ("--revoke",)):
        error = json.loads(onrecord("trust", *words, "--json").out)["error"]
        assert (error["code"], error["message"], error["fix"]) == (
            "BAD_INPUT", "only a person may accept a repository's records", "ask the user to run: onrecord trust",
        )  # fmt: skip
    assert onrecord("trust", "--list").out == "no repository is accepted yet\n"


def test_listing_and_revoking_exclude_each_other(clone, onrecord):
    refused = onrecord("trust", "--list", "--revoke")

    assert (refused.code, refused.err.splitlines()[0]) == (2, "onrecord trust: --list and --revoke exclude each other")
