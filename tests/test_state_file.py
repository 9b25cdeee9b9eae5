from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from onrecord import files, paths, state_file, timestamps
from onrecord.errors import Unwritable
from onrecord.state_file import StateFile
from tests import time_limit

SRC = str(Path(state_file.__file__).parents[1])


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "below" / "file")


def test_what_is_appended_is_read_back(path):
    file = StateFile(path, 1_000, "test")

    sizes = [file.append("one\n"), file.append("zwei ö\n")]

    assert sizes == [4, 12]
    assert (file.lines(), file.read()) == (["one", "zwei ö"], "one\nzwei ö\n".encode())


def test_only_the_user_may_read_it(path):
    StateFile(path, 1_000, "test").append("x\n")
    StateFile(path + "2", 1_000, "test").replace(b"x\n")

    assert [stat.S_IMODE(os.stat(name).st_mode) for name in (path, path + "2")] == [0o600, 0o600]
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_line_whose_writer_died_is_left_out(path):
    StateFile(path, 1_000, "test").append("one\ntw")

    assert StateFile(path, 1_000, "test").lines() == ["one"]


def test_one_that_grows_too_large_keeps_its_newer_half(path):
    file = StateFile(path, 100, "test")

    for number in range(50):
        file.append(f"line {number}\n")

    lines = file.lines()
    assert lines[-1] == "line 49"
    assert 3 < len(lines) < 14
    assert lines == [f"line {number}" for number in range(50 - len(lines), 50)]


def test_its_owner_may_decide_what_is_left_of_it(path):
    file = StateFile(path, 10, "test", shrink=lambda data: b"short\n")

    file.append("a long line\n")

    assert file.lines() == ["short"]


def test_one_that_cannot_be_read_when_it_is_cut_loses_nothing(path, monkeypatch):
    """The flaw of 0.3.0-dev: the history of a store, and with it `undo`, was cut down to nothing."""
    file = StateFile(path, 10, "test")
    file.append("short\n")

    with monkeypatch.context() as disk:
        disk.setattr(files, "read", failing)
        file.append("a long line\n")

    assert file.lines() == ["short", "a long line"]


def failing(path, max_bytes):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_reading_is_bounded(path):
    StateFile(path, 10_000, "test").append("x" * 5_000)

    assert len(StateFile(path, 10, "test").read()) == 20


@pytest.mark.parametrize("obstacle", ["folder", "fifo", "link to nothing"])
def test_what_is_no_file_is_reported_and_never_raises(path, obstacle):
    os.makedirs(os.path.dirname(path))
    if obstacle == "folder":
        os.mkdir(path)
    elif obstacle == "fifo":
        os.mkfifo(path)
    else:
        os.symlink("/nowhere/at/all", path)
    file = StateFile(path, 1_000, "ledger")

    with file:
        assert (file.append("x\n"), file.lines()) == (-1, [])

    assert {what for _, what, _ in state_file.recent_failures()} == {"ledger"}


def test_a_held_lock_delays_but_does_not_stop_a_writer(path):
    StateFile(path, 1_000, "test").append("one\n")
    handle = files.open_regular(path, os.O_RDWR)
    assert files.lock(handle, 0)

    StateFile(path, 1_000, "test").append("two\n")

    os.close(handle)
    assert StateFile(path, 1_000, "test").lines() == ["one", "two"]


def test_in_a_with_nobody_comes_between_reading_and_writing(path):
    def count() -> None:
        for _ in range(20):
            with StateFile(path, 10_000, "test") as file:
                file.append(f"{len(file.lines())}\n")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    time_limit.join(*threads)

    assert StateFile(path, 10_000, "test").lines() == [str(number) for number in range(80)]


def test_racing_processes_lose_no_line_while_it_is_cut(path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from onrecord.state_file import StateFile\n"
        "merge = lambda data: str(sum(map(int, data.split()))).encode() + b'\\n'\n"
        "file = StateFile(sys.argv[2], 200, 'test', merge)\n"
        "for _ in range(300): file.append('1\\n')"
    )
    running = [subprocess.Popen([sys.executable, "-S", "-E", "-c", code, SRC, path]) for _ in range(4)]

    assert [process.wait(timeout=60) for process in running] == [0] * 4
    assert sum(map(int, StateFile(path, 200, "test").read().split())) == 1_200


