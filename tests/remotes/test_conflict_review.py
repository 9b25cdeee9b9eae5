"""A conflict of two machines, decided in `recollect review --remote`: both versions are shown, and none is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.capture.inbox import Inbox
from recollect.record import memory
from recollect.remotes import remote
from recollect.remotes.replica import Replica
from tests.cli.conftest import project, recollect  # noqa: F401
from tests.remotes.machines import Machine, MemoryRemote, MemoryTransport


class Team:
    """This machine, and another one that shares a store with it."""

    def __init__(self, folder: Path) -> None:
        there = MemoryRemote()
        remote.add("platform", "/srv/memory.git")
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
        """The record that both machines have in the end, and nothing else."""
        self.both_sync()
        assert self.ours.files() == self.other.files()
        assert Inbox(self.ours.store.root).names() == []
        return self.other.read("use-uv")


@pytest.fixture
def team(tmp_path: Path, recollect: Any) -> Team:  # noqa: F811
    return Team(tmp_path)


OURS, THEIRS = {"content": {"decision": "uv it is"}}, {"content": {"decision": "poetry it is"}}


@pytest.mark.parametrize(("key", "decision"), [("a", "uv it is"), ("r", "poetry it is")])
def test_both_versions_are_shown_and_one_key_decides(recollect, team, key, decision):  # noqa: F811
    team.disagree(OURS, THEIRS)

    shown = recollect("review", "--remote=platform", stdin=f"{key}\n").out

    assert "  - poetry it is" in shown and "  + uv it is" in shown and "Conflict in a shared store" in shown
    assert team.agreed().content["decision"] == decision


def test_the_other_machine_can_decide_as_well(recollect, team):  # noqa: F811
    name = team.disagree(OURS, THEIRS)
    team.both_sync()

    assert Inbox(team.other.store.root).names() == [name]


def test_a_title_and_a_list_are_taken_whole(recollect, team):  # noqa: F811
    ours = {"title": "Use UV", "content": {"rationale": ["ours"]}}
    name = team.disagree(ours, {"title": "Use uv!", "content": {"rationale": ["theirs"]}})

    outcome = recollect("review", "--remote=platform", f"--accept={name}")

    record = team.agreed()
    assert outcome.code == 0 and (record.title, record.content["rationale"]) == ("Use UV", ["ours"])


def test_after_a_further_change_our_side_can_still_be_put_in(recollect, team):  # noqa: F811
    name = team.disagree({"content": {"rationale": ["ours"]}}, {"content": {"rationale": ["theirs"]}})
    team.both_sync()
    team.other.edit("use-uv", {"content": {"context": "later"}})
    team.both_sync()

    refused = recollect("review", "--remote=platform", f"--accept={name}")
    merged = recollect("review", "--remote=platform", f"--merge={name}", "--into=use-uv")

    assert refused.code == 1 and f"recollect review --merge {name} --into use-uv --remote platform" in refused.err
    assert merged.code == 0
    record = team.agreed()
    assert (record.content["context"], record.content["rationale"]) == ("later", ["ours"])


def test_flags_and_undo_work_on_the_shared_inbox(recollect, team):  # noqa: F811
    name = team.disagree(OURS, THEIRS)
    listed = recollect("inbox", "--remote=platform", "--json").out

    recollect("review", "--remote=platform", f"--reject={name}")
    undone = recollect("undo", "--remote=platform")

    assert name in listed and undone.code == 0
    assert Inbox(team.ours.store.root).names() == [name]
