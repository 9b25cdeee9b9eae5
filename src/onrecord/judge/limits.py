"""What the judge keeps in the state folder: requests counted by day, and markers."""

from __future__ import annotations

import os

from onrecord import paths, state_file, timestamps
from onrecord.state_file import StateFile

_LARGEST = 200_000  # bytes: one for each request of a day (at most 100,000)


def folder() -> str:
    return os.path.join(paths.state_dir(), "judge")


def claim(requests: int, cap: int) -> bool:
    """Count so many requests; whether they are within the cap. Racing prompts cannot overdraw it."""
    end = _requests().append("." * requests)
    if end < 0:
        state_file.leave("judge", "requests cannot be counted, so none is sent")
        return False
    if end - requests <= cap < end:
        reached = f"the daily cap of {cap} requests (retrieval.judge.daily_cap) is reached"
        state_file.leave("judge", f"{reached}: until midnight UTC ranking decides alone")
    return end <= cap


def used() -> int:
    """Requests counted today."""
    return len(_requests().read())


def mark(name: str) -> bool:
    """Leave a marker for a month; True if it was not there yet."""
    return _file(name).append(".") <= 1


def is_marked(name: str) -> bool:
    return os.path.exists(_file(name).path)


def _requests() -> StateFile:
    return _file(f"requests-{timestamps.now()[:10]}", shrinks=False)


def _file(name: str, *, shrinks: bool = True) -> StateFile:
    return StateFile(os.path.join(folder(), name), _LARGEST, "judge", state_file.newer_half if shrinks else None)
