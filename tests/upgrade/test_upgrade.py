"""A machine that had 0.1.0 gets this version: everything goes on, nothing is lost, and nothing is asked or shown twice.

The files are those that 0.1.0 wrote (0.1.0.json). Where the history is there, the real 0.1.0 writes them again, and
reads what this version writes.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from onrecord.old_settings import OF_0_1_0, REMOVED
from onrecord.setting_table import setting
from tests.hooks.conftest import SIX
from tests.upgrade import old_data, old_project
from tests.upgrade.old_project import ROOT, SESSION, STARTED, OldProject

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="hooks are started by a POSIX shell")

LAUNCHER = "src/onrecord/hooks/launch"
OLD_LAUNCHER = "hooks/launch"
READS = {"tool_name": "Read", "tool_input": {"file_path": old_data.READS}}
FAILS = {"tool_name": "Bash", "tool_input": {"command": "make run"}, "error": old_data.FAILS}
ENDS = {"last_assistant_message": "Done.", "stop_hook_active": False, "background_tasks": []}
ANSWER = [
    *("save", "decision", "Passwords are hashed with argon2id", "--draft", "--json", "--tag", "auth"),
    *("--set", "context=bcrypt cuts", "--set", "decision=Use argon2id.", "--set", "rationale=long passphrases"),
]
SCOPE = {"paths": ["src/**"], "repositories": ["github.com/acme/*"], "languages": ["go"]}
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")


@pytest.fixture
def old(tmp_path: Path) -> OldProject:
    """What 0.1.0 left, with this version at the place where 0.1.0 was."""
    unpacked = old_project.unpack(json.loads(old_project.KEPT.read_text(encoding="utf-8")), tmp_path / "machine")
    unpacked.plugin.symlink_to(ROOT)
    return unpacked


def shown(answer: dict[str, Any]) -> str:
    return str(answer.get("additionalContext", ""))


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def tables(index: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(index)) as opened:
        return {sql for (sql,) in opened.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")}


def answered(old: OldProject, *words: str) -> Any:
    return json.loads(old.command(*words, "--json"))


def test_every_record_and_draft_is_there_and_no_file_is_rewritten(old: OldProject) -> None:
    before = files(old.store)

    listed = answered(old, "list", "--status", "all")["records"]
    found = answered(old, "search", "user sessions in redis or postgres")["results"]

    assert {record["id"]: record["status"] for record in listed} == {
        **{path.rsplit("/", 1)[1][:-5]: "active" for path in before if path.count("/") == 1 and "inbox" not in path},
        "sessions-live-in-redis": "superseded",
        "tabs-for-indentation": "retired",
        "labels-are-printed-twice": "archived",
    }
    assert found[0]["id"] == "sessions-live-in-postgres-not-redis"
    assert [draft["name"] for draft in answered(old, "inbox")["drafts"]] == ["invoices-are-numbered-per-year"]
    assert [record["id"] for record in answered(old, "list", "--user")["records"]] == ["answer-in-short-sentences"]
    assert "index.md agrees" in old.command("index", "check")
    assert files(old.store) == before


def test_an_open_session_goes_on_and_is_shown_nothing_twice(old: OldProject) -> None:
    def again(session: str) -> list[str]:
        # The client has read 0.1.0's hooks.json when the session began.
        return [
            shown(old.hook(OLD_LAUNCHER, "user_prompt_submit", prompt=old_data.ASKS, session_id=session)),
            shown(old.hook(OLD_LAUNCHER, "pre_tool_use", **READS, session_id=session)),
            shown(old.hook(OLD_LAUNCHER, "post_tool_use_failure", **FAILS, session_id=session)),
        ]

    assert again(SESSION) == ["", "", ""]
    # The steps of a runbook are more than the line in a digest.
    assert again(STARTED)[:2] == ["", ""]
    new = again("new")
    assert ["auth.sessions" in new[0], "90 calls" in new[1], "12 replicas" in new[2]] == [True, True, True]


def test_what_0_1_0_suggested_is_not_suggested_again_and_can_still_be_saved(old: OldProject) -> None:
    assert old.hook(LAUNCHER, "stop", **ENDS) == {}
    assert old.hook(LAUNCHER, "stop", session_id="new", **ENDS) == {}

    asked_for = old.refused(*ANSWER, "--offer", "312b5a5b82f8")
    draft = json.loads(old.command(*ANSWER, "--suggested"))

    assert "did you mean --suggested?" in asked_for
    inbox = answered(old, "inbox", draft["draft"])["drafts"]
    assert [each["evidence"] for each in inbox] == [[old_data.SETTLED]]
    state = old.home / ".local/state/onrecord"
    assert [(state / name).exists() for name in ("offers", "suggestions")] == [False, True]


def test_a_draft_of_0_1_0_is_accepted_and_a_change_it_had_begun_is_completed(old: OldProject) -> None:
    path = "runbooks/kafka-consumer-lag-after-a-rebalance.json"
    before = (old.store / path).read_text(encoding="utf-8")
    after = before.replace("Watch the lag fall", "Watch the lag rise")
    steps = {path: [blake2b(before.encode(), digest_size=16).hexdigest(), after]}
    (old.store / ".journal").write_text(json.dumps(steps), encoding="utf-8")

    old.command("review", "--accept", "invoices-are-numbered-per-year")

    assert (old.store / path).read_text(encoding="utf-8") == after
    content = answered(old, "show", "invoices-are-numbered-per-year")["record"]["content"]
    assert content == {**old_data.DRAFT["content"], "status": "accepted"}


def test_every_setting_of_0_1_0_means_what_it_meant(old: OldProject) -> None:
    before = json.loads((old.home / old_project.UNDERSTOOD).read_text(encoding="utf-8"))

    now = answered(old, "config")

    assert (before["problems"], now["problems"]) == ([], [])
    values = {each["key"]: (each["value"], each["origin"]) for each in now["settings"]}
    was = {OF_0_1_0.get(each["key"], each["key"]): (each["value"], each["origin"]) for each in before["settings"]}
    assert all(was.pop(key)[0] for key in REMOVED)
    assert len(was) > 40
    assert {key: values.get(key) for key in was if was[key][1] != "default"} == {
        key: value for key, value in was.items() if value[1] != "default"
    }
    assert [key for key in was if setting(key) is None] == []


def test_the_index_is_built_anew_once_and_nobody_hears_of_it(old: OldProject) -> None:
    index = old.home / ".cache" / "onrecord" / f"{old_project.fingerprint(old.store.resolve())}.sqlite"
    before = tables(index)

    old.command("search", "sessions")
    built, file = tables(index), index.stat().st_ino
    old.command("search", "sessions")

    assert before != built == tables(index)
    assert file == index.stat().st_ino
    assert not (old.home / ".local/state/onrecord/failures.log").exists()


def test_the_merge_driver_of_0_1_0_merges_records_by_field(old: OldProject) -> None:
    runbook = "kafka-consumer-lag-after-a-rebalance"
    old.git("checkout", "-qb", "other")
    old.command("update", runbook, "--tag", "theirs")
    old.git("commit", "-qam", "Add a tag")
    old.git("checkout", "-q", "main")
    old.command("update", runbook, "--tag", "ours")
    old.git("commit", "-qam", "Add another")

    old.git("merge", "-q", "other", "-m", "Merge")

    assert {"ours", "theirs"} <= set(answered(old, "show", runbook)["record"]["tags"])


def test_doctor_and_audit_find_nothing_wrong(old: OldProject) -> None:
    findings = answered(old, "doctor")["findings"]

    assert [each for each in findings if each["severity"] in ("error", "warning")] == []
    old.command("audit", "--strict")


def test_nothing_is_left_but_the_records(old: OldProject) -> None:
    before = files(old.store)
    old.hook(LAUNCHER, "user_prompt_submit", prompt=old_data.ASKS)

    old.command("clean")

    assert files(old.store) == before
    assert sorted(path.name for path in (old.home / ".cache").iterdir()) == []
    assert sorted(path.name for path in (old.home / ".local/state").iterdir()) == []


@pytest.mark.skipif(not old_project.is_in_history(), reason="the commit of 0.1.0 is not in this clone's history")
def test_the_real_0_1_0_leaves_the_files_kept_here_and_reads_what_this_version_writes(tmp_path: Path) -> None:
    machine = tmp_path / "machine"
    old_project.check_out(machine / old_project.PLUGIN)
    made = old_project.make(machine)

    assert timeless(old_project.pack(made)) == timeless(json.loads(old_project.KEPT.read_text(encoding="utf-8")))

    made.plugin.rename(machine / "0.1.0")
    made.plugin.symlink_to(ROOT)
    for category, record in SIX.items():
        title = f"Now {record['title']}"
        triggers = [f"how is {category} number {number} asked for?" for number in range(16)]
        new = {"triggers": triggers, "scope": SCOPE, "supersedes": ["platform:use-pip"]}
        given = {**record, **new, "title": title, "related_files": [old_data.READS]}
        made.command("save", category, "--file", "-", "--force", given=json.dumps(given))
    made.command("supersede", "kafka-consumer-lag-after-a-rebalance", "now-kafka-consumer-lag-after-a-rebalance")
    made.command("save", "decision", "--draft", "--file", "-", given=json.dumps(old_data.REPLACED | {"title": "Next"}))
    here = {record["id"]: record["status"] for record in answered(made, "list", "--status", "all")["records"]}
    made.plugin.unlink()
    (machine / "0.1.0").rename(made.plugin)

    assert {each["id"]: each["status"] for each in answered(made, "list", "--status", "all")["records"]} == here
    found = answered(made, "search", "consumer lag of kafka after a rebalance")["results"]
    assert found[0]["id"] == "now-kafka-consumer-lag-after-a-rebalance"
    assert len(answered(made, "inbox")["drafts"]) == 2
    made.command("update", found[0]["id"], "--tag", "older")
    kept = answered(made, "show", found[0]["id"])["record"]
    assert ("older" in kept["tags"], kept["scope"], len(kept["triggers"])) == (True, SCOPE, 16)
    wrong = [each for each in answered(made, "doctor")["findings"] if each["severity"] == "error"]
    assert wrong == []


def timeless(packed: old_project.Packed) -> dict[str, list[str]]:
    """Packed files without times; the order in a digest and all that is in an index depend on them, too."""

    def lines(path: str) -> list[str]:
        if path.endswith((".sqlite", "last-injection.json")):
            return []
        return sorted(_TIME.sub("", packed[path]).split("\n"))

    return {path: lines(path) for path in packed}
