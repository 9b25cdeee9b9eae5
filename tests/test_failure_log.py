from __future__ import annotations

import subprocess
import sys

from onrecord import paths, state_file, timestamps


def test_a_trace_can_be_read_again(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")

    state_file.log_failure("hook x", "ValueError: a\tb\nc\x00\x1b[2J")

    assert state_file.recent_failures() == [("2026-03-02T09:30:00Z", "hook x", "ValueError: a b c [2J")]


def test_half_a_surrogate_pair_is_no_obstacle():
    state_file.log_failure("hook", "bad \udcff name")

    assert [error for _, _, error in state_file.recent_failures()] == ["bad \\udcff name"]


def test_the_log_is_bounded_and_the_newest_stay(monkeypatch):
    monkeypatch.setattr(state_file, "MAX_LOG_BYTES", 2_000)
    for number in range(500):
        state_file.log_failure("hook", f"failure {number}")

    with open(state_file.log_file(), "rb") as file:
        assert 900 < len(file.read()) <= 2_100
    assert [error for _, _, error in state_file.recent_failures(3)] == ["failure 497", "failure 498", "failure 499"]


def test_a_state_folder_that_cannot_be_made_raises_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(tmp_path / "file" / "state"))

    state_file.log_failure("hook", "x")

    assert state_file.recent_failures() == []


def test_a_damaged_log_is_read_as_far_as_it_goes():
    state_file.log_failure("hook", "good")
    with open(state_file.log_file(), "ab") as file:
        file.write(b"\xff\xfe no tabs\n\n")

    assert [error for _, _, error in state_file.recent_failures()] == ["good"]


def test_it_is_cheap_to_import():
    program = "import sys; sys.path.insert(0, sys.argv[1]); import onrecord.state_file; print(*sys.modules)"
    source = paths.__file__.rsplit("/onrecord/", 1)[0]
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program, source], capture_output=True, text=True, check=True, timeout=120
    )

    heavy = {
        "re",
        "json",
        "typing",
        "collections",
        "datetime",
        "hashlib",
        "pathlib",
        "argparse",
        "subprocess",
        "logging",
    }
    assert heavy & set(done.stdout.split()) == set()
