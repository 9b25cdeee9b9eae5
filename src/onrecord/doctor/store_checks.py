"""Checks of a store and the links between its records, of features that are switched off, and of shared stores."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Union

from onrecord import attention, budget, files, paths, timestamps
from onrecord.attention import Need
from onrecord.doctor import Finding
from onrecord.errors import BadInput
from onrecord.git import git_files
from onrecord.hosts import connection
from onrecord.record import memory, schema, secrets, validity
from onrecord.record.memory import Memory
from onrecord.search import document
from onrecord.session import holdout
from onrecord.settings import OFF_VARIABLE, Settings
from onrecord.shared import remotes
from onrecord.store import index_md
from onrecord.store.store import Broken, Entry, Store
from onrecord.text import plural

_LEFTOVER_SECONDS = 60
"""Age at which a temporary file counts as a leftover: a writer needs milliseconds."""

_CLOCK_TOLERANCE_SECONDS = 3_600
"""Difference between the clocks of two machines that needs no warning."""

_MANY_RECORDS = 10_000
"""Records that take longer than a second to examine."""

_REMOTES = "remotes"
Scanned = Union[Entry, Broken]


def examine_store(
    store: Store,
    settings: Settings,
    watch_scan: Callable[[Iterable[Scanned]], Iterable[Scanned]] = iter,
    category: str = "",
) -> Iterator[Finding]:
    """Yield the findings about one store, in one pass over its files; `watch_scan` can report progress.

    With `category` only its records are read, and checks that need all records (links, index.md) are left out.
    """
    if not store.exists:
        yield Finding("note", "store", f"there is no memory at {store.root}", "onrecord init")
        return
    yield from _folders(store)
    yield from _interrupted_writes(store)
    entries: list[Entry] = []
    for scanned in watch_scan(store.scan(category)):
        if isinstance(scanned, Entry):
            entries.append(scanned)
        else:
            yield _broken(store, scanned)
    yield from _records(entries)
    of_category = f" of {category}" if category else ""
    count = f"{plural(len(entries), 'readable record')}{of_category}"
    yield Finding("ok", "store", f"{count} in {store.root}")
    yield from _future_dates(store, entries)
    yield from _earlier_plugin(entries)
    yield from _generic_triggers(entries)
    if not category:
        yield from link_problems([entry.memory for entry in entries])
        yield from _index_md(store, entries)
    for problem in settings.problems:
        yield Finding("note" if problem.is_note else "warning", "config", str(problem), problem.fix)
    for name in git_files.missing(store.root):
        yield Finding("note", "git", f"{name} lacks the lines for this store", "onrecord init")


def examine_needs(needs: Iterable[Need]) -> Iterator[Finding]:
    """Yield a finding for each thing that needs a person, but for what another check names in more detail."""
    for need in needs:
        if need.kind not in _NAMED_ELSEWHERE and need.subjects[:1] != (attention.Subject(OFF_VARIABLE),):
            severity, check = _FINDINGS.get(need.kind, ("note", need.kind))
            where = f". {need.sentence}" if check == "switches" else ""
            yield Finding(severity, check, f"{need.title}{where}", need.command)


_NAMED_ELSEWHERE = (attention.BROKEN, attention.NOT_USED)
"""Each file that cannot be read, and each setting that is not used, is a finding of its own."""

_FINDINGS = {
    attention.UNREADABLE: ("error", "store"),
    attention.OFF: ("note", "switches"),
    attention.SETTING: ("note", "switches"),
    attention.DRAFT: ("note", "inbox"),
    attention.SHARED_DRAFT: ("note", "inbox"),
    attention.CONTRADICTED: ("warning", "records"),
    attention.CORRECTED: ("note", "records"),
    attention.CHANGED: ("note", "records"),
    attention.EMPTY: ("note", "store"),
    attention.CONFLICT: ("note", _REMOTES),
    attention.SYNC: ("warning", _REMOTES),
    attention.REFUSED: ("warning", _REMOTES),
    attention.WAITING: ("note", _REMOTES),
    attention.MISSING: ("note", _REMOTES),
}
"""The severity of what needs a person, and the check that it belongs to."""


def examine_holdout(settings: Settings) -> Iterator[Finding]:
    """Yield a note if some sessions are left without records, so that they can be compared."""
    share = settings.number("retrieval.holdout")
    if share:
        what = f"retrieval.holdout: {holdout.percent(share)} of your sessions get no records"
        yield Finding("note", "switches", what, "onrecord config unset retrieval.holdout --user")


def repair(store: Store) -> list[str]:
    """Make the repairs that lose nothing. Return a description of each."""
    repairs = []
    if store.is_interrupted:
        repairs.append("finished the change of an interrupted writer")
    with store.writing():
        for path in _leftovers(store, older_than=0):
            files.remove(path)
            repairs.append(f"deleted {os.path.relpath(path, store.root)}")
        records = (entry.memory for entry in store.entries())
        if index_md.differences(store.root, records) or not index_md.read(store.root):
            store.rebuild_index_md()
            repairs.append(f"rebuilt {paths.INDEX_MD}")
        repairs += [f"completed {name}" for name in git_files.ensure(store.root)]
    return repairs


def _folders(store: Store) -> Iterator[Finding]:
    for full in (store.root, *(os.path.join(store.root, folder) for folder in schema.FOLDERS.values())):
        if os.path.isdir(full) and os.access(full, os.R_OK | os.X_OK) and not os.access(full, os.W_OK | os.X_OK):
            yield Finding("warning", "permissions", f"{full} cannot be written", f"chmod u+rwx {full}")


def _interrupted_writes(store: Store) -> Iterator[Finding]:
    if store.is_interrupted:
        yield Finding("warning", "journal", "a change was interrupted halfway", "onrecord doctor --fix")
    for path in _leftovers(store, older_than=_LEFTOVER_SECONDS):
        yield Finding("warning", "leftovers", f"{path} was left by an interrupted writer", "onrecord doctor --fix")


def _leftovers(store: Store, older_than: float) -> Iterator[str]:
    limit = time.time() - older_than
    for folder in ("", *schema.FOLDERS.values()):
        full = os.path.join(store.root, folder)
        try:
            names = sorted(os.listdir(full)) if not os.path.islink(full) else []
        except OSError:
            names = []
        for name in filter(files.is_leftover, names):
            path = os.path.join(full, name)
            if os.path.lexists(path) and os.lstat(path).st_mtime <= limit:
                yield path


def _broken(store: Store, broken: Broken) -> Finding:
    fix = broken.error.fix
    if ": schema_version: " in broken.error.message:
        fix = f"update Onrecord if a newer one wrote {broken.path}; otherwise give it the schema_version 1.0"
    return Finding("error", "records", broken.error.message, fix)


def _records(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield the findings about records; of many, a second process examines half of them."""
    can_share = hasattr(os, "fork") and sys.platform != "darwin" and (os.cpu_count() or 1) > 1
    half = len(entries) // 2 if can_share and len(entries) >= _MANY_RECORDS else len(entries)
    process, pipe = _examine_aside(entries[half:]) if half < len(entries) else (0, 0)
    for entry in budget.counted(entries[:half], "examining records"):
        yield from _record(entry)
    if process:
        with open(pipe, "rb") as file:
            data = file.read()
        os.waitpid(process, 0)
        # A process that was killed leaves its half to us.
        yield from map(Finding._make, json.loads(data)) if data else chain.from_iterable(map(_record, entries[half:]))


