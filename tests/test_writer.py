from __future__ import annotations

import os

import pytest

from recollect.errors import AlreadyExists, Changed, Invalid, NotFound, SecretFound, WrongState
from recollect.record import compose
from recollect.settings import Settings
from recollect.store.store import Store, problems_in_catalog
from recollect.store.writer import Deed, Keeper
from tests.records import CONTENT, LATER, sample


@pytest.fixture
def keeper(tmp_path):
    return Keeper(Store(str(tmp_path / "store")), Settings(), now=LATER)


def _summary(keeper, number):
    given = {"title": f"Session {number}", "goal": "g", "content": CONTENT["session_summary"]}
    return keeper.save(compose.compose("session_summary", given, now=f"2026-03-{number:02}T00:00:00Z"))


def test_a_rename_moves_the_file_keeps_the_history_and_the_links(keeper):
    keeper.save(sample(id="old", title="Old"))
    keeper.save(sample())
    keeper.supersede("old", "sessions-in-redis")
    entry = keeper.store.get("sessions-in-redis")

    renamed = keeper.update("sessions-in-redis", {"title": "Sessions in Valkey"}, entry.hash)

    assert renamed.path == "decisions/sessions-in-valkey.json"
    assert renamed == keeper.store.get("sessions-in-valkey")
    assert not keeper.store.has("sessions-in-redis")
    assert keeper.store.get("old").memory.superseded_by == "sessions-in-valkey"
    assert renamed.memory.changes[-1].summary == "Renamed from sessions-in-redis"
    assert problems_in_catalog(keeper.store, keeper.store.entries()) == []


def test_renaming_what_was_superseded_keeps_the_link_from_its_successor(keeper):
    keeper.save(sample(id="old", title="Old"))
    keeper.save(sample())
    keeper.supersede("old", "sessions-in-redis")

    keeper.update("old", {"title": "Ancient"}, keeper.store.get("old").hash)

    assert keeper.store.get("sessions-in-redis").memory.supersedes == ("ancient",)


@pytest.mark.parametrize("title", ["Sessions  in Redis", "sessions in redis!", "Sessions in Redis\u200b"])
def test_a_title_that_reads_the_same_renames_nothing(keeper, title):
    entry = keeper.save(sample())

    assert keeper.update("sessions-in-redis", {"title": title}, entry.hash).path == entry.path


def test_a_rename_to_an_id_that_is_taken_gets_a_number(keeper):
    keeper.save(sample(id="taken", title="Taken"))
    entry = keeper.save(sample())

    assert keeper.update(entry.path, {"title": "Taken"}, entry.hash).memory.id == "taken-2"
    assert keeper.store.get("taken").memory.title == "Taken"


def test_an_update_over_a_newer_version_is_refused_and_loses_nothing(keeper):
    entry = keeper.save(sample())
    keeper.update("sessions-in-redis", {"confidence": 0.1}, entry.hash)

    with pytest.raises(Changed):
        keeper.update("sessions-in-redis", {"confidence": 0.9}, entry.hash)

    assert keeper.store.get("sessions-in-redis").memory.confidence == 0.1


def test_each_answer_has_the_hash_for_the_next_update(keeper):
    entry = keeper.save(sample())
    for step in (
        lambda: keeper.update("sessions-in-redis", {"confidence": 0.1}, entry.hash),
        lambda: keeper.retire("sessions-in-redis", "x"),
        lambda: keeper.restore("sessions-in-redis"),
        lambda: keeper.archive("sessions-in-redis", "x"),
        lambda: keeper.unarchive("sessions-in-redis"),
    ):
        assert step() == keeper.store.get("sessions-in-redis")


def test_an_update_that_changes_nothing_writes_nothing(keeper):
    entry = keeper.save(sample())
    before = os.stat(os.path.join(keeper.store.root, entry.path)).st_mtime_ns

    assert keeper.update("sessions-in-redis", {"tags": ["redis"]}, entry.hash) == entry
    assert os.stat(os.path.join(keeper.store.root, entry.path)).st_mtime_ns == before


