from __future__ import annotations

import errno
import json
import os
import sys

import pytest

from onrecord import files
from onrecord.errors import AlreadyExists, Ambiguous, BadRecord, Changed, Invalid, NotFound, UnsafePath, Unwritable
from onrecord.record import memory
from onrecord.store import index_md, record_names
from onrecord.store.store import Batch, Broken, Entry, Store
from tests.records import sample


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


def test_a_created_record_is_a_file_a_line_in_the_catalog_and_an_entry(store):
    entry = store.create(sample())

    data = memory.render(sample())
    with open(os.path.join(store.root, "decisions", "sessions-in-redis.json"), "rb") as file:
        assert file.read() == data
    assert entry == store.get("sessions-in-redis") == Entry(sample(), "decisions/sessions-in-redis.json", entry.hash)
    assert "-> decisions/sessions-in-redis.json #tags:redis,sessions" in index_md.read(store.root)
    assert sorted(os.listdir(store.root)) == [".lock", "decisions", "index.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each file is waited for")
def test_a_change_of_many_files_waits_for_the_disk_once_before_its_journal_goes(store, monkeypatch):
    waits = []
    monkeypatch.setattr(os, "sync", lambda: waits.append((store.is_interrupted, len(list(store.entries())))))

    with store.writing("save") as batch:
        for number in range(60):
            batch.put(sample(id=f"record-{number}", title=f"record {number}"))

    assert waits == [(True, 60)]
    assert not store.is_interrupted


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        ("active", "onrecord edit sessions-in-redis; or give the new record another title"),
        ("retired", "onrecord restore sessions-in-redis"),
        ("archived", "onrecord unarchive sessions-in-redis"),
    ],
)
def test_creating_over_a_record_of_any_status_is_refused_with_what_to_do_instead(store, status, fix):
    before = store.create(sample(record_status=status))

    with pytest.raises(AlreadyExists) as caught:
        store.create(sample(title="Another"))

    assert caught.value.fix == fix
    assert store.get("sessions-in-redis") == before


def test_creating_over_an_id_of_another_category_is_refused(store):
    store.create(sample())

    with pytest.raises(AlreadyExists):
        store.create(sample("runbook"))


def test_creating_over_a_broken_file_is_refused(store):
    store.create(sample())
    _overwrite(store, "decisions/sessions-in-redis.json", b"{")

    with pytest.raises(AlreadyExists) as caught:
        store.create(sample())

    assert "doctor" in caught.value.fix


def test_a_record_with_a_flaw_is_not_written(store):
    with pytest.raises(Invalid) as caught:
        store.create(sample(tags=[]))

    assert caught.value.message == "tags: must have at least 1 item"
    assert list(store.scan()) == []


@pytest.mark.parametrize(
    "reference",
    [
        "sessions-in-redis",
        "sessions-in-redis.json",
        "decision/sessions-in-redis",
        "decisions/sessions-in-redis",
        "decisions/sessions-in-redis.json",
        "./decisions/sessions-in-redis.json",
        ".claude/memory/decisions/sessions-in-redis.json",
    ],
)
def test_ways_to_name_a_record(store, reference):
    entry = store.create(sample())

    assert store.get(reference) == entry
    assert store.get(os.path.join(store.root, entry.path)) == entry


@pytest.mark.parametrize(
    "reference", ["", "x", "..", "../x", "/etc/passwd", "a\0b", "x" * 5_000, "nowhere/x", "decision/"]
)
def test_what_is_not_there_is_not_found(store, reference):
    store.create(sample())

    with pytest.raises(NotFound) as caught:
        store.get(reference)

    assert "onrecord" in caught.value.fix
    assert len(caught.value.message) < 400


def test_an_id_in_two_categories_is_ambiguous(store):
    store.create(sample())
    _overwrite(store, "runbooks/sessions-in-redis.json", memory.render(sample("runbook")))

    with pytest.raises(Ambiguous) as caught:
        store.get("sessions-in-redis")

    assert caught.value.fix == "name one by its path: decisions/sessions-in-redis.json"
    assert store.get("runbook/sessions-in-redis").memory == sample("runbook")


