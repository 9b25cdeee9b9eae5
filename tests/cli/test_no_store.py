"""Where there is no memory every command says so, in the same words; what makes one goes on."""

from __future__ import annotations

import json
import os

import pytest

from onrecord.cli import COMMANDS

from .conftest import DECISION

NEEDS_A_STORE = {
    "inbox": [], "review": [], "show": ["x"], "list": [], "search": ["x"], "recall": ["x"], "why": ["x"],
    "update": ["x", "--tag=t"], "edit": ["x"], "retire": ["x", "--reason=r"], "restore": ["x"],
    "archive": ["x", "--reason=r"], "unarchive": ["x"], "supersede": ["x", "y"], "log": [], "undo": [], "freshness": [],
    "check": [],
    "reanchor": ["x"], "audit": [], "stats": [], "effect": [], "gc": [], "index": ["check"], "digest": [],
    "improve": [], "export": [], "trust": [], "status": [], "web": ["--static=site"],
    "share": ["x", "--to=platform"], "feedback": ["x", "helped"],
}  # fmt: skip
MAKES_ONE = {"init", "save", "import", "config"}
NEEDS_NONE = {
    "completion", "connect", "judge", "doctor", "clean", "hub", "mcp", "merge-driver", "demo", "try", "version",
    "remote", "sync", "docs",
}  # fmt: skip
LATER = set(COMMANDS) - set(NEEDS_A_STORE) - MAKES_ONE - NEEDS_NONE


def test_every_command_is_of_one_kind():
    assert set() == LATER


@pytest.mark.parametrize("command", NEEDS_A_STORE)
def test_it_says_that_there_is_none_and_what_to_do(project, onrecord, command):
    outcome = onrecord(command, *NEEDS_A_STORE[command])

    assert outcome == (
        1,
        "",
        f"NO_STORE: there is no memory at {project}/.claude/memory\n"
        "fix: onrecord init; saving the first record makes one, too\n"
        "docs: onrecord docs NO_STORE\n",
    )
    assert os.listdir(project) == []


@pytest.mark.parametrize("command", ["search", "recall", "why", "digest"])
def test_your_own_store_is_asked_alone_and_that_is_said(project, onrecord, command):
    assert onrecord("save", "decision", "Jobs are rows", "--user", *DECISION).code == 0

    outcome = onrecord(command, *NEEDS_A_STORE[command])

    assert outcome.code == 0
    assert f"there is no memory at {project}/.claude/memory; only your own was searched" in outcome.err


def test_doctor_and_a_status_line_go_on(project, onrecord):
    findings = json.loads(onrecord("doctor", "--json").out)["findings"]
    note = ["note", "store", f"there is no memory at {project}/.claude/memory", "onrecord init"]

    assert note in [list(finding.values()) for finding in findings]
    assert onrecord("inbox", "--brief") == (0, "", "")
