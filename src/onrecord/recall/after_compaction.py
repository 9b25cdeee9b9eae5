"""The records that a session was shown before its conversation was compacted, once more."""

from __future__ import annotations

import os

from onrecord.paths import PROJECT_PREFIX
from onrecord.recall.candidate import Candidate, Cautions, fitting_items, render_block
from onrecord.recall.stores import SearchedStore, Stores, distinct
from onrecord.search import rank
from onrecord.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.search.rank import Match

_MAX_TOKENS = 900
"""Tokens for all of it."""

_MAX_RECORDS = 20
"""Records, the latest shown: no more have room in as many tokens, so the files of no more are checked."""


def block(stores: Stores, session: str) -> str:
    """Return the block of the records in use, as they are now, the latest first; the ledger starts anew with them."""
    with Ledger(session) as ledger:
        record_names = list(reversed(ledger.shown))
        ledger.reset()
        candidates = current(record_names, stores)[:_MAX_RECORDS]
        cautions = Cautions()
        items = fitting_items([cautions.beside(candidate).item for candidate in candidates], _MAX_TOKENS)
        for candidate in candidates[: len(items)]:
            ledger.add_shown(candidate.record, candidate.text_hash)
        ledger.count_prompt()
    return render_block(items, PROJECT_PREFIX)


def current(record_names: Sequence[str], stores: Stores) -> list[Candidate]:
    """Return the records named in a ledger as they are now, or what has replaced them, without hidden ones."""
    candidates: list[Candidate] = []
    order: dict[str, int] = {}
    for store in stores.in_turn(is_last=False):
        for number, candidate in store.attempt(_current_in, record_names):
            candidates.append(candidate)
            order[candidate.record] = number
    return sorted(distinct(candidates), key=lambda candidate: order[candidate.record])


def _current_in(searched_store: SearchedStore, record_names: Sequence[str]) -> list[tuple[int, Candidate]]:
    """Return the same for one store, each with its place in the ledger."""
    index, start = searched_store.open(), searched_store.store_ref.root + os.sep
    applies = searched_store.applies()
    current: dict[str, tuple[int, Match]] = {}
    for number, record_name in enumerate(record_names):
        match = rank.current(index, record_name[len(start) :]) if record_name.startswith(start) else None
        if match and applies(match.scope):
            current.setdefault(match.path, (number, match))
    candidates = searched_store.visible(match for _, match in current.values())
    return [(current[candidate.match.path][0], candidate) for candidate in candidates]
