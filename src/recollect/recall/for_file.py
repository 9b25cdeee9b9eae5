"""Beside a file: the rules, choices and debts that belong to it, told when the agent is about to touch it."""

from __future__ import annotations

import os

from recollect.paths import PROJECT_SOURCE
from recollect.recall import context_block
from recollect.recall.for_prompt import Found, Stores, note_use
from recollect.search import by_file, index, successors
from recollect.search.filters import Admission
from recollect.search.rank import Match
from recollect.session import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.search.index import Row
    from recollect.settings import Settings

_BUDGET = 220
_MOST = 3


def told(stores: Stores, project: str, file: str, settings: Settings, session: str) -> str:
    """The block for a file, once per session; empty when nothing belongs to it or all was told."""
    path = relative(project, file)
    found = _found(stores, project, path, settings) if path else []
    if not found:
        return ""
    with ledger.Ledger(session) as known:
        new = [one for one in found if not known.has_shown(one.record, one.stamp)][:_MOST]
        kept = context_block.fitting([one.item for one in new], _BUDGET)
        for one in new[: len(kept)]:
            known.add_shown(one.record, one.stamp)
    note_use(new[: len(kept)])
    return context_block.render(kept, PROJECT_SOURCE)


def relative(project: str, file: str) -> str:
    """The path of a file within a project, with slashes; empty if it lies elsewhere."""
    root, full = os.path.realpath(project), os.path.realpath(os.path.join(project, file))
    if not full.startswith(root.rstrip(os.sep) + os.sep):
        return ""
    return full[len(root) :].strip(os.sep).replace(os.sep, "/")


def _found(stores: Stores, project: str, path: str, settings: Settings) -> list[Found]:
    admission = Admission(auto=True, settings=settings)
    found: list[Found] = []
    for root, source in stores.places:
        opened = index.open(root, hook=True)
        rows = by_file.find(opened, project, path)
        heads = successors.heads(opened, rows)
        standing = {head.n: head for head in (heads[row.n] for row in rows) if head and admission.admits(head)}
        found += [Found(_match(head, root), root, source) for head in standing.values()]
    return found


def _match(row: Row, root: str) -> Match:
    """A memory that belongs to a file: there is nothing to be more or less sure of."""
    match = Match(row, root, None)
    match.confidence = ""
    return match
