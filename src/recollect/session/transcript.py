"""Reading a Claude Code session: its last messages, from a bounded tail of the transcript.

The format is internal to the host and changes: a line that is not understood is passed over.
"""

from __future__ import annotations

import os

from recollect import coldstart, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

TAIL = 400_000
LONGEST_LINE = 200_000
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
    "Stop hook feedback",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below",
)
_TELLING = 40
"""Characters from which a piece of a message is known for that message's own."""

_OURS = ("memory-context", "system-reminder")


class Message:
    """One thing said or done: a text by the user or the assistant, a tool call, or a tool's result."""

    __slots__ = ("input", "kind", "name", "role", "text")

    def __init__(self, role: str, kind: str, text: str, name: str = "", given: Mapping[str, Any] | None = None) -> None:
        self.role = role
        self.kind = kind
        self.text = text
        self.name = name
        self.input: Mapping[str, Any] = given or {}


def is_machine_turn(prompt: str) -> bool:
    """Whether a prompt was put in by a program rather than typed by a person."""
    return prompt.lstrip().startswith(_MACHINE)


def wants_silence(prompt: str) -> bool:
    """Whether nobody wants memories for this prompt: our own commands, machine turns, or the user's word for it."""
    return prompt.lstrip().startswith("/memory:") or "#nomem" in prompt or is_machine_turn(prompt)


def last_prompts(path: str, most: int = 3) -> list[str]:
    """The newest prompts a person typed, oldest first, without anything that was injected into them."""
    found: list[str] = []
    lines = last_lines(path)
    while lines and len(found) < most:
        found += [message.text for message in _last_typed(lines)]
    return found[:most][::-1]


def first_prompt(path: str) -> str:
    """The prompt a session was started with, if it stands in the first part of its transcript."""
    for line in _head(path):
        for message in _parse(line):
            if _is_typed(message):
                return message.text
    return ""


class Ending:
    """The last things said and done in a session, in order, and whether that is all of it."""

    __slots__ = ("is_whole", "messages")

    def __init__(self, messages: list[Message], *, is_whole: bool) -> None:
        self.messages = messages
        self.is_whole = is_whole

    def add_missing(self, role: str, texts: list[str]) -> None:
        """Put in what was said but is not here: not written down yet, or, before a part of a session, further back."""
        known = [message.text for message in self.messages if message.role == role and message.kind == "text"]
        missing = [
            Message(role, "text", text)
            for text in texts
            if text and not any(text in other or (len(other) >= _TELLING and other in text) for other in known)
        ]
        if role == "user" and not self.is_whole:
            self.messages = missing + self.messages
        else:
            self.messages = self.messages + missing


def ending(path: str, most: int) -> Ending:
    """The last so many things said and done, and the prompt that began the turn however long ago that was."""
    found: list[Message] = []
    lines = last_lines(path)
    while lines and len(found) < most:
        found += reversed(list(_parse(lines.pop())))
    is_whole = not lines and len(found) <= most and _size(path) <= TAIL
    found = found[:most][::-1]
    if not any(_is_typed(message) for message in found):
        found = _last_typed(lines) + found
    return Ending(found, is_whole=is_whole)


def messages(path: str, tail: int = TAIL, *, contexts: bool = False) -> list[Message]:
    """Everything said and done in the last part of a session, in order; on request also what hooks added to it."""
    found: list[Message] = []
    for line in last_lines(path, tail):
        found += _parse(line)
        if contexts and b"hook_additional_context" in line:
            found += _added(line)
    return found


def without_blocks(text: str) -> str:
    """A text without the blocks that hooks put into conversations, our own among them."""
    for tag in _OURS:
        start = text.find(f"<{tag}")
        while start >= 0:
            end = text.find(f"</{tag}>", start)
            text = text[:start] + (text[end + len(tag) + 3 :] if end >= 0 else "")
            start = text.find(f"<{tag}")
    return text.strip()


def last_lines(path: str, size: int = TAIL) -> list[bytes]:
    """The whole lines in the last bytes of a file; none if it cannot be read."""
    if not path:
        return []
    try:
        # Opening a FIFO for reading would wait for a writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return []
    try:
        start = max(os.fstat(handle).st_size - size, 0)
        os.lseek(handle, start, os.SEEK_SET)
        lines = os.read(handle, size).split(b"\n")
    except OSError:
        return []
    finally:
        os.close(handle)
    return lines[1:] if start else lines


def _is_typed(message: Message) -> bool:
    return message.role == "user" and message.kind == "text"


def _last_typed(lines: list[bytes]) -> list[Message]:
    """What a person typed in the last of these lines that has such; it and those after it are taken off."""
    while lines:
        line = lines.pop()
        if b'"user"' in line and b"tool_result" not in line:
            found = [message for message in _parse(line) if _is_typed(message)]
            if found:
                return found
    return []


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _head(path: str) -> list[bytes]:
    if not path:
        return []
    try:
        return files.read(path, TAIL).split(b"\n")
    except (OSError, ValueError):
        return []


def _parse(line: bytes) -> Iterator[Message]:
    if not line.startswith(b"{") or len(line) > LONGEST_LINE:
        return
    try:
        entry = coldstart.loads(line.decode("utf-8", "replace"))
    except ValueError:
        return
    role = entry.get("type")
    said = entry.get("message")
    if (
        role not in ("user", "assistant")
        or entry.get("isMeta")
        or entry.get("isSidechain")
        or not isinstance(said, dict)
    ):
        return
    content = said.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield from _message(role, block)


def _added(line: bytes) -> Iterator[Message]:
    """What a hook put before the model, in the line that says so."""
    try:
        entry = coldstart.loads(line.decode("utf-8", "replace")) if len(line) <= LONGEST_LINE else None
    except ValueError:
        return
    if not isinstance(entry, dict) or entry.get("type") != "attachment" or entry.get("isSidechain"):
        return
    attached = entry.get("attachment")
    if isinstance(attached, dict) and attached.get("type") == "hook_additional_context":
        content = attached.get("content")
        texts = content if isinstance(content, list) else [content]
        yield from (Message("system", "context", text) for text in texts if isinstance(text, str))


def _message(role: str, block: Mapping[str, Any]) -> Iterator[Message]:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        text = without_blocks(block["text"])
        if text and not (role == "user" and is_machine_turn(text)):
            yield Message(role, "text", text)
    elif kind == "tool_use" and isinstance(block.get("name"), str):
        given = block.get("input")
        yield Message(role, "tool_use", "", block["name"], given if isinstance(given, dict) else None)
    elif kind == "tool_result":
        yield Message(role, "tool_result", _result_text(block.get("content")), "error" if block.get("is_error") else "")


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
