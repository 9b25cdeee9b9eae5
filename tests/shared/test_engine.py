"""Syncing a replica with a remote in memory: every way in which two sides can differ."""

from __future__ import annotations

import json
import os

import pytest

from onrecord import files
from onrecord.capture import review
from onrecord.errors import BadInput, BadRemote, CannotUndo, Changed, Offline
from onrecord.record import memory
from onrecord.shared import engine, incoming, sync_base
from onrecord.shared.engine import RenamedPair
from onrecord.shared.transport import Pulled, Pushed, Version, version_hash
from onrecord.store import history
from onrecord.store.inbox import Inbox
from tests.records import raw, sample
from tests.shared.machines import Machine, MemoryRemote, MemoryTransport, both_have, conflict_in_a_hundred


@pytest.fixture
def remote():
    return MemoryRemote()


@pytest.fixture
def ann(tmp_path, remote):
    return Machine(tmp_path / "ann", MemoryTransport(remote))


@pytest.fixture
def bob(tmp_path, remote):
    return Machine(tmp_path / "bob", MemoryTransport(remote), now="2026-05-02T13:00:00Z")


def test_what_one_machine_saves_the_other_has(ann, bob):
    ann.save("use-uv")

    assert ann.sync().pushed == ("decisions/use-uv.json",)
    assert bob.sync().pulled == ("decisions/use-uv.json",)
    assert ann.files() == bob.files() != {}
    assert (ann.sync(), bob.sync()) == (engine.SyncResult(), engine.SyncResult())


def test_a_version_that_a_killed_sync_had_sent_does_not_undo_a_later_revert(ann, bob):
    """The flaw of 0.3.0-dev: what was sent stayed noted, and the remote's return to it was taken for no change."""
    ann.save("use-uv")
    first = ann.files()
    ann.sync()
    sync_base.SyncBase(ann.replica).note_sent(first)
    ann.sync()
    bob.sync()
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    bob.sync()
    ann.sync()
    with bob.store.writing("undo") as batch:
        batch.restore(*((path, data.decode()) for path, data in first.items()).__next__())

    bob.sync()
    ann.sync()

    assert ann.files() == bob.files() == first


def test_edits_of_different_fields_are_both_in_the_record(ann, bob):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    bob.edit("use-uv", {"content": {"context": "By Bob"}})

    ann.sync()
    result = bob.sync()
    ann.sync()

    assert ann.files() == bob.files()
    record = ann.read("use-uv")
    assert (record.content["decision"], record.content["context"]) == ("By Ann", "By Bob")
    assert result.conflicts == ()


UV, INSTALLS, WITH_UV = (f"decisions/{name}.json" for name in ("use-uv", "uv-installs", "packages-with-uv"))


@pytest.mark.parametrize(
    ("by_ann", "by_bob", "expected"),
    [
        ({"title": "uv installs"}, {"title": "packages with uv"}, RenamedPair("use-uv", INSTALLS, WITH_UV)),
        ({"title": "uv installs"}, {"tags": ["more"]}, RenamedPair("use-uv", INSTALLS, UV)),
        ({"tags": ["more"]}, {"title": "packages with uv"}, RenamedPair("use-uv", UV, WITH_UV)),
    ],
)
def test_a_record_that_one_renames_while_the_other_changes_it_becomes_two_which_is_told(
    ann, bob, by_ann, by_bob, expected
):
    both_have(ann, bob)
    ann.save("use-black")
    bob.save("use-ruff")
    ann.edit("use-uv", by_ann)
    bob.edit("use-uv", by_bob)

    first, second, third = ann.sync(), bob.sync(), ann.sync()

    others = {"decisions/use-black.json", "decisions/use-ruff.json"}
    assert (first.renamed, second.renamed, third.renamed) == ((), (expected,), ())
    assert set(ann.files()) == set(bob.files()) == {*others, expected.theirs, expected.ours}


