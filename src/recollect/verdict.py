"""Verdicts on anchors, and the notebook that remembers them between hooks so that git is asked once.

The notebook is a file of lines that are only ever appended, the last one for an anchor counting: processes may race,
and losing it loses nothing. A hook reads it for memories about to be shown, so it imports next to nothing.
"""

from __future__ import annotations

import os
import time

from recollect import lean, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FRESH, DRIFTED, MISSING, UNKNOWN = "fresh", "drifted", "missing", "unknown"
LARGEST_NOTEBOOK = 500_000
_RACY = 2.0
"""Seconds within which a file can change twice and look the same to the clock."""


class Pin:
    """An anchor as a search index carries it: what a file was when a memory about it was saved."""

    __slots__ = ("block", "commit", "day", "id", "path", "symbol")

    def __init__(self, parts: Sequence[str]) -> None:
        self.path, self.id, self.commit, self.day, self.symbol, self.block = parts

    @property
    def key(self) -> str:
        """What tells this anchor from every other one of the project."""
        said = "\0".join((self.path, self.id, self.commit, self.symbol, self.block))
        return lean.digest(said.encode("utf-8", "surrogatepass"))


class Verdict:
    """Whether the file of an anchor still is what it was."""

    __slots__ = ("commits", "day", "last", "now", "path", "reason", "since", "state")

    def __init__(
        self,
        pin: Pin,
        state: str,
        *,
        now: str = "",
        commits: int = -1,
        last: str = "",
        day: str = "",
        reason: str = "",
    ) -> None:
        self.path = pin.path
        self.since = pin.day
        self.state = state
        self.now = now or pin.path
        """Where the file is today, when git knows that it was renamed."""
        self.commits = commits
        """How many commits changed it since; -1 when that cannot be told."""
        self.last = last
        self.day = day
        self.reason = reason

    @property
    def is_moved(self) -> bool:
        return self.now != self.path


class Notebook:
    """The verdicts remembered for one project."""

    __slots__ = ("_data", "_file", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        name = lean.digest(os.path.realpath(root).encode("utf-8", "surrogatepass"))
        self._file = os.path.join(paths.cache_dir(), f"{name}.anchors")
        self._data: bytes | None = None

    def recall(self, pin: Pin) -> tuple[Verdict | None, str]:
        """The verdict remembered for an anchor while its file looks the same, and the HEAD it depends on."""
        line = self._line(pin.key)
        parts = line.split("\t") if line else []
        if len(parts) != 9:
            return None, ""
        _, stamp, head, state, commits, last, day, now, _ = parts
        if stamp != self._stamp(pin.path, now):
            return None, ""
        return Verdict(pin, state, now=now, commits=int(commits), last=last, day=day), head

    def remember(self, pin: Pin, verdict: Verdict, head: str) -> None:
        """Note a verdict; `head` is the commit it may change with, empty if it depends on the file alone."""
        stamp = self._stamp(pin.path, verdict.now)
        parts = (pin.key, stamp, head, verdict.state, str(verdict.commits), verdict.last, verdict.day, verdict.now, ".")
        line = "\t".join(parts)
        if "\n" in line or line.count("\t") != len(parts) - 1 or self._is_racy(verdict.now):
            return
        try:
            self._append((line + "\n").encode("utf-8", "surrogatepass"))
        except OSError as error:
            from recollect import trace

            trace.leave("freshness", f"cannot remember a verdict in {self._file}: {error}")

    def _line(self, key: str) -> str:
        if self._data is None:
            try:
                self._data = lean.read(self._file, 4 * LARGEST_NOTEBOOK)
            except OSError:
                self._data = b""
        start = self._data.rfind(key.encode("ascii") + b"\t")
        if start < 0:
            return ""
        end = self._data.find(b"\n", start)
        return self._data[start:end].decode("utf-8", "replace") if end > 0 else ""

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            handle = os.open(self._file, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self._file), mode=0o700, exist_ok=True)
            handle = os.open(self._file, flags, 0o600)
        try:
            # One write to a file opened for appending: lines of racing processes do not mix.
            os.write(handle, line)
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if self._data is not None:
            self._data += line
        if size > LARGEST_NOTEBOOK:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the newer half."""
        data = lean.read(self._file, 4 * LARGEST_NOTEBOOK)
        temporary = f"{self._file}.{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(data[data.find(b"\n", len(data) // 2) + 1 :])
        os.replace(temporary, self._file)

    def _stamp(self, *names: str) -> str:
        """What files look like from outside: when one was changed, how large it is, which it is."""
        return ",".join(self._look(name) for name in dict.fromkeys(names))

    def _look(self, name: str) -> str:
        try:
            seen = os.stat(os.path.join(self._root, name))
        except (OSError, ValueError):
            return "-"
        return f"{seen.st_mtime_ns}.{seen.st_size}.{seen.st_ino}"

    def _is_racy(self, name: str) -> bool:
        try:
            age = time.time() - os.stat(os.path.join(self._root, name)).st_mtime
        except (OSError, ValueError):
            return False
        return 0 <= age < _RACY
