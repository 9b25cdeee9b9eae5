"""Ledger: what a session was told already, so that it is told once, and what its user said that must not be missed.

One small file per session in the user's state folder, a line per memory. Parallel prompts of one session take
turns by a lock on the file.
"""

from __future__ import annotations

import os
import time

from recollect import coldstart, failure_log, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_KEPT_DAYS = 30
_MOST_HEARD = 8


class Ledger:
    """The open ledger of one session: use it in a `with`, which holds the lock."""

    __slots__ = ("_handle", "heard", "prompts", "told")

    def __init__(self, session: str) -> None:
        self.told: dict[str, str] = {}
        self.heard: list[str] = []
        """The user's corrections, as typed, the newest few."""
        self.prompts = 0
        self._handle = _open(session) if session else -1

    def __enter__(self) -> Ledger:
        if self._handle >= 0:
            _lock(self._handle)
            self._read()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    @property
    def is_first_prompt(self) -> bool:
        return self.prompts == 0

    def knows(self, record: str, stamp: str) -> bool:
        """Whether the session was told this record as it is now."""
        return self.told.get(record) == stamp

    def note(self, record: str, stamp: str) -> None:
        """Remember that the session was told a record."""
        self.told[record] = stamp
        self._append(f"told\t{record}\t{stamp}\n")

    def hear(self, prompt: str) -> None:
        """Remember a correction."""
        self.heard = [*self.heard, prompt][-_MOST_HEARD:]
        self._append(f"heard\t{coldstart.dumps(prompt)}\n")

    def count_prompt(self) -> None:
        self.prompts += 1
        self._append("prompt\n")

    def reset(self) -> None:
        """Forget what was told: the conversation was compacted or cleared, and that went with it."""
        self.told = {}
        self.prompts = 0
        if self._handle >= 0:
            os.ftruncate(self._handle, 0)
            self._append("".join(f"heard\t{coldstart.dumps(prompt)}\n" for prompt in self.heard))

    def _read(self) -> None:
        size = os.fstat(self._handle).st_size
        for line in os.pread(self._handle, size, 0).decode("utf-8", "replace").split("\n"):
            kind, _, rest = line.partition("\t")
            record, _, stamp = rest.partition("\t")
            if kind == "told":
                self.told.pop(record, None)
                self.told[record] = stamp
            elif kind == "prompt":
                self.prompts += 1
            elif kind == "heard":
                self._read_heard(rest)

    def _read_heard(self, quoted: str) -> None:
        try:
            prompt = coldstart.loads(quoted)
        except ValueError:
            return
        if isinstance(prompt, str):
            self.heard = [*self.heard, prompt][-_MOST_HEARD:]

    def _append(self, line: str) -> None:
        if self._handle >= 0:
            os.write(self._handle, line.encode("utf-8", "replace"))


def stamp(text: str) -> str:
    """What tells one wording of a memory from another."""
    return coldstart.digest(text.encode("utf-8", "replace"))[:12]


def exists(session: str) -> bool:
    """Whether any hook has run in a session, not too long ago."""
    return os.path.exists(_file(session))


def prune(now: float | None = None) -> None:
    """Delete the ledgers of sessions that ended long ago."""
    limit = (time.time() if now is None else now) - _KEPT_DAYS * 86_400
    folder = _folder()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            if os.stat(path).st_mtime < limit:
                os.unlink(path)
        except OSError as error:
            failure_log.leave("ledger", f"cannot prune {path}: {error}")


def _folder() -> str:
    return os.path.join(paths.state_dir(), "sessions")


def _file(session: str) -> str:
    plain = len(session) <= 64 and all(char.isalnum() or char == "-" for char in session) and session.isascii()
    return os.path.join(_folder(), session if plain else coldstart.digest(session.encode("utf-8", "replace")))


def _open(session: str) -> int:
    path = _file(session)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    try:
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(_folder(), mode=0o700, exist_ok=True)
            return os.open(path, flags, 0o600)
    except OSError as error:
        failure_log.leave("ledger", f"cannot open {path}: {error}; memories may repeat within a session")
        return -1


def _lock(handle: int) -> None:
    """Wait for the other prompts of this session; each holds the lock for a few milliseconds."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)