def test_a_secret_is_refused_in_an_update(keeper):
    entry = keeper.save(sample())
    patch = {"content": {"context": "token ghp_" + "a" * 36}}

    with pytest.raises(SecretFound):
        keeper.update("sessions-in-redis", patch, entry.hash)
    assert keeper.store.get("sessions-in-redis") == entry
    assert keeper.update("sessions-in-redis", patch, entry.hash, allow_secret=True) != entry


def test_the_same_title_in_another_category_gets_a_number_in_its_own_it_is_refused(keeper):
    keeper.save(sample())

    assert keeper.save(sample("runbook")).memory.id == "sessions-in-redis-2"
    with pytest.raises(AlreadyExists):
        keeper.save(sample())


def test_only_the_newest_five_session_summaries_stay_active(keeper):
    for number in range(1, 9):
        _summary(keeper, number)

    statuses = {entry.memory.id: entry.memory.record_status for entry in keeper.store.entries()}
    assert statuses == {f"session-{n}": "active" if n > 3 else "retired" for n in range(1, 9)}
    assert keeper.store.get("session-1").memory.retired_reason == "more than 5 records of session_summary"


def test_a_flawed_old_summary_did_stop_every_new_one(keeper):
    for number in range(1, 6):
        _summary(keeper, number)
    path = os.path.join(keeper.store.root, "sessions", "session-1.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace('"session"', '"Session"'))

    _summary(keeper, 6)

    assert keeper.store.get("session-1").memory.record_status == "retired"


def test_superseding_in_a_circle_is_refused(keeper):
    for name in ("a", "b", "c"):
        keeper.save(sample(id=name, title=name))
    keeper.supersede("a", "b")
    keeper.supersede("b", "c")

    with pytest.raises(WrongState) as caught:
        keeper.supersede("c", "a")

    assert caught.value.fix == "swap the two: recollect supersede a c"


def test_superseding_what_is_not_there_changes_nothing(keeper):
    before = keeper.save(sample())

    with pytest.raises(NotFound):
        keeper.supersede("sessions-in-redis", "nothing")

    assert keeper.store.get("sessions-in-redis") == before


def test_collecting_deletes_after_the_grace_period_and_retires_after_retention(keeper):
    keeper.settings.take("test", True, {"categories.runbook.retention_days": 10})
    keeper.save(sample(id="kept"))
    keeper.save(sample(id="fresh", record_status="retired", retired_at="2026-03-30T00:00:00Z"))
    keeper.save(sample(id="stale", record_status="retired", retired_at="2026-02-01T00:00:00Z"))
    keeper.save(sample(id="shelved", record_status="archived", archived_at="2020-01-01T00:00:00Z"))
    keeper.save(sample("runbook", id="unused"))
    expected = [
        Deed("delete", "decisions/stale.json", "retired more than 30 days ago"),
        Deed("retire", "runbooks/unused.json", "unchanged for more than 10 days"),
    ]
    before = {entry.path: entry for entry in keeper.store.entries()}

    assert keeper.collect(dry_run=True) == expected
    assert {entry.path: entry for entry in keeper.store.entries()} == before
    assert keeper.collect() == expected
    assert keeper.collect() == []
    assert {e.memory.id: e.memory.record_status for e in keeper.store.entries()} == {
        "fresh": "retired", "kept": "active", "shelved": "archived", "unused": "retired",
    }  # fmt: skip
    assert problems_in_catalog(keeper.store, keeper.store.entries()) == []


def test_one_flawed_record_did_stop_the_collection_of_all(keeper):
    keeper.settings.take("test", True, {"categories.runbook.retention_days": 10})
    for name in ("flawed", "sound"):
        keeper.save(sample("runbook", id=name))
    path = os.path.join(keeper.store.root, "runbooks", "flawed.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace('"redis"', '"Redis"'))

    assert len(keeper.collect()) == 2
    assert keeper.store.get("flawed").memory.record_status == "retired"


def test_an_invalid_update_is_refused_whole(keeper):
    entry = keeper.save(sample())

    with pytest.raises(Invalid):
        keeper.update("sessions-in-redis", {"title": "New", "confidence": 5}, entry.hash)

    assert [found.path for found in keeper.store.entries()] == [entry.path]
