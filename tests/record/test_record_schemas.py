from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onrecord.record import check, schema
from scripts import record_schemas as ours
from tests.records import json_values, raw, valid_records

theirs = pytest.importorskip("jsonschema")

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"
WRONG = st.sampled_from(
    ["", " ", "x", "X", "a b", "a" * 30_000, "2026-03-02", "2026-03-02T09:30:00Z", 0, -1, 1.5, 2, True, [], {}, ["A"],
     [""], [1], ["b", "c"], [{}], {"paths": 1}, ["x"] * 300]
)  # fmt: skip


@pytest.mark.parametrize("category", schema.FOLDERS)
def test_the_published_schema_is_a_schema_and_up_to_date(category):
    published = json.loads((SCHEMAS / f"{category}.schema.json").read_text(encoding="utf-8"))

    theirs.Draft202012Validator.check_schema(published)
    assert published == ours.of(category)


@pytest.mark.parametrize("category", schema.FOLDERS)
def test_a_record_of_one_category_is_none_of_another(category):
    accepted = [name for name in schema.FOLDERS if _accepts(name, raw(category))]

    assert accepted == [category]


@given(valid_records())
def test_both_accept_what_is_valid(record):
    assert list(schema.flaws(record)) == []
    assert _accepts(record["category"], record)


@given(valid_records(), st.data())
def test_both_refuse_the_same(record, data):
    holder, key = data.draw(st.sampled_from(list(_places(record))))
    if data.draw(st.booleans()):
        del holder[key]
    else:
        holder[key] = data.draw(WRONG | json_values)
    assume(record.get("category") in schema.FOLDERS if isinstance(record.get("category"), str) else False)
    assume(not _is_seen_differently(record))

    assert _accepts(record["category"], record) == (not list(schema.flaws(record)))


def _accepts(category, record):
    return theirs.Draft202012Validator(ours.of(category)).is_valid(record)


def _places(value):
    """Every key of every object in a record that the schema knows."""
    if isinstance(value, list):
        for item in value:
            yield from _places(item)
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("x-"):
                yield value, key
                if key not in ("old", "new"):
                    yield from _places(item)


def _is_seen_differently(record):
    """The documented differences: null, moments that do not exist, unsorted tags, whole numbers written as 3.0,
    and checks that can never be broken or disagree with their examples."""
    values = [(key, holder[key]) for holder, key in _places(copy.deepcopy(record)) if key not in ("old", "new")]
    tags = record.get("tags")
    checks = record.get("checks")
    is_read = isinstance(checks, list) and _accepts(record["category"], record)
    if is_read and any(problem for part in checks for problem in check.problems(check.parse(part))):
        return True
    return (
        any(value is None or (isinstance(value, list) and None in value) for _, value in values)
        or any(isinstance(value, float) and value.is_integer() for key, value in values)
        or (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags) and tags != sorted(tags))
        or any(isinstance(value, str) and value.endswith("\n") for _, value in values)
    )


@pytest.mark.parametrize(
    ("fields", "ours_refuses", "theirs_refuses"),
    [
        ({"created_at": "2026-02-30T00:00:00Z"}, True, False),
        ({"tags": ["b", "a"]}, True, False),
        ({"times_updated": 3.0}, True, False),
        ({"checks": [{"on": "command"}]}, True, False),
    ],
)
def test_the_documented_differences_are_real(fields, ours_refuses, theirs_refuses):
    record = {**raw(), **fields}

    assert bool(list(schema.flaws(record))) is ours_refuses
    assert (not _accepts("decision", record)) is theirs_refuses


def test_null_is_absence_to_us_and_a_wrong_type_to_a_schema():
    record = {**raw(), "confidence": None}

    assert list(schema.flaws(record)) == []
    assert not _accepts("decision", record)
