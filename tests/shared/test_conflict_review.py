"""A conflict of two machines, decided in `onrecord review --remote`: both versions are shown, and none is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.record import memory
from onrecord.shared import remotes
from onrecord.shared.replicas import Replica
from onrecord.store.inbox import Inbox
from tests.cli.conftest import onrecord, project  # noqa: F401
from tests.shared.machines import Machine, MemoryRemote, MemoryTransport


class Team:
    """This machine, and another one that shares a store with it."""

    def __init__(self, folder: Path) -> None:
        there = MemoryRemote()
        remotes.add("platform", "/srv/memory.git")
        self.other = Machine(folder / "other", MemoryTransport(there))
        self.ours = Machine(folder / "ours", MemoryTransport(there))
        self.ours.replica = Replica("platform")  # type: ignore[assignment]
        self.other.save("use-uv")
        self.both_sync()

    def both_sync(self) -> None:
        for machine in (self.other, self.ours, self.other):
            machine.sync()

    def disagree(self, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
        """Let both change the record; the name of the draft that holds our side."""
        self.other.edit("use-uv", theirs)
        self.other.sync()
        self.ours.edit("use-uv", ours)
        (conflict,) = self.ours.sync().conflicts
        return conflict.draft

    def agreed(self) -> memory.Memory:
        """Return the only record that both machines have in the end."""
        self.both_sync()
        assert self.ours.files() == self.other.files()
        assert Inbox(self.ours.store.root).names() == []
        return self.other.read("use-uv")


@pytest.fixture
def team(tmp_path: Path, onrecord: Any) -> Team:  # noqa: F811
    return Team(tmp_path)


OURS, THEIRS = {"content": {"decision": "uv it is"}}, {"content": {"decision": "poetry it is"}}


@pytest.mark.parametrize(("key", "decision"), [("a", "uv it is"), ("r", "poetry it is")])
def test_both_versions_are_shown_and_one_key_decides(onrecord, team, key, decision):  # noqa: F811
    team.disagree(OURS, THEIRS)

    output = onrecord("review", "--remote=platform", stdin=f"{key}\n").out

    assert "  - poetry it is" in output and "  + uv it is" in output and "Conflict in a shared store" in output
    assert team.agreed().content["decision"] == decision


def test_the_other_machine_can_decide_as_well(onrecord, team):  # noqa: F811
    name = team.disagree(OURS, THEIRS)
    team.both_sync()

    assert Inbox(team.other.store.root).names() == [name]


def test_a_title_and_a_list_are_taken_whole(onrecord, team):  # noqa: F811
    ours = {"title": "Use UV", "content": {"rationale": ["ours"]}}
    name = team.disagree(ours, {"title": "Use uv!", "content": {"rationale": ["theirs"]}})

    outcome = onrecord("review", "--remote=platform", f"--accept={name}")

    record = team.agreed()
    assert outcome.code == 0 and (record.title, record.content["rationale"]) == ("Use UV", ["ours"])


def test_after_a_further_change_our_side_can_still_be_put_in(onrecord, team):  # noqa: F811
    name = team.disagree({"content": {"rationale": ["ours"]}}, {"content": {"rationale": ["theirs"]}})
    team.both_sync()
    team.other.edit("use-uv", {"content": {"context": "later"}})
    team.both_sync()

    refused = onrecord("review", "--remote=platform", f"--accept={name}")
    merged = onrecord("review", "--remote=platform", f"--merge={name}", "--into=use-uv")

    assert refused.code == 1 and f"onrecord review --merge {name} --into use-uv --remote platform" in refused.err
    assert merged.code == 0
    record = team.agreed()
    assert (record.content["context"], record.content["rationale"]) == ("later", ["ours"])


def test_flags_and_undo_work_on_the_shared_inbox(onrecord, team):  # noqa: F811
    name = team.disagree(OURS, THEIRS)
    inbox = onrecord("inbox", "--remote=platform", "--json").out

    onrecord("review", "--remote=platform", f"--reject={name}")
    undone = onrecord("undo", "--remote=platform")

    assert name in inbox and undone.code == 0
    assert Inbox(team.ours.store.root).names() == [name]
