"""What is wrong with a store, how bad it is, and what to do about it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Union

from onrecord import files, paths, timestamps
from onrecord.doctor import Finding
from onrecord.errors import BadInput, UnsafePath
from onrecord.git import git_files
from onrecord.record import memory, schema, secrets
from onrecord.record.memory import Memory
from onrecord.settings import OFF_VARIABLE, Settings, off_switches
from onrecord.shared import remotes as remote
from onrecord.shared import replicas, sync_base
from onrecord.shared.replicas import Replica
from onrecord.store import index_md
from onrecord.store.store import Broken, Entry, Store
from onrecord.text import plural

_UNFINISHED_AFTER = 60
"""Seconds after which a temporary file counts as left over: a writer needs milliseconds."""

_CLOCK_TOLERANCE = 3_600
"""Seconds that the clocks of two machines may differ before it is worth a warning."""

Scanned = Union[Entry, Broken]


def examine_store(
    store: Store,
    settings: Settings,
    watch: Callable[[Iterable[Scanned]], Iterable[Scanned]] = iter,
    category: str = "",
) -> Iterator[Finding]:
    """Everything wrong with one store, in one pass over its files; `watch` may count them as they go by.

    With a category only its records are read, and what needs all records (links, index.md) is not examined.
    """
    if not store.exists:
        yield Finding("note", "store", f"there is no memory at {store.root}", "onrecord init")
        return
    yield from _folders(store)
    yield from _interrupted_writes(store)
    entries: list[Entry] = []
    for scanned in watch(store.scan(category)):
        if isinstance(scanned, Entry):
            entries.append(scanned)
            yield from _record(scanned)
        else:
            yield _broken(store, scanned)
    of_category = f" of {category}" if category else ""
    count = f"{plural(len(entries), 'readable record')}{of_category}"
    yield Finding("ok", "store", f"{count} in {store.root}")
    yield from _times(store, entries)
    yield from _older(entries)
    if not category:
        yield from link_problems([entry.memory for entry in entries])
        yield from _index_md(store, entries)
    for problem in settings.problems:
        yield Finding("warning", "config", str(problem), f"correct {problem.file}")
    for name in git_files.missing(store.root):
        yield Finding("note", "git", f"{name} does not say how git should keep this store", "onrecord init")


def examine_switches(settings: Settings) -> Iterator[Finding]:
    """What is switched off by settings."""
    for off in off_switches(settings):
        if off.key != OFF_VARIABLE:
            yield Finding("note", "switches", f"{off} ({off.file})", off.fix)


def repair(store: Store) -> list[str]:
    """Make the repairs that lose nothing; what was done, in words."""
    done = []
    if store.is_interrupted:
        done.append("finished the change of an interrupted writer")
    with store.writing():
        for path in _leftovers(store, older_than=0):
            files.remove(path)
            done.append(f"deleted {os.path.relpath(path, store.root)}")
        records = (entry.memory for entry in store.entries())
        if index_md.differences(store.root, records) or not index_md.read(store.root):
            store.rebuild_index_md()
            done.append(f"rebuilt {paths.INDEX_MD}")
        done += [f"completed {name}" for name in git_files.ensure(store.root)]
    return done


def _folders(store: Store) -> Iterator[Finding]:
    for full in (store.root, *(os.path.join(store.root, folder) for folder in schema.FOLDERS.values())):
        if os.path.isdir(full) and os.access(full, os.R_OK | os.X_OK) and not os.access(full, os.W_OK | os.X_OK):
            yield Finding("warning", "permissions", f"{full} cannot be written", f"chmod u+rwx {full}")


def _interrupted_writes(store: Store) -> Iterator[Finding]:
    if store.is_interrupted:
        yield Finding("warning", "journal", "a change was interrupted halfway", "onrecord doctor --fix")
    for path in _leftovers(store, older_than=_UNFINISHED_AFTER):
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
        fix = f"choose between the versions git left in {broken.path}, delete its markers, then git add it"
    return Finding("error", "records", broken.error.message, fix)


def _has_conflict_markers(root: str, path: str) -> bool:
    try:
        return b"\n<<<<<<< " in b"\n" + files.read_inside(root, path, memory.MAX_FILE_BYTES)
    except (OSError, UnsafePath):
        return False


def _record(entry: Entry) -> Iterator[Finding]:
    raw = memory.to_json(entry.memory)
    flaws = [str(flaw) for flaw in schema.flaws(raw)]
    if flaws:
        what = f"{entry.path}: {flaws[0]}{_more(flaws)}"
        yield Finding("warning", "records", what, f"onrecord edit {entry.memory.id}")
    for leak in secrets.find_leaks(raw):
        fix = f"onrecord edit {entry.memory.id}; then change that credential, since whoever has the repository has it"
        yield Finding("error", "secrets", f"{entry.path}: {leak}", fix)
        return


def _times(store: Store, entries: list[Entry]) -> Iterator[Finding]:
    """Records and files from the future: either a clock is wrong here, or one was where they were written."""
    limit = timestamps.from_seconds(timestamps.seconds(timestamps.now()) + _CLOCK_TOLERANCE)
    ahead = [entry for entry in entries if entry.memory.updated_at > limit]
    latest = max((_written_at(store, entry) for entry in entries), default=0.0)
    if latest > time.time() + _CLOCK_TOLERANCE:
        what = (
            f"the clock says {timestamps.now()}, but a record's file was written at {timestamps.from_seconds(latest)}"
        )
        yield Finding("warning", "clock", what, "set the clock; if it is right, `touch` the files")
    if ahead:
        first = ahead[0].memory
        what = f"{ahead[0].path}{_more(ahead)} was changed on {first.updated_at}, which is in the future"
        fix = f"set the clock if it is wrong; any change dates the record anew: onrecord edit {first.id}"
        yield Finding("warning", "clock", what, fix)


def _written_at(store: Store, entry: Entry) -> float:
    try:
        return os.stat(os.path.join(store.root, entry.path)).st_mtime
    except OSError:
        return 0.0


def _older(entries: list[Entry]) -> Iterator[Finding]:
    """Records of the earlier plugin: usable as they are, but search has fewer words to match."""
    older = [entry for entry in entries if not entry.memory.origin and not entry.memory.triggers]
    if older:
        many = "1 record was" if len(older) == 1 else f"{len(older):,} records were"
        what = f"{many} written by an earlier plugin and have no triggers"
        fix = "to list them, worst first: onrecord improve; /memory:improve drafts triggers"
        yield Finding("note", "records", what, fix)


def _index_md(store: Store, entries: list[Entry]) -> Iterator[Finding]:
    differences = index_md.differences(store.root, (entry.memory for entry in entries))
    if differences:
        what = f"{paths.INDEX_MD} disagrees with the records: {differences[0]}{_more(differences)}"
        yield Finding("warning", "index", what, "onrecord index rebuild")


def _more(items: Sequence[object]) -> str:
    """How many items there are besides the first, which is shown."""
    return f" (and {len(items) - 1} more)" if len(items) > 1 else ""


def link_problems(records: Iterable[Memory]) -> Iterator[Finding]:
    """Everything wrong with the ids of a store's records and with the links between them."""
    by_id: dict[str, Memory] = {}
    for record in records:
        if record.id in by_id:
            first, second = by_id[record.id].path, record.path
            fix = f"give one of them another title: onrecord edit {second}"
            yield Finding("warning", "links", f"{first} and {second} have the same id", fix)
        by_id.setdefault(record.id, record)
    yield from _circles(by_id)
    for record in by_id.values():
        yield from _loose_ends(record, by_id)


