"""What is wrong with a memory or an installation, how bad it is, and what to do about it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Union

from recollect import coldstart, failure_log, files, paths, timestamps
from recollect.git import git_files
from recollect.record import memory, schema, secrets
from recollect.settings import Settings
from recollect.store import links
from recollect.store.store import Broken, Entry, Store, problems_in_catalog

_UNFINISHED_AFTER = 60
"""Seconds after which a temporary file is a dead writer's: a live one needs milliseconds."""

_RECENT_DAYS = 7

_CLOCK_TOLERANCE = 3_600
"""Seconds that clocks of two machines may differ without anybody being wrong."""

Found = Union[Entry, Broken]


class Finding(NamedTuple):
    """One thing a check found: `ok`, a `note`, a `warning`, or an `error`."""

    severity: str
    check: str
    what: str
    fix: str = ""


def examine_machine() -> Iterator[Finding]:
    """Whether this Python can do what Recollect needs, and what has failed lately."""
    yield Finding("ok", "python", f"Python {'.'.join(map(str, sys.version_info[:3]))}")
    yield _full_text_search()
    yield from _traces()


def examine_store(
    store: Store, settings: Settings, watch: Callable[[Iterable[Found]], Iterable[Found]] = iter
) -> Iterator[Finding]:
    """Everything wrong with one store, in one pass over its files; `watch` may count them as they go by."""
    if not store.exists:
        yield Finding("note", "store", f"there is no memory at {store.root}", "recollect init")
        return
    yield from _folders(store)
    yield from _traces_of_dead_writers(store)
    entries: list[Entry] = []
    for found in watch(store.scan()):
        if isinstance(found, Entry):
            entries.append(found)
            yield from _record(found)
        else:
            yield _broken(store, found)
    yield Finding("ok", "store", f"{len(entries):,} readable record{'' if len(entries) == 1 else 's'} in {store.root}")
    yield from _relations(entries)
    yield from _times(store, entries)
    yield from _older(entries)
    yield from _catalog(store, entries)
    for problem in settings.problems:
        yield Finding("warning", "config", str(problem), f"correct {problem.file}; the default is used until then")
    for name in git_files.missing(store.root):
        yield Finding("note", "git", f"{name} does not say how git should keep this store", "recollect init")


def repair(store: Store) -> list[str]:
    """The repairs that lose nothing; what was done, in words."""
    done = []
    if store.is_interrupted:
        done.append("finished what a writer that died had begun")
    with store.writing():
        for path in _leftovers(store, older_than=0):
            files.remove(path)
            done.append(f"deleted {os.path.relpath(path, store.root)}")
        if problems_in_catalog(store, store.entries()) or not store.catalog_text():
            store.rebuild_catalog()
            done.append(f"rebuilt {paths.INDEX_MD}")
        done += [f"completed {name}" for name in git_files.ensure(store.root)]
    return done


def _full_text_search() -> Finding:
    connection = coldstart.connect(":memory:")
    try:
        connection.execute("create virtual table probe using fts5(body)")
    except coldstart.SqliteError:
        fix = "use a Python whose SQLite has FTS5; until then the keyword scorer answers"
        return Finding("warning", "fts5", "this Python's SQLite has no full-text search (FTS5)", fix)
    finally:
        connection.close()
    return Finding("ok", "fts5", "SQLite has full-text search (FTS5)")


def _traces() -> Iterator[Finding]:
    since = timestamps.days_before(timestamps.now(), _RECENT_DAYS)
    recent = [found for found in failure_log.recent() if found[0] >= since]
    if recent:
        when, what, error = recent[-1]
        count = f"{len(recent)} failure{'s' if len(recent) > 1 else ''} in {_RECENT_DAYS} days"
        yield Finding(
            "warning", "traces", f"{count}; the last, {when}: {what}: {error}", f"read {failure_log.log_file()}"
        )


def _folders(store: Store) -> Iterator[Finding]:
    for full in (store.root, *(os.path.join(store.root, folder) for folder in schema.FOLDERS.values())):
        if os.path.isdir(full) and os.access(full, os.R_OK | os.X_OK) and not os.access(full, os.W_OK | os.X_OK):
            yield Finding("warning", "permissions", f"{full} cannot be written", f"chmod u+rwx {full}")


