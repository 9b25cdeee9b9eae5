"""Text cut short, and into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import text

HEAD = f'<memory-context note="{text.DATA_NOTE}">'


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
        (text.fence({}, ["a < b"]), "2 <b>", f"{HEAD}\na &lt; b\n</memory-context>\n\n2 &lt;b&gt;"),
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


@given(st.text(), st.text(), st.text())
def test_in_plain_lines_no_text_can_pose_as_structure(category, path, record_text):
    item = text.element("result", {"category": category, "path": path}, record_text)

    lines = text.plain_lines(text.fence({"source": ".claude/memory/"}, [item])).split("\n")

    assert len(lines) == 3
    assert (lines[0], lines[2]) == (f"[project memory, from .claude/memory/: {text.DATA_NOTE}]", text.PLAIN_END)
    assert lines[1].startswith("- ")
    assert not {"<", ">"}.intersection(lines[1])


def test_a_record_in_plain_lines_reads_as_it_was_written():
    facts = {"category": "decision", "confidence": "high", "updated": "2026-03-02", "path": 'a "b" & c.json'}
    item = text.element("result", facts, 'Use "uv" & not pip')

    assert text.plain_lines(item) == '- Use "uv" & not pip (decision · high · 2026-03-02 · a "b" & c.json)'


def test_a_text_knows_what_it_shows():
    first, second = text.fence({}, ["a"], shows=["A"]), text.fence({}, ["b"], shows=["B", "C"])

    assert text.shown_in(text.join(text.join(first, "between"), second)) == ("A", "B", "C")
    assert text.shown_in("plain") == ()


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        ("One. Two. Three.", 16, "One. Two. Three."),
        ("One. Two. Three.", 12, "One. Two. …"),
        ("(proposed) One long sentence that goes on and on", 30, "(proposed) One long sentence…"),
        ("Full disk. → 1. Stop it. 2. Start it again.", 30, "Full disk. → 1. Stop it. …"),
    ],
)
def test_a_line_is_cut_at_the_end_of_a_sentence(line, limit, expected):
    assert text.cut_at_sentence(line, limit) == expected


@given(st.text(max_size=200), st.integers(2, 120))
def test_a_line_cut_at_a_sentence_is_never_longer_than_the_limit(line, limit):
    assert len(text.cut_at_sentence(line, limit)) <= limit
