"""Freshness: whether the files a record is about have changed since it was saved.

Nearly always nothing has, and then it costs one look at each file and one at the verdict cache. A file that looks
different is hashed; git is asked only about one that is different. A hook uses this for records about to be shown, so
it imports next to nothing at the top (see `coldstart`).
"""

from __future__ import annotations

import difflib
import os
import time

from onrecord import coldstart, paths
from onrecord.coldstart import NamedTuple
from onrecord.freshness import project_files
from onrecord.git import repository
from onrecord.state_file import StateFile
from onrecord.text import many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.git.repository import Repository

FRESH, CHANGED, MISSING, UNKNOWN = "fresh", "changed", "missing", "unknown"
PATIENCE = 0.5
"""Seconds that git may take in all while a hook waits."""

CPU_SHARE = 0.4
"""Of these seconds, the share that may be spent on comparing content: 0.2 s in a hook."""

MAX_ANCHORS = 12
"""Anchors of one record that a hook checks."""

MAX_CACHE_BYTES = 500_000
_RACY = 2.0
"""Seconds within which a file can change twice and look the same to the clock."""

_MOST_NAMED = 2
_LONGEST_PATH = 80


class IndexedAnchor(NamedTuple):
    """An anchor as the search index holds it: what a file was when a record about it was saved."""

    path: str
    id: str
    commit: str
    day: str
    symbol: str
    block: str


class Verdict(NamedTuple):
    """Whether the file of an anchor still is what it was."""

    anchor: IndexedAnchor
    state: str
    now: str
    """Where the file is today: elsewhere than the anchor says when git shows that it was renamed."""

    commits: int = -1
    """How many commits changed it since; -1 when that is unknown."""

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
    """Checks the anchors of one project, within one budget of time."""

    __slots__ = ("_cache", "_deadline", "_head", "_most_cpu", "_patience", "_repository", "root")

    def __init__(self, root: str, patience: float = PATIENCE) -> None:
        self.root = root
        self._patience = patience
        self._deadline = 0.0
        self._most_cpu = 0.0
        self._cache = VerdictCache(root)
        self._repository: Repository | None = None
        self._head: str | None = None

    def note(self, anchors: str) -> tuple[str, bool]:
        """The warning to show with a record, given its anchors as the index holds them; whether a file is missing."""
        if not anchors:
            return "", False
        parts = coldstart.loads(anchors)
        verdicts = [self.check(IndexedAnchor(*each)) for each in parts[:MAX_ANCHORS]]
        return warning(verdicts, len(parts) - len(verdicts)), any(verdict.state == MISSING for verdict in verdicts)

    def check(self, anchor: IndexedAnchor) -> Verdict:
        """The verdict on one anchor."""
        cached = self._cache.get(anchor)
        if cached and (not cached[0] or cached[0] == self.head):
            return cached[1]
        verdict, is_settled = self._compare(anchor)
        if verdict.state != UNKNOWN:
            self._cache.add("" if is_settled else self.head or "-", verdict)
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
        """A verdict from the file itself, and whether it holds until the file changes again."""
        from onrecord.errors import UnsafePath
        from onrecord.freshness import project_files

        self._most_cpu = self._most_cpu or time.process_time() + self._patience * CPU_SHARE
        if time.process_time() > self._most_cpu:
            return Verdict(anchor, UNKNOWN, anchor.path, reason="not checked: no time was left"), False
        try:
            data = project_files.read(self.root, anchor.path)
            if data is not None and project_files.is_same(data, anchor):
                return Verdict(anchor, FRESH, anchor.path), True
            return self._compare_with_git(anchor, data)
        except UnsafePath as error:
            return Verdict(anchor, UNKNOWN, anchor.path, reason=error.message), False

    def _compare_with_git(self, anchor: IndexedAnchor, data: bytes | None) -> tuple[Verdict, bool]:
        from onrecord.freshness import git_history

        head, state = self.head, MISSING if data is None else CHANGED
        if not self._repository:
            return Verdict(anchor, state, anchor.path), True
        if not head or (data is not None and head == anchor.commit):
            return Verdict(anchor, state, anchor.path, commits=0), False
        self._deadline = self._deadline or time.monotonic() + self._patience
        return git_history.verdict(self.root, self._repository, anchor, data, self._deadline)