def _traces_of_dead_writers(store: Store) -> Iterator[Finding]:
    if store.is_interrupted:
        yield Finding("warning", "journal", "a writer died in the middle of a change", "recollect doctor --fix")
    for path in _leftovers(store, older_than=_UNFINISHED_AFTER):
        yield Finding("warning", "leftovers", f"{path} was left by a writer that died", "recollect doctor --fix")


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


def _broken(store: Store, found: Broken) -> Finding:
    fix = found.error.fix
    if ": schema_version: " in found.error.message:
        fix = f"update Recollect if a newer one wrote {found.path}; otherwise give it the schema_version 1.0"
    if _has_conflict_markers(os.path.join(store.root, found.path)):
        fix = f"choose between the versions git left in {found.path}, delete its markers, then git add it"
    return Finding("error", "records", found.error.message, fix)


def _has_conflict_markers(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return b"\n<<<<<<< " in b"\n" + file.read(memory.LARGEST_FILE)
    except OSError:
        return False


def _record(entry: Entry) -> Iterator[Finding]:
    raw = memory.to_json(entry.memory)
    flaws = [str(flaw) for flaw in schema.flaws(raw)]
    if flaws:
        more = f" (and {len(flaws) - 1} more)" if len(flaws) > 1 else ""
        yield Finding("warning", "records", f"{entry.path}: {flaws[0]}{more}", f"recollect edit {entry.memory.id}")
    for leak in secrets.leaks(raw):
        fix = f"recollect edit {entry.memory.id}, then change that credential: whoever has the repository has it"
        yield Finding("error", "secrets", f"{entry.path}: {leak}", fix)
        return


def _relations(entries: list[Entry]) -> Iterator[Finding]:
    for severity, what, fix in links.problems([entry.memory for entry in entries]):
        yield Finding(severity, "links", what, fix)


def _times(store: Store, entries: list[Entry]) -> Iterator[Finding]:
    """Records and files from the future: either a clock is wrong here, or one was where they were written."""
    limit = timestamps.at(timestamps.seconds(timestamps.now()) + _CLOCK_TOLERANCE)
    ahead = [entry for entry in entries if entry.memory.updated_at > limit]
    latest = max((_written_at(store, entry) for entry in entries), default=0.0)
    if latest > time.time() + _CLOCK_TOLERANCE:
        what = (
            f"this machine's clock says {timestamps.now()}, but a record's file was written at {timestamps.at(latest)}"
        )
        yield Finding("warning", "clock", what, "set the clock; if it is right, `touch` the files")
    if ahead:
        first = ahead[0].memory
        more = f" (and {len(ahead) - 1} more)" if len(ahead) > 1 else ""
        what = f"{ahead[0].path}{more} was changed on {first.updated_at}, which is still to come"
        fix = f"set the clock if it is wrong; otherwise recollect edit {first.id}, since any change dates it anew"
        yield Finding("warning", "clock", what, fix)


def _written_at(store: Store, entry: Entry) -> float:
    try:
        return os.stat(os.path.join(store.root, entry.path)).st_mtime
    except OSError:
        return 0.0


def _older(entries: list[Entry]) -> Iterator[Finding]:
    """Records of the earlier plugin: they are used as they are, and found less well than they could be."""
    older = [entry for entry in entries if not entry.memory.origin and not entry.memory.triggers]
    if older:
        many = "1 record was" if len(older) == 1 else f"{len(older):,} records were"
        what = f"{many} written by an earlier plugin, without triggers to be found by"
        fix = f"for those you care about: recollect update {older[0].memory.id} --trigger 'as someone would ask for it'"
        yield Finding("note", "records", what, fix)


def _catalog(store: Store, entries: list[Entry]) -> Iterator[Finding]:
    drift = problems_in_catalog(store, entries)
    if drift:
        more = f" (and {len(drift) - 1} more)" if len(drift) > 1 else ""
        yield Finding("warning", "index", f"{paths.INDEX_MD} has drifted: {drift[0]}{more}", "recollect index rebuild")
