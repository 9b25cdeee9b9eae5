from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.record import memory, rule_title, schema, summary_line
from onrecord.record.memory import Memory
from tests.records import CONTENT, sample, valid_records

WORDS = st.sampled_from(
    "kafka consumer lag after deploy grows never use redis 7 sessions the of it option not restart. first, then;"
    " orders: `psql -c` retries (see below) 90 calls releases released gRPC".split()
)
PHRASES = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
TITLES = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
MARKED = {
    "decision": [{"status": status} for status in ("proposed", "deprecated", "superseded")],
    "constraint": [{"severity": "high"}, {"active": False}],
    "tech_debt": [{"priority": "critical"}, {"priority": "high"}, {"status": "resolved"}],
    "session_summary": [{"outcome": outcome} for outcome in ("success", "partial", "blocked", "abandoned")],
}


def of(title: str, statement: str, category: str = "decision", **content: object) -> Memory:
    field = {"decision": "decision", "constraint": "rule", "preference": "value", "runbook": "trigger"}[category]
    return sample(category, title=title, content={**CONTENT[category], field: statement, **content})


@pytest.mark.parametrize(
    ("category", "content", "expected"),
    [
        ("decision", {}, "Sessions live in Redis 7. Why: One thing to run."),
        ("decision", {"status": "proposed"}, "(proposed) Sessions live in Redis 7. Why: One thing to run."),
        (
            "constraint",
            {"workarounds": ["Use a queue"]},
            "(high severity) Sessions in Redis: At most 100 requests a minute. Instead: Use a queue.",
        ),
        (
            "constraint",
            {"severity": "low"},
            "Sessions in Redis: At most 100 requests a minute. Impact: 429 from the provider.",
        ),
        (
            "preference",
            {"examples": {"avoid": ["spaces"]}},
            "Sessions in Redis. indentation: tabs. Avoid: spaces. Why: Widths differ.",
        ),
        ("runbook", {"steps": ["One.", "Two"]}, "Sessions in Redis: Disk is full. → 1. One. 2. Two."),
        (
            "tech_debt",
            {"status": "resolved"},
            "(resolved, high priority) Sessions in Redis: Retries are copied four times.",
        ),
        (
            "session_summary",
            {"next_actions": ["Cut over"], "blockers": ["DNS"]},
            "(partial) Sessions in Redis: Move sessions. Blocked by: DNS. Next: Cut over.",
        ),
    ],
)
def test_the_rule_itself_with_its_literal_values(category, content, expected):
    assert summary_line.render(sample(category, content={**CONTENT[category], **content})) == expected


@pytest.mark.parametrize("category", schema.FOLDERS)
def test_a_record_without_its_content_still_says_its_title(category):
    assert "Sessions in Redis" in summary_line.render(sample(category, content={}))


def test_a_runbook_without_steps_has_no_step_called_brackets():
    said = summary_line.render(sample("runbook", content={**CONTENT["runbook"], "steps": []}))

    assert said == "Sessions in Redis: Disk is full."


@given(valid_records())
def test_any_record_has_an_essence_of_one_bounded_line(record):
    said = summary_line.render(memory.from_json(record))

    assert 0 < len(said) <= summary_line.MAX_CHARACTERS
    assert "\n" not in said


def test_a_long_rule_is_cut_at_a_word():
    content = {**CONTENT["decision"], "decision": "word " * 500}

    said = summary_line.render(sample(content=content))

    assert len(said) <= summary_line.MAX_CHARACTERS
    assert said.endswith("word…")


@pytest.mark.parametrize(
    ("category", "content"), [(category, content) for category, contents in MARKED.items() for content in contents]
)
@given(st.data())
def test_a_mark_comes_first_and_is_whole_at_any_limit(category, content, data):
    statement = data.draw(PHRASES)
    field = {"decision": "decision", "constraint": "rule", "tech_debt": "description", "session_summary": "goal"}
    record = sample(category, content={**CONTENT[category], **content, field[category]: statement * 5})
    marks = f"({', '.join(summary_line.marks(record))})"

    line = summary_line.render(record, data.draw(st.integers(0, 500)))

    assert len(marks) > 2
    assert line.startswith(marks)


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"superseded_by": "other"}, "superseded"),
        ({"record_status": "retired"}, "retired"),
        ({}, ""),
        ({"superseded_by": "other", "record_status": "retired"}, "retired"),
    ],
)
def test_a_record_that_is_no_longer_in_use_says_so(fields, mark):
    assert ", ".join(summary_line.marks(sample(**fields))) == mark


