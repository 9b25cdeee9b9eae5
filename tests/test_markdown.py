"""Markdown: front matter, headings, blocks, prose, and the limits of a page."""

from __future__ import annotations

import pytest

from onrecord import markdown
from onrecord.markdown import Block

PAGE = """\
---
title: "A page"
tags: [one, 'two', ]
status:
- accepted
- "final"
about: |
  first line
  second line
---
Before any heading.

# First #

A *paragraph* with **bold**,
on two lines.

- one [link](https://x.org/a.md)
- [x] two
  - nested
    goes on

1. Stop it.
2. Start it:
   with care

| a | b |
| - | - |

```sh
$ ls
```

## Below

> quoted

Third
-----

Fourth
======

text
"""


def test_a_page_is_taken_apart_whole():
    page = markdown.parse(PAGE)

    assert page.front == {
        "title": ["A page"],
        "tags": ["one", "two"],
        "status": ["accepted", "final"],
        "about": ["first line second line"],
    }
    assert [(part.title, part.level, part.line, part.above) for part in page.sections] == [
        ("", 0, 11, ()),
        ("First", 1, 13, ()),
        ("Below", 2, 34, ("First",)),
        ("Third", 2, 38, ("First",)),
        ("Fourth", 1, 41, ()),
    ]
    assert [block[:4] for block in page.sections[1].blocks] == [
        ("paragraph", "A *paragraph* with bold,\non two lines.", 15, ""),
        ("bullet", "one link", 18, ""),
        ("bullet", "two\n; nested\ngoes on", 19, ""),
        ("numbered", "1. Stop it.\n2. Start it:\nwith care", 23, ""),
        ("table", "| a | b |\n| - | - |", 27, ""),
        ("code", "$ ls", 30, "sh"),
    ]
    assert [block.text for part in page.sections[2:] for block in part.blocks] == ["quoted", "text"]
    assert page.sections[0].source == "Before any heading.\n"
    assert page.sections[1].blocks[5].source == "```sh\n$ ls\n```"
    assert (page.first("status"), page.first("none")) == ("accepted", "")


def test_the_lines_and_the_prose_of_a_section():
    (_, first, *_) = markdown.parse(PAGE).sections

    assert "$ ls" not in first.lines and "| a | b |" in first.lines
    assert first.prose == [block.text for block in first.blocks[:4]]


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("# A", [("A", 1)]),
        ("###### A", [("A", 6)]),
        ("####### A", [("", 0)]),
        ("#A", [("", 0)]),
        ("   # A", [("A", 1)]),
        ("    # A", [("", 0)]),
        ("A\n---", [("A", 2)]),
        ("A\n--", [("", 0)]),
        ("A\n===", [("A", 1)]),
        ("A\n=-=", [("", 0)]),
        ("| A\n---", [("", 0)]),
        ("- A\n---", [("", 0)]),
        ("    A\n---", [("", 0)]),
        ("\n---\n# B", [("", 0), ("B", 1)]),
        ("```\n# A\n```\n# B", [("", 0), ("B", 1)]),
        ("```\n# A\n~~~\n# B\n```\n# C", [("", 0), ("C", 1)]),
        ("<!-- # A -->\n# B <!-- C -->", [("", 0), ("B", 1)]),
        ("# A **b** #", [("A b", 1)]),
        ("# A\n### B\n## C\n# D", [("A", 1), ("B", 3), ("C", 2), ("D", 1)]),
        ("\ufeff# A", [("A", 1)]),
        ("# A\0B", [("A B", 1)]),
    ],
)
def test_what_is_a_heading(text, sections):
    assert [(section.title, section.level) for section in markdown.parse(text).sections] == sections


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("---\na: 1\n---\n", {"a": ["1"]}),
        ("a: 1\n---\n", {}),
        ("---\na: 1\n", {}),
        ("---\nA Key : x: y\n---", {"a key": ["x: y"]}),
        ("---\na: >-\n one\n two\n---", {"a": ["one two"]}),
        ("---\na: >\n one\nb: |-\n two\n---", {"a": ["one"], "b": ["two"]}),
        ("---\na:\n  nested: 1\n---", {"a": []}),
        ("---\n- lost\na: []\n---", {"a": []}),
        ("---\na: [x\n---", {"a": ["[x"]}),
        ("---\n" + "a: 1\n" * 198 + "---\n", {"a": ["1"]}),
        ("---\n" + "a: 1\n" * 199 + "---\n", {}),
    ],
)
def test_front_matter(text, front):
    assert markdown.parse(text).front == front


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("a\nb\n\nc", [("paragraph", "a\nb"), ("paragraph", "c")]),
        ("- a\nb\n\n  c", [("bullet", "a\nb\n\nc")]),
        ("- a\n\nb", [("bullet", "a"), ("paragraph", "b")]),
        ("* a\n+ b", [("bullet", "a"), ("bullet", "b")]),
        ("1. a\n2) b", [("numbered", "1. a\n2) b")]),
        ("12345. a", [("paragraph", "12345. a")]),
        ("1234. a", [("numbered", "1234. a")]),
        ("1a. b", [("paragraph", "1a. b")]),
        ("-a", [("paragraph", "-a")]),
        (" - a", [("bullet", "a")]),
        ("x\n  - a", [("paragraph", "x\n; a")]),
        ("| a |\n\n| b |", [("table", "| a |"), ("table", "| b |")]),
        ("| a |\ntext", [("table", "| a |"), ("paragraph", "text")]),
        ("- a\n  ```\n  x\n  ```", [("bullet", "a\nx")]),
        ("- a\n```\nx\n```", [("bullet", "a"), ("code", "x")]),
        ("~~~ Python ~~~\nx\n~~~\ny", [("code", "x"), ("paragraph", "y")]),
        ("> a\n> b", [("paragraph", "a\nb")]),
        ("- [ ] a\n- [X] b\n- [y] c", [("bullet", "a"), ("bullet", "b"), ("bullet", "[y] c")]),
        ("- [x]a", [("bullet", "[x]a")]),
        ("a\tb", [("paragraph", "a b")]),
        ("```\n```", []),
    ],
)  # fmt: skip
def test_the_blocks_under_a_heading(text, blocks):
    (section,) = markdown.parse(f"# T\n{text}").sections

    assert [(block.kind, block.text) for block in section.blocks] == blocks


