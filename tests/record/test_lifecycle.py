from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.errors import BadInput, Invalid, WrongState
from onrecord.record import lifecycle, memory, validity
from onrecord.record.memory import HistoryEntry
from onrecord.scopes import Scope
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


@pytest.mark.parametrize(
    ("patch", "message", "fix"),
    [
        ({"content": 3}, "content: must be an object", "give only the fields that change"),
        ({"tags": "a"}, "tags: must be a list of texts", 'for example "tags": ["…"]'),
        ({"related_files": [1]}, "related_files: must be a list of texts", 'for example "related_files": ["…"]'),
        ({"origin": "x"}, "origin: cannot be changed by an update", "leave it out: Onrecord keeps it itself"),
        *(
            ({field: "x"}, f"{field}: cannot be changed by an update",
             "the commands retire, restore, archive and unarchive change it")
            for field in ("record_status", "retired_at", "retired_reason", "archived_at", "archived_reason")
        ),
    ],
)  # fmt: skip
def test_a_refused_update_says_what_to_do_instead(patch, message, fix):
    with pytest.raises(Invalid) as caught:
        lifecycle.revise(sample(), patch, now=LATER)

    assert (caught.value.message, caught.value.fix) == (message, fix)


def test_all_flaws_of_an_update_are_listed_and_the_first_is_to_be_corrected():
    with pytest.raises(Invalid) as caught:
        lifecycle.revise(sample(), {"confidence": 7, "content": {"rationale": []}}, now=LATER)

    where, what = caught.value.field_errors[0]
    assert len(caught.value.field_errors) == 2
    assert caught.value.message == f"{where}: {what}"
    assert caught.value.fix == f"correct {where} and try again; nothing was written"


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


def test_a_step_that_leads_nowhere_names_the_records_it_is_for():
    def refusal(step, status):
        with pytest.raises(WrongState) as caught:
            step(sample(id="a", record_status=status))
        return caught.value.message

    assert [
        refusal(lambda r: lifecycle.retire(r, "", NOW), "retired"),
        refusal(lambda r: lifecycle.restore(r, NOW), "active"),
        refusal(lambda r: lifecycle.archive(r, "", NOW), "archived"),
        refusal(lambda r: lifecycle.unarchive(r, NOW), "retired"),
    ] == [
        "a is retired; only active or archived records can be retired",
        "a is active; only retired records can be restored",
        "a is archived; only active records can be archived",
        "a is retired; only archived records can be unarchived",
    ]


def test_the_history_says_what_became_of_a_record():
    retired = lifecycle.retire(sample(), "wrong", LATER)
    restored = lifecycle.restore(retired, LATER)
    archived = lifecycle.archive(restored, "old", LATER)
    unarchived = lifecycle.unarchive(archived, LATER)

    assert unarchived.times_updated == 4
    assert unarchived.changes == (
        HistoryEntry(LATER, "Retired: wrong", "record_status", "active", "retired"),
        HistoryEntry(LATER, "Restored", "record_status", "retired", "active"),
        HistoryEntry(LATER, "Archived: old", "record_status", "active", "archived"),
        HistoryEntry(LATER, "Unarchived", "record_status", "archived", "active"),
    )


def test_only_a_current_record_that_is_about_no_session_is_shared():
    def refusal(record):
        with pytest.raises(WrongState) as caught:
            lifecycle.require_shareable(record)
        return caught.value.message, caught.value.fix

    lifecycle.require_shareable(sample())
    assert refusal(sample("session_summary", id="s")) == (
        "s sums up a session: it has prompts and file names of one machine",
        "save what others should know as a decision, a constraint or a runbook, and share that",
    )
    assert refusal(sample(id="a", superseded_by="b")) == ("a is superseded by b", "onrecord show b")
    assert refusal(sample(id="a", record_status="archived")) == ("a is archived", "onrecord unarchive a")


@pytest.mark.parametrize(("source", "summary"), [("team", "Shared from team"), ("", "Shared")])
def test_a_shared_copy_leaves_out_what_is_of_one_machine(source, summary):
    record = sample(
        related_files=["a.py"], supersedes=["x"], triggers=["t"], confidence=0.5, origin="agent", agent="Cursor",
        host="codex", changes=[{"date": NOW, "summary": "Created"}], **{"x-own": 1},
    )  # fmt: skip
    scope = Scope(branches=("main",))

    copy = lifecycle.shared_copy(record, scope=scope, source=source, now=LATER)

    assert copy == record._replace(
        related_files=(), supersedes=(), unknown={}, scope=scope, source=source, updated_at=LATER,
        changes=(HistoryEntry(LATER, summary),), times_updated=copy.times_updated,
    )  # fmt: skip


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
    ("old", "new", "error", "message", "fix"),
    [
        (sample(id="a"), sample(id="a"), BadInput, "a cannot supersede itself",
         "name the old record first and the new one second"),
        (sample(id="a", superseded_by="c d"), sample(id="b"), WrongState, "a is superseded by c d already",
         "onrecord supersede 'c d' b"),
        (sample(id="a"), sample(id="b", record_status="retired"), WrongState, "b is retired and cannot replace a",
         "onrecord restore b"),
        (sample(id="a"), sample(id="b", record_status="archived"), WrongState, "b is archived and cannot replace a",
         "onrecord unarchive b"),
    ],
    ids=["itself", "superseded already", "by a retired one", "by an archived one"],
)  # fmt: skip
def test_what_cannot_supersede(old, new, error, message, fix):
    with pytest.raises(error) as caught:
        lifecycle.supersede(old, new, NOW)

    assert (caught.value.message, caught.value.fix) == (message, fix)


def test_a_supersession_may_be_made_twice():
    old, new = sample(id="a", superseded_by="b"), sample(id="b", supersedes=["a"])

    before, after = lifecycle.supersede(old, new, LATER)

    assert (before.superseded_by, after.supersedes) == ("b", ("a",))


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


def test_the_newest_summary_was_retired_if_its_moment_had_a_fraction():
    moments = ["2026-03-01T00:00:00Z", "2026-03-01T00:00:00.900Z", "2026-03-01T00:00:00.500Z"]
    summaries = [sample("session_summary", id=f"s{number}", created_at=at) for number, at in enumerate(moments)]

    assert [record.id for record in lifecycle.over_limit(summaries, "session_summary", 1)] == ["s2", "s0"]


def test_a_record_within_its_grace_was_deleted_if_its_moment_had_a_fraction():
    retired = sample(record_status="retired", retired_at="2026-03-01T00:00:00.000Z")

    assert not lifecycle.is_past_grace(retired, 30, "2026-03-31T00:00:00Z")
    assert lifecycle.is_past_grace(retired, 30, "2026-03-31T00:00:01Z")
