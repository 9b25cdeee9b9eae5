"""Reads sessions: their messages and prompts, from the end of the files in which hosts store them.

The formats are internal to the hosts and change, so an entry that cannot be understood is skipped.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.text import PLAIN_END, PLAIN_START, remove_elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

TAIL_BYTES = 400_000
"""Size of the end of a transcript that hooks read."""

MAX_BYTES = 32_000_000
"""Size of the end of a transcript that `read_session` reads."""

MAX_FILES = 200
"""Transcripts that `recent_sessions` looks at."""

MAX_LINE_BYTES = 8_000_000
"""Largest entry that is parsed; even an entry with a pasted picture is smaller."""

_MIN_LINE_BYTES = 20
"""No entry of a conversation is shorter."""

_MAX_PROMPT_CHARACTERS = 100_000

_MACHINE = (
    "<task-notification",
    "<system-reminder",
    "<cross-session-message",
    "[SYSTEM NOTIFICATION",
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<bash-",
    "<user-memory-input>",
    "<teammate-message",
    "<session_context>",
    "<environment_context>",
    "<user_instructions>",
    "Stop hook feedback",
    "Memory: later sessions may need to know",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below",
)
_OWN_COMMANDS = ("/memory:", "/memory-", "$memory:", "$memory-", "/skill:memory-")
"""The beginnings of our skills' commands, in Claude Code and in the other hosts."""

_MIN_SAME_CHARACTERS = 40
"""Shortest message that counts as already present if a longer text contains it."""

_COMPARED_CHARACTERS = 200
_MAX_ADDED_CHARACTERS = 20_000
"""Length of a message that is added to a transcript; triage reads less."""

_MAX_TURN_CHARACTERS = 20_000
"""Characters kept of an assistant's turn: the end, where the result is."""

_INJECTED = (
    "memory-context",
    "system-reminder",
    "system_reminder",
    "hook_context",
    "hook_prompt",
    "qwen:user-prompt-submit-context",
    "qwen:session-start-context",
)
"""The elements that our hooks, or hosts on behalf of hooks, add to conversations."""


class Message(NamedTuple):
    """A text by the user or the assistant, a tool call, its result, or the context that a hook added.

    Tools have the names and fields of Claude Code's tools, in all hosts.
    """

    role: str
    kind: str
    text: str
    name: str = ""
    """The tool's name; `error` for the result of a tool that failed; for a text, its id in the host."""
    input: Mapping[str, Any] = {}
    at: str = ""
    """The time of the message; empty if unknown."""
    session: str = ""
    """For a text, the id of the session in which it was written, if the host notes it: a fork has copies of others."""


def any_entry(entry: Any) -> bool:
    return True


def modification_time(path: str) -> float:
    """Return the time a file was last modified, in seconds. Raises OSError or ValueError."""
    return os.stat(path).st_mtime


def name_in_path(path: str) -> str:
    """Return the id of a session, which most hosts have in the name of its file, its folder or its entry."""
    folder, name = os.path.split(path.rpartition("#")[2])
    return os.path.basename(folder) if name == "events.jsonl" else name.partition(".")[0]


class Format(NamedTuple):
    """The format of a host's transcripts: functions that read the entries of a file, and the messages of an entry."""

    entries: Callable[[str, int, bool], tuple[list[Any], bool]]
    """Takes a path, a size in bytes, and True for the start of the file, False for its end.

    Returns the entries in that part of the file, and True if that is the whole file.
    """
    messages: Callable[[Any], Iterator[Message]]
    may_be_typed: Callable[[Any], bool] = any_entry
    """A cheap test: False if an entry cannot contain a prompt."""
    modified_at: Callable[[str], float] = modification_time
    """Takes a path; returns the time the session was last modified, in seconds."""
    session_id: Callable[[str], str] = name_in_path
    """Takes a path; returns the id that hooks get for the session, or nothing if it cannot be told."""


class Transcript(NamedTuple):
    """The file in which a host stores a session, and its format. An empty path means that there is no file."""

    path: str
    format: Format

    @property
    def name(self) -> str:
        """The session's name, derived from the path."""
        return name_in_path(self.path) or self.path

    @property
    def session_id(self) -> str:
        """The id that hooks get for the session; empty if there is no file, or if it cannot be told."""
        return self.format.session_id(self.path) if self.path else ""

    def tail(self, size: int = TAIL_BYTES) -> tuple[list[Any], bool]:
        """Return the last entries, and True if these are all."""
        return self.format.entries(self.path, size, False) if self.path else ([], True)

    def head(self) -> list[Any]:
        return self.format.entries(self.path, TAIL_BYTES, True)[0] if self.path else []

    def messages_in(self, entry: Any) -> list[Message]:
        """Return the messages in an entry, without the context that hooks added."""
        return [message for message in self.format.messages(entry) if message.kind != "context"]


class Prompt(NamedTuple):
    """A prompt that a person typed: its time, its text, and its id in the host."""

    at: str
    text: str
    uuid: str = ""


class Session(NamedTuple):
    """A conversation: its id, and its prompts in order; `is_whole` is False if only the end was read."""

    name: str
    prompts: tuple[Prompt, ...]
    is_whole: bool


