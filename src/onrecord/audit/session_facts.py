"""What happened in sessions, counted from their files without a model: broken checks, corrections, failed commands.

Sessions are read newest first, within limits, and nothing is written. The turns that a resumed or forked session has
copied from another count once, in the session that ran them if that can be told. Calls of subagents, which hosts keep
apart, are not counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable

from onrecord import timestamps
from onrecord.audit import check_report
from onrecord.audit.check_report import CalledChange
from onrecord.coldstart import NamedTuple
from onrecord.record import check
from onrecord.record.check import RecordCheck
from onrecord.session import correction
from onrecord.session.transcript import Message, Transcript

_MAX_KEPT_CORRECTIONS = 20
"""Corrections of one session whose words are kept, to find the records that they are about."""

_MAX_PATHS = 10_000
"""Files for which the rules that cover them are kept in memory."""

_TOLERANCE_DAYS = -1.0
"""A time up to a day ahead may come from another clock; a later one is wrong."""


def is_correction(prompt: str) -> bool:
    """True if a prompt corrects the agent."""
    return correction.strength(prompt) > correction.NONE


class ReadLimits(NamedTuple):
    """The limits of reading sessions: files, bytes of one file (its end) and of all, and seconds."""

    sessions: int = 2_000
    session_bytes: int = 32_000_000
    total_bytes: int = 1_000_000_000
    seconds: float = 60.0


class SessionFacts(NamedTuple):
    """The facts of one session."""

    session_id: str
    """The id that hooks got; empty if it is not known."""
    started_at: str
    ended_at: str
    prompts: int
    corrections: int
    correcting_prompts: tuple[str, ...]
    commands: int
    failed_commands: int
    tried: frozenset[int]
    """Numbers of the rules that it could have broken: it ran a command, or changed a file that the check covers."""
    broken: frozenset[int]
    """Numbers of the rules that it broke."""
    is_whole: bool
    """False if only the end of its file was read."""
    relatives: frozenset[str] = frozenset()
    """Ids of the sessions from which it has copied turns; where the host does not say which of two ran a turn, both
    are relatives of each other."""


class SessionReading(NamedTuple):
    """The sessions that were read, newest first, and how many were not, by the reason."""

    sessions: tuple[SessionFacts, ...]
    over_limit: int
    empty: int
    """Files without a prompt or a tool call: of subagents, of another version, or damaged."""
    undated: int
    """Sessions whose time cannot be told, or is in the future."""

    @property
    def partial(self) -> int:
        """Sessions of which only the end was read."""
        return sum(not session.is_whole for session in self.sessions)


Watch = Callable[[Sequence[Any], str], Iterable[Any]]
"""A function that takes elements and a word for the work on them, yields them, and may report progress."""


def unwatched(elements: Sequence[Any], what: str) -> Iterable[Any]:
    """Return the elements, without a report."""
    return elements


def read(
    transcripts: Sequence[Transcript],
    rules: Sequence[RecordCheck],
    project: str,
    limits: ReadLimits,
    watch: Watch = unwatched,
) -> SessionReading:
    """Return what happened in sessions, newest first, as far as the limits allow; `watch` can report progress."""
    ordered = newest_first(transcripts)
    book, deadline, total = RuleBook(rules), time.monotonic() + limits.seconds, 0
    turns = _Turns(ordered[: limits.sessions])
    sessions: list[SessionFacts] = []
    empty = undated = 0
    for number, transcript in enumerate(watch(ordered, "reading sessions")):
        if number >= limits.sessions or total > limits.total_bytes or time.monotonic() > deadline:
            return SessionReading(turns.with_relatives(sessions), len(ordered) - number, empty, undated)
        total += min(_size(transcript), limits.session_bytes)
        facts = _SessionReader(transcript, book, project, turns).read(limits.session_bytes)
        if facts is None:
            empty += 1
        elif not facts.started_at:
            undated += 1
        else:
            sessions.append(facts)
    return SessionReading(turns.with_relatives(sessions), 0, empty, undated)


def newest_first(transcripts: Iterable[Transcript]) -> list[Transcript]:
    """Return the transcripts that can be read, the one that was changed last first."""
    modified = []
    for transcript in transcripts:
        seconds = _modified(transcript)
        if seconds:
            modified.append((seconds, transcript.path, transcript))
    return [transcript for _, _, transcript in sorted(modified, key=lambda item: item[:2], reverse=True)]


def _modified(transcript: Transcript) -> float:
    try:
        return transcript.format.modified_at(transcript.path)
    except (OSError, ValueError, OverflowError):
        return 0.0


def _size(transcript: Transcript) -> int:
    """Return the size of a session's file; 0 for a session in a database, of which only a part is read anyway."""
    try:
        return os.stat(transcript.path).st_size
    except (OSError, ValueError):
        return 0


