"""Programs run for their output, in bounded time."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from onrecord.git import process

pytestmark = pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="programs are written as shell scripts")


def script(folder: Path, text: str, name: str = "program") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def run(*commands: str, seconds: float = 120) -> list[process.ProcessResult]:
    return process.run_all([(command,) for command in commands], dict(os.environ), time.monotonic() + seconds)


def test_outputs_and_exit_codes_come_back_in_order(tmp_path: Path) -> None:
    good, bad = script(tmp_path, "echo one; echo no >&2", "good"), script(tmp_path, "echo two; exit 3", "bad")

    results = run(good, bad)

    assert [(result.status, result.output, result.reason) for result in results] == [
        (0, b"one\n", ""),
        (3, b"two\n", "exit code 3"),
    ]


def test_one_that_hangs_is_killed_with_its_children_and_the_other_still_counts(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hanging = script(tmp_path, f"sleep 600 & echo $! >{pids}; echo $$ >>{pids}; wait", "hanging")
    quick = script(tmp_path, f"until [ -s {pids} ]; do :; done; echo done", "quick")

    for seconds in (2, 20, 120):
        pids.unlink(missing_ok=True)
        results = run(hanging, quick, seconds=seconds)
        # The quick one ends only after the hanging one has started its child; a machine that stalls gets more time.
        if results[1].status == 0:
            break

    assert [(result.status, result.output) for result in results] == [(None, b""), (0, b"done\n")]
    assert results[0].reason == "did not answer in time"
    assert all(_is_gone(int(pid)) for pid in pids.read_text().split())


def test_one_that_closes_its_output_and_goes_on_is_killed_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = script(tmp_path, f"echo $$ >{pid}.new; mv {pid}.new {pid}; exec >&-; exec sleep 600")

    for seconds in (2, 20, 120):
        (result,) = run(command, seconds=seconds)
        # It may be killed before it has written its number, on a machine that stalls.
        if pid.exists():
            break

    assert result.status is None
    assert _is_gone(int(pid.read_text()))


def test_one_that_floods_is_cut_and_counts_as_done(tmp_path: Path) -> None:
    (result,) = run(script(tmp_path, "exec yes"))

    assert (result.status, len(result.output), result.reason) == (0, 1_000_000, "")


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)

    (result,) = run(str(broken))

    assert result.status is None
    assert result.reason.startswith("could not be started")


def test_programs_are_never_taken_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "echo mine", "git")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}relative")

    assert process.find("git") == ""


def test_no_file_handle_is_left_open(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("counts handles in /proc")
    before = len(os.listdir("/proc/self/fd"))

    run(script(tmp_path, "echo x"), "/no/such/program")

    assert len(os.listdir("/proc/self/fd")) == before


def _is_gone(pid: int) -> bool:
    """True if a process is dead, or a zombie that its new parent has not reaped yet."""
    for _ in range(30_000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.001)
    return False


class TestElsewhere:
    """Without `posix_spawn`, as on Windows. A program that hangs is not tested: `taskkill` exists only there."""

    @pytest.fixture(autouse=True)
    def _without_spawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "posix_spawn")

    def test_outputs_and_exit_codes_come_back_in_order(self, tmp_path: Path) -> None:
        good, bad = script(tmp_path, "echo one; echo no >&2", "good"), script(tmp_path, "echo two; exit 3", "bad")

        assert run(good, bad) == [process.ProcessResult(0, b"one\n"), process.ProcessResult(3, b"two\n", "exit code 3")]

    def test_no_more_is_taken_than_wanted(self, tmp_path: Path) -> None:
        command = (script(tmp_path, "echo 123456789"),)

        (result,) = process.run_all([command], dict(os.environ), time.monotonic() + 120, max_bytes=4)

        assert result == process.ProcessResult(0, b"1234")

    def test_what_cannot_be_started_and_what_comes_too_late(self, tmp_path: Path) -> None:
        (missing,) = run(str(tmp_path / "nowhere"))
        (late,) = run(script(tmp_path, "echo one"), seconds=-1)

        assert (missing.status, missing.output) == (None, b"")
        assert missing.reason.startswith("could not be started: ")
        assert late == process.ProcessResult(None, b"", "no time was left for it")
