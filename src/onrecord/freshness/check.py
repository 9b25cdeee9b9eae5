"""Freshness checks: have the files that a record is about changed since it was saved?

Usually no file has changed. Then a check costs one `stat` for each file and a read of the verdict cache. A file whose
`stat` differs is hashed, and git runs only for a file whose content differs. Hooks check the records they are about to
show, so this module imports next to nothing at the top (see `coldstart`).
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart, paths
from onrecord.coldstart import NamedTuple
from onrecord.state_file import StateFile
from onrecord.text import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.git.repository import Repository

FRESH, CHANGED, MISSING, UNKNOWN = "fresh", "changed", "missing", "unknown"
PATIENCE = 0.5
"""Seconds that git may take in total while a hook waits."""

CPU_SHARE = 0.4
"""Share of `PATIENCE` that may be spent on comparing content: 0.2 s in a hook."""

MAX_ANCHORS = 12
"""Anchors that a hook checks for one record."""

MAX_CACHE_BYTES = 500_000
_RACY_SECONDS = 2.0
"""Time within which a file can change twice and keep its modification time."""

_MAX_FILES_NAMED = 2
_MAX_PATH_CHARACTERS = 80


class IndexedAnchor(NamedTuple):
    """An anchor in the form that the search index stores: the version of a file when its record was saved."""

    path: str
    id: str
    commit: str
    day: str
    symbol: str
    block: str


class Verdict(NamedTuple):
    """The result of checking one anchor."""

    anchor: IndexedAnchor
    state: str
    now: str
    """The current path of the file. It differs from the anchor's path if git shows that the file was renamed."""

    commits: int = -1
    """Number of commits that changed the file since; -1 if unknown."""

    last: str = ""
    day: str = ""
    reason: str = ""

    @property
    def is_moved(self) -> bool:
        return self.now != self.anchor.path

    @property
    def is_stale(self) -> bool:
        return self.state in (CHANGED, MISSING)


