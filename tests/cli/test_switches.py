"""What is switched off is shown by `doctor`, and by the commands that show what a hook would do."""

from __future__ import annotations

import json

import pytest

from onrecord.setting_table import SETTINGS

from .conftest import DECISION

SWITCHES = {
    "retrieval.enabled": "false", "retrieval.max_inject": "0", "retrieval.files": "false",
    "retrieval.failures": "false", "checks.enabled": "false", "retrieval.actions": "false",
    "retrieval.corrections": "false",
    "session_start.enabled": "false", "session_start.map": "false",
    "capture.mode": "off", "categories.runbook.enabled": "false",
}  # fmt: skip
PROMPT = "why are jobs rows of a table?"


@pytest.fixture
def saved(onrecord):
    assert onrecord("save", "decision", "Jobs are rows of a table", *DECISION).code == 0


def switches(onrecord):
    findings = json.loads(onrecord("doctor", "--json").out)["findings"]
    return [finding for finding in findings if finding["check"] == "switches"]


def test_every_switch_there_is_can_be_seen():
    others = {
        "retrieval.pointers",
        "retrieval.notice",
        "retrieval.background_index",
        "retrieval.judge.enabled",
        "categories.*.auto_capture",
        "usage.events",
    }
    flags = {key for key, each in SETTINGS.items() if isinstance(each.default, bool)} - others

    assert flags <= {key.replace("runbook", "*") for key in SWITCHES}


@pytest.mark.parametrize("where", [(), ("--user",)])
@pytest.mark.parametrize("key", SWITCHES)
def test_doctor_names_a_switch_that_is_off_and_its_fix_switches_it_on(onrecord, saved, key, where):
    assert switches(onrecord) == []
    onrecord("config", "set", key, SWITCHES[key], *where)

    (finding,) = switches(onrecord)

    assert finding["what"].startswith(f"{key} is {SWITCHES[key]}, so ")
    assert onrecord(*finding["fix"].split()[1:]).code == 0
    assert switches(onrecord) == []


def test_the_digest_says_that_it_is_off(onrecord, saved):
    onrecord("config", "set", "session_start.enabled", "false")

    outcome = onrecord("digest", "--why")

    expected = "Nothing to show: session_start.enabled is false, so a session is shown nothing when it starts.\n"
    assert outcome == (0, expected, "")


@pytest.mark.parametrize("prompt", ["/memory:search jobs rows table", f"{PROMPT} #nomem"])
def test_recall_is_silent_where_the_hook_would_be(onrecord, saved, prompt):
    assert onrecord("recall", PROMPT).out != ""

    assert onrecord("recall", prompt) == (0, "", "(a prompt like this one is left alone)\n")


def test_recall_and_digest_know_the_variable_that_turns_all_hooks_off(onrecord, saved, monkeypatch):
    monkeypatch.setenv("ONRECORD_OFF", "1")

    assert onrecord("recall", PROMPT) == (0, "", "(ONRECORD_OFF is set, so hooks do nothing)\n")
    assert onrecord("digest").out == "Nothing to show: ONRECORD_OFF is set, so hooks do nothing.\n"


def test_the_digest_does_not_say_that_nothing_is_on_record_where_records_are_not_accepted(onrecord, saved):
    onrecord("config", "set", "--user", "trust.clones", "ask")

    before = onrecord("digest").out
    onrecord("trust")

    assert before == "Nothing to show: the records of this repository are not accepted; onrecord trust\n"
    assert "Jobs are rows of a table" in onrecord("digest").out


def test_stats_and_inbox_say_why_nothing_comes(onrecord, saved):
    onrecord("config", "set", "retrieval.enabled", "false")
    onrecord("config", "set", "capture.mode", "off")

    assert "retrieval.enabled is false" in onrecord("stats").err
    assert "capture.mode is off, so sessions suggest nothing to save" in onrecord("inbox").err
