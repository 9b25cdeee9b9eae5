"""How `onrecord docs` shows a page on a terminal, and how it finds a passage among pages."""

from __future__ import annotations

import re

import pytest

from onrecord.cli import docs
from onrecord.cli.docs import ManualPassage
from onrecord.cli.output import Screen
from onrecord.errors import NotFound

SOURCE = """\
# A page about links

Read the [tutorial](../tutorial.md#start), [the
next page](other.md) and [other](https://x.test/a.md).

- one bullet that is long enough to be wrapped
- two [capture](capture.md)

1. first step
2. second step

## Part

After it.

### Small part

```sh
onrecord init
cd x
```

| key | meaning | default |
| --- | --- | --- |
| `a` | what it does in so many words | 1 |
| `b` | short |
"""
PAGE = ManualPassage("how-to/page", "A page about links", "", SOURCE)
WIDE = """\
A page about links

Read the tutorial, the next page (how-to/other)
and other.

- one bullet that is long enough to be wrapped
- two capture (how-to/capture)

1. first step
2. second step

Part

After it.

Small part

    onrecord init
    cd x

key  meaning                        default
`a`  what it does in so many words  1
`b`  short"""
NARROW = """\
A page about links

Read the tutorial, the next page
(how-to/other) and other.

- one bullet that is long enough to be
  wrapped
- two capture (how-to/capture)

1. first step
2. second step

Part

After it.

Small part

    onrecord init
    cd x

`a`
  meaning: what it does in so many words
  default: 1

`b`
  meaning: short"""


@pytest.mark.parametrize(
    ("screen", "text"),
    [
        (Screen(50, is_terminal=True), WIDE),
        (Screen(40, is_terminal=True), NARROW),
        (Screen(40), SOURCE.strip()),
    ],
)
def test_a_page_with_every_kind_of_block(screen, text):
    assert docs.rendered(PAGE, screen) == text


@pytest.mark.parametrize(("width", "is_table"), [(42, True), (41, False)])
def test_three_columns_of_twelve_with_gaps_of_two_are_a_table(width, is_table):
    assert ("key  meaning" in docs.rendered(PAGE, Screen(width, is_terminal=True))) == is_table


def test_headings_code_and_heads_of_tables_are_in_colour():
    page = docs.rendered(PAGE, Screen(50, is_terminal=True, has_colour=True))
    narrow = docs.rendered(PAGE, Screen(40, is_terminal=True, has_colour=True))

    assert re.findall("\033\\[([0-9;]+)m(.*?)\033\\[0m", page) == [
        ("1;36", "A page about links"),
        ("1;36", "Part"),
        ("1", "Small part"),
        ("36", "    onrecord init"),
        ("36", "    cd x"),
        ("1", "key  meaning                        default"),
    ]
    assert re.findall("\033\\[1m(`.*?)\033\\[0m", narrow) == ["`a`", "`b`"]


@pytest.mark.parametrize(
    ("widths", "available", "fitting"),
    [
        ([30, 20, 5], 55, [30, 20, 5]),
        ([30, 20, 5], 45, [20, 20, 5]),
        ([30, 20, 5], 43, [19, 19, 5]),
        ([13, 12], 24, [12, 12]),
        ([13, 12], 10, [12, 12]),
    ],
)
def test_the_widest_column_gives_way_first_down_to_twelve(widths, available, fitting):
    assert docs._widths(widths, available) == fitting


def test_a_bar_in_a_cell_is_part_of_its_text():
    assert docs._cells(r" | a \| b |  c | ") == ["a | b", "c"]


@pytest.mark.parametrize(
    ("words", "score"),
    [
        (["merge"], 6 + 3 + 3),
        (["driver"], 6 + 1),
        (["title"], 3),
        (["text"], 2),
        (["text", "driver"], 2 + 7),
        (["text", "missing"], 0),
        ([], 0),
    ],
)
def test_a_word_counts_most_in_a_heading_then_in_the_title_then_often_in_the_text(words, score):
    passage = ManualPassage("p", "Merge title", "Merge Driver", "merge merge merge merge Text text driver")

    assert docs._score(passage, words) == score


def test_a_section_has_the_smaller_ones_in_it_and_its_own_name():
    sections = docs._sections(PAGE)

    assert [(section.name, section.title) for section in sections] == [
        ("how-to/page#part", "A page about links"),
        ("how-to/page#small-part", "A page about links"),
    ]
    assert sections[0].source.startswith("## Part\n") and "### Small part" in sections[0].source
    assert sections[1].source.startswith("### Small part\n") and "After it." not in sections[1].source
    two = docs._sections(PAGE._replace(source="# T\n\n## A\n\na\n\n## B\n\nb"))
    assert [section.source for section in two] == ["## A\n\na\n", "## B\n\nb"]


def test_the_list_and_the_data_of_passages(onrecord):
    listed = docs._list(Screen(), [PAGE, PAGE._replace(heading="Part: one, two!")])
    data = docs._data(PAGE._replace(source="\n x \n", heading="Part"))

    assert listed == "how-to/page\tA page about links\nhow-to/page#part-one-two\tPart: one, two!"
    assert data == {"name": "how-to/page#part", "title": "A page about links", "heading": "Part", "text": "x"}
    outcome = onrecord("docs", "holdout", "sessions")
    assert (outcome.code, outcome.err) == (0, "print one: onrecord docs NAME\n")


def test_at_most_ten_passages_are_listed_in_order_of_their_scores():
    words = ["record"]
    passages = docs.find(words)
    scores = [docs._score(passage, words) for passage in passages]

    assert len(passages) == 10
    assert scores == sorted(scores, reverse=True)


def test_an_installation_without_pages_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(docs, "_FOLDERS", (str(tmp_path / "a"), str(tmp_path / "b")))
    with pytest.raises(NotFound, match=r"this installation has no pages$") as missing:
        docs.pages()
    (tmp_path / "b/deep").mkdir(parents=True)
    (tmp_path / "b/README.md").write_text("no heading\n")
    (tmp_path / "b/deep/x.md").write_text("text\n# The X\n# The Y\n")
    (tmp_path / "b/deep/x.txt").write_text("# No page\n")

    assert missing.value.fix.startswith("install Onrecord again, or read the pages in the docs folder")
    assert [(page.page, page.title, page.heading) for page in docs.pages()] == [
        ("README", "README", ""),
        ("deep/x", "The X", ""),
    ]
