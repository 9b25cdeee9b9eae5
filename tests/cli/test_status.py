"""What a memory holds, what waits, what changed, what was opened, and the next thing to do."""

from __future__ import annotations

import json
import shlex

import pytest

from onrecord import attention
from onrecord.remedy import COMMAND
from onrecord.usage import usage_log


def _next(onrecord) -> str | None:
    step = json.loads(onrecord("status", "--json").out)["next"]
    return step and step["command"]


def test_one_screen(sample, onrecord):
    (sample / "src/harbour.py").write_text("CALLS = 30\n")
    events = [("injected", "decisions/use-uv.json")] * 3 + [("opened", "decisions/use-uv.json"), ("digest", "x.json")]
    usage_log.append(str(sample / ".claude/memory"), events)
    onrecord("config", "set", "retrieval.files", "false")

    assert onrecord("status") == (
        0,
        f"4 records in {sample}/.claude/memory\n"
        "in use       2 decisions, 1 constraint, 1 runbook\n"
        "not in use   1 archived, 1 retired\n"
        "last 7 days  records shown 3 times, opened 1 time, in digests 1 time\n"
        "needs you    1 draft is waiting: onrecord review\n"
        "             1 record is about files that changed since (60-calls-a-minute):\n"
        "             onrecord freshness --stale\n"
        "             retrieval.files is false, so no record is shown when a file is read\n"
        "             or edited: onrecord config unset retrieval.files\n",
        "",
    )


def test_each_next_step_can_be_pasted_and_leads_to_the_next(sample, onrecord, monkeypatch):
    (sample / "src/harbour.py").write_text("CALLS = 30\n")
    (sample / ".claude/memory/decisions/broken.json").write_text("{")
    monkeypatch.setenv("EDITOR", "true")
    onrecord("config", "set", "retrieval.enabled", "false")

    assert _next(onrecord) == "onrecord doctor"
    (sample / ".claude/memory/decisions/broken.json").unlink()
    assert _next(onrecord) == "onrecord config unset retrieval.enabled"
    _paste(onrecord)
    assert _next(onrecord) == "onrecord review"
    onrecord("review", "--accept", "tests-run-in-docker")
    assert _next(onrecord) == "onrecord freshness --stale"
    _paste(onrecord)
    onrecord("reanchor", "60-calls-a-minute")
    assert _next(onrecord) is None
    assert onrecord("status").out.splitlines()[-1] == "Nothing to do."


def _paste(onrecord) -> None:
    (command,) = COMMAND.findall(_next(onrecord))
    assert onrecord(*shlex.split(command)[1:]).code == 0


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ((), "onrecord save --help"),
        (("docs/adr/0001-x.md",), "onrecord import --dry-run"),
        # Agents load it themselves: an import would draft nothing.
        (("docs/AGENTS.md",), "onrecord save --help"),
    ],
)
def test_an_empty_memory_is_to_be_filled(project, onrecord, files, command):
    for name in files:
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text("# 1. X\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use X.\n")
    onrecord("init")

    assert _next(onrecord) == command
    _paste(onrecord)


def test_the_store_of_the_command_is_the_one_of_the_next_step(sample, onrecord, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    data = json.loads(onrecord("status", "--json", "--project", str(sample)).out)

    assert data["next"]["command"] == f"onrecord review --project {sample}"


def test_all_files_of_a_huge_store_are_not_compared(sample, onrecord, monkeypatch):
    monkeypatch.setattr(attention, "MAX_CHECKED_RECORDS", 1)
    onrecord("update", "use-uv", "--related", "src/harbour.py")
    (sample / "src/harbour.py").write_text("CALLS = 30\n")

    printed = " ".join(onrecord("status").out.split())
    assert (
        "1 record is about files that changed since, of the 1 newest that name files (60-calls-a-minute): onrecord"
        in printed
    )
