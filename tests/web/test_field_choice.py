"""Two versions of a record: which fields are to be chosen, what each choice writes, and how values are texts."""

from __future__ import annotations

from typing import Any

import pytest

from onrecord.errors import Invalid
from onrecord.record import memory, schema
from onrecord.web import field_merge
from onrecord.web.field_merge import FieldChoice, MarkedPart
from tests.records import LATER, raw

CONTENT = {"status": "accepted", "context": "Two stores", "decision": "Redis 7", "rationale": ["one thing to run"]}


def _raw(title: str = "Sessions", updated_at: str = LATER, **content: Any) -> dict[str, Any]:
    fields = raw(title=title, updated_at=updated_at, content={**CONTENT, **content})
    return {**fields, "times_updated": 1}


def _merge(yours: dict[str, Any], theirs: dict[str, Any], base: dict[str, Any] | None = None) -> field_merge.Merge:
    start = memory.from_json(base or _raw())
    return field_merge.of_versions(start, yours, memory.from_json(theirs))


def test_what_one_person_changed_is_taken_and_what_both_did_is_to_be_chosen():
    yours = _raw("Sessions in rows", decision="Rows in Postgres", context="Redis lost some")
    theirs = _raw("Sessions in Redis", decision="Redis 8")

    merge = _merge(yours, theirs)

    assert merge.clashes == ("title", "content.decision")
    assert merge.result["content"]["context"] == "Redis lost some"
    assert (merge.result["title"], merge.result["content"]["decision"]) == ("Sessions in Redis", "Redis 8")


def test_versions_that_agree_leave_nothing_to_choose():
    merge = _merge(_raw(decision="Rows"), _raw(title="Sessions in rows"))

    assert merge.clashes == ()
    assert merge.patch(merge.result) == {"content": {"decision": "Rows"}}


def test_without_the_version_that_both_began_with_all_that_differs_is_to_be_chosen():
    yours, theirs = _raw("Sessions in rows", decision="Rows"), _raw(rationale=["less to run"])

    merge = field_merge.of_versions(None, yours, memory.from_json(theirs))

    assert sorted(merge.clashes) == ["content.decision", "content.rationale", "title"]
    assert merge.result == merge.theirs
    assert merge.base == {}


def test_a_field_to_choose_has_each_version_with_the_words_marked():
    merge = _merge(_raw(decision="Redis 9"), _raw(decision="Redis 8"))

    assert merge.choices({}) == [
        FieldChoice(
            "content.decision",
            "Decision",
            "Redis 7",
            (MarkedPart("Redis "), MarkedPart("8", True)),
            (MarkedPart("Redis "), MarkedPart("9", True)),
            "",
            "Redis 9",
            (),
        )
    ]
    (choice,) = merge.choices({"choice.content.decision": "own", "own.content.decision": "Redis 10"})
    assert (choice.choice, choice.own, choice.id) == ("own", "Redis 10", "m-content-decision")


def test_a_field_with_fixed_values_offers_them():
    merge = _merge(_raw(status="deprecated"), _raw(status="superseded"))

    (choice,) = merge.choices({})
    assert {"accepted", "deprecated", "superseded"} < set(choice.options)


@pytest.mark.parametrize(
    ("answers", "decision"),
    [
        ({"choice.content.decision": "yours"}, "Redis 9"),
        ({"choice.content.decision": "theirs"}, "Redis 8"),
        ({"choice.content.decision": "own", "own.content.decision": "Redis 10"}, "Redis 10"),
    ],
)
def test_a_choice_is_what_is_written(answers, decision):
    merge = _merge(_raw(decision="Redis 9"), _raw(decision="Redis 8"))

    fields = merge.chosen(answers)

    assert fields["content"] == {**CONTENT, "decision": decision}
    assert merge.patch(fields) == ({} if decision == "Redis 8" else {"content": {"decision": decision}})


