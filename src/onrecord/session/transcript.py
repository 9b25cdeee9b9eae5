"""Reading a session: its last messages, from a bounded tail of the file in which a host keeps it.

The formats are internal to the hosts and change: an entry that is not understood is passed over.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.text import remove_elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

_LAST_PROMPTS = 3
TAIL_BYTES = 400_000
MAX_LINE_BYTES = 8_000_000
"""Bytes: a pasted picture is below."""

_SHORTEST_LINE = 20
"""Bytes: no entry of a conversation is shorter."""

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
"""How our skills are called, in Claude Code and in the other hosts."""

_DISTINCT = 40
"""Characters from which a text that occurs in another counts as the same message."""

_COMPARED = 200
_LONGEST_ADDED = 20_000
"""Characters of a message that the transcript lacks; triage reads fewer."""

_LONGEST_TURN = 20_000
"""Characters of an assistant's turn: its end says what came of it."""

_INJECTED = (
    "memory-context",
    "system-reminder",
    "system_reminder",
    "hook_context",
    "hook_prompt",
    "qwen:user-prompt-submit-context",
    "qwen:session-start-context",
)
"""The elements that hooks, and hosts on their behalf, put into conversations."""


class Message(NamedTuple):
    """One thing said or done: a text by the user or the assistant, a tool call, its result, or what a hook added.

    Tools have the names and fields that Claude Code gives them, whatever their host calls them.
    """

    role: str
    kind: str
    text: str
    name: str = ""
    """The tool's name; `error` for the result of a tool that failed; for a text the name that the host gave it."""
    input: Mapping[str, Any] = {}
    at: str = ""
    """When it was said, if the host says so."""


def any_entry(entry: Any) -> bool:
    return True


def modification_time(path: str) -> float:
    """When a file was last written; OSError or ValueError if there is none."""
    return os.stat(path).st_mtime


class Format(NamedTuple):
    """How a host keeps its sessions: the entries at the start or end of a file, and the messages in an entry."""

    entries: Callable[[str, int, bool], tuple[list[Any], bool]]
    """The entries in so many bytes of a file, from its start or up to its end; and whether they are all of it."""
    messages: Callable[[Any], Iterator[Message]]
    may_be_typed: Callable[[Any], bool] = any_entry
    """The cheap test whether an entry can hold a prompt."""
    written: Callable[[str], float] = modification_time
    """When a session was last written, in seconds."""


class Transcript(NamedTuple):
    """The file in which a host keeps a session, and how to read it. Without a path there is none."""

    path: str
    format: Format

    @property
    def name(self) -> str:
        """The session's own name, as far as the path has it."""
        folder, name = os.path.split(self.path.rpartition("#")[2])
        return os.path.basename(folder) if name == "events.jsonl" else name.partition(".")[0] or self.path

    def tail(self, size: int = TAIL_BYTES) -> tuple[list[Any], bool]:
        """The last entries, and whether they are all."""
        return self.format.entries(self.path, size, False) if self.path else ([], True)

    def head(self) -> list[Any]:
        return self.format.entries(self.path, TAIL_BYTES, True)[0] if self.path else []

    def messages_in(self, entry: Any) -> list[Message]:
        """What was said and done in an entry, without what hooks added."""
        return [message for message in self.format.messages(entry) if message.kind != "context"]


NO_SESSION = Transcript("", Format(lambda path, size, is_head: ([], True), lambda entry: iter(())))
"""Where there is none, or its form is not known."""


def is_machine_turn(prompt: str) -> bool:
    """Whether a prompt was put in by a program rather than typed by a person."""
    return prompt.lstrip().startswith(_MACHINE)


def wants_silence(prompt: str) -> bool:
    """Whether nobody wants memories for this prompt: our own commands, machine turns, or the user's word for it."""
    return prompt.lstrip().startswith(_OWN_COMMANDS) or "#nomem" in prompt or is_machine_turn(prompt)


def last_prompts(session: Transcript) -> list[str]:
    """The three newest prompts a person typed, oldest first, without anything that was injected into them."""
    prompts: list[str] = []
    entries, _ = session.tail()
    while entries and len(prompts) < _LAST_PROMPTS:
        prompts += [message.text for message in _last_typed(session, entries)]
    return prompts[:_LAST_PROMPTS][::-1]


