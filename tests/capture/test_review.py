"""Where a draft came from."""

from __future__ import annotations

from onrecord.capture import review


def test_the_source_of_a_draft_names_the_session_and_quotes_it_within_bounds():
    assert review.source("s-1", ("one", "two")) == 'session s-1: "one … two"'
    assert review.source("", ()) == "session unknown"
    assert len(review.source("s-1", ("x" * 5_000,))) == 1_000
