"""Compares git's index with the files on disk, without git, which would run the repository's filters for that."""

from __future__ import annotations

import os
import stat
import time

from onrecord import coldstart, files
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_HASHED_BYTES = 20_000_000
"""Bytes hashed in one comparison. Only files with the same size but another date are hashed, which are usually few."""

_OWN_HASH_LENGTH = 32
_SHA1_LENGTH = 40
_SKIP_WORKTREE = 0x40000000
_DETAIL_LINES = 5
"""Lines that describe a file in a listing. If git printed another number of lines, parsing would only be slower."""

_SUBMODULE, _LINK = b"160000", b"120000"
_32_BITS = 0xFFFFFFFF
"""Git stores 32 bits of a file's size and date."""


class _IndexedFile(NamedTuple):
    """A file as listed in git's index."""

    mode: bytes
    blob: str
    is_merged: bool
    size: int
    modified: tuple[int, int]
    """Seconds and nanoseconds; (-1, 0) if unknown."""

    flags: int


def changed_paths(listing: bytes, root: str, deadline: float) -> tuple[list[str], bool]:
    """Return the files that differ from the index, and True if all were compared within the limits of time and bytes.

    `listing` is the output of `git ls-files --stage --debug -z`.
    """
    changed: dict[bytes, None] = {}
    bytes_left, is_complete, folder = MAX_HASHED_BYTES, True, os.path.join(os.fsencode(root), b"")
    for header, path, details in _parse_listing(listing):
        if time.monotonic() > deadline:
            return _texts(changed), False
        try:
            file_status = os.lstat(folder + path)
        except (OSError, ValueError):
            file_status = None
        if file_status and _is_untouched(header, details, file_status):
            continue
        indexed = _parse_file(header, details)
        state = _compare(indexed, file_status)
        if state == "touched" and file_status:
            bytes_left -= file_status.st_size
            is_complete = is_complete and bytes_left >= 0
            state = "changed" if bytes_left >= 0 and not _has_content(indexed, folder + path) else "same"
        if state == "changed":
            changed[path] = None
    return _texts(changed), is_complete


def all_paths(listing: bytes) -> list[str]:
    """Return the paths of all files in an index listing."""
    return _texts(dict.fromkeys(path for _, path, _ in _parse_listing(listing)))


def _texts(path_bytes: dict[bytes, None]) -> list[str]:
    return [path.decode("utf-8", "replace") for path in path_bytes]


def _parse_listing(listing: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the header (mode, blob and stage), the path, and the detail lines of each file in a listing."""
    parts = listing.split(b"\0")
    for before, details in zip(parts, parts[1:]):
        # The details of the previous file come first, in lines that begin with a space.
        start = before.split(b"\n", _DETAIL_LINES)[-1] if before.startswith(b" ") else before
        while start.startswith(b" "):
            start = start.partition(b"\n")[2]
        header, _, path = start.partition(b"\t")
        yield header, path, details


def _is_untouched(header: bytes, details: bytes, file_status: os.stat_result) -> bool:
    """True if the file has the size and date in the index: a quick test that is enough for nearly all files."""
    is_regular = header.startswith(b"100") and header.endswith(b" 0") and stat.S_ISREG(file_status.st_mode)
    modified = b"mtime: %d:%d\n" % divmod(file_status.st_mtime_ns, 1_000_000_000)
    return is_regular and modified in details and b"size: %d\t" % file_status.st_size in details


def _parse_file(header: bytes, details: bytes) -> _IndexedFile:
    mode, blob, stage = (*header.split(), b"", b"", b"")[:3]
    seconds, _, rest = _field(details, b"mtime: ").partition(b":")
    modified = (int(seconds), int(rest or b"0")) if seconds.isdigit() else (-1, 0)
    size, flags = _field(details, b"size: "), _field(details, b"flags: ")
    return _IndexedFile(
        mode, blob.decode("ascii", "replace"), stage == b"0", int(size or b"0"), modified, int(flags or b"0", 16)
    )


def _field(details: bytes, label: bytes) -> bytes:
    value = details.partition(label)[2].split(b"\n", 1)[0].split(b"\t", 1)[0]
    return value if value.replace(b":", b"").isalnum() else b""


def _compare(indexed: _IndexedFile, file_status: os.stat_result | None) -> str:
    """Return `same` or `changed`, or `touched` if the content must be compared."""
    if not indexed.is_merged:
        return "changed"
    if indexed.mode == _SUBMODULE:
        return "same"
    if file_status is None:
        return "same" if indexed.flags & _SKIP_WORKTREE else "changed"
    if stat.S_ISLNK(file_status.st_mode) != (indexed.mode == _LINK) or stat.S_ISDIR(file_status.st_mode):
        return "changed"
    seconds, nanoseconds = divmod(file_status.st_mtime_ns, 1_000_000_000)
    is_same_time = seconds & _32_BITS == indexed.modified[0] and indexed.modified[1] in (0, nanoseconds)
    if file_status.st_size & _32_BITS == indexed.size:
        return "same" if is_same_time else "touched"
    # Git records no size for a file that was modified at the same time as the index.
    return "changed" if indexed.size else "touched"


def _has_content(indexed: _IndexedFile, full_path: bytes) -> bool:
    try:
        if indexed.mode == _LINK:
            return has_id(os.readlink(full_path), indexed.blob)
        return has_id(files.read(os.fsdecode(full_path), MAX_HASHED_BYTES), indexed.blob)
    except OSError:
        return False


def blob_id(data: bytes, digits: int = _SHA1_LENGTH) -> str:
    """Return git's id of this content: a SHA-1, or a SHA-256 if the repository's ids have more than 40 `digits`."""
    blob = b"blob %d\0" % len(data) + data
    if digits > _SHA1_LENGTH:
        from hashlib import sha256

        return sha256(blob).hexdigest()
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha1
    return str(sha1(blob).hexdigest())


def has_id(data: bytes, id: str) -> bool:
    """True if `id`, git's or our own, is the id of `data`, whatever its line endings.

    Git checks out the same blob with CRLF on one machine and with LF on another.
    """
    if _has_id(data, id):
        return True
    plain = data.replace(b"\r\n", b"\n")
    return b"\n" in plain and (_has_id(plain, id) or _has_id(plain.replace(b"\n", b"\r\n"), id))


def _has_id(data: bytes, id: str) -> bool:
    if not id:
        return False
    hash = coldstart.content_hash(data) if len(id) == _OWN_HASH_LENGTH else blob_id(data, len(id))
    return hash.startswith(id)
