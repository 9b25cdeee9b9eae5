from __future__ import annotations

import os

import pytest

from onrecord import state_file
from onrecord.errors import AlreadyExists, BadInput, Changed, Invalid, NotFound, SecretFound, Unwritable, WrongState
from onrecord.record import compose
from onrecord.settings import Settings, load_settings
from onrecord.store import index_md
from onrecord.store.store import Store
from onrecord.store.writer import CollectedRecord, Writer
from tests.records import CONTENT, LATER, sample


@pytest.fixture
def writer(tmp_path):
    return Writer(Store(str(tmp_path / "store")), Settings(), now=LATER)


def _summary(writer, number):
    fields = {"title": f"Session {number}", "goal": "g", "content": CONTENT["session_summary"]}
    return writer.save(compose.compose("session_summary", fields, now=f"2026-03-{number:02}T00:00:00Z"))


def test_a_rename_moves_the_file_keeps_the_history_and_the_links(writer):
    writer.save(sample(id="old", title="Old"))
    writer.save(sample())
    writer.supersede("old", "sessions-in-redis")
    entry = writer.store.get("sessions-in-redis")

    renamed = writer.update("sessions-in-redis", {"title": "Sessions in Valkey"}, entry.hash)

    assert renamed.path == "decisions/sessions-in-valkey.json"
    assert renamed == writer.store.get("sessions-in-valkey")
    assert not writer.store.has("sessions-in-redis")
    assert writer.store.get("old").memory.superseded_by == "sessions-in-valkey"
    assert renamed.memory.changes[-1].summary == "Renamed from sessions-in-redis"
    assert index_md.differences(writer.store.root, (entry.memory for entry in writer.store.entries())) == []


def test_renaming_what_was_superseded_keeps_the_link_from_its_successor(writer):
    writer.save(sample(id="old", title="Old"))
    writer.save(sample())
    writer.supersede("old", "sessions-in-redis")

    writer.update("old", {"title": "Ancient"}, writer.store.get("old").hash)

    assert writer.store.get("sessions-in-redis").memory.supersedes == ("ancient",)


@pytest.mark.parametrize("title", ["Sessions  in Redis", "sessions in redis!", "Sessions in Redis\u200b"])
def test_a_title_that_reads_the_same_renames_nothing(writer, title):
    entry = writer.save(sample())

    assert writer.update("sessions-in-redis", {"title": title}, entry.hash).path == entry.path


def test_a_rename_to_an_id_that_is_taken_gets_a_number(writer):
    writer.save(sample(id="taken", title="Taken"))
    entry = writer.save(sample())

    assert writer.update(entry.path, {"title": "Taken"}, entry.hash).memory.id == "taken-2"
    assert writer.store.get("taken").memory.title == "Taken"


def test_an_update_over_a_newer_version_is_refused_and_loses_nothing(writer):
    entry = writer.save(sample())
    writer.update("sessions-in-redis", {"confidence": 0.1}, entry.hash)

    with pytest.raises(Changed):
        writer.update("sessions-in-redis", {"confidence": 0.9}, entry.hash)

    assert writer.store.get("sessions-in-redis").memory.confidence == 0.1


def test_each_answer_has_the_hash_for_the_next_update(writer):
    entry = writer.save(sample())
    for step in (
        lambda: writer.update("sessions-in-redis", {"confidence": 0.1}, entry.hash),
        lambda: writer.retire("sessions-in-redis", "x"),
        lambda: writer.restore("sessions-in-redis"),
        lambda: writer.archive("sessions-in-redis", "x"),
        lambda: writer.unarchive("sessions-in-redis"),
    ):
        assert step() == writer.store.get("sessions-in-redis")


def test_an_update_that_changes_nothing_writes_nothing(writer):
    entry = writer.save(sample())
    before = os.stat(os.path.join(writer.store.root, entry.path)).st_mtime_ns

    assert writer.update("sessions-in-redis", {"tags": ["redis"]}, entry.hash) == entry
    assert os.stat(os.path.join(writer.store.root, entry.path)).st_mtime_ns == before


def test_a_secret_is_refused_in_an_update(writer):
    entry = writer.save(sample())
    patch = {"content": {"context": "token ghp_" + "A1b2C3d4E5f6" * 3}}

    with pytest.raises(SecretFound):
        writer.update("sessions-in-redis", patch, entry.hash)
    assert writer.store.get("sessions-in-redis") == entry
    assert writer.update("sessions-in-redis", patch, entry.hash, allow_secret=True) != entry


def test_the_same_title_in_another_category_gets_a_number_in_its_own_it_is_refused(writer):
    writer.save(sample())

    assert writer.save(sample("runbook")).memory.id == "sessions-in-redis-2"
    with pytest.raises(AlreadyExists):
        writer.save(sample())


def test_only_the_newest_five_session_summaries_stay_active(writer):
    for number in range(1, 9):
        _summary(writer, number)

    statuses = {entry.memory.id: entry.memory.record_status for entry in writer.store.entries()}
    assert statuses == {f"session-{n}": "active" if n > 3 else "retired" for n in range(1, 9)}
    assert writer.store.get("session-1").memory.retired_reason == "more than 5 records of session_summary"


