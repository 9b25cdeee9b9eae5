"""The log of one store's usage: a line per event, appended by racing processes, compacted when it has grown.

    2026-03-02	injected	decisions/sessions-in-postgres.json
    2026-03-02	ignored	decisions/sessions-in-postgres.json
    2026-03-03	-ignored	decisions/sessions-in-postgres.json
    2026-01-01	used	decisions/sessions-in-postgres.json	17

An event with a minus takes back one written too early; a number at the end stands for as many lines.
"""

from __future__ import annotations

import os

from recollect import coldstart, failure_log, files, paths, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EVENTS = ("injected", "used", "ignored", "contradicted")
LARGEST = 256_000
"""Bytes at which a log is compacted; if it stays large, at twice what was left of it."""

_HARD_LIMIT = 16_000_000
_KEPT_BY_DAY = 100
_KEPT_WITHOUT_RECORD = 30
_MARK = "compacted"


def folder() -> str:
    return os.path.join(paths.state_dir(), "usage")


def name_of(store_root: str) -> str:
    """The file name, without its ending, of everything kept about one store."""
    return coldstart.digest(os.path.realpath(store_root).encode("utf-8", "surrogatepass"))


def file_of(store_root: str, ending: str = "log") -> str:
    return os.path.join(folder(), f"{name_of(store_root)}.{ending}")


def append(store_root: str, events: Iterable[tuple[str, str]]) -> bool:
    """Add events in one write; whether that worked. A failure costs counters, so it is traced and no more."""
    day = timestamps.now()[:10]
    lines = [f"{day}\t{event}\t{path}\n" for event, path in _relative(store_root, events)]
    if not lines:
        return True
    try:
        size = _append(store_root, "".join(lines).encode("utf-8", "surrogateescape"))
        if size > LARGEST and size > 2 * _size_after_compaction(store_root):
            compact(store_root)
    except OSError as error:
        failure_log.leave("usage", f"cannot count what was told: {error}")
        return False
    return True


def read(store_root: str) -> Iterator[tuple[str, str, str, int]]:
    """Every event: its day, its kind, the record's path and how many times. What is garbled is passed over."""
    try:
        text = files.read(file_of(store_root), _HARD_LIMIT).decode("utf-8", "surrogateescape")
    except OSError:
        return
    for line in text.split("\n"):
        parts = line.split("\t")
        if len(parts) not in (3, 4) or parts[1].lstrip("-") not in EVENTS or not timestamps.is_day(parts[0]):
            continue
        count = parts[3] if len(parts) == 4 else "1"
        if count.isascii() and count.isdigit() and len(count) < 12 and parts[2]:
            yield parts[0], parts[1], parts[2], int(count)


def compact(store_root: str, now: str = "") -> None:
    """Write the log anew: equal lines as one, old days as months, records gone for good left out."""
    now = now or timestamps.now()
    handle = _locked(store_root)
    try:
        totals: dict[tuple[str, str, str], int] = {}
        newest: dict[str, str] = {}
        for day, event, path, count in read(store_root):
            key = (_period(day, now), event, path)
            totals[key] = totals.get(key, 0) + count
            newest[path] = max(newest.get(path, ""), day)
        gone = _gone(store_root, newest, now)
        kept = {key: count for key, count in sorted(totals.items()) if key[2] not in gone}
        body = "".join(f"{day}\t{event}\t{path}\t{count}\n" for (day, event, path), count in kept.items())
        data = body.encode("utf-8", "surrogateescape")
        replace(file_of(store_root), f"{now[:10]}\t{_MARK}\t{len(data)}\n".encode() + data)
    finally:
        os.close(handle)


def replace(path: str, data: bytes) -> None:
    """Replace a file whole. Nothing waits for the disk: these are counters."""
    temporary = f"{path}.{os.getpid()}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)
    os.replace(temporary, path)


def lock(handle: int, *, shared: bool = False) -> None:
    """Wait for a lock on an open file; it ends when the file is closed."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def _append(store_root: str, data: bytes) -> int:
    """Append under a shared lock: a compaction must not replace the file while a line is on its way into it."""
    guard = _locked(store_root, shared=True)
    try:
        handle = os.open(file_of(store_root), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, data)
            return os.fstat(handle).st_size
        finally:
            os.close(handle)
    finally:
        os.close(guard)


def _locked(store_root: str, *, shared: bool = False) -> int:
    path = file_of(store_root, "lock")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        os.makedirs(folder(), mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(handle, shared=shared)
    except OSError:
        os.close(handle)
        raise
    return handle


def _relative(store_root: str, events: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for event, path in events:
        inside = within(store_root, path)
        if inside and inside.isprintable():
            yield event, inside


def within(store_root: str, path: str) -> str:
    """A record's path in its store, from that or from an absolute one; empty if it lies elsewhere."""
    if os.path.isabs(path):
        root = store_root.rstrip(os.sep) + os.sep
        path = path[len(root) :] if path.startswith(root) else ""
    return path.replace(os.sep, "/")


def _size_after_compaction(store_root: str) -> int:
    parts = files.read(file_of(store_root), 64).split(b"\n")[0].split(b"\t")
    return int(parts[2]) if len(parts) == 3 and parts[1] == _MARK.encode() and parts[2].isdigit() else 0


def _period(day: str, now: str) -> str:
    return day if day >= timestamps.days_before(now, _KEPT_BY_DAY)[:10] else day[:8] + "01"


def _gone(store_root: str, newest: dict[str, str], now: str) -> set[str]:
    """Records that are not there and have not been for a while: on another branch they may be only out of sight."""
    if not os.path.isdir(store_root):
        return set()
    limit = timestamps.days_before(now, _KEPT_WITHOUT_RECORD)[:10]
    return {path for path, day in newest.items() if day < limit and not os.path.exists(os.path.join(store_root, path))}