class Freshness:
    """Checks the anchors of one project within a time limit."""

    __slots__ = ("_cache", "_cpu_deadline", "_deadline", "_edited", "_head", "_patience", "_repository", "root")

    def __init__(self, root: str, patience: float = PATIENCE, edited: Sequence[str] = ()) -> None:
        """Check files as they are now; the absolute paths `edited` as the commit that is checked out has them."""
        self.root = root
        self._edited = frozenset(map(os.path.realpath, edited))
        self._patience = patience
        self._deadline = 0.0
        self._cpu_deadline = 0.0
        self._cache = VerdictCache(root)
        self._repository: Repository | None = None
        self._head: str | None = None

    def note(self, anchors: str) -> tuple[str, bool]:
        """Return the warning to show with a record, and True if a file is missing.

        `anchors` is the JSON text from the search index.
        """
        if not anchors:
            return "", False
        verdicts = self.verdicts(anchors)
        unchecked = len(coldstart.loads(anchors)) - len(verdicts)
        return warning(verdicts, unchecked), any(verdict.state == MISSING for verdict in verdicts)

    def verdicts(self, anchors: str) -> list[Verdict]:
        """Return the verdicts on the first of the anchors in a JSON text from the search index."""
        return [self.check(IndexedAnchor(*fields)) for fields in coldstart.loads(anchors)[:MAX_ANCHORS]]

    def check(self, anchor: IndexedAnchor) -> Verdict:
        """Return the verdict on `anchor`: the cached one if the file's `stat` has not changed since."""
        if self._edited and os.path.realpath(os.path.join(self.root, anchor.path)) in self._edited:
            return self._compare_committed(anchor)
        cached = self._cache.get(anchor)
        if cached and (not cached[0] or cached[0] == self.head):
            return cached[1]
        verdict, is_settled = self._compare(anchor)
        if verdict.state != UNKNOWN and (is_settled or self.head):
            self._cache.add("" if is_settled else self.head, verdict)
        return verdict

    @property
    def head(self) -> str:
        """The commit that is checked out; empty without git."""
        if self._head is None:
            from onrecord.git import repository

            self._repository = repository.find(self.root)
            self._head = self._repository.head if self._repository else ""
        return self._head

    def _compare(self, anchor: IndexedAnchor) -> tuple[Verdict, bool]:
        """Read the file and return the verdict, and True if it stays valid until the file changes again."""
        from onrecord.errors import UnsafePath
        from onrecord.freshness import project_files

        self._cpu_deadline = self._cpu_deadline or time.process_time() + self._patience * CPU_SHARE
        if time.process_time() > self._cpu_deadline:
            return Verdict(anchor, UNKNOWN, anchor.path, reason="not checked: no time was left"), False
        try:
            data = project_files.read(self.root, anchor.path)
            if data is not None and project_files.is_same(data, anchor):
                return Verdict(anchor, FRESH, anchor.path), True
            return self._compare_with_git(anchor, data)
        except UnsafePath as error:
            return Verdict(anchor, UNKNOWN, anchor.path, reason=error.message), False

    def _compare_with_git(self, anchor: IndexedAnchor, data: bytes | None) -> tuple[Verdict, bool]:
        """Return the same as `_compare`, for a file that is missing or whose content differs."""
        from onrecord.freshness import git_history

        head, state = self.head, MISSING if data is None else CHANGED
        if not self._repository:
            return Verdict(anchor, state, anchor.path), True
        if not head or (data is not None and head == anchor.commit):
            return Verdict(anchor, state, anchor.path, commits=0), False
        self._deadline = self._deadline or time.monotonic() + self._patience
        history = git_history.trace(self.root, self._repository, anchor, data, self._deadline)
        if history.is_same:
            return Verdict(anchor, FRESH, history.path), True
        if not history.path and history.is_cut_short:
            return Verdict(anchor, UNKNOWN, anchor.path, reason="not checked: git took too long"), False
        state, now = (CHANGED, history.path) if history.path else (MISSING, anchor.path)
        return Verdict(anchor, state, now, history.commits, history.last_commit, history.day), history.is_committed

    def _compare_committed(self, anchor: IndexedAnchor) -> Verdict:
        """Return the verdict on a file that was edited just now, by its commits alone.

        Without a commit that has changed it since, nothing but edits like this one can have, so that it is fresh.
        """
        from onrecord.freshness import git_history

        fresh = Verdict(anchor, FRESH, anchor.path)
        head = self.head
        if not self._repository or not head or head == anchor.commit:
            return fresh
        self._deadline = self._deadline or time.monotonic() + self._patience
        data = git_history.committed(self.root, self._repository, anchor.path, self._deadline)
        history = git_history.trace(self.root, self._repository, anchor, data, self._deadline) if data else None
        if history is None or history.is_same or history.commits <= 0:
            return fresh
        return Verdict(anchor, CHANGED, anchor.path, history.commits, history.last_commit, history.day)


