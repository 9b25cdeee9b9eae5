"""Item: one remembered thing as an audit sees it, whoever's store it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from recollect.categories import BY_NAME
from recollect.record import memory
from recollect.record.memory import Memory
from recollect.search import document


class Item(NamedTuple):
    """What an audit needs to know of one memory."""

    id: str
    path: str
    title: str
    text: str
    """All it says, without the title."""

    category: str = ""
    topic: str = ""
    """What it is about, where it says so."""

    statement: str = ""
    """The rule, decision or preference itself."""

    rejected: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    updated: str = ""
    is_current: bool = True
    is_retired: bool = False
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    says_superseded: bool = False
    """Whether its own text or status says that it no longer holds."""

    says_current: bool = False
    """Whether it claims to hold in so many words."""

    raw: Any = None
    """Where a credential could stand."""


def of(record: Memory) -> Item:
    """A record of our own as an item."""
    category = BY_NAME[record.category]
    status = record.text("status")
    options = record.content.get("alternatives")
    holds = record.content.get("active") is not False and status not in ("superseded", "deprecated")
    return Item(
        record.id,
        record.path,
        record.title,
        "\n".join(document.passages(record._replace(related_files=()))),
        record.category,
        record.text(category.topic),
        record.text(category.statement) if category.is_rule else "",
        tuple(_options(options if isinstance(options, list) else [])),
        record.tags,
        record.updated_at,
        record.is_current and holds,
        record.record_status != "active",
        record.superseded_by,
        record.supersedes,
        status == "superseded",
        holds and category.is_strict,
        memory.to_json(record),
    )


def _options(alternatives: Iterable[Any]) -> Iterable[str]:
    for each in alternatives:
        if isinstance(each, Mapping) and isinstance(each.get("option"), str):
            yield each["option"]
