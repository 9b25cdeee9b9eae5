"""The sync that a session's start begins: the hook does not wait for it, and it ends when its time is up."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord import detached, files, paths, state_file
from onrecord.cli import sync
from onrecord.errors import Locked
from onrecord.shared import background
from onrecord.shared import remotes as remote
from onrecord.shared.replicas import Replica
from tests.hooks.hook_process import ROOT, run_hook
from tests.known_project import six_records
from tests.time_limit import PATIENCE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a process is detached by a fork")
PROJECT = "/srv/project"
PROBE = """
import json, os, stat, sys
streams = [os.path.realpath(f"/proc/self/fd/{number}") for number in (0, 1, 2)]
facts = [os.getsid(0) == os.getpid(), os.getcwd(), streams, os.path.exists(f"/proc/self/fd/{sys.argv[2]}")]
with open(sys.argv[1], "w") as pipe:
    json.dump(facts, pipe)
"""


class SilentServer:
    """Takes connections and answers nothing, as a server behind a broken line does."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(PATIENCE)
        self.url = f"git://127.0.0.1:{self._listening.getsockname()[1]}/memory.git"
        self._connections: list[socket.socket] = []

    def accept(self) -> bytes:
        """Return the request of the next caller, and keep that one waiting."""
        connection, _ = self._listening.accept()
        connection.settimeout(PATIENCE)
        self._connections.append(connection)
        request = b""
        while not request.endswith(b"\0"):
            request += connection.recv(1_000)
        return request

    def is_left(self) -> bool:
        """Wait until the caller closes its end; return True if it does."""
        with contextlib.suppress(ConnectionResetError):
            while self._connections[-1].recv(1_000):
                pass
        return True

    def hang_up(self) -> None:
        for connection in (*self._connections, self._listening):
            connection.close()


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    server = SilentServer()
    yield server
    server.hang_up()


def _start(parent: Path) -> None:
    """Begin a session, as a host does."""
    fields = {"session_id": "s", "cwd": six_records(parent).root, "source": "startup"}
    answer = run_hook("session_start", fields)
    assert (answer.code, answer.stderr) == (0, b"") and answer.context


def _failures() -> list[str]:
    return [why for _, what, why in state_file.recent_failures() if what == "automatic sync of platform"]


def test_the_hook_ends_while_the_sync_still_runs(tmp_path, silent):
    remote.add("platform", silent.url, auto=True)

    _start(tmp_path)

    assert b"git-upload-pack /memory.git" in silent.accept()
    with pytest.raises(Locked), sync.automatic_lock():
        pass
    silent.hang_up()
    with sync.automatic_lock(PATIENCE):
        assert [why.partition(":")[0] for why in _failures()] == ["Offline"]
        assert Replica("platform").state.offline_since


IN_TIME = """
import signal, sys, threading
from onrecord import budget
from onrecord.cli import main
from onrecord.shared.git_mirror import _Run
is_reaching, guard = threading.Event(), _Run._enforce_limits
def watched_guard(self, deadline):
    if self._growing_folder:
        is_reaching.set()
    guard(self, deadline)
_Run._enforce_limits = watched_guard
def end():
    sys.stdin.readline()
    is_reaching.wait()
    budget._limits.wall = 0
    signal.setitimer(signal.ITIMER_REAL, 0.001, budget._REPEAT)
threading.Thread(target=end, daemon=True).start()
sys.exit(main(["sync", "--automatic"]))
"""
"""An automatic sync whose time is up when it gets a line and git has been started: not while it is."""


def test_a_sync_that_takes_too_long_is_ended_with_its_processes(silent):
    remote.add("platform", silent.url, auto=True)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}

    with subprocess.Popen([sys.executable, "-c", IN_TIME], env=env, **pipes) as process:
        silent.accept()
        output, _ = process.communicate(b"\n", timeout=PATIENCE)

    assert (process.returncode, output) == (0, b"")
    assert silent.is_left()
    assert _failures() == ["took too long and was left out"]
    assert Replica("platform").state.last_error == "took longer than 120 seconds"


