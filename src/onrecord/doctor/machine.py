"""Checks of the machine: the Python of this command and of the hooks, recent failures, and files outside the stores.

`hooks/launch` looks for a Python and remembers it in a small file; the same script is run here.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator

from onrecord import coldstart, files, paths, state_file, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.doctor import Finding
from onrecord.errors import NoSqlite, Unwritable
from onrecord.search import build_lock, vectors
from onrecord.shared import remotes
from onrecord.text import plural

_RECENT_DAYS = 7
_MIN_PYTHON = [3, 9]
_TIMEOUT_SECONDS = 20
"""Time for a program to end: a version manager's shim may take seconds on a slow disk."""

_PROBE_SCRIPT = """
import json, sys
try:
    import sqlite3
    sqlite3.connect(":memory:").execute("create virtual table probe using fts5(body)")
    fault = ""
except Exception as error:
    fault = str(error)
print(json.dumps([list(sys.version_info[:3]), fault]))
"""

_HASH_CHARS = 32
_INDEX_FILES = {
    "sqlite": "a search index",
    "words": "words of records, which rule out ordinary commands",
    "building": "how far the search index of a large store has come",
}
"""What each kind of file of an index is, by the beginning of its last suffix; before it comes the version."""

_CACHE_FILES = {
    **_INDEX_FILES,
    "nested": "folders of a project with a memory of their own",
    "anchors": "states of files",
}
"""The same for all files in the cache folder."""

STATE = {
    "sessions": "what each session was shown, and its user's corrections",
    "usage/sessions": "whether records shown to a session were opened",
    "usage": "how often each record was shown and opened",
    "theme": "the theme of the page that you chose",
    "events": "what agents were shown, when, and what became of it",
    "suggestions": "suggestions to save, with the sentences they quote",
    "languages": "how many prompts were typed in which language other than English",
    "holdout": "when the share of sessions without records was changed",
    "history": "changes of each store, and the earlier content of its files",
    "imports": "hashes of the imported documents",
    "listings": "the paths of the records listed last on each terminal",
    "forms": "texts of forms that were not saved",
    "judge": "how many requests were sent to a judge",
    remotes.LOCK: "a lock, used while the list of remotes is changed",
    "failures.log": "failures",
    state_file.PRUNED: "when this folder was last pruned",
}
"""Files in the state folder, and their content."""


class OwnFiles(NamedTuple):
    """A file or folder of ours outside the stores: content, size, age and lifetime."""

    path: str
    what: str
    size: int
    files: int
    oldest: str
    days: int
    """Days after the last change until it is deleted; 0 if it is never deleted automatically."""
    until: str = "deleted by `onrecord clean`"
    """If it is never deleted automatically: the command that deletes it, in words."""


def examine() -> Iterator[Finding]:
    """Yield findings about this Python, recent failures, and whether files can be written."""
    yield Finding("ok", "python", f"Python {_dotted(sys.version_info[:3])}")
    yield _full_text_search()
    yield _word_table()
    yield from _failures()
    yield from _builders()
    yield from _folders()


def _builders() -> Iterator[Finding]:
    """Yield the indexes that are being built in the background, and those whose builder has died."""
    for state in build_lock.unfinished_states():
        project = paths.project_of(state.root) if state.root.endswith(paths.STORE) else ""
        if state.is_running:
            yield Finding("ok", "index", f"the index of {state.root} is being built ({state.records:,} records)")
        elif os.path.isdir(state.root):
            count = "ended early" if state.starts == 1 else f"ended early {state.starts} times"
            what = f"the process that completes the index of {state.root} ({state.records:,} records) {count}"
            where = f"--project {shlex.quote(project)} " if project else ""
            yield Finding("warning", "index", what, f"complete it now: onrecord {where}list --limit 1")


def _full_text_search() -> Finding:
    try:
        connection = coldstart.connect(":memory:")
    except NoSqlite as error:
        return Finding("error", "sqlite3", error.message, error.fix)
    try:
        connection.execute("create virtual table probe using fts5(body)")
    except coldstart.SqliteError:
        fix = "use a Python whose SQLite has FTS5; until then search uses the keyword scorer"
        return Finding("warning", "fts5", "this Python's SQLite has no full-text search (FTS5)", fix)
    finally:
        connection.close()
    return Finding("ok", "fts5", "SQLite has full-text search (FTS5)")


