"""The records of a store as an ordered list, read from the index: a store may have 200,000 of them."""

from __future__ import annotations

from collections.abc import Collection

from onrecord.coldstart import NamedTuple
from onrecord.search import index, indexing
from onrecord.search.index import IS_CURRENT, MAX_VALUES, NOT_OVER, Index, unpack_facts
from onrecord.store import record_names, reference
from onrecord.store.reference import NameMatch
from onrecord.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_STATUS = f"""
    CASE WHEN status = 'active' AND EXISTS (SELECT 1 FROM succession WHERE succession.n = record.n AND old = id)
    THEN 'superseded' WHEN status = 'active' AND NOT {NOT_OVER} THEN 'outdated' ELSE status END
"""
_COLUMNS = f"SELECT id, category, title, tags, {_STATUS}, updated_at, created_at, path, facts, scope FROM record"
ORDERS = {
    "updated": "updated_at DESC, id",
    "created": "created_at DESC, id",
    "title": "title COLLATE NOCASE, id",
    "category": "category, updated_at DESC, id",
    "id": "id, path",
}
"""The orders of a list; dates with the newest first."""

_ANCHORED = f"anchors <> '' AND {IS_CURRENT}"
_MAX_WORDS = 12
"""Words by which a record is picked."""

_MAX_AT_ONCE = 10_000
"""Records read by one statement: SQLite takes statements of a million characters."""


class Listed(NamedTuple):
    """One record of a list."""

    id: str
    category: str
    title: str
    tags: tuple[str, ...]
    status: str
    """As `record.validity` has it: `superseded` or `outdated` for an active record that is not in force."""
    updated_at: str
    created_at: str
    path: str
    facts: str
    """Facts packed for the digest; the files are among them."""
    scope: str = ""
    """Where it applies, as `scopes.unpack` reads it; empty for everywhere."""

    @property
    def files(self) -> list[str]:
        """The files, folders and globs that it is about."""
        return unpack_facts(self.facts)[2]


class ListingFilter(NamedTuple):
    """The records to list; an empty field does not restrict."""

    category: str = ""
    tags: frozenset[str] = frozenset()
    status: str = ""
    since: str = ""
    order: str = "updated"


def read(index: Index, choice: ListingFilter, limit: int | None) -> tuple[list[Listed], int]:
    """Return the first records of a choice, and the number of all."""
    most = None if limit is None else max(limit, 0)
    return index.run(_read, choice, most)


def named(index: Index, beginning: str, status: str, limit: int) -> list[tuple[str, str]]:
    """Return the ids that begin with `beginning`, in order, and their titles; no file is checked."""
    where = "id >= ? AND id < ? AND status = ? ORDER BY id LIMIT ?"
    parameters = (beginning, beginning + "\U0010ffff", status, limit)
    return index.run(_fetch, f"SELECT id, title FROM record WHERE {where}", parameters)


def at(index: Index, paths: Sequence[str]) -> dict[str, Listed]:
    """Return the records at these paths, by path; those that are gone are left out."""
    return index.run(_at, paths)


def _at(index: Index, paths: Sequence[str]) -> dict[str, Listed]:
    by_path: dict[str, Listed] = {}
    for start in range(0, len(paths), MAX_VALUES):
        batch = list(paths[start : start + MAX_VALUES])
        marks = ",".join("?" * len(batch))
        for row in index._connection.execute(f"{_COLUMNS} WHERE path IN ({marks}) AND status <> 'broken'", batch):
            listing = _listed(row)
            by_path[listing.path] = listing
    return by_path


def containing(index: Index, text: str, limit: int) -> list[tuple[str, str]]:
    """Return the ids and titles of records in force with each word of `text` in the id or the title, newest first."""
    words = text.split()[:_MAX_WORDS]
    where = " AND ".join([IS_CURRENT, *[r"(id LIKE ? ESCAPE '\' OR title LIKE ? ESCAPE '\')"] * len(words)])
    escaped = [word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for word in words]
    patterns = [f"%{word}%" for word in escaped for _column in ("id", "title")]
    statement = f"SELECT id, title FROM record WHERE {where} ORDER BY {ORDERS['updated']} LIMIT ?"
    return index.run(_fetch, statement, (*patterns, limit))


def newest_tags(index: Index, limit: int) -> list[str]:
    """Return the tags of the active records that were changed last, each as often as it occurs."""
    newest = "SELECT tags FROM record WHERE status = 'active' ORDER BY updated_at DESC LIMIT ?"
    rows = index.run(_fetch, newest, (limit,))
    return [tag for (tags,) in rows for tag in tags.split("\n") if tag]


def counts(index: Index) -> dict[tuple[str, str], int]:
    """Return the number of records of each category and status."""
    query = f"SELECT category, {_STATUS} AS state, count(*) FROM record WHERE status <> 'broken' GROUP BY 1, 2"
    rows = index.run(_fetch, query)
    return {(category, status): count for category, status, count in rows}


