"""The whole replies of clean, gc and index, and of export where it writes or checks a file."""

from __future__ import annotations

import json
import os

import pytest

from onrecord import timestamps
from onrecord.cli import clean
from onrecord.cli.output import Screen
from onrecord.doctor import machine
from onrecord.doctor.machine import OwnFiles

from .conftest import DECISION

STILL_THERE = (
    "Your records were not touched. Indexes are made again when they are needed; counts of use, and the changes that"
    " `onrecord undo` could take back, are not.\n"
)


def own_files(monkeypatch: pytest.MonkeyPatch) -> tuple[list[OwnFiles], list[list[OwnFiles]]]:
    """Return two items in place of the real ones, and the list of what is removed."""
    items = [OwnFiles(f"/{name}", f"the {name}", 2_048, 3, "2026-02-01T10:00:00Z", 30) for name in ("cache", "state")]
    removed: list[list[OwnFiles]] = []
    monkeypatch.setattr(machine, "all_own_files", lambda: items)
    monkeypatch.setattr(machine, "remove", lambda items: removed.append(list(items)))
    return items, removed


def test_cleaning_says_what_it_removes_and_what_stays(onrecord, monkeypatch):
    items, removed = own_files(monkeypatch)

    rehearsed = onrecord("clean", "--dry-run")
    assert removed == []
    done, data = onrecord("clean"), json.loads(onrecord("clean", "--json").out)
    coloured = clean._clean(dry_run=False).text(Screen(80, has_colour=True))

    lines = "{0} /cache\n  the cache, 2,048 bytes\n{0} /state\n  the state, 2,048 bytes\n"
    assert rehearsed == (0, lines.format("would remove"), "")
    assert done == (0, lines.format("removed"), STILL_THERE)
    assert data == {"removed": [item._asdict() for item in items], "dry_run": False}
    assert removed == [items] * 3
    assert coloured.startswith("\033[33mremoved\033[0m /cache\n")


def test_where_nothing_is_kept_there_is_nothing_to_remove(onrecord, monkeypatch):
    monkeypatch.setattr(machine, "all_own_files", list)

    assert onrecord("clean") == (0, "nothing to remove\n", "")


def test_collecting_says_what_was_deleted_and_retired(project, onrecord, monkeypatch):
    onrecord("save", "decision", "Old", *DECISION)
    onrecord("save", "decision", "Kept", *DECISION, "--force")
    onrecord("retire", "old", "--reason=r")
    onrecord("config", "set", "--user", "categories.decision.retention_days", "40")
    assert onrecord("gc").out == "nothing to collect\n"
    monkeypatch.setattr(timestamps, "now", lambda: "2026-05-01T00:00:00Z")

    rehearsed, as_json = onrecord("gc", "--dry-run").out, json.loads(onrecord("gc", "--dry-run", "--json").out)
    done = onrecord("gc").out

    old, kept = "retired more than 30 days ago", "unchanged for more than 40 days"
    assert rehearsed.splitlines() == [
        f"would retire decisions/kept.json: {kept}", f"would delete decisions/old.json: {old}",
    ]  # fmt: skip
    assert done.splitlines() == [f"retired decisions/kept.json: {kept}", f"deleted decisions/old.json: {old}"]
    assert as_json == {
        "changes": [
            {"action": "retire", "path": "decisions/kept.json", "reason": kept},
            {"action": "delete", "path": "decisions/old.json", "reason": old},
        ],
        "dry_run": True,
    }


def test_the_list_of_records_is_compared_and_made_again(project, onrecord):
    onrecord("save", "decision", "One", *DECISION)
    file = project / ".claude/memory/index.md"
    assert onrecord("index", "check") == (0, "index.md agrees with the records\n", "")
    file.write_text("")

    differs = onrecord("index", "check")
    data = json.loads(onrecord("index", "check", "--json").out)
    rebuilt = onrecord("index", "rebuild")

    assert differs.code == 1
    assert differs.out.splitlines() == [*data["differences"], "fix: onrecord index rebuild"]
    assert len(data["differences"]) == 1
    assert rebuilt == (0, "rebuilt index.md: 1 active record\n", "")
    assert "One" in file.read_text()


def test_a_file_is_written_once_and_its_setting_is_suggested_until_it_is_set(project, onrecord, tmp_path):
    onrecord("save", "decision", "One", *DECISION)

    first, second = onrecord("export", "--file=my notes.md"), onrecord("export", "--file=my notes.md")
    data = json.loads(onrecord("export", "--file=my notes.md", "--json").out)
    outside = onrecord("export", f"--file={tmp_path / 'out.md'}")
    onrecord("config", "set", "export.file", "MEMORY.md")
    after = onrecord("export", "--file=my notes.md")

    note = "to update it after every change: onrecord config set export.file 'my notes.md'\n"
    size = f"(1 record, about {data['tokens']} tokens)\n"
    assert first == (0, f"wrote my notes.md {size}", note)
    assert second == (0, f"my notes.md is up to date {size}", note)
    assert data == {
        "file": str(project / "my notes.md"), "count": 1, "tokens": data["tokens"], "was_fresh": True,
    }  # fmt: skip
    assert outside.err == "" and os.path.relpath(tmp_path / "out.md") in outside.out
    assert after.err == ""


def test_a_check_needs_a_file_and_names_the_command_with_its_store(project, onrecord, home):
    onrecord("save", "decision", "One", *DECISION)
    onrecord("save", "decision", "Two", *DECISION, "--user")

    refused = json.loads(onrecord("export", "--check", "--json").out)["error"]
    stale = onrecord("export", "--check", "--file=a b.md", "--user")

    assert (refused["message"], refused["fix"]) == ("--check needs a file", "add --file FILE, or set export.file")
    command = f"onrecord export --file '{project}/a b.md' --user"
    assert (stale.code, stale.out) == (1, f"a b.md is out of date; to update it: {command}\n")
    assert onrecord("export", "--file=u.md", "--user").err == ""


def test_records_are_exported_whole_in_json_and_only_those_in_force(project, onrecord):
    onrecord("save", "decision", "One", *DECISION, "--tag=x")
    onrecord("save", "decision", "Two", *DECISION, "--tag=y", "--force")
    onrecord("retire", "two", "--reason=r")

    current, everything = (json.loads(onrecord("export", *words, "--json").out) for words in ((), ("--all",)))

    assert (current["format"], current["count"]) == ("markdown", 1)
    assert [record["id"] for record in current["records"]] == ["one"]
    assert sorted(record["id"] for record in everything["records"]) == ["one", "two"]
    assert json.loads(onrecord("export", "--format=jsonl", "--tag=y", "--all", "--json").out)["count"] == 1
    assert onrecord("export", "--format=agents").out.count("One") >= 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--file=x", "--all"), "--file and --all exclude each other"),
        (("--into=x", "--all"), "--into and --all exclude each other"),
        (("--check", "--format=jsonl"), "--check and --format jsonl exclude each other"),
        (("--file=x", "--format=markdown"), "--file and --format markdown exclude each other"),
        (("--file=x", "--into=y"), "--file and --into exclude each other"),
    ],
)
def test_options_of_an_export_that_exclude_each_other(project, onrecord, words, says):
    onrecord("save", "decision", "One", *DECISION)

    refused = onrecord("export", *words)

    assert (refused.code, refused.err.splitlines()[0]) == (2, f"onrecord export: {says}")
    assert onrecord("export", "--file=x", "--format=agents").code == 0
