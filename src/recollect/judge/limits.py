"""Allowance: how much the judge may do in a day, counted so that racing prompts cannot overdraw it."""

from __future__ import annotations

import os
import time

from recollect import failure_log, paths, timestamps

_KEPT_DAYS = 30


def folder() -> str:
    return os.path.join(paths.state_dir(), "judge")


def claim(requests: int, cap: int) -> bool:
    """Whether so many more requests are within the cap; if they are, they are counted."""
    try:
        end = _append(_counter(), requests)
    except OSError as error:
        failure_log.leave("judge", f"requests cannot be counted, so none is sent: {error.strerror}")
        return False
    begun = end - requests
    if begun == 0:
        prune()
    if begun <= cap < end:
        failure_log.leave(
            "judge",
            f"the daily cap of {cap} requests (retrieval.judge.daily_cap) is reached: "
            "until midnight UTC ranking decides alone",
        )
    return end <= cap


def used() -> int:
    """Requests counted today."""
    try:
        return os.stat(_counter()).st_size
    except OSError:
        return 0


def is_first_today(word: str) -> bool:
    """Whether nobody has said this word yet today."""
    path = os.path.join(folder(), f"{word}-{timestamps.now()[:10]}")
    try:
        os.makedirs(folder(), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def prune(now: float | None = None) -> None:
    """Delete what the judge left a month ago: counters, verdicts, markers."""
    limit = (time.time() if now is None else now) - _KEPT_DAYS * 86_400
    for entry in os.scandir(folder()):
        try:
            if entry.stat().st_mtime < limit:
                os.unlink(entry.path)
        except OSError as error:
            failure_log.leave("judge", f"cannot prune {entry.path}: {error.strerror}")


def _counter() -> str:
    return os.path.join(folder(), f"requests-{timestamps.now()[:10]}")


def _append(path: str, count: int) -> int:
    """Add bytes to a file; where they end. Each writer gets its own place, so no lock is needed."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, b"." * count)
        return os.lseek(handle, 0, os.SEEK_CUR)
    finally:
        os.close(handle)
