"""The file of the filter: its size, its head with the times of folders, and the bits of its keys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord.search import command_filter

HEAD = 1_024


@pytest.fixture
def root(tmp_path):
    store = tmp_path / "memory"
    for name in ("decisions", "constraints"):
        (store / name).mkdir(parents=True)
        os.utime(store / name, (1_700_000_000, 1_700_000_000))
    os.makedirs(os.path.dirname(command_filter.file_of(str(store))), exist_ok=True)
    return str(store)


def make(root, *keys):
    command_filter.make(root, [set(keys)], 10)
    command_filter.confirm(root, command_filter.folder_times(root))


def content(root):
    return Path(command_filter.file_of(root)).read_bytes()


def lowest_free_handle():
    handle = os.open(os.devnull, os.O_RDONLY)
    os.close(handle)
    return handle


@pytest.mark.parametrize(
    ("records", "size"), [(0, 1 << 16), (256, 1 << 16), (257, 1 << 17), (512, 1 << 17), (40_000, 1 << 23)]
)
def test_a_filter_grows_with_its_store_up_to_a_limit(root, records, size):
    command_filter.make(root, [], records)

    assert os.stat(command_filter.file_of(root)).st_size == HEAD + size


def test_only_the_user_may_read_a_filter(root):
    make(root, "git push")

    assert os.stat(command_filter.file_of(root)).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("count", [1, 1_000, 1_001])
def test_added_keys_set_the_bits_that_a_new_filter_has(root, count):
    keys = [f"key {number}" for number in range(count)]
    make(root, *keys, "before")
    expected = content(root)

    make(root, "before")
    command_filter.add(root, keys)

    assert content(root) == expected
    assert sum(bin(byte).count("1") for byte in expected[HEAD:]) > 3.9 * count


def test_a_key_of_which_only_some_bits_are_set_is_ruled_out(root):
    make(root)
    empty = content(root)
    make(root, "key")
    data = bytearray(content(root))
    places = [place for place in range(HEAD, len(data)) if data[place]]

    assert len(places) == 4
    for place in places:
        Path(command_filter.file_of(root)).write_bytes(data[:place] + empty[place : place + 1] + data[place + 1 :])
        assert not command_filter.may_match(root, ["key"])


def test_a_filter_is_trusted_only_as_it_was_confirmed(root):
    assert not command_filter.exists(root)
    command_filter.make(root, [], 10)
    assert not command_filter.exists(root)
    assert command_filter.may_match(root, ["key"])

    command_filter.confirm(root, command_filter.folder_times(root))

    assert command_filter.exists(root)
    assert not command_filter.may_match(root, ["key"])
    data = content(root)
    for damaged in (
        data[:-1],
        data + b"\0",
        data[:HEAD],
        b"[5, 9, {}]".ljust(HEAD) + data[HEAD:],
        b"{}" + data[2:],
        b"",
    ):
        Path(command_filter.file_of(root)).write_bytes(damaged)
        assert not command_filter.exists(root)
        assert command_filter.may_match(root, ["key"])


def test_a_filter_without_times_of_folders_rules_nothing_out(root):
    command_filter.make(root, [], 10)
    command_filter.confirm(root, {})

    assert command_filter.may_match(root, ["key"])


@pytest.mark.parametrize("folder", ["decisions", "runbooks"])
def test_a_folder_that_changed_since_makes_anything_possible(root, folder):
    make(root, "key")
    assert not command_filter.may_match(root, ["other"])

    os.makedirs(os.path.join(root, folder), exist_ok=True)
    os.utime(os.path.join(root, folder), (1_800_000_000, 1_800_000_000))

    assert command_filter.may_match(root, ["other"])


def test_a_folder_that_is_missing_has_no_time(root):
    times = command_filter.folder_times(root)

    assert {name: when for name, when in times.items() if when} == {
        "decisions": 1_700_000_000 * 10**9,
        "constraints": 1_700_000_000 * 10**9,
    }
    assert set(times.values()) == {0, 1_700_000_000 * 10**9}


def test_a_confirmed_filter_is_not_written_again(root):
    make(root, "key")
    os.utime(command_filter.file_of(root), (1_700_000_000, 1_700_000_000))

    command_filter.confirm(root, command_filter.folder_times(root))

    assert os.stat(command_filter.file_of(root)).st_mtime == 1_700_000_000


@pytest.mark.parametrize(
    ("words", "command", "expected"),
    [
        ([], "git push", False),
        (["push"], "git push", True),
        (["push"], "git pull", False),
        (["push"], "", False),
        ([""], "git pull", True),
        (["push"], " ".join(map(str, range(400))), False),
        (["push"], " ".join(map(str, range(401))), True),
        ([], " ".join(map(str, range(401))), False),
    ],
)
def test_a_check_is_possible_if_one_of_its_words_is_in_the_command(root, words, command, expected):
    make(root, *command_filter.check_keys(words))

    assert command_filter.may_check(root, command) is expected
    assert command_filter.may_match(root, ["key"], command) is expected


def test_without_a_command_no_check_is_possible(root):
    make(root, *command_filter.check_keys([""]))

    assert not command_filter.may_match(root, ["key"])


def test_without_a_filter_there_is_nothing_to_add_to(root):
    with pytest.raises(OSError, match="No such file"):
        command_filter.add(root, ["key"])
    command_filter.confirm(root, {"decisions": 1})
    command_filter.discard(root)

    assert not os.path.exists(command_filter.file_of(root))


@pytest.mark.parametrize("size", [0, HEAD - 1, HEAD])
def test_an_empty_filter_stays_empty(root, size):
    Path(command_filter.file_of(root)).write_bytes(b"\0" * size)

    command_filter.add(root, ["key"])
    command_filter.confirm(root, {"decisions": 1})

    assert content(root) == b"\0" * size


def test_no_file_is_left_open(root):
    before = lowest_free_handle()

    make(root, "key")
    command_filter.add(root, ["other"])
    command_filter.add(root, [f"key {number}" for number in range(1_001)])
    assert command_filter.exists(root)
    assert command_filter.may_match(root, ["key"])
    assert not command_filter.may_check(root, "git push")
    command_filter.discard(root)

    assert lowest_free_handle() == before
    assert not os.path.exists(command_filter.file_of(root))
