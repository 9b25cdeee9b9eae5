"""The controls of a record's form: what each sends and reads, and how items of lists are moved."""

from __future__ import annotations

import pytest

from onrecord.record.form import FieldProblem
from onrecord.web import record_form
from onrecord.web.record_form import Control, FormOption, FormSection

ITEMS = {"tags.0": "a", "tags.2": "b", "tags.7": "c", "title": "T", "tags": "x"}


@pytest.mark.parametrize(
    ("command", "tags"),
    [
        ("up tags.2", "bac"),
        ("up tags.0", None),
        ("down tags.2", "acb"),
        ("down tags.7", None),
        ("remove tags.0", "bc"),
        ("remove tags.7", "ab"),
        ("remove tags.5", None),
        ("remove tags.x", None),
        ("remove tags.²", None),
        ("remove", None),
        ("sort tags.2", None),
    ],
)
def test_items_of_a_list_are_moved_and_removed(command, tags):
    values = record_form.rearrange(ITEMS, command)

    expected = {"title": "T", "tags": "x", **{f"tags.{number}": item for number, item in enumerate(tags or "")}}
    assert values == (ITEMS if tags is None else expected)


def test_what_is_in_an_item_moves_with_it():
    values = {"checks.0.on.edit": "1", "checks.1.has.0": "x", "checks.10.has.0": "y"}

    assert record_form.rearrange(values, "up checks.10") == {
        "checks.0.on.edit": "1", "checks.1.has.0": "y", "checks.2.has.0": "x",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "numbers"),
    [("tags.0", [0]), ("tags.9999", [9_999]), ("tags.10000", []), ("tags.٣", []), ("tags.x", []), ("tagsx.1", []),
     ("tags.3.a", [3])],
)  # fmt: skip
def test_the_number_of_an_item_has_at_most_four_digits(key, numbers):
    assert record_form._numbers("tags", {key: "x"}) == numbers


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"title": " Use\nuv "}, {"title": "Use uv"}),
        ({"title": " "}, {}),
        ({"tags.1": "b", "tags.0": " a ", "tags.2": " "}, {"tags": ["a", "b"]}),
        ({"confidence": " 0.5 "}, {"confidence": 0.5}),
        ({"source": "\n \n a \n\nb\n \n"}, {"source": " a \n\nb"}),
        ({"source": " one line "}, {"source": "one line"}),
        ({"checks.0.on.edit": "1", "checks.0.has.0": "npm"}, {"checks": [{"on": "edit", "has": ["npm"]}]}),
        (
            {"checks.0.on.edit": "1", "checks.0.on.write": "1", "checks.0.has.0": "npm"},
            {"checks": [{"on": ["edit", "write"], "has": ["npm"]}]},
        ),
        ({"scope.branches.0": "main"}, {"scope": {"branches": ["main"]}}),
    ],
)
def test_what_is_typed_is_read(values, fields):
    filled = record_form.parse("preference", values)

    assert filled == ({"content": {}, **fields}, ())


def test_a_list_that_a_record_must_have_may_be_empty():
    fields = record_form.parse("session_summary", {"content.goal": "Move"}).fields

    assert fields["content"] == {"goal": "Move", "completed": [], "next_actions": []}


def test_what_cannot_be_read_is_named_at_its_field():
    filled = record_form.parse("preference", {"confidence": "much", "content.topic": "tabs"})

    assert filled.fields == {"content": {"topic": "tabs"}}
    assert [problem.field for problem in filled.problems] == ["confidence"]


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ({"title": "a\u202e"}, {"title": "a\\u{202e}"}),
        ({"checks": [{"on": "edit", "has": ["a"]}]}, {"title": "", "checks.0.on.edit": "1", "checks.0.has.0": "a"}),
        ({"checks": [{"on": ["edit", "write"]}]}, {"title": "", "checks.0.on.edit": "1", "checks.0.on.write": "1"}),
        ({"confidence": 0.5}, {"title": "", "confidence": "0.5"}),
        ({"scope": {"branches": ["main"]}}, {"title": "", "scope.branches.0": "main"}),
        ({"source": "a\u202e\nb"}, {"title": "", "source": "a\\u{202e}\nb"}),
        ({"content": {"topic": "t", "unknown": "x"}}, {"title": "", "content.topic": "t"}),
    ],
)  # fmt: skip
def test_a_record_is_values_of_controls(fields, values):
    assert record_form.from_fields("preference", fields) == values