def _aged(name: str, days: float) -> Path:
    path = Path(paths.state_dir(), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    os.utime(path, (time.time() - days * 86_400,) * 2)
    return path


@pytest.mark.parametrize("name", state_file.LIFETIMES)
def test_what_is_past_its_lifetime_is_pruned(name):
    days = state_file.LIFETIMES[name]
    is_file = "." in name
    aged_files = [_aged(name if is_file else f"{name}/{past}", days + past) for past in ([1] if is_file else [1, -1])]

    state_file.prune()

    assert [path.exists() for path in aged_files] == ([False] if is_file else [False, True])
    assert state_file.recent_failures() == []


def test_pruning_is_done_once_a_day():
    os.makedirs(paths.state_dir())
    assert not state_file.is_pruned()

    state_file.prune()
    assert state_file.is_pruned()

    # A clock that was set back counts as another day.
    for away in (-86_401, 3_600):
        os.utime(os.path.join(paths.state_dir(), state_file.PRUNED), (time.time() + away,) * 2)
        assert not state_file.is_pruned()


def test_pruning_makes_no_folder_and_follows_no_link(tmp_path):
    state_file.prune()
    assert not os.path.exists(paths.state_dir())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("")
    os.utime(elsewhere, (1, 1))
    os.chmod(elsewhere, 0o644)
    os.makedirs(os.path.join(paths.state_dir(), "sessions"))
    os.symlink(elsewhere, os.path.join(paths.state_dir(), "sessions", "link"))
    os.symlink(elsewhere, os.path.join(paths.state_dir(), "link"))
    os.mkfifo(os.path.join(paths.state_dir(), "sessions", "fifo"))

    state_file.prune()

    assert elsewhere.exists() and stat.S_IMODE(elsewhere.stat().st_mode) == 0o644


def test_pruning_deletes_indexes_that_nobody_used_for_a_month():
    name = "0" * 32
    kept = [f"{name}.1-0.3.0.sqlite", "mine.sqlite", f"{'x' * 32}.sqlite", f"{name}.anchors", "python"]
    gone = [f"{name}.sqlite", f"{name}.words", *(f"{name}.1-0.2.9.{kind}" for kind in ("sqlite", "words", "building"))]
    for folder in (paths.state_dir(), paths.cache_dir()):
        os.makedirs(folder)
    for file in (*kept, *gone):
        Path(paths.cache_dir(), file).write_text("")
        os.utime(os.path.join(paths.cache_dir(), file), (1_000_000_000,) * 2)
    os.utime(os.path.join(paths.cache_dir(), kept[0]))

    state_file.prune()

    assert sorted(os.listdir(paths.cache_dir())) == sorted(kept)


def test_pruning_closes_to_others_what_an_older_version_left_open():
    index = os.path.join(paths.cache_dir(), "x.sqlite")
    for folder in (paths.state_dir(), paths.cache_dir()):
        os.makedirs(folder)
        os.chmod(folder, 0o755)
    Path(index).write_text("")
    os.chmod(index, 0o644)

    state_file.prune()

    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (paths.state_dir(), paths.cache_dir(), index)]
    assert modes == [0o700, 0o700, 0o600]


def test_on_windows_a_file_that_is_locked_is_shortened_in_place(path, monkeypatch):
    def refuses(source, target):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", refuses)
    monkeypatch.setattr(files, "IS_WINDOWS", True)
    file = StateFile(path, 20, "test")

    for number in range(6):
        file.append(f"line {number}\n")

    assert file.lines() == ["line 4", "line 5"]
    assert state_file.recent_failures() == []


def test_in_a_with_what_is_appended_after_a_replacement_is_kept(path):
    with StateFile(path, 1_000, "test") as file:
        file.append("one\n")
        file.replace(b"two\n")
        file.append("three\n")

    assert file.lines() == ["two", "three"]


