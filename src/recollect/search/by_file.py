"""Places: which memories belong to a file. Rules, choices and debts are kept by the files they are about."""

from __future__ import annotations

import os

from recollect import globs
from recollect.categories import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.record.memory import Memory
    from recollect.search.index import Index, Row

_MOST = 1_000


def of(memory: Memory) -> list[tuple[str, str, int]]:
    """The places of a memory: a path, folder or glob, the file's bare name, and how grave the memory is."""
    gravity = _gravity(memory)
    if gravity is None:
        return []
    spots = dict.fromkeys(
        path.strip().removeprefix("./").rstrip("/")
        for path in (*memory.related_files, *memory.scope.paths, *(anchor.path for anchor in memory.anchors))
    )
    return [(spot, "" if is_glob(spot) else spot.rpartition("/")[2], gravity) for spot in spots if spot]


def is_glob(spot: str) -> bool:
    return "*" in spot or "?" in spot


def find(index: Index, project: str, path: str) -> list[Row]:
    """The memories that belong to a file of the project, the gravest first."""
    parts = path.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    here = _numbers(index, f"spot IN ({','.join('?' * len(above))})", above)
    globbed = _numbers(index, "name = ''", [], lambda spot: globs.covers(spot, path))
    moved = _numbers(index, "name = ?", [parts[-1]], lambda spot: not os.path.exists(os.path.join(project, spot)))
    found: dict[int, int] = {}
    for n, gravity in (*here, *globbed, *moved):
        found.setdefault(n, gravity)
    rows = index.rows(f"WHERE n IN ({','.join('?' * len(found))})", list(found)) if found else []
    return sorted(rows, key=lambda row: (found[row.n], row.path))


def _numbers(index: Index, where: str, values: list[str], test: Callable[[str], bool] = bool) -> list[tuple[int, int]]:
    rows = index.connection.execute(f"SELECT spot, n, gravity FROM place WHERE {where} LIMIT {_MOST}", values)
    return [(n, gravity) for spot, n, gravity in rows.fetchall() if test(spot)]


def _gravity(memory: Memory) -> int | None:
    """How grave it is to work on the file without knowing this; None for what does not concern the file itself."""
    category = BY_NAME[memory.category]
    if category.state(memory) == "closed":
        return None
    return category.gravity.get(memory.text(category.grade) if category.grade else "")