@pytest.mark.parametrize("answers", [{}, {"choice.content.decision": "mine"}, {"own.content.decision": "x"}])
def test_a_field_without_a_choice_is_named(answers):
    merge = _merge(_raw(decision="Redis 9"), _raw(decision="Redis 8"))

    with pytest.raises(Invalid) as error:
        merge.chosen(answers)
    assert error.value.field_errors == (("content.decision", "choose a version"),)


def test_a_text_that_is_no_value_of_its_field_is_named():
    merge = _merge(_raw(rationale=["a"]), _raw(rationale=["b"]))

    fields = merge.chosen({"choice.content.rationale": "own", "own.content.rationale": "- c\n- d"})
    assert fields["content"]["rationale"] == ["c", "d"]
    with pytest.raises(Invalid) as error:
        field_merge.from_text(field_merge.kind_of("decision", "scope"), "no scope: x", "scope")
    assert [name for name, _ in error.value.field_errors] == ["scope"]


def test_own_texts_are_kept_if_they_are_chosen_and_can_be_read():
    answers = {
        "choice.title": "own", "own.title": "Mine",
        "choice.content.decision": "yours", "own.content.decision": "not chosen",
        "choice.scope": "own", "own.scope": "no scope: x",
    }  # fmt: skip

    fields = field_merge.with_own_texts("decision", {"title": "Typed", "content": {"decision": "typed"}}, answers)

    assert fields == {"title": "Mine", "content": {"decision": "typed"}}


@pytest.mark.parametrize(
    ("fields", "name", "value", "expected"),
    [
        ({"title": "a"}, "title", "b", {"title": "b"}),
        ({"title": "a", "tags": ["x"]}, "tags", None, {"title": "a"}),
        ({}, "content.decision", "b", {"content": {"decision": "b"}}),
        ({"content": {"decision": "a", "context": "c"}}, "content.decision", None, {"content": {"context": "c"}}),
    ],
)
def test_a_value_is_put_into_a_record(fields, name, value, expected):
    assert field_merge.with_value(fields, name, value) == expected
    assert field_merge.value_at(expected, name) == value


def test_a_value_below_a_text_is_none():
    assert field_merge.value_at({"content": "cut …"}, "content.decision") is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("title", "A title", "A title"),
        ("title", None, ""),
        ("tags", ["a", "b"], "- a\n- b"),
        ("tags", "a …", "a …"),
        ("content.decision", "a\nb", "a\nb"),
        ("content.status", "accepted", "accepted"),
        ("content.no_such_field", "x", "x"),
        ("content.decision", {"a": 1}, '{"a": 1}'),
        ("tags", ["a", 1], '["a", 1]'),
        ("content.alternatives", [{"option": "a", "x": 1}], '[{"option": "a", "x": 1}]'),
        ("scope", [1], "[1]"),
        ("times_updated", 3, "3"),
        ("confidence", 0.5, "0.5"),
    ],
)
def test_a_value_is_a_text_below_its_heading(name, value, text):
    assert field_merge.as_text(field_merge.kind_of("decision", name), value) == text


@pytest.mark.parametrize(("words", "is_compared"), [(2_000, True), (2_001, False)])
def test_texts_of_two_thousand_words_are_compared_word_by_word(words, is_compared):
    old = "a." * (words // 2) + "a" * (words % 2)
    new = f"b{old[1:]}"

    marked = field_merge.compare_words(old, new)

    assert (marked.new[0] == MarkedPart("b", True), len(marked.new)) == ((True, 2) if is_compared else (False, 1))
    assert (len(field_merge.compare_words("c", old).old), marked.old[0].is_marked) == (1, True)


def test_the_events_of_a_check_are_text_that_a_form_takes_back():
    checks = [{"on": ["edit", "command"], "has": ["npm install"]}]
    kind = next(field.kind for field in schema.RECORD if field.name == "checks")

    text = field_merge.as_text(kind, checks)

    assert not text.startswith("[")
    assert field_merge.from_text(kind, text, "checks") == checks
