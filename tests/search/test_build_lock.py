"""The lock file of a builder: what it says, who holds it, and which indexes are not complete."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord import files, paths
from onrecord.search import build_lock
from onrecord.search.build_lock import BuilderState

STATE = BuilderState("/store", 40, 2, 1_700_000_000)


@pytest.fixture
def folder():
    cache = Path(paths.cache_dir())
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def put(path, state=STATE):
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    build_lock.write(handle, state)
    os.close(handle)


def lowest_free_handle():
    handle = os.open(os.devnull, os.O_RDONLY)
    os.close(handle)
    return handle


def test_the_lock_is_beside_its_index():
    assert build_lock.file_of("/cache/a.b/x-7.db") == "/cache/a.b/x-7.building"


def test_a_state_is_read_as_it_was_written(folder):
    before = lowest_free_handle()
    path = str(folder / "a.building")
    put(path)

    assert build_lock.state(path) == STATE
    assert Path(path).read_text() == '["/store",40,2,1700000000]'
    assert lowest_free_handle() == before


def test_a_shorter_state_replaces_a_longer_one(folder):
    path = str(folder / "a.building")
    handle = os.open(path, os.O_RDWR | os.O_CREAT)

    build_lock.write(handle, STATE)
    build_lock.write(handle, BuilderState("/s", 1, 1, 1))
    assert build_lock.read(handle) == BuilderState("/s", 1, 1, 1)
    build_lock.write(handle, None)
    os.close(handle)

    assert os.path.getsize(path) == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'["/store", 1, 2]', b'["/store", "x", 2, 3]', b'["/store", null, 2, 3]', b"7", b"\xff"],
)
def test_a_damaged_file_says_nothing(folder, content):
    (folder / "a.building").write_bytes(content)

    assert build_lock.state(str(folder / "a.building")) == BuilderState("", 0, 0, 0, False)


def test_without_a_file_there_is_no_state(folder):
    assert build_lock.state(str(folder / "a.building")) == BuilderState()
    (folder / "b.building").mkdir()
    assert build_lock.state(str(folder / "b.building")) == BuilderState()


def test_a_builder_runs_while_its_file_is_locked(folder):
    path = str(folder / "a.building")
    put(path)
    handle = os.open(path, os.O_RDWR)

    assert files.lock(handle, 0)
    assert build_lock.state(path) == STATE._replace(is_running=True)
    os.close(handle)
    assert build_lock.state(path) == STATE


def test_the_unfinished_indexes_are_those_with_a_started_builder(folder):
    assert build_lock.unfinished_states() == []
    for name, starts in (("b", 1), ("a", 3), ("c", 0)):
        put(folder / f"{name}.building", BuilderState(f"/{name}", 1, starts, 5))
    put(folder / "d.other", BuilderState("/d", 1, 1, 5))

    assert build_lock.unfinished_states() == [BuilderState("/a", 1, 3, 5), BuilderState("/b", 1, 1, 5)]


def test_without_a_cache_nothing_is_unfinished():
    assert build_lock.unfinished_states() == []


def test_a_command_holds_the_lock_and_empties_it(folder):
    index_file, path = str(folder / "a.db"), str(folder / "a.building")
    before = lowest_free_handle()
    put(path)

    with build_lock.held(index_file):
        assert build_lock.state(path) == STATE._replace(is_running=True)

    assert build_lock.state(path) == BuilderState()
    assert os.path.exists(path)
    assert lowest_free_handle() == before


def test_a_command_that_fails_leaves_what_the_lock_says(folder):
    before = lowest_free_handle()
    put(folder / "a.building")

    with pytest.raises(ZeroDivisionError), build_lock.held(str(folder / "a.db")):
        raise ZeroDivisionError

    assert build_lock.state(str(folder / "a.building")) == STATE
    assert lowest_free_handle() == before


def test_a_command_replaces_the_lock_of_a_running_builder(folder):
    before = lowest_free_handle()
    path = str(folder / "a.building")
    put(path)
    builder = os.open(path, os.O_RDWR)
    assert files.lock(builder, 0)

    with build_lock.held(str(folder / "a.db")):
        assert not os.path.samestat(os.fstat(builder), os.stat(path))
        assert build_lock.state(path) == BuilderState(is_running=True)

    assert build_lock.read(builder) == STATE
    os.close(builder)
    assert lowest_free_handle() == before


def test_where_no_lock_can_be_created_a_command_goes_on(tmp_path):
    with build_lock.held(str(tmp_path / "missing" / "a.db")):
        done = True

    assert done and not os.path.exists(tmp_path / "missing")