NO_SESSION = Transcript("", Format(lambda path, size, is_head: ([], True), lambda entry: iter(())))
"""The transcript of a session that has no file, or one in an unknown format."""


def is_machine_turn(prompt: str) -> bool:
    """True if a program entered `prompt`, not a person."""
    return prompt.lstrip().startswith(_MACHINE)


SILENCE = "#nomem"
"""The mark in a prompt or a command for which no records are to be shown."""


def wants_silence(prompt: str) -> bool:
    """True if no memories should be shown for `prompt`: our own commands, machine turns, or `#nomem`."""
    return prompt.lstrip().startswith(_OWN_COMMANDS) or SILENCE in prompt or is_machine_turn(prompt)


def last_prompt(transcript: Transcript, current: str = "") -> str:
    """Return the newest prompt that a person typed before the `current` one; empty if there is none.

    Some hosts have written that one already. Nothing that was injected is part of a prompt.
    """
    entries, _ = transcript.tail()
    while entries:
        for message in _pop_prompt(transcript, entries):
            if message.text.strip() != current.strip():
                return message.text
    return ""


def last_turns(transcript: Transcript, limit: int) -> list[str]:
    """Return the newest turns of user and assistant, oldest first, as `User: …` and `Assistant: …`.

    All texts of the assistant between two prompts are one turn.
    """
    turns: list[Message] = []
    entries, _ = transcript.tail()
    while entries and len(turns) <= limit:
        for message in reversed(transcript.messages_in(entries.pop())):
            if message.kind != "text":
                continue
            if turns and turns[-1].role == message.role == "assistant":
                turns[-1] = message._replace(text=f"{message.text}\n{turns[-1].text}"[-_MAX_TURN_CHARACTERS:])
            else:
                turns.append(message)
    return [f"{turn.role.capitalize()}: {turn.text}" for turn in reversed(turns[:limit])]


def first_prompt(transcript: Transcript) -> str:
    """Return the first prompt of a session; empty if it is not in the first part of the file."""
    messages = (message for entry in transcript.head() for message in transcript.messages_in(entry))
    return next((message.text for message in messages if _is_prompt(message)), "")


class Ending(NamedTuple):
    """The last messages of a session, in order; `is_whole` is True if these are all."""

    messages: Sequence[Message]
    is_whole: bool

    def with_missing(self, role: str, texts: Sequence[str]) -> Ending:
        """Return this ending plus those `texts` that it lacks: they are not in the file yet, or further back in it."""
        present = [message.text for message in self.messages if message.role == role and message.kind == "text"]
        candidates = (text[:_MAX_ADDED_CHARACTERS] for text in texts if text)
        new = (text for text in candidates if not any(_is_same(text, other) for other in present))
        missing = [Message(role, "text", text) for text in new]
        is_before = role == "user" and not self.is_whole
        return self._replace(messages=[*missing, *self.messages] if is_before else [*self.messages, *missing])


def _is_same(text: str, other: str) -> bool:
    """True if one of the two texts contains the beginning of the other."""
    # Only the beginning, because before Python 3.10 a text search can take quadratic time.
    return text[:_COMPARED_CHARACTERS] in other or (
        len(other) >= _MIN_SAME_CHARACTERS and other[:_COMPARED_CHARACTERS] in text
    )


def read_ending(transcript: Transcript, limit: int) -> Ending:
    """Return the last `limit` messages, preceded by the last prompt if that is further back."""
    messages: list[Message] = []
    entries, is_all = transcript.tail()
    while entries and len(messages) < limit:
        messages += reversed(transcript.messages_in(entries.pop()))
    is_whole = is_all and not entries and len(messages) <= limit
    messages = messages[:limit][::-1]
    if not any(_is_prompt(message) for message in messages):
        messages = _pop_prompt(transcript, entries) + messages
    return Ending(messages, is_whole=is_whole)


def read_messages(transcript: Transcript, *, contexts: bool = False) -> list[Message]:
    """Return the messages in the last part of a session, in order; with `contexts`, also those that hooks added."""
    messages = [message for entry in transcript.tail()[0] for message in transcript.format.messages(entry)]
    return [message for message in messages if contexts or message.kind != "context"]


def without_blocks(text: str) -> str:
    """Return `text` without the blocks that hooks added, even if the host has escaped our tags."""
    return remove_elements(_with_tags(text), _INJECTED)


def _with_tags(text: str) -> str:
    """Return `text` with the tags of our own blocks, which a host may have escaped or been given as plain lines."""
    if "&lt;memory-context" in text:
        text = text.replace("&lt;memory-context", "<memory-context").replace(
            "&lt;/memory-context&gt;", "</memory-context>"
        )
    if PLAIN_START in text:
        text = text.replace(PLAIN_START, "<memory-context ").replace(PLAIN_END, "</memory-context>")
    return text


def tail_lines(path: str, size: int = TAIL_BYTES) -> tuple[list[bytes], bool]:
    """Return the whole lines in the last `size` bytes of a file, and True if that is all of it."""
    return read_lines(path, size, False)


