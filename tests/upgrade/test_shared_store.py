"""A store that two machines with 0.2.0 shared is shared on with this version, in whichever order they are upgraded.

The real 0.2.0 writes it: changes that it had not pushed included, on both machines. Nothing is lost, and what it knew
of the remote is known: what was deleted stays deleted.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import ADMIN, Server
from tests.upgrade import old_project
from tests.upgrade.old_project import VERSIONS, OldProject

NATS, UTC, TABS, KAFKA = "use-nats-for-jobs", "timestamps-are-in-utc", "indent-with-tabs", "events-go-through-kafka"


class Machine:
    """A machine on which 0.2.0 is used until the upgrade, and this version from then on."""

    def __init__(self, root: Path) -> None:
        self.project = OldProject(root)
        self.project.project.mkdir(parents=True)
        self.project.home.mkdir()
        VERSIONS[-1].check_out(root / old_project.OLD_CLONE)
        self.is_upgraded = False

    def run(self, *words: str, given: str = "") -> str:
        command = self.project.command if self.is_upgraded else self.project.old_command
        return command(*words, given=given)

    def save(self, title: str) -> None:
        content = {"context": "It came up twice.", "decision": f"{title}.", "rationale": ["one way is enough"]}
        record = {"title": title, "tags": ["jobs"], "triggers": [f"why is it that {title}?"], "content": content}
        self.run("save", "decision", "--remote", "team", "--file", "-", given=json.dumps(record))

    def records(self) -> dict[str, Any]:
        listed = json.loads(self.run("list", "--remote", "team", "--json"))["records"]
        return {record["id"]: self.record(record["id"]) for record in listed}

    def record(self, name: str) -> Any:
        return json.loads(self.run("show", f"team:{name}", "--json"))["record"]

    def unpushed(self) -> list[str]:
        (remote,) = json.loads(self.run("remote", "status", "--json"))["remotes"]
        return list(remote["waiting"])

    def drafts(self) -> list[tuple[str, str]]:
        """Return which records the drafts of the store would change, and the status that they would get."""
        drafts = json.loads(self.run("inbox", "--remote", "team", "--json"))["drafts"]
        return [(draft["updates"], draft["record"]["record_status"]) for draft in drafts]


@pytest.fixture
def machines(tmp_path: Path) -> list[Machine]:
    """Two machines with 0.2.0."""
    if not VERSIONS[-1].is_in_history():
        pytest.skip("the commit of 0.2.0 is not in this clone's history")
    return [Machine(tmp_path / name) for name in ("first", "second")]


def share_with_0_2_0(machines: list[Machine], address: str) -> None:
    """Both have what was synced; each has changes that it has not pushed."""
    first, second = machines
    for machine in machines:
        machine.run("remote", "add", "team", address)
    for title in ("Use NATS for jobs", "Indent with tabs", "Events go through Kafka"):
        first.save(title)
    first.run("sync")
    second.run("sync")
    first.run("update", NATS, "--tag", "nats", "--remote", "team")
    second.run("update", NATS, "--trigger", "which queue do workers read?", "--remote", "team")
    second.save("Timestamps are in UTC")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first, second", "second, first"])
def test_a_git_repository_is_shared_on(machines: list[Machine], order: tuple[int, int], tmp_path: Path) -> None:
    repository = tmp_path / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", str(repository)], check=True, timeout=60)
    share_with_0_2_0(machines, str(repository))
    early, late = (machines[number] for number in order)

    early.is_upgraded = True
    waiting = early.unpushed()
    early.run("sync")
    late.run("retire", KAFKA, "--reason", "gone", "--remote", "team")
    late.run("sync")
    late.is_upgraded = True
    for machine in (late, early, late):
        machine.run("sync")

    assert f"decisions/{NATS}.json" in waiting
    for machine in machines:
        records = machine.records()
        assert sorted(records) == sorted([NATS, TABS, UTC])
        assert "nats" in records[NATS]["tags"] and "which queue do workers read?" in records[NATS]["triggers"]
        assert machine.record(KAFKA)["record_status"] == "retired"
        assert machine.unpushed() == []
        assert not (machine.project.home / ".local/share/recollect").exists()


@pytest.mark.debian("postgresql")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first, second", "second, first"])
def test_a_new_hub_gets_what_the_machines_had_of_the_old_one(
    machines: list[Machine], order: tuple[int, int], postgres: Server
) -> None:
    address = postgres.url(postgres.database())
    make_team(machines[0], address)
    share_with_0_2_0(machines, f"{address}#platform")
    early, late = (machines[number] for number in order)

    early.is_upgraded = True
    make_team(early, address)
    early.run("sync")
    late.run("retire", KAFKA, "--reason", "gone", "--remote", "team")
    late.is_upgraded = True
    for machine in (late, early, late):
        machine.run("sync")

    for machine in machines:
        records = machine.records()
        assert sorted(records) == sorted([NATS, TABS, UTC, KAFKA])
        assert "nats" in records[NATS]["tags"] and "which queue do workers read?" in records[NATS]["triggers"]
        assert machine.unpushed() == []
    # The new hub has no history of the old one that would tell which of two versions is the later one.
    assert late.drafts() == early.drafts() == [(KAFKA, "retired")]


def make_team(machine: Machine, address: str) -> None:
    machine.run("hub", "init", address, "--team", "platform")
    machine.run("hub", "grant", ADMIN, "writer", "--url", address, "--team", "platform")


def test_a_remote_of_another_address_does_not_get_what_an_old_replica_has(
    machines: list[Machine], tmp_path: Path
) -> None:
    first = machines[0]
    for name in ("team.git", "other.git"):
        subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / name)], check=True, timeout=60)
    first.run("remote", "add", "team", str(tmp_path / "team.git"))
    first.save("Use NATS for jobs")
    (first.project.home / ".claude/memory/remotes.json").unlink()
    first.is_upgraded = True

    with pytest.raises(AssertionError, match="there is a replica of an earlier remote 'team'"):
        first.run("remote", "add", "team", str(tmp_path / "other.git"))
