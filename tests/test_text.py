"""Text cut into sentences."""

from __future__ import annotations

import pytest

from recollect import text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("one", ["one"]),
        ("One. Two! Three? four", ["One.", "Two!", "Three?", "four"]),
        ("use 3.11 and app.py. Then go. ", ["use 3.11 and app.py.", "Then go."]),
        ("tabs, e.g. in Go, vs. spaces. Next", ["tabs, e.g. in Go, vs. spaces.", "Next"]),
        ("run `a. b! c` now. Next `d", ["run `a. b! c` now.", "Next `d"]),
        ("never closed ` here. Next. Last", ["never closed ` here. Next. Last"]),
    ],
)
def test_sentences(line, expected):
    assert text.sentences(line) == expected
