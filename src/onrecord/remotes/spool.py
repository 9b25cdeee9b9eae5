"""What a remote has sent, on disk until all of it is there: only then does anything of the replica change.

A hostile remote may send without end. Nothing of it is in memory at once, and a limit that is passed ends the sync
before the first record is touched.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import IO

from onrecord.errors import BadRemote
from onrecord.record.memory import LARGEST_FILE
from onrecord.remotes import door
from onrecord.remotes.transport import Version

_CUT = 200
"""Characters of a refused path that are kept: it may be anything."""

_MOST_REFUSED = 1_000


class Spool:
    """The versions of one pull, in order, for the time of a `with`.

    Their folder is ours: the system's temporary folder may be small, and others look into it.
    """

    def __init__(self, folder: str) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self.refused: dict[str, str] = {}
        """Paths that cannot be part of a shared store, each with the reason; of very many only the first."""
        self.paths: set[str] = set()
        self.is_reset = False
        self.asks_for_review = False
        self._bytes = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def fill(self, versions: Iterable[Version]) -> None:
        """Take all versions; BadRemote if they are more than a shared store may hold."""
        for count, version in enumerate(versions, 1):
            self._bytes += len(version.data)
            if count > door.MOST_FILES or self._bytes > door.MOST_BYTES:
                raise too_large()
            self._add(version)

    def _add(self, version: Version) -> None:
        reason = version.flaw or door.flaw(version.path, version.data)
        if len(version.data) > LARGEST_FILE:
            reason = f"larger than {LARGEST_FILE:,} bytes"
        self.refused.pop(version.path, None)
        if reason:
            if len(self.refused) < _MOST_REFUSED:
                self.refused[version.path[:_CUT]] = reason
            return
        self.paths.add(version.path)
        name = version.path.encode("ascii")
        self._file.write(b"%d %d\n%s%s" % (len(name), len(version.data), name, version.data))

    def __iter__(self) -> Iterator[Version]:
        self._file.seek(0)
        while line := self._file.readline():
            name, size = map(int, line.split())
            yield Version(self._file.read(name).decode("ascii"), self._file.read(size))


def too_large() -> BadRemote:
    return BadRemote(
        f"the shared store has more than {door.MOST_FILES:,} files or {door.MOST_BYTES:,} bytes; nothing was taken",
        fix="share fewer records, or divide them among several shared stores",
    )
