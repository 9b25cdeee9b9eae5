"""Which decision replaces which: what files say of each other by name or number, as links between records."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from onrecord.coldstart import NamedTuple
from onrecord.importers.adr_page import Fields
from onrecord.record import naming
from onrecord.record.memory import Memory

_FILE = re.compile(r"([\w.-]{1,200}\.md)\b", re.IGNORECASE)
_BY_NUMBER = re.compile(r"\badr[\s_#-]*0*(\d{1,6})\b", re.IGNORECASE)
_BARE_NUMBER = re.compile(r"[\s\[(#]*0*(\d{1,6})(?=[\s.:\])-]|$)")
# The best-known tool for these records spells it with a c.
REPLACED_BY = re.compile(
    r"(?:super[sc]eded|replaced)(?:\s*[-:–(]?\s*(?:by|with)\b|\s*[-:–(]?\s*(?=\[|adr|\d))", re.IGNORECASE
)
REPLACES = re.compile(r"(?:super[sc]edes|super[sc]eding|replaces|replacing)\b", re.IGNORECASE)
_NO_IDS: Mapping[str, str] = {}
_MOST = 20
"""References of one record; more is a list of all of them."""


class Adr(NamedTuple):
    """A decision as a record, and the decisions its file refers to, by a file's name or a number."""

    record: Memory
    path: str
    number: int
    replaced_by: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()


def references(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What replaces a decision and what it replaces, from its fields and its status."""
    by, of = fields.superseded_by, fields.supersedes
    for match in REPLACED_BY.finditer(fields.status):
        by += " " + REPLACES.split(fields.status[match.end() :], maxsplit=1)[0]
    for match in REPLACES.finditer(fields.status):
        of += " " + REPLACED_BY.split(fields.status[match.end() :], maxsplit=1)[0]
    return _named(by), _named(of)


def _named(text: str) -> tuple[str, ...]:
    """Files if any are named, else numbers of records, else a bare number that leads the text."""
    bare = _BARE_NUMBER.match(text)
    names = _FILE.findall(text) or _BY_NUMBER.findall(text) or ([bare[1]] if bare else [])
    return tuple(dict.fromkeys(names))[:_MOST]


def linked(adrs: Sequence[Adr], ids: Mapping[str, str] = _NO_IDS) -> list[Memory]:
    """The records with ids of their own, linked to what replaces them; links that lead in a circle are left out.

    `ids` has the ids of records that were made of a file before, by its path.
    """
    taken = set(ids.values())
    records = [
        adr.record._replace(id=ids[adr.path]) if adr.path in ids else with_free_id(adr.record, taken) for adr in adrs
    ]
    places: dict[tuple[str, str | int], int] = {}
    for at, adr in enumerate(adrs):
        folder, name = os.path.split(adr.path)
        places.setdefault((folder, name.lower()), at)
        places.setdefault((folder, adr.number), at)

    def resolve(reference: str, adr: Adr) -> int:
        name = int(reference) if reference.isdigit() else reference.lower()
        return places.get((os.path.dirname(adr.path), name), -1)

    successor: dict[int, int] = {}
    for at, adr in enumerate(adrs):
        pairs = [(at, resolve(other, adr)) for other in adr.replaced_by]
        pairs += [(resolve(other, adr), at) for other in adr.replaces]
        for old, new in pairs:
            if min(old, new) >= 0 and old not in successor and old not in _chain(successor, new):
                successor[old] = new
    return [_with_links(records, at, successor) for at in range(len(records))]


def with_free_id(record: Memory, taken: set[str]) -> Memory:
    """The record under an id that is not taken yet; it is from now on."""
    record_id = naming.free(record.id, taken.__contains__)
    taken.add(record_id)
    return record._replace(id=record_id)


def _chain(successor: dict[int, int], start: int) -> list[int]:
    chain = [start]
    while chain[-1] in successor:
        chain.append(successor[chain[-1]])
    return chain


def _with_links(records: Sequence[Memory], at: int, successor: dict[int, int]) -> Memory:
    record = records[at]
    olds = [records[old].id for old, new in successor.items() if new == at]
    if at in successor:
        content = {**record.content, "status": "superseded"}
        record = record._replace(superseded_by=records[successor[at]].id, content=content)
    return record._replace(supersedes=tuple(olds[:50]))
