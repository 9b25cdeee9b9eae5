"""What of a page is quoted: a whole sentence that can be read alone, or none."""

from __future__ import annotations

import pytest

from onrecord.importers import quotation
from onrecord.importers.quotation import TOO_LONG, Quotation


@pytest.mark.parametrize(
    ("text", "taken", "rest"),
    [
        ("We use Redis. It is fast.", "We use Redis.", ("It is fast.",)),
        ("We asked Mr. Smith of Acme Inc. about it. Done.", "We asked Mr. Smith of Acme Inc. about it.", ("Done.",)),
        ("Use a queue, e.g. Kafka or No. 5 of the list.", "Use a queue, e.g. Kafka or No. 5 of the list.", ()),
        ("Version 2.0 of node.js is out. we moved.", "", ("Version 2.0 of node.js is out. we moved.",)),
        ("We use Redis. However, not for mail.", "", ("We use Redis.", "However, not for mail.")),
        (", and so on. It works.", "", (", and so on.", "It works.")),
        (":", "", (":",)),
    ],
)
def test_the_first_sentence_is_taken_whole_or_not_at_all(text, taken, rest):
    quoted = quotation.first_sentence(text, 400)

    assert (quoted.text, quoted.rest) == (taken, rest)


def test_no_sentence_is_cut():
    assert quotation.first_sentence("One two three four. Five six.", 15) == Quotation(
        "", ("One two three four.", "Five six."), TOO_LONG
    )


@pytest.mark.parametrize(
    "sentence",
    ["Cost: it is higher.", "Faster start - workers wait less.", "We use Redis:", "We use [Redis][1] now.",
     "We use Redis &amp; Kafka.", "We use Redis \\_now\\_.", "It meets the demand (NFR-4, AC-1).", "Use {name} now.",
     "Since the queue can only be read by workers.", "is like that of all other queues", "https://example.org/q",
     "There are many ways to run jobs.",
     "Run jobs by hand. i.e. never", "It needs a table See 0012-table.md", "It is built in (ADR (./0008-x.md))."],
)  # fmt: skip
def test_a_sentence_with_a_label_a_mark_or_a_code_of_its_page_is_not_quoted(sentence):
    assert quotation.strict_flaw(sentence, 400)


@pytest.mark.parametrize(
    "sentence",
    [
        "We choose option 3.",
        "We go with Option 1b, as agreed.",
        "[ALTERNATIVE 3] is best.",
        "A) is what we take.",
        "Find a balance between 1 and 2.",
        "The latter is cheaper.",
        "This is described here.",
        "The chart above shows it.",
        "As shown in the following diagram.",
        "Use the following.",
        "Uncomment this line in the settings.",
        "We use Redis because",
        "We use Redis (which is fast.",
        'We use "Redis for it.',
        "We use <b>Redis</b> now.",
        "We use ~~Redis~~ Kafka now.",
        "- leading dash here",
        "We use Redis *it would be nice.",
        "; and then it ends.",
        "Calling it will; Install the binary.",
        "Choose {title of the option} now.",
        "The rule is TBD by the team.",
        "`+` This allows us to build on it.",
        "::: :::",
        "The project needs a queue to support…",
        "User Story: a queue for jobs.",
        "Justification: we know it.",
        "For example, a queue can be full.",
        "Both options are slow.",
        "Currently they live in a table.",
        "Moving them to a queue is slow.",
        "The approach used is not bound to Kafka.",
        "At that point in time nobody knew.",
        "How to split model and view",
        "It gets the first and second points right.",
        "Workers, in contrast, are restarted.",
        "The queue is fast (source).",
    ],
)
def test_what_is_garbled_or_points_elsewhere_is_not_quoted(sentence):
    assert quotation.sentence_flaw(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We use Redis 7 for `session:*` keys (see RFC 7231).",
        "Requests above 100 ms are logged.",
        "`npm install` is run with `--ignore-scripts`, `pnpm` is not.",
        "GNU GPL",
        "iOS apps use Swift.",
        "Log to: stdout; a file; syslog.",
        "Each service has its own ADR folder, as in ADR 0004.",
    ],
)
def test_plain_sentences_are_quoted(sentence):
    assert quotation.sentence_flaw(sentence) == ""


@pytest.mark.parametrize(
    ("item", "taken"),
    [
        ("This means more work.", ""),
        ("However, it is slow.", ""),
        ("No notable consequences", ""),
        ("Storage Format", ""),
        ("How do we run it?", ""),
        ("No downtime for users.", "No downtime for users."),
        ("One more thing to run", "One more thing to run"),
    ],
)
def test_an_item_stands_alone(item, taken):
    assert quotation.item(item, 200).text == taken


@pytest.mark.parametrize(
    ("following", "is_limited"),
    [
        ("However, see below for queues.", True),
        ("This will be addressed in another ADR, see below.", True),
        ("(Note that mail is not among them.)", True),
        ("That rule does not apply to mail, except on Mondays.", True),
        ("Redis is fast.", False),
    ],
)
def test_a_sentence_that_limits_the_one_before_it_is_told_apart(following, is_limited):
    assert quotation.takes_back(following) == is_limited
