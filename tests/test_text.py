"""Text cut short, and into sentences."""

from __future__ import annotations

import pytest

from onrecord import text


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


@pytest.mark.parametrize(
    ("whole", "longest", "short"),
    [
        ("  ten chars ", 9, "ten chars"),
        ("ten chars.", 9, "ten char…"),
        ("one two three", 10, "one two…"),
        ("onetwo three", 10, "onetwo th…"),
        ("onetwot three", 10, "onetwot…"),
        ("onetwo,; three four", 12, "onetwo…"),
        ("onetwothreefour", 10, "onetwothr…"),
        ("one twothree four", 10, "one twoth…"),
    ],
)
def test_a_text_is_cut_at_a_word_unless_that_costs_more_than_four_tenths(whole, longest, short):
    assert text.cut(whole, longest) == short
    assert len(short) <= longest


@pytest.mark.parametrize(
    ("before", "note", "expected"),
    [
        (text.fence({}, ["a < b"]), "2 <b>", "<memory-context>\na &lt; b\n</memory-context>\n\n2 &lt;b&gt;"),
        ("<x>", "note", "&lt;x&gt;\n\nnote"),
        ("", "note", "note"),
        ("text", "", "text"),
    ],
)
def test_a_note_after_a_text_leaves_its_own_tags_alone(before, note, expected):
    assert text.escape_for_agent(text.join(before, note)) == expected


@pytest.mark.parametrize(
    ("count", "noun", "counted"),
    [
        (0, "record", "0 records"),
        (1, "record", "1 record"),
        (2_000, "record", "2,000 records"),
        (2, "session summary", "2 session summaries"),
        (2, "day", "2 days"),
        (1, "time", "1 time"),
    ],
)
def test_a_number_with_its_noun(count, noun, counted):
    assert text.plural(count, noun) == counted