def read_lines(path: str, size: int, is_head: bool) -> tuple[list[bytes], bool]:
    """Return the whole lines in the first or last `size` bytes of a file, and True if that is all of it.

    A file that cannot be read has no lines.
    """
    try:
        with open(files.open_regular(path, os.O_RDONLY), "rb") as file:
            unread_bytes = max(os.fstat(file.fileno()).st_size - size, 0)
            file.seek(0 if is_head else unread_bytes)
            parts = file.read(size).split(b"\n")
    except (OSError, ValueError):
        return [], True
    whole_lines = parts if not unread_bytes else parts[:-1] if is_head else parts[1:]
    return [line for line in whole_lines if len(line) >= _MIN_LINE_BYTES], not unread_bytes


def _is_prompt(message: Message) -> bool:
    return message.role == "user" and message.kind == "text"


def _pop_prompt(transcript: Transcript, remaining: list[Any]) -> list[Message]:
    """Return the last prompt in the `remaining` entries, and remove its entry and those after it from the list."""
    while remaining:
        entry = remaining.pop()
        if transcript.format.may_be_typed(entry):
            messages = [message for message in transcript.messages_in(entry) if _is_prompt(message)]
            if messages:
                return messages
    return []


def parse_line(data: bytes) -> dict[str, Any]:
    """Return the JSON object in a line of a transcript; empty for any other line."""
    if not data.startswith(b"{") or len(data) > MAX_LINE_BYTES:
        return {}
    try:
        value: dict[str, Any] = coldstart.loads(data.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return value


def text_messages(role: str, text: str, time: str = "", name: str = "", session: str = "") -> Iterator[Message]:
    """Yield a message with `text`, without injected blocks; none if it is a user message that a program wrote."""
    plain = without_blocks(text)
    if plain and not (role == "user" and is_machine_turn(plain)):
        yield Message(role, "text", plain, name, at=time, session=session)


def tool_result(output: str, *, has_failed: bool) -> Message:
    """Return the message of a tool's output."""
    return Message("user", "tool_result", output, "error" if has_failed else "")


def tool_results(output: str, *, has_failed: bool) -> Iterator[Message]:
    """Yield the message of a tool's output, and another one if the host has appended a hook's context to the output."""
    plain = _with_tags(output)
    start, end = plain.find("<memory-context"), plain.rfind("</memory-context>")
    if not 0 <= start < end:
        yield tool_result(output, has_failed=has_failed)
        return
    yield tool_result(remove_elements(plain, _INJECTED), has_failed=has_failed)
    yield context_message(f"{plain[start:end]}</memory-context>")


def context_message(text: str) -> Message:
    """Return a message with the context that a hook added; a host may have escaped its tags."""
    return Message("system", "context", text.replace("&lt;", "<").replace("&gt;", ">"))


def content_text(value: Any) -> str:
    """Return the text of a message's content, which is a text or a list of parts."""
    if isinstance(value, str):
        return value
    parts = (part.get("text") for part in value if isinstance(part, dict)) if isinstance(value, list) else ()
    return "\n".join(part for part in parts if isinstance(part, str))


def recent_sessions(transcripts: Sequence[Transcript], last: int) -> list[Session]:
    """Return the sessions that contain the `last` newest prompts."""
    sessions: list[Session] = []
    times: list[str] = []
    for transcript, modified in _newest_first(transcripts):
        if len(times) >= last and times[-last] >= modified:
            break
        session = read_session(transcript)
        if session.prompts:
            sessions.append(session)
            times = sorted([*times, *(prompt.at for prompt in session.prompts)])
    return sessions


def read_session(transcript: Transcript) -> Session:
    """Return the session with the prompts of a transcript; without prompts if it cannot be read."""
    entries, is_whole = transcript.tail(MAX_BYTES)
    prompts = (_prompt(transcript, entry) for entry in entries if transcript.format.may_be_typed(entry))
    return Session(transcript.name, tuple(prompt for prompt in prompts if prompt), is_whole)


def _prompt(transcript: Transcript, entry: Any) -> Prompt | None:
    """Return the prompt in an entry, its parts joined; None if there is none."""
    messages = [message for message in transcript.messages_in(entry) if _is_prompt(message)]
    text = "\n".join(message.text for message in messages)[:_MAX_PROMPT_CHARACTERS]
    if not text:
        return None
    time = messages[0].at
    return Prompt(time if timestamps.is_instant(time) else "", text, messages[0].name)


def _newest_first(transcripts: Sequence[Transcript]) -> list[tuple[Transcript, str]]:
    """Return the transcripts with the times they were last modified, newest first."""
    modified: list[tuple[float, Transcript, str]] = []
    for transcript in transcripts:
        try:
            seconds = transcript.format.modified_at(transcript.path)
            modified.append((seconds, transcript, timestamps.from_seconds(seconds)))
        except (OSError, ValueError, OverflowError):
            continue
    # By fractions of a second: two short sessions can end within the same one.
    modified.sort(key=lambda item: (item[0], item[1].path), reverse=True)
    return [(transcript, instant) for _, transcript, instant in modified[:MAX_FILES]]
