from __future__ import annotations

import pytest

from onrecord.record.schema import (
    Choice,
    Count,
    Day,
    Field,
    Flag,
    Flaw,
    Instant,
    ListOf,
    Number,
    Object,
    Pattern,
    Scalar,
    Text,
    check_fields,
    describe_type,
    shorten,
)

HEX = Pattern("[0-9a-f]+", "hexadecimal")
PAIR = Object((Field("a", Text(), "", required=True), Field("b", Flag(), "")))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Text(3), "äöü"), (Text(9, HEX), "00ff"), (Choice(("a", "b")), "b"), (Flag(), False), (Number(0, 1), 0),
        (Number(0, 1), 1.0), (Count(), 0), (Instant(), "2026-03-02T09:30:00Z"), (Day(), "with v3"), (Scalar(), [1, {}]),
        (Scalar(), True), (ListOf(Text(), max_items=2), []), (ListOf(Text(), is_sorted=True), ["a", "b"]),
        (PAIR, {"a": "x"}), (PAIR, {"a": "x", "b": None, "unknown": 1}),
    ],
)  # fmt: skip
def test_values_that_fit(kind, value):
    assert _flaws(kind, value) == []


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Text(), 1, "must be a text, not a number"),
        (Text(), ["a"], "must be a text, not a list"),
        (Choice(("a",)), {}, "must be a text, not an object"),
        (Flag(), 0, "must be true or false, not a number"),
        (Flag(), "yes", "must be true or false, not a text"),
        (Number(0, 1), True, "must be a number, not true or false"),
        (Number(0, 1), "1", "must be a number, not a text"),
        (Count(), 1.5, "must be a whole number, not a number"),
        (Count(), False, "must be a whole number, not true or false"),
        (Instant(), 5, "must be a text, not a number"),
        (ListOf(Text()), "a", "must be a list, not a text"),
        (PAIR, [], "must be an object, not a list"),
    ],
)
def test_a_wrong_type_is_a_flaw_of_shape(kind, value, message):
    assert _flaws(kind, value) == [Flaw("it", message, is_structural=True)]


@pytest.mark.parametrize(
    ("kind", "value", "flaw"),
    [
        (Text(), " \n", Flaw("it", "must not be empty")),
        (Text(vital=True), "", Flaw("it", "must not be empty", is_structural=True)),
        (Text(3), "four", Flaw("it", "must be at most 3 characters, and has 4")),
        (Text(9, HEX), "xyz", Flaw("it", "must be hexadecimal, not 'xyz'")),
        (Text(9, HEX), "00\n", Flaw("it", "must be hexadecimal, not '00\\n'")),
        (Choice(("a", "b")), "c", Flaw("it", "must be one of a, b, not 'c'")),
        (Choice(("a", "b"), vital=True), "c", Flaw("it", "must be one of a, b, not 'c'", is_structural=True)),
        (Number(0, 1), 1.5, Flaw("it", "must be from 0 to 1")),
        (Number(0, 1), -(10**400), Flaw("it", "must be from 0 to 1")),
        (Count(), -1, Flaw("it", "must be from 0 to 1,000,000,000")),
        (Instant(), "soon", Flaw("it", "must be a moment such as 2026-03-02T09:30:00Z, not 'soon'")),
        (ListOf(Text(), min_items=1), [], Flaw("it", "must have at least 1 item")),
        (ListOf(Text(), min_items=2), ["a"], Flaw("it", "must have at least 2 items")),
        (ListOf(Text(), max_items=1), ["a", "b"], Flaw("it", "must have at most 1 items, and has 2")),
        (ListOf(Text(), is_sorted=True), ["b", "a"], Flaw("it", "must be sorted, each item once")),
        (ListOf(Text(), is_sorted=True), ["a", "a"], Flaw("it", "must be sorted, each item once")),
        (ListOf(Text()), ["a", None], Flaw("it[1]", "must be a text, not null", is_structural=True)),
        (ListOf(PAIR), [{"b": True}], Flaw("it[0].a", "is missing")),
        (PAIR, {"a": None}, Flaw("it.a", "is missing")),
    ],
)
def test_a_wrong_value_is_a_flaw(kind, value, flaw):
    assert _flaws(kind, value) == [flaw]


def _flaws(kind, value):
    return list(check_fields((Field("it", kind, ""),), {"it": value}, ""))


def test_a_required_field_that_is_null_is_missing():
    fields = (Field("a", Text(), "", required=True), Field("b", Text(vital=True), "", required=True))

    flaws = list(check_fields(fields, {"a": None}, "in."))

    assert flaws == [Flaw("in.a", "is missing"), Flaw("in.b", "is missing", is_structural=True)]


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "true or false"), (1, "a number"), (1.0, "a number"), ("", "a text"), ([], "a list"),
     ({}, "an object"), (b"", "bytes")],
)  # fmt: skip
def test_names_of_values(value, name):
    assert describe_type(value) == name


def test_shortened_values_fit_a_message():
    assert (shorten("a" * 60), shorten("a" * 61)) == ("a" * 60, "a" * 59 + "…")


def test_a_number_too_long_to_print_is_refused_all_the_same():
    assert _flaws(Count(), 10**4300) == [Flaw("it", "must be from 0 to 1,000,000,000")]
