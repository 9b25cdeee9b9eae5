"""The measure of imports can fail: a wrong decision, a swapped option, a wrong status and invented words all count."""

from __future__ import annotations

import json

import pytest

from bench import import_
from bench.import_ import Label, Verdict

TEXT = """\
# Pick a queue

## Status

Accepted

## Context

Jobs get lost.

## Considered Options

- Redis
- Kafka

## Decision Outcome

Chosen option: "Kafka", because it is there.
"""
LABEL = Label("o/r", "c", "adr/1.md", "accepted", (16, 18), "kafka", ("redis",))


@pytest.mark.parametrize(
    ("label", "text", "outcome", "is_swapped"),
    [
        (LABEL, TEXT, "right", False),
        (LABEL._replace(status="none"), TEXT, "right", False),
        (LABEL._replace(status="proposed"), TEXT, "wrong: status accepted for proposed", False),
        (LABEL._replace(chosen="redis", rejected=("kafka",)), TEXT, "wrong: another decision", True),
        (LABEL._replace(lines=None), TEXT, "wrong: it decides nothing", False),
        (LABEL._replace(lines=(1, 3), chosen=""), TEXT, "wrong: words from elsewhere", False),
        (LABEL, TEXT.replace("Kafka", "TBD"), "agent", False),
        (LABEL._replace(path="adr/template.md"), TEXT.replace("Kafka", "{an option}"), "left out", False),
    ],
)
def test_what_is_wrong_is_called_wrong(label, text, outcome, is_swapped):
    assert import_.judged(label, text) == Verdict(label, outcome, is_swapped)


def test_the_report_counts_what_was_proposed_alone():
    verdicts = [Verdict(LABEL, outcome) for outcome in ("right",) * 9 + ("wrong: x", "agent", "left out")]

    page = import_.report(verdicts)

    assert "| o/r | 12 | 10 | 9 | 1 | 1 |" in page
    assert "Right: 9 of 10 proposed, 90.0% (59.6% to 98.2%); chosen and rejected swapped: 0" in page


def test_the_labels_are_of_many_repositories_and_hold_no_text_of_theirs():
    labels = [json.loads(line) for line in import_.LABELS.read_text(encoding="utf-8").splitlines()]

    assert len({(label["repo"], label["path"]) for label in labels}) == len(labels)
    assert len(labels) >= 300
    assert len({label["repo"] for label in labels}) >= 8
    assert len({(label["repo"], label["part"]) for label in labels}) == len({label["repo"] for label in labels})
    assert max(len(label["chosen"]) for label in labels) < 80
