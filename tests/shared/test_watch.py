"""`onrecord sync --watch`: it tells what each sync did, and ends with whoever started it."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from onrecord.cli import main, sync
from onrecord.errors import Offline
from onrecord.search import index
from onrecord.shared import remotes
from onrecord.shared.replicas import Replica
from tests.cli.conftest import BIN
from tests.records import raw
from tests.shared.hostile_repository import HostileRepository, Node, folded
from tests.shared.machines import MemoryRemote, MemoryTransport
from tests.time_limit import PATIENCE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")


@pytest.fixture
def shared(tmp_path: Path) -> HostileRepository:
    repository = HostileRepository(tmp_path / "memory.git")
    remotes.add("platform", repository.url)
    _write(repository, "first")
    return repository


def _write(repository: HostileRepository, *ids: str) -> None:
    repository.commit(folded([(f"decisions/{id}.json".encode(), Node(json.dumps(raw(id=id)).encode())) for id in ids]))


def _heed_signals() -> None:
    """As in a terminal, even if the tests run in the background, where a shell lets programs ignore some."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def watching(shared: HostileRepository, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    words = (sys.executable, str(BIN), "sync", "--watch", "--every=1")
    pipe = subprocess.PIPE
    streams = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "bufsize": 0}
    with subprocess.Popen(words, cwd=tmp_path, preexec_fn=_heed_signals, **streams) as process:
        yield process
        process.kill()


def _line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the next line; fail if none comes."""
    assert process.stdout and select.select([process.stdout], [], [], PATIENCE)[0]
    return process.stdout.readline()


def test_it_tells_what_came_and_ends_with_the_pipe_at_its_input(shared, watching):
    assert _line(watching) == b"platform: pulled 1\n"
    _write(shared, "first", "second", "third")
    assert _line(watching) == b"platform: pulled 2\n"

    assert watching.communicate(timeout=PATIENCE) == (b"", b"")
    assert watching.returncode == 0


def test_what_came_is_in_the_index_when_it_is_told(shared, watching):
    _line(watching)

    with closing(sqlite3.connect(index.file_of(Replica("platform").base))) as connection:
        assert connection.execute("SELECT records FROM total").fetchone() == (1,)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it(watching, number):
    _line(watching)
    watching.send_signal(number)

    assert (watching.wait(timeout=PATIENCE), watching.stdout.read(), watching.stderr.read()) == (0, b"", b"")


def test_the_same_trouble_is_told_once_and_so_is_its_end():
    there, is_down = MemoryRemote(), [True]

    def connect(remote: remotes.Remote) -> MemoryTransport:
        if is_down[0]:
            raise Offline("cannot be reached")
        return MemoryTransport(there)

    watched = sync._WatchedRemote(remotes.add("platform", "/srv/memory.git"), connect)
    outcomes = [watched.sync(), watched.sync()]
    is_down[0] = False
    outcomes += [watched.sync(), watched.sync()]

    assert [type(outcome).__name__ for outcome in outcomes] == ["Offline", "NoneType", "SyncResult", "NoneType"]


def test_what_is_not_synced_is_told_once():
    there = MemoryRemote()
    there.write("decisions/use-uv.json", b"broken")
    watched = sync._WatchedRemote(remotes.add("platform", "/srv/memory.git"), lambda remote: MemoryTransport(there))

    outcomes = [watched.sync(), watched.sync()]
    there.write("decisions/use-ruff.json", b"broken")
    outcomes += [watched.sync(), watched.sync()]

    assert [len(outcome.refused) if outcome else None for outcome in outcomes] == [1, None, 2, None]


@pytest.mark.parametrize("every", ["0", "0.5", "-1", "nan", "inf"])
def test_a_time_that_makes_no_sense_is_refused(every, capsys):
    assert main(["sync", "--watch", f"--every={every}"]) == 2

    assert f"--every must be 1 to 86400, not {every}\n" in capsys.readouterr().err
