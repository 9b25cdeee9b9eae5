"""A Bloom filter beside the index: it rules out, without SQLite, that a record is about a command or its files.

Opening the index costs a hook more than all else it does at an ordinary command. The filter is a superset of what is
indexed: words are put into it before they are committed, and never taken out. Its head has the times of the record
folders; a filter that is missing, damaged or older than a folder says that a record may match.
"""

from __future__ import annotations

import os

from onrecord import coldstart, paths
from onrecord.search import terms
from onrecord.session import shell_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEAD_BYTES = 1_024
_VERSION = 6
_MIN_BYTES, _MAX_BYTES = 1 << 16, 1 << 23
_BYTES_FOR_RECORD = 256
"""Bytes for each record: some 150 keys of 12 bits, so that one key in 300 is found by mistake."""

_ANY_CHECK = "!!"
"""The key that says that a record has a check: most stores have none."""

_BITS = (1, 2, 4, 8, 16, 32, 64, 128)

NANOSECONDS = (1 << 63) - 1
"""The bits of a file's time that SQLite can hold: a file may be dated to 2446 and later, and only has to differ."""

_MAX_WORDS = 400
"""Words of a command that are looked up."""

_MAX_SINGLE_BITS = 4_000
"""Bits that are set one by one: the filter of a large store has megabytes."""


def file_of(store_root: str) -> str:
    """Return the file of a store's filter."""
    return paths.index_file(store_root, _VERSION, ".words")


def folder_times(store_root: str) -> dict[str, int]:
    """Return when each folder of records was last changed; 0 for one that does not exist."""
    from onrecord.categories import CATEGORIES

    return {category.folder: _time(os.path.join(store_root, category.folder)) for category in CATEGORIES.values()}


def _time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns & NANOSECONDS
    except OSError:
        return 0


