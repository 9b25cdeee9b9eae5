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


LABEL, ELSEWHERE, MARKS = (
    "it has a label or leads to a list", "it points to another place", "it has more than plain text",
)  # fmt: skip
INCOMPLETE, PLACE, LEANS = (
    "it is not complete", "it names an option by its letter, number or place", "it needs what stands before it",
)  # fmt: skip


@pytest.mark.parametrize(
    ("flaw", "sentences"),
    [
        (LABEL, ["Cost: it is higher.", "Faster start - workers wait less.", "We use Redis:",
                 "There are many ways to run jobs."]),
        (MARKS, ["We use [Redis][1] now.", "We use Redis &amp; Kafka.", "We use Redis \\_now\\_.", "Use {name} now."]),
        (ELSEWHERE, ["It meets the demand (NFR-4, AC-1).", "It needs a table See 0012-table.md",
                     "It is built in (ADR (./0008-x.md))."]),
        (INCOMPLETE, ["Since the queue can only be read by workers.", "is like that of all other queues",
                      "https://example.org/q", "Run jobs by hand. i.e. never"]),
        (TOO_LONG, [f"{'Workers wait. ' * 28}Workers go."]),
        ("", [f"{'Workers wait. ' * 28}Workers g."]),
    ],
)  # fmt: skip
def test_a_sentence_with_a_label_a_mark_or_a_code_of_its_page_is_not_quoted(flaw, sentences):
    assert [quotation.strict_flaw(sentence, 402) for sentence in sentences] == [flaw] * len(sentences)


@pytest.mark.parametrize(
    ("flaw", "sentences"),
    [
        (PLACE, ["We choose option 3.", "We go with Option 1b, as agreed.", "[ALTERNATIVE 3] is best.",
                 "Find a balance between 1 and 2.", "The latter is cheaper."]),
        (ELSEWHERE, ["This is described here.", "The chart above shows it.", "As shown in the following diagram.",
                     "Use the following.", "Uncomment this line in the settings."]),
        ("it has no end", ["We use Redis because", "The project needs a queue to support…"]),
        (INCOMPLETE, ["A) is what we take.", "We use Redis (which is fast.", 'We use "Redis for it.',
                      "We use `Redis for it."]),
        ("it is not plain text", ["We use <b>Redis</b> now.", "We use ~~Redis~~ Kafka now.",
                                  "We use Redis *it would be nice.", "Calling it will; Install the binary.",
                                  "`+` This allows us to build on it.", "The queue is fast (source)."]),
        ("it begins in the middle of a sentence", ["- leading dash here", "; and then it ends."]),
        ("it is not finished", ["Choose {title of the option} now.", "The rule is TBD by the team."]),
        ("it has no words", ["::: :::", "a? b?"]),
        ("it has no letters", ["12 (3)"]),
        ("it is code", ["`make all` x"]),
        ("it asks", ["How to split model and view", "Workers are to wait?"]),
        (LEANS, ["User Story: a queue for jobs.", "Justification: we know it.", "For example, a queue can be full.",
                 "Both options are slow.", "Currently they live in a table.", "Moving them to a queue is slow.",
                 "The approach used is not bound to Kafka.", "At that point in time nobody knew.",
                 "It gets the first and second points right.", "Workers, in contrast, are restarted."]),
    ],
)  # fmt: skip
def test_what_is_garbled_or_points_elsewhere_is_not_quoted(flaw, sentences):
    assert [quotation.sentence_flaw(sentence) for sentence in sentences] == [flaw] * len(sentences)


@pytest.mark.parametrize(
    ("flaw", "names"),
    [
        ("", ["Kafka 2", "Use `Kafka` for jobs", "PG"]),
        ("it has no letters", ["42 7", "K 7"]),
        ("it has several sentences", ["Redis. Kafka is next."]),
        (MARKS, ["Use [Kafka][1]", "~~Kafka~~"]),
        ("it begins in the middle of a sentence", ["and Kafka"]),
        ("it has no end", ["Kafka and"]),
        ("it is not finished", ["Kafka TBD"]),
        (INCOMPLETE, ["Kafka (fast"]),
        ("it names no option", ["Option 2", "See the diagram above"]),
    ],
)  # fmt: skip
def test_a_name_that_cannot_stand_alone_is_not_quoted(flaw, names):
    assert [quotation.name_flaw(name) for name in names] == [flaw] * len(names)


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


WAS = "it says how things were"


@pytest.mark.parametrize(
    ("flaw", "items"),
    [
        (LEANS, ["This means more work.", "However, it is slow."]),
        ("it is a label", ["No notable consequences", "Storage Format", "More work for", "Higher Cost of Running"]),
        ("it asks", ["How do we run it?"]),
        ("it says that there are none", ["N/A for this one here"]),
        ("a draft is short", ["One more thing runs. It is slow."]),
        (TOO_LONG, ["One more thing to run on each host."]),
        (WAS, ["Workers previously were slow."]),
        ("", ["No downtime for users.", "One more thing to run", "More work for us"]),
    ],
)
def test_an_effect_stands_alone_and_says_nothing_of_before(flaw, items):
    length = 34
    assert [quotation.effect(item, length).flaw for item in items] == [flaw] * len(items)
    assert [quotation.item(item, length).flaw for item in items] == ["" if flaw == WAS else flaw] * len(items)
    assert [quotation.effect(item, length)[:2] for item in items] == [
        ("", (item,)) if flaw else (item, ()) for item in items
    ]


def test_the_rest_of_a_text_is_left_out_with_the_reason():
    quoted = quotation.first_sentence("We use Redis. It is fast.", 13)

    assert quoted == Quotation("We use Redis.", ("It is fast.",), "a draft is short")
    assert quotation.first_sentence("We use Redis.", 13) == Quotation("We use Redis.")
    assert quotation.first_sentence("We use Redis. However, not for mail.", 13).flaw == "the next sentence limits it"
    assert quotation.without_last("We use Redis. Workers wait. The rest is here:") == "We use Redis. Workers wait."


def test_a_text_is_read_as_far_as_any_draft_has_room():
    far = "We use Redis. " + "X" * 3_990

    assert len(quotation.first_sentence(far, 400).rest[0]) == 3_986
    assert quotation.without_last(f"{'x' * 4_000}. Workers wait.") == ""
    assert quotation.name_flaw(f"Kafka {'x' * 3_993}. Redis is next.") == ""
    assert quotation.name_flaw(f"Kafka {'x' * 3_900}. Redis is next.") == "it has several sentences"


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Redis. Kafka", 0, 7),
        ("Redis. kafka. Mail", 0, 14),
        ("Redis", 0, None),
        ("Redis.", 0, 6),
        ("No. 5. Kafka", 0, 7),
        ("A. Redis. Kafka", 3, 10),
    ],
)
def test_a_name_ends_with_its_sentence(text, start, end):
    mark = quotation.sentence_end(text, start)

    assert (mark and mark.end()) == end


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
