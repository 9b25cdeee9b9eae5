"""What the progress line of each command says that it is doing."""

from __future__ import annotations

import pytest

from onrecord.cli import terminal


@pytest.fixture
def steps(monkeypatch):
    """The texts of all progress lines, drawn or not."""
    texts: list[str] = []
    enter = terminal.Progress.__enter__
    monkeypatch.setattr(terminal.Progress, "__enter__", lambda self: texts.append(self._what) or enter(self))
    return texts


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("improve",), ["reading records", "comparing records"]),
        (("import", "--dry-run"), ["reading records", "reading 1 file", "writing drafts"]),
        (("recall", "x"), ["searching"]),
        (("search", "x"), ["searching"]),
        (("why", "x"), ["searching"]),
        (("why", "x", "--judge"), ["asking the model"]),
        (("try", "x"), ["replaying prompts"]),
        (("try", "x", "--import"), ["reading 1 file", "replaying prompts"]),
        (("remote", "status"), ["comparing files"]),
        (("remote", "add", "other", "/nowhere/other.git"), ["asking other"]),
        (("sync",), ["syncing platform"]),
        (("web", "--static", "site"), ["writing pages"]),
    ],
)
def test_the_line_names_the_step(sample, onrecord, steps, words, expected):
    onrecord("remote", "add", "platform", "/nowhere/memory.git", "--offline")
    steps.clear()

    onrecord(*words)

    assert [text for text in steps if text in expected] == expected, steps


def test_the_line_says_how_many_of_how_many(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    progress = terminal.Progress("reading records", 1_234)

    assert progress._line(0.4) == "reading records, 0 s …"
    progress.count = 1_000
    assert progress._line(61.6) == "reading records: 1,000 of 1,234, 62 s …"
    uncounted = terminal.Progress("reading records")
    uncounted.count = 2
    assert uncounted._line(3.0) == "reading records: 2, 3 s …"
