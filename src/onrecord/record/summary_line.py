"""The summary line of a record: what an agent is shown of it, complete without the file.

Marks come first: that it is only proposed, or of high severity, must not be lost where a line is cut. Then the title,
unless the statement has all of its specific words. Then as many whole sentences and details as have room.
"""

from __future__ import annotations

import re

from onrecord.categories import CATEGORIES, Category
from onrecord.coldstart import NamedTuple
from onrecord.record import rule_title
from onrecord.record.memory import Memory
from onrecord.text import cut, sentences

MAX_CHARACTERS = 420
MORE = "…"
"""At the end of a statement that is longer in the record."""

_MAX_TITLE_CHARACTERS = 200
_MIN_SENTENCE_CHARACTERS = 60
"""Room below which no part of a sentence is worth showing."""

_MAX_STATEMENT_CHARACTERS = 4_000
_ENDS = ".!?…。！？"
_OPTION = r"(?:option|alternative|proposal|variant|solution|approach)\s+(?:\d{1,2}|[A-Za-z]|[ivxIVX]{1,4})"
_LABEL = re.compile(
    rf"\s*(?:(?:(?:chosen|selected|preferred)\s+)?{_OPTION}\s*(?:\([^)]*\)\s*)?[:.,–—-]+"
    r"|(?:chosen|selected|preferred)\s+(?:option|solution|alternative)\s*:|(?:decision|outcome|rule)\s*:)\s+",
    re.IGNORECASE,
)
"""A label that refers to a list which is only on the page: `Option 3 - …`, `Chosen option: …`."""

_ASIDE = re.compile(rf"\s*[(\[]{_OPTION}[)\]]", re.IGNORECASE)
_PRONOUN = re.compile(
    r"(?:it|its|this|these|they|their|that|those|both|such|the same|there|here|he|she|then|also|otherwise|however"
    r"|instead|so|thus|therefore)\b",
    re.IGNORECASE,
)
"""A beginning that refers to what was said before."""


def marks(record: Memory) -> tuple[str, ...]:
    """Return what is not plain about a record: that it is only proposed, no longer in use, or how grave it is."""
    category = CATEGORIES[record.category]
    by_content = [mark for (field, value), mark in category.marks.items() if record.content.get(field) == value]
    is_active = record.record_status == "active"
    status = record.record_status if not is_active else "superseded" if record.superseded_by else ""
    return tuple(dict.fromkeys(filter(None, (status, *by_content))))


def marked(marks_text: str, text: str) -> str:
    """Return a text with its marks, which are separated by commas, in front."""
    return f"({marks_text}) {text}" if marks_text else text


