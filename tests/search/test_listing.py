"""Lists read from the index: as the files are, also where not every file is checked."""

from __future__ import annotations

import os

import pytest

from onrecord.search import index, listing, refresh
from onrecord.search.listing import ListingFilter
from tests.records import put, sample
from tests.search.test_index import settle


@pytest.fixture
def root(tmp_path):
    store = str(tmp_path / "memory")
    for number in range(6):
        put(store, sample(id=f"r{number}", title=f"R {number}", updated_at=f"2026-01-0{number + 1}T00:00:00Z"))
    settle(store)
    return store


def ids(root, limit=None, **choice):
    records, total = listing.read(index.open(root), ListingFilter(**choice), limit)
    return [record.id for record in records], total


def test_the_newest_come_first_and_all_are_counted(root):
    assert ids(root, 2) == (["r5", "r4"], 6)
    assert ids(root, -1) == ([], 6)
    assert len(ids(root)[0]) == 6


def test_a_long_list_is_read_in_parts(root, monkeypatch):
    monkeypatch.setattr(listing, "_MAX_AT_ONCE", 4)

    assert ids(root) == (["r5", "r4", "r3", "r2", "r1", "r0"], 6)


def test_what_is_listed_is_as_it_is_now_although_few_files_are_checked(root, monkeypatch):
    index.open(root).close()
    monkeypatch.setattr(refresh, "_MAX_CHECKED_FILES", 0)
    put(root, sample(id="r5", title="Changed", updated_at="2025-01-01T00:00:00Z"))
    os.utime(os.path.join(root, "decisions"), (1_700_000_000, 1_700_000_000))

    assert ids(root, 2) == (["r4", "r3"], 6)


def test_superseded_is_what_both_records_say(root):
    put(root, sample(id="r0", title="R 0", superseded_by="r1"))
    put(root, sample(id="r1", title="R 1", supersedes=["r0"]))
    put(root, sample(id="r2", title="R 2", supersedes=["r3"], superseded_by="r4"))

    assert ids(root, status="superseded") == (["r0"], 1)
    assert ids(root, status="active")[1] == 5


def test_files_that_cannot_be_read_are_named(root):
    with open(os.path.join(root, "decisions", "bad.json"), "w") as file:
        file.write("{")

    assert listing.broken(index.open(root)) == ["decisions/bad.json"]
    assert ids(root)[1] == 6
