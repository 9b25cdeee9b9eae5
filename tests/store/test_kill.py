"""Writers killed at random moments leave a store in which every acknowledged change is there.

ONRECORD_TEST_ROUNDS=20 runs it longer.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

import pytest

from onrecord import files
from onrecord.settings import Settings
from onrecord.store import index_md
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from tests import aftermath
from tests.records import LATER, sample

WRITERS = 3
ROUNDS = 8 * int(os.environ.get("ONRECORD_TEST_ROUNDS", "1"))

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(os.name == "nt", reason="SIGKILL")]


def test_killed_writers_lose_nothing_and_leave_nothing_half_done(tmp_path):
    store = aftermath.found_store(tmp_path / "store")
    chance = random.Random(7)
    logs = []
    for round_number in range(ROUNDS):
        started = [
            (round_number * WRITERS + number, tmp_path / f"log-{round_number}-{number}") for number in range(WRITERS)
        ]
        writers = [
            subprocess.Popen(aftermath.command(store.root, log, number, number, 10**6), env=aftermath.environment())
            for number, log in started
        ]
        _wait_for_work(started)
        for writer in writers:
            time.sleep(chance.random() * 0.05)  # a random moment is the point; nothing is asserted about time
            writer.send_signal(signal.SIGKILL)
            writer.wait(timeout=60)
        logs += started
        aftermath.check(store, aftermath.read_logs(logs))

    assert aftermath.check(store, aftermath.read_logs(logs)) > ROUNDS * WRITERS


def _wait_for_work(started):
    """Wait until each writer has been acknowledged at least once."""
    while not all(log.exists() and log.stat().st_size for _, log in started):
        time.sleep(0.005)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's threads
@pytest.mark.parametrize("call", ["replace", "unlink", "fsync"])
@pytest.mark.parametrize("number", range(1, 7))
def test_a_rename_that_dies_at_any_step_happened_whole_or_not_at_all(tmp_path, call, number):
    store = Store(str(tmp_path / "store"))
    store.create(sample(id="old", title="Old", superseded_by="sessions-in-redis"))
    store.create(sample(supersedes=["old"]))
    before = _state(store)

    died = _die_at(call, number, lambda: _rename(store))
    files_seen = _state(store)
    store.recover()

    renamed = {"decisions/old.json": ("Old", (), "sessions-in-postgres"), "decisions/sessions-in-postgres.json": (
        "Sessions in Postgres", ("old",), "")}  # fmt: skip
    assert _state(store) in ((before, renamed) if died else (renamed,))
    assert any("sessions-in" in path for path in files_seen), "a reader must never find neither"
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []
    assert not store.is_interrupted


def _rename(store):
    writer = Writer(store, Settings(), now=LATER)
    writer.update("sessions-in-redis", {"title": "Sessions in Postgres"}, store.get("sessions-in-redis").hash)


def _state(store):
    """Return the fields of each record that a rename touches."""
    state = {}
    for entry in store.scan():
        assert isinstance(entry, Entry)
        state[entry.path] = (entry.memory.title, entry.memory.supersedes, entry.memory.superseded_by)
    return state


def _die_at(call, number, work):
    """Do some work in a child that dies as by SIGKILL before the n-th call of a system function; whether it died."""
    child = os.fork()
    if child == 0:
        _deadly(call, number)
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def _deadly(call, number):
    real, count = getattr(os, call), iter(range(1, 1_000))

    def deadly(*arguments, **options):
        if next(count) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    setattr(files.os, call, deadly)
