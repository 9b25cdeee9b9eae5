"""A form line by line: how each kind of field is written, and every way in which people type one."""

from __future__ import annotations

import pytest

from onrecord.errors import Invalid
from onrecord.record import form
from onrecord.record.form import FieldProblem

CONSTRAINT = """<!-- A → b ‹!. Write below the headings. Comments like this one are dropped.
     Save the file and close the editor to go on. A form left empty or as it is saves nothing. -->

# T

## rule
<!-- required: The rule itself. -->
first
second

## impact
<!-- required: What happens when it is ignored. -->
- one
  more
- two

## workarounds
<!-- optional: What to do instead. -->
-@

## expires
<!-- optional: A date after which it no longer applies, or the condition in
     words. -->


## kind
<!-- required: What sort of limit it is. One of: limitation, gap, policy,
     technical. -->


## severity
<!-- required: How bad that is. One of: high, medium, low. -->
medium

## active
<!-- required: Whether it applies now. true or false. -->
true

## tags
<!-- optional: Lower-case words to find it by, sorted and unique. -->
- a

## triggers
<!-- optional: How someone will ask for it, in other words than the title:
     questions, symptoms, error texts, synonyms. -->
-@

## related files
<!-- optional: Files it is about, relative to the project. -->
-@

## confidence
<!-- optional: How sure the author was, from 0 to 1. -->
0.5
""".replace("@", " ")


def test_a_form_has_required_fields_then_optional_ones_then_those_with_a_default():
    content = {"rule": "first\nsecond", "impact": ["one\nmore", "two"], "severity": "medium", "active": True}

    text = form.render(
        "constraint", {"title": "T", "content": content, "tags": ["a"], "confidence": 0.5}, "A --> b <!--."
    )

    assert text == CONSTRAINT
    assert form.render("constraint", {}).startswith("# \n\n## rule\n")


@pytest.mark.parametrize(
    ("typed", "value"),
    [("true", True), ("Yes", True), ("y", True), ("FALSE", False), ("no", False), (" n ", False)],
)
def test_true_and_false_in_every_way_to_type_them(typed, value):
    assert form.parse("constraint", f"## active\n{typed}").fields == {"content": {"active": value}}


@pytest.mark.parametrize(
    ("typed", "value"),
    [("1", 1), ("0.5", 0.5), ("-1", -1.0), ("5e-1", 0.5), ("999999999", 999_999_999), ("1e2", 100.0)],
)
def test_numbers(typed, value):
    assert form.parse("constraint", f"## confidence\n{typed}").fields == {"confidence": value, "content": {}}


@pytest.mark.parametrize("typed", ["1234567890", "1.", ".5", "1e2000", "1,5", "one", "0." + "1" * 21, "+1"])
def test_what_is_no_number_is_refused(typed):
    assert form.parse("constraint", f"## confidence\n{typed}").problems == (
        FieldProblem("confidence", "must be a number"),
    )


@pytest.mark.parametrize(
    ("typed", "items"),
    [
        ("- a\n- b", ["a", "b"]),
        ("* a\n1. b\n12) c\n123. d", ["a", "b", "c", "d"]),
        ("1234. a", ["1234. a"]),
        ("-a", ["-a"]),
        ("a\nb", ["a\nb"]),
        ("a\n\nb", ["a", "b"]),
        ("- a\nb", ["a\nb"]),
        ("- a\n\nb", ["a", "b"]),
        ("- a\n\n  b", ["a\n\nb"]),
        ("- a\n    b", ["a\n  b"]),
        ("10. a\n    b\n   c", ["a\nb\nc"]),
        ("\n- a\n\n\n- b\n", ["a", "b"]),
        ("-\n- \n- b", ["b"]),
    ],
)
def test_items_of_a_list_in_every_way_to_type_them(typed, items):
    assert form.parse("constraint", f"## impact\n{typed}").fields == {"content": {"impact": items}}


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("# T", "T"),
        ("T", "T"),
        ("#T", "T"),
        ("\n  \n# T \n", "T"),
        ("## ", None),
        ("#", None),
        ("<!-- x -->\n# T", "T"),
    ],
)
def test_the_title_is_the_line_above_the_first_heading(typed, title):
    assert form.parse("constraint", f"{typed}\n## rule\nx").fields.get("title") == title


@pytest.mark.parametrize(
    ("heading", "field"),
    [("Root cause", "root_cause"), ("root-cause:", "root_cause"), ("  ROOT   CAUSE ", "root_cause"), ("rule", "rule")],
)
def test_a_heading_names_its_field_however_it_is_typed(heading, field):
    assert form.field_name(heading) == field


@pytest.mark.parametrize(
    ("category", "text", "problems"),
    [
        ("constraint", "# T\nmore\n## rule\nx",
         [("", "above the first ## heading there may be only the title, in one line")]),
        ("constraint", "<!-- x\n## rule\nx", [("", "a comment above the first heading has no end: add --> to it")]),
        ("constraint", "## rule\n<!-- x", [("rule", "has a comment without an end: add --> to it")]),
        ("constraint", "## rule\nx\n## rule\ny", [("rule", "is here twice")]),
        ("constraint", "## tags\n- x\n## tags\n- y", [("tags", "is here twice")]),
        ("decision", "## alternatives\n- x",
         [("alternatives", "each item needs the lines 'option: …', 'rejected reason: …'")]),
        ("preference", "## examples\nx",
         [("examples", "write below one of the headings ### prefer, ### avoid")]),
        ("preference", "## examples\n### prefer\n- x\n### prefer\n- y",
         [("examples", "needs the headings ### prefer, ### avoid, each once")]),
        ("constraint", "## checks\n- on: edit\n  has:\n  \\\"x",
         [("checks", "has a line that begins with a backslash and is not JSON: \\\"x")]),
    ],
)  # fmt: skip
def test_a_problem_of_a_form_is_said_in_whole(category, text, problems):
    assert form.parse(category, text).problems == tuple(FieldProblem(*problem) for problem in problems)


def test_the_problems_of_an_error_are_those_of_its_fields():
    errors = (("content.alternatives[0].option", "is missing"), ("tags[3]", "is long"), ("title", "is missing"))

    assert form.error_problems(Invalid("m", "f", errors)) == (
        FieldProblem("alternatives", "is missing"),
        FieldProblem("tags", "is long"),
        FieldProblem("title", "is missing"),
    )


def test_problems_take_the_place_of_earlier_ones_each_at_its_heading():
    text = "# T\n<!-- ERROR old -->\n\n## root cause\nx\n\n## rule\ny"

    assert form.insert_problems(text, [
        FieldProblem("", "whole"), FieldProblem("rule", "r"), FieldProblem("root_cause", "c"),
        FieldProblem("title", "t"),
    ]) == (
        "<!-- ERROR whole -->\n# T\n<!-- ERROR title: t -->\n\n## root cause\n<!-- ERROR root cause: c -->\nx\n\n"
        "## rule\n<!-- ERROR rule: r -->\ny"
    )  # fmt: skip
    assert form.insert_problems("x", [FieldProblem("title", "t")]) == "<!-- ERROR title: t -->\nx"
