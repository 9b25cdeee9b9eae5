"""Checks of the files that come from a remote or go to one, and the spool that keeps the files of a pull."""

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
"""Files of one shared store; every hook reads the replica and has no time for more."""

MAX_BYTES = 1_000_000_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,119}\.json")
"""Lower case only: two names that differ on one machine must not be one file on another."""

_FOLDERS = frozenset((*schema.FOLDERS.values(), paths.INBOX))
_MAX_PATH_LENGTH = 200
"""Characters of a refused path that are kept: a remote can send anything."""

_MAX_REFUSED_PATHS = 1_000


def path_flaw(path: str) -> str:
    """Return why no file of a shared store can have this path; empty if one can."""
    folder, _, name = path.partition("/")
    if folder not in _FOLDERS or not _NAME.fullmatch(name):
        return "not the path of a record or a draft"
    return "a name that Windows does not allow" if naming.is_device(name.removesuffix(".json")) else ""


def file_flaw(path: str, data: bytes) -> str:
    """Return why a file cannot be part of a shared store; empty if it can. A deleted file always can."""
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


def new_secret(data: bytes, base: bytes) -> str:
    """Return a description of the first credential in `data` that is not in `base`; empty if there is none."""
    if not data:
        return ""
    old = frozenset(secrets.find_credentials(memory.decode(base, "base"))) if base else frozenset()
    return next(map(str, secrets.find_leaks(memory.decode(data, "record"), ignore=old)), "")


def is_draft(path: str) -> bool:
    return path.startswith(f"{paths.INBOX}/")


def stem(path: str) -> str:
    """Return the file name without folder and `.json`: the id of a record, the name of a draft."""
    return path.rpartition("/")[2][: -len(".json")]


class Spool:
    """The versions of one pull, in order, in a temporary file that lives as long as the `with` block.

    `folder` is our own: the system's temporary folder may be small, and others can look into it.
    """

    def __init__(self, folder: str) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self.refused: dict[str, str] = {}
        """Paths that cannot be part of a shared store, with the reason; at most the first 1,000."""
        self.paths: set[str] = set()
        self.is_reset = False
        self.asks_for_review = False
        self.is_read_only = False
        self._bytes = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._file.close()

    def fill(self, versions: Iterable[Version]) -> None:
        """Check and keep all versions. Raises BadRemote if they exceed the limits of a shared store."""
        for count, version in enumerate(versions, 1):
            self._bytes += len(version.data)
            if count > MAX_FILES or self._bytes > MAX_BYTES:
                raise too_large()
            self._add(version)

    def _add(self, file_version: Version) -> None:
        path, data, flaw = file_version
        reason = flaw or file_flaw(path, data)
        if len(data) > MAX_FILE_BYTES:
            reason = f"larger than {MAX_FILE_BYTES:,} bytes"
        self.refused.pop(path, None)
        if reason:
            if len(self.refused) < _MAX_REFUSED_PATHS:
                self.refused[path[:_MAX_PATH_LENGTH]] = reason
            return
        self.paths.add(path)
        name = path.encode("ascii")
        self._file.write(b"%d %d\n%s%s" % (len(name), len(data), name, data))

    def __iter__(self) -> Iterator[Version]:
        self._file.seek(0)
        while line := self._file.readline():
            name_size, data_size = map(int, line.split())
            yield Version(self._file.read(name_size).decode("ascii"), self._file.read(data_size))


def too_large() -> BadRemote:
    return BadRemote(
        f"the shared store has more than {MAX_FILES:,} files or {MAX_BYTES:,} bytes; nothing was taken",
        fix="share fewer records, or divide them among several shared stores",
    )
