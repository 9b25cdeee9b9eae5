"""Copies of records for a shared store: new, as a draft, or as an update of what is there."""

from __future__ import annotations

import pytest

from onrecord.capture import sharing
from onrecord.capture.sharing import SharedCopy
from onrecord.errors import NearDuplicate
from onrecord.record.memory import HistoryEntry
from onrecord.settings import Settings
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests.records import CONTENT, NOW, sample

OTHER = {**CONTENT["decision"], "decision": "Sessions live in Postgres"}


@pytest.fixture
def store(tmp_path):
    store = Store(str(tmp_path / "replica"))
    store.create(sample("decision"))
    return store


@pytest.fixture
def writer(store):
    return Writer(store, Settings(), NOW)


def _copy(**fields):
    return sample("decision", **fields)._replace(changes=(HistoryEntry(NOW, "Copied"),))


@pytest.mark.parametrize(
    ("fields", "is_shared"),
    [
        ({}, True),
        ({"source": "elsewhere", "related_files": ["a.py"]}, True),
        ({"title": "Another"}, False),
        ({"content": OTHER}, False),
        ({"tags": ["other"]}, False),
        ({"triggers": ["redis cluster"]}, False),
        ({"checks": [{"on": "command", "has": ["redis"]}]}, False),
        ({"scope": {"branches": ["main"]}}, False),
        ({"confidence": 0.5}, False),
        ({"id": "unknown"}, False),
    ],
)
def test_a_record_is_shared_already_if_all_that_is_copied_is_the_same(store, fields, is_shared):
    expected = SharedCopy("decisions/sessions-in-redis.json", "unchanged") if is_shared else None

    assert sharing.already_shared(store, _copy(**fields)) == expected


def test_a_record_that_is_no_longer_in_force_is_not_shared_already(store, writer):
    writer.retire("sessions-in-redis", "over")

    assert sharing.already_shared(store, _copy()) is None


def test_a_copy_gets_an_unused_id(store, writer):
    copied = sharing.put(writer, sharing.draft_of(store, _copy(title="Another", content=OTHER)), as_draft=False)

    assert copied == SharedCopy("decisions/sessions-in-redis-2.json", "shared")
    assert store.get("sessions-in-redis-2").memory.text("decision") == "Sessions live in Postgres"


def test_a_copy_replaces_the_record_that_it_supersedes(store, writer):
    draft = sharing.draft_of(store, _copy(id="new", content=OTHER), supersedes="sessions-in-redis")

    sharing.put(writer, draft, as_draft=False)

    assert store.get("sessions-in-redis").memory.superseded_by == "new"


def test_a_copy_updates_a_record_only_where_it_differs(store, writer):
    draft = sharing.draft_of(store, _copy(id="mine", title="Mine", content=OTHER), updates="sessions-in-redis")
    assert (draft.updates, draft.summary, set(draft.fields)) == (
        "sessions-in-redis",
        "Copied",
        {"title", "content.decision"},
    )

    assert sharing.put(writer, draft, as_draft=False) == SharedCopy("decisions/mine.json", "updated")

    record = store.get("mine").memory
    assert (record.title, record.text("decision")) == ("Mine", "Sessions live in Postgres")
    assert "Copied" in {change.summary for change in record.changes}
    same = sharing.draft_of(store, _copy(title="Mine", content=OTHER), updates="mine")
    assert sharing.put(writer, same, as_draft=False).action == "unchanged"


def test_a_copy_can_wait_in_the_inbox_under_an_unused_name(store, writer):
    draft = sharing.draft_of(store, _copy(id="new", title="New"))

    copies = [sharing.put(writer, draft, as_draft=True) for _ in range(2)]

    assert [copied.action for copied in copies] == ["drafted", "drafted"]
    assert copies[0].path == f"inbox/{draft.name}.json"
    assert copies[1].path == f"inbox/{draft.name}-2.json"
    assert len(Inbox(store.root).newest(9)) == 2


def test_what_says_nearly_the_same_is_refused(store):
    with pytest.raises(NearDuplicate) as caught:
        sharing.refuse_same(store, _copy(id="other"), "platform", lambda record_id: f"update {record_id}")

    assert caught.value.fix == "update sessions-in-redis"


@pytest.mark.parametrize(
    ("is_retired", "status", "fix"),
    [
        (False, "active", "update sessions-in-redis"),
        (True, "retired", "to bring it back: onrecord restore sessions-in-redis --remote platform"),
    ],
)
def test_what_has_the_same_title_is_refused(store, writer, is_retired, status, fix):
    if is_retired:
        writer.retire("sessions-in-redis", "over")
    content = {**CONTENT["decision"], "decision": "All queues are rows of jobs.", "context": "c", "rationale": ["x"]}

    with pytest.raises(NearDuplicate) as caught:
        copy = _copy(title="Sessions in  Redis!", content=content)
        sharing.refuse_same(store, copy, "platform", lambda record_id: f"update {record_id}")

    message = f"decisions/sessions-in-redis.json of platform has the same title, and is {status}"
    assert (caught.value.message, caught.value.fix) == (message, fix)


def test_what_is_new_is_not_refused(store):
    content = {**CONTENT["decision"], "decision": "All queues are rows of jobs.", "context": "c", "rationale": ["x"]}

    sharing.refuse_same(store, _copy(id="queues", title="Queues", content=content), "platform", str)


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({}, ["nothing"]),
        ({"related_files": ["a.py"]}, ["its files"]),
        ({"supersedes": ["old"]}, ["links to other records"]),
        ({"source": "a session"}, ["where it came from"]),
        ({"changes": [{"date": NOW, "summary": "x"}]}, ["its history"]),
        ({"related_files": ["a.py"], "source": "x"}, ["its files", "where it came from"]),
    ],
)
def test_what_stays_on_this_machine(fields, parts):
    assert sharing.left_out(sample("decision", **fields)) == parts