def _word_table() -> Finding:
    try:
        table = vectors.open_table(vectors.FILE)
        table.check()
    except (OSError, vectors.BadTable) as error:
        what = f"no table of word vectors ({error}), so prompts and records are compared by words alone"
        return Finding("warning", "words", what, f"reinstall Onrecord to restore {vectors.FILE}")
    table.close()
    return Finding("ok", "words", "the table of word vectors is complete")


def _failures() -> Iterator[Finding]:
    since = timestamps.days_before(timestamps.now(), _RECENT_DAYS)
    recent = [failure for failure in state_file.recent_failures() if failure[0] >= since]
    if recent:
        when, what, error = recent[-1]
        count = f"{plural(len(recent), 'failure')} in {_RECENT_DAYS} days"
        message = f"{count}; the last, {when}: {what}: {error}"
        yield Finding("warning", "failures", message, f"read {state_file.log_file()}")


def _folders() -> Iterator[Finding]:
    """Yield the folders for caches and state that cannot be written."""
    costs = {
        paths.cache_dir(): ("cache", "each prompt indexes all records again"),
        paths.state_dir(): ("state", "records repeat within a session, and usage and failures are not logged"),
    }
    faults = [(word, folder, cost) for folder, (word, cost) in costs.items() if not _is_writable(folder)]
    for word, folder, cost in faults:
        fix = f"make {folder} a folder that you can write, or set ONRECORD_{word.upper()}_DIR to such a folder"
        yield Finding("warning", word, f"{folder} cannot be written, so {cost}", fix)
    if not faults:
        yield Finding("ok", "folders", "index and state can be written")


def _is_writable(folder: str) -> bool:
    """True if files can be created in `folder`, or if `folder` itself can be created."""
    while not os.path.lexists(folder):
        parent = os.path.dirname(os.path.abspath(folder))
        if parent == folder:
            return False
        folder = parent
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def memo_file() -> str:
    """Return the file in which the launcher remembers its Python. It does not use the cache folder of macOS."""
    base = os.environ.get("ONRECORD_CACHE_DIR", "")
    if not base:
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        base = os.path.join(xdg if os.path.isabs(xdg) else os.path.expanduser("~/.cache"), "onrecord")
    return os.path.join(base, "python")


def _remembered_python() -> str:
    """Return the Python that the launcher remembers; empty if it never ran. Raises Unwritable."""
    try:
        return files.read(memo_file(), 4_096).decode("utf-8", "replace").partition("\n")[0]
    except OSError as error:
        if files.is_absent(error):
            return ""
        raise files.unreadable(memo_file(), error) from error


def examine_launcher(launcher: str) -> Iterator[Finding]:
    """Yield findings about the Python that `launcher` finds."""
    try:
        yield from _examine_launcher(launcher)
    except Unwritable as error:
        yield Finding("warning", "python", f"{error.message}, so hooks look for a Python each time", error.fix)


def _examine_launcher(launcher: str) -> Iterator[Finding]:
    before = _remembered_python()
    if before and not os.access(before, os.X_OK):
        what = f"hooks remembered {before}, which no longer exists; they will look for another"
        yield Finding("note", "python", what, f"nothing; or rm {memo_file()}")
    process = _run(["sh", launcher, "none"])
    if process is None:
        fix = "install a POSIX shell (on Windows: Git for Windows) and put its sh on the PATH"
        yield Finding("error", "python", "hooks are started by `sh`, which cannot be run here", fix)
    elif "no Python" in process.stderr:
        fix = "put a python3 of version 3.9 or later on the PATH that Claude Code is started with"
        yield Finding("error", "python", "hooks find no Python 3.9 or later, so memory is off", fix)
    elif python := _remembered_python():
        yield examine_python(python)
    elif before:
        what = f"hooks ran with {before}, which does not work; the next hook will look for another"
        yield Finding("warning", "python", what, "run it again to see what it finds: onrecord doctor")


def examine_python(python: str) -> Finding:
    """Check that hooks can run with `python`, and return the finding."""
    process = _run([python, "-S", "-E", "-c", _PROBE_SCRIPT])
    try:
        version, fault = json.loads(process.stdout) if process else ([], "")
    except ValueError:
        version, fault = [], ""
    if not version:
        fix = f"rm {memo_file()}, and hooks will look for another"
        return Finding("error", "python", f"hooks run with {python}, which does not work", fix)
    if version < _MIN_PYTHON:
        what = f"hooks run with {python}, Python {_dotted(version)}, which is too old"
        return Finding("error", "python", what, f"put a newer python3 on the PATH, then rm {memo_file()}")
    if fault:
        what = (
            f"hooks run with {python}, whose SQLite has no full-text search ({fault}): search uses the keyword scorer"
        )
        fix = f"put a Python whose SQLite has FTS5 first on the PATH, then rm {memo_file()}"
        return Finding("warning", "fts5", what, fix)
    return Finding("ok", "python", f"hooks run with Python {_dotted(version)}")


