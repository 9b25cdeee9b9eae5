"""The records that a typed text means: by their ids, and where none fits, by their titles."""

from __future__ import annotations

from collections.abc import Collection

from onrecord.search import index, listing
from onrecord.store import record_files, reference
from onrecord.store.reference import Fit
from onrecord.store.store import Store


def fit(root: str, typed: str, paths: Collection[str]) -> Fit:
    """What of all paths of a store a text fits, and how."""
    by_id = reference.fit(typed, paths)
    return by_id if by_id.paths else reference.fit_titles(typed, listing.titles(index.open(root)))


def resolve(store: Store, typed: str) -> str:
    """The path of the one record that a text means; NotFound or Ambiguous if it fits none or several."""
    if store.named(typed):
        return store.get(typed).path
    paths = list(record_files.every(store.root))
    candidates = fit(store.root, typed, paths)
    if not candidates.paths:
        raise reference.nothing_fits(store.root, typed, paths)
    if len(candidates.paths) > 1:
        raise reference.several_fit(typed, candidates.paths)
    return candidates.paths[0]