def render(record: Memory, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the line: marks, the title if the statement does not name it, the statement, details.

    The marks are never cut, whatever the limit.
    """
    front = marked(", ".join(marks(record)), "")
    return front + unmarked(record, max_characters - len(front))


def unmarked(record: Memory, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the line without its marks, for comparing what records say."""
    return _Line(record, max(max_characters, 1)).text


def lacks_steps(line: str) -> bool:
    """True if a line says that its record has more steps than the line."""
    return line.endswith((" more steps).", " more step).", MORE))


class _Statement(NamedTuple):
    """The parts of a line that say what a record states."""

    head: str
    """The title with the sign that follows it; empty if it is not to be shown."""
    sentences: tuple[str, ...]


class _Line:
    """A summary line without its marks, put together within a limit."""

    def __init__(self, record: Memory, room: int) -> None:
        self._record = record
        self._category: Category = CATEGORIES[record.category]
        self._title = cut(" ".join(record.title.split()), min(_MAX_TITLE_CHARACTERS, room))
        # The last full stop.
        self._room = room - 1

    @property
    def text(self) -> str:
        """The whole line: with the title, unless its first sentence names all that the title names."""
        statement = _unlabelled(
            " ".join(self._record.text(self._category.statement)[:_MAX_STATEMENT_CHARACTERS].split())
        )
        if len(statement) >= len(self._title) and not _PRONOUN.match(statement):
            parts = self._parts(statement, "")
            line = self._composed(parts)
            first = parts.sentences[0] if parts.sentences else ""
            if line.startswith(first) and rule_title.is_named(self._title, first):
                return line
        return self._composed(self._parts(statement, self._title))

    def _parts(self, statement: str, title: str) -> _Statement:
        """Return the parts of the line: its topic only if neither title nor statement name it, and nothing twice."""
        topic = " ".join(self._record.text(self._category.topic).split()) if self._category.topic else ""
        has_topic = bool(topic and statement) and not rule_title.is_named(topic, f"{title} {statement}")
        parts = _with_numbers(sentences(f"{topic}: {statement}" if has_topic else statement))
        is_rule = rule_title.states_a_rule(title)
        if title and is_rule and self._category.is_rule:
            parts = [part for part in parts if not rule_title.repeats(part, title)]
        return _Statement(_headed(title, is_sentence=is_rule or has_topic or ": " in title), tuple(parts))

    def _composed(self, statement: _Statement) -> str:
        """Return the line of these parts and the details that have room."""
        details = self._details(self._room)
        beginning = self._beginning(statement, len(details) + 2 if details else 0)
        is_cut = beginning.endswith(MORE) or len(_joined(beginning, details)) > self._room
        if self._has_steps and statement.head and is_cut:
            # Whoever gets the line is in that situation, and needs the steps.
            beginning = statement.head.rstrip(":")
        rest = self._room - len(_ended(beginning)) - 1
        return _ended(_joined(beginning, details if len(details) <= rest else self._details(rest)))

    @property
    def _has_steps(self) -> bool:
        return any(not longest for _, _, longest, _ in self._category.details)

    def _beginning(self, statement: _Statement, details_length: int) -> str:
        """Return the title and the statement, within what the details leave of the room, or a share of their own."""
        least = self._category.statement_length
        room = min(max(self._room - details_length, least), self._room) if least else self._room
        text = statement.head if statement.sentences else statement.head.rstrip(":")
        for number, sentence in enumerate(statement.sentences):
            left = room - len(text) - 1
            is_last = number == len(statement.sentences) - 1
            if len(sentence) + (0 if is_last else len(MORE) + 1) > left:
                has_clauses = not number and left >= _MIN_SENTENCE_CHARACTERS
                return f"{text} {_clauses(sentence, left)}".strip() if has_clauses else _left_off(text, self._room)
            text = f"{text} {sentence}".strip()
        return text

    def _details(self, room: int) -> str:
        """Return the details of the category that have room, each with its label."""
        text = ""
        for label, field, longest, replaced_by in self._category.details:
            left = room - len(text) - (2 if text else 0)
            if replaced_by and self._record.text(replaced_by):
                continue
            lines = [" ".join(line.split()) for line in self._record.lines(field)]
            detail = _listed(label, lines, min(left, longest + len(label) + 2)) if longest else _steps(lines, left)
            text = _joined(text, detail) if detail else text
        return text


def _unlabelled(statement: str) -> str:
    """Return a statement without references to a list of options that is only on the page."""
    label = _LABEL.match(statement)
    text = statement[label.end() :] if label else statement
    return _ASIDE.sub("", text[:1].upper() + text[1:] if label else text)


def _left_off(text: str, room: int) -> str:
    """Return a text behind which a sentence has no room, with a sign of that if that has."""
    return f"{text} {MORE}" if text and text[-1] != ":" and len(text) + 2 <= room else text.rstrip(":")


def _headed(title: str, *, is_sentence: bool) -> str:
    """Return a title as the beginning of a line: a sentence of its own, or the topic of the one that follows."""
    if not title or title[-1] in _ENDS:
        return title
    return f"{title}." if is_sentence else f"{title.rstrip(' :')}:"


def _with_numbers(parts: list[str]) -> list[str]:
    """Return sentences with the number of a list in front of its text: `2.` alone is none."""
    joined: list[str] = []
    for part in parts:
        if joined and joined[-1].rstrip(".").split()[-1:] and joined[-1].rstrip(".").split()[-1].isdigit():
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined


def _clauses(sentence: str, room: int) -> str:
    """Return the clauses of a sentence that have room, with an ellipsis; best those that end with a semicolon."""
    head = sentence[: room - 2]
    end = head.rfind("; ")
    if end >= room * 0.4:
        return f"{head[:end]}. {MORE}"
    end = max(head.rfind(sign) for sign in (", ", ": ", " (", " – ", " — "))
    return f"{head[:end].rstrip(' ,;:–—')} {MORE}" if end >= room * 0.5 else cut(sentence, room)


def _listed(label: str, lines: list[str], room: int) -> str:
    """Return the first lines that have room, with their label; the sentences of a first one that has not."""
    text = ""
    for line in lines:
        longer = f"{text}; {line}" if text else f"{label}: {line}"
        if len(longer.rstrip(".")) + 1 > room:
            break
        text = longer.rstrip(".") if line is not lines[-1] else longer
    if text or not lines:
        return text
    first = sentences(lines[0])[0]
    return f"{label}: {first}" if len(first) < len(lines[0]) and len(label) + len(first) + 2 <= room else ""


def _steps(lines: list[str], room: int) -> str:
    """Return the numbered steps that have room, and how many more there are."""
    text = ""
    for number, line in enumerate(lines, 1):
        left = len(lines) - number
        longer = f"{text or '→'} {number}. {_ended(line)}"
        more = f" ({left} more {'steps' if left > 1 else 'step'})" if left else ""
        if len(longer) + len(more) > room:
            remaining = left + 1
            if not text and room >= _MIN_SENTENCE_CHARACTERS:
                return f"→ 1. {_clauses(line, room - 5)}"
            return f"{text} ({remaining} more {'steps' if remaining > 1 else 'step'})" if text else ""
        text = longer
    return text


def _joined(text: str, more: str) -> str:
    return f"{_ended(text)} {more}" if text and more else text or more


def _ended(text: str) -> str:
    """Return a text with a full stop, unless it ends with a sign of its own."""
    text = text.strip()
    return text if not text or text[-1] in _ENDS or text[-1] == ":" else f"{text}."
