from __future__ import annotations

import os

import pytest

from onrecord.errors import UnsafePath, Unwritable
from onrecord.git import git_files

IGNORED = ".lock\n.journal\n.tmp-*\ninbox/\n"


def test_both_files_are_written_once(tmp_path):
    assert git_files.missing(str(tmp_path)) == [".gitignore", ".gitattributes"]
    assert git_files.ensure(str(tmp_path)) == [".gitignore", ".gitattributes"]
    assert git_files.ensure(str(tmp_path)) == git_files.missing(str(tmp_path)) == []
    assert (tmp_path / ".gitignore").read_text() == IGNORED


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", IGNORED),
        ("mine", f"mine\n{IGNORED}"),
        ("inbox/\n", "inbox/\n.lock\n.journal\n.tmp-*\n"),
        ("!inbox/\n.tmp-*", "!inbox/\n.tmp-*\n.lock\n.journal\n"),
    ],
)
def test_what_a_user_wrote_stays_as_it_is(tmp_path, before, after):
    (tmp_path / ".gitignore").write_text(before)

    git_files.ensure(str(tmp_path))

    assert (tmp_path / ".gitignore").read_text() == after


def test_bytes_that_are_not_utf8_survive(tmp_path):
    (tmp_path / ".gitignore").write_bytes(b"caf\xe9\n")

    git_files.ensure(str(tmp_path))

    assert (tmp_path / ".gitignore").read_bytes().startswith(b"caf\xe9\n.lock\n")


def test_a_link_out_of_the_store_is_not_copied_into_it(tmp_path):
    """Otherwise a repository could publish a private file of the user who runs `init` in it."""
    secret = tmp_path / "private"
    secret.write_text("private")
    store = tmp_path / "memory"
    store.mkdir()
    (store / ".gitignore").symlink_to(secret)

    with pytest.raises(UnsafePath):
        git_files.ensure(str(store))
    assert (secret.read_text(), os.path.islink(store / ".gitignore")) == ("private", True)
    assert ".gitignore" in git_files.missing(str(store))


def test_a_folder_in_the_way_is_named(tmp_path):
    (tmp_path / ".gitignore").mkdir()

    with pytest.raises(Unwritable, match=r"cannot read .*gitignore"):
        git_files.ensure(str(tmp_path))
