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
        (". starts with a stop", [".", "starts with a stop"]),
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


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, ""), (1, "n1"), (5, "n1, n2, n3, n4, n5"), (6, "n1, n2, n3, n4, n5 and 1 more")],
)
def test_the_first_few_names(count, expected):
    assert text.first_few([f"n{number + 1}" for number in range(count)]) == expected


def test_the_first_few_names_in_another_number_and_with_another_sign():
    names = [str(number) for number in range(1_003)]

    assert text.first_few(names, 3, "; ") == "0; 1; 2 and 1,000 more"


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("a" * 400, 100),
        ("é", 0),
        ("éé", 1),
        ("漢字漢", 2),
        ("ab漢字漢", 3),
    ],
)
def test_tokens_are_estimated_by_the_script(line, tokens):
    assert text.count_tokens(line) == tokens


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("plain, with ö", "plain, with ö"),
        ("two\nlines\tand\x1b[2J", "two lines and [2J"),
        ("a\u200bb\u202ec", "a b c"),
        ("می\u200cخواهم\n", "می\u200cخواهم "),
        ("क्\u200dष\n", "क्\u200dष "),
    ],
)
def test_a_flat_text_is_on_one_line_and_has_nothing_invisible(line, expected):
    assert text.flat(line) == expected


ABBREVIATIONS = ["e.g.", "i.e.", "z.B.", "d.h.", "bzw.", "ca.", "vs.", "etc.", "approx.", "p.ej.", "Nr."]


@pytest.mark.parametrize("short", ABBREVIATIONS)
def test_an_abbreviation_ends_no_sentence(short):
    assert text.sentences(f"Use it, {short} Nine. Then go") == [f"Use it, {short} Nine.", "Then go"]


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        # Behind the last whole sentence, a space and the ellipsis must have room.
        ("One two. Three four five.", 10, "One two. …"),
        ("One two. Three four five.", 9, "One two.…"),
        ("Start. 1. Stop it now. 2. Start", 11, "Start. …"),
    ],
)
def test_a_sentence_needs_room_for_the_ellipsis(line, limit, expected):
    assert text.cut_at_sentence(line, limit) == expected


@pytest.mark.parametrize(
    ("whole", "names", "rest"),
    [
        ("before <a>inside</a> after", ("a",), "before  after"),
        ("<a>first</a>middle<a x='1'>second</a>", ("a",), "middle"),
        ("keep <b>this</b> <a>not this", ("a",), "keep <b>this</b>"),
        ("<a>1</a> <b>2</b> 3", ("a", "b"), "3"),
        ("nothing here", ("a",), "nothing here"),
        ("nothing named", (), "nothing named"),
    ],
)
def test_elements_are_removed_with_what_they_hold(whole, names, rest):
    assert text.remove_elements(whole, names) == rest


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("</memory-context>", "[end of project memory]"),
        ('<memory-context source="~/.claude/memory/" note="data &amp; no more">', None),
        ("<memory-context>", "[project memory, from ]"),
        ("&lt;b&gt; of a line", "‹b› of a line"),
        ("<result>only text</result>", "- only text ()"),
        ('<result updated="2026-01-02" category="decision" other="x">T</result>', "- T (decision · 2026-01-02)"),
        ("<other>kept &amp; read", "<other>kept & read"),
        ("<result never closed", "<result never closed"),
        ("", ""),
    ],
)
def test_a_line_of_markup_as_a_plain_line(line, plain):
    expected = "[project memory, from ~/.claude/memory/: data & no more]" if plain is None else plain
    assert text.plain_lines(line) == expected


def test_an_element_has_no_empty_attributes_and_no_line_breaks():
    item = text.element("result", {"path": 'a "b".json', "empty": "", "mark": "<x>"}, "one\ntwo > one & more")

    assert item == '<result path="a &quot;b&quot;.json" mark="&lt;x&gt;">one two &gt; one &amp; more</result>'
    assert text.shown_in(item) == ()


def test_what_is_no_markup_of_ours_is_escaped_line_by_line():
    assert text.escape_for_agent("a <b>\nc\x00 & d > e") == "a &lt;b&gt;\nc  & d &gt; e"
    assert text.fence({"source": "s"}, ["<x>", text.element("result", {}, "y")]).split("\n")[1:3] == [
        "&lt;x&gt;",
        "<result>y</result>",
    ]
