"""A prompt is asked passage by passage: its requests apart, and what machines print apart from what was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.search import index, passages, query, rank
from onrecord.search.candidates import Filter
from tests import cost
from tests.records import decision, put

TRACE = """Traceback (most recent call last):
  File "/srv/app/jobs.py", line 40, in run
    at Object.addDropDown (quicksettings.js:943:1)
node:internal/modules/cjs/loader:1080
\x1b[31mKeyError: 'ports'\x1b[0m"""


def texts(prompt):
    return [passage.text for passage in passages.split(prompt)]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("add retries to the webhook sender", ["add retries to the webhook sender"]),
        (
            "fix the flaky login test. Then update the release notes for 2.1",
            ["fix the flaky login test.", "Then update the release notes for 2.1"],
        ),
        (
            "fix the flaky login test and also update the release notes",
            ["fix the flaky login test", "also update the release notes"],
        ),
        ("rename the table\n\nand drop the old index on ports", ["rename the table and drop the old index on ports"]),
        ("ok.", ["ok."]),
        ("", [""]),
    ],
)
def test_lines_and_sentences_are_passages(prompt, expected):
    assert texts(prompt) == expected


def test_what_a_program_printed_comes_last_and_without_frames():
    found = passages.split(f"why does the nightly import fail?\n{TRACE}")

    assert [passage.is_printed for passage in found] == [False, True]
    assert found[0].text == "why does the nightly import fail?"
    assert "KeyError" in found[1].text
    assert not any(word in found[1].text for word in ("jobs.py", "addDropDown", "loader", "\x1b", "31m"))


@pytest.mark.parametrize("noise", ["3f2b9c1d7e", "https://ci.example/run/7", "0xfffffe0029ff6390", "main-BxT81kq29.js"])
def test_hashes_addresses_and_names_of_bundlers_are_left_out(noise):
    assert texts(f"the build of {noise} is broken again") == ["the build of is broken again"]


def test_bullets_are_typed():
    found = passages.split("two things:\n- the header must be sticky on phones\n- the footer loses its links")

    assert len(found) > 1 and not any(passage.is_printed for passage in found)


@given(st.text(max_size=6_000))
def test_any_text_has_a_few_bounded_passages(text):
    found = passages.split(text)

    assert 1 <= len(found) <= passages.MAX_PASSAGES
    assert len(query.parse_prompt(text).passages) <= passages.MAX_PASSAGES


@pytest.mark.parametrize(
    "piece", ["word ", "a.b:1:1\n", "    at x (y:1:1)\n", "x" * 60 + " ", "-" * 50, "0a1b2c3d" * 9]
)
def test_a_megabyte_costs_no_more_than_a_page(piece):
    page, megabyte = piece * (4_000 // len(piece)), piece * (1_000_000 // len(piece))

    cost.assert_at_most(4, lambda: passages.split(page), lambda: passages.split(megabyte))


@pytest.fixture
def opened(tmp_path):
    root = str(tmp_path)
    put(
        root,
        decision("webhooks", "Webhook retries back off for an hour", "Retries of a webhook wait longer each time."),
    )
    put(root, decision("notes", "Release notes are written by hand", "Each release has notes that a person wrote."))
    put(root, decision("colours", "Colours come from the theme", "No colour is written in a component."))
    return index.in_memory(root)


def probabilities(opened, prompt):
    return {match.id: match.probability for match in rank.find(opened, query.parse_prompt(prompt), Filter("auto"))}


def test_two_requests_in_one_prompt_find_what_each_finds(opened):
    first, second = "make the webhook retries back off for longer", "write the release notes by hand again"

    both = probabilities(opened, f"{first}\n{second}")

    assert both["webhooks"] >= probabilities(opened, first)["webhooks"] - 0.2
    assert both["notes"] >= probabilities(opened, second)["notes"] - 0.2


def test_a_log_under_a_question_does_not_hide_it(opened):
    question = "make the webhook retries back off for longer"

    assert (
        probabilities(opened, f"{question}\n{TRACE * 5}")["webhooks"]
        >= probabilities(opened, question)["webhooks"] - 0.3
    )
