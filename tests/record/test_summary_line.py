from __future__ import annotations

import pytest
from hypothesis import given

from onrecord.record import memory, schema, summary_line
from tests.records import CONTENT, sample, valid_records


@pytest.mark.parametrize(
    ("category", "content", "expected"),
    [
        ("decision", {}, "Sessions live in Redis 7. Why: One thing to run."),
        ("decision", {"status": "proposed"}, "Sessions live in Redis 7 (proposed). Why: One thing to run."),
        (
            "constraint",
            {"workarounds": ["Use a queue"]},
            "Sessions in Redis: At most 100 requests a minute. Severity: high. Instead: Use a queue.",
        ),
        (
            "constraint",
            {"severity": "low"},
            "Sessions in Redis: At most 100 requests a minute. If ignored: 429 from the provider.",
        ),
        (
            "preference",
            {"examples": {"avoid": ["spaces"]}},
            "Sessions in Redis: indentation: tabs. Avoid: spaces. Why: Widths differ.",
        ),
        ("runbook", {"steps": ["One.", "Two"]}, "Sessions in Redis: Disk is full. → 1. One. 2. Two."),
        ("tech_debt", {"status": "resolved"}, "Sessions in Redis: Retries are copied four times (resolved)."),
        (
            "session_summary",
            {"next_actions": ["Cut over"], "blockers": ["DNS"]},
            "Sessions in Redis: Move sessions (partial). Blocked by: DNS. Next: Cut over.",
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
