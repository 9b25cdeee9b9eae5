from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.errors import BadInput, Invalid, WrongState
from onrecord.record import lifecycle, memory, validity
from onrecord.record.memory import HistoryEntry
from onrecord.settings import Settings
from tests.records import LATER, NOW, sample


def _settings(**values: object) -> Settings:
    settings = Settings()
    settings.take("test", True, values)
    assert settings.problems == []
    return settings


def test_a_patch_replaces_grows_and_is_logged():
    before = sample(related_files=["a.py"])

    after = lifecycle.revise(
        before,
        {
            "content": {"decision": "Valkey 8", "consequences": ["New driver"]},
            "tags": ["Valkey"],
            "related_files": ["b.py"],
        },
        now=LATER,
        summary="Redis changed its licence",
    )

    assert after == before._replace(
        content={**before.content, "decision": "Valkey 8", "consequences": ["New driver"]},
        tags=("redis", "sessions", "valkey"),
        related_files=("a.py", "b.py"),
        updated_at=LATER,
        times_updated=1,
        changes=(
            HistoryEntry(LATER, "Redis changed its licence"),
            HistoryEntry(LATER, "Changed tags", "tags", ["redis", "sessions"], ["redis", "sessions", "valkey"]),
            HistoryEntry(LATER, "Changed related_files", "related_files", ["a.py"], ["a.py", "b.py"]),
            HistoryEntry(LATER, "Changed content.decision", "content.decision", "Sessions live in Redis 7", "Valkey 8"),
            HistoryEntry(LATER, "Added content.consequences", "content.consequences", None, ["New driver"]),
        ),
    )


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"tags": ["redis"]},
        {"title": "Sessions in Redis"},
        {"id": "sessions-in-redis"},
        {"related_files": []},
        {"content": {}},
    ],
)
def test_a_patch_that_changes_nothing_leaves_the_very_record(patch):
    before = sample()

    assert lifecycle.revise(before, patch, now=LATER) is before


def test_null_removes_an_optional_field():
    before = sample(confidence=0.5, content={**sample().content, "consequences": ["x"]})

    after = lifecycle.revise(before, {"confidence": None, "content": {"consequences": None}}, now=LATER)

    assert after.confidence is None
    assert after.content == sample().content


@pytest.mark.parametrize(
    ("patch", "where"),
    [
        ({"title": None}, "title"),
        ({"title": 5}, "title"),
        ({"title": " "}, "title"),
        ({"content": None}, "content"),
        ({"content": {"decision": None}}, "content.decision"),
        ({"content": {"rationale": []}}, "content.rationale"),
        ({"tags": None}, "tags"),
        ({"tags": "a"}, "tags"),
        ({"related_files": [1]}, "related_files"),
        ({"confidence": 7}, "confidence"),
        ({"id": "other"}, "id"),
        ({"category": "runbook"}, "category"),
        ({"record_status": "retired"}, "record_status"),
        ({"created_at": LATER}, "created_at"),
        ({"changes": []}, "changes"),
        ({"times_updated": 9}, "times_updated"),
        ({"x-own": "\ud800"}, "record"),
    ],
)
def test_what_an_update_may_not_do(patch, where):
    with pytest.raises(Invalid) as caught:
        lifecycle.revise(sample(changes=[{"date": NOW, "summary": "Created"}]), patch, now=LATER)

    assert caught.value.message.startswith(f"{where}:")
    assert caught.value.fix


def test_at_twelve_tags_a_new_one_replaces_the_least_useful_and_that_is_logged():
    tags = sorted(["redis", *(f"tag{n:02}" for n in range(11))])
    before = sample(tags=tags)

    after = lifecycle.revise(before, {"tags": ["new"]}, now=LATER)

    assert after.tags == tuple(sorted([*(tag for tag in tags if tag != "redis"), "new"]))
    assert after.changes[-1] == HistoryEntry(LATER, "Tags are full: dropped redis", "tags")


def test_more_new_tags_than_there_is_room_for_were_dropped_in_silence():
    after = lifecycle.revise(sample(), {"tags": [f"tag{n:02}" for n in range(14)]}, now=LATER)

    assert after.tags == tuple(f"tag{n:02}" for n in range(12))
    assert after.changes[-1] == HistoryEntry(LATER, "Tags are full: dropped redis, sessions, tag12, tag13", "tags")


@given(st.lists(st.text(max_size=6), max_size=20), st.lists(st.text(max_size=6), max_size=20))
def test_growing_tags_never_fails_an_update(first, second):
    record = lifecycle.revise(sample(), {"tags": first}, now=NOW)
    record = lifecycle.revise(record, {"tags": second}, now=LATER)

    assert memory.flaws(record) == []


def test_tags_may_shrink_where_the_whole_list_was_seen():
    after = lifecycle.revise(sample(), {"tags": ["one"]}, now=LATER, may_shrink=True)

    assert after.tags == ("one",)


def test_an_old_flaw_does_not_stop_an_update_but_a_new_one_does():
    flawed = sample(title="x" * 130, tags=["Upper"], changes=[{"date": "?", "summary": ""}])

    after = lifecycle.revise(flawed, {"confidence": 0.5}, now=LATER)

    assert after.confidence == 0.5
    with pytest.raises(Invalid, match="confidence"):
        lifecycle.revise(flawed, {"confidence": 5}, now=LATER)


