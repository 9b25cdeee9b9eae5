"""A program run for its output, and killed with all it has started when the time is up.

`subprocess` costs a cold hook twice what starting Python does, so where the system can spawn we do it directly.
"""

from __future__ import annotations

import os
import time

from onrecord import paths
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_OUTPUT_BYTES = 1_000_000
_SIGKILL = 9


class ProcessResult(NamedTuple):
    """The result of a run: `status` is the exit code, or None when it was killed or never started."""

    status: int | None
    output: bytes
    reason: str = ""

    @property
    def is_good(self) -> bool:
        return self.status == 0


def find(name: str, outside: str = "") -> str:
    """The absolute path of a program on PATH, or an empty text. Neither the current directory counts nor `outside`."""
    ending = ".exe" if os.name == "nt" else ""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name + ending)
        is_theirs = outside and paths.is_within(outside, path)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK) and not is_theirs:
            return path
    return ""


def run_all(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str], deadline: float, most: int = MAX_OUTPUT_BYTES
) -> list[ProcessResult]:
    """The outcomes of several programs run side by side until a moment of the monotonic clock."""
    if not hasattr(os, "posix_spawn"):
        return [_run_elsewhere(command, environment, deadline, most) for command in commands]
    running: list[_Child] = []
    try:
        for command in commands:
            running.append(_Child(command, environment, most))
        _drain(running, deadline)
        return [child.outcome(deadline) for child in running]
    finally:
        for child in running:
            child.end()


class _Child:
    __slots__ = ("closed", "data", "left", "pid", "pipe", "reason", "status")

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], most: int) -> None:
        self.data: list[bytes] = []
        self.left = most
        self.closed = False
        self.status: int | None = None
        self.reason = ""
        self.pipe, write = os.pipe()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, write, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        try:
            # A group of its own, so that what it starts can be killed with it.
            self.pid = os.posix_spawn(command[0], list(command), environment, file_actions=actions, setpgroup=0)
        except OSError as error:
            self.pid, self.closed, self.reason = 0, True, f"could not be started: {error}"
        finally:
            os.close(write)

    def read(self) -> None:
        data = os.read(self.pipe, min(self.left, 65_536))
        self.data.append(data)
        self.left -= len(data)
        self.closed = not data or not self.left

    def outcome(self, deadline: float) -> ProcessResult:
        """How it ended. One that wrote more than we read is done, too: it is killed, and its output counts."""
        output = b"".join(self.data)
        if not self.left:
            return ProcessResult(0, output)
        while self.closed and self.pid and self.status is None and not self._is_reaped():
            if time.monotonic() >= deadline:
                break
            time.sleep(0.0005)
        if self.status is None:
            return ProcessResult(None, output, self.reason or "did not answer in time")
        return ProcessResult(self.status, output, f"exit code {self.status}" if self.status else "")

    def end(self) -> None:
        os.close(self.pipe)
        if self.pid and self.status is None:
            try:
                os.killpg(self.pid, _SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            self._is_reaped()

    def _is_reaped(self) -> bool:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(pid)


def _drain(running: list[_Child], deadline: float) -> None:
    import select

    while waiting := {child.pipe: child for child in running if not child.closed}:
        left = deadline - time.monotonic()
        ready, _, _ = select.select(list(waiting), (), (), max(left, 0))
        for pipe in ready:
            waiting[pipe].read()
        if left <= 0:
            return


def _run_elsewhere(command: Sequence[str], environment: Mapping[str, str], deadline: float, most: int) -> ProcessResult:
    """The same through `subprocess`, for Windows; one after the other."""
    import subprocess

    left = deadline - time.monotonic()
    if left <= 0:
        return ProcessResult(None, b"", "no time was left for it")
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        child = subprocess.Popen(command, env=environment, **pipes)  # type: ignore[call-overload]
    except OSError as error:
        return ProcessResult(None, b"", f"could not be started: {error}")
    try:
        output, _ = child.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        subprocess.run(("taskkill", "/F", "/T", "/PID", str(child.pid)), check=False, **pipes)  # type: ignore[call-overload]
        child.kill()
        return ProcessResult(None, b"", "did not answer in time")
    return ProcessResult(child.returncode, output[:most], f"exit code {child.returncode}" if child.returncode else "")
