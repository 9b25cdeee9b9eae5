"""The form of a record on a page: whatever a record holds, a form that is sent back as it is says the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("starlette", reason="the extra web is not installed")
from hypothesis import HealthCheck, given, settings

from onrecord.record import drafts, memory, schema
from onrecord.record.form import FieldProblem
from onrecord.web import record_form, view
from onrecord.web.access import Access
from tests.records import valid_records
from tests.web import forms

SITE = view.Site(".", Access(8700))
"""One for all examples: templates are compiled once."""


class _Page(NamedTuple):
    """A page as `forms.fields` reads it."""

    text: str


def _sent_back(category: str, values: dict[str, str]) -> dict[str, str]:
    """Return the values that a browser sends for a form with these values."""
    text = SITE.render(
        "edit_form.html",
        sections=record_form.sections(category, values),
        values=values,
        category=category,
        address="/new/x",
        store="project",
        stores=(),
        expected_hash="",
        first_problem="",
        focused="",
        problems={},
        record=None,
        preview=None,
        is_new=True,
        is_draft=False,
        is_unsaved=False,
        takes_force=False,
        list_address="/",
        note="",
        extra={},
    )
    # The guard reads CRLF as a line end.
    return {name: value.replace("\r\n", "\n") for name, value in forms.fields(_Page(text)).items()}


@given(valid_records())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
def test_a_form_that_is_sent_back_as_it_is_says_what_the_record_said(raw):
    record = memory.from_json(raw)
    values = record_form.from_record(record)

    back = record_form.parse(record.category, _sent_back(record.category, values))

    assert back == record_form.parse(record.category, values)
    assert back.problems == ()


@given(valid_records())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
def test_gaps_in_lists_say_nothing(raw):
    record = memory.from_json(raw)
    values = record_form.from_record(record)
    spread = {_spread(name): text for name, text in values.items()}

    assert record_form.parse(record.category, record_form.without_gaps(record.category, spread)) == record_form.parse(
        record.category, values
    )


def _spread(name: str) -> str:
    return ".".join(str(3 * int(part) + 1) if part.isdigit() else part for part in name.split("."))


@pytest.mark.parametrize("category", list(schema.FOLDERS))
def test_every_field_of_a_category_has_a_control(category):
    sections = record_form.sections(category, {})
    names = [control.name for section in sections for control in section.controls]

    assert sorted(names) == sorted(
        ["title", *(f"content.{field.name}" for field in schema.content_fields(category)), "triggers", "tags",
         "related_files", "checks", "scope", "confidence", "source"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("content.rationale[0]", {"content.rationale.0": "wrong"}),
        ("content.rationale[7]", {"content.rationale": "wrong"}),
        ("checks[0].examples.breaks[0]", {"checks.0.examples.breaks.0": "wrong"}),
        ("superseded_by", {"": "superseded by: wrong"}),
        ("", {"": "wrong"}),
    ],
)
def test_a_problem_is_placed_at_the_nearest_control(where: str, expected: dict[str, str]):
    values: dict[str, Any] = {"content.rationale.0": "x", "checks.0.examples.breaks.0": "y"}

    sections = record_form.sections("decision", values)
    assert record_form.place_problems([FieldProblem(where, "wrong")], sections) == expected


def test_a_field_that_was_emptied_is_removed_by_the_patch():
    values = {"title": "Use uv", "content.decision": "uv", "content.consequences.0": "one tool", "triggers.0": "pip"}

    before = record_form.parse("decision", values).fields
    after = record_form.parse("decision", {**values, "content.consequences.0": " ", "triggers.0": ""}).fields

    assert drafts.difference(before, after) == {"content": {"consequences": None}, "triggers": None}