def test_edits_of_one_field_leave_the_remotes_value_and_ours_in_a_draft_that_can_be_accepted(ann, bob):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})

    ann.sync()
    (conflict,) = bob.sync().conflicts
    ann.sync()

    assert ann.files() == bob.files()
    assert (conflict.path, conflict.fields) == ("decisions/use-uv.json", ("content.decision",))
    draft = Inbox(ann.replica.store).get(conflict.draft)
    assert (ann.read("use-uv").content["decision"], draft.record.content["decision"]) == ("By Ann", "By Bob")
    review.accept(ann.writer, draft, project=ann.replica.store)
    assert ann.read("use-uv").content["decision"] == "By Bob"
    ann.sync()
    bob.sync()
    assert ann.files() == bob.files()
    assert "inbox" not in "".join(bob.files())


def test_a_draft_of_a_conflict_does_not_take_back_what_was_changed_later(ann, bob):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    ann.sync()
    (conflict,) = bob.sync().conflicts
    bob.edit("use-uv", {"content": {"context": "Something later"}})

    with pytest.raises(Changed):
        review.accept(bob.writer, Inbox(bob.replica.store).get(conflict.draft), project=bob.replica.store)

    assert bob.read("use-uv").content["context"] == "Something later"


def test_a_conflict_in_a_list_with_an_order_is_accepted_as_it_was_written(ann, bob):
    ann.writer.save(sample("runbook", id="free-the-disk", title="Free the disk"))
    ann.sync()
    bob.sync()
    ann.edit("free-the-disk", {"content": {"steps": ["By Ann"]}})
    bob.edit("free-the-disk", {"content": {"steps": ["By Bob", "and more"]}})
    ann.sync()
    (conflict,) = bob.sync().conflicts

    review.accept(bob.writer, Inbox(bob.replica.store).get(conflict.draft), project=bob.replica.store)

    assert bob.read("free-the-disk").content["steps"] == ["By Bob", "and more"]


def test_an_edit_wins_over_a_deletion_on_either_side(ann, bob):
    for record_id in ("one", "two"):
        both_have(ann, bob, record_id)
    ann.delete("decisions/one.json")
    bob.edit("one", {"content": {"decision": "Edited"}})
    ann.edit("two", {"content": {"decision": "Edited"}})
    bob.delete("decisions/two.json")

    ann.sync()
    result = bob.sync()
    ann.sync()

    assert ann.files() == bob.files()
    assert sorted(result.revived) == ["decisions/one.json", "decisions/two.json"]
    assert [ann.read(name).content["decision"] for name in ("one", "two")] == ["Edited", "Edited"]


def test_a_deletion_reaches_the_other_machine(ann, bob):
    both_have(ann, bob)
    ann.delete("decisions/use-uv.json")

    ann.sync()
    bob.sync()

    assert ann.files() == bob.files() == {}


def test_the_same_id_saved_on_both_is_a_conflict_of_what_differs(ann, bob):
    ann.save("use-uv", content=raw()["content"] | {"decision": "By Ann"})
    bob.save("use-uv", content=raw()["content"] | {"decision": "By Bob"})

    ann.sync()
    (conflict,) = bob.sync().conflicts
    ann.sync()

    assert ann.files() == bob.files()
    assert conflict.fields == ("content.decision",)


def test_drafts_changed_on_both_sides_are_both_kept(ann, bob):
    both_have(ann, bob)
    for machine, title in ((ann, "By Ann"), (bob, "By Bob")):
        draft = review.Draft("use-ruff", sample(id="use-ruff", title=title))
        review.put(machine.writer, [draft])

    ann.sync()
    bob.sync()
    ann.sync()

    assert ann.files() == bob.files()
    assert sorted(draft.record.title for draft in Inbox(ann.replica.store).drafts()) == ["By Ann", "By Bob"]


def test_a_secret_stays_on_this_machine_and_is_reported(ann, bob):
    ann.save("use-uv")
    ann.save("use-aws", content=raw()["content"] | {"decision": "The key is AKIAQ7ZX4M2PLWVN8RTB"})

    result = ann.sync()

    assert result.pushed == ("decisions/use-uv.json",)
    assert "held back" in result.refused["decisions/use-aws.json"] and "AKIAQ7" not in str(result.refused)
    assert dict(ann.replica.state.refused) == result.refused
    bob.sync()
    assert list(bob.files()) == ["decisions/use-uv.json"]


