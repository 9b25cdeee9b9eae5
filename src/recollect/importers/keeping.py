"""Keeping: imported records put into a store, each through its writer, then linked to what they replace."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.errors import RecollectError
from recollect.git import git_files
from recollect.importers.discover import Refusal
from recollect.record.memory import Memory
from recollect.store.store import Entry
from recollect.store.writer import Writer


def save(writer: Writer, records: Iterable[Memory]) -> tuple[list[Entry], list[Refusal]]:
    """Save records that are new; those that the store does not take are told with the reason."""
    was_there = writer.store.exists
    saved: dict[str, Entry] = {}
    refused: list[Refusal] = []
    wanted = list(records)
    for record in wanted:
        try:
            saved[record.id] = writer.save(record._replace(supersedes=(), superseded_by=""))
        except RecollectError as error:
            refused.append(Refusal(record.source, error.message))
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    refused += _link(writer, wanted, saved)
    return list(saved.values()), refused


def _link(writer: Writer, records: Iterable[Memory], saved: dict[str, Entry]) -> list[Refusal]:
    """Say what replaces what, under the ids that the store gave; a predecessor may have been there before."""
    refused = []
    for record in records:
        for old in record.supersedes if record.id in saved else ():
            known = saved[old].memory.id if old in saved else old
            if not writer.store.has(known):
                continue
            try:
                _, saved[record.id] = writer.supersede(known, saved[record.id].memory.id)
            except RecollectError as error:
                refused.append(Refusal(record.source, f"does not replace {known}: {error.message}"))
    return refused