def anchored(index: Index, limit: int) -> list[tuple[str, str]]:
    """Return the ids of the newest current records that are about files, and their anchors."""
    newest = f"SELECT id, anchors FROM record WHERE {_ANCHORED} ORDER BY {ORDERS['updated']} LIMIT ?"
    return index.run(_fetch, newest, (limit,))


def count_anchored(index: Index) -> int:
    """Return the number of current records that are about files."""
    (count,) = index._connection.execute(f"SELECT count(*) FROM record WHERE {_ANCHORED}").fetchone()
    return int(count)


def linked(index: Index) -> list[str]:
    """Return the paths of active records that replace another, are replaced, or say that they no longer hold."""
    links = "SELECT old FROM claim UNION SELECT new FROM claim"
    where = f"status = 'active' AND (void OR n IN (SELECT n FROM claim) OR id IN ({links})) ORDER BY path"
    return [path for (path,) in index.run(_fetch, f"SELECT path FROM record WHERE {where}")]


def titles(index: Index) -> list[tuple[str, str]]:
    """Return the path and the title of every record."""
    return index._connection.execute("SELECT path, title FROM record WHERE status <> 'broken' ORDER BY path").fetchall()


def successors(index: Index, record_paths: Sequence[str]) -> dict[str, str]:
    """Return, by path, for records that were replaced, the id of the record that replaced them."""
    marks = ",".join("?" * len(record_paths))
    query = f"SELECT path, new FROM succession JOIN record USING (n) WHERE path IN ({marks})"
    rows = index._connection.execute(query, list(record_paths))
    return {str(path): str(new) for path, new in rows}


def broken(index: Index) -> list[str]:
    """Return the paths of files that cannot be read as records."""
    return [path for (path,) in index._connection.execute("SELECT path FROM record WHERE status = 'broken' ORDER BY 1")]


def _fetch(index: Index, statement: str, parameters: Sequence[object] = ()) -> list[Any]:
    return index._connection.execute(statement, parameters).fetchall()


def _read(index: Index, choice: ListingFilter, limit: int | None) -> tuple[list[Listed], int]:
    numbers = _numbers(index, choice)
    rows = _rows(index, numbers[:limit], choice.order)
    stale = [row.path for row in rows if not indexing.is_unchanged(index, row.path)] if limit is not None else []
    if stale:
        # In a huge store not every file was checked when the index was opened; what is shown must be as it is now.
        indexing.reread(index, stale)
        numbers = _numbers(index, choice)
        rows = _rows(index, numbers[:limit], choice.order)
    return rows, len(numbers)


def _numbers(index: Index, choice: ListingFilter) -> list[int]:
    """Return the numbers of the chosen records, in order. Without tags SQLite reads no row, only its own index."""
    tests = {
        "status <> 'broken'": None,
        "category = ?": choice.category,
        f"{_STATUS} = ?": choice.status,
        "updated_at >= ?": choice.since,
    }
    tests = {test: value for test, value in tests.items() if value is None or value}
    where = f"WHERE {' AND '.join(tests)} ORDER BY {ORDERS[choice.order]}"
    parameters = [value for value in tests.values() if value is not None]
    if not choice.tags:
        return [n for (n,) in index._connection.execute(f"SELECT n FROM record {where}", parameters)]
    rows = index._connection.execute(f"SELECT n, tags FROM record {where}", parameters)
    return [n for n, tags in rows if choice.tags.issubset(tags.split("\n"))]


def _rows(index: Index, numbers: list[int], order: str) -> list[Listed]:
    rows: list[Listed] = []
    for start in range(0, len(numbers), _MAX_AT_ONCE):
        batch = ",".join(map(str, numbers[start : start + _MAX_AT_ONCE]))
        statement = f"{_COLUMNS} WHERE n IN ({batch}) ORDER BY {ORDERS[order]}"
        rows += map(_listed, index._connection.execute(statement))
    return rows


def _listed(row: Any) -> Listed:
    record_id, category, title, tags, *rest = row
    return Listed(record_id, category, title, tuple(tags.split("\n")) if tags else (), *rest)


def fit(root: str, text: str, paths: Collection[str]) -> NameMatch:
    """Return the paths in the store that match the typed text, by prefix or by words."""
    by_id = reference.match_names(text, paths)
    return by_id if by_id.paths else reference.match_titles(text, titles(index.open(root)))


def resolve(store: Store, text: str) -> str:
    """Return the path of the one record that a text means. Raises NotFound or Ambiguous."""
    if store.find_paths(text):
        return store.get(text).path
    paths = list(record_names.paths(store.root))
    candidates = fit(store.root, text, paths)
    if not candidates.paths:
        raise reference.not_found(store.root, text, paths)
    if len(candidates.paths) > 1:
        raise reference.ambiguous(text, candidates.paths)
    return candidates.paths[0]