class VerdictCache:
    """The verdicts on one project's anchors, so that a file is hashed and git is asked once.

    A file of lines with key, stamp, head, state, commits, last, day and path now; the last line of a key counts.
    """

    __slots__ = ("_data", "_file", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        name = coldstart.content_hash(root.encode("utf-8", "surrogatepass")) + ".anchors"
        self._file = StateFile(os.path.join(paths.cache_dir(), name), MAX_CACHE_BYTES, "freshness")
        self._data: bytes | None = None

    def get(self, anchor: IndexedAnchor) -> tuple[str, Verdict] | None:
        """The commit that a verdict holds for, empty for any, and the verdict; None if the file looks different now."""
        if self._data is None:
            self._data = self._file.read()
        start = self._data.rfind(_key(anchor).encode())
        line = self._data[start : self._data.find(b"\n", start)] if start >= 0 else b""
        parts = line.decode("utf-8", "replace").split("\t")
        if len(parts) != 8 or not parts[4].lstrip("-").isdecimal():
            return None
        _, stamp, head, state, commits, last, day, now = parts
        is_valid = state in (FRESH, CHANGED, MISSING) and stamp == self._stamp(anchor, now)
        return (head, Verdict(anchor, state, now, int(commits), last, day)) if is_valid else None

    def add(self, head: str, verdict: Verdict) -> None:
        """Remember a verdict, unless the file is so new that it could change unseen."""
        anchor, state, now, commits, last, day, _ = verdict
        line = "\t".join((_key(anchor), self._stamp(anchor, now), head, state, str(commits), last, day, now)) + "\n"
        if line.count("\t") == 7 and line.count("\n") == 1 and not self._is_racy(now):
            self._file.append(line)
            self._data = (self._data or b"") + line.encode("utf-8", "backslashreplace")

    def _stamp(self, anchor: IndexedAnchor, now: str) -> str:
        """What a file looks like from outside, under the name it had and the name it has."""
        return ",".join(map(self._look, dict.fromkeys((anchor.path, now))))

    def _look(self, path: str) -> str:
        try:
            seen = os.stat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return "-"
        return f"{seen.st_mtime_ns}.{seen.st_size}.{seen.st_ino}"

    def _is_racy(self, path: str) -> bool:
        mtime = self._look(path).partition(".")[0]
        return mtime != "-" and 0 <= time.time() - int(mtime) / 1e9 < _RACY


def _key(anchor: IndexedAnchor) -> str:
    """What distinguishes an anchor from every other one of the project."""
    return coldstart.content_hash("\0".join(anchor).encode("utf-8", "surrogatepass"))


def warning(verdicts: Sequence[Verdict], unchecked: int = 0) -> str:
    """What is shown with a record: nothing when all of its files are fresh and in place."""
    sentences = [sentence(verdict) for verdict in verdicts if verdict.is_stale or verdict.is_moved]
    more = len(sentences) - _MOST_NAMED
    tail = f"; so did {many(more, 'more file')}" if more > 0 else ""
    unchecked += sum(verdict.state == UNKNOWN for verdict in verdicts)
    rest = [f"{unchecked} file{' was' if unchecked == 1 else 's were'} not checked"] if unchecked else []
    needs_look = unchecked or any(verdict.is_stale for verdict in verdicts)
    return ("verify: " if needs_look else "") + "; ".join(["; ".join(sentences[:_MOST_NAMED]) + tail, *rest]).lstrip(
        "; "
    )


def sentence(verdict: Verdict) -> str:
    """One verdict in words."""
    was, now = _quoted(verdict.anchor.path), _quoted(verdict.now)
    if verdict.state == MISSING:
        return f"{was} no longer exists"
    if not verdict.is_stale:
        return f"{was} is now {now}" if verdict.is_moved else f"{was} is {verdict.reason or verdict.state}"
    times = {-1: "", 0: "", 1: " once"}.get(verdict.commits, f" {verdict.commits} times")
    since = f" since {verdict.anchor.day}" if verdict.anchor.day else ""
    return f"{now}{f' (was {was})' if verdict.is_moved else ''} changed{times}{since}"


def _quoted(path: str) -> str:
    short = path if len(path) <= _LONGEST_PATH else "…" + path[1 - _LONGEST_PATH :]
    return "`" + short.replace("`", "'") + "`"


_PATIENCE = 2.0
_LARGEST = 400_000
"""Characters of either side; comparing larger files could take many seconds."""

_MOST_LINES = 200


def lines(root: str, verdict: Verdict) -> list[str]:
    """The changed lines with a few around them, as a unified diff; empty where git no longer has the old text."""
    repo = repository.find(root)
    now = project_files.read(root, verdict.now)
    if repo is None or now is None or not repository.is_commit(verdict.anchor.id):
        return []
    then = repo.run("cat-file", "blob", verdict.anchor.id, deadline=time.monotonic() + _PATIENCE)
    if not then.is_good or max(len(then.output), len(now)) > _LARGEST:
        return []
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (then.output, now))
    changes = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    more = [f"… {len(changes) - _MOST_LINES} more lines"] if len(changes) > _MOST_LINES else []
    return [*changes[:_MOST_LINES], *more]
