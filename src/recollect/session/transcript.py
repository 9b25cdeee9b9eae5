"""Reading a Claude Code session: its last messages, from a bounded tail of the transcript.

The format is internal to the host and changes: a line that is not understood is passed over.
"""

from __future__ import annotations

import os

from recollect import coldstart, files
from recollect.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

TAIL = 400_000
LONGEST_LINE = 200_000
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
    "Stop hook feedback",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below",
)
_DISTINCT = 40
"""Characters from which a text that occurs in another counts as the same message."""

_COMPARED = 200
_LONGEST_ADDED = 20_000
"""Characters of a message that the transcript lacks; triage reads fewer."""

_LONGEST_TURN = 20_000
"""Characters of an assistant's turn: its end says what came of it."""

_INJECTED = ("memory-context", "system-reminder")


class Message(NamedTuple):
    """One thing said or done: a text by the user or the assistant, a tool call, or a tool's result."""

    role: str
    kind: str
    text: str
    name: str = ""
    input: Mapping[str, Any] = {}


def is_machine_turn(prompt: str) -> bool:
    """Whether a prompt was put in by a program rather than typed by a person."""
    return prompt.lstrip().startswith(_MACHINE)


def wants_silence(prompt: str) -> bool:
    """Whether nobody wants memories for this prompt: our own commands, machine turns, or the user's word for it."""
    return prompt.lstrip().startswith("/memory:") or "#nomem" in prompt or is_machine_turn(prompt)


def last_prompts(path: str, most: int = 3) -> list[str]:
    """The newest prompts a person typed, oldest first, without anything that was injected into them."""
    prompts: list[str] = []
    lines, _ = tail(path)
    while lines and len(prompts) < most:
        prompts += [message.text for message in _last_typed(lines)]
    return prompts[:most][::-1]


def last_turns(path: str, most: int) -> list[str]:
    """The newest turns of both sides, oldest first, each behind the name of its side.

    What the assistant said between its tool calls in answer to one prompt is one turn.
    """
    turns: list[Message] = []
    lines, _ = tail(path)
    while lines and len(turns) <= most:
        for message in reversed(list(_parse(lines.pop()))):
            if message.kind != "text":
                continue
            if turns and turns[-1].role == message.role == "assistant":
                turns[-1] = message._replace(text=f"{message.text}\n{turns[-1].text}"[-_LONGEST_TURN:])
            else:
                turns.append(message)
    return [f"{turn.role.capitalize()}: {turn.text}" for turn in reversed(turns[:most])]


def first_prompt(path: str) -> str:
    """The prompt a session was started with, if it stands in the first part of its transcript."""
    try:
        head = files.read(path, TAIL).split(b"\n")
    except (OSError, ValueError):
        return ""
    typed = (message.text for line in head for message in _parse(line) if _is_typed(message))
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


def ending(path: str, most: int) -> Ending:
    """The last so many things said and done, and the prompt that began the turn however long ago that was."""
    last: list[Message] = []
    lines, is_all = tail(path)
    while lines and len(last) < most:
        last += reversed(list(_parse(lines.pop())))
    is_whole = is_all and not lines and len(last) <= most
    last = last[:most][::-1]
    if not any(_is_typed(message) for message in last):
        last = _last_typed(lines) + last
    return Ending(last, is_whole=is_whole)


def messages(path: str, size: int = TAIL, *, contexts: bool = False) -> list[Message]:
    """Everything said and done in the last part of a session, in order; on request also what hooks added to it."""
    result: list[Message] = []
    for line in tail(path, size)[0]:
        result += _parse(line)
        if contexts and b"hook_additional_context" in line:
            result += _added(line)
    return result


def without_blocks(text: str) -> str:
    """A text without the blocks that hooks put into conversations, our own among them."""
    for tag in _INJECTED:
        parts, at, start = [], 0, text.find(f"<{tag}")
        while start >= 0:
            parts.append(text[at:start])
            end = text.find(f"</{tag}>", start)
            at = end + len(tag) + 3 if end >= 0 else len(text)
            start = text.find(f"<{tag}", at)
        text = "".join(parts) + text[at:]
    return text.strip()


def tail(path: str, size: int = TAIL) -> tuple[list[bytes], bool]:
    """The whole lines in the last bytes of a file, none if it cannot be read; and whether they are all of it."""
    try:
        with open(files.open_regular(path, os.O_RDONLY), "rb") as file:
            start = max(os.fstat(file.fileno()).st_size - size, 0)
            file.seek(start)
            lines = file.read(size).split(b"\n")[1 if start else 0 :]
    except (OSError, ValueError):
        return [], True
    return [line for line in lines if len(line) >= _SHORTEST_LINE], not start


def _is_typed(message: Message) -> bool:
    return message.role == "user" and message.kind == "text"


def _last_typed(lines: list[bytes]) -> list[Message]:
    """What a person typed in the last of these lines that has such; it and those after it are taken off."""
    while lines:
        line = lines.pop()
        if b'"user"' in line and b"tool_result" not in line:
            typed = [message for message in _parse(line) if _is_typed(message)]
            if typed:
                return typed
    return []


def entry(line: bytes, longest: int = LONGEST_LINE) -> dict[str, Any]:
    """What a line of a transcript says of the conversation itself; nothing for all other lines."""
    if not line.startswith(b"{") or len(line) > longest:
        return {}
    try:
        value: dict[str, Any] = coldstart.loads(line.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return {} if value.get("isMeta") or value.get("isSidechain") else value


def _parse(line: bytes) -> Iterator[Message]:
    parsed = entry(line)
    role, message = parsed.get("type"), parsed.get("message")
    if role not in ("user", "assistant") or not isinstance(message, dict):
        return
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield from _message(role, block)


def _added(line: bytes) -> Iterator[Message]:
    """What a hook put before the model, in the line that says so."""
    parsed = entry(line)
    attached = parsed.get("attachment")
    if parsed.get("type") != "attachment" or not isinstance(attached, dict):
        return
    if attached.get("type") == "hook_additional_context":
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
        arguments = block.get("input")
        yield Message(role, "tool_use", "", block["name"], arguments if isinstance(arguments, dict) else {})
    elif kind == "tool_result":
        yield Message(role, "tool_result", _result_text(block.get("content")), "error" if block.get("is_error") else "")


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
