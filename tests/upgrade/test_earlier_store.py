"""A store that the real earlier plugin wrote is used with Onrecord: nothing is lost, nothing is asked twice.

The files are those of earlier-plugin.json; tests/upgrade/test_earlier_plugin.py lets its program write them again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.upgrade import earlier_plugin, old_project
from tests.upgrade.earlier_plugin import ARCHIVED, JOBS, RETIRED, SESSIONS
from tests.upgrade.old_project import OldProject

LIMIT = "At most 90 calls a minute to the carrier API"


@pytest.fixture
def old(tmp_path: Path) -> OldProject:
    """The store of a user of the earlier plugin."""
    return old_project.unpack(json.loads(earlier_plugin.KEPT.read_text(encoding="utf-8")), tmp_path / "machine")


def records(old: OldProject) -> dict[str, Any]:
    """Return the content of each record's file by its path in the store."""
    files = sorted(old.store.glob("*/*.json"))
    return {path.relative_to(old.store).as_posix(): json.loads(path.read_text(encoding="utf-8")) for path in files}


def answered(old: OldProject, *words: str) -> Any:
    return json.loads(old.command(*words, "--json"))


def hook(old: OldProject, name: str, **event: str) -> str:
    """Return what a hook of ours tells Claude Code."""
    launcher = old_project.ROOT / "src/onrecord/hooks/launch"
    given = json.dumps({"session_id": "s", "cwd": str(old.project), **event})
    return old.shell(f"printf %s '{given}' | sh '{launcher}' {name} claude-code")


def move(old: OldProject) -> None:
    """Give the commands that docs/how-to/upgrade-and-remove.md names."""
    old.command("doctor")
    old.command("init")
    old.command("index", "rebuild")
    old.command("config", "tidy")
    old.git("add", "-A")
    old.git("commit", "-qm", "Move")


def test_every_record_is_there_with_its_status_and_no_file_of_it_changes(old: OldProject) -> None:
    before = records(old)

    move(old)
    listed = answered(old, "list", "--status", "all")["records"]
    found = answered(old, "search", "how many calls a minute to the carrier")["results"]
    old.command("audit", "--strict")

    # A session that its program retired for a newer one is retired here, too.
    assert {record["id"]: record["status"] for record in listed} == {
        record["id"]: record["record_status"] for record in before.values()
    }
    assert found[0]["id"] == before[JOBS]["id"]
    assert records(old) == before
    assert [path for path in (RETIRED, ARCHIVED) if before[path]["record_status"] == "active"] == []
    assert sum(record["category"] == "session_summary" for record in before.values()) == SESSIONS


def test_show_has_every_field_that_the_plugin_wrote(old: OldProject) -> None:
    for record in records(old).values():
        shown = answered(old, "show", record["id"])["record"]

        assert {key: shown.get(key) for key in record} == record


def test_an_update_keeps_every_field_that_it_does_not_change(old: OldProject) -> None:
    before = records(old)[JOBS]

    old.command("update", before["id"], "--trigger", "may I call the carrier in a loop?")

    after = records(old)[JOBS]
    changes = after["changes"]
    assert changes[: len(before["changes"])] == before["changes"]
    kept = {key: value for key, value in before.items() if key not in ("changes", "updated_at", "times_updated")}
    assert {key: after.get(key) for key in kept} == kept
    assert after["times_updated"] == before["times_updated"] + 1


def test_a_retired_record_comes_back_with_all_it_said(old: OldProject) -> None:
    before = records(old)[RETIRED]

    old.command("restore", before["id"])

    after = records(old)[RETIRED]
    assert (after["record_status"], after["content"], after["confidence"]) == (
        "active",
        before["content"],
        before["confidence"],
    )


def test_agents_are_shown_its_records_from_the_first_prompt_on(old: OldProject) -> None:
    started = hook(old, "session_start", source="startup")
    prompt = hook(old, "user_prompt_submit", prompt="how many calls a minute may we make to the carrier API?")

    assert LIMIT in started + prompt
    assert "Indent with tabs." not in started + prompt


def test_nothing_is_asked_twice(old: OldProject) -> None:
    move(old)

    findings = answered(old, "doctor")["findings"]
    assert [each for each in findings if each["severity"] in ("error", "warning")] == []
    assert "settings of the earlier plugin" not in json.dumps(findings)
    assert answered(old, "inbox")["drafts"] == []
    assert answered(old, "config", "tidy")["removed"] == []


def test_what_the_user_changed_in_its_config_stays_and_the_rest_is_tidied_away(old: OldProject) -> None:
    keys = ("retrieval.max_inject", "categories.runbook.auto_capture", "categories.decision.retention_days")

    before = [values(old, key) for key in keys]
    move(old)

    assert [values(old, key) for key in keys] == before == [[2], [False], [0]]
    assert json.loads((old.store / "memory-config.json").read_text(encoding="utf-8")) == {
        "retrieval": {"max_inject": 2},
        "categories": {"runbook": {"auto_capture": False}, "decision": {"retention_days": 36_000}},
    }


def values(old: OldProject, key: str) -> list[Any]:
    return [setting["value"] for setting in answered(old, "config", "get", key)["settings"]]
