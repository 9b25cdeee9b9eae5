"""The order in which the records of a large store are indexed: what an agent should know first comes first.

Reading a record takes some 30 times as long as a look at the text of its file, so a look decides the order: what
replaces others, then some of each category, then what the map at session start would choose.
"""

from __future__ import annotations

import os

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.search import indexing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onrecord.categories import Category

_MIN_PER_CATEGORY = 3
_MAX_VALUE_BYTES = 80
"""Bytes after the name of a field within which its value begins and ends."""

_MIDDLE = 2
"""Standing of a record whose severity is not known, from 0 to 3."""

_FIRST_SHARE = 0.4
"""Share of the looks that constraints get, if not all files can be looked at."""

_FOLDERS = {category.folder: category for category in CATEGORIES.values()}
_OPEN = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class _Look(NamedTuple):
    """The facts about a record that a look at the text of its file tells."""

    path: str
    category: Category
    updated_at: str
    standing: int
    is_successor: bool
    """True if it replaces others, which must not be shown as current before it is known."""
    is_late: bool
    """True if it can wait: it is retired, large, or cannot be read."""


def order(root: str, record_paths: Sequence[str], max_looks: int) -> list[str]:
    """Return the paths, most urgent first; paths without a file come before all, the ones not looked at come last."""
    looked_at = _share(record_paths, max_looks)
    looks, gone = [], []
    for path in looked_at:
        look = _look(root, path)
        if look:
            looks.append(look)
        else:
            gone.append(path)
    first = [*gone, *(look.path for look in _sorted(looks))]
    return [*first, *sorted(set(record_paths).difference(first))]


def _share(record_paths: Sequence[str], max_looks: int) -> Sequence[str]:
    """Return the paths to look at: all, or of each folder a share, the largest of the constraints."""
    if len(record_paths) <= max_looks:
        return record_paths
    folders: dict[str, list[str]] = {}
    for path in record_paths:
        folders.setdefault(path.partition("/")[0], []).append(path)
    ranked = sorted(folders, key=lambda folder: _FOLDERS[folder].digest_rank)
    shares = dict.fromkeys(ranked, 0)
    shares[ranked[0]] = min(len(folders[ranked[0]]), int(max_looks * _FIRST_SHARE))
    # What a small folder does not use is for the others.
    for place, folder in enumerate(sorted(ranked, key=lambda folder: len(folders[folder]) - shares[folder])):
        even = (max_looks - sum(shares.values())) // (len(ranked) - place)
        shares[folder] += min(len(folders[folder]) - shares[folder], even)
    return [path for folder in ranked for path in folders[folder][: shares[folder]]]


def _look(root: str, path: str) -> _Look | None:
    """Return what the text of a file says; None if there is no file."""
    category = _FOLDERS[path.partition("/")[0]]
    try:
        handle = os.open(root + os.sep + path, _OPEN)
    except FileNotFoundError:
        return None
    except OSError:
        return _Look(path, category, "", 0, False, True)
    try:
        text = os.read(handle, indexing.LARGE_BYTES + 1)
    except OSError:
        text = b""
    finally:
        os.close(handle)
    is_late = not text or len(text) > indexing.LARGE_BYTES or _value(text, "record_status") not in ("", "active")
    severity = _value(text, category.severity_field) if category.severity_field else ""
    standing = category.standing.get(severity, _MIDDLE)
    return _Look(path, category, _value(text, "updated_at"), standing, _has_items(text, "supersedes"), is_late)


def _value(data: bytes, field: str) -> str:
    """Return the text behind the name of a field; empty if there is none."""
    start = data.find(f'"{field}"'.encode())
    if start < 0:
        return ""
    value = data[start + len(field) + 2 :][:_MAX_VALUE_BYTES].split(b'"', 2)
    return value[1].decode("ascii", "replace") if len(value) > 2 and value[0].strip() == b":" else ""


def _has_items(data: bytes, field: str) -> bool:
    """True if a field is a list with something in it."""
    start = data.find(f'"{field}"'.encode())
    return start >= 0 and data[start + len(field) + 2 :][:_MAX_VALUE_BYTES].lstrip(b" \t\r\n:[").startswith(b'"')


def _sorted(looks: Sequence[_Look]) -> Iterator[_Look]:
    """Yield what replaces others, then some of each category, then the rest as the map would choose."""
    moments = sorted({look.updated_at for look in looks})
    recency = {moment: place / len(moments) for place, moment in enumerate(moments, 1)}

    def place(look: _Look) -> tuple[bool, bool, float, int, str]:
        # As in `digest.selection.prominence`.
        prominence = 0.3 * look.standing / 3 + 0.2 * recency[look.updated_at]
        return look.is_late, not look.is_successor, -round(prominence, 9), look.category.digest_rank, look.path

    ranked = sorted(looks, key=place)
    counts = dict.fromkeys(CATEGORIES, 0)
    rest = []
    for look in ranked:
        counts[look.category.name] += not look.is_successor
        if look.is_successor or counts[look.category.name] <= _MIN_PER_CATEGORY:
            yield look
        else:
            rest.append(look)
    yield from rest
