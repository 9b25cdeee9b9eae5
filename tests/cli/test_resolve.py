"""The record that a command acts on without a terminal: reading takes a match, changing needs the full name."""

from __future__ import annotations

import json

import pytest

from onrecord.shared import remotes

from .conftest import DECISION


@pytest.fixture
def records(onrecord):
    for title in ("Use Postgres 16", "Sessions live in Postgres", "Jobs run in a table"):
        assert onrecord("save", "decision", title, "--force", *DECISION).code == 0
    assert onrecord("save", "decision", "Queue limits", "--draft", "--force", *DECISION).code == 0


@pytest.mark.parametrize(
    "words",
    [("show",), ("stats",), ("improve",), ("freshness",)],
    ids=" ".join,
)
def test_reading_takes_words_of_an_id(onrecord, records, words):
    assert onrecord(*words, "sess").code == 0
    assert onrecord(*words, "sessions", "--json").code == 0
    assert onrecord(*words, "postgres").err.startswith("AMBIGUOUS: 'postgres' matches 2 records: sessions-")
    assert onrecord(*words, "sesion").err.startswith("NOT_FOUND: no record 'sesion'")


@pytest.mark.parametrize(
    "words",
    [
        ("retire", "{}", "--reason=r"),
        ("archive", "{}", "--reason=r"),
        ("update", "{}", "--tag=t"),
        ("edit", "{}"),
        ("supersede", "{}", "use-postgres-16"),
        ("supersede", "use-postgres-16", "{}"),
        ("reanchor", "{}"),
        ("save", "decision", "Use Nats", "--update={}", *DECISION),
        ("save", "decision", "Use Nats", "--supersedes={}", *DECISION),
        ("review", "--accept=queue-limits", "--update={}"),
        ("review", "--accept=queue-limits", "--supersedes={}"),
        ("review", "--merge=queue-limits", "--into={}"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_nothing_is_changed_on_a_guess(project, onrecord, records, words):
    before = {path: path.read_bytes() for path in project.rglob("*.json")}

    outcome = onrecord(*(word.format("sess") for word in words))

    assert outcome.code == 1
    assert outcome.err == (
        "BAD_INPUT: 'sess' is not a full name; nothing was changed\n"
        "fix: onrecord show sessions-live-in-postgres; then run it again with the full name, if that is the one\n"
        "docs: onrecord docs BAD_INPUT\n"
    )
    assert {path: path.read_bytes() for path in project.rglob("*.json")} == before


def test_a_dry_run_takes_a_guess(onrecord, records):
    assert onrecord("retire", "sess", "--reason=r", "--dry-run").out.startswith("would retire decisions/sessions-")


def test_drafts_are_named_like_records(onrecord, records):
    assert json.loads(onrecord("inbox", "limits", "--json").out)["drafts"][0]["name"] == "queue-limits"
    assert onrecord("inbox", "queue-limits.json").code == 0
    assert onrecord("inbox", "quueue").err == (
        "NOT_FOUND: no draft 'quueue' in the inbox; did you mean queue-limits?\nfix: onrecord inbox queue-limits\n"
        "docs: onrecord docs NOT_FOUND\n"
    )
    assert onrecord("review", "--reject", "queue").err.startswith("BAD_INPUT: 'queue' is not a full name")
    assert onrecord("review", "--accept", "queue-limits").code == 0


def test_a_text_that_fits_several_drafts_lists_them(onrecord, records):
    onrecord("save", "decision", "Queue length", "--draft", "--force", *DECISION)

    outcome = onrecord("inbox", "queue")

    assert outcome.err == (
        "AMBIGUOUS: 'queue' matches 2 drafts: queue-length, queue-limits\n"
        "fix: onrecord inbox queue-length; or type more of the name you mean\n"
        "docs: onrecord docs AMBIGUOUS\n"
    )


@pytest.mark.parametrize(
    "words",
    [("update", "{}", "--tag=t"), ("retire", "{}", "--reason=r"), ("edit", "{}"), ("reanchor", "{}")],
    ids=lambda words: words[0],
)
def test_the_name_of_a_shared_record_is_not_said_to_be_unknown(onrecord, records, words):
    """`show platform:ID` shows it; `update platform:ID` found no record, and suggested the project's own."""
    remotes.add("platform", "/srv/platform.git")

    outcome = onrecord(*(word.format("platform:use-postgres-16") for word in words))

    assert outcome.err.splitlines()[:2] == [
        "BAD_INPUT: 'platform:use-postgres-16' is a record of a shared store, which is changed only where that is said",
        "fix: the same command with use-postgres-16 and --remote platform",
    ]
    assert "NOT_FOUND" in onrecord("retire", "other:use-postgres-16", "--reason=r").err
