"""Runs programs for their output, and kills them with all their children when the time is up.

Importing `subprocess` costs a cold hook twice as much as starting Python, so programs are spawned directly where the
system allows it.
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
    """The result of running a program. `status` is its exit code, or None if it was killed or could not start."""

    status: int | None
    output: bytes
    reason: str = ""

    @property
    def is_good(self) -> bool:
        return self.status == 0


def find(name: str, outside: str = "") -> str:
    """Return the absolute path of a program on PATH; empty if there is none.

    Relative folders on PATH, and folders within `outside`, are skipped.
    """
    ending = ".exe" if os.name == "nt" else ""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name + ending)
        is_excluded = outside and paths.is_within(outside, path)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK) and not is_excluded:
            return path
    return ""


def run_all(
    commands: Sequence[Sequence[str]],
    environment: Mapping[str, str],
    deadline: float,
    max_bytes: int = MAX_OUTPUT_BYTES,
) -> list[ProcessResult]:
    """Run several programs in parallel and return their results; `deadline` is a time of `time.monotonic`."""
    if not hasattr(os, "posix_spawn"):
        return [_run_with_subprocess(command, environment, deadline, max_bytes) for command in commands]
    running: list[_Child] = []
    try:
        for command in commands:
            running.append(_Child(command, environment, max_bytes))
        _drain(running, deadline)
        return [child.result(deadline) for child in running]
    finally:
        for child in running:
            child.end()


class _Child:
    __slots__ = ("bytes_left", "closed", "data", "pid", "pipe", "reason", "status")

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], max_bytes: int) -> None:
        self.data: list[bytes] = []
        self.bytes_left = max_bytes
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
            # A process group of its own, so that its children can be killed with it.
            self.pid = os.posix_spawn(command[0], list(command), environment, file_actions=actions, setpgroup=0)
        except OSError as error:
            self.pid, self.closed, self.reason = 0, True, f"could not be started: {error}"
        finally:
            os.close(write)

    def read(self) -> None:
        data = os.read(self.pipe, min(self.bytes_left, 65_536))
        self.data.append(data)
        self.bytes_left -= len(data)
        self.closed = not data or not self.bytes_left

    def result(self, deadline: float) -> ProcessResult:
        """Return the result. A program that wrote more than the limit counts as successful, and is killed."""
        output = b"".join(self.data)
        if not self.bytes_left:
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
        seconds_left = deadline - time.monotonic()
        ready, _, _ = select.select(list(waiting), (), (), max(seconds_left, 0))
        for pipe in ready:
            waiting[pipe].read()
        if seconds_left <= 0:
            return


def _run_with_subprocess(
    command: Sequence[str], environment: Mapping[str, str], deadline: float, max_bytes: int
) -> ProcessResult:
    """Run one program with `subprocess`, for Windows."""
    import subprocess

    seconds_left = deadline - time.monotonic()
    if seconds_left <= 0:
        return ProcessResult(None, b"", "no time was left for it")
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        child = subprocess.Popen(command, env=environment, **pipes)  # type: ignore[call-overload]
    except OSError as error:
        return ProcessResult(None, b"", f"could not be started: {error}")
    try:
        output, _ = child.communicate(timeout=seconds_left)
    except subprocess.TimeoutExpired:
        subprocess.run(("taskkill", "/F", "/T", "/PID", str(child.pid)), check=False, **pipes)  # type: ignore[call-overload]
        child.kill()
        return ProcessResult(None, b"", "did not answer in time")
    return ProcessResult(
        child.returncode, output[:max_bytes], f"exit code {child.returncode}" if child.returncode else ""
    )
