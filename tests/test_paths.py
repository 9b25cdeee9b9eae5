from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from onrecord import paths


def _make(root, *folders):
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)


def test_a_project_is_the_nearest_store_or_the_git_root(tmp_path):
    _make(
        tmp_path,
        "repo/.git",
        "repo/src/deep",
        "repo/packages/one/.claude/memory",
        "repo/packages/one/lib",
        "plain/deep",
    )

    roots = {
        name: os.path.relpath(paths.project_root(str(tmp_path / name)), os.path.realpath(tmp_path))
        for name in ("repo", "repo/src/deep", "repo/packages/one/lib", "repo/packages", "plain/deep")
    }

    assert roots == {
        "repo": "repo",
        "repo/src/deep": "repo",
        "repo/packages/one/lib": "repo/packages/one",
        "repo/packages": "repo",
        "plain/deep": "plain/deep",
    }


def test_a_worktree_has_its_own_root(tmp_path):
    _make(tmp_path, "tree/src")
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere\n")

    assert paths.project_root(str(tmp_path / "tree" / "src")) == os.path.realpath(tmp_path / "tree")


def test_the_store_at_home_is_no_projects(home):
    _make(home, ".claude/memory", "work/thing")

    assert paths.project_root(str(home / "work" / "thing")) == os.path.realpath(home / "work" / "thing")


def test_a_project_reached_through_a_link_is_the_same_project(tmp_path):
    _make(tmp_path, "repo/.git")
    os.symlink(tmp_path / "repo", tmp_path / "link")

    assert paths.project_store(str(tmp_path / "link")) == os.path.join(os.path.realpath(tmp_path / "repo"), paths.STORE)


def test_the_users_store_follows_the_hosts_own_setting(home, monkeypatch, tmp_path):
    assert paths.user_store() == str(home / ".claude" / "memory")

    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert paths.user_store() == str(home / ".claude" / "memory")

    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert paths.user_store() == str(tmp_path / "memory")


@pytest.mark.skipif(os.name == "nt", reason="the XDG folders")
@pytest.mark.parametrize(
    ("variable", "where"),
    [("XDG_CACHE_HOME", paths.cache_dir), ("XDG_STATE_HOME", paths.state_dir), ("XDG_DATA_HOME", paths.data_dir)],
)
def test_a_relative_xdg_folder_is_ignored_as_its_specification_says(monkeypatch, home, variable, where):
    monkeypatch.setenv(variable, "relative")
    assert where().startswith(str(home))

    monkeypatch.setenv(variable, "/somewhere")
    assert where() == "/somewhere/onrecord"


def test_our_own_variables_win(monkeypatch):
    monkeypatch.setenv("ONRECORD_CACHE_DIR", "/c")
    monkeypatch.setenv("ONRECORD_STATE_DIR", "/s")
    monkeypatch.setenv("ONRECORD_DATA_DIR", "/d")

    assert (paths.cache_dir(), paths.state_dir(), paths.data_dir()) == ("/c", "/s", "/d")


def test_a_store_has_one_index_however_it_is_reached(tmp_path):
    _make(tmp_path, "store", "other")
    os.symlink(tmp_path / "store", tmp_path / "link")

    one, two, other = (paths.index_file(str(tmp_path / name), 1, ".sqlite") for name in ("store", "link", "other"))

    assert one == two != other
    assert one.endswith(".sqlite")


@pytest.mark.parametrize(
    ("path", "expected"),
    [("", True), ("a", True), ("a/../b", True), ("..", False), ("../root-2", False), ("\0", False)],
)
def test_what_lies_within(tmp_path, path, expected):
    _make(tmp_path, "root", "root-2")

    assert paths.is_within(str(tmp_path / "root"), str(tmp_path / "root" / path)) is expected


def test_everything_lies_within_the_root_directory():
    assert paths.is_within("/", "/etc")


def _stat(changes):
    """`os.stat` that gives some folders another owner or file system."""
    real = os.stat

    def stat(path, *arguments, **options):
        status = real(path, *arguments, **options)
        if str(path) not in changes:
            return status
        values = {**{name: getattr(status, name) for name in ("st_mode", "st_dev", "st_uid")}, **changes[str(path)]}
        return SimpleNamespace(**values)

    return stat


@pytest.mark.skipif(os.name == "nt", reason="owners of POSIX")
@pytest.mark.parametrize(
    ("changes", "is_adopted"),
    [
        ({}, True),
        ({"shared": {"st_uid": 12_345}}, False),
        ({"shared": {"st_dev": 98_765}}, False),
        ({"shared/mine": {"st_uid": 12_345}}, False),
        ({"shared/mine/work": {"st_uid": 12_345}}, True),
        ({"shared/mine/work": {"st_uid": 12_345}, "shared/mine": {"st_uid": 12_345}}, True),
        ({"shared/mine/work": {"st_dev": 98_765}}, False),
    ],
)
def test_a_store_above_is_adopted_only_on_our_own_ground(tmp_path, monkeypatch, changes, is_adopted):
    top = os.path.realpath(tmp_path)
    _make(tmp_path, "shared/.claude/memory", "shared/mine/work")
    monkeypatch.setattr(os, "stat", _stat({os.path.join(top, name): change for name, change in changes.items()}))

    root = paths.project_root(str(tmp_path / "shared" / "mine" / "work"))

    assert os.path.relpath(root, top) == ("shared" if is_adopted else "shared/mine/work")


def test_a_folder_above_that_cannot_be_looked_at_ends_the_search(tmp_path, monkeypatch):
    _make(tmp_path, "above/.claude/memory", "above/work")
    above, real = os.path.realpath(tmp_path / "above"), os.stat

    def stat(path, *arguments, **options):
        if str(path) == above:
            raise PermissionError
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", stat)

    assert paths.project_root(str(tmp_path / "above" / "work")) == os.path.join(above, "work")
