"""Which blocks of a page can be quoted: plain prose whose lines belong together."""

from __future__ import annotations

import pytest

from onrecord import markdown
from onrecord.importers import adr_page
from onrecord.importers.adr_page import Quotable

WIDE = "The workers of the northern harbour wait for the lock of the queue until"


def read(text: str) -> list[Quotable]:
    (section,) = markdown.parse(f"## Context\n\n{text}\n").sections
    return adr_page.quotables(section.blocks)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("Jobs get lost\nwhen a worker restarts.", ""),
        ("Jobs get lost.\nWorkers restart.", ""),
        (f"{WIDE}\nMonday, and then they go on.", ""),
        ("Losing jobs\nWorkers restart at night.", "its lines may be separate"),
        ("- Jobs get lost\n  - at night", "it has a list of its own"),
        ("- Jobs get lost\n\n  Workers restart at night.", "it has several parts"),
        ("Jobs get `lost at night.", "it has more than plain text"),
        ("Jobs get lost.<br>Workers restart.", "it has more than plain text"),
    ],
)
def test_a_block_is_plain_if_its_lines_leave_nothing_to_guess(text, flaw):
    assert [part.flaw for part in read(text)] == [flaw]


def test_marks_of_emphasis_and_links_are_taken_off_and_code_stays():
    (part,) = read("Jobs _get_ **lost** in [the queue](https://example.org/q) of `a_b` and *c*.")

    assert part.text == "Jobs get lost in the queue of `a_b` and c."
    assert [part.text for part in read("Jobs get lost[1](https://example.org/q).")] == ["Jobs get lost."]


def test_quotations_and_notes_in_italics_are_passed_over():
    assert read("> What is the issue?\n\n_Describe the context._\n\nJobs get lost.") == [
        Quotable("paragraph", "Jobs get lost.")
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**Scope** Jobs get lost.", "Scope"),
        ("**Scope:** Jobs get lost.", "Scope:"),
        ("**Jobs get lost at night.** Workers restart.", ""),
        ("**Jobs get lost**", ""),
        ("Jobs get **lost** at night.", ""),
    ],
)
def test_bold_words_before_a_text_are_its_label(text, label):
    assert [part.label for part in read(text)] == [label]


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("Jobs get lost:\n\n- at night", True),
        ("Jobs get lost\n\n- at night", True),
        ("Jobs get lost with\n\n```\ncode\n```", True),
        ("Jobs have several costs.\n\nTime: they are slow.", True),
        ("Jobs have several costs.\n\n**Time** is lost.", True),
        ("Jobs get lost.\n\n- at night", False),
        ("Jobs get lost.\n\n```\ncode\n```", False),
        ("Jobs get lost\n\nWorkers restart.", False),
    ],
)
def test_a_paragraph_that_leads_to_a_list_or_code_is_open(text, is_open):
    assert read(text)[0].is_open == is_open


def test_items_keep_the_numbers_of_their_list():
    assert [(part.number, part.text) for part in read("2. two\n3. three\n\n- none")] == [
        ("2", "two"),
        ("3", "three"),
        ("", "none"),
    ]


@pytest.mark.parametrize(
    ("paragraph", "flaw"),
    [
        ("A queue means that we run two things:", "it goes on with another sentence"),
        ("A queue means that we run two things.", ""),
        ("Positive:", ""),
    ],
)
def test_a_list_that_goes_on_with_a_sentence_is_not_quoted(paragraph, flaw):
    assert [part.flaw for part in read(f"{paragraph}\n\n- the broker\n- the table")] == ["", flaw, flaw]