class RuleBook:
    """The rules, found by the words of a call: of hundreds of checks, a call is compared with a few."""

    def __init__(self, rules: Sequence[RecordCheck]) -> None:
        self.rules = rules
        self._by_word: dict[str, list[int]] = {}
        self._covering: dict[str, set[int]] = {}
        for number, rule in enumerate(rules):
            for word in check.key_words(rule.check):
                self._by_word.setdefault(word, []).append(number)

    def candidates(self, text: str) -> set[int]:
        """Return the numbers of the rules that a call with this text may break."""
        words = check.words_of(text) | {""}
        keys = words if len(words) < len(self._by_word) else self._by_word
        return {number for word in keys if word in words for number in self._by_word.get(word, ())}

    def broken_by_command(self, command: str) -> list[int]:
        """Return the numbers of the rules that a command breaks."""
        numbers = self.candidates(command)
        return [number for number in numbers if check.breaks_command(self.rules[number].check, command)]

    def broken_by_change(self, called_change: CalledChange) -> list[int]:
        """Return the numbers of the rules that a change of a file breaks."""
        numbers = self.candidates(called_change.new_text).intersection(self.covering(called_change.path))
        file_lines = called_change.lines() if numbers else None
        return [number for number in numbers if file_lines and self.rules[number].broken_lines(file_lines)]

    def about_commands(self) -> Iterator[int]:
        return (number for number, rule in enumerate(self.rules) if rule.check.is_about(check.COMMAND))

    def covering(self, path: str) -> set[int]:
        """Return the numbers of the rules that a change of a file could break."""
        if path not in self._covering:
            if len(self._covering) >= _MAX_PATHS:
                self._covering.clear()
            self._covering[path] = {number for number, rule in enumerate(self.rules) if _covers(rule, path)}
        return self._covering[path]


def _covers(rule: RecordCheck, path: str) -> bool:
    own = rule.own_path(path)
    return bool(own) and rule.check.is_about(check.WRITE) and rule.check.covers(own)


class _Turns:
    """The turns of all sessions so far, each of which counts in one session, and the sessions that share turns."""

    def __init__(self, transcripts: Sequence[Transcript]) -> None:
        self._transcripts = transcripts
        self._ids: frozenset[str] | None = None
        self._counted: dict[int, str] = {}
        """For each turn, the session in which it was counted."""
        self._relatives: dict[str, set[str]] = {}

    def take(self, prompt_message: Message, session: str) -> bool:
        """True if the turn of a prompt counts in a session; False if it is a copy that counts in another one."""
        writer = prompt_message.session
        if session and writer not in ("", session):
            self._relate(session, writer)
            if self._is_read(writer):
                return False
        # Without an id and a time, two equal prompts are two prompts.
        if not (prompt_message.name and prompt_message.at):
            return True
        turn = hash((prompt_message.name, prompt_message.at, prompt_message.text))
        if turn not in self._counted:
            self._counted[turn] = session
            return True
        other = self._counted[turn]
        if other != session:
            # Nothing says which of the two ran it: a host may put its new id on the lines that it copies.
            self._relate(session, other)
            self._relate(other, session)
        return False

    def with_relatives(self, facts_list: Sequence[SessionFacts]) -> tuple[SessionFacts, ...]:
        """Return the facts, each with the sessions from which it has turns, once all are read."""
        relatives = self._relatives
        return tuple(facts._replace(relatives=frozenset(relatives.get(facts.session_id, ()))) for facts in facts_list)

    def _relate(self, session: str, other: str) -> None:
        self._relatives.setdefault(session, set()).add(other)

    def _is_read(self, session: str) -> bool:
        """True if a session has a file of its own; hosts delete old ones, of which only copies are left."""
        if self._ids is None:
            self._ids = frozenset(transcript.session_id for transcript in self._transcripts)
        return session in self._ids