def _examine_aside(entries: Sequence[Entry]) -> tuple[int, int]:
    """Start a second process that examines records; return its id, and the pipe for its findings, as JSON."""
    pipe, end = os.pipe()
    process = os.fork()
    if process:
        os.close(end)
        return process, pipe
    try:
        data = json.dumps([finding for entry in entries for finding in _record(entry)]).encode()
        with open(end, "wb") as file:
            file.write(data)
    finally:
        os._exit(0)


def _record(entry: Entry) -> Iterator[Finding]:
    raw = memory.to_json(entry.memory)
    flaws = entry.memory.flaws_in_file
    if flaws:
        what = f"{entry.path}: {flaws[0]}{_more(flaws)}"
        yield Finding("warning", "records", what, f"onrecord edit {entry.memory.id}")
    for leak in secrets.find_leaks(raw):
        fix = f"onrecord edit {entry.memory.id}; then change that credential, since everyone with the repository has it"
        yield Finding("error", "secrets", f"{entry.path}: {leak}", fix)
        return


def _future_dates(store: Store, entries: list[Entry]) -> Iterator[Finding]:
    """Yield records and files dated in the future: a clock is wrong, here or where they were written."""
    limit = timestamps.order(timestamps.from_seconds(timestamps.seconds(timestamps.now()) + _CLOCK_TOLERANCE_SECONDS))
    future = [entry for entry in entries if timestamps.order(entry.memory.updated_at) > limit]
    latest = max((_written_at(store, entry) for entry in entries), default=0.0)
    if latest > time.time() + _CLOCK_TOLERANCE_SECONDS:
        what = (
            f"the clock says {timestamps.now()}, but a record's file was written at {timestamps.from_seconds(latest)}"
        )
        yield Finding("warning", "clock", what, "set the clock; if it is right, `touch` the files")
    if future:
        first = future[0].memory
        what = f"{future[0].path}{_more(future)} was changed on {first.updated_at}, which is in the future"
        fix = f"set the clock if it is wrong; any change updates the date: onrecord edit {first.id}"
        yield Finding("warning", "clock", what, fix)