def test_a_failure_in_the_log_can_be_read_again(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")

    state_file.log_failure("hook x", "ValueError: a\tb\nc\x00\x1b[2J")

    assert state_file.recent_failures() == [("2026-03-02T09:30:00Z", "hook x", "ValueError: a b c [2J")]


def test_what_the_work_went_without_is_logged_and_told_once(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")

    state_file.go_without("remotes", "cannot read x: Input/output error")
    state_file.go_without("remotes", "cannot read x: Input/output error")

    assert state_file.take_lacking() == ["cannot read x: Input/output error"]
    assert state_file.take_lacking() == []
    assert state_file.recent_failures() == [
        ("2026-03-02T09:30:00Z", "remotes", "cannot read x: Input/output error"),
    ]


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


def test_a_file_that_is_not_there_is_empty_and_no_failure(path):
    file = StateFile(path, 1_000, "test")

    assert (file.read(), file.lines(), file.read(is_strict=True)) == (b"", [], b"")
    assert state_file.recent_failures() == []


@pytest.mark.parametrize(("number", "is_fault"), [(errno.EIO, True), (errno.EACCES, False)])
def test_what_the_disk_does_not_give_is_an_error_only_where_that_matters(path, monkeypatch, number, is_fault):
    def fails(path, max_bytes):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "read", fails)
    file = StateFile(path, 1_000, "ledger")

    assert file.read() == b""
    if is_fault:
        with pytest.raises(Unwritable, match=os.strerror(number)):
            file.lines(is_strict=True)
    else:
        assert file.lines(is_strict=True) == []


def test_a_replacement_says_whether_it_was_made(path, tmp_path):
    assert StateFile(path, 1_000, "test").replace(b"one\n")
    (tmp_path / "file").write_text("")
    below = str(tmp_path / "file" / "below")

    assert not StateFile(below, 1_000, "ledger").replace(b"one\n")
    assert os.listdir(os.path.dirname(path)) == ["file"]
    ((_, task, error),) = state_file.recent_failures()
    assert (task, error.startswith(f"cannot write {below}: ")) == ("ledger", True)


def test_a_failure_of_the_log_itself_is_not_logged(path):
    os.makedirs(path)

    assert StateFile(path, 1_000, "").append("x\n") == -1
    assert state_file.recent_failures() == []


def test_where_there_are_no_locks_what_is_appended_is_written(path, monkeypatch):
    def fails(handle, seconds):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(files, "lock", fails)

    assert StateFile(path, 1_000, "test").append("one\n") == 4
    assert StateFile(path, 1_000, "test").lines() == ["one"]


def test_a_file_is_cut_only_above_its_limit(path):
    file = StateFile(path, 12, "test")

    sizes = [file.append(f"line{number}\n") for number in range(2)]
    assert (sizes, file.lines()) == ([6, 12], ["line0", "line1"])

    assert file.append("x\n") == 14
    assert file.lines() == ["x"]


def test_a_file_without_a_way_to_shrink_grows(path):
    file = StateFile(path, 4, "test", None)
    file.append("one\n")
    file.append("two\n")

    assert file.lines() == ["one", "two"]


def test_the_last_twenty_failures_are_read_each_cut_to_600_characters():
    for number in range(21):
        state_file.log_failure("hook", f"failure {number}")
    state_file.log_failure("t" * 601, "e" * 601)
    state_file.log_failure("t" * 600, "e" * 600)

    failures = state_file.recent_failures()

    assert [error for _, _, error in failures[:18]] == [f"failure {number}" for number in range(3, 21)]
    assert [(task, error) for _, task, error in failures[18:]] == [("t" * 600, "e" * 600)] * 2
    assert len(state_file.recent_failures(2)) == 2


def test_a_file_below_a_folder_of_the_state_folder(home):
    assert state_file.state_path("usage/sessions") == str(home / ".local/state/onrecord/usage/sessions")
    assert state_file.log_file() == str(home / ".local/state/onrecord/failures.log")


def test_pruning_says_what_it_could_not_delete(monkeypatch):
    file = _aged("sessions/old", 31)

    def fails(path):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "unlink", fails)
    state_file.prune()

    assert [row[1:] for row in state_file.recent_failures()] == [
        ("prune", f"cannot delete {file}: [Errno 5] Input/output error")
    ]


def test_pruning_leaves_the_mode_of_what_is_private_already(monkeypatch):
    file = _aged("sessions/new", 1)
    file.chmod(0o400)
    shared = _aged("other", 1)
    shared.chmod(0o755)

    state_file.prune()

    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, shared)] == [0o400, 0o700]


def test_a_file_that_is_replaced_while_its_lock_is_waited_for_is_opened_again(path, monkeypatch):
    """Another process shortened the file: what is appended to the old one would be lost."""
    StateFile(path, 1_000, "test").append("one\n")
    lock, replaced = files.lock, []

    def lock_late(handle, seconds):
        if len(replaced) < 5:
            replaced.append(handle)
            StateFile(path, 1_000, "other").replace(f"replaced {len(replaced)} times\n".encode())
        return lock(handle, seconds)

    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with monkeypatch.context() as patch:
        patch.setattr(files, "lock", lock_late)
        StateFile(path, 1_000, "test").append("two\n")

    assert StateFile(path, 1_000, "test").lines() == ["replaced 5 times", "two"]
    assert len(before) == (len(os.listdir("/proc/self/fd")) if before else 0)


def test_a_replacement_within_a_lock_leaves_one_file_open(path):
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with StateFile(path, 1_000, "test") as file:
        for _ in range(3):
            assert file.replace(b"x\n")
        inside = os.listdir("/proc/self/fd") if before else []

    assert len(inside) - len(before) == (1 if before else 0)
    assert len(os.listdir("/proc/self/fd") if before else []) == len(before)


def test_the_newer_half_begins_with_a_whole_line():
    assert state_file.newer_half(b"one\ntwo\nthree\n") == b"three\n"
    assert state_file.newer_half(b"one\ntwo\nsix\nten\n") == b"ten\n"
    assert state_file.newer_half(b"") == b""


def test_it_is_cheap_to_import():
    program = "import sys; sys.path.insert(0, sys.argv[1]); import onrecord.state_file; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program, SRC], capture_output=True, text=True, check=True, timeout=120
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