def test_empty_items_are_left_out_and_the_others_move_up():
    values = {"tags.0": " ", "tags.3": "a", "checks.1.has.4": "x", "store": "user", "content.topic": "t"}

    assert record_form.without_gaps("preference", values) == {
        "tags.0": "a", "checks.0.has.0": "x", "store": "user", "content.topic": "t",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("control", "is_empty"),
    [
        (Control("a", "A", "line", value=" "), True),
        (Control("a", "A", "line", value="x"), False),
        (Control("a", "A", "text", value="x"), False),
        (Control("a", "A", "title", value="x"), False),
        (Control("a", "A", "choice", options=(FormOption("a", "1", "1", False),)), True),
        (Control("a", "A", "choice", options=(FormOption("a", "1", "1", True),)), False),
        (Control("a", "A", "rows", parts=(Control("a.0", "", "line"),)), True),
        (Control("a", "A", "rows", parts=(Control("a.0", "", "line", value="x"),)), False),
    ],
)
def test_a_control_without_a_value_is_empty(control, is_empty):
    assert control.is_empty is is_empty


def _control(name: str, values: dict[str, str], extra: str = "") -> Control:
    sections = record_form.sections("decision", values, extra)
    return next(control for section in sections for control in section.controls if control.name == name)


@pytest.mark.parametrize(("extra", "number"), [("", 3), ("tags", 4), ("triggers", 3)])
def test_a_list_has_an_empty_item_at_its_end(extra, number):
    control = _control("tags", {"tags.1": "a", "tags.5": "b"}, extra)

    assert [part.name for part in control.parts] == ["tags.1", "tags.5", "tags.6", "tags.7"][:number]
    assert [part.label for part in control.parts][:2] == ["Tag 1", "Tag 2"]
    assert (control.widget, control.item, control.id, control.parts[0].pick) == ("chips", "tag", "f-tags", "/pick/tags")


def test_a_value_that_is_none_of_the_choices_is_kept_as_one():
    options = _control("content.status", {"content.status": "undecided"}).options

    assert [(option.value, option.is_chosen) for option in options][-1] == ("undecided", True)
    assert not [option for option in options[:-1] if option.is_chosen]


@pytest.mark.parametrize(
    ("widget", "names"),
    [
        ("title", ["title"]),
        ("text", ["content.context", "content.decision", "source"]),
        ("chips", ["tags", "triggers"]),
        ("line", ["confidence"]),
        ("group", ["scope"]),
    ],
)
def test_a_field_has_the_control_for_its_values(widget, names):
    sections = record_form.sections("decision", {})

    found = [control.name for section in sections for control in section.controls if control.widget == widget]
    assert sorted(found) == names


def test_sections_are_folded_until_they_have_a_value_or_a_problem():
    sections = record_form.sections("decision", {"confidence": "0.5"})
    folded = {section.title: section.is_folded for section in sections}

    unfolded = record_form.unfold_problems(sections, {"checks": "wrong", "confidence": "wrong"})

    assert folded == {
        "What it says": False, "How it is found": False, "Checks": True, "Scope": True, "Confidence": False,
        "Source": True,
    }  # fmt: skip
    assert [section.title for section in unfolded if section.is_folded] == ["Scope", "Source"]


def test_a_control_away_from_its_place_is_called_with_those_around_it():
    sections = record_form.sections("decision", {"checks.0.has.0": "x", "content.rationale.0": "y"})
    labels = record_form.labels(sections)

    assert [labels[name] for name in ("title", "tags", "checks.0.has.0", "supersedes", "content.rationale.0")] == [
        "Title", "Tags", "Check 1, Text 1", "Replaces", "Reason 1",
    ]  # fmt: skip


def test_several_problems_of_one_control_are_one_message():
    section = FormSection("S", (Control("content.a", "A", "line"),))
    problems = [FieldProblem(*pair) for pair in (("content.a", "x"), ("content.a[0]", "y"), ("content.b", "z"))]

    assert record_form.place_problems(problems, [section]) == {"content.a": "x; y", "": "b: z"}
