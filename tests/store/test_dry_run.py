from __future__ import annotations

import pytest

from onrecord import project
from onrecord.errors import AlreadyExists, Changed, WrongState
from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.store.store import DryRunStore, Store
from onrecord.store.writer import Writer

NOW = "2026-03-02T09:30:00Z"


def decision(title):
    fields = {"title": title, "context": "c", "decision": "d", "rationale": ["r"]}
    return compose.compose("decision", fields, now=NOW)


@pytest.fixture
def root(tmp_path):
    store = Store(str(tmp_path / "memory"))
    for title in ("Old", "New"):
        store.create(decision(title))
    return store.root


def _files(root):
    return {path: Store(root).read(path).hash for path in ("decisions/old.json", "decisions/new.json")}


def test_every_deed_is_planned_and_none_is_done(root):
    before = _files(root)
    store = DryRunStore(root)
    writer = Writer(store, Settings(), NOW)

    writer.save(decision("Third"))
    writer.retire("old", "gone")
    writer.update("new", {"title": "Newer"}, before["decisions/new.json"])

    assert sorted(store.planned) == ["decisions/newer.json", "decisions/old.json", "decisions/third.json"]
    assert store.dropped == ["decisions/new.json"]
    assert store.planned["decisions/old.json"].record_status == "retired"
    assert _files(root) == before


def test_later_steps_see_earlier_ones(root):
    writer = Writer(DryRunStore(root), Settings(), NOW)
    writer.retire("old", "gone")

    with pytest.raises(WrongState):
        writer.retire("old", "again")
    assert sorted(entry.memory.record_status for entry in writer.store.entries()) == ["active", "retired"]


def test_it_refuses_what_the_store_would(root):
    writer = Writer(DryRunStore(root), Settings(), NOW)

    with pytest.raises(AlreadyExists):
        writer.save(decision("Old"))
    with pytest.raises(Changed):
        writer.update("old", {"title": "x"}, "0" * 32)
    writer.store.planned.clear()
    writer.supersede("old", "new")
    with pytest.raises(WrongState):
        writer.supersede("new", "old")


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    writer = Writer(DryRunStore(str(tmp_path / "memory")), Settings(), NOW)

    entry = project.save(writer, "decision", {"title": "T", "context": "c", "decision": "d", "rationale": "r"})

    assert entry.path == "decisions/t.json"
    assert list(tmp_path.iterdir()) == []
