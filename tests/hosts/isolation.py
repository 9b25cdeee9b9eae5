"""Runs a client where the only thing it can reach is the mock of its API.

Each run gets an empty network namespace. What the client's hooks start is in there too: nothing reaches the network.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Callable, NamedTuple, Union

from tests.hosts.mock_api import MockApi, Replies
from tests.hosts.model_request import ModelRequest
from tests.hosts.npm import ALONE, Unavailable

PORT = 8787
BASE_URL = f"http://127.0.0.1:{PORT}"

_LOOPBACK = Path(__file__).with_name("loopback.py")


class Running(NamedTuple):
    """A running client, the API it uses, and its stderr."""

    process: subprocess.Popen[str]
    api: MockApi
    err: IO[str]


@contextmanager
def started(
    program: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: Union[int, IO[str]],
    stdin: int = subprocess.DEVNULL,
    replies: Replies = (),
    read: Callable[..., Any] = ModelRequest,
    unshare: Sequence[str] = ALONE,
) -> Iterator[Running]:
    """Start a program in a network of its own; whatever is left of it at the end is killed."""
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        with theirs:
            inside = [sys.executable, "-I", "-S", str(_LOOPBACK), str(theirs.fileno()), str(PORT), *program]
            process = subprocess.Popen(
                [*unshare, *inside],
                cwd=cwd,
                env=env,
                stdin=stdin,
                stdout=stdout,
                stderr=err,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                encoding="utf-8",
            )
        with process:
            try:
                with MockApi(replies, listener=_received(ours, err), read=read) as api:
                    yield Running(process, api, err)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def deadline(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """Kill the process and raise TimeoutError if the block takes longer."""
    late = threading.Event()

    def kill() -> None:
        late.set()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError(f"the client took more than {seconds:g} s")


def use_this_python(folder: Path) -> None:
    """Let a hook that asks for python3 get the interpreter that runs the tests, if `folder` is first on its PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "python3"
    if not python.is_symlink():
        python.symlink_to(os.path.realpath(sys.executable))


def run_hooks_with(home: Path, script: str) -> None:
    """Let our hooks be run by a shell script in place of an interpreter: hooks/launch uses the one it remembers."""
    program = home / "bin" / "hook-python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    memo = home / ".cache" / "onrecord" / "python"
    memo.parent.mkdir(parents=True, exist_ok=True)
    memo.write_text(f"{program}\n")


def _received(ours: socket.socket, err: IO[str]) -> socket.socket:
    ours.settimeout(120)
    _, handles, _, _ = socket.recv_fds(ours, 1, 1)
    if not handles:
        err.seek(0)
        raise Unavailable(f"the namespace did not come up: {err.read().strip()}")
    return socket.socket(fileno=handles[0])