@pytest.mark.parametrize(
    ("path", "error"), [("decisions/none.json", NotFound), ("../x", UnsafePath), ("a\0", UnsafePath)]
)
def test_reading_what_cannot_be_read(store, path, error):
    with pytest.raises(error):
        store.read(path)


def test_an_empty_or_missing_store_holds_nothing(store):
    assert (list(store.scan()), store.exists, store.has("x"), index_md.read(store.root)) == ([], False, False, "")
    assert list(record_names.paths(store.root)) == record_names.in_folder(store.root, "decisions") == []
    store.recover()
    assert not store.exists


def test_scanning_tells_records_from_broken_files_and_skips_the_rest(store):
    store.create(sample())
    _overwrite(store, "runbooks/bad.json", b"[]")
    for name in ("runbooks/.hidden.json", "runbooks/notes.md", ".tmp-1-2-x.json", "inbox/draft.json"):
        _overwrite(store, name, b"{")

    entry, broken = store.scan()

    assert entry == store.get("sessions-in-redis")
    assert (broken.path, type(broken), type(broken.error)) == ("runbooks/bad.json", Broken, BadRecord)
    assert list(store.entries()) == [entry]


def test_a_batch_that_raises_writes_nothing(store):
    store.create(sample())
    before = _tree(store)

    with pytest.raises(RuntimeError), store.writing() as batch:
        batch.put(sample(id="new"))
        batch.drop("decisions/sessions-in-redis.json")
        raise RuntimeError

    assert _tree(store) == before


def test_a_batch_writes_and_drops_together(store):
    store.create(sample())

    with store.writing() as batch:
        batch.put(sample(id="one"))
        batch.put(sample("runbook", id="two"))
        batch.drop("decisions/sessions-in-redis.json")

    assert [entry.memory.id for entry in store.entries()] == ["one", "two"]
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []


def test_an_older_version_is_not_the_one_expected(store):
    first = store.create(sample())
    with store.writing() as batch:
        store.expect(first.path, first.hash)
        batch.put(sample(title="Second"))

    with pytest.raises(Changed) as caught, store.writing() as batch:
        store.expect(first.path, first.hash)
        batch.put(sample(title="Third"))

    assert caught.value.code == "CHANGED_SINCE_READ"
    assert store.get("sessions-in-redis").memory.title == "Second"


def test_a_hand_edit_changes_the_hash(store):
    entry = store.create(sample())
    _overwrite(store, entry.path, memory.render(sample()) + b"\n")

    assert store.get("sessions-in-redis").hash != entry.hash


def test_a_lost_catalog_is_rebuilt_by_the_next_write(store):
    store.create(sample())
    os.remove(os.path.join(store.root, "index.md"))

    store.create(sample(id="other", title="Other"))

    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []


def test_how_a_catalog_differs_from_the_files(store):
    store.create(sample())
    line = "- [DECISION] Sessions in Redis -> decisions/sessions-in-redis.json #tags:redis,sessions"
    _overwrite(store, "index.md", b"- [DECISION] Gone -> decisions/gone.json #tags:x\r\n" * 2)

    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == [
        f"not listed: {line}",
        "outdated: - [DECISION] Gone -> decisions/gone.json #tags:x",
        "listed twice: - [DECISION] Gone -> decisions/gone.json #tags:x",
    ]


def test_a_catalog_with_windows_line_ends_is_no_drift(store):
    store.create(sample())
    _overwrite(store, "index.md", index_md.read(store.root).replace("\n", "\r\n").encode())

    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []


def test_what_a_writer_that_died_had_written_down_is_finished_by_the_next(store):
    store.create(sample())
    steps = {
        "decisions/new.json": ["", memory.render(sample(id="new", title="New")).decode()],
        "decisions/sessions-in-redis.json": [store.get("sessions-in-redis").hash, None],
    }
    _overwrite(store, ".journal", json.dumps(steps).encode())
    assert store.is_interrupted

    store.create(sample(id="third", title="Third"))

    assert [entry.memory.id for entry in store.entries()] == ["new", "third"]
    assert not store.is_interrupted
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []


