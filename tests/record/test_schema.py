from __future__ import annotations

import pytest

from onrecord.record import schema
from onrecord.record.schema import Flaw
from onrecord.search import record_vectors
from tests.records import raw

FOLDERS = {
    "decision": "decisions",
    "constraint": "constraints",
    "preference": "preferences",
    "runbook": "runbooks",
    "tech_debt": "tech-debt",
    "session_summary": "sessions",
}
SPEC = {
    "decision": ("status context decision rationale", "alternatives consequences"),
    "constraint": ("kind rule impact severity active", "workarounds expires"),
    "preference": ("topic value reason strength", "examples"),
    "runbook": ("trigger steps verification", "symptoms root_cause environment"),
    "tech_debt": ("status priority description reason_deferred", "impact suggested_fix acceptance_criteria"),
    "session_summary": ("goal outcome completed next_actions", "in_progress blockers key_changes"),
}


def test_the_six_categories_and_their_folders():
    assert dict(schema.FOLDERS) == FOLDERS


@pytest.mark.parametrize("category", SPEC)
def test_the_fields_of_a_category(category):
    fields = schema.content_fields(category)

    required, optional = SPEC[category]
    assert {field.name for field in fields if field.required} == set(required.split())
    assert {field.name for field in fields if not field.required} == set(optional.split())


@pytest.mark.parametrize("category", SPEC)
def test_a_whole_record_has_no_flaw(category):
    assert list(schema.flaws(raw(category))) == []


@pytest.mark.parametrize("category", SPEC)
def test_every_required_field_is_missed(category):
    record = raw(category)
    names = [field.name for field in schema.content_fields(category) if field.required]

    missed = [flaw.where for flaw in schema.flaws({**record, "content": {}})]

    assert missed == [f"content.{name}" for name in names]


@pytest.mark.parametrize("value", [None, [], "text", 1, True])
def test_a_record_is_an_object(value):
    (flaw,) = schema.flaws(value)

    assert (flaw.where, flaw.is_structural) == ("record", True)


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"title": "x" * 121}, "title"),
        ({"title": " "}, "title"),
        ({"id": "a" * 81}, "id"),
        ({"id": "Not-A-Slug"}, "id"),
        ({"id": "a--b"}, "id"),
        ({"id": "../a"}, "id"),
        ({"id": "a\n"}, "id"),
        ({"schema_version": "2.0"}, "schema_version"),
        ({"record_status": "deleted"}, "record_status"),
        ({"created_at": "2026-03-02"}, "created_at"),
        ({"tags": []}, "tags"),
        ({"tags": sorted(f"t{n:02}" for n in range(13))}, "tags"),
        ({"tags": ["b", "a"]}, "tags"),
        ({"tags": ["a", "a"]}, "tags"),
        ({"tags": ["Upper"]}, "tags[0]"),
        ({"tags": ["two words"]}, "tags[0]"),
        ({"tags": ["a,b"]}, "tags[0]"),
        ({"triggers": ["x"] * 17}, "triggers"),
        ({"triggers": ["x" * 121]}, "triggers[0]"),
        ({"confidence": 1.01}, "confidence"),
        ({"supersedes": ["No Slug"]}, "supersedes[0]"),
        ({"superseded_by": "-a"}, "superseded_by"),
        ({"anchors": [{"blob": "abcdef0"}]}, "anchors[0].path"),
        ({"anchors": [{"path": "a", "commit": "xyz"}]}, "anchors[0].commit"),
        ({"origin": "rumour"}, "origin"),
        ({"scope": {"paths": [1]}}, "scope.paths[0]"),
        ({"changes": [{"date": "x", "summary": "y"}]}, "changes[0].date"),
        ({"changes": [{"date": "2026-03-02T09:30:00Z", "summary": "y" * 301}]}, "changes[0].summary"),
        ({"changes": [{"date": "2026-03-02T09:30:00Z", "summary": "y"}] * 51}, "changes"),
        ({"times_updated": -1}, "times_updated"),
    ],
)
def test_limits_of_a_record(fields, where):
    assert [flaw.where for flaw in schema.flaws(raw(**fields))] == [where]


def test_an_unknown_category_is_named_and_its_content_left_alone():
    (flaw,) = schema.flaws({**raw(), "category": "rumour"})

    names = "decision, constraint, preference, runbook, tech_debt, session_summary"
    assert flaw == Flaw("category", f"must be one of {names}, not 'rumour'", is_structural=True)


def test_alternatives_need_both_halves():
    content = {**raw()["content"], "alternatives": [{"option": "Postgres"}]}

    assert list(schema.flaws(raw(content=content))) == [
        Flaw("content.alternatives[0].rejected_reason", "is missing"),
    ]


def test_every_field_says_what_it_is_for():
    fields = [*schema.RECORD, *(field for category in schema.FOLDERS for field in schema.content_fields(category))]

    assert [field.name for field in fields if not field.doc.endswith(".")] == []


def test_the_index_has_room_for_every_trigger_that_a_record_may_have():
    assert record_vectors.MAX_TRIGGERS == schema.max_items("triggers") == 16
