"""What a sync tells of itself: its limits, its errors, and what the state of the replica has afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.errors import BadInput, Offline, Refused
from onrecord.record import memory
from onrecord.shared import engine, sync_base
from onrecord.shared.engine import RenamedPair, SyncResult
from onrecord.shared.replicas import SyncState
from onrecord.shared.transport import Pulled, Pushed, Version
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from tests.records import sample
from tests.shared.machines import Machine, MemoryRemote, MemoryTransport, both_have

LATER = "2026-06-01T08:00:00Z"


@pytest.fixture
def remote() -> MemoryRemote:
    return MemoryRemote()


@pytest.fixture
def ann(tmp_path: Path, remote: MemoryRemote) -> Machine:
    return Machine(tmp_path / "ann", MemoryTransport(remote))


@pytest.fixture
def bob(tmp_path: Path, remote: MemoryRemote) -> Machine:
    return Machine(tmp_path / "bob", MemoryTransport(remote))


def test_nothing_to_sync_is_a_result_without_anything():
    assert SyncResult()._asdict() == {
        "pulled": (), "pushed": (), "conflicts": (), "revived": (), "waiting": (), "outdated": (), "refused": {},
        "note": "", "is_reset": False, "renamed": (),
    }  # fmt: skip
    assert Pushed() == ((), (), (), {}, "")
    assert Pulled((), "7") == ((), "7", False, False, False)
    assert Version("a", b"") == ("a", b"", "")


def test_a_sync_saves_how_far_it_came_and_clears_an_earlier_error(ann, remote, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: LATER)
    ann.save("use-uv")
    ann.replica.write_state(SyncState(last_error="no luck", offline_since="2026-05-01T00:00:00Z", note="old"))

    ann.sync()

    assert ann.replica.state == SyncState(cursor="1", last_sync=LATER)


@pytest.mark.parametrize(
    ("error", "since", "expected"),
    [
        (Offline("no answer", fix=""), "", LATER),
        (Offline("no answer", fix=""), "2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z"),
        (Refused("no answer", fix=""), "", ""),
        (Refused("no answer", fix=""), "2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z"),
    ],
)
def test_a_failed_sync_saves_its_error_and_since_when_the_remote_is_offline(ann, monkeypatch, error, since, expected):
    monkeypatch.setattr(timestamps, "now", lambda: LATER)
    before = SyncState(last_sync="2026-04-01T00:00:00Z", offline_since=since, note="old")
    ann.replica.write_state(before)

    def failing(cursor: str) -> Pulled:
        raise error

    monkeypatch.setattr(ann.transport, "pull", failing)

    with pytest.raises(type(error)):
        ann.sync()
    assert ann.replica.state == before._replace(last_error="no answer", offline_since=expected)


@pytest.mark.parametrize(
    ("total", "missing", "is_asked"), [(11, 10, False), (11, 11, True), (30, 15, False), (30, 16, True)]
)
def test_ten_records_or_half_of_all_may_be_gone(ann, remote, total, missing, is_asked):
    ann.save_all(range(total), "x")
    ann.sync()
    ann.delete(*(f"decisions/record-{number}.json" for number in range(missing)))

    if not is_asked:
        assert len(ann.sync().pushed) == missing
        return
    with pytest.raises(BadInput) as caught:
        ann.sync()
    assert (caught.value.message, caught.value.fix) == (
        f"{missing} of {total} records are missing from the replica of platform; nothing was synced",
        "to restore them: onrecord sync platform --missing restore; to delete them for everyone: "
        "onrecord sync platform --missing delete",
    )
    assert len(remote.files) == total
    assert len(ann.sync(missing="delete").pushed) == missing


def test_drafts_that_are_gone_were_decided_on(ann):
    for number in range(12):
        Inbox(ann.replica.store).put(inbox.new_draft(sample(id=f"draft-{number}")))
    ann.sync()
    ann.delete(*(path for path in sync_base.file_paths(ann.replica.store)))

    assert len(ann.sync().pushed) == 12


def test_missing_records_are_restored_where_that_is_wanted(ann, remote):
    ann.save_all(range(12), "x")
    ann.sync()
    before = ann.files()
    ann.delete(*before)

    result = ann.sync(missing="restore")

    assert (ann.files(), result) == (before, SyncResult())


def test_a_sync_gives_up_after_six_rounds_in_which_others_were_first(ann, monkeypatch):
    ann.save("use-uv")
    pulls: list[str] = []
    pull = ann.transport.pull
    monkeypatch.setattr(ann.transport, "pull", lambda cursor: (pulls.append(cursor), pull(cursor))[1])
    monkeypatch.setattr(ann.transport, "push", lambda changes: Pushed(outdated=tuple(c.path for c in changes)))

    result = ann.sync()

    assert result.outdated == ("decisions/use-uv.json",)
    # From the second round on, all is pulled where the outdated file is not among the changes.
    assert len(pulls) == 1 + 2 * 5


def test_a_thousand_files_are_written_as_one_change(ann, remote, monkeypatch):
    monkeypatch.setattr(engine, "_FILES_PER_CHANGE", 2)
    for number in range(5):
        record = sample(id=f"record-{number}")
        remote.write(record.path, memory.render(record))
    changes: list[int] = []
    write = engine._Run._write

    def counting(run: engine._Run, versions: list[Version]) -> None:
        changes.append(len(versions))
        write(run, versions)

    monkeypatch.setattr(engine._Run, "_write", counting)

    assert len(ann.sync().pulled) == 5
    assert changes == [2, 2, 1]


def test_what_was_refused_and_held_back_is_kept_in_the_state_in_order(ann, monkeypatch):
    token = f"ghp_{'a1B2' * 9}"
    ann.save("use-uv")
    ann.save("use-ruff")
    file = Path(ann.replica.store, "decisions", "zz-token.json")
    file.write_bytes(memory.render(sample(id="zz-token", title=f"Use {token}")))
    monkeypatch.setattr(
        ann.transport, "push", lambda changes: Pushed(refused={c.path: "protected" for c in changes}, note="ask Vera")
    )

    result = ann.sync()

    state = ann.replica.state
    assert state.refused == tuple(sorted(result.refused.items()))
    assert [path for path, _ in state.refused] == [
        "decisions/use-ruff.json", "decisions/use-uv.json", "decisions/zz-token.json",
    ]  # fmt: skip
    assert state.refused[2][1].startswith("held back: it ")
    assert (state.note, result.note, state.unreadable) == ("ask Vera", "ask Vera", ())


def test_a_file_that_cannot_be_read_is_unreadable_and_not_refused(ann, remote):
    remote.write("decisions/use-uv.json", b"{}")
    ann.save("use-uv")

    result = ann.sync()

    state = ann.replica.state
    assert [path for path, _ in state.unreadable] == ["decisions/use-uv.json"]
    assert state.refused == ()
    reason = dict(state.unreadable)["decisions/use-uv.json"]
    assert result.refused == {"decisions/use-uv.json": f"the remote's version cannot be used: {reason}"}


def test_a_broken_file_is_moved_to_a_folder_that_nothing_reads(ann, bob):
    both_have(ann, bob)
    Path(ann.replica.store, "decisions", "use-uv.json").write_text("{")
    bob.edit("use-uv", {"title": "Newer"})
    bob.sync()

    result = ann.sync()

    (name,) = os.listdir(os.path.join(ann.replica.root, "set-aside"))
    assert name.startswith("use-uv-") and len(name) == len("use-uv-12345678.json")
    full = os.path.join(ann.replica.root, "set-aside", name)
    assert Path(full).read_text() == "{"
    (reason,) = result.refused.values()
    assert reason.endswith(f"; the remote's version replaced it, and this one is in {full}")


def test_a_preview_names_what_would_be_pushed_and_pulled(ann, bob):
    both_have(ann, bob)
    bob.save("use-ruff")
    bob.sync()
    ann.save("use-nox")
    before = ann.files()

    result = engine.preview(ann.replica, ann.transport)

    assert result == SyncResult(pulled=("decisions/use-ruff.json",), pushed=("decisions/use-nox.json",))
    assert ann.files() == before


def renamed(old: str, name: str) -> bytes:
    change = {"at": LATER, "field": "id", "old": old, "new": name}
    return memory.render(sample(id=name, changes=[change]))


@pytest.mark.parametrize(
    ("pulled", "pushed", "revived", "pairs"),
    [
        (["a"], ["b"], [], [("old", "a", "b")]),
        (["a"], [], ["old"], [("old", "a", "old")]),
        ([], ["b"], ["old"], [("old", "old", "b")]),
        (["a"], ["a"], [], []),
        (["a"], [], [], []),
        ([], ["b"], [], []),
        (["c"], ["b"], [], []),
        (["d"], ["b"], [], []),
    ],
)
def test_copies_of_one_record_after_a_rename_are_found_by_its_old_id(pulled, pushed, revived, pairs):
    contents = {"a": renamed("old", "a"), "b": renamed("old", "b"), "c": b"{}", "d": renamed("../x", "d")}
    data = {f"decisions/{name}.json": text for name, text in contents.items()}
    path: Callable[[str], str] = "decisions/{}.json".format

    found = engine.find_renamed_pairs(
        [path(name) for name in pulled], [path(name) for name in pushed], [path(name) for name in revived],
        lambda name: data.get(name, b""),
    )  # fmt: skip

    assert found == tuple(RenamedPair(old, path(theirs), path(ours)) for old, theirs, ours in pairs)
    assert engine.find_renamed_pairs(["inbox/a.json"], ["inbox/b.json"], [], lambda name: renamed("old", "a")) == ()


PLAN = ["decisions/a.json", "1", "2", "{}"]


@pytest.mark.parametrize(
    "row", [PLAN[:3], [*PLAN, "x"], ["../a.json", *PLAN[1:]], [*PLAN[:3], 7], {"path": "decisions/a.json"}, "four"]
)
def test_a_step_of_another_form_in_the_plan_of_a_killed_sync_is_passed_over(ann, row):
    ann.save("use-uv")
    ann.sync()
    Path(ann.replica.root, "plan.json").write_text(json.dumps([row]))

    assert ann.sync() == SyncResult()
    assert not Path(ann.replica.root, "plan.json").exists()