def last_turns(session: Transcript, most: int) -> list[str]:
    """The newest turns of both sides, oldest first, each behind the name of its side.

    What the assistant said between its tool calls in answer to one prompt is one turn.
    """
    turns: list[Message] = []
    entries, _ = session.tail()
    while entries and len(turns) <= most:
        for message in reversed(session.messages_in(entries.pop())):
            if message.kind != "text":
                continue
            if turns and turns[-1].role == message.role == "assistant":
                turns[-1] = message._replace(text=f"{message.text}\n{turns[-1].text}"[-_LONGEST_TURN:])
            else:
                turns.append(message)
    return [f"{turn.role.capitalize()}: {turn.text}" for turn in reversed(turns[:most])]


def first_prompt(session: Transcript) -> str:
    """The prompt a session was started with, if it stands in the first part of its transcript."""
    typed = (message.text for entry in session.head() for message in session.messages_in(entry) if _is_typed(message))
    return next(typed, "")


class Ending(NamedTuple):
    """The last things said and done in a session, in order, and whether that is all of it."""

    messages: Sequence[Message]
    is_whole: bool

    def with_missing(self, role: str, texts: Sequence[str]) -> Ending:
        """The same with what was said but is not here: not written down yet, or further back than this part."""
        present = [message.text for message in self.messages if message.role == role and message.kind == "text"]
        added = (text[:_LONGEST_ADDED] for text in texts if text)
        missing = [Message(role, "text", text) for text in added if not any(_is_same(text, each) for each in present)]
        is_before = role == "user" and not self.is_whole
        return self._replace(messages=[*missing, *self.messages] if is_before else [*self.messages, *missing])


def _is_same(text: str, other: str) -> bool:
    """Whether one of two texts has the beginning of the other in it."""
    # Before Python 3.10 a search takes up to the product of the two lengths.
    return text[:_COMPARED] in other or (len(other) >= _DISTINCT and other[:_COMPARED] in text)


def read_ending(session: Transcript, most: int) -> Ending:
    """The last so many things said and done, and the prompt that began the turn however long ago that was."""
    last: list[Message] = []
    entries, is_all = session.tail()
    while entries and len(last) < most:
        last += reversed(session.messages_in(entries.pop()))
    is_whole = is_all and not entries and len(last) <= most
    last = last[:most][::-1]
    if not any(_is_typed(message) for message in last):
        last = _last_typed(session, entries) + last
    return Ending(last, is_whole=is_whole)


def read_messages(session: Transcript, *, contexts: bool = False) -> list[Message]:
    """Everything said and done in the last part of a session, in order; on request also what hooks added to it."""
    everything = [message for entry in session.tail()[0] for message in session.format.messages(entry)]
    return [message for message in everything if contexts or message.kind != "context"]


def without_blocks(text: str) -> str:
    """A text without the blocks that hooks put into conversations, also where a host has escaped ours."""
    return remove_elements(_with_tags(text), _INJECTED)


def _with_tags(text: str) -> str:
    """A text in which our own blocks have their tags, where a host has escaped them."""
    if "&lt;memory-context" not in text:
        return text
    return text.replace("&lt;memory-context", "<memory-context").replace("&lt;/memory-context&gt;", "</memory-context>")


def tail_lines(path: str, size: int = TAIL_BYTES) -> tuple[list[bytes], bool]:
    """The whole lines in the last bytes of a file, none if it cannot be read; and whether they are all of it."""
    return read_lines(path, size, False)


def read_lines(path: str, size: int, is_head: bool) -> tuple[list[bytes], bool]:
    """The whole lines in the first or last bytes of a file, none if it cannot be read; and whether they are all."""
    try:
        with open(files.open_regular(path, os.O_RDONLY), "rb") as file:
            more = max(os.fstat(file.fileno()).st_size - size, 0)
            file.seek(0 if is_head else more)
            parts = file.read(size).split(b"\n")
    except (OSError, ValueError):
        return [], True
    whole = parts if not more else parts[:-1] if is_head else parts[1:]
    return [line for line in whole if len(line) >= _SHORTEST_LINE], not more


def _is_typed(message: Message) -> bool:
    return message.role == "user" and message.kind == "text"


