"""The labels of similar records, and what is counted with them."""

from __future__ import annotations

import json

from bench import data
from bench.similar import Tally, summary

LABELS = [json.loads(line) for line in (data.OWN / "similar.jsonl").read_text("utf-8").splitlines()]


def test_enough_pairs_were_read_and_none_is_labelled_twice():
    assert sum(label["by"] == "reader" for label in LABELS) >= 150
    assert all(label["older"] < label["newer"] for label in LABELS)
    assert len({(label["older"], label["newer"]) for label in LABELS}) == len(LABELS)
    assert all(label["similar"] for label in LABELS if label["by"] == "author")


def test_right_unread_and_refused_pairs_and_places_are_counted():
    tallies = [Tally(10, {("a", "b"), ("a", "c")}, {("a", "b")}, [1, 4]), Tally(5, {("x", "y")}, set(), [0])]

    counted = summary(tallies, {("a", "b"): True, ("a", "c"): False})

    assert counted == {
        "saves": 15, "named": 3, "unread": 1, "right": 1, "interval": [0.06, 0.79], "refused": 1, "replacements": 3,
        "found in 1": 1, "found in 3": 1, "found in 5": 2, "found in 10": 2,
    }  # fmt: skip
