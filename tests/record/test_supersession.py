from __future__ import annotations

import itertools

import pytest

from onrecord.record import validity
from onrecord.record.validity import OneSidedLink
from tests.records import sample


def record(name, by="", of=()):
    return sample(id=name, title=name, superseded_by=by or None, supersedes=list(of) or None)


def _one_sided(records):
    find = validity.finder(records)
    return [link for record in records for link in validity.one_sided_of(record, find)]


@pytest.mark.parametrize(("old_says", "new_says", "is_there"), [*itertools.product([False, True], repeat=3)])
def test_a_supersession_counts_if_both_say_so_or_the_successor_is_gone(old_says, new_says, is_there):
    old = record("old", by="new" if old_says else "")
    new = [record("new", of=["old"] if new_says else [])] if is_there else []
    counts = old_says and (new_says or not is_there)

    assert validity.replaced([old, *new]) == (frozenset([old.path]) if counts else frozenset())
    assert (old in validity.current([old, *new])) is not counts
    is_one_sided = is_there and old_says != new_says
    claimed_by = "old" if old_says else "new"
    assert _one_sided([old, *new]) == ([OneSidedLink("old", "new", claimed_by)] if is_one_sided else [])


def test_a_record_does_not_replace_itself():
    alone = record("a", by="a", of=["a"])

    assert validity.current([alone]) == [alone]
    assert _one_sided([alone]) == []


def test_a_claim_on_a_record_that_names_another_says_so():
    records = [record("a", by="c"), record("b", of=["a"]), record("c", of=["a"])]

    assert [link.note for link in _one_sided(records)] == ["b says that it replaces a, and a names c instead"]