def _written_at(store: Store, entry: Entry) -> float:
    try:
        return os.stat(os.path.join(store.root, entry.path)).st_mtime
    except OSError:
        return 0.0


def _earlier_plugin(entries: list[Entry]) -> Iterator[Finding]:
    """Yield a note on records of the earlier plugin: they work, but search has fewer words to match."""
    records = [entry for entry in entries if not entry.memory.origin and not entry.memory.triggers]
    if records:
        what = f"{plural(len(records), 'record')} of an earlier plugin without triggers"
        skill = connection.typed_skill("improve")
        fix = f"to list them, worst first: onrecord improve; an agent drafts triggers: {skill}"
        yield Finding("note", "records", what, fix)


def _generic_triggers(entries: list[Entry]) -> Iterator[Finding]:
    """Yield a warning for records with triggers that any prompt may have."""
    noted = [(entry, note) for entry in entries if (note := document.trigger_note(entry.memory))]
    if noted:
        entry, note = noted[0]
        what = f"{entry.path}{_more(noted)}: {note}"
        yield Finding("warning", "records", what, f"onrecord edit {entry.memory.id}; for all of them: onrecord audit")


def _index_md(store: Store, entries: list[Entry]) -> Iterator[Finding]:
    differences = index_md.differences(store.root, (entry.memory for entry in entries))
    if differences:
        what = f"{paths.INDEX_MD} disagrees with the records: {differences[0]}{_more(differences)}"
        yield Finding("warning", "index", what, "onrecord index rebuild")


def _more(objects: Sequence[object]) -> str:
    """Return the number of objects besides the first, in words; empty if there is only one."""
    return f" (and {len(objects) - 1} more)" if len(objects) > 1 else ""


def link_problems(records: Iterable[Memory]) -> Iterator[Finding]:
    """Yield findings about ids that occur twice, circular links, and links that only one of two records has."""
    by_id: dict[str, Memory] = {}
    all_records = list(records)
    for record in all_records:
        if record.id in by_id:
            first, second = by_id[record.id].path, record.path
            fix = f"give one of them another title: onrecord edit {second}"
            yield Finding("warning", "links", f"{first} and {second} have the same id", fix)
        by_id.setdefault(record.id, record)
    yield from _circles(by_id)
    find = validity.finder(all_records)
    for record in all_records:
        yield from _one_way_links(record, find)


def _one_way_links(record: Memory, find: Callable[[str], Sequence[Memory]]) -> Iterator[Finding]:
    successor = record.superseded_by
    if successor and not find(successor):
        fix = f"remove superseded_by, or name the record that replaces it: onrecord edit {record.id}"
        yield Finding("warning", "links", f"{record.id} is superseded by {successor}, which does not exist", fix)
    one_sided = list(validity.one_sided_of(record, find))
    if one_sided:
        what = f"{validity.first_notes(one_sided)}: nothing obeys that"
        yield Finding("warning", "links", what, f"read it, and remove the claim: onrecord edit {record.id}")


def _circles(by_id: Mapping[str, Memory]) -> Iterator[Finding]:
    visited: set[str] = set()
    for start in by_id:
        path: dict[str, None] = {}
        current = start
        while current in by_id and current not in visited and current not in path:
            path[current] = None
            current = by_id[current].superseded_by
        if current in path:
            circle = list(path)[list(path).index(current) :]
            fix = f"remove superseded_by from the current one: onrecord edit {circle[0]}"
            yield Finding(
                "error", "links", f"records supersede each other in a circle: {' → '.join([*circle, current])}", fix
            )
        visited.update(path)


def examine_remotes() -> Iterator[Finding]:
    """Yield one finding that says how many shared stores are connected; nothing without any."""
    try:
        names = [connected.name for connected in remotes.connected()]
    except BadInput:
        # That the list cannot be read is a thing that needs a person.
        return
    if names:
        yield Finding("ok", _REMOTES, f"{plural(len(names), 'shared store')} connected: {', '.join(names)}")
