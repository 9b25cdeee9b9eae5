"""Which record replaces which: chains that lead nowhere, in circles, or are known to one side only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from recollect.record.memory import Memory

Problem = tuple[str, str, str]
"""How bad it is, what is wrong, and what to do."""


def problems(records: Iterable[Memory]) -> Iterator[Problem]:
    """Everything wrong with the ids of a store's records and with the links between them."""
    by_id: dict[str, Memory] = {}
    for record in records:
        if record.id in by_id:
            one, other = by_id[record.id].path, record.path
            fix = f"give one another title: recollect update {other}"
            yield "warning", f"{one} and {other} have the same id", fix
        by_id.setdefault(record.id, record)
    yield from _circles(by_id)
    for record in by_id.values():
        yield from _loose_ends(record, by_id)


def _loose_ends(record: Memory, by_id: Mapping[str, Memory]) -> Iterator[Problem]:
    heir = record.superseded_by
    if heir and heir not in by_id:
        fix = f"recollect edit {record.id}: remove superseded_by, or name the record that replaces it"
        yield "warning", f"{record.id} is superseded by {heir}, which is not there", fix
    elif heir and record.id not in by_id[heir].supersedes:
        yield "warning", f"{record.id} is superseded by {heir}, which does not say so", f"recollect edit {heir}"
    for old in record.supersedes:
        if old in by_id and by_id[old].superseded_by != record.id:
            now = by_id[old].superseded_by
            told = f"says that {now} replaces it" if now else "does not know"
            yield "warning", f"{record.id} supersedes {old}, which {told}", f"recollect supersede {old} {record.id}"


def _circles(by_id: Mapping[str, Memory]) -> Iterator[Problem]:
    settled: set[str] = set()
    for start in by_id:
        walk: dict[str, None] = {}
        here = start
        while here in by_id and here not in settled and here not in walk:
            walk[here] = None
            here = by_id[here].superseded_by
        if here in walk:
            circle = list(walk)[list(walk).index(here) :]
            fix = f"recollect edit {circle[0]}: remove superseded_by from the one that holds now"
            yield "error", f"superseded in a circle: {' → '.join([*circle, here])}", fix
        settled.update(walk)