def test_a_step_on_a_file_that_was_edited_since_is_not_done(store):
    entry = store.create(sample())
    steps = {entry.path: [entry.hash, memory.render(sample(title="From the journal")).decode()]}
    _overwrite(store, ".journal", json.dumps(steps).encode())
    _overwrite(store, entry.path, memory.render(sample(title="By hand, later")))

    store.recover()

    assert store.get("sessions-in-redis").memory.title == "By hand, later"


def test_a_first_step_that_fails_leaves_no_journal_to_fail_again(store, monkeypatch):
    store.create(sample())
    before = _tree(store)

    with monkeypatch.context() as patch:
        _fill_disk_at(patch, call=2)
        with pytest.raises(Unwritable, match="No space left"):
            store.create(sample(id="new"))

    assert _tree(store) == before


def test_a_later_step_that_fails_takes_back_the_earlier_ones(store, monkeypatch):
    store.create(sample())

    with monkeypatch.context() as patch:
        _fill_disk_at(patch, call=3)
        with pytest.raises(Unwritable) as caught, store.writing() as batch:
            batch.put(sample(id="one"))
            batch.put(sample(id="two"))

    assert caught.value.fix.endswith("; nothing was changed")
    assert not store.is_interrupted
    assert [entry.memory.id for entry in store.entries()] == ["sessions-in-redis"]


def test_a_disk_that_stays_full_leaves_the_rest_of_a_change_to_the_next_writer(store, monkeypatch):
    store.create(sample())

    with monkeypatch.context() as patch:
        _fill_disk_at(patch, call=3)
        patch.setattr(os, "unlink", _full)
        with pytest.raises(Unwritable) as caught, store.writing() as batch:
            batch.put(sample(id="one"))
            batch.put(sample(id="two"))

    assert caught.value.fix.endswith("; the next change will finish this one")
    store.recover()
    assert [entry.memory.id for entry in store.entries()] == ["one", "sessions-in-redis", "two"]


def _full(path):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def _fill_disk_at(patch, call):
    """Let the n-th file that is put in its place find the disk full: the journal is the first."""
    real, count = os.replace, iter(range(1, 100))

    def replace(source, target):
        if next(count) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    patch.setattr(os, "replace", replace)


def _overwrite(store, path, data):
    full = os.path.join(store.root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data)


def _tree(store):
    contents = {}
    for folder, _, names in os.walk(store.root):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                contents[os.path.relpath(os.path.join(folder, name), store.root)] = file.read()
    return contents


@pytest.mark.parametrize("has_page", [True, False])
def test_no_other_record_is_read_while_the_store_is_locked(store, monkeypatch, has_page):
    """Others wait ten seconds for the lock; to read 200,000 records takes longer."""
    for number in range(5):
        store.create(sample(id=f"old-{number}", title=f"Old {number}"))
    if not has_page:
        os.unlink(os.path.join(store.root, "index.md"))
    read_under_lock: list[str] = []
    read, lock = files.read_inside, files.locked

    class Watched(lock):
        def __enter__(self):
            super().__enter__()
            monkeypatch.setattr(files, "read_inside", watch)

        def __exit__(self, *error):
            monkeypatch.setattr(files, "read_inside", read)
            super().__exit__(*error)

    def watch(root, path, max_bytes):
        read_under_lock.append(path)
        return read(root, path, max_bytes)

    monkeypatch.setattr(files, "locked", Watched)
    store.create(sample(id="new", title="New"))

    assert not any("old-" in path for path in read_under_lock)
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []


def test_a_page_that_another_writer_has_made_meanwhile_is_kept(store):
    store.create(sample(id="old", title="Old"))
    os.unlink(os.path.join(store.root, "index.md"))
    late = Store(store.root)
    page_text = late._missing_page()
    store.create(sample(id="meanwhile", title="Meanwhile"))

    batch = Batch(late, "save", page_text)
    batch.put(sample(id="late", title="Late"))
    batch.commit()

    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []
