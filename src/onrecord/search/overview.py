"""The current records of a store as the map at session start needs them: all of a small store, a part of a large one.

Nothing here reads more than a few hundred rows, however large the store is.
"""

from __future__ import annotations

from onrecord import coldstart
from onrecord.search import candidates
from onrecord.search.index import IS_CURRENT, MAX_VALUES, REPLACED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.search.index import Index, RecordFile
    from onrecord.search.query import Query

MAX_WHOLE = 200
"""Active records up to which a store is read whole."""

MAX_PROMINENT = 120
"""Records that may be in a map by their standing and date: it has no more lines."""

_MIN_PER_CATEGORY = 3

MAX_RELEVANT = 120
"""Records for which relevance to the work is measured, the best."""

_STANDINGS = (3, 2, 1, 0)
_MAX_AREAS = 2_000
_MAX_REPLACED = 1_000


class MapRow(coldstart.NamedTuple):
    """The columns of a record that the map needs."""

    n: int
    path: str
    id: str
    category: str
    title: str
    updated_at: str
    expires: str
    rule_line: str
    mark: str
    areas: str
    scope: str
    facts: str
    summary_line: str


_COLUMNS = ", ".join(MapRow._fields)


def all_current(index: Index) -> list[MapRow]:
    """Return all current records of a store."""
    return _rows(index, IS_CURRENT)


def numbered(index: Index, numbers: Iterable[int]) -> list[MapRow]:
    """Return the current records with these numbers."""
    return _rows(index, f"n IN ({','.join(str(int(n)) for n in numbers)}) AND {IS_CURRENT}")


def at(index: Index, record_paths: Sequence[str]) -> list[MapRow]:
    """Return the current records at these paths."""
    few_paths = record_paths[:MAX_VALUES]
    return _rows(index, f"path IN ({','.join('?' * len(few_paths))}) AND {IS_CURRENT}", few_paths)


def latest(index: Index, category: str, limit: int) -> list[MapRow]:
    """Return the newest current records of a category."""
    return _rows(index, f"category = ? AND {IS_CURRENT} ORDER BY updated_at DESC LIMIT {limit}", (category,))


def _rows(index: Index, where: str, parameters: Sequence[object] = ()) -> list[MapRow]:
    query = f"SELECT {_COLUMNS} FROM record WHERE {where}"
    rows = [MapRow(*row) for row in index._connection.execute(query, parameters)]
    for row in rows:
        # Only a damaged index has anything but text here, and joining that raises what `Index.run` waits for.
        "".join(row[1:])
    return rows


def prominent(index: Index, categories: Sequence[str]) -> list[int]:
    """Return the numbers of the records that may be in a map by their standing and their date, of each category some.

    Of one category and standing the newest come first, so no other can be among the best.
    """
    query = (
        f"SELECT n, updated_at, category, standing FROM record WHERE {IS_CURRENT} AND category = ? AND standing = ?"
        f" ORDER BY updated_at DESC LIMIT {MAX_PROMINENT}"
    )
    execute = index._connection.execute
    rows = [row for category in categories for standing in _STANDINGS for row in execute(query, (category, standing))]
    moments = sorted({moment for _, moment, _, _ in rows})
    recency = {moment: position / len(moments) for position, moment in enumerate(moments, 1)}
    rows.sort(key=lambda row: (-(row[3] / 2 + recency[row[1]]), row[0]))
    counts = dict.fromkeys(categories, 0)
    numbers = []
    for place, (n, _, category, _) in enumerate(rows):
        counts[category] += 1
        if place < MAX_PROMINENT or counts[category] <= _MIN_PER_CATEGORY:
            numbers.append(n)
    return numbers


def relevant(index: Index, query: Query) -> dict[int, float]:
    """Return the weight of the words that each record shares with a query, by number, for the best."""
    if not query.terms:
        return {}
    return candidates.best_by_terms(index, candidates.weigh(index, query), MAX_RELEVANT)


def files_touched(index: Index, files: Sequence[str]) -> list[RecordFile]:
    """Return the record files that cover one of `files`, except by a glob; and all globs, which the caller compares."""
    split = [file.split("/") for file in files]
    ordered = sorted({"/".join(parts[:end]) for parts in split for end in range(1, len(parts) + 1)} - {""})
    record_files = [
        record_file
        for start in range(0, len(ordered), MAX_VALUES)
        for record_file in index.files_with_pattern(ordered[start : start + MAX_VALUES])
    ]
    return [*record_files, *index.files_with_glob()]


def areas(index: Index) -> list[tuple[str, str, int]]:
    """Return the areas of a store: name, scope of the records, and how many of these may be in a map.

    The area without a name has all records.
    """
    execute = index._connection.execute
    query = f"SELECT name, scope, records FROM area ORDER BY name <> '', records DESC LIMIT {_MAX_AREAS}"
    counts = {(str(name), str(scope)): int(count) for name, scope, count in execute(query)}
    replaced = (
        "SELECT areas, scope FROM record WHERE status = 'active' AND NOT void AND category <> 'session_summary'"
        f" AND n IN ({REPLACED}) LIMIT {_MAX_REPLACED}"
    )
    for names, scope in execute(replaced):
        for key in ((name, scope) for name in ("", *filter(None, names.split("\n")))):
            counts[key] = counts.get(key, 0) - 1
    return [(*key, count) for key, count in counts.items() if count > 0]


def neighbours(index: Index, name: str, without: str = "") -> list[str]:
    """Return the ids directly before and after a name in alphabetical order, of records of any status but `without`."""
    others = "SELECT {}(id) FROM record WHERE id {} ?1 AND id <> ?2"
    query = f"SELECT ({others.format('max', '<')}), ({others.format('min', '>')})"
    return [str(other) for other in index._connection.execute(query, (name, without)).fetchone() if other]
