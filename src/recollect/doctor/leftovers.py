"""Residue: what Recollect keeps on a machine outside the stores. All of it can go at any time; no record is in it.

Only what Recollect has made is named here, never a whole folder: a user may have pointed it at one that holds more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from recollect import files, paths
from recollect.doctor import hook_python
from recollect.errors import Unwritable

_NAME = 32
_CACHED = (".sqlite", ".sqlite-journal", ".sqlite-wal", ".sqlite-shm", ".anchors")
_STATE = {
    "sessions": "what each session was told",
    "usage/sessions": "what is still to be judged",
    "usage": "what was told and used",
    "offers": "what was offered for keeping",
    "judge": "what a judge was asked",
    "trace.log": "traces of failures",
    "trace.log.1": "older traces of failures",
    "last-injection.json": "what was injected last",
}


class Item(NamedTuple):
    """A file or folder of ours: what it is, and how many bytes."""

    path: str
    what: str
    size: int


def items() -> list[Item]:
    """Everything there is, the cache first."""
    return [Item(path, what, _size(path)) for path, what in _found() if os.path.lexists(path)]


def remove(found: list[Item]) -> None:
    """Delete some items, then the folders that are empty without them."""
    for item in found:
        for path in _files(item.path):
            files.remove(path)
        _remove_if_empty(item.path)
    for folder in _folders():
        _remove_if_empty(folder)


def _folders() -> list[str]:
    return list(dict.fromkeys([paths.cache_dir(), os.path.dirname(hook_python.memo_file()), paths.state_dir()]))


def _found() -> Iterator[tuple[str, str]]:
    cache = paths.cache_dir()
    for name in _names(cache):
        if _is_derived(name):
            yield os.path.join(cache, name), "a search index" if ".sqlite" in name else "states of files"
    yield hook_python.memo_file(), "the interpreter that hooks run with"
    for name, what in _STATE.items():
        yield os.path.join(paths.state_dir(), *name.split("/")), what


def _is_derived(name: str) -> bool:
    """Whether a file is named as ours are: after a fingerprint, perhaps with the number of a process behind it."""
    head, rest = name[:_NAME], name[_NAME:]
    return all(char in "0123456789abcdef" for char in head) and len(head) == _NAME and rest.startswith(_CACHED)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _files(path: str) -> list[str]:
    """The files to delete for an item: itself, or those in it. Our folders are flat: what lies deeper is not ours."""
    if os.path.islink(path) or not os.path.isdir(path):
        return [path]
    inside = (os.path.join(path, name) for name in _names(path))
    return [each for each in inside if os.path.islink(each) or not os.path.isdir(each)]


def _remove_if_empty(folder: str) -> None:
    if os.path.isdir(folder) and not os.path.islink(folder) and not os.listdir(folder):
        try:
            os.rmdir(folder)
        except OSError as error:
            fix = f"check the permissions of {os.path.dirname(folder)}"
            raise Unwritable(f"cannot remove {folder}: {error.strerror}", fix=fix) from error


def _size(path: str) -> int:
    return sum(os.lstat(each).st_size for each in _files(path))
