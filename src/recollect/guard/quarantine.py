"""Intact: records that were written past the guard are checked, and a broken one is set aside beside its name."""

from __future__ import annotations

import os
import time

from recollect.errors import BadRecord, RecollectError
from recollect.record import memory
from recollect.store.store import Store, record_files

_RECENT = 120.0
_MOST = 500


def set_aside_broken(root: str, now: float | None = None) -> list[str]:
    """Move records that were just written and cannot be read out of the way; one sentence for each."""
    store = Store(root)
    told = []
    for path in _recent(root, time.time() if now is None else now):
        try:
            reason = "; ".join(map(str, memory.flaws(store.read(path).memory)[:3]))
        except BadRecord as error:
            reason = error.message.removeprefix(f"{path}: ")
        except RecollectError as error:
            told.append(f"{error.message}; {error.fix}.")
            continue
        if reason:
            told.append(
                f"{path} is not a valid record ({reason}). It was moved to {_move(root, path)}, nothing is lost."
                " Save it again with `recollect save`, which says what is missing."
            )
    return told


def _recent(root: str, now: float) -> list[str]:
    found = []
    for path in record_files(root):
        try:
            changed = os.lstat(os.path.join(root, path)).st_mtime
        except OSError:
            continue
        if changed > now - _RECENT:
            found.append(path)
            if len(found) >= _MOST:
                break
    return found


def _move(root: str, path: str) -> str:
    """Rename a file so that nothing reads it as a record, and nothing is overwritten."""
    number = 0
    while True:
        aside = f"{path}.invalid" + (f"-{number}" if number else "")
        if not os.path.lexists(os.path.join(root, aside)):
            os.rename(os.path.join(root, path), os.path.join(root, aside))
            return aside
        number += 1
