"""Changes to config files: what is shown of them, what is refused, and what a failure leaves."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from onrecord import files
from onrecord.errors import BadInput, Changed, OnrecordError, Unwritable
from onrecord.hosts import config_file
from onrecord.hosts.config_file import FileChange

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the permissions of POSIX systems")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (None, "a\nb\n", ["@@ line 1 @@", "+a", "+b"]),
        ("a\nb\n", None, ["@@ line 1 @@", "-a", "-b"]),
        ("a\nb\n", "a\nb\n", []),
        ("one\ntwo\nthree\n", "one\n2\nthree\n", ["@@ line 2 @@", "-two", "+2"]),
        ("one\ntwo\nthree\n", "one\nthree\n", ["@@ line 2 @@", "-two"]),
        ('{"key": "secret"}', '{"key": "secret", "hooks": {}}', ["@@ line 1 @@", '+…, "hooks": {}']),
        ('{"hooks": {}, "key": "secret"}', '{"key": "secret"}', ["@@ line 1 @@", '-…"hooks": {}, ']),
        ('  "a": 1', '  "b": 1', ["@@ line 1 @@", '-  "a"', '+  "b"']),
        ('x "secret" y', 'u "secret" v', ["@@ line 1 @@", "-x … y", "+u … v"]),
        ("x 1 y", "u 1 v", ["@@ line 1 @@", "-x 1 y", "+u 1 v"]),
        ("a\nb\nc\nd\n", "A\nb\nc\nD\n", ["@@ line 1 @@", "-a", "+A", "@@ line 4 @@", "-d", "+D"]),
    ],
)
def test_only_what_differs_is_shown(before: str | None, after: str | None, lines: list[str]):
    old, new = (None if text is None else text.encode() for text in (before, after))

    diff = FileChange("/h/settings.json", old, new).diff()

    assert diff == "".join(f"{line}\n" for line in ("--- /h/settings.json", "+++ /h/settings.json", *lines))


@pytest.mark.parametrize(("count", "is_exact"), [(1_000, True), (1_001, False)])
def test_more_than_a_thousand_equal_lines_are_not_compared_each_with_each(count: int, is_exact: bool):
    text = "same\n" * count

    diff = FileChange("p", text.encode(), ("first\n" + text + "last\n").encode()).diff()

    assert "+first\n" in diff
    assert "+last\n" in diff
    assert (len(diff.splitlines()) < 10) is is_exact


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("// Written by `onrecord connect pi`", True),
        ("// Written by `recollect connect pi`", True),
        ("// Written by hand", False),
        ("", False),
    ],
)
def test_a_file_is_ours_if_it_says_so(text: str, is_own: bool):
    assert FileChange("p", b"theirs", text.encode() or None).is_own_file is is_own
    assert FileChange("p", text.encode(), None).is_own_file is is_own


def test_a_change_is_needed_if_the_content_differs():
    contents = (None, b"", b"a")

    needed = [(before, after) for before in contents for after in contents if FileChange("p", before, after).is_needed]

    assert needed == [(before, after) for before in contents for after in contents if before is not after]


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (None, lambda text: text, None),
        (None, lambda text: text + "a", b"a"),
        (b"a", lambda text: "", None),
        (b"a", lambda text: " \n", None),
        (b" \n", lambda text: "", b""),
        (b" \n", lambda text: text, b" \n"),
        (b"\xef\xbb\xbfa", lambda text: text + "b", b"\xef\xbb\xbfab"),
        (b"\xef\xbb\xbfa", lambda text: "", None),
        ("ü".encode(), lambda text: text * 2, "üü".encode()),
    ],
)
def test_an_edit_makes_a_change_of_the_whole_file(tmp_path: Path, before, edit: Callable[[str], str], after):
    path = tmp_path / "settings.json"
    if before is not None:
        path.write_bytes(before)

    assert config_file.edited(str(path), edit) == FileChange(str(path), before, after)


def _refuse(text: str) -> str:
    raise ValueError("it has a comma too many")


@pytest.mark.parametrize(
    ("data", "edit", "reason"),
    [
        (b"\xff", str, "not UTF-8 text"),
        (b"a", _refuse, "it has a comma too many"),
        (b"a", lambda text: text + "\ud800", None),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_reason(tmp_path: Path, data: bytes, edit, reason: str | None):
    path = tmp_path / "settings.json"
    path.write_bytes(data)

    with pytest.raises(BadInput) as caught:
        config_file.edited(str(path), edit)

    start = f"{path} cannot be changed: "
    assert caught.value.message == start + reason if reason else caught.value.message.startswith(start)
    assert caught.value.fix == "correct it by hand, or remove the entry by hand; nothing was written"


def test_a_folder_in_the_place_of_a_config_is_refused(tmp_path: Path):
    with pytest.raises(BadInput) as caught:
        config_file.read(str(tmp_path))

    assert caught.value.message.startswith(f"cannot read {tmp_path}: ")
    assert caught.value.fix == "check what it is and who may read it"


def carry_out(path: Path, before: bytes | None, after: bytes | None, inside: str = "") -> None:
    config_file.carry_out(FileChange(str(path), before, after), inside)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_keeps_its_permissions(tmp_path: Path, mode: int):
    path = tmp_path / "settings.json"
    path.write_bytes(b"a")
    path.chmod(mode)

    carry_out(path, b"a", b"b")

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"b", mode)


def test_folders_that_a_removal_leaves_empty_go_up_to_the_home(home: Path):
    path = home / "a" / "b" / "c" / "settings.json"
    for after in (b"a", None):
        path.parent.mkdir(parents=True, exist_ok=True)
        carry_out(path, None if after else b"a", after)

    assert os.listdir(home) == []
    assert home.exists()


def test_a_folder_with_another_file_stays(home: Path):
    path = home / "a" / "b" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a")
    (home / "a" / "theirs").touch()

    carry_out(path, b"a", None)

    assert os.listdir(home / "a") == ["theirs"]


def test_folders_outside_of_the_home_stay_even_if_they_are_empty(home: Path, tmp_path: Path):
    beside = home.with_name(home.name + "-beside")
    for folder in (tmp_path / "project", beside):
        folder.mkdir()
        (folder / "settings.json").write_bytes(b"a")
        carry_out(folder / "settings.json", b"a", None)
        assert folder.exists()
    beside.rmdir()


@pytest.mark.parametrize("now", [b"by hand", None])
def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path, now: bytes | None):
    path = tmp_path / "settings.json"
    if now is not None:
        path.write_bytes(now)

    with pytest.raises(Changed) as caught:
        carry_out(path, b"a", b"b")

    assert caught.value.message == f"{path} was changed while this command ran"
    assert caught.value.fix == "look at what changed, and give the command again; this file was not written"
    assert (path.read_bytes() if path.exists() else None) == now


def test_a_file_that_may_not_be_written_is_named_with_its_permissions(tmp_path: Path, monkeypatch):
    path = tmp_path / "settings.json"
    path.write_bytes(b"a")
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(Unwritable) as caught:
        carry_out(path, b"a", b"b")

    assert caught.value.message == f"cannot write {path}: it may not be written"
    assert caught.value.fix == f"check the permissions of {path}"


def test_a_link_out_of_the_folder_is_followed_only_where_that_is_allowed(tmp_path: Path):
    (tmp_path / "outside").write_bytes(b"a")
    project = tmp_path / "project"
    project.mkdir()
    (project / "settings.json").symlink_to(tmp_path / "outside")

    for call in (
        lambda: carry_out(project / "settings.json", b"a", b"b", str(project)),
        lambda: config_file.read(str(project / "settings.json"), str(project)),
        lambda: config_file.edited(str(project / "settings.json"), str, str(project)),
    ):
        with pytest.raises(OnrecordError) as caught:
            call()
        assert caught.value.code == "UNSAFE_PATH"
    carry_out(project / "settings.json", b"a", b"b")

    assert (tmp_path / "outside").read_bytes() == b"b"
    assert (project / "settings.json").is_symlink()


def test_what_cannot_be_put_back_is_named(home: Path, monkeypatch):
    first, second, third = (home / name for name in ("first", "second", "third"))
    first.write_bytes(b"old")
    real = files.write

    def write(path: str, data: bytes, **options: object) -> None:
        if path == str(third) or data == b"old":
            raise Unwritable(f"cannot write {path}", fix="check the disk")
        real(path, data, **options)

    monkeypatch.setattr(files, "write", write)
    changes = [
        FileChange(str(first), b"old", b"1"),
        FileChange(str(second), None, b"2"),
        FileChange(str(third), None, b"3"),
    ]
    with pytest.raises(Unwritable) as caught:
        config_file.carry_out_all(changes, "")

    assert caught.value.fix == f"check the disk; {files.LEFT}: {first}"
    assert (first.read_bytes(), second.exists()) == (b"1", False)


def test_a_file_that_somebody_changed_after_us_is_not_put_back(home: Path, monkeypatch):
    first, second = home / "first", home / "second"
    real = files.write

    def write(path: str, data: bytes, **options: object) -> None:
        if path == str(second):
            first.write_bytes(b"by hand")
            raise Unwritable(f"cannot write {path}", fix="check the disk")
        real(path, data, **options)

    monkeypatch.setattr(files, "write", write)
    with pytest.raises(Unwritable) as caught:
        config_file.carry_out_all([FileChange(str(first), None, b"1"), FileChange(str(second), None, b"2")], "")

    assert caught.value.fix == "check the disk; nothing was changed"
    assert first.read_bytes() == b"by hand"