def test_no_second_one_is_started_for_a_while(monkeypatch):
    started = []
    monkeypatch.setattr(detached, "start", lambda command, folder: started.append(command))
    remote.add("platform", "/srv/memory.git", auto=True)

    assert [background.start(PROJECT) for _ in range(3)] == [True, False, False]

    note = os.path.join(paths.replicas(), ".automatic")
    for age, is_due in (
        (background.MIN_SECONDS_BETWEEN + 1, True),
        (background.MIN_SECONDS_BETWEEN - 60, False),
        (-background.MIN_SECONDS_BETWEEN, True),
    ):
        os.utime(note, (time.time() - age,) * 2)
        assert background.start(PROJECT) is is_due
    assert len(started) == 3


@pytest.mark.parametrize("remotes", [[], [("platform", False)]])
def test_nothing_is_started_or_written_where_nobody_asked_for_it(monkeypatch, remotes):
    monkeypatch.setattr(detached, "start", pytest.fail)
    for name, auto in remotes:
        remote.add(name, "/srv/memory.git", auto=auto)

    assert background.start(PROJECT) is False
    assert not os.path.exists(paths.replicas())


def test_a_broken_list_of_remotes_starts_nothing_and_leaves_a_trace(monkeypatch):
    monkeypatch.setattr(detached, "start", pytest.fail)
    os.makedirs(os.path.dirname(paths.remotes_file()))
    Path(paths.remotes_file()).write_text("{")

    assert background.start(PROJECT) is False
    assert [what for _, what, _ in state_file.recent_failures()] == ["remotes"]


def test_a_list_of_remotes_in_the_project_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(detached, "start", pytest.fail)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    remote.add("platform", "/srv/memory.git", auto=True)

    assert background.start(str(tmp_path)) is False


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_the_process_has_nothing_of_its_callers(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    leaked = os.dup(0)
    os.set_inheritable(leaked, True)

    detached.start((sys.executable, "-c", PROBE, str(pipe), str(leaked)), str(tmp_path))

    facts = json.loads(pipe.read_text())
    os.close(leaked)
    assert facts == [True, str(tmp_path), ["/dev/null"] * 3, False]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_the_process_has_the_lock_that_was_taken_for_it_and_nothing_else(tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "lock"
    os.mkfifo(pipe)
    handle = os.open(file, os.O_RDWR | os.O_CREAT)
    assert files.lock(handle, 0)
    probe = (
        "import os, sys\n"
        "facts = os.path.realpath('/proc/self/fd/3') + str(os.path.exists('/proc/self/fd/4'))\n"
        "open(sys.argv[1], 'w').write(facts)\n"
        "open(sys.argv[1]).read()"
    )

    detached.start((sys.executable, "-S", "-c", probe, str(pipe)), str(tmp_path), handle)
    os.close(handle)

    assert pipe.read_text() == f"{file}False"
    other = os.open(file, os.O_RDWR)
    assert not files.lock(other, 0), "the lock is that of the process now"
    pipe.write_text("")
    assert files.lock(other, PATIENCE)
    os.close(other)


def test_the_python_of_the_last_sync_by_hand_is_used(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(detached, "start", lambda command, folder: commands.append(command))
    remote.add("platform", "/srv/memory.git", auto=True)
    able = tmp_path / "python"
    able.write_text("#!/bin/sh\n")
    able.chmod(0o755)

    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(able))
        background.note_python()
    note = os.path.join(paths.replicas(), ".automatic")
    os.utime(note, (0, 0))
    assert background.start(PROJECT)
    able.unlink()
    os.utime(note, (0, 0))
    assert background.start(PROJECT)

    assert [command[0] for command in commands] == [str(able), sys.executable]
