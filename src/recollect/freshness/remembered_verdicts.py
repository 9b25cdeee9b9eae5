"""The notebook that remembers verdicts on anchors between hooks, so that a file is hashed and git is asked once.

It is a file of lines that are only ever appended, the last one for an anchor counting: processes may race, and losing
it loses nothing. A hook reads it for memories about to be shown, so it imports next to nothing (see `lean`).
"""

from __future__ import annotations

import os

from recollect import coldstart, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 500_000
_RACY = 2.0
"""Seconds within which a file can change twice and look the same to the clock."""


class Notebook:
    """The verdicts remembered for one project: lines of key, stamp, head, state, commits, last, day and name now."""

    __slots__ = ("_data", "_file", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        self._file = os.path.join(
            paths.cache_dir(), coldstart.digest(root.encode("utf-8", "surrogatepass")) + ".anchors"
        )
        self._data: bytes | None = None

    def recall(self, parts: Sequence[str]) -> list[str]:
        """Head, state, commits, last, day and name now of an anchor; nothing if its file no longer looks the same."""
        if self._data is None:
            self._data = self._read()
        start = self._data.rfind(_key(parts))
        if start < 0:
            return []
        line = self._data[start : self._data.find(b"\n", start)].decode("utf-8", "replace").split("\t")
        is_whole = len(line) == 8 and line[4].lstrip("-").isdecimal()
        return line[2:] if is_whole and line[1] == self._stamp(parts[0], line[7]) else []

    def remember(self, parts: Sequence[str], told: Sequence[str]) -> None:
        """Note what `recall` will give back, unless the file is so new that it could change unseen."""
        now = told[-1]
        line = "\t".join(("", self._stamp(parts[0], now), *told))
        if "\n" in line or line.count("\t") != 7 or self._is_racy(now):
            return
        try:
            self._append(_key(parts) + line[1:].encode("utf-8", "replace") + b"\n")
        except OSError as error:
            from recollect import failure_log

            failure_log.leave("freshness", f"cannot remember a verdict in {self._file}: {error}")

    def _read(self) -> bytes:
        try:
            handle = os.open(self._file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return b""
        try:
            return os.read(handle, 2 * LARGEST)
        finally:
            os.close(handle)

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
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
        self._data = (self._data or b"") + line
        if size > LARGEST:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the newer half."""
        data = self._read()
        temporary = f"{self._file}.{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(data[data.find(b"\n", len(data) // 2) + 1 :])
        os.replace(temporary, self._file)

    def _stamp(self, path: str, now: str) -> str:
        """What a file looks like from outside, under the name it had and the name it has."""
        return self._look(path) if path == now else f"{self._look(path)},{self._look(now)}"

    def _look(self, path: str) -> str:
        try:
            seen = os.stat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return "-"
        return f"{seen.st_mtime_ns}.{seen.st_size}.{seen.st_ino}"

    def _is_racy(self, path: str) -> bool:
        import time

        try:
            age = time.time() - os.stat(f"{self._root}/{path}").st_mtime
        except (OSError, ValueError):
            return False
        return 0 <= age < _RACY


def _key(parts: Sequence[str]) -> bytes:
    """What tells an anchor from every other one of the project."""
    return coldstart.digest("\0".join(parts).encode("utf-8", "surrogatepass")).encode("ascii") + b"\t"