def test_a_flawed_old_summary_did_stop_every_new_one(writer):
    for number in range(1, 6):
        _summary(writer, number)
    path = os.path.join(writer.store.root, "sessions", "session-1.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace('"session"', '"Session"'))

    _summary(writer, 6)

    assert writer.store.get("session-1").memory.record_status == "retired"


def test_superseding_in_a_circle_is_refused(writer):
    for name in ("a", "b", "c"):
        writer.save(sample(id=name, title=name))
    writer.supersede("a", "b")
    writer.supersede("b", "c")

    with pytest.raises(WrongState) as caught:
        writer.supersede("c", "a")

    assert caught.value.fix == "swap the two: onrecord supersede a c"


def test_superseding_what_is_not_there_changes_nothing(writer):
    before = writer.save(sample())

    with pytest.raises(NotFound):
        writer.supersede("sessions-in-redis", "nothing")

    assert writer.store.get("sessions-in-redis") == before


def test_collecting_deletes_after_the_grace_period_and_retires_after_retention(writer):
    writer.settings.take("test", True, {"categories.runbook.retention_days": 10})
    writer.save(sample(id="kept"))
    writer.save(sample(id="fresh", record_status="retired", retired_at="2026-03-30T00:00:00Z"))
    writer.save(sample(id="stale", record_status="retired", retired_at="2026-02-01T00:00:00Z"))
    writer.save(sample(id="shelved", record_status="archived", archived_at="2020-01-01T00:00:00Z"))
    writer.save(sample("runbook", id="unused"))
    expected = [
        CollectedRecord("delete", "decisions/stale.json", "retired more than 30 days ago"),
        CollectedRecord("retire", "runbooks/unused.json", "unchanged for more than 10 days"),
    ]
    before = {entry.path: entry for entry in writer.store.entries()}

    assert writer.collect(dry_run=True) == expected
    assert {entry.path: entry for entry in writer.store.entries()} == before
    assert writer.collect() == expected
    assert writer.collect() == []
    assert {e.memory.id: e.memory.record_status for e in writer.store.entries()} == {
        "fresh": "retired", "kept": "active", "shelved": "archived", "unused": "retired",
    }  # fmt: skip
    assert index_md.differences(writer.store.root, (entry.memory for entry in writer.store.entries())) == []


def test_one_flawed_record_did_stop_the_collection_of_all(writer):
    writer.settings.take("test", True, {"categories.runbook.retention_days": 10})
    for name in ("flawed", "sound"):
        writer.save(sample("runbook", id=name))
    path = os.path.join(writer.store.root, "runbooks", "flawed.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace('"redis"', '"Redis"'))

    assert len(writer.collect()) == 2
    assert writer.store.get("flawed").memory.record_status == "retired"


def test_an_invalid_update_is_refused_whole(writer):
    entry = writer.save(sample())

    with pytest.raises(Invalid):
        writer.update("sessions-in-redis", {"title": "New", "confidence": 5}, entry.hash)

    assert [other.path for other in writer.store.entries()] == [entry.path]


@pytest.mark.parametrize(
    "config",
    [
        b'<<<<<<< ours\n{"delete": {"grace_period_days": 3650}}\n=======\n{}\n>>>>>>> theirs\n',
        b'{"delete": {"grace_period_days": "3650"}}',
        b'{"delete": {"grace_days": 3650}}',
        b'{"categories": {"decision": {"retention_days": -1}}}',
        b"[]",
        b"\xff",
    ],
)
@pytest.mark.parametrize("where", ["project", "user"])
def test_nothing_is_collected_with_a_config_that_cannot_be_read(tmp_path, config, where):
    """Conflict markers in the config once turned ten years of grace into thirty days, for good."""
    store = Store(str(tmp_path / "project"))
    retired = {"record_status": "retired", "retired_at": "2026-01-01T00:00:00Z", "retired_reason": "gone"}
    store.create(sample(id="old", **retired))
    (tmp_path / "user").mkdir()
    (tmp_path / where / "memory-config.json").write_bytes(config)
    writer = Writer(store, load_settings(store.root, str(tmp_path / "user")), now="2026-12-01T00:00:00Z")

    for dry_run in (True, False):
        with pytest.raises(BadInput, match=r"memory-config\.json") as caught:
            writer.collect(dry_run=dry_run)
    assert "nothing was deleted" in caught.value.fix
    assert store.has("old")


def test_a_record_is_saved_although_index_md_cannot_be_written(tmp_path, monkeypatch):
    store = Store(str(tmp_path / "store"))
    store.create(sample(id="first"))

    def fail(root, text):
        raise Unwritable("cannot write index.md: No space left on device", fix="x")

    monkeypatch.setattr(index_md, "write", fail)
    entry = store.create(sample(id="second"))

    assert store.read(entry.path) == entry
    assert store.warnings == [
        "the records are saved, but cannot write index.md: No space left on device; then: onrecord doctor --fix"
    ]
    assert [what for _, what, _ in state_file.recent_failures()] == ["index.md"]

    monkeypatch.undo()
    store.create(sample(id="third"))
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []
