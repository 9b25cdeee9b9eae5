"""Forms: what is rendered is read back as it was, whatever it holds, and what people type is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st

from onrecord.categories import CATEGORIES
from onrecord.record import compose, form, naming, schema
from onrecord.record.form import FieldProblem, FilledForm
from onrecord.record.schema import Choice, Choices, Flag, ListOf, Number, Object

HOSTILE = st.sampled_from([
    "## decision", "\\## decision", "# title", "### prefer", "<!-- x -->", "<\\!--", "<!--", "-->", "- item", "* x",
    "1. x", "\\", "\\\\", "\\u{1b}", "\\\\u{1b}", "\\u{zz", "option: x", "rejected reason: y", "prefer:", " ", "", "\t",
    "\r", "\r\n", "\x1b[31m", "\u2028", "\u200b", "\u200d", "\u3000", "\ufeff", "<!-- ERROR x -->", "  moved in",
    "true", "--", "-",
])  # fmt: skip
PIECES = st.one_of(HOSTILE, st.text(st.characters(exclude_categories=("Cs",)), max_size=8))
TEXTS = st.lists(PIECES, min_size=1, max_size=5).flatmap(
    lambda pieces: st.sampled_from(["\n", "", " ", "\n\n"]).map(lambda glue: glue.join(pieces))
)


def values(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, ListOf):
        return st.lists(values(kind.item), min_size=1, max_size=4)
    if isinstance(kind, Object):
        return st.fixed_dictionaries({field.name: values(field.kind) for field in kind.fields})
    if isinstance(kind, Choice):
        return st.sampled_from(kind.values)
    if isinstance(kind, Choices):
        several = st.lists(st.sampled_from(kind.values), min_size=2, max_size=3, unique=True)
        return st.sampled_from(kind.values) | several
    if isinstance(kind, Flag):
        return st.booleans()
    return st.floats(0, 1) if isinstance(kind, Number) else TEXTS


def fields_of(category: str) -> st.SearchStrategy[dict[str, Any]]:
    own = {field.name: field.kind for field in schema.RECORD}
    common = {
        name: values(own[name])
        for name in ("tags", "triggers", "related_files", "checks", "scope", "confidence", "source")
    }
    content = {field.name: values(field.kind) for field in schema.content_fields(category)}
    optional = {field.name for field in schema.content_fields(category) if not isinstance(field.kind, ListOf)}
    fixed = {name: kind for name, kind in content.items() if name not in optional}
    loose = {name: kind for name, kind in content.items() if name in optional}
    return st.fixed_dictionaries(
        {"title": TEXTS.map(naming.clean_title).filter(bool), "content": st.fixed_dictionaries(fixed, optional=loose)},
        optional=common,
    )


@given(st.sampled_from(list(CATEGORIES)).flatmap(lambda category: st.tuples(st.just(category), fields_of(category))))
def test_a_form_says_what_the_record_said(drawn):
    category, fields = drawn

    assert form.parse(category, form.render(category, fields, "A record.")) == FilledForm(fields)


@given(st.lists(PIECES, max_size=12).map("\n".join))
def test_any_text_is_read_or_refused_and_takes_its_errors(text):
    filled = form.parse("decision", text)
    marked = form.insert_problems(text, filled.problems)

    assert form.parse("decision", marked).fields == filled.fields or filled.problems
    assert form.insert_problems(marked, filled.problems) == marked


TYPED = """
# Use uv

## Decision
uv installs
everything.

## context

## Rationale
- fast
-
* one tool,
  one file

No mark here.
## alternatives
- Option: Poetry
  Rejected reason: slow,
    and slower
- option:
  rejected reason:

## status
Accepted <!-- for now -->
## consequences
1. learn it
2) say so
<!-- a comment
over two lines --> after it
"""


def test_what_people_type_is_understood():
    assert form.parse("decision", TYPED) == FilledForm({
        "title": "Use uv",
        "content": {
            "decision": "uv installs\neverything.",
            "rationale": ["fast", "one tool,\none file", "No mark here."],
            "alternatives": [{"option": "Poetry", "rejected_reason": "slow,\nand slower"}],
            "status": "accepted",
            "consequences": ["learn it", "say so\nafter it"],
        },
    })  # fmt: skip


@pytest.mark.parametrize(
    ("category", "text", "problem"),
    [
        ("decision", "# T\n## decission\nx", FieldProblem("decission", "is no field of this form (")),
        ("decision", "# T\n## decision\nx\n## Decision\ny", FieldProblem("decision", "is here twice")),
        ("decision", "# T\n## decision\n<!-- x", FieldProblem("decision", "has a comment without an end")),
        (
            "decision",
            "# T\n## alternatives\n- Poetry",
            FieldProblem("alternatives", "each item needs the lines 'option: …'"),
        ),
        (
            "decision",
            "# T\nmore\n## decision\nx",
            FieldProblem("", "above the first ## heading there may be only the title"),
        ),
        ("decision", "<!-- # T\n## decision\nx", FieldProblem("", "a comment above the first heading has no end")),
        ("constraint", "## active\nmaybe", FieldProblem("active", "must be true or false")),
        ("constraint", "## confidence\n1.2.3", FieldProblem("confidence", "must be a number")),
        ("preference", "## examples\n- x", FieldProblem("examples", "write below one of the headings ### prefer")),
        (
            "preference",
            "## examples\n### like\n- x",
            FieldProblem("examples", "needs the headings ### prefer, ### avoid"),
        ),
    ],
)
def test_what_cannot_be_read_is_named_at_its_heading(category, text, problem):
    (first,) = form.parse(category, text).problems

    assert first.field == problem.field and first.message.startswith(problem.message)


def test_problems_stand_below_their_headings_once():
    text = "# T\n\n## decision\nx\n"
    first = form.insert_problems(text, [FieldProblem("decision", "is --> wrong"), FieldProblem("title", "too long")])

    assert first == ("# T\n<!-- ERROR title: too long -->\n\n## decision\n<!-- ERROR decision: is → wrong -->\nx\n")
    assert (
        form.insert_problems(first, [FieldProblem("context", "is missing")])
        == f"<!-- ERROR context: is missing -->\n{text}"
    )


def test_a_list_that_a_record_must_have_may_be_empty():
    assert form.parse("session_summary", "## completed\n-\n## blockers\n-").fields == {"content": {"completed": []}}


def test_an_editor_may_put_a_mark_of_its_encoding_first():
    assert form.parse("session_summary", "\ufeff## completed\n- a").fields == {"content": {"completed": ["a"]}}


def test_what_a_form_cannot_show_is_not_offered():
    fields = {"title": "T", "content": {"alternatives": [{"option": "x", "rejected_reason": "y", "since": 1}]}}

    assert "## alternatives" not in form.render("decision", fields, "A record.")


def test_an_empty_form_has_every_field_with_its_hint():
    text = form.render("constraint", {"content": {"severity": "medium"}}, "A new constraint.")

    assert text.startswith("<!-- A new constraint. Write below the headings.")
    assert "## rule\n<!-- required: The rule itself. -->\n\n" in text
    assert "## severity\n<!-- required: How bad that is. One of: high, medium, low. -->\nmedium\n" in text
    assert "## related files\n<!-- optional: Files it is about, relative to the project. -->\n- \n" in text


def test_the_form_in_the_documentation_is_a_record():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "save-by-hand.md"
    example = page.read_text(encoding="utf-8").split("```markdown\n")[1].split("```")[0]

    record = compose.compose("decision", form.parse("decision", example).fields)

    assert record.content["alternatives"] == [{"option": "Poetry", "rejected_reason": "slow"}]
