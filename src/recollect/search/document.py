"""The searchable text of a memory: what it says, field by field, in the order in which it matters."""

from __future__ import annotations

from recollect.categories import BY_NAME
from recollect.record.fields import ListOf, Object, Text
from recollect.record.memory import Memory
from recollect.record.schema import content_fields
from recollect.search import stopwords, terms

LONGEST = 1_500
"""Terms of a body that are kept; a longer one says what it is about before that."""

_FIELDS = {
    category: [field.name for field in content_fields(category) if isinstance(field.kind, (Text, ListOf, Object))]
    for category in BY_NAME
}


class Document:
    """The four analysed fields of a record, as the index stores them."""

    __slots__ = ("body", "tags", "title", "triggers")

    def __init__(self, title: str, tags: str, triggers: str, body: str) -> None:
        self.title = title
        self.tags = tags
        self.triggers = triggers
        self.body = body


def of(memory: Memory) -> Document:
    """A memory as streams of terms; triggers are kept apart by a bar."""
    body = terms.stream("\n".join(passages(memory)))[:LONGEST]
    return Document(
        " ".join(terms.stream(memory.title)),
        " ".join(terms.stream(" ".join(memory.tags))),
        " | ".join(" ".join(_telling(trigger)) for trigger in memory.triggers),
        " ".join(body),
    )


def _telling(trigger: str) -> list[str]:
    """The terms of a trigger without the words every question has: whoever asks in its words asks all of it."""
    words = terms.words(trigger)
    stop = stopwords.of([word.lower() for word in words])
    return [term for word in words if word.lower() not in stop for term in terms.of_word(word)] or terms.stream(trigger)


def passages(memory: Memory) -> list[str]:
    """The texts of a memory's body, and the files it speaks of."""
    found: list[str] = []
    for field in _FIELDS[memory.category]:
        found += _texts(memory.content.get(field))
    return [*found, *memory.related_files]


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