def exists(store_root: str) -> bool:
    """True if there is a filter that this version has made."""
    try:
        handle = os.open(file_of(store_root), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return False
    try:
        return bool(_safe_head(handle)[0])
    finally:
        os.close(handle)


def may_match(store_root: str, keys: Iterable[str], command: str = "") -> bool:
    """True if a record of the store may have one of `keys` or a check of `command`, or if that cannot be told."""
    try:
        handle = os.open(file_of(store_root), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return True
    try:
        size, times = _read_head(handle)
        if not size or not times or any(when != _time(os.path.join(store_root, name)) for name, when in times.items()):
            return True
        return any(_has(handle, size, key) for key in keys) or _may_check(handle, size, command)
    except (OSError, ValueError, TypeError, LookupError):
        return True
    finally:
        os.close(handle)


def may_check(store_root: str, command: str) -> bool:
    """True if a check of the store's records may be broken by a command, or if that cannot be told."""
    return may_match(store_root, (), command)


def _may_check(handle: int, size: int, command: str) -> bool:
    """True if a check of the store's records may be broken by a command."""
    if not command or not _has(handle, size, _ANY_CHECK):
        return False
    words = shell_words.whole_words(command)
    return len(words) > _MAX_WORDS or any(_has(handle, size, f"!{word}") for word in ("", *words))


def check_keys(check_words: Iterable[str]) -> set[str]:
    """Return the keys of the checks of a record, given their key words."""
    keys = {f"!{word}" for word in check_words}
    return keys | {_ANY_CHECK} if keys else keys


def _read_head(handle: int) -> tuple[int, dict[str, int]]:
    """Return the number of bits and the times of the folders; 0 bits if this version did not write the file."""
    version, size, times = coldstart.loads(_read_at(handle, _HEAD_BYTES, 0).decode("ascii").rstrip("\0 "))
    is_ours = version == _VERSION and size == (os.fstat(handle).st_size - _HEAD_BYTES) * 8
    return (size if is_ours else 0), times


def _read_at(handle: int, count: int, position: int) -> bytes:
    os.lseek(handle, position, os.SEEK_SET)
    return os.read(handle, count)


def _probes(size: int, key: str) -> Iterable[int]:
    number = coldstart.number_of(key.encode("utf-8", "replace"))
    first, step = number >> 32, number & 0xFFFFFFFF | 1
    return [first % size, (first + step) % size, (first + 2 * step) % size, (first + 3 * step) % size]


def _has(handle: int, size: int, key: str) -> bool:
    return all(_read_at(handle, 1, _HEAD_BYTES + bit // 8)[0] & 1 << bit % 8 for bit in _probes(size, key))


def add(store_root: str, keys: Iterable[str]) -> None:
    """Put keys into the filter. The caller holds the index's lock. Raises OSError."""
    handle = os.open(file_of(store_root), os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        size = max(os.fstat(handle).st_size - _HEAD_BYTES, 0) * 8
        bit_numbers = [bit for key in keys for bit in _probes(size, key)] if size else []
        if len(bit_numbers) <= _MAX_SINGLE_BITS:
            for bit in bit_numbers:
                position = _HEAD_BYTES + bit // 8
                _write_at(handle, bytes([_read_at(handle, 1, position)[0] | 1 << bit % 8]), position)
            return
        bits = bytearray(_read_at(handle, size // 8, _HEAD_BYTES))
        for bit in bit_numbers:
            bits[bit // 8] |= 1 << bit % 8
        _write_at(handle, bytes(bits), _HEAD_BYTES)
    finally:
        os.close(handle)


def make(store_root: str, key_sets: Iterable[set[str]], records: int) -> None:
    """Make the filter of a store of `records`, without the times of its folders. Raises OSError."""
    bits = bytearray(_bytes_for(records))
    size = len(bits) * 8
    number_of = coldstart.number_of
    for keys in key_sets:
        for key in keys:
            # As in `_probes`, which would take twice as long for millions of keys.
            number = number_of(key.encode("utf-8", "replace"))
            bit, step = (number >> 32) % size, (number & 0xFFFFFFFF | 1) % size
            for _ in range(4):
                bits[bit >> 3] |= _BITS[bit & 7]
                bit += step
                if bit >= size:
                    bit -= size
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    handle = os.open(file_of(store_root), flags, 0o600)
    try:
        _write_at(handle, bytes(bits), _HEAD_BYTES)
    finally:
        os.close(handle)


def _write_at(handle: int, data: bytes, position: int) -> None:
    os.lseek(handle, position, os.SEEK_SET)
    os.write(handle, data)


def _bytes_for(records: int) -> int:
    size = _MIN_BYTES
    while size < min(records * _BYTES_FOR_RECORD, _MAX_BYTES):
        size *= 2
    return size


def confirm(store_root: str, indexed: Mapping[str, int]) -> None:
    """Note that the filter has all that was in these folders at these times; nothing if there is no filter."""
    try:
        handle = os.open(file_of(store_root), os.O_RDWR | getattr(os, "O_BINARY", 0))
    except OSError:
        return
    try:
        size = max(os.fstat(handle).st_size - _HEAD_BYTES, 0) * 8
        if size and _safe_head(handle) != (size, indexed):
            head = coldstart.dumps([_VERSION, size, dict(indexed)]).encode("ascii")
            _write_at(handle, head.ljust(_HEAD_BYTES)[:_HEAD_BYTES], 0)
    finally:
        os.close(handle)


def _safe_head(handle: int) -> tuple[int, dict[str, int]]:
    try:
        return _read_head(handle)
    except (OSError, ValueError, TypeError, LookupError):
        return 0, {}


def discard(store_root: str) -> None:
    """Delete the filter, so that the next records make it anew."""
    try:
        os.unlink(file_of(store_root))
    except OSError:
        return


_STOP = frozenset(
    "a also an and are as at be been but by can each for ha hav if in into is it must of or our should so than that the"
    " their them then these thi those we when which while will you your".split()
)
"""Stems that are in no command: pairs with one of them are left out."""

GRAVE_FILES = "/!"
"""The key of a record that it is gravest to ignore at its files."""


def record_keys(title: str, triggers: str, body_terms: str, file_gravities: Iterable[tuple[str, int]]) -> set[str]:
    """Return the keys of a record, from its indexed terms and the files it is about, each with how grave it is."""
    keys: set[str] = set()
    for stream in (title, *triggers.split(" | "), body_terms):
        words = terms.respelled(stream).split()
        keys.update(stream.replace(terms.JOINED, "").split())
        pairs = zip(words, words[1:])
        keys.update(f"{first} {second}" for first, second in pairs if first not in _STOP and second not in _STOP)
    keys.update(f"={trigger}" for trigger in terms.respelled(triggers).split(" | "))
    for pattern, gravity in file_gravities:
        keys.update(_pattern_keys(pattern))
        keys.update([GRAVE_FILES] if gravity == 0 else [])
    return keys


def _pattern_keys(pattern: str) -> list[str]:
    """Return the keys of a file, folder or glob: of a glob, the folder before its first wildcard, or its ending."""
    if "*" not in pattern and "?" not in pattern:
        return [f"/{pattern}", f"//{pattern.rpartition('/')[2]}"]
    folder = pattern[: min(pattern.find(sign) % (len(pattern) + 1) for sign in "*?")].rpartition("/")[0]
    if folder:
        return [f"/{folder}"]
    ending = pattern.rpartition(".")[2] if "." in pattern else ""
    return [f"*.{ending}" if ending.isalnum() else "*"]


def file_keys(path: str) -> set[str]:
    """Return the keys of a file of the project: a record about it has at least one of them."""
    parts = path.split("/")
    keys = {"/" + "/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return keys | {f"//{parts[-1]}", f"*.{path.rpartition('.')[2]}", "*"}