def _last_typed(session: Transcript, entries: list[Any]) -> list[Message]:
    """What a person typed in the last of these entries that has such; it and those after it are taken off."""
    while entries:
        entry = entries.pop()
        if session.format.may_be_typed(entry):
            typed = [message for message in session.messages_in(entry) if _is_typed(message)]
            if typed:
                return typed
    return []


def parse_line(line: bytes) -> dict[str, Any]:
    """The object in a line of a session's file; an empty one for any other line."""
    if not line.startswith(b"{") or len(line) > MAX_LINE_BYTES:
        return {}
    try:
        value: dict[str, Any] = coldstart.loads(line.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return value


def text_messages(role: str, words: str, at: str = "", name: str = "") -> Iterator[Message]:
    """What somebody said, without what was injected; nothing for what a program put into the user's mouth."""
    plain = without_blocks(words)
    if plain and not (role == "user" and is_machine_turn(plain)):
        yield Message(role, "text", plain, name, at=at)


def tool_result(printed: str, *, has_failed: bool) -> Message:
    """What a tool gave back."""
    return Message("user", "tool_result", printed, "error" if has_failed else "")


def tool_results(printed: str, *, has_failed: bool) -> Iterator[Message]:
    """What a tool gave back in a host that adds a hook's text to it; and that text, apart from it."""
    plain = _with_tags(printed)
    start, end = plain.find("<memory-context"), plain.rfind("</memory-context>")
    if not 0 <= start < end:
        yield tool_result(printed, has_failed=has_failed)
        return
    yield tool_result(remove_elements(plain, _INJECTED), has_failed=has_failed)
    yield context_message(f"{plain[start:end]}</memory-context>")


def context_message(added: str) -> Message:
    """What a hook added; a host may have escaped its tags."""
    return Message("system", "context", added.replace("&lt;", "<").replace("&gt;", ">"))


def content_text(content: Any) -> str:
    """The text of a content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in content if isinstance(part, dict)) if isinstance(content, list) else ()
    return "\n".join(part for part in parts if isinstance(part, str))


MAX_BYTES = 32_000_000
"""Bytes of one transcript that are read, from its end."""

MAX_FILES = 200
_LONGEST_PROMPT = 100_000


class Prompt(NamedTuple):
    """Something a person typed: when, in which words, and the name that the host gave it."""

    at: str
    text: str
    uuid: str = ""


class Session(NamedTuple):
    """One conversation: its name, its prompts in order, and whether its beginning was read too."""

    name: str
    prompts: tuple[Prompt, ...]
    is_whole: bool


def recent_sessions(transcripts: Sequence[Transcript], last: int) -> list[Session]:
    """The sessions that hold the last prompts."""
    sessions: list[Session] = []
    times: list[str] = []
    for transcript, changed in _newest_first(transcripts):
        if len(times) >= last and times[-last] >= changed:
            break
        session = read_session(transcript)
        if session.prompts:
            sessions.append(session)
            times = sorted([*times, *(prompt.at for prompt in session.prompts)])
    return sessions


def read_session(transcript: Transcript) -> Session:
    """The prompts in a transcript; none if it cannot be read."""
    entries, is_whole = transcript.tail(MAX_BYTES)
    prompts = (_prompt(transcript, entry) for entry in entries if transcript.format.may_be_typed(entry))
    return Session(transcript.name, tuple(prompt for prompt in prompts if prompt), is_whole)


def _prompt(transcript: Transcript, entry: object) -> Prompt | None:
    """What was typed in an entry, in however many parts."""
    typed = [message for message in transcript.messages_in(entry) if message.role == "user" and message.kind == "text"]
    text = "\n".join(message.text for message in typed)[:_LONGEST_PROMPT]
    at = typed[0].at if typed else ""
    return Prompt(at if timestamps.is_instant(at) else "", text, typed[0].name) if text else None


def _newest_first(transcripts: Sequence[Transcript]) -> list[tuple[Transcript, str]]:
    """Transcripts with the moment each was last written."""
    changed: dict[Transcript, str] = {}
    for transcript in transcripts:
        try:
            changed[transcript] = timestamps.from_seconds(transcript.format.written(transcript.path))
        except (OSError, ValueError, OverflowError):
            continue
    return sorted(changed.items(), key=lambda each: (each[1], each[0].path), reverse=True)[:MAX_FILES]