def _loose_ends(record: Memory, by_id: Mapping[str, Memory]) -> Iterator[Finding]:
    successor = record.superseded_by
    if successor and successor not in by_id:
        fix = f"remove superseded_by, or name the record that replaces it: onrecord edit {record.id}"
        yield Finding("warning", "links", f"{record.id} is superseded by {successor}, which is not there", fix)
    elif successor and record.id not in by_id[successor].supersedes:
        what = f"{record.id} is superseded by {successor}, which does not say so"
        yield Finding("warning", "links", what, f"onrecord edit {successor}")
    for old in record.supersedes:
        if old in by_id and by_id[old].superseded_by != record.id:
            now = by_id[old].superseded_by
            instead = f"says that {now} replaces it" if now else "does not say so"
            fix = f"onrecord supersede {old} {record.id}"
            yield Finding("warning", "links", f"{record.id} supersedes {old}, which {instead}", fix)


def _circles(by_id: Mapping[str, Memory]) -> Iterator[Finding]:
    settled: set[str] = set()
    for start in by_id:
        walk: dict[str, None] = {}
        here = start
        while here in by_id and here not in settled and here not in walk:
            walk[here] = None
            here = by_id[here].superseded_by
        if here in walk:
            circle = list(walk)[list(walk).index(here) :]
            fix = f"remove superseded_by from the one that holds now: onrecord edit {circle[0]}"
            yield Finding("error", "links", f"superseded in a circle: {' → '.join([*circle, here])}", fix)
        settled.update(walk)


_WHAT = "remotes"


def examine_remotes(settings: Settings) -> Iterator[Finding]:
    """What is wrong with the remotes, or that they are connected; nothing where there are none and none is wanted."""
    try:
        remotes, missing = remote.connected(), replicas.missing_names(settings)
    except BadInput as error:
        yield Finding("error", _WHAT, f"no shared store is read: {error.message}", error.fix)
        return
    yield from (Finding("note", _WHAT, replicas.missing_note(name), "onrecord remote list") for name in missing)
    findings = [finding for each in remotes for finding in _remote(each.name)]
    yield from findings
    if remotes and not findings:
        yield Finding("ok", _WHAT, f"{plural(len(remotes), 'shared store')} connected")


def _remote(name: str) -> Iterator[Finding]:
    replica = Replica(name)
    state, conflicts = replica.state, sync_base.conflict_drafts(replica)
    if state.offline_since:
        yield Finding("warning", _WHAT, f"{name} was not reached since {state.offline_since}", "onrecord remote status")
    if state.last_error:
        yield Finding("warning", _WHAT, f"{name}: {state.last_error}", "onrecord remote status")
    if state.refused or state.unreadable:
        count = plural(len(state.refused) + len(state.unreadable), "file")
        yield Finding("warning", _WHAT, f"{name}: {count} could not be synced", "onrecord remote status")
    if conflicts:
        yield Finding(
            "note", _WHAT, f"{name}: {plural(len(conflicts), 'conflict')}", f"onrecord review --remote {name}"
        )