def test_an_unknown_null_survives_an_update():
    before = sample(content={**sample().content, "x-own": None})

    assert "x-own" in lifecycle.revise(before, {"confidence": 0.5}, now=LATER).content


def test_history_keeps_the_newest_fifty():
    record = sample()
    for number in range(60):
        record = lifecycle.revise(record, {"x-own": number}, now=LATER)

    assert len(record.changes) == 50
    assert (record.changes[-1].new, record.changes[0].new, record.times_updated) == (59, 10, 60)


def test_long_values_are_shortened_in_the_log():
    after = lifecycle.revise(sample(), {"content": {"decision": "x" * 500, "rationale": ["y" * 500]}}, now=LATER)

    assert [len(str(change.new)) for change in after.changes] == [200, 200]


def test_the_way_there_and_back():
    record = sample()

    retired = lifecycle.retire(record, " wrong ", LATER)
    restored = lifecycle.restore(retired, LATER)
    archived = lifecycle.archive(record, "old", LATER)
    unarchived = lifecycle.unarchive(archived, LATER)

    assert (retired.record_status, retired.retired_at, retired.retired_reason) == ("retired", LATER, "wrong")
    assert (archived.record_status, archived.archived_at, archived.archived_reason) == ("archived", LATER, "old")
    for back in (restored, unarchived):
        assert back._replace(changes=(), times_updated=0, updated_at=NOW) == record
        assert [change.new for change in back.changes][-1] == "active"


def test_an_archived_record_that_was_retired_and_restored_did_look_archived():
    archived = lifecycle.archive(sample(), "old", NOW)

    back = lifecycle.restore(lifecycle.retire(archived, "wrong", NOW), LATER)

    assert (back.record_status, back.archived_at, back.archived_reason) == ("active", "", "")


@pytest.mark.parametrize(
    ("status", "step", "fix"),
    [
        ("retired", lambda r: lifecycle.retire(r, "", NOW), "onrecord restore sessions-in-redis"),
        ("active", lambda r: lifecycle.restore(r, NOW), "onrecord show sessions-in-redis"),
        ("archived", lambda r: lifecycle.restore(r, NOW), "onrecord unarchive sessions-in-redis"),
        ("retired", lambda r: lifecycle.archive(r, "", NOW), "onrecord restore sessions-in-redis"),
        ("active", lambda r: lifecycle.unarchive(r, NOW), "onrecord show sessions-in-redis"),
    ],
)
def test_steps_that_lead_nowhere(status, step, fix):
    with pytest.raises(WrongState) as caught:
        step(sample(record_status=status))

    assert caught.value.fix == fix


@pytest.mark.parametrize(
    ("category", "content"),
    [("decision", {"status": "superseded"}), ("constraint", {"active": False}), ("runbook", {})],
)
def test_superseding_links_both_ways(category, content):
    old, new = sample(category, id="old"), sample(category, id="new", supersedes=["older"])

    before, after = lifecycle.supersede(old, new, LATER)

    assert before.superseded_by == "new"
    assert before.content == {**old.content, **content}
    assert validity.replaced([before, after]) == {before.path}
    assert after.supersedes == ("older", "old")
    assert [record.changes[-1].summary for record in (before, after)] == ["Superseded by new", "Supersedes old"]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (sample(id="a"), sample(id="a"), BadInput),
        (sample(id="a", superseded_by="c"), sample(id="b"), WrongState),
        (sample(id="a"), sample(id="b", record_status="retired"), WrongState),
        (sample(id="a"), sample(id="b", record_status="archived"), WrongState),
    ],
    ids=["itself", "superseded already", "by a retired one", "by an archived one"],
)
def test_what_cannot_supersede(old, new, error):
    with pytest.raises(error) as caught:
        lifecycle.supersede(old, new, NOW)

    assert caught.value.fix


@pytest.mark.parametrize(
    ("days", "updated", "expected"),
    [(0, "2000-01-01T00:00:00Z", False), (30, "2026-03-02T12:00:00Z", False), (30, "2026-03-02T11:59:59Z", True),
     (30, "yesterday", False), (30, "01/02/2020", False), (30, "", False)],
)  # fmt: skip
def test_retention(days, updated, expected):
    settings = _settings(**{"categories.decision.retention_days": days})

    assert lifecycle.is_past_retention(sample(updated_at=updated), settings, LATER) is expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"retired_at": "2026-03-02T11:59:59Z"}, True),
        ({"retired_at": "2026-03-02T12:00:00Z"}, False),
        ({"updated_at": "2026-01-01T00:00:00Z"}, True),
        ({"retired_at": "01/02/2020"}, False),
        ({"retired_at": None, "updated_at": None}, False),
        ({"retired_at": "2020-01-01T00:00:00Z", "record_status": "archived"}, False),
    ],
)
def test_a_retired_record_without_a_readable_date_was_deleted_at_once(fields, expected):
    record = sample(**{"record_status": "retired", **fields})

    assert lifecycle.is_past_grace(record, 30, LATER) is expected


def test_the_oldest_session_summaries_are_crowded_out():
    summaries = [
        sample("session_summary", id=f"s{day}", created_at=f"2026-03-0{day}T00:00:00Z") for day in (3, 1, 5, 2, 4)
    ]
    others = [sample(), sample("session_summary", id="s0", record_status="retired")]

    assert [record.id for record in lifecycle.over_limit([*others, *summaries], "session_summary", 3)] == ["s2", "s1"]
