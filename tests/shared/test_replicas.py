"""The state of a replica as its file has it, and which replicas are read."""

from __future__ import annotations

import json
import os

import pytest

from onrecord import paths, state_file
from onrecord.errors import BadInput, NotFound, Unwritable
from onrecord.settings import Settings
from onrecord.shared import remotes, replicas
from onrecord.shared.replicas import Replica, SyncState

STATE = {
    "cursor": "7", "last_sync": "2026-03-01T09:00:00Z", "last_error": "no luck",
    "offline_since": "2026-03-02T09:00:00Z", "note": "merge it", "refused": [["decisions/a.json", "protected"]],
    "unreadable": [["decisions/b.json", "odd"]],
    "asks_for_review": True, "is_read_only": True,
}  # fmt: skip


def write_state(name: str, fields: object) -> Replica:
    replica = Replica(name)
    os.makedirs(replica.root, exist_ok=True)
    with open(os.path.join(replica.root, "state.json"), "w") as file:
        json.dump(fields, file)
    return replica


def test_the_state_is_saved_and_read_field_by_field():
    replica = write_state("platform", STATE)
    state = SyncState(
        cursor="7", last_sync="2026-03-01T09:00:00Z", last_error="no luck", offline_since="2026-03-02T09:00:00Z",
        note="merge it", refused=(("decisions/a.json", "protected"),), unreadable=(("decisions/b.json", "odd"),),
        asks_for_review=True, is_read_only=True,
    )  # fmt: skip

    assert replica.state == state
    replica.write_state(state)
    with open(os.path.join(replica.root, "state.json")) as file:
        assert json.load(file) == STATE


def test_of_a_state_that_is_not_there_nothing_is_known():
    assert Replica("platform").state._asdict() == {
        "cursor": "", "last_sync": "", "last_error": "", "offline_since": "", "note": "", "refused": (),
        "unreadable": (), "asks_for_review": False, "is_read_only": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "read"),
    [
        ("cursor", 7, ""),
        ("note", ["x"], ""),
        ("asks_for_review", 1, False),
        ("is_read_only", "true", False),
        ("refused", [["a", "b"], ["a"], ["a", "b", "c"], ["a", 1], "ab"], (("a", "b"),)),
        ("unreadable", {"a": "b"}, ()),
    ],
)
def test_a_field_of_another_type_is_as_if_it_were_missing(field, value, read):
    replica = write_state("platform", {**STATE, field: value})

    whole = write_state("other", STATE).state
    assert replica.state == whole._replace(**{field: read})


def test_a_replica_has_its_folders_below_one_of_its_name():
    replica = Replica("platform")

    assert repr(replica) == "Replica('platform')"
    root = os.path.join(paths.replicas(), "platform")
    assert (replica.root, replica.store, replica.base, replica.repository) == (
        root, *(os.path.join(root, name) for name in ("store", "base", "repository")),
    )  # fmt: skip


def test_replicas_that_are_there_are_read_by_name_and_none_without_a_list(tmp_path):
    assert replicas.replicas(str(tmp_path)) == []
    for name in ("platform", "acme", "gone"):
        remotes.add(name, f"/srv/{name}.git")
    for name in ("platform", "acme"):
        replicas.prepare(name)

    listed = replicas.replicas(str(tmp_path))

    assert [paths.store_name(ref.prefix) for ref in listed] == ["acme", "platform"]
    chosen = Settings()
    chosen.take("mine", True, {"remotes": ["platform", "missing", "../x"]})
    assert [paths.store_name(ref.prefix) for ref in replicas.select(listed, chosen)] == ["platform"]
    assert replicas.select(listed, Settings()) == listed
    assert replicas.missing_names(chosen) == ["missing"]
    assert replicas.missing_note("missing") == (
        "this project asks for missing, which you have not connected: `onrecord remote add missing URL`"
    )


@pytest.mark.parametrize("takes", [True, False])
def test_a_replica_takes_drafts_as_its_remote_said_last(takes):
    replica = write_state("platform", {**STATE, "asks_for_review": takes})

    assert replicas.takes_drafts(replica.store) is takes
    assert replicas.takes_drafts(paths.user_store()) is False


def test_a_replica_is_prepared_for_a_connected_remote_alone_and_deleted_whole():
    with pytest.raises(NotFound, match="no remote 'platform' is connected"):
        replicas.prepare("platform")
    remotes.add("platform", "/srv/platform.git")
    replica = replicas.prepare("platform")
    assert sorted(os.listdir(replica.root)) == ["base", "store"]

    replicas.delete(replica)

    assert not os.path.exists(replica.root)
    with pytest.raises(Unwritable, match="cannot delete") as caught:
        replicas.delete(replica)
    assert caught.value.fix == f"delete {replica.root} by hand"


def test_a_disk_that_does_not_give_a_folder_is_noted_for_the_user(monkeypatch, tmp_path):
    remotes.add("platform", "/srv/platform.git")

    def failing(path):
        raise Unwritable(f"cannot read {path}", fix="")

    monkeypatch.setattr(replicas.files, "status", failing)

    assert replicas.replicas(str(tmp_path)) == []
    assert state_file.recent_failures()[-1][1] == "remotes"


def test_no_remote_has_a_name_that_means_something_else():
    for name in ("project", "user", "none"):
        with pytest.raises(BadInput) as caught:
            Replica(name)
        assert (caught.value.message, caught.value.fix) == (
            f"'{name}' is a reserved name", "choose another name, such as platform",
        )  # fmt: skip
