from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading

import pytest

import onrecord
from onrecord import files, paths, state_file
from onrecord.errors import Locked, UnsafePath, Unwritable
from onrecord.record import compose
from onrecord.store.writer import Writer
from tests import time_limit

posix = pytest.mark.skipif(os.name == "nt", reason="permissions, locks and folders of POSIX")


def test_a_file_is_replaced_whole_and_nothing_is_left_over(tmp_path):
    target = tmp_path / "new" / "file.json"

    files.write(str(target), b"one")
    files.write(str(target), b"two", lasting=False)

    assert target.read_bytes() == b"two"
    assert os.listdir(target.parent) == ["file.json"]


def test_on_windows_a_file_that_is_being_read_is_replaced_when_the_reader_is_done(tmp_path, monkeypatch):
    target, tries, replace = tmp_path / "file", [], os.replace

    def refuses_twice(source, path):
        tries.append(path)
        if len(tries) < 3:
            raise PermissionError(13, "The process cannot access the file")
        replace(source, path)

    monkeypatch.setattr(os, "replace", refuses_twice)
    with pytest.raises(Unwritable):
        files.write(str(target), b"elsewhere a refusal is final")
    tries.clear()
    monkeypatch.setattr(files, "IS_WINDOWS", True)
    files.write(str(target), b"new")

    assert (target.read_bytes(), len(tries)) == (b"new", 3)


def test_on_windows_a_file_that_stays_open_is_an_error_in_the_end(tmp_path, monkeypatch):
    def refuses(source, path):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", refuses)
    monkeypatch.setattr(files, "IS_WINDOWS", True)
    monkeypatch.setattr(files, "_REPLACE_SECONDS", 0.05)

    with pytest.raises(Unwritable, match="cannot access"):
        files.write(str(tmp_path / "file"), b"new")
    assert os.listdir(tmp_path) == []


def test_a_write_that_fails_says_which_file_and_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()

    with pytest.raises(Unwritable) as caught:
        files.write(str(tmp_path / "taken"), b"x")

    assert str(tmp_path / "taken") in caught.value.message
    assert os.listdir(tmp_path) == ["taken"]


def test_a_file_where_a_folder_should_be_is_unwritable(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Unwritable):
        files.write(str(tmp_path / "file" / "below"), b"x")
    with pytest.raises(Unwritable), files.locked(str(tmp_path / "file" / ".lock")):
        pass


def test_removing_twice_is_no_error_but_removing_a_folder_is(tmp_path):
    (tmp_path / "file").write_text("")

    files.remove(str(tmp_path / "file"))
    files.remove(str(tmp_path / "file"))

    with pytest.raises(Unwritable):
        files.remove(str(tmp_path))


@pytest.mark.parametrize("path", ["a.json", "decisions/a.json", "./x/../a.json", ""])
def test_what_lies_inside(tmp_path, path):
    assert files.inside(str(tmp_path), path) == os.path.realpath(tmp_path / path)


@pytest.mark.parametrize("path", ["..", "../a", "a/../../b", "/etc/passwd", "link/x", "a\0b"])
def test_what_leads_out(tmp_path, path):
    root = tmp_path / "root"
    root.mkdir()
    os.symlink(tmp_path, root / "link")

    with pytest.raises(UnsafePath):
        files.inside(str(root), path)


def test_a_sibling_whose_name_starts_the_same_is_outside(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store-2").mkdir()

    with pytest.raises(UnsafePath):
        files.inside(str(tmp_path / "store"), "../store-2/x")


def test_a_held_lock_is_never_ignored(tmp_path):
    lock = str(tmp_path / ".lock")

    with files.locked(lock), pytest.raises(Locked) as caught, files.locked(lock, seconds=0.01):
        pytest.fail("two hold it")

    assert caught.value.code == "LOCKED"
    with files.locked(lock, seconds=0):
        pass


def test_a_lock_is_waited_for(tmp_path):
    lock = str(tmp_path / ".lock")
    order: list[str] = []

    def second() -> None:
        with files.locked(lock, seconds=60):
            order.append("second")

    with files.locked(lock):
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    time_limit.join(thread)

    assert order == ["first", "second"]


def test_a_lock_is_released_when_its_holder_is_killed(tmp_path):
    lock = str(tmp_path / ".lock")
    code = (
        "import sys; from onrecord import files\n"
        "with files.locked(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(files.__file__)))}
    holder = subprocess.Popen(
        [sys.executable, "-c", code, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert holder.stdout.readline() == b"held\n"

    with pytest.raises(Locked), files.locked(lock, seconds=0):
        pytest.fail("two hold it")
    holder.kill()
    holder.communicate(timeout=60)

    with files.locked(lock, seconds=0):
        pass


def test_leftovers_are_known_by_their_name():
    assert files.is_leftover(".tmp-123-456-x.json")
    assert not files.is_leftover("x.json")


@posix
def test_what_lies_outside_of_repositories_is_the_users_alone(home, tmp_path):
    (tmp_path / "project").mkdir()
    project = onrecord.open(str(tmp_path / "project"))
    content = {"context": "c", "decision": "d", "rationale": ["r"]}
    project.save("decision", {"title": "Jobs", **content})
    Writer(project.user, project.settings).save(compose.compose("decision", {"title": "Mine", **content}))
    project.search("jobs")
    state_file.log_failure("test", "x")

    outside = [path for base in (paths.user_store(), paths.cache_dir(), paths.state_dir()) for path in _below(base)]

    assert len(outside) >= 8
    assert {path: oct(mode) for path, mode in outside if mode & 0o077} == {}


def _below(base):
    for folder, _, names in os.walk(base):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            yield path, stat.S_IMODE(os.stat(path).st_mode)


@posix
def test_in_a_repository_the_users_mask_decides(tmp_path):
    before = os.umask(0o022)
    try:
        files.write(str(tmp_path / "store" / "a.json"), b"{}")
    finally:
        os.umask(before)

    assert [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("store", "store/a.json")] == [0o755, 0o644]


@posix
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EIO, errno.ENOSYS])
def test_a_file_system_without_locks_is_a_clear_error(tmp_path, monkeypatch, number):
    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", fail)

    with pytest.raises(Unwritable, match=r"cannot lock .*/\.lock: ") as caught, files.locked(str(tmp_path / ".lock")):
        pass
    assert "nothing was written" in caught.value.fix


@posix
def test_the_folder_is_synced_after_a_rename_that_must_last(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)))

    files.write(str(tmp_path / "a"), b"x")
    files.write(str(tmp_path / "b"), b"x", lasting=False)

    assert synced == [False, True]


@posix
@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synced_is_no_failure_to_write(tmp_path, monkeypatch, number, fails):
    def sync(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", sync)

    assert files.write(str(tmp_path / "a"), b"x") is not fails
    assert (tmp_path / "a").read_bytes() == b"x"
