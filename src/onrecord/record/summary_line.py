"""What a record says, in one or two lines that stand alone, with its literal values."""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.record.memory import Memory
from onrecord.text import cut

MAX_CHARACTERS = 420


def render(memory: Memory) -> str:
    """The statement itself and the details its category adds, so that nobody has to open the file."""
    category = CATEGORIES[memory.category]
    statement = _titled(memory, _about(memory.text(category.topic), memory.text(category.statement)))
    if category.statement_length:
        statement = cut(statement, category.statement_length)
    marks = [mark for (field, value), mark in category.marks.items() if memory.text(field) == value]
    details = [
        _detail(memory, label, field, longest)
        for label, field, longest, needless_with in category.details
        if not (needless_with and memory.text(needless_with))
    ]
    attached = "".join(mark for mark in marks if mark.startswith(" "))
    text = _sentences(statement + attached, *(mark for mark in marks if not mark.startswith(" ")), *details)
    return cut(" ".join(text.split()) or memory.title, MAX_CHARACTERS)


def _about(topic: str, statement: str) -> str:
    """The statement, led by its topic where it does not name it."""
    return f"{topic}: {statement}" if topic and topic.lower() not in statement.lower() else statement


def _titled(memory: Memory, text: str) -> str:
    """The text, led by the title where the title says something that the text does not."""
    words = {word for word in _words(memory.title) if len(word) > 2}
    if len(text) < len(memory.title) or len(words - set(_words(text))) > len(words) / 3:
        return f"{memory.title}: {text}" if text else memory.title
    return text


def _words(text: str) -> list[str]:
    lowered = text.lower()
    return lowered.translate({ord(char): " " for char in set(lowered) if not char.isalnum()}).split()


def _detail(memory: Memory, label: str, field: str, longest: int) -> str:
    """One content field with its label; a list without a limit is numbered, for its order matters."""
    if not longest:
        steps = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(memory.lines(field), 1))
        return f"{label} {steps}" if steps else ""
    text = memory.text(field)
    return f"{label}: {cut(text, longest)}" if text else ""


def _sentences(*parts: str) -> str:
    return " ".join(part if part[-1] in ".!?…。:]" else f"{part}." for part in (p.strip() for p in parts) if part)
