"""One call the client makes to the model: what the model would have read, and what hooks have added to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.hosts.model_request import Json

_REMINDER = re.compile(r"<system-reminder>\n?(.*?)\n?</system-reminder>", re.DOTALL)
_HOOK = re.compile(r"(?:\A|\n\n)(\w+(?::\S+)?) hook (?:additional context|success): ")
_COMPACT = "Your task is to create a detailed summary of the"


class Note(NamedTuple):
    """A text that a hook put before the model, and the hook's name (`SessionStart`, `PostToolUse:Bash`)."""

    hook: str
    text: str


class Request(NamedTuple):
    """One call the client made: what the model would have read."""

    headers: dict[str, str]
    body: Json

    @property
    def messages(self) -> list[Json]:
        return list(self.body["messages"])

    @property
    def kind(self) -> str:
        """`main`, `agent` (a subagent's), `compact` (the summary), or `side` (titles, quota checks and the like)."""
        if _COMPACT in self.prompt:
            return "compact"
        if "x-claude-code-agent-id" in self.headers:
            return "agent"
        return "main" if self.body.get("tools") else "side"

    @property
    def prompt(self) -> str:
        """The last text the user (or the client in the user's name) wrote, reminders left out."""
        texts = [text for message in self.messages if message["role"] == "user" for text in _texts(message)]
        return next((text for text in map(_plain, reversed(texts)) if text), "")

    @property
    def text(self) -> str:
        """All text of the system prompt and the messages, in order."""
        system = {"content": self.body.get("system")}
        return "\n".join(text for message in [system, *self.messages] for text in _texts(message))

    @property
    def tool_results(self) -> list[tuple[bool, str]]:
        """Each tool result of the conversation, as (is it an error, its text)."""
        blocks = [block for message in self.messages for block in _blocks(message) if block["type"] == "tool_result"]
        return [(bool(block.get("is_error")), _plain("\n".join(_texts(block)))) for block in blocks]

    def notes(self, known: Iterable[Sequence[str]] = ()) -> list[Note]:
        """Return what hooks added, oldest first.

        Newer models read it joined with the client's own text, with nothing to mark where it ends; so what is `known`
        (the texts of one event's hooks) is cut exactly, and anything else runs on.
        """
        longest = sorted(
            ({"\n".join(texts): texts for texts in known if any(texts)}).items(), key=lambda item: -len(item[0])
        )
        found: list[Note] = []
        for message in self.messages:
            for text in [*_texts(message), *(inner for block in _blocks(message) for inner in _texts(block))]:
                pieces = [text] if message["role"] == "system" else _REMINDER.findall(text)
                found += [note for piece in pieces for note in _notes(piece, longest)]
        return found


def _blocks(message: Json) -> list[Json]:
    content = message.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _texts(message: Json) -> list[str]:
    return [block["text"] for block in _blocks(message) if block["type"] == "text"]


def _plain(text: str) -> str:
    return _REMINDER.sub("", text).strip()


def _notes(text: str, known: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Note]:
    at = _HOOK.search(text)
    while at:
        start, following = at.end(), _HOOK.search(text, at.end())
        rest = text[start : following.start() if following else len(text)]
        joined, texts = next((one for one in known if text.startswith(one[0], start)), (rest, [rest]))
        yield from (Note(at.group(1), each) for each in texts)
        at = _HOOK.search(text, start + len(joined))