def test_a_block_has_its_place_its_language_and_its_source():
    (section,) = markdown.parse("# T\n\n~~~ Python ~~~\nx **y**\n~~~\n\n- **a** `b **c**`\n").sections

    assert section.blocks == (
        Block("code", "x **y**", 3, "python", "~~~ Python ~~~\nx **y**\n~~~"),
        Block("bullet", "a `b **c**`", 7, "", "- **a** `b **c**`"),
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("see [the page](docs/a.md) and [it](https://x.org/a.md)", "see the page (docs/a.md) and it"),
        ("[docs/a.md](docs/a.md)", "docs/a.md"),
        ("[a](b.py) ![picture](a.md)!", "a !"),
        ("**bold** __name__ *it*", "bold __name__ *it*"),
        ("**a** `**b**` **c**", "a `**b**` c"),
        ("a  \n b", "a b"),
        (f"[{'x' * 300}](a.py)", "x" * 300),
        (f"[{'x' * 301}](a.py)", f"[{'x' * 301}](a.py)"),
        (f"[x]({'a' * 500})", "x"),
        (f"[x]({'a' * 501})", f"[x]({'a' * 501})"),
    ],
)
def test_a_text_without_emphasis_and_links(text, plain):
    assert markdown.plain(text) == plain


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("a\n; b\n; c", "a; b; c"),
        ("a:\n; b", "a: b"),
        ("a.\n; b", "a. b"),
        ("a ; b", "a; b"),
    ],
)
def test_a_block_on_one_line(text, flat):
    assert markdown.flat(text) == flat


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("# T\n\nOne\ntwo.\n\nThree.", "One two."),
        ("---\na: 1\n---\nText", "Text"),
        ("<!-- no -->\n| a |\n---\n***\nText", "Text"),
        ("```\ncode\n```\nText", "Text"),
        ("Date: 2026-01-01\nAuthor: A\n\nProse here.", "Prose here."),
        ("- **Status:** done.\n\nProse here.", "Prose here."),
        ("Status: it is done.\n\nProse here.", "Status: it is done."),
        ("A name of four words: x\n\nProse.", "A name of four words: x"),
        ("A short name: x\n\nProse.", "Prose."),
        ("Status:\n\nProse.", "Status:"),
        ("Date: 2026-01-01", "Date: 2026-01-01"),
        ("Date: 1\n\nAuthor: A", "Date: 1"),
        ("", ""),
    ],
)
def test_the_first_paragraph_of_a_page(text, paragraph):
    assert markdown.first_paragraph(text) == paragraph


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\n```\nb\n```\nc", ["a", "c"]),
        ("a <!-- b\nc --> d\ne", ["a ", " d", "e"]),
        ("a <!-- never closed\nb", ["a "]),
        ("a <!--> b --> c", ["a  c"]),
    ],
)
def test_prose_has_neither_code_nor_comments(text, lines):
    assert markdown.prose_lines(text) == lines


def test_lines_keep_their_numbers_behind_a_comment():
    (section,) = markdown.parse("<!-- a\nb\nc -->\n\n# T\n\ntext").sections[1:]

    assert (section.line, section.blocks[0].line) == (5, 7)


def test_each_comment_whose_end_has_a_line_of_its_own_moved_the_rest_of_the_page_up():
    text = "# T\n\n<!--\nhelp\n-->\n\n## Decision\n\nWe use X.\n\n<!--\n-->\n## More\nlast"

    sections = markdown.parse(text).sections

    assert [(section.line, section.source) for section in sections[1:]] == [
        (7, "\nWe use X.\n\n<!--\n-->"),
        (13, "last"),
    ]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("x" * 10_001, 10_000),
        ("x\n" * 20_001, 39_999),
        (("x" * 9_999 + "\n") * 101, 1_000_000 - 1),
    ],
)
def test_a_page_is_read_up_to_its_limits(text, length):
    (section,) = markdown.parse(text).sections

    assert len(section.blocks[0].text) == length
