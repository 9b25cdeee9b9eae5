"""Reading files and folders: what is missing, what the disk does not give, and what may not be followed."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from types import SimpleNamespace

import pytest

from onrecord import files, paths, state_file
from onrecord.errors import Locked, UnsafePath, Unwritable

posix = pytest.mark.skipif(os.name == "nt", reason="links, permissions and errors of POSIX")
pytestmark = posix

FAULTS = ["EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT", "EROFS", "ENOLCK", "ESTALE", "ETIMEDOUT"]
ABSENT = ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]


def _error(name: str) -> OSError:
    number = getattr(errno, name)
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("name", [*FAULTS, *ABSENT, "EACCES", "EPERM", "EISDIR", "EEXIST"])
def test_errors_of_the_machine_and_errors_that_say_that_nothing_is_there(name):
    assert (files.is_fault(_error(name)), files.is_absent(_error(name))) == (name in FAULTS, name in ABSENT)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("0123456789")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "folder link").symlink_to(tmp_path / "folder")
    (tmp_path / "broken").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "is_there", "is_regular", "is_folder", "is_file"),
    [
        ("file", True, True, False, True),
        ("link", True, True, False, True),
        ("folder", True, False, True, False),
        ("folder link", True, False, True, False),
        ("broken", True, False, False, False),
        ("loop", True, False, False, False),
        ("fifo", True, False, False, False),
        ("nothing", False, False, False, False),
        ("file/below", False, False, False, False),
        ("x" * 300, False, False, False, False),
        ("a\0b", False, False, False, False),
    ],
)
def test_what_has_a_name(tree, name, is_there, is_regular, is_folder, is_file):
    path = f"{tree}/{name}"

    assert (files.is_there(path), files.is_regular(path), files.is_folder(path)) == (is_there, is_regular, is_folder)
    assert files.is_file(path) is is_file
    assert (files.status(path) is not None) is (is_regular or is_folder or name == "fifo")


@pytest.mark.parametrize("ask", [files.status, files.is_there, files.is_regular, files.is_folder])
def test_what_the_disk_does_not_show_is_an_error_and_not_absent(monkeypatch, ask):
    def fails(path):
        raise _error("EIO")

    monkeypatch.setattr(os, "stat", fails)
    monkeypatch.setattr(os, "lstat", fails)

    with pytest.raises(Unwritable) as caught:
        ask("/x")

    assert (caught.value.message, caught.value.fix) == (
        "cannot read /x: Input/output error",
        "check the disk, and the type and the permissions of this path",
    )


def test_the_names_in_a_folder(tree, monkeypatch):
    assert files.names_in(str(tree)) == ["broken", "fifo", "file", "folder", "folder link", "link", "loop"]
    assert [files.names_in(f"{tree}/{name}") for name in ("nothing", "file")] == [[], []]

    def fails(path):
        raise _error("EACCES")

    monkeypatch.setattr(os, "listdir", fails)
    with pytest.raises(Unwritable, match=r"cannot read .*: Permission denied"):
        files.names_in(str(tree))


@pytest.mark.parametrize(("name", "raises"), [("EIO", True), ("EACCES", False)])
def test_a_walk_leaves_out_what_may_not_be_listed_and_stops_where_the_disk_fails(tree, monkeypatch, name, raises):
    scandir = os.scandir

    def fails_below(path):
        if str(path).endswith("folder"):
            raise OSError(getattr(errno, name), "reason", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", fails_below)

    if raises:
        with pytest.raises(Unwritable, match=f"cannot read {tree}/folder: reason"):
            list(files.walk(str(tree)))
    else:
        assert [folder for folder, _, _ in files.walk(str(tree))] == [str(tree)]


def test_a_file_that_is_changed_and_written_again_is_read_or_an_error(tree):
    assert files.read_if_there(f"{tree}/file", 4) == b"0123"
    assert files.read_if_there(f"{tree}/nothing", 4) == b""
    with pytest.raises(Unwritable, match=r"cannot read .*/fifo: not a regular file"):
        files.read_if_there(f"{tree}/fifo", 4)


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR])
def test_a_link_is_read_and_never_written(tree, flags):
    os.close(files.open_regular(f"{tree}/link", os.O_RDONLY))

    with pytest.raises(OSError) as caught:
        files.open_regular(f"{tree}/link", flags)

    assert caught.value.errno == errno.ELOOP


def test_a_file_that_is_opened_new_is_the_users_alone(tmp_path):
    before = os.umask(0)
    try:
        os.close(files.open_regular(str(tmp_path / "new"), os.O_WRONLY | os.O_CREAT))
    finally:
        os.umask(before)

    assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == 0o600


@pytest.mark.parametrize("path", ["file", "folder/../file", "./file", "link", "folder link/../file", "folder/inner"])
def test_a_file_in_a_store_is_read_whatever_way_leads_to_it(tree, path):
    (tree / "folder" / "inner").write_text("0123456789")

    assert files.read_inside(str(tree), path, 3) == b"012"


@pytest.mark.parametrize("path", ["out", "out folder/secret", "../secret", "folder/../../secret", "/etc/passwd"])
def test_a_file_out_of_a_store_is_not_read(tmp_path, path):
    store = tmp_path / "store"
    (store / "folder").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (store / "out").symlink_to(tmp_path / "secret")
    (store / "out folder").symlink_to(tmp_path)

    with pytest.raises(UnsafePath) as caught:
        files.read_inside(str(store), path, 10)

    assert caught.value.message == f"{path!r} leads out of {store}"
    assert caught.value.fix == "remove the link, or keep the file in the store"


@pytest.mark.parametrize("path", ["nothing", "folder", "fifo", "file/below"])
def test_a_file_in_a_store_that_cannot_be_read_is_an_error_of_the_system(tree, path):
    with pytest.raises(OSError):
        files.read_inside(str(tree), path, 10)


@pytest.mark.parametrize(
    ("count", "system", "waits"), [(49, "linux", True), (50, "linux", False), (50, "darwin", True)]
)
def test_many_files_are_synced_at_once_where_that_waits_for_the_disk(monkeypatch, count, system, waits):
    monkeypatch.setattr(sys, "platform", system)

    assert files.waits_for_each(count) is waits


@pytest.mark.parametrize(("mode", "expected"), [(None, 0o644), (0o600, 0o600), (0o755, 0o755)])
def test_a_file_is_written_with_a_mode(tmp_path, mode, expected):
    before = os.umask(0o022)
    try:
        assert files.write(str(tmp_path / "a"), b"x", mode=mode)
    finally:
        os.umask(before)

    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == expected


def test_a_file_with_the_longest_name_can_be_written(tmp_path):
    assert files.write(str(tmp_path / ("x" * 255)), b"x", lasting=False)


@pytest.mark.parametrize(("is_private", "expected"), [(False, 0o755), (True, 0o700)])
def test_a_folder_is_made_with_all_its_parents_private_or_not(tmp_path, is_private, expected):
    before = os.umask(0o022)
    try:
        files.make_folder(str(tmp_path / "a" / "b"), is_private=is_private)
        files.make_folder(str(tmp_path / "a" / "b"), is_private=not is_private)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)

    assert [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("a", "a/b")] == [expected] * 2


def test_a_lock_in_a_folder_of_the_user_is_private(home):
    lock = os.path.join(paths.user_store(), ".lock")

    with files.locked(lock):
        assert stat.S_IMODE(os.stat(lock).st_mode) == 0o600


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Unwritable, match="cannot write"), files.locked(str(tmp_path / ".lock")):
        pytest.fail("followed")

    assert not (tmp_path / "elsewhere").exists()


def test_what_a_lock_that_is_held_says(tmp_path):
    lock = str(tmp_path / ".lock")
    with files.locked(lock), pytest.raises(Locked) as caught, files.locked(lock, seconds=0.05):
        pytest.fail("two hold it")

    assert caught.value.message == f"another process has held {lock} for 0.05 seconds"
    assert caught.value.fix == "wait for it to finish and try again; nothing was written"


@pytest.mark.parametrize("is_free", [True, False])
def test_on_windows_a_byte_far_behind_the_end_is_locked(tmp_path, monkeypatch, is_free):
    calls = []

    def locking(handle, mode, count):
        calls.append((os.lseek(handle, 0, os.SEEK_CUR), mode, count))
        if not is_free:
            raise PermissionError(13, "locked")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    handle = os.open(tmp_path / ".lock", os.O_RDWR | os.O_CREAT)

    assert files.lock(handle, 0) is is_free
    assert calls[0] == (1 << 40, 2, 1)
    os.close(handle)


def test_a_temporary_folder_is_deleted_unless_it_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with files.temporary_folder("gone-") as gone:
        assert os.path.basename(gone).startswith("gone-")
    with files.temporary_folder("kept-", is_kept=True) as kept:
        pass

    assert (os.path.exists(gone), os.listdir(tmp_path)) == (False, [os.path.basename(kept)])


def test_a_temporary_folder_that_cannot_be_made_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))

    with pytest.raises(Unwritable) as caught, files.temporary_folder("x-"):
        pytest.fail("made")

    assert caught.value.message == "cannot make a temporary folder: No such file or directory"
    assert caught.value.fix == "check the disk's space, or set TMPDIR to a folder of yours"


def test_a_name_that_the_disk_did_not_confirm_is_in_the_log(tmp_path, monkeypatch):
    real = os.open

    def fails(path, *rest, **named):
        if path == str(tmp_path):
            raise _error("EMFILE")
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", fails)

    assert not files.write(str(tmp_path / "a"), b"x")
    assert [row[1:] for row in state_file.recent_failures()] == [
        ("disk", f"did not confirm the new names in {tmp_path}: Too many open files")
    ]


def test_what_a_write_that_fails_says(tmp_path):
    (tmp_path / "taken").mkdir()

    with pytest.raises(Unwritable) as caught:
        files.write(str(tmp_path / "taken"), b"x")

    assert caught.value.message == f"cannot write {tmp_path}/taken: Is a directory"
    assert caught.value.fix == "check the disk's space and the folder's permissions"
