"""Verdicts in words: in a sentence, beside the path of a file, and as the warning of a whole record."""

from __future__ import annotations

import pytest

from onrecord.freshness import check
from onrecord.freshness.check import IndexedAnchor, Verdict


def verdict(state: str, now: str = "a.py", commits: int = -1, day: str = "2026-03-01", reason: str = "") -> Verdict:
    return Verdict(IndexedAnchor("a.py", "b" * 40, "", day, "", ""), state, now, commits, reason=reason)


@pytest.mark.parametrize(
    ("verdict", "sentence", "about_file"),
    [
        (verdict("fresh"), "`a.py` is fresh", "unchanged"),
        (verdict("fresh", "b.py"), "`a.py` is now `b.py`", "now at b.py"),
        (verdict("changed"), "`a.py` changed since 2026-03-01", "changed since 2026-03-01"),
        (verdict("changed", commits=0), "`a.py` changed since 2026-03-01", "changed since 2026-03-01"),
        (verdict("changed", commits=1), "`a.py` changed once since 2026-03-01", "changed once since 2026-03-01"),
        (verdict("changed", commits=2), "`a.py` changed 2 times since 2026-03-01", "changed 2 times since 2026-03-01"),
        (verdict("changed", day=""), "`a.py` changed", "changed"),
        (
            verdict("changed", "b.py", commits=1),
            "`b.py` (was `a.py`) changed once since 2026-03-01",
            "now at b.py, changed once since 2026-03-01",
        ),
        (verdict("missing"), "`a.py` no longer exists", "no longer exists"),
        (verdict("missing", "b.py"), "`a.py` no longer exists", "no longer exists"),
        (verdict("unknown"), "`a.py` is unknown", "could not be compared"),
        (verdict("unknown", reason="not checked"), "`a.py` is not checked", "not checked"),
    ],
)
def test_a_verdict_in_words(verdict: Verdict, sentence: str, about_file: str) -> None:
    assert check.sentence(verdict) == sentence
    assert check.about_file(verdict) == about_file


@pytest.mark.parametrize(
    ("states", "unchecked", "warning"),
    [
        ((), 0, ""),
        (("fresh", "fresh"), 0, ""),
        (("fresh", "moved"), 0, "`a.py` is now `b.py`"),
        (("moved", "changed"), 0, "verify: `a.py` is now `b.py`; `a.py` changed"),
        (("changed", "missing"), 0, "verify: `a.py` changed; `a.py` no longer exists"),
        (("changed", "fresh", "missing", "moved"), 0,
         "verify: `a.py` changed; `a.py` no longer exists; 1 more file changed"),
        (("changed",) * 4, 0, "verify: `a.py` changed; `a.py` changed; 2 more files changed"),
        (("changed",) * 4, 2, "verify: `a.py` changed; `a.py` changed; 2 more files changed; 2 files were not checked"),
        (("fresh",), 1, "verify: 1 file was not checked"),
        (("fresh", "unknown"), 0, "verify: 1 file was not checked"),
        (("unknown",), 1, "verify: 2 files were not checked"),
        (("moved", "unknown"), 0, "verify: `a.py` is now `b.py`; 1 file was not checked"),
    ],
)  # fmt: skip
def test_the_warning_of_a_record_names_two_files_and_counts_the_others(
    states: tuple[str, ...], unchecked: int, warning: str
) -> None:
    verdicts = [verdict("fresh", "b.py") if state == "moved" else verdict(state, day="") for state in states]

    assert check.warning(verdicts, unchecked) == warning
