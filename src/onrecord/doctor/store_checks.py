"""Checks of a store and the links between its records, of features that are switched off, and of shared stores."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Union

from onrecord import budget, files, paths, timestamps
from onrecord.doctor import Finding
from onrecord.errors import BadInput, UnsafePath
from onrecord.git import git_files
from onrecord.record import links, memory, schema, secrets
from onrecord.record.memory import Memory
from onrecord.search import document
from onrecord.session import holdout
from onrecord.settings import OFF_VARIABLE, Settings, off_switches, project_settings
from onrecord.shared import remotes as remote
from onrecord.shared import replicas, sync_base
from onrecord.shared.replicas import Replica
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
        if problem.is_refusal:
            fix = f"leave it out of {problem.file}; your own config may set it"
            yield Finding("note", "config", str(problem), fix)
        else:
            yield Finding("warning", "config", str(problem), f"correct {problem.file}")
    for name in git_files.missing(store.root):
        yield Finding("note", "git", f"{name} lacks the lines for this store", "onrecord init")


def examine_switches(settings: Settings) -> Iterator[Finding]:
    """Yield a note for each feature that settings switch off, and for what a project's config hides or adds."""
    switches = list(off_switches(settings))
    for off in switches:
        if off.key != OFF_VARIABLE:
            yield Finding("note", "switches", f"{off} ({off.file})", off.fix)
    for changed in project_settings(settings):
        if changed.key not in {off.key for off in switches}:
            fix = f"to use yours: onrecord config unset {changed.key}"
            yield Finding("note", "switches", f"{changed} ({changed.file})", fix)
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
    if _has_conflict_markers(store.root, broken.path):
        fix = f"resolve the git conflict in {broken.path}, delete its markers, then git add it"
    return Finding("error", "records", broken.error.message, fix)


def _has_conflict_markers(root: str, path: str) -> bool:
    try:
        return b"\n<<<<<<< " in b"\n" + files.read_inside(root, path, memory.MAX_FILE_BYTES)
    except (OSError, UnsafePath):
        return False


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
    limit = timestamps.from_seconds(timestamps.seconds(timestamps.now()) + _CLOCK_TOLERANCE_SECONDS)
    future = [entry for entry in entries if entry.memory.updated_at > limit]
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
        count = "1 record was" if len(records) == 1 else f"{len(records):,} records were"
        what = f"{count} written by an earlier plugin and have no triggers"
        fix = "to list them, worst first: onrecord improve; /memory:improve drafts triggers"
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
    listed = list(records)
    for record in listed:
        if record.id in by_id:
            first, second = by_id[record.id].path, record.path
            fix = f"give one of them another title: onrecord edit {second}"
            yield Finding("warning", "links", f"{first} and {second} have the same id", fix)
        by_id.setdefault(record.id, record)
    yield from _circles(by_id)
    find = links.finder(listed)
    for record in listed:
        yield from _one_way_links(record, find)


def _one_way_links(record: Memory, find: Callable[[str], Sequence[Memory]]) -> Iterator[Finding]:
    successor = record.superseded_by
    if successor and not find(successor):
        fix = f"remove superseded_by, or name the record that replaces it: onrecord edit {record.id}"
        yield Finding("warning", "links", f"{record.id} is superseded by {successor}, which does not exist", fix)
    one_sided = list(links.one_sided_of(record, find))
    if one_sided:
        what = f"{links.first_notes(one_sided)}: nothing obeys that"
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


def examine_remotes(settings: Settings) -> Iterator[Finding]:
    """Yield the problems of shared stores; one finding `ok` if there are none; nothing without shared stores."""
    try:
        remotes, missing = remote.connected(), replicas.missing_names(settings)
    except BadInput as error:
        yield Finding("error", _REMOTES, f"no shared store is read: {error.message}", error.fix)
        return
    yield from (Finding("note", _REMOTES, replicas.missing_note(name), "onrecord remote list") for name in missing)
    findings = [finding for connected in remotes for finding in _remote(connected.name)]
    yield from findings
    if remotes and not findings:
        yield Finding("ok", _REMOTES, f"{plural(len(remotes), 'shared store')} connected")


def _remote(name: str) -> Iterator[Finding]:
    replica = Replica(name)
    state, conflicts = replica.state, sync_base.conflict_drafts(replica)
    if state.offline_since:
        yield Finding(
            "warning", _REMOTES, f"{name} was not reached since {state.offline_since}", "onrecord remote status"
        )
    if state.last_error:
        yield Finding("warning", _REMOTES, f"{name}: {state.last_error}", "onrecord remote status")
    if state.refused or state.unreadable:
        count = plural(len(state.refused) + len(state.unreadable), "file")
        yield Finding("warning", _REMOTES, f"{name}: {count} could not be synced", "onrecord remote status")
    if conflicts:
        yield Finding(
            "note", _REMOTES, f"{name}: {plural(len(conflicts), 'conflict')}", f"onrecord review --remote {name}"
        )