@pytest.mark.parametrize("decision", ["AKIAZ9YW3K5QMXUB7SVC", "AKIAQ7ZX4M2PLWVN8RTB, or AKIAZ9YW3K5QMXUB7SVC"])
def test_another_secret_in_place_of_one_that_others_wrote_is_held_back(ann, remote, decision):
    content = raw()["content"] | {"decision": "The key is AKIAQ7ZX4M2PLWVN8RTB"}
    remote.write("decisions/use-aws.json", memory.render(sample(id="use-aws", content=content)))
    ann.sync()
    ann.edit("use-aws", {"content": {"context": "We had two accounts"}})
    assert ann.sync().pushed == ("decisions/use-aws.json",), "that one is there already"
    with ann.store.writing("save") as batch:
        batch.put(sample(id="use-aws", content=content | {"decision": f"The key is {decision}"}))

    result = ann.sync()

    assert (result.pushed, list(result.refused)) == ((), ["decisions/use-aws.json"])


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("../escape.json", b"{}", "not the path"),
        ("decisions/../../escape.json", b"{}", "not the path"),
        ("/etc/passwd", b"{}", "not the path"),
        ("decisions/Use-UV.json", b"{}", "not the path"),
        ("decisions/con.json", b"{}", "Windows"),
        ("memory-config.json", b"{}", "not the path"),
        ("decisions/use-uv.json", b"{", "not JSON"),
        ("decisions/use-uv.json", b"[" * 200, "not JSON"),
        ("decisions/use-uv.json", b"x" * 1_000_001, "larger than"),
        ("decisions/use-uv.json", memory.render(sample(id="other")), "says it is decisions/other.json"),
        ("inbox/use-uv.json", memory.render(sample(id="use-uv")), "is not a draft"),
    ],
)
def test_what_cannot_be_a_record_is_reported_and_left_alone(ann, remote, path, data, reason):
    remote.write("decisions/good.json", memory.render(sample(id="good")))
    remote.write(path, data)

    result = ann.sync()

    assert list(ann.files()) == ["decisions/good.json"]
    assert reason in result.refused[path]
    assert ann.sync().refused == result.refused, "it is still there, and still reported"


def test_what_we_changed_is_not_pushed_over_a_version_that_we_could_not_read(ann, bob, remote):
    both_have(ann, bob)
    remote.write("decisions/use-uv.json", b"broken")
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})

    result = ann.sync()

    assert remote.files["decisions/use-uv.json"] == b"broken"
    assert "cannot be used" in result.refused["decisions/use-uv.json"]
    remote.write("decisions/use-uv.json", memory.render(bob.read("use-uv")._replace(tags=("repaired",))))
    assert ann.sync().refused == {}
    assert (ann.read("use-uv").tags, ann.read("use-uv").content["decision"]) == (("repaired",), "By Ann")


def test_a_version_that_we_cannot_read_and_that_came_between_pull_and_push_is_named(ann, bob, remote, monkeypatch):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    push = ann.transport.push

    def late(changes):
        if remote.files["decisions/use-uv.json"] != b"broken":
            remote.write("decisions/use-uv.json", b"broken")
            # As git does: what the remote has now, without what it had.
            remote.log = [Version(*item) for item in remote.files.items()]
        return push(changes)

    monkeypatch.setattr(ann.transport, "push", late)
    monkeypatch.setattr(ann.transport, "pull", lambda cursor: Pulled(remote.log, "1"))

    result = ann.sync()

    assert (result.outdated, result.revived) == ((), ())
    assert "cannot be used" in result.refused["decisions/use-uv.json"]
    assert ann.read("use-uv").content["decision"] == "By Ann"


def test_a_million_records_are_refused_and_the_replica_stays_as_it_was(ann, monkeypatch):
    monkeypatch.setattr(incoming, "MAX_FILES", 50)
    ann.save("use-uv")
    ann.sync()
    before = ann.files()
    endless = (Version(f"decisions/r{number}.json", b"{}") for number in iter(int, 1))
    monkeypatch.setattr(ann.transport, "pull", lambda cursor: Pulled(endless, "1"))

    with pytest.raises(BadRemote, match="more than 50 files"):
        ann.sync()

    assert ann.files() == before
    assert "more than 50 files" in ann.replica.state.last_error


