"""Names of the files of records and drafts in a store, and short names for long ids: `sessions-live.3fa2c1`.

Prompt hooks load this module, so it imports only modules that every hook has loaded.
"""

from __future__ import annotations

import os
from itertools import islice

from onrecord import categories, coldstart, files
from onrecord.errors import BadRecord, UnsafePath
from onrecord.paths import INBOX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAX_UNCHANGED = 24
"""Characters of the longest id that is its own short name."""

_BEGINNING, _HASH = 16, 6
"""Length of the two parts of a short name: the beginning of the id (at most), and a hash of the path."""

_MIN_WORDS = 2
"""Whole words of a name in the map: one alone would say too little."""

_MAX_NAME = 60
"""Characters of a name in the map; a longer one is replaced by the short name."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
"""Characters that mean nothing special to a shell: agents run commands with these names, and strangers choose ids."""


_SLUG = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_MAX_ID = 80
_MAX_DRAFTS = 1_000
"""Drafts are counted up to here: to a user, "1,000 drafts" says as much as any larger number."""


def is_slug(name: str) -> bool:
    """True if `name` is one that the program gives: an id of a record."""
    return 0 < len(name) <= _MAX_ID and _SLUG.issuperset(name)


def record_id(path: str) -> str:
    """Return the id of the record at a path, which is the name of its file."""
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def short_name(path: str) -> str:
    """Return the short name of the record at `path`, relative to its store."""
    stem = record_id(path)
    plain = "".join(char for char in stem if char in _SAFE).lstrip("-_")
    if plain == stem and len(stem) <= _MAX_UNCHANGED:
        return stem
    beginning = plain[:_BEGINNING]
    if len(plain) > _BEGINNING and "-" in beginning[4:]:
        beginning = beginning[: beginning.rfind("-")]
    return f"{beginning}.{_path_hash(path)}"


def beginning(name: str, others: Iterable[str]) -> str:
    """Return the shortest beginning of `name`, of two or more whole words, that none of `others` begins with.

    Empty if only the whole name will do and that is no name for a shell.
    """
    words = name.split("-")
    for end in range(min(_MIN_WORDS, len(words)), len(words) + 1):
        start = "-".join(words[:end])
        if len(start) > _MAX_NAME:
            break
        if start == name or not any(other.lower().startswith(start.lower()) for other in others):
            return start if is_shell_safe(start) and not start.isdigit() else ""
    return ""


def slug(title: str) -> str:
    """Return a name like an id for a title: its words in ASCII; empty if it has none."""
    plain = "".join(char if char in _SAFE else " " for char in title.lower().replace("'", ""))
    return "-".join(plain.split())[:_MAX_NAME].strip("-_")


def is_shell_safe(name: str) -> bool:
    """True if `name` needs no quotes in a shell and cannot be taken for an option."""
    return _SAFE.issuperset(name) and not name.startswith("-")


def with_short_name(root: str, name: str) -> list[str]:
    """Return the path of the record whose short name is `name`, if that name ends in a hash: a list of one or none."""
    beginning, _, path_hash = name.rpartition(".")
    if len(path_hash) != _HASH or not _SAFE.issuperset(beginning + path_hash):
        return []
    return [path for path in paths(root) if _path_hash(path) == path_hash and short_name(path) == name]


def _path_hash(path: str) -> str:
    return coldstart.content_hash(path.encode("utf-8", "surrogateescape"))[:_HASH]


def paths(root: str) -> Iterator[str]:
    """Yield the relative paths of the files that may be records, folder by folder."""
    for category in categories.CATEGORIES.values():
        for name in in_folder(root, category.folder):
            yield f"{category.folder}/{name}"


def in_folder(root: str, folder: str) -> list[str]:
    """Return the names of the record files in `folder`; none if it does not exist or is a link out of the store.

    Raises Unwritable if it cannot be listed.
    """
    try:
        return read_folder(root, folder)
    except (BadRecord, UnsafePath):
        return []


def read_folder(root: str, folder: str) -> list[str]:
    """Return the names of the record files in `folder`. Raises Unwritable, BadRecord and UnsafePath."""
    full = os.path.join(root, folder)
    if os.path.isfile(full):
        raise BadRecord(f"{folder}: it is a file, not a folder", fix=f"move {full} away")
    if os.path.islink(full):
        files.inside(root, folder)
    return [name for name in files.names_in(full) if name.endswith(".json") and name[0] != "."]


def drafts(root: str) -> list[str]:
    """Return the names of the drafts in a store, in order, up to a limit. Raises Unwritable."""
    try:
        with os.scandir(files.inside(root, INBOX)) as entries:
            first = [entry.name for entry in islice(entries, _MAX_DRAFTS)]
    except UnsafePath:
        return []
    except OSError as error:
        if files.is_absent(error):
            return []
        raise files.unreadable(os.path.join(root, INBOX), error) from error
    return sorted(name[:-5] for name in first if name.endswith(".json") and name[0] != ".")
