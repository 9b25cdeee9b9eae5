"""The words that two texts do not have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.web import word_marks
from onrecord.web.word_marks import Part


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", ((), ())),
        ("same", "same", ((Part("same"),), (Part("same"),))),
        ("", "new", ((), (Part("new", True),))),
        ("14 day expiry", "30 day expiry", (
            (Part("14", True), Part(" day expiry")), (Part("30", True), Part(" day expiry")))),
        ("use old tools now", "use fine new tools now", (
            (Part("use "), Part("old", True), Part(" tools now")),
            (Part("use "), Part("fine new", True), Part(" tools now")))),
    ],
)  # fmt: skip
def test_compare(old, new, expected):
    assert tuple(word_marks.compare(old, new)) == expected


@given(st.text(), st.text())
def test_the_parts_are_the_texts(old, new):
    marked = word_marks.compare(old, new)

    assert "".join(part.text for part in marked.old) == old
    assert "".join(part.text for part in marked.new) == new


def test_very_long_texts_are_marked_as_a_whole():
    old, new = "a " * 3_000, "a " * 2_999 + "b"

    assert word_marks.compare(old, new).new == (Part(new, True),)
