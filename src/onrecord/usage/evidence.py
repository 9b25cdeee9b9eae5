"""Evidence of use: the tool calls in which an agent opened or changed a record that it was shown.

An agent that follows a rule without opening its record leaves no evidence: names and values that its work has in
common with the record, and objections by the user, were wrong too often to be counted (docs/benchmarks.md).
"""

from __future__ import annotations

from onrecord.store import record_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.session.transcript import Message

_MAX_CALL_CHARS = 40_000
"""Characters of a tool call that are searched; a longer one writes a file."""

_WRITE_TOOLS = ("Edit", "Write")


def is_opened(messages: Sequence[Message], path: str) -> bool:
    """True if the agent opened or changed the record at `path` in its store after it was last shown."""
    name = record_names.short_name(path)
    marks = (f'{path}"', f"onrecord show {name}", f"onrecord show --user {name}")
    names = (path.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower(), name.lower())
    for message in reversed(messages):
        if message.kind == "context" and any(mark in message.text for mark in marks):
            return False
        if message.kind == "tool_use" and _opens(message, path.lower(), names):
            return True
    return False


def _opens(message: Message, path: str, names: Sequence[str]) -> bool:
    text = "\n".join(_strings(message.input))[:_MAX_CALL_CHARS].lower()
    if not any(_has_word(text, name) for name in names):
        return False
    return "onrecord" in text or (path in text.replace("\\", "/") and message.name not in _WRITE_TOOLS)


def _has_word(text: str, word: str) -> bool:
    """True if `text` has `word`, not only as part of a longer name."""
    start = text.find(word)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(word) :][:1]
        if not any(char.isalnum() or char in "-_" for char in before + after):
            return True
        start = text.find(word, start + 1)
    return False


def _strings(value: object, depth: int = 4) -> list[str]:
    """Return all texts in the arguments of a tool."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if depth and isinstance(value, list):
        return [text for part in value[:200] for text in _strings(part, depth - 1)]
    return []
