"""What differs between git's index and the files on disk, compared here: git would run the repository's filters."""

from __future__ import annotations

import os
import stat
import time

from recollect import coldstart, files
from recollect.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_HASHED = 20_000_000
"""Bytes hashed in one comparison: only files of the same size and another date are, so more means a fresh copy."""

_OWN_DIGEST = 32
_SHA1 = 40
_SKIP_WORKTREE = 0x40000000
_SUBMODULE, _LINK = b"160000", b"120000"
_WORD = 0xFFFFFFFF
"""Git keeps 32 bits of a file's size and date."""


class _Entry(NamedTuple):
    """A file as the index has it."""

    path: bytes
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
    left, is_complete = MOST_HASHED, True
    for entry in _entries(listing):
        if time.monotonic() > deadline:
            return _texts(changed), False
        path = os.path.join(os.fsencode(root), entry.path)
        state, size = _compare(entry, path)
        if state == "touched":
            left -= size
            is_complete = is_complete and left >= 0
            state = "changed" if left >= 0 and not _has_content(entry, path) else "same"
        if state == "changed":
            changed[entry.path] = None
    return _texts(changed), is_complete


def all_paths(listing: bytes) -> list[str]:
    """Every file of an index."""
    return _texts(dict.fromkeys(entry.path for entry in _entries(listing)))


def _texts(paths: dict[bytes, None]) -> list[str]:
    return [path.decode("utf-8", "replace") for path in paths]


def _entries(listing: bytes) -> Iterator[_Entry]:
    """The entries of a listing: each path ends in NUL, and lines that begin with spaces describe it."""
    parts = listing.split(b"\0")
    for head, after in zip(parts, parts[1:]):
        line = head
        while line.startswith(b" "):
            line = line.partition(b"\n")[2]
        words, _, path = line.partition(b"\t")
        mode, blob, stage = (*words.split(), b"", b"", b"")[:3]
        seconds, _, rest = _field(after, b"mtime: ").partition(b":")
        moment = (int(seconds), int(rest or b"0")) if seconds.isdigit() else (-1, 0)
        size, flags = _field(after, b"size: "), _field(after, b"flags: ")
        yield _Entry(
            path,
            mode,
            blob.decode("ascii", "replace"),
            stage == b"0",
            int(size or b"0"),
            moment,
            int(flags or b"0", 16),
        )


def _field(text: bytes, name: bytes) -> bytes:
    value = text.partition(name)[2].split(b"\n", 1)[0].split(b"\t", 1)[0]
    return value if value.replace(b":", b"").isalnum() else b""


def _compare(entry: _Entry, path: bytes) -> tuple[str, int]:
    """`same`, `changed`, or `touched` where only the content can decide; and the size of the file."""
    if not entry.is_merged:
        return "changed", 0
    if entry.mode == _SUBMODULE:
        return "same", 0
    try:
        seen = os.lstat(path)
    except (OSError, ValueError):
        return "same" if entry.flags & _SKIP_WORKTREE else "changed", 0
    if stat.S_ISLNK(seen.st_mode) != (entry.mode == _LINK) or stat.S_ISDIR(seen.st_mode):
        return "changed", 0
    seconds, nanoseconds = divmod(seen.st_mtime_ns, 1_000_000_000)
    is_same_moment = seconds & _WORD == entry.moment[0] and entry.moment[1] in (0, nanoseconds)
    if seen.st_size & _WORD == entry.size:
        return "same" if is_same_moment else "touched", seen.st_size
    # Git notes no size for a file that was modified in the same moment as the index.
    return "changed" if entry.size else "touched", seen.st_size


def _has_content(entry: _Entry, path: bytes) -> bool:
    try:
        if entry.mode == _LINK:
            return has_id(os.readlink(path), entry.blob)
        return has_id(files.read(os.fsdecode(path), MOST_HASHED), entry.blob)
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
    return bool(id) and (coldstart.digest(data) if len(id) == _OWN_DIGEST else blob_id(data, len(id))).startswith(id)
