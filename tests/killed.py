"""A child process that is killed at a line of our choice."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable


def killed_at(line: int, work: Callable[[], object], watched: str | tuple[str, ...]) -> bool:
    """Do some work in a child that is killed before the n-th line of the watched modules; whether it came so far."""
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
