from __future__ import annotations

import pytest

from onrecord.record import author, compose, lifecycle
from onrecord.record.author import RecordAuthor
from tests.records import CONTENT, LATER, sample

PARTIAL = {"title": "Sessions in Redis", "content": CONTENT["decision"]}


@pytest.fixture(autouse=True)
def no_agent(monkeypatch):
    for name in author.HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("variable", "host"), list(author.HOST_VARIABLES.items()))
def test_an_agent_is_known_by_what_it_sets(monkeypatch, variable, host):
    monkeypatch.setenv(variable, "1")

    record = compose.compose("decision", {**PARTIAL, "origin": "user", "host": "none"})

    assert (record.origin, record.agent, record.host) == ("agent", "", host)
    assert author.described(record.origin, record.agent, record.host) == f"agent ({host})"


def test_a_person_is_the_author_without_one():
    record = compose.compose("decision", {**PARTIAL, "origin": "import", "agent": "x"})

    assert (record.origin, record.agent, record.host) == ("user", "", "")


def test_a_client_is_an_agent_whatever_it_calls_itself():
    assert author.client("Cursor\n1.0") == RecordAuthor("agent", "Cursor 1.0")
    assert len(author.client("x" * 500).agent) == author.MAX_NAME_CHARACTERS


@pytest.mark.parametrize("field", author.FIELDS)
def test_an_update_does_not_change_who_wrote_a_record(field):
    from onrecord.errors import Invalid

    record = sample(origin="agent", host="codex")

    with pytest.raises(Invalid):
        lifecycle.revise(record, {field: "user"}, now=LATER)


@pytest.mark.parametrize(
    ("who", "words"),
    [
        (RecordAuthor(), "user"),
        (RecordAuthor("user", "Cursor"), "user (Cursor)"),
        (RecordAuthor("agent", "Cursor", "codex"), "agent (Cursor, codex)"),
        (RecordAuthor("agent", "codex", "codex"), "agent (codex)"),
        (RecordAuthor("", "codex"), ""),
    ],
)
def test_an_author_in_words(who, words):
    assert str(who) == words


def test_a_client_keeps_sixty_characters_of_its_name_and_the_host_that_it_runs_in(monkeypatch):
    monkeypatch.setenv("CODEX_SANDBOX", "1")

    assert author.client(" " + "x" * 61) == RecordAuthor("agent", "x" * 60, "codex")
    monkeypatch.setenv("GEMINI_CLI", "1")
    assert author.detect() == RecordAuthor("agent", "", "gemini")