def _dotted(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, (list, tuple)) else ""


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    """Run a program and return its result. None if it cannot be started or does not end in time."""
    if not shutil.which(command[0]):
        return None
    streams = {"capture_output": True, "text": True, "errors": "replace", "stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(command, check=False, timeout=_TIMEOUT_SECONDS, **streams)  # type: ignore[call-overload,no-any-return]
    except (OSError, subprocess.TimeoutExpired):
        return None


def all_own_files() -> list[OwnFiles]:
    """Return everything that Onrecord wrote outside the stores. Other files in these folders are left out."""
    cache = paths.cache_dir()
    items = [
        measure(os.path.join(cache, name), _CACHE_FILES[kind], state_file.INDEX_DAYS if kind in _INDEX_FILES else 0)
        for name in _names(cache)
        if (kind := _cache_kind(name))
    ]
    items.append(measure(memo_file(), "the interpreter that hooks run with"))
    for name, what in STATE.items():
        items.append(measure(state_file.state_path(name), what, state_file.LIFETIMES.get(name, 0)))
    return [item for item in items if files.is_there(item.path)]


def replicas() -> list[OwnFiles]:
    """Return the replicas of shared stores with their sizes."""
    root = paths.replicas()
    folders = {name: os.path.join(root, name) for name in _names(root) if os.path.isdir(os.path.join(root, name))}
    return [
        _own_files(folder, "the replica of a shared store", _all_files(folder))._replace(
            until=f"deleted by `onrecord remote remove {name}`"
        )
        for name, folder in folders.items()
    ]


def _all_files(folder: str) -> list[str]:
    return [os.path.join(inner, name) for inner, _, names in files.walk(folder) for name in names]


def measure(path: str, what: str, days: int = 0) -> OwnFiles:
    """Return size and age of a file, or of the files in a folder."""
    return _own_files(path, what, _files(path) if files.is_there(path) else [], days)


def _own_files(path: str, what: str, files: list[str], days: int = 0) -> OwnFiles:
    statuses = [os.lstat(file) for file in files]
    oldest = min((status.st_mtime for status in statuses), default=0.0)
    size = sum(status.st_size for status in statuses)
    return OwnFiles(path, what, size, len(statuses), timestamps.from_seconds(oldest) if statuses else "", days)


def remove(own_files: list[OwnFiles]) -> None:
    """Delete these files, then the folders that are empty without them."""
    for own in own_files:
        for path in _files(own.path):
            files.remove(path)
        _remove_if_empty(own.path)
    for folder in dict.fromkeys((paths.cache_dir(), os.path.dirname(memo_file()), paths.state_dir())):
        _remove_if_empty(folder)


def _cache_kind(name: str) -> str:
    """Return the kind of a file in the cache folder; empty if the name is not ours: a hash, a version, a suffix."""
    head, rest = name[:_HASH_CHARS], name[_HASH_CHARS:]
    if len(head) < _HASH_CHARS or head.strip("0123456789abcdef") or not rest.startswith("."):
        return ""
    suffix = rest.rpartition(".")[2]
    return next((kind for kind in _CACHE_FILES if suffix.startswith(kind)), "")


def _names(folder: str) -> list[str]:
    try:
        return files.names_in(folder)
    except Unwritable as error:
        state_file.go_without("stored files", error.message)
        return []


def _files(path: str) -> list[str]:
    """Return `path`, or the files in that folder. Our folders are flat: deeper files are not ours."""
    try:
        status = files.status(path)
    except Unwritable as error:
        state_file.go_without("stored files", error.message)
        return [path]
    if status is None or os.path.islink(path) or not stat.S_ISDIR(status.st_mode):
        return [path]
    inside = (os.path.join(path, name) for name in _names(path))
    return [file for file in inside if os.path.islink(file) or not os.path.isdir(file)]


def _remove_if_empty(folder: str) -> None:
    """Remove a folder if it is empty. One that stays does no harm, and what was in it is gone all the same."""
    try:
        os.rmdir(folder)
    except OSError:
        pass
