"""What a session was shown before its conversation was compacted, once more."""

from __future__ import annotations

import os

from recollect.paths import PROJECT_SOURCE
from recollect.recall import context_block
from recollect.recall.cautions import Cautions
from recollect.recall.context_block import Candidate, Stores
from recollect.search import rank
from recollect.session.ledger import Ledger

_BUDGET = 900
"""Tokens for all of it."""

_MOST = 20
"""Records, the latest shown: no more have room in as many tokens, so the files of no more are checked."""


def block(stores: Stores, session: str) -> str:
    """The records in use, as they are now, the latest first; the session's ledger starts anew with them."""
    with Ledger(session) as noted:
        records = list(reversed(noted.shown))
        noted.reset()
        current = {each.record: each for each in (_current(record, stores) for record in records) if each}
        candidates = list(current.values())[:_MOST]
        cautions = Cautions()
        fitted = context_block.fitting([cautions.beside(candidate).item for candidate in candidates], _BUDGET)
        for candidate in candidates[: len(fitted)]:
            noted.add_shown(candidate.record, candidate.stamp)
        noted.count_prompt()
    return context_block.render(fitted, PROJECT_SOURCE)


def _current(record: str, stores: Stores) -> Candidate | None:
    """A record named in a ledger as it is now, or what has replaced it."""
    for root, source in stores.places:
        if record.startswith(root + os.sep):
            opened = stores.open(root)
            match = rank.current(opened, record[len(root) + 1 :])
            stores.close(opened)
            return Candidate(match, source) if match else None
    return None
