"""The words that two texts do not have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.web import field_merge
from onrecord.web.field_merge import MarkedPart


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", ((), ())),
        ("same", "same", ((MarkedPart("same"),), (MarkedPart("same"),))),
        ("", "new", ((), (MarkedPart("new", True),))),
        ("14 day expiry", "30 day expiry", (
            (MarkedPart("14", True), MarkedPart(" day expiry")), (MarkedPart("30", True), MarkedPart(" day expiry")))),
        ("use old tools now", "use fine new tools now", (
            (MarkedPart("use "), MarkedPart("old", True), MarkedPart(" tools now")),
            (MarkedPart("use "), MarkedPart("fine new", True), MarkedPart(" tools now")))),
    ],
)  # fmt: skip
def test_compare(old, new, expected):
    assert tuple(field_merge.compare_words(old, new)) == expected


@given(st.text(), st.text())
def test_the_parts_are_the_texts(old, new):
    marked = field_merge.compare_words(old, new)

    assert "".join(part.text for part in marked.old) == old
    assert "".join(part.text for part in marked.new) == new


def test_very_long_texts_are_marked_as_a_whole():
    old, new = "a " * 3_000, "a " * 2_999 + "b"

    assert field_merge.compare_words(old, new).new == (MarkedPart(new, True),)