@pytest.mark.parametrize("category", ["decision", "constraint", "preference", "runbook"])
@given(title=TITLES, statement=PHRASES)
def test_the_title_or_each_of_its_specific_words_is_in_the_line(category, title, statement):
    line = summary_line.render(of(title, statement, category))

    assert " ".join(title.split()) in line or rule_title.is_named(title, line)


@given(valid_records())
def test_no_record_loses_its_subject(record):
    read = memory.from_json(record)

    line = summary_line.render(read)

    assert " ".join(read.title.split()) in line or rule_title.is_named(read.title, line)


@pytest.mark.parametrize(
    ("title", "statement", "expected"),
    [
        (
            "Kafka consumer lag after deploy",
            "Consumer lag grows after deploy",
            "Kafka consumer lag after deploy: Consumer lag grows after deploy.",
        ),
        (
            "Functions take explicit parameters",
            "Option 3 - combination of explicit parameters and a dict.",
            "Functions take explicit parameters. Combination of explicit parameters and a dict.",
        ),
        (
            "Overnight stop uses a Go Lambda",
            "Write the overnight stop as a Lambda in Go (option 4), not in Python.",
            "Write the overnight stop as a Lambda in Go, not in Python.",
        ),
        ("Sessions", "It is Redis, with a sentinel.", "Sessions: It is Redis, with a sentinel."),
        ("Redis for sessions", "Do not use Redis for sessions.", "Do not use Redis for sessions."),
        (
            "Never use Redis for sessions",
            "Redis for sessions lost data twice in 2025.",
            "Never use Redis for sessions. Redis for sessions lost data twice in 2025.",
        ),
        (
            "Release tags are set by CI",
            "By CI are set the tags. The form is v1.2.3.",
            "Release tags are set by CI. The form is v1.2.3.",
        ),
    ],
)
def test_the_reader_knows_what_a_rule_is_about(title, statement, expected):
    line = summary_line.render(of(title, statement, rationale=[]))

    assert line == expected


def test_a_line_ends_with_a_whole_sentence_and_says_that_there_is_more():
    sentences = " ".join(f"Sentence number {number} of the rule has some words in it." for number in range(20))

    line = summary_line.render(of("The rule has a number of sentences", sentences, rationale=[]))

    assert line.endswith("some words in it. …")
    assert len(line) <= summary_line.MAX_CHARACTERS


def test_a_reason_that_has_no_room_is_left_out_as_a_whole():
    reasons = ["a short one", "a long one " * 20]

    line = summary_line.render(of("Sessions live in Redis", "Sessions live in Redis.", rationale=reasons))

    assert line == "Sessions live in Redis. Why: a short one."


def test_steps_are_whole_and_the_line_says_how_many_are_missing():
    steps = [f"Step with quite a few words in it, the one that is called number {number}" for number in range(1, 9)]

    line = summary_line.render(of("Disk is full on the build host", "Builds fail", "runbook", steps=steps))

    assert line.startswith("Disk is full on the build host. Builds fail. → 1. Step with")
    assert line.endswith("called number 5. (3 more steps).")


def test_where_a_situation_and_the_steps_have_no_room_the_title_and_the_steps_are_shown():
    steps = ["Remove the images that no container uses, by docker image prune --all --force, on the build host"] * 3

    line = summary_line.render(of("Disk is full on the build host", "Builds fail because " * 9, "runbook", steps=steps))

    assert line == "Disk is full on the build host. → " + " ".join(f"{n}. {step}." for n, step in enumerate(steps, 1))
