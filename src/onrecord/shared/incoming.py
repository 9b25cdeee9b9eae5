"""What may be a file of a shared store: checked for everything that comes from a remote or goes to one."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import IO

from onrecord import paths
from onrecord.errors import BadRemote, OnrecordError
from onrecord.record import drafts, memory, naming, schema, secrets
from onrecord.record.memory import MAX_FILE_BYTES
from onrecord.shared.transport import Version

MAX_FILES = 200_000
"""Files of one shared store; the replica is read by every hook, and a hook has no time for more."""

MAX_BYTES = 1_000_000_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,119}\.json")
"""Lower case only: two names that one machine keeps apart must not be one file on another."""

_FOLDERS = frozenset((*schema.FOLDERS.values(), paths.INBOX))


def path_flaw(path: str) -> str:
    """Why no file of a shared store can have this path; empty if one can."""
    folder, _, name = path.partition("/")
    if folder not in _FOLDERS or not _NAME.fullmatch(name):
        return "not the path of a record or a draft"
    return "a name that Windows does not allow" if naming.is_device(name.removesuffix(".json")) else ""


def file_flaw(path: str, data: bytes) -> str:
    """Why a file cannot be part of a shared store; empty if it can. A deleted one always can."""
    reason = path_flaw(path)
    if reason or not data:
        return reason
    try:
        if is_draft(path):
            drafts.parse(stem(path), data)
        elif (record := memory.parse(data, path)).path != path:
            return f"says it is {record.path}"
    except OnrecordError as error:
        return error.message.removeprefix(f"{path}: ")
    return ""


def new_secret(data: bytes, before: bytes) -> str:
    """The first credential in a file that its version before did not hold; empty if there is none."""
    if not data:
        return ""
    old = frozenset(secrets.find_credentials(memory.decode(before, "before"))) if before else frozenset()
    return next(map(str, secrets.find_leaks(memory.decode(data, "record"), old=old)), "")


def is_draft(path: str) -> bool:
    return path.startswith(f"{paths.INBOX}/")


def stem(path: str) -> str:
    """The name of a file without its folder and ending: the id of a record, the name of a draft."""
    return path.rpartition("/")[2][: -len(".json")]


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
            if count > MAX_FILES or self._bytes > MAX_BYTES:
                raise too_large()
            self._add(version)

    def _add(self, version: Version) -> None:
        reason = version.flaw or file_flaw(version.path, version.data)
        if len(version.data) > MAX_FILE_BYTES:
            reason = f"larger than {MAX_FILE_BYTES:,} bytes"
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
        f"the shared store has more than {MAX_FILES:,} files or {MAX_BYTES:,} bytes; nothing was taken",
        fix="share fewer records, or divide them among several shared stores",
    )