class _SessionReader:
    """Reads one session: counts its prompts and calls, except those of turns that count in another session."""

    def __init__(self, transcript: Transcript, book: RuleBook, project: str, all_turns: _Turns) -> None:
        self._transcript = transcript
        self._session = transcript.session_id
        self._book = book
        self._project = project
        self._turns = all_turns
        self._is_copied = False
        self._times: list[str] = []
        self._prompts = self._commands = self._failed = self._calls = self._copied = 0
        self._corrections: list[str] = []
        self._pending: list[bool] = []
        """For each call without a result: True for a command."""
        self._tried: set[int] = set()
        self._broken: set[int] = set()

    def read(self, size: int) -> SessionFacts | None:
        """Return the facts; None if the session has neither a prompt nor a tool call of its own."""
        entries, is_whole = self._transcript.tail(size)
        for entry in entries:
            for message in self._transcript.messages_in(entry):
                self._take(message)
        if not self._prompts and not self._calls:
            return None
        started_at, ended_at = self._span()
        return SessionFacts(
            self._session,
            started_at,
            ended_at,
            self._prompts,
            len(self._corrections),
            tuple(self._corrections[:_MAX_KEPT_CORRECTIONS]),
            self._commands,
            self._failed,
            frozenset(self._tried),
            frozenset(self._broken),
            is_whole,
        )

    def _take(self, message: Message) -> None:
        if message.kind == "text" and message.role == "user":
            self._take_prompt(message)
        elif message.kind == "tool_use" and not self._is_copied:
            self._take_call(message.name, message.input)
        elif message.kind == "tool_result" and self._pending:
            is_command = self._pending.pop(0)
            self._failed += is_command and message.name == "error"

    def _take_prompt(self, message: Message) -> None:
        self._is_copied = not self._turns.take(message, self._session)
        self._pending = []
        self._copied += self._is_copied
        if self._is_copied:
            return
        if timestamps.is_instant(message.at):
            self._times.append(message.at)
        # The first prompt has nothing to correct yet.
        if (self._prompts or self._copied) and is_correction(message.text):
            self._corrections.append(message.text)
        self._prompts += 1

    def _take_call(self, tool: str, fields: Mapping[str, Any]) -> None:
        self._calls += 1
        command = check_report.called_command(tool, fields)
        self._pending.append(bool(command))
        if command:
            if not self._commands:
                self._tried.update(self._book.about_commands())
            self._commands += 1
            self._broken.update(self._book.broken_by_command(command))
            return
        change = check_report.called_change(fields, self._project)
        if change:
            self._tried.update(self._book.covering(change.path))
            self._broken.update(self._book.broken_by_change(change))

    def _span(self) -> tuple[str, str]:
        """Return when the session began and ended; two empty texts if that cannot be told."""
        latest = timestamps.days_before(timestamps.now(), _TOLERANCE_DAYS)
        latest_order = timestamps.order(latest)
        past = (moment for moment in self._times if timestamps.order(moment) < latest_order)
        times = sorted(past, key=timestamps.order)
        if times:
            return times[0], times[-1]
        try:
            modified = timestamps.from_seconds(_modified(self._transcript))
        except (OSError, ValueError, OverflowError):
            return "", ""
        return (modified, modified) if modified < latest else ("", "")