def test_a_broken_file_in_the_replica_is_set_aside_when_the_remote_has_another(ann, bob, tmp_path):
    both_have(ann, bob)
    (tmp_path / "bob/store/decisions/use-uv.json").write_text("half of a rec")
    reason = bob.sync().refused["decisions/use-uv.json"]
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    ann.sync()

    result = bob.sync()

    assert "not JSON" in reason
    assert "set-aside" in result.refused["decisions/use-uv.json"]
    assert bob.files() == ann.files()
    assert [file.read_text() for file in (tmp_path / "bob/set-aside").iterdir()] == ["half of a rec"]


def test_a_remote_from_a_backup_gets_what_it_lost_and_keeps_what_it_has(ann, bob, remote):
    both_have(ann, bob)
    backup = dict(remote.files)
    ann.edit("use-uv", {"content": {"decision": "Newer than the backup"}})
    ann.save("use-ruff")
    ann.sync()
    bob.sync()
    remote.files, remote.log = dict(backup), [Version(*item) for item in backup.items()]
    pull = ann.transport.pull
    ann.transport.pull = lambda cursor: pull("")._replace(is_reset=True)

    result = ann.sync()

    assert result.is_reset
    assert "decisions/use-ruff.json" in remote.files
    (conflict,) = result.conflicts
    assert b"Newer than the backup" in remote.files[f"inbox/{conflict.draft}.json"]


def test_a_lost_state_file_loses_nothing(ann, bob, tmp_path):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    (tmp_path / "ann/state.json").unlink()

    result = ann.sync()
    bob.sync()

    assert result.conflicts == ()
    assert ann.files() == bob.files()
    assert bob.read("use-uv").content["decision"] == "By Ann"


def test_a_lost_store_folder_is_brought_back_and_deletes_nothing_for_others(ann, bob, tmp_path, remote):
    ann.save_all(range(30), "first")
    ann.sync()
    before = ann.files()
    (tmp_path / "ann/store").rename(tmp_path / "gone")

    result = ann.sync()

    assert (ann.files(), result.pushed) == (before, ())
    assert all(remote.files.values())


def test_a_lost_folder_of_few_records_is_brought_back_too(ann, tmp_path, remote):
    ann.save("use-uv")
    ann.sync()
    (tmp_path / "ann/store").rename(tmp_path / "gone")

    ann.sync()

    assert list(ann.files()) == ["decisions/use-uv.json"]
    assert all(remote.files.values())


def test_most_records_gone_is_asked_about_first(ann, remote):
    ann.save_all(range(30), "first")
    ann.sync()
    before = ann.files()
    ann.delete(*list(before)[:25])

    with pytest.raises(BadInput, match="25 of 30 records are missing"):
        ann.sync()
    ann.sync(missing="restore")
    assert ann.files() == before
    ann.delete(*list(before)[:25])
    ann.sync(missing="delete")

    assert sum(map(bool, remote.files.values())) == 5


def test_a_sync_is_one_change_in_the_log_that_undo_leaves_alone(ann, bob):
    both_have(ann, bob)
    bob.save("use-ruff")
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    ann.sync()

    bob.sync()
    changes = history.read(bob.store.root)
    with pytest.raises(CannotUndo, match="sync"):
        history.undo(bob.store, changes[-1].id)
    undone = history.undo(bob.store)

    assert [change.action for change in changes] == ["sync", "save", "sync"]
    assert undone.change.action == "save"
    bob.sync()
    ann.sync()
    assert ann.files() == bob.files()


def test_a_remote_that_cannot_be_reached_leaves_the_moment_when_that_began(ann, monkeypatch):
    ann.save("use-uv")

    def unreachable(cursor):
        raise Offline("no route to host", fix="try again")

    with monkeypatch.context() as patch:
        patch.setattr(ann.transport, "pull", unreachable)
        with pytest.raises(Offline):
            ann.sync()
        since = ann.replica.state.offline_since
        with pytest.raises(Offline):
            ann.sync()

    assert since and ann.replica.state.offline_since == since
    assert sync_base.unpushed_paths(ann.replica) == ["decisions/use-uv.json"]
    ann.sync()
    state = ann.replica.state
    assert (state.offline_since, state.last_error, bool(state.last_sync)) == ("", "", True)


