"""The summary line of a record: its statement with literal values, complete without the file."""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.record.memory import Memory
from onrecord.text import cut

MAX_CHARACTERS = 420


def render(record: Memory) -> str:
    """Return the statement of a record, and the details that its category adds."""
    category = CATEGORIES[record.category]
    statement = _add_title(record, _add_topic(record.text(category.topic), record.text(category.statement)))
    if category.statement_length:
        statement = cut(statement, category.statement_length)
    marks = [mark for (field, value), mark in category.marks.items() if record.text(field) == value]
    details = [
        _detail(record, label, field, max_characters)
        for label, field, max_characters, replaced_by in category.details
        if not (replaced_by and record.text(replaced_by))
    ]
    attached = "".join(mark for mark in marks if mark.startswith(" "))
    text = _sentences(statement + attached, *(mark for mark in marks if not mark.startswith(" ")), *details)
    return cut(" ".join(text.split()) or record.title, MAX_CHARACTERS)


def _add_topic(topic: str, statement: str) -> str:
    """Return the statement, with its topic in front unless the statement mentions it."""
    return f"{topic}: {statement}" if topic and topic.lower() not in statement.lower() else statement


def _add_title(record: Memory, text: str) -> str:
    """Return `text`, with the title in front if the title says more than `text`."""
    words = {word for word in _words(record.title) if len(word) > 2}
    if len(text) < len(record.title) or len(words - set(_words(text))) > len(words) / 3:
        return f"{record.title}: {text}" if text else record.title
    return text


def _words(text: str) -> list[str]:
    lowered = text.lower()
    return lowered.translate({ord(char): " " for char in set(lowered) if not char.isalnum()}).split()


def _detail(record: Memory, label: str, field: str, max_characters: int) -> str:
    """Return a content field with its label; without a limit, its items are numbered steps."""
    if not max_characters:
        steps = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(record.lines(field), 1))
        return f"{label} {steps}" if steps else ""
    text = record.text(field)
    return f"{label}: {cut(text, max_characters)}" if text else ""


def _sentences(*parts: str) -> str:
    return " ".join(part if part[-1] in ".!?…。:]" else f"{part}." for part in (p.strip() for p in parts) if part)