class VerdictCache:
    """The verdicts on one project's anchors. They spare a second hash and a second run of git for the same file.

    Each line has key, stamp, head, state, commits, last, day and current path. If a key has several lines, the last
    one is valid.
    """

    __slots__ = ("_data", "_file", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        name = coldstart.content_hash(os.fsencode(root)) + ".anchors"
        self._file = StateFile(os.path.join(paths.cache_dir(), name), MAX_CACHE_BYTES, "freshness")
        self._data: bytes | None = None

    def get(self, anchor: IndexedAnchor) -> tuple[str, Verdict] | None:
        """Return a commit and the cached verdict, which is valid only at that commit; None if the file changed.

        An empty commit means that the verdict is valid at any commit.
        """
        if self._data is None:
            self._data = self._file.read()
        start = self._data.rfind(_key(anchor).encode())
        line = self._data[start : self._data.find(b"\n", start)] if start >= 0 else b""
        parts = line.decode("utf-8", "replace").split("\t")
        if len(parts) != 8 or not parts[4].removeprefix("-").isdecimal():
            return None
        _, stamp, head, state, commits, last, day, now = parts
        is_valid = state in (FRESH, CHANGED, MISSING) and stamp == self._stamp(anchor, now)
        return (head, Verdict(anchor, state, now, int(commits), last, day)) if is_valid else None

    def add(self, head: str, verdict: Verdict) -> None:
        """Store `verdict`, unless the file is so new that a change could go unnoticed."""
        anchor, state, now, commits, last, day, _ = verdict
        line = "\t".join((_key(anchor), self._stamp(anchor, now), head, state, str(commits), last, day, now)) + "\n"
        if line.count("\t") == 7 and line.count("\n") == 1 and not self._is_racy(now):
            self._file.append(line)
            if self._data is not None:
                self._data += line.encode("utf-8", "backslashreplace")

    def _stamp(self, anchor: IndexedAnchor, now: str) -> str:
        """Return the file's modification time, size and inode, at its old path and at `now`."""
        return ",".join(map(self._stat, dict.fromkeys((anchor.path, now))))

    def _stat(self, path: str) -> str:
        try:
            status = os.stat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return "-"
        return f"{status.st_mtime_ns}.{status.st_size}.{status.st_ino}"

    def _is_racy(self, path: str) -> bool:
        mtime = self._stat(path).partition(".")[0]
        return mtime != "-" and 0 <= time.time() - int(mtime) / 1e9 < _RACY_SECONDS


def _key(anchor: IndexedAnchor) -> str:
    """Return a cache key that is unique to `anchor` within its project."""
    return coldstart.content_hash(coldstart.dumps(anchor).encode())


def warning(verdicts: Sequence[Verdict], unchecked: int) -> str:
    """Return the warning for a record with these verdicts; empty if all its files are fresh and in place."""
    sentences = [sentence(verdict) for verdict in verdicts if verdict.is_stale or verdict.is_moved]
    unnamed = len(sentences) - _MAX_FILES_NAMED
    tail = f"; {plural(unnamed, 'more file')} changed" if unnamed > 0 else ""
    unchecked += sum(verdict.state == UNKNOWN for verdict in verdicts)
    rest = [f"{unchecked} file{' was' if unchecked == 1 else 's were'} not checked"] if unchecked else []
    needs_look = unchecked or any(verdict.is_stale for verdict in verdicts)
    parts = ["; ".join(sentences[:_MAX_FILES_NAMED]) + tail, *rest]
    return ("verify: " if needs_look else "") + "; ".join(parts).lstrip("; ")


def sentence(verdict: Verdict) -> str:
    """Return `verdict` in words."""
    was, now = _quoted(verdict.anchor.path), _quoted(verdict.now)
    if verdict.state == MISSING:
        return f"{was} no longer exists"
    if not verdict.is_stale:
        return f"{was} is now {now}" if verdict.is_moved else f"{was} is {verdict.reason or verdict.state}"
    return f"{now}{f' (was {was})' if verdict.is_moved else ''} {_changed(verdict)}"


def about_file(verdict: Verdict) -> str:
    """Return `verdict` in words, for where the path of the anchor stands beside it."""
    if verdict.state == MISSING:
        return "no longer exists"
    if verdict.is_moved:
        return f"now at {verdict.now}{f', {_changed(verdict)}' if verdict.is_stale else ''}"
    if verdict.is_stale:
        return _changed(verdict)
    return "unchanged" if verdict.state == FRESH else verdict.reason or "could not be compared"


def _changed(verdict: Verdict) -> str:
    times = {-1: "", 0: "", 1: " once"}.get(verdict.commits, f" {verdict.commits} times")
    return f"changed{times}{f' since {verdict.anchor.day}' if verdict.anchor.day else ''}"


def _quoted(path: str) -> str:
    short = path if len(path) <= _MAX_PATH_CHARACTERS else "…" + path[1 - _MAX_PATH_CHARACTERS :]
    return "`" + short.replace("`", "'") + "`"
