"""What is counted in one session and across sessions, at the limits of each count."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from onrecord import timestamps
from onrecord.audit import session_facts
from onrecord.audit.check_report import CalledChange
from onrecord.audit.session_facts import ReadLimits, RuleBook, SessionFacts, SessionReading
from onrecord.hosts import table
from onrecord.record.check import Check, RecordCheck
from onrecord.session.transcript import Format, Message, Transcript
from tests import sessions
from tests.sessions import Change, say

NOW = "2026-03-20T12:00:00Z"
NPM = RecordCheck("npm", "No npm", "decisions/npm.json", Check(("command",), starts=("npm install",)))
MOMENT = RecordCheck("moment", "No moment", "decisions/moment.json", Check(("edit",), ("src/",), adds=("moment",)))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "ferry" / ".git").mkdir(parents=True)
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return str(tmp_path / "ferry")


def read(project: str, *, limits: ReadLimits | None = None) -> SessionReading:
    return session_facts.read(table.transcripts(project), [NPM, MOMENT], project, limits or ReadLimits())


def of_messages(*messages: Message, name: str = "one", seconds: float = 0.0) -> Transcript:
    def entries(path: str, size: int, is_head: bool) -> tuple[list[Any], bool]:
        return list(messages), True

    def modified_at(path: str) -> float:
        return seconds or 1.0

    return Transcript(name, Format(entries, lambda entry: iter((entry,)), modified_at=modified_at))


def prompt(text: str, at: str = "2026-03-10T10:00:00Z", **more: Any) -> Message:
    return Message("user", "text", text, at=at, **more)


def call(command: str) -> Message:
    return Message("assistant", "tool_use", "", "Bash", {"command": command})


def result(*, has_failed: bool) -> Message:
    return Message("user", "tool_result", "", "error" if has_failed else "")


def test_the_facts_of_a_session(project, home):
    sessions.claude_code(
        home, project, "2026-03-10T10:00:00Z", say("a", "npm install a", Change("src/a.ts", "import moment\n")),
        say("no, use pnpm", Change("src/b.ts", "import dates\n")), say("b"), session="one",
    )  # fmt: skip

    assert read(project) == SessionReading(
        (
            SessionFacts(
                "one", "2026-03-10T10:00:00.000Z", "2026-03-10T10:02:00.000Z", 3, 1, ("no, use pnpm",), 1, 0,
                frozenset({0, 1}), frozenset({0, 1}), is_whole=True, relatives=frozenset(),
            ),
        ),
        0, 0, 0,
    )  # fmt: skip


def test_calls_before_the_first_prompt_that_was_read_count(project):
    """Of a large session only the end is read, which may begin within a turn."""
    transcript = of_messages(call("npm install a"), result(has_failed=True), prompt("b"))

    (facts,) = session_facts.read([transcript], [NPM], project, ReadLimits()).sessions

    assert (facts.commands, facts.failed_commands, facts.broken) == (1, 1, {0})


def test_a_result_belongs_to_the_oldest_call_of_the_same_turn_without_one(project):
    write = Message("assistant", "tool_use", "", "Write", {"file_path": "src/a.ts", "content": "x"})
    transcript = of_messages(
        prompt("a"), write, call("ls"), result(has_failed=True), result(has_failed=True), result(has_failed=True),
        call("ls"), prompt("b"), result(has_failed=True), Message("assistant", "text", "no, use pnpm"),
    )  # fmt: skip

    (facts,) = session_facts.read([transcript], [NPM], project, ReadLimits()).sessions

    assert (facts.prompts, facts.corrections) == (2, 0)
    assert (facts.commands, facts.failed_commands) == (2, 1)


def test_a_session_with_calls_alone_is_one_and_one_with_texts_alone_is_none(project):
    with_call = of_messages(call("ls"), name="calls", seconds=timestamps.seconds("2026-03-10T10:00:00Z"))
    answers = of_messages(Message("assistant", "text", "Done."), name="answers")

    reading = session_facts.read([with_call, answers], [NPM], project, ReadLimits())

    assert [(facts.session_id, facts.prompts, facts.started_at) for facts in reading.sessions] == [
        ("calls", 0, "2026-03-10T10:00:00Z")
    ]
    assert reading.empty == 1


@pytest.mark.parametrize(("hour", "is_read"), [("11:59:59", True), ("12:00:01", False)])
def test_a_clock_may_be_a_day_ahead(project, hour, is_read):
    moment = f"2026-03-21T{hour}Z"
    transcripts = [
        of_messages(prompt("a", moment), seconds=timestamps.seconds(moment)),
        of_messages(call("ls"), name="two", seconds=timestamps.seconds(moment)),
    ]

    reading = session_facts.read(transcripts, [NPM], project, ReadLimits())

    assert [facts.started_at for facts in reading.sessions] == [moment] * 2 * is_read
    assert reading.undated == 2 * (not is_read)


def test_the_words_of_twenty_corrections_of_a_session_are_kept(project):
    prompts = [prompt(f"no, use pnpm {number}") for number in range(22)]

    (facts,) = session_facts.read([of_messages(*prompts)], [NPM], project, ReadLimits()).sessions

    assert (facts.prompts, facts.corrections) == (22, 21)
    assert facts.correcting_prompts == tuple(f"no, use pnpm {number}" for number in range(1, 21))


def test_two_equal_prompts_are_one_turn_only_with_an_id_and_a_time(project):
    transcripts = [
        of_messages(prompt("a", name="id"), prompt("b"), prompt("c", "", name="id"), name=name, seconds=seconds)
        for name, seconds in (("old", 1.0), ("new", 2.0))
    ]

    reading = session_facts.read(transcripts, [NPM], project, ReadLimits())

    assert [(facts.session_id, facts.prompts, facts.relatives) for facts in reading.sessions] == [
        ("new", 3, {"old"}), ("old", 2, {"new"}),
    ]  # fmt: skip


def test_a_prompt_after_copied_ones_may_correct_the_agent(project):
    old = of_messages(prompt("a", session="old"), name="old")
    new = of_messages(prompt("a", session="old"), call("ls"), prompt("no, use pnpm", session="new"), name="new")

    reading = session_facts.read([old, new], [NPM], project, ReadLimits())

    counts = {facts.session_id: (facts.prompts, facts.corrections, facts.commands) for facts in reading.sessions}
    assert counts == {"old": (1, 0, 0), "new": (1, 1, 0)}


def test_the_newest_session_is_read_first_and_one_without_a_time_is_not_read():
    def of(name: str, modified_at: Any) -> Transcript:
        return Transcript(name, Format(lambda *_: ([], True), lambda entry: iter(()), modified_at=modified_at))

    def broken(path: str) -> float:
        raise OSError(path)

    listed = [
        of("b", lambda path: 5.0), of("a", lambda path: 7.0), of("c", lambda path: 5.0), of("d", broken),
        of("e", lambda path: 0.0),
    ]  # fmt: skip

    assert [transcript.path for transcript in session_facts.newest_first(listed)] == ["a", "c", "b"]


@pytest.mark.parametrize(("missing", "sessions_read"), [(0, 2), (1, 1)])
def test_sessions_are_read_until_the_limit_of_all_bytes_is_passed(project, home, missing, sessions_read):
    for day in ("10", "11"):
        file = sessions.claude_code(home, project, f"2026-03-{day}T10:00:00Z", say("a", "ls"))
    limits = ReadLimits(total_bytes=os.path.getsize(file) - missing)

    reading = read(project, limits=limits)

    assert (len(reading.sessions), reading.over_limit) == (sessions_read, 2 - sessions_read)


def test_a_rule_is_compared_with_the_calls_that_it_could_be_about():
    book = RuleBook([NPM, MOMENT, RecordCheck("lock", "Locked", "a.json", Check(("edit",), ("locked/",)))])

    assert book.broken_by_command("cd a && npm install b") == [0]
    assert book.broken_by_command("npm test") == []
    assert list(book.about_commands()) == [0]
    assert (book.covering("src/a.ts"), book.covering("locked/a"), book.covering("docs/a")) == ({1}, {2}, set())
    assert book.broken_by_change(CalledChange("src/a.ts", "", "a moment", is_new=True)) == [1]
    assert book.broken_by_change(CalledChange("docs/a.ts", "", "a moment", is_new=True)) == []
    assert book.broken_by_change(CalledChange("locked/a", "x", "y", is_new=False)) == [2]
