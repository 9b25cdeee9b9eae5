"""A child process that is killed at a line of our choice, or watched at every line."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable


def killed_at(line: int, work: Callable[[], object], watched: str | tuple[str, ...]) -> bool:
    """Run `work` in a child that is killed before the `line`-th line of `watched`. Return True if it got there."""
    child = os.fork()
    if child == 0:
        lines = iter(range(line))

        def trace(frame, event, argument):
            if not frame.f_code.co_filename.startswith(watched):
                return None
            if event == "line" and next(lines, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        work()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def states_during(work: Callable[[], object], watched: str | tuple[str, ...], root: str, copies: str) -> list[str]:
    """Return copies of `root`, one for each state in which a kill before a line of `watched` would leave it."""
    child = os.fork()
    if child == 0:
        before: list[dict[str, bytes]] = [{}]

        def trace(frame, event, argument):
            if not frame.f_code.co_filename.startswith(watched):
                return None
            if event == "line":
                sys.settrace(None)
                keep()
                sys.settrace(trace)
            return trace

        def keep() -> None:
            now = _contents(root)
            if now != before[-1]:
                before.append(now)
                shutil.copytree(root, os.path.join(copies, f"{len(before):04}"))

        sys.settrace(trace)
        work()
        sys.settrace(None)
        keep()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return [os.path.join(copies, name) for name in sorted(os.listdir(copies))]


def _contents(root: str) -> dict[str, bytes]:
    """Return the content of every file below `root`, by its path."""
    contents = {}
    for folder, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                contents[os.path.join(folder, name)] = file.read()
    return contents
