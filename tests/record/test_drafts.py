"""Drafts as files, and the patch that one makes to the record it is about."""

from __future__ import annotations

import json

import pytest

from onrecord.errors import BadRecord
from onrecord.record import drafts
from onrecord.record.check import Check
from onrecord.record.drafts import Draft
from tests.records import LATER, NOW, raw, sample

RECORD = sample(id="a", title="A")
FULL = Draft(
    "a", RECORD, made_at=NOW, session="s", evidence=("said", "so"), updates="u", revises="r", fields=("title",),
    summary="m", supersedes="p", note="n",
)  # fmt: skip


def test_a_draft_is_a_file_of_what_it_has():
    def body(draft):
        return json.loads(drafts.render(draft))

    assert body(Draft("a", RECORD)) == {"draft": {}, "record": body(FULL)["record"]}
    assert body(FULL)["draft"] == {
        "made_at": NOW, "session": "s", "updates": "u", "revises": "r", "summary": "m", "supersedes": "p", "note": "n",
        "evidence": ["said", "so"], "fields": ["title"],
    }  # fmt: skip
    assert drafts.render(Draft("a", sample(title="Größe"))).decode().startswith('{\n  "draft": {},\n  "record": {\n')


@pytest.mark.parametrize("draft", [Draft("a", RECORD), FULL])
def test_a_draft_comes_back_as_it_was_with_the_hash_of_its_file(draft):
    parsed = drafts.parse("a", drafts.render(draft))

    assert parsed._replace(hash="") == draft
    assert len(parsed.hash) == 32


def test_parts_of_the_wrong_type_are_left_out():
    about = {**dict.fromkeys(("made_at", "session", "note"), 3), "evidence": ["a", 1, None], "fields": "title"}

    draft = drafts.parse("a", json.dumps({"draft": about, "record": raw(id="a")}).encode())

    assert (draft.made_at, draft.session, draft.note, draft.evidence, draft.fields) == ("", "", "", ("a",), ())
    assert drafts.parse("a", json.dumps({"record": raw(id="a")}).encode()).record.id == "a"


@pytest.mark.parametrize("value", [[], 3, {"draft": 1, "record": {}}, {"record": 1}, {"draft": {}}])
def test_what_is_no_draft_is_refused_with_what_to_do(value):
    with pytest.raises(BadRecord) as error:
        drafts.parse("it's", json.dumps(value).encode())

    assert error.value.message == "inbox/it's.json: is not a draft"
    assert error.value.fix == ("correct it by hand; or throw it away: onrecord review --reject 'it'\"'\"'s'")


def test_a_draft_names_all_records_that_it_would_replace_and_who_made_it():
    assert Draft("a", RECORD).replaces == ""
    assert Draft("a", sample(supersedes=["x", "y"]), supersedes="y").replaces == "y, x"
    assert [Draft("a", sample(origin=origin)).is_machine_made for origin in ("tool", "agent", "user")] == [
        True, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        ({"a": 1}, {}, {"a": None}),
        ({"content": {"x": 1, "y": 2}}, {"content": {"x": 1, "z": 3}}, {"content": {"y": None, "z": 3}}),
        ({"other": {"x": 1}}, {"other": {"y": 1}}, {"other": {"y": 1}}),
        ({}, {"content": {"y": 1}}, {"content": {"y": 1}}),
    ],
)
def test_a_difference_applied_to_the_old_object_gives_the_new_one(old, new, patch):
    assert drafts.difference(old, new) == patch
    assert drafts.apply(old, patch) == new


CONTENT = {"status": "accepted", "context": "c", "decision": "d", "rationale": ["one"]}


def before(**fields):
    return sample(id="a", title="A", content=CONTENT, tags=["x"], updated_at=NOW, **fields)


def after(**fields):
    content = {**CONTENT, "decision": "e", "rationale": ["two"]}
    return sample(id="b", title="B", content=content, tags=["y"], updated_at=LATER, **fields)


@pytest.mark.parametrize(
    ("revises", "fields", "patch"),
    [
        ("", (), {"content": {"decision": "e", "rationale": ["one", "two"]}, "tags": ["y"]}),
        ("r", (), {"title": "B", "content": {"decision": "e", "rationale": ["two"]}, "tags": ["y"]}),
        ("", ("title",), {"title": "B"}),
        ("r", ("content.decision", "tags"), {"tags": ["y"], "content": {"decision": "e"}}),
        ("", ("content",), {}),
        ("", ("content.none",), {}),
    ],
)
def test_the_patch_of_a_draft_has_its_fields_or_additions_or_all_that_differs(revises, fields, patch):
    draft = Draft("b", after(), revises=revises, fields=fields)

    assert drafts.draft_patch(draft, before()) == patch


def test_changed_fields_are_named_those_of_the_content_by_their_own_names():
    assert set(drafts.changed_fields(before(), after())) == {
        "title", "tags", "content.decision", "content.rationale"
    }  # fmt: skip
    assert drafts.changed_fields(before(), before()) == ()


def test_additions_extend_lists_and_replace_texts_and_leave_the_rest():
    one, two = Check(("command",), starts=("npm",)), Check(("edit",), adds=("x(",))
    record = before(triggers=["t1"], related_files=["a.py"])._replace(checks=(one,))
    proposed = after(triggers=["t1", "t2"], related_files=["a.py", "b.py"], source="here")._replace(checks=(one, two))

    patch = drafts.additions(record, proposed)

    assert (patch["triggers"], patch["related_files"], patch["source"]) == (["t1", "t2"], ["a.py", "b.py"], "here")
    assert [check["on"] for check in patch["checks"]] == ["command", "edit"]
    assert "title" not in patch
    assert drafts.additions(record, record) == {}
    subset = record._replace(related_files=(), triggers=(), tags=(), checks=(), source="")
    assert drafts.additions(record._replace(source="there"), subset._replace(source="here")) == {}


def test_a_record_of_another_category_adds_nothing_to_the_content():
    assert "content" not in drafts.additions(before(), sample("runbook", tags=["x"]))


def test_objects_in_the_content_grow_by_their_parts():
    def record(category, parts):
        return sample(category)._replace(content={"x": parts})

    assert drafts.additions(
        record("decision", {"a": ["1"], "b": "old", "c": "kept"}), record("decision", {"a": ["1", "2"], "b": "new"})
    ) == {"content": {"x": {"a": ["1", "2"], "b": "new", "c": "kept"}}}


def test_a_draft_of_half_a_megabyte_in_japanese_could_not_be_read():
    record = sample(content={**sample().content, "consequences": ["決" * 3_900] * 50})

    assert drafts.parse("a", drafts.render(Draft("a", record))).record == record
