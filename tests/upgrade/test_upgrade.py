"""Stores that an earlier version wrote are used with this one: nothing is lost.

The files are those of 0.1.0.json and 0.2.0.json. Where the history is there, the real versions write them again, and
read what this one writes.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from onrecord.setting_table import REMOVED, RENAMED_SINCE_0_1_0, setting
from tests.known_project import SIX
from tests.upgrade import old_data, old_project
from tests.upgrade.old_project import VERSIONS, OldProject, OldVersion

SCOPE = {"paths": ["src/**"], "repositories": ["github.com/acme/*"], "languages": ["go"]}
CHECK = {"on": "command", "starts": ["kafka-topics"], "say": "use the script", "examples": {"fits": ["kafka"]}}
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")


@pytest.fixture(params=VERSIONS, ids=lambda version: version.number)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> OldProject:
    """The stores that an earlier version wrote."""
    return old_project.unpack(json.loads(request.param.kept.read_text(encoding="utf-8")), tmp_path / "machine")


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def answered(old: OldProject, *words: str) -> Any:
    return json.loads(old.command(*words, "--json"))


def old_answer(old: OldProject, *words: str) -> Any:
    return json.loads(old.old_command(*words, "--json"))


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


def test_an_old_draft_is_accepted_and_a_change_that_was_begun_is_completed(old: OldProject) -> None:
    path = "runbooks/kafka-consumer-lag-after-a-rebalance.json"
    before = (old.store / path).read_text(encoding="utf-8")
    after = before.replace("Watch the lag fall", "Watch the lag rise")
    steps = {path: [blake2b(before.encode(), digest_size=16).hexdigest(), after]}
    (old.store / ".journal").write_text(json.dumps(steps), encoding="utf-8")

    old.command("review", "--accept", "invoices-are-numbered-per-year")

    assert (old.store / path).read_text(encoding="utf-8") == after
    content = answered(old, "show", "invoices-are-numbered-per-year")["record"]["content"]
    assert content == {**old_data.DRAFT["content"], "status": "accepted"}


def test_every_old_setting_means_what_it_meant_or_is_refused_to_a_project(old: OldProject) -> None:
    before = json.loads((old.home / old_project.UNDERSTOOD).read_text(encoding="utf-8"))

    now = answered(old, "config")

    assert before["problems"] == []
    assert all("and a project may only" in problem["message"] for problem in now["problems"])
    refused = {RENAMED_SINCE_0_1_0.get(problem["key"], problem["key"]) for problem in now["problems"]}
    # A project may only ask for more certainty than was measured.
    refused.add("retrieval.min_probability")
    values = {each["key"]: (each["value"], each["origin"]) for each in now["settings"]}
    was = {
        RENAMED_SINCE_0_1_0.get(each["key"], each["key"]): (each["value"], each["origin"])
        for each in before["settings"]
    }
    assert all(was.pop(key)[0] for key in REMOVED if key in was)
    assert len(was) > 40
    chosen = {key: value for key, value in was.items() if value[1] != "default" and key not in refused}
    assert len(chosen) > 5
    assert {key: values.get(key) for key in chosen} == chosen
    assert [key for key in was if setting(key) is None] == []


def test_doctor_and_audit_find_nothing_wrong(old: OldProject) -> None:
    findings = answered(old, "doctor")["findings"]

    assert [each for each in findings if each["severity"] in ("error", "warning")] == []
    assert [each["severity"] for each in findings if each["check"] == "old name"] == ["note"]
    old.command("audit", "--strict")


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.number)
def test_the_real_version_leaves_the_files_kept_here_and_reads_what_this_one_writes(
    version: OldVersion, tmp_path: Path
) -> None:
    if not version.is_in_history():
        pytest.skip(f"the commit of {version.number} is not in this clone's history")
    machine = tmp_path / "machine"
    version.check_out(machine / old_project.OLD_CLONE)
    made = old_project.make(machine, version)

    assert timeless(old_project.pack(made)) == timeless(json.loads(version.kept.read_text(encoding="utf-8")))

    for category, record in SIX.items():
        title = f"Now {record['title']}"
        triggers = [f"how is {category} number {number} asked for?" for number in range(16)]
        new = {"triggers": triggers, "scope": SCOPE, "supersedes": ["platform:use-pip"], "checks": [CHECK]}
        given = {**record, **new, "title": title, "related_files": [old_data.READS]}
        made.command("save", category, "--file", "-", "--force", given=json.dumps(given))
    made.command("supersede", "kafka-consumer-lag-after-a-rebalance", "now-kafka-consumer-lag-after-a-rebalance")
    made.command("save", "decision", "--draft", "--file", "-", given=json.dumps(old_data.REPLACED | {"title": "Next"}))
    here = {record["id"]: record["status"] for record in answered(made, "list", "--status", "all")["records"]}

    there = old_answer(made, "list", "--status", "all")["records"]
    # Our list also says which records do not apply here.
    assert {record["id"]: record["status"] for record in there} == {
        name: "active" if status == "out of scope" else status for name, status in here.items()
    }
    found = old_answer(made, "search", "consumer lag of kafka after a rebalance")["results"]
    assert found[0]["id"] == "now-kafka-consumer-lag-after-a-rebalance"
    assert len(old_answer(made, "inbox")["drafts"]) == 2
    made.old_command("update", found[0]["id"], "--tag", "older")
    kept = old_answer(made, "show", found[0]["id"])["record"]
    assert ("older" in kept["tags"], kept["scope"], len(kept["triggers"])) == (True, SCOPE, 16)
    assert answered(made, "show", found[0]["id"])["record"]["checks"] == kept["checks"] == [CHECK]
    wrong = [each for each in old_answer(made, "doctor")["findings"] if each["severity"] == "error"]
    assert wrong == []


def test_the_section_of_agents_md_is_renewed_at_the_next_save(tmp_path: Path) -> None:
    version = VERSIONS[-1]
    if not version.is_in_history():
        pytest.skip(f"the commit of {version.number} is not in this clone's history")
    version.check_out(tmp_path / old_project.OLD_CLONE)
    made = old_project.make(tmp_path, version)
    page = made.project / "AGENTS.md"
    page.write_text("# Rules\n", encoding="utf-8")
    made.old_command("export", "--into", "AGENTS.md")
    made.old_command("config", "set", "export.file", "AGENTS.md")
    before = page.read_text(encoding="utf-8")

    made.command(
        "save", "decision", "--file", "-", given=json.dumps(old_data.REPLACED | {"title": "Sessions in files"})
    )

    after = page.read_text(encoding="utf-8")
    assert before.count("<!-- recollect: begin -->") == after.count("<!-- onrecord: begin -->") == 1
    assert "recollect" not in after and after.startswith("# Rules\n")
    assert after.count("\n- ") == before.count("\n- ") + 1


def timeless(packed: old_project.Packed) -> dict[str, list[str]]:
    """Packed files without times and without an order that depends on them."""
    return {path: sorted(_TIME.sub("", text).split("\n")) for path, text in packed.items()}
