"""What differs between git's index and the files on disk, compared here: git would run the repository's filters."""

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
"""Bytes hashed in one comparison: only files of the same size and another date are, so more means a fresh copy."""

_OWN_HASH = 32
_SHA1 = 40
_SKIP_WORKTREE = 0x40000000
_DETAIL_LINES = 5
"""Lines that describe a file in a listing; another number of them only takes longer to read."""

_SUBMODULE, _LINK = b"160000", b"120000"
_WORD = 0xFFFFFFFF
"""Git keeps 32 bits of a file's size and date."""


class _Entry(NamedTuple):
    """A file as the index has it."""

    mode: bytes
    blob: str
    is_merged: bool
    size: int
    moment: tuple[int, int]
    """When it was modified, as seconds and nanoseconds; (-1, 0) if the index does not say."""

    flags: int


def changed_paths(listing: bytes, root: str, deadline: float) -> tuple[list[str], bool]:
    """The files of an index that are not on disk as it has them, and whether time and bytes sufficed for all of them.

    The listing is that of `git ls-files --stage --debug -z`.
    """
    changed: dict[bytes, None] = {}
    left, is_complete, folder = MAX_HASHED_BYTES, True, os.path.join(os.fsencode(root), b"")
    for line, path, details in _entries(listing):
        if time.monotonic() > deadline:
            return _texts(changed), False
        try:
            seen = os.lstat(folder + path)
        except (OSError, ValueError):
            seen = None
        if seen and _is_untouched(line, details, seen):
            continue
        entry = _parse(line, details)
        state = _compare(entry, seen)
        if state == "touched" and seen:
            left -= seen.st_size
            is_complete = is_complete and left >= 0
            state = "changed" if left >= 0 and not _has_content(entry, folder + path) else "same"
        if state == "changed":
            changed[path] = None
    return _texts(changed), is_complete


def all_paths(listing: bytes) -> list[str]:
    """Every file of an index."""
    return _texts(dict.fromkeys(path for _, path, _ in _entries(listing)))


def _texts(paths: dict[bytes, None]) -> list[str]:
    return [path.decode("utf-8", "replace") for path in paths]


def _entries(listing: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Mode, blob and stage of each file of a listing, its path, which ends in NUL, and the lines that describe it."""
    parts = listing.split(b"\0")
    for before, details in zip(parts, parts[1:]):
        # What describes the file before stands in lines that begin with spaces.
        line = before.split(b"\n", _DETAIL_LINES)[-1] if before.startswith(b" ") else before
        while line.startswith(b" "):
            line = line.partition(b"\n")[2]
        words, _, path = line.partition(b"\t")
        yield words, path, details


def _is_untouched(line: bytes, details: bytes, seen: os.stat_result) -> bool:
    """Whether a file plainly is as the index has it: nearly all are, so this is all that is done for them."""
    is_plain = line.startswith(b"100") and line.endswith(b" 0") and stat.S_ISREG(seen.st_mode)
    moment = b"mtime: %d:%d\n" % divmod(seen.st_mtime_ns, 1_000_000_000)
    return is_plain and moment in details and b"size: %d\t" % seen.st_size in details


def _parse(line: bytes, details: bytes) -> _Entry:
    mode, blob, stage = (*line.split(), b"", b"", b"")[:3]
    seconds, _, rest = _field(details, b"mtime: ").partition(b":")
    moment = (int(seconds), int(rest or b"0")) if seconds.isdigit() else (-1, 0)
    size, flags = _field(details, b"size: "), _field(details, b"flags: ")
    return _Entry(
        mode, blob.decode("ascii", "replace"), stage == b"0", int(size or b"0"), moment, int(flags or b"0", 16)
    )


def _field(text: bytes, name: bytes) -> bytes:
    value = text.partition(name)[2].split(b"\n", 1)[0].split(b"\t", 1)[0]
    return value if value.replace(b":", b"").isalnum() else b""


def _compare(entry: _Entry, seen: os.stat_result | None) -> str:
    """`same`, `changed`, or `touched` where only the content can decide."""
    if not entry.is_merged:
        return "changed"
    if entry.mode == _SUBMODULE:
        return "same"
    if seen is None:
        return "same" if entry.flags & _SKIP_WORKTREE else "changed"
    if stat.S_ISLNK(seen.st_mode) != (entry.mode == _LINK) or stat.S_ISDIR(seen.st_mode):
        return "changed"
    seconds, nanoseconds = divmod(seen.st_mtime_ns, 1_000_000_000)
    is_same_moment = seconds & _WORD == entry.moment[0] and entry.moment[1] in (0, nanoseconds)
    if seen.st_size & _WORD == entry.size:
        return "same" if is_same_moment else "touched"
    # Git notes no size for a file that was modified in the same moment as the index.
    return "changed" if entry.size else "touched"


def _has_content(entry: _Entry, path: bytes) -> bool:
    try:
        if entry.mode == _LINK:
            return has_id(os.readlink(path), entry.blob)
        return has_id(files.read(os.fsdecode(path), MAX_HASHED_BYTES), entry.blob)
    except OSError:
        return False


def blob_id(data: bytes, digits: int = _SHA1) -> str:
    """The id git gives to this content; 64 digits in a repository that uses SHA-256."""
    whole = b"blob %d\0" % len(data) + data
    if digits > _SHA1:
        from hashlib import sha256

        return sha256(whole).hexdigest()
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha1
    return str(sha1(whole).hexdigest())


def has_id(data: bytes, id: str) -> bool:
    """Whether an id, git's or our own, is that of this content, whatever its line endings.

    Git hands the same blob out with CRLF on one machine and LF on the next.
    """
    if _has_id(data, id):
        return True
    plain = data.replace(b"\r\n", b"\n")
    return b"\n" in plain and (_has_id(plain, id) or _has_id(plain.replace(b"\n", b"\r\n"), id))


def _has_id(data: bytes, id: str) -> bool:
    if not id:
        return False
    hash = coldstart.content_hash(data) if len(id) == _OWN_HASH else blob_id(data, len(id))
    return hash.startswith(id)
