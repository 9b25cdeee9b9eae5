"""The rules, decisions and debts that belong to a file, shown when the agent is about to touch it."""

from __future__ import annotations

import os

from recollect import globs, paths
from recollect.recall import context_block
from recollect.recall.context_block import Candidate, Stores, count_shown
from recollect.search import candidates, rank
from recollect.search.candidates import Filter
from recollect.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.search.index import Index, Row
    from recollect.settings import Settings

_BUDGET = 220
_MOST_SHOWN = 3
_MOST_PLACES = 1_000
"""Places looked at for one file: what bounds the work in a store with a thousand globs."""


def block(stores: Stores, project: str, file: str, settings: Settings, session: str) -> str:
    """The block for a file, once per session; empty when nothing belongs to it or all was shown."""
    path = relative(project, file)
    proposed = _candidates(stores, project, path, settings) if path else []
    if not proposed:
        return ""
    with Ledger(session) as noted:
        new = [each for each in proposed if not noted.has_shown(each.record, each.stamp)][:_MOST_SHOWN]
        # There is no doubt that they belong to the file, so there is nothing to say about confidence.
        fitted = context_block.fitting([each.item._replace(confidence="") for each in new], _BUDGET)
        shown = new[: len(fitted)]
        for each in shown:
            noted.add_shown(each.record, each.stamp)
    count_shown(shown)
    return context_block.render(fitted, paths.PROJECT_SOURCE)


def relative(project: str, file: str) -> str:
    """The path of a file within a project, with slashes; empty if it lies elsewhere."""
    full = os.path.join(project, file)
    # A name with bytes that are no text is in no record, and SQLite would refuse it.
    if not paths.is_within(project, full) or full != full.encode("utf-8", "replace").decode():
        return ""
    return os.path.realpath(full)[len(os.path.realpath(project)) :].strip(os.sep).replace(os.sep, "/")


def _candidates(stores: Stores, project: str, path: str, settings: Settings) -> list[Candidate]:
    chosen = Filter(auto=True, settings=settings)
    proposed: list[Candidate] = []
    for root, source in stores.places:
        opened = stores.open(root)
        rows = opened.ask(lambda index: _current(index, project, path, chosen), hook=True)
        proposed += [Candidate(rank.match(row, root), source) for row in rows]
    return proposed


def _current(index: Index, project: str, path: str, chosen: Filter) -> list[Row]:
    rows = records_about(index, project, path)
    successors = candidates.successors(index, rows)
    holding = [each for each in (successors[row.n] for row in rows) if each and chosen.accepts(each)]
    return list({each.n: each for each in holding}.values())


def records_about(index: Index, project: str, path: str) -> list[Row]:
    """The records that belong to a file of the project, the gravest first."""
    parts = path.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    here = _places(index, f"pattern IN ({','.join('?' * len(above))})", above)
    globbed = _places(index, "name = ''", [], lambda pattern: globs.covers(pattern, path))
    # A file that moved is recognised by its name, if the old one is gone.
    moved = _places(index, "name = ?", [parts[-1]], lambda old: not os.path.exists(os.path.join(project, old)))
    gravity: dict[int, int] = {}
    for n, grave in (*here, *globbed, *moved):
        gravity.setdefault(n, grave)
    rows = index.rows(f"WHERE n IN ({','.join('?' * len(gravity))})", list(gravity)) if gravity else []
    return sorted(rows, key=lambda row: (gravity[row.n], row.path))


def _places(index: Index, where: str, values: list[str], test: Callable[[str], bool] = bool) -> list[tuple[int, int]]:
    """The number and gravity of the records that name a matching place."""
    query = f"SELECT pattern, n, gravity FROM place WHERE {where} LIMIT {_MOST_PLACES}"
    return [(n, gravity) for pattern, n, gravity in index.connection.execute(query, values).fetchall() if test(pattern)]
