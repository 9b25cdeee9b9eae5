"""Content of a project's files: read within bounds, never outside the project, and named as git names it.

A hook reads it for memories about to be shown, so it imports next to nothing (see `lean`).
"""

from __future__ import annotations

import os

from recollect import coldstart, files, paths
from recollect.errors import UnsafePath

LARGEST = 2_000_000
"""Bytes of the largest file that is anchored; one that has grown beyond it has changed."""

_HASH = 32
_SHA1 = 40


def is_lexically_inside(path: str) -> bool:
    """Whether a relative path stays below where it starts, as far as its text tells."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    if not path or "\0" in path or os.path.isabs(path) or os.path.splitdrive(path)[0]:
        return False
    return ".." not in path.replace(os.sep, "/").split("/")


def read(root: str, path: str) -> bytes | None:
    """What a project's file holds, None if it is not there; UnsafePath if it is not a file of the project.

    One byte more than `LARGEST` means that the file is larger.
    """
    full = os.path.join(root, path)
    if not is_lexically_inside(path) or not paths.is_within(root, full):
        raise UnsafePath(f"{path!r} leads out of the project", fix="name a file of the project, relative to it")
    try:
        return files.read(full, LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnsafePath(f"{path!r} cannot be read: {reason}", fix="name a readable file of the project") from error


def blob(data: bytes, digits: int = _SHA1) -> str:
    """The id git gives to this content; 64 digits in a repository that uses SHA-256."""
    whole = b"blob %d\0" % len(data) + data
    if digits > _SHA1:
        from hashlib import sha256

        return sha256(whole).hexdigest()
    return _sha1(whole)


def has_id(data: bytes, known: str) -> bool:
    """Whether an id, git's or our own, is that of this content, whatever its line endings.

    Git hands the same blob out with CRLF on one machine and LF on the next.
    """
    if not known or len(data) > LARGEST:
        return False
    if _has_id(data, known):
        return True
    plain = data.replace(b"\r\n", b"\n")
    return b"\n" in plain and (_has_id(plain, known) or _has_id(plain.replace(b"\n", b"\r\n"), known))


def _has_id(data: bytes, known: str) -> bool:
    return (coldstart.digest(data) if len(known) == _HASH else blob(data, len(known))).startswith(known)


def _sha1(data: bytes) -> str:
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha1
    return str(sha1(data).hexdigest())
