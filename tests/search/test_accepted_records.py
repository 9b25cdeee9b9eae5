"""Which records a search may show: by scope, category, tags, status, and whether they are in force."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onrecord.search.candidates import Filter

NOW = "2026-03-02T00:00:00Z"


def row(**values):
    usual = {"scope": "", "category": "decision", "tags": "api\nauth", "status": "active", "void": 0, "expires": "",
             "updated_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    return SimpleNamespace(**{**usual, **values})


@pytest.mark.parametrize(
    ("filter", "record", "is_accepted"),
    [
        (Filter(), row(), True),
        (Filter(fits=lambda scope: scope == "here"), row(), True),
        (Filter(fits=lambda scope: scope == "here"), row(scope="here"), True),
        (Filter(fits=lambda scope: scope == "here"), row(scope="there"), False),
        (Filter(), row(scope="there"), True),
        (Filter(categories=("decision",)), row(), True),
        (Filter(categories=("runbook",)), row(), False),
        (Filter(tags=("x", "auth")), row(), True),
        (Filter(tags=("x",)), row(), False),
        (Filter(tags=("x",)), row(tags=""), False),
        (Filter(), row(status="retired"), False),
        (Filter(include_retired=True), row(status="retired"), True),
        (Filter(), row(void=1), True),
        (Filter("similar"), row(void=1), True),
        (Filter("auto", now=NOW), row(), True),
        (Filter("auto", now=NOW), row(void=1), False),
        (Filter("past", now=NOW), row(void=1), False),
        (Filter("auto", now=NOW), row(expires="2026-03-01"), False),
        (Filter("auto", now=NOW), row(expires="2026-03-03"), True),
        (Filter("search", now=NOW), row(expires="2026-03-01"), True),
        (Filter("auto", now=NOW, include_retired=True), row(status="retired"), True),
    ],
)
def test_a_record_is_accepted_if_all_fits(filter, record, is_accepted):
    assert filter.accepts(record) is is_accepted


@pytest.mark.parametrize(
    ("filter", "in_force_only", "is_search", "is_narrow"),
    [
        (Filter(), False, True, False),
        (Filter("auto"), True, False, False),
        (Filter("past"), True, True, False),
        (Filter("similar"), False, False, False),
        (Filter("similar", tags=("x",)), False, False, True),
        (Filter("auto", ("runbook",)), True, False, True),
    ],
)
def test_what_a_mode_asks_for(filter, in_force_only, is_search, is_narrow):
    assert (filter.in_force_only, filter.is_search, filter.is_narrow) == (in_force_only, is_search, is_narrow)


def test_days_are_counted_back_from_the_moment_of_the_filter():
    assert Filter(now=NOW).at == NOW
    assert Filter(now=NOW).days_ago(2)[:10] == "2026-02-28"


@pytest.mark.parametrize(
    ("days", "is_enabled", "is_accepted"),
    [(0, True, True), (60, True, True), (59, True, False), (0, False, False), (60, False, False)],
)
def test_for_a_prompt_a_category_is_in_use_and_a_record_not_too_old(days, is_enabled, is_accepted):
    settings = SimpleNamespace(retention_days=lambda category: days, is_enabled=lambda category: is_enabled)

    assert Filter("auto", settings=settings, now=NOW).accepts(row()) is is_accepted
    assert Filter("search", settings=settings, now=NOW).accepts(row())