def test_what_the_remote_refuses_is_reported_and_tried_again(ann, monkeypatch):
    ann.save("use-uv")
    with monkeypatch.context() as patch:
        patch.setattr(ann.transport, "push", lambda changes: Pushed(refused={changes[0].path: "readers may not write"}))
        assert ann.sync().refused == {"decisions/use-uv.json": "readers may not write"}

    assert ann.sync().pushed == ("decisions/use-uv.json",)


def test_a_remote_that_takes_only_drafts_is_remembered(ann, monkeypatch):
    monkeypatch.setattr(ann.transport, "pull", lambda cursor: Pulled((), "1", asks_for_review=True))

    ann.sync()

    assert ann.replica.state.asks_for_review


def test_a_push_that_is_always_late_ends_and_says_so(ann, monkeypatch):
    ann.save("use-uv")
    monkeypatch.setattr(ann.transport, "push", lambda changes: Pushed(outdated=(changes[0].path,)))

    assert ann.sync().outdated == ("decisions/use-uv.json",)


def test_a_preview_tells_what_a_sync_would_do_and_writes_nothing(ann, bob, remote):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "By Ann"}})
    ann.save("use-ruff")
    ann.sync()
    bob.edit("use-uv", {"content": {"decision": "By Bob"}})
    bob.save("use-nox")
    before, log = bob.files(), len(remote.log)

    preview = engine.preview(bob.replica, bob.transport)

    assert (bob.files(), len(remote.log)) == (before, log)
    assert preview == bob.sync()


def test_what_was_pushed_by_a_killed_sync_is_no_conflict_with_ourselves(ann, bob, monkeypatch):
    both_have(ann, bob)
    ann.edit("use-uv", {"content": {"decision": "First"}})
    push = ann.transport.push

    def killed(changes):
        push(changes)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ann.transport, "push", killed)
        with pytest.raises(KeyboardInterrupt):
            ann.sync()
    ann.edit("use-uv", {"content": {"decision": "Second"}})

    result = ann.sync()

    assert result.conflicts == ()
    bob.sync()
    assert bob.read("use-uv").content["decision"] == "Second"


def test_a_hundred_records_in_conflict_end_the_same_on_both_with_nothing_lost(ann, bob):
    result = conflict_in_a_hundred(ann, bob)

    assert ann.files() == bob.files()
    assert len(result.conflicts) == 100
    records = {ann.read(f"record-{number}").content["decision"] for number in range(100)}
    drafts = {draft.record.content["decision"] for draft in Inbox(ann.replica.store).drafts()}
    assert records == {f"Ann {number}" for number in range(100)}
    assert drafts == {f"Bob {number}" for number in range(100)}


def test_the_fingerprint_of_an_update_is_that_of_the_agreed_bytes(ann, bob, monkeypatch):
    both_have(ann, bob)
    before = ann.files()["decisions/use-uv.json"]
    ann.edit("use-uv", {"tags": ["more"]})
    pushes = []
    monkeypatch.setattr(ann.transport, "push", lambda changes: pushes.extend(changes) or Pushed())

    ann.sync()

    assert [(push.path, push.expected) for push in pushes] == [("decisions/use-uv.json", version_hash(before))]
    assert json.loads(pushes[0].data)["tags"]


@pytest.mark.parametrize("number", [3, 60])
def test_what_was_agreed_on_is_on_the_disk_before_a_sync_notes_how_far_it_came(ann, bob, monkeypatch, number):
    result = []
    write, wait = files.write, os.sync
    monkeypatch.setattr(os, "sync", lambda: (result.append("disk"), wait()))

    def noting(path, data, *, lasting=True, **options):
        result.append(("base" if f"{os.sep}base{os.sep}" in path else os.path.basename(path), lasting))
        write(path, data, lasting=lasting, **options)

    for place in range(number):
        ann.save(f"rule-{place}")
    ann.sync()
    monkeypatch.setattr(files, "write", noting)
    bob.sync()

    first, last = result.index(("base", number < 50)), result.index(("state.json", True))
    between = result[first:last]
    assert all(event in (("base", True), ("base", False), "disk") for event in between)
    assert "disk" in between or ("base", False) not in between
