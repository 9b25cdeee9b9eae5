"""Many processes change one store at once, and nothing that was acknowledged is lost.

ONRECORD_TEST_ROUNDS=20 runs it longer.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from tests import aftermath

WRITERS = 8
STEPS = 50 * int(os.environ.get("ONRECORD_TEST_ROUNDS", "1"))

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(os.name == "nt", reason="the lock is tested where flock is")]


def test_eight_processes_lose_nothing(tmp_path):
    store = aftermath.found_store(tmp_path / "store")
    logs = [(number, tmp_path / f"log-{number}") for number in range(WRITERS)]

    writers = [
        subprocess.Popen(aftermath.command(store.root, log, number, number, STEPS), env=aftermath.environment())
        for number, log in logs
    ]

    assert [writer.wait(timeout=60) for writer in writers] == [0] * WRITERS
    acknowledged = aftermath.check(store, aftermath.read_logs(logs))
    assert acknowledged > WRITERS * STEPS / 2
    assert all(log.lines[-1] == ["finished"] for log in aftermath.read_logs(logs))
