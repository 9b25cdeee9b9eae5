from __future__ import annotations

import subprocess
import sys

from onrecord import failure_log, paths, timestamps


def test_a_trace_can_be_read_again(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")

    failure_log.leave("hook x", "ValueError: a\tb\nc\x00\x1b[2J")

    assert failure_log.recent() == [("2026-03-02T09:30:00Z", "hook x", "ValueError: a b c [2J")]


def test_half_a_surrogate_pair_is_no_obstacle():
    failure_log.leave("hook", "bad \udcff name")

    assert [error for _, _, error in failure_log.recent()] == ["bad \\udcff name"]


def test_the_log_is_bounded_and_the_newest_stay(monkeypatch):
    monkeypatch.setattr(failure_log, "LARGEST", 2_000)
    for number in range(500):
        failure_log.leave("hook", f"failure {number}")

    with open(failure_log.log_file(), "rb") as file:
        assert 900 < len(file.read()) <= 2_100
    assert [error for _, _, error in failure_log.recent(3)] == ["failure 497", "failure 498", "failure 499"]


def test_a_state_folder_that_cannot_be_made_raises_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(tmp_path / "file" / "state"))

    failure_log.leave("hook", "x")

    assert failure_log.recent() == []


def test_a_damaged_log_is_read_as_far_as_it_goes():
    failure_log.leave("hook", "good")
    with open(failure_log.log_file(), "ab") as file:
        file.write(b"\xff\xfe no tabs\n\n")

    assert [error for _, _, error in failure_log.recent()] == ["good"]


def test_it_is_cheap_to_import():
    program = "import sys; sys.path.insert(0, sys.argv[1]); import onrecord.failure_log; print(*sys.modules)"
    source = paths.__file__.rsplit("/onrecord/", 1)[0]
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program, source], capture_output=True, text=True, check=True
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
