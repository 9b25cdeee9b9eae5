"""What a session was shown before its conversation was compacted, once more."""

from __future__ import annotations

import os

from onrecord.paths import PROJECT_SOURCE
from onrecord.recall import context_block
from onrecord.recall.cautions import Cautions
from onrecord.recall.context_block import Candidate, Stores
from onrecord.search import rank
from onrecord.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.paths import StorePlace
    from onrecord.search.index import Index

_BUDGET = 900
"""Tokens for all of it."""

_MOST = 20
"""Records, the latest shown: no more have room in as many tokens, so the files of no more are checked."""


def block(stores: Stores, session: str) -> str:
    """The records in use, as they are now, the latest first; the session's ledger starts anew with them."""
    with Ledger(session) as noted:
        records = list(reversed(noted.shown))
        noted.reset()
        candidates = _current(records, stores)[:_MOST]
        cautions = Cautions()
        fitted = context_block.fitting([cautions.beside(candidate).item for candidate in candidates], _BUDGET)
        for candidate in candidates[: len(fitted)]:
            noted.add_shown(candidate.record, candidate.stamp)
        noted.count_prompt()
    return context_block.render(fitted, PROJECT_SOURCE)


def _current(records: Sequence[str], stores: Stores) -> list[Candidate]:
    """Records named in a ledger as they are now, or what has replaced them, without what another store hides now."""
    order: dict[str, int] = {}

    def ask(opened: Index, place: StorePlace) -> list[Candidate]:
        start, current = place.root + os.sep, list[Candidate]()
        for number, record in enumerate(records):
            match = rank.current(opened, record[len(start) :]) if record.startswith(start) else None
            candidate = Candidate(match, place.source) if match else None
            if candidate and order.setdefault(candidate.record, number) == number:
                current.append(candidate)
        return current

    return sorted(stores.gather(ask, is_last=False), key=lambda each: order[each.record])
