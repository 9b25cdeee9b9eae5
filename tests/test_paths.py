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


def test_the_stores_with_a_folder_in_their_order_of_precedence():
    below, above = paths.StoreRef("/p/sub", "sub/.claude/memory/"), paths.StoreRef("/above", "../.claude/memory/")
    shared = paths.StoreRef("/s", "platform:")

    refs = paths.store_refs("/p", "/u", [shared, paths.StoreRef("", "gone:")], below_refs=[below], above_refs=[above])

    assert [(ref.root, ref.prefix) for ref in refs] == [
        ("/p/sub", "sub/.claude/memory/"),
        ("/p", ".claude/memory/"),
        ("/above", "../.claude/memory/"),
        ("/u", "~/.claude/memory/"),
        ("/s", "platform:"),
    ]
    assert all(ref.is_trusted for ref in refs)
    assert [ref.root for ref in paths.store_refs("", "", [shared])] == ["/s"]


@pytest.mark.parametrize(
    ("prefix", "name", "flag", "is_shared", "is_project"),
    [
        (".claude/memory/", "project", "", False, True),
        ("~/.claude/memory/", "user", "--user ", False, False),
        ("platform:", "platform", "--remote platform ", True, False),
        ("ferry/api/.claude/memory/", "ferry/api", "--project ferry/api ", False, True),
        ("../.claude/memory/", "..", "--project .. ", False, True),
        ("a b/.claude/memory/", "a b", "--project 'a b' ", False, True),
        ("it's/.claude/memory/", "it's", "--project 'it'\"'\"'s' ", False, True),
        ("$(ls)/.claude/memory/", "$(ls)", "--project '$(ls)' ", False, True),
        ("fähre/.claude/memory/", "fähre", "--project 'fähre' ", False, True),
        ("a-b_c.d@e+f~g/.claude/memory/", "a-b_c.d@e+f~g", "--project a-b_c.d@e+f~g ", False, True),
    ],
)
def test_a_store_by_its_prefix(prefix, name, flag, is_shared, is_project):
    assert (paths.store_name(prefix), paths.store_flag(prefix)) == (name, flag)
    assert (paths.is_shared(prefix), paths.is_project(prefix)) == (is_shared, is_project)


def test_a_name_that_is_empty_is_still_a_word_of_a_shell():
    assert paths.store_flag(":") == "--remote '' "


def test_the_folder_that_a_projects_store_belongs_to(tmp_path):
    assert paths.project_of("/work/ferry/.claude/memory") == "/work/ferry"


def test_a_shared_store_has_a_replica_and_what_was_accepted(home):
    top = home / ".local/share/onrecord/remotes/platform"
    replica, accepted = paths.replica("platform"), paths.accepted("platform")

    assert (replica, accepted) == ((str(top / "store"), "platform:", True), (str(top / "base"), "platform:", True))
    assert paths.replicas() == str(top.parent)
    assert paths.working_root(accepted.root) == replica.root
    assert [paths.working_root(root) for root in (replica.root, "/work/.claude/memory", "base")] == [
        replica.root,
        "/work/.claude/memory",
        "base",
    ]
    assert [paths.prefix_of(root) for root in (replica.root, accepted.root)] == ["platform:", "platform:"]


def test_the_prefix_of_a_store(home):
    assert paths.prefix_of(paths.user_store()) == "~/.claude/memory/"
    assert [paths.prefix_of(root) for root in ("/work/ferry/.claude/memory", "store", "/platform/store")] == [
        ".claude/memory/"
    ] * 3
    assert paths.remotes_file() == str(home / ".claude/memory/remotes.json")


@pytest.mark.parametrize(
    ("path", "is_private"),
    [
        ("/p/.claude/memory/inbox/draft.json", True),
        ("/p/.claude/memory/inbox/.hidden.json", False),
        ("/p/.claude/memory/inbox/README.md", False),
        ("/p/.claude/memory/decisions/a.json", False),
        ("/p/.claude/memory/.journal", True),
        ("/p/.claude/memory/index.md", False),
        ("{home}/.claude/memory", True),
        ("{home}/.claude/memory/decisions/a.json", True),
        ("{home}/.claude/memory-2/a.json", False),
        ("{home}/.cache/onrecord/x", True),
        ("{home}/.local/state/onrecord/x", True),
        ("{home}/.local/share/onrecord/x", True),
        ("{home}/notes.txt", False),
    ],
)
def test_what_only_the_user_may_read(home, path, is_private):
    assert paths.is_private(path.format(home=home)) is is_private


def test_the_knowledge_banks_of_a_project(home):
    assert paths.knowledge_banks("/p") == (
        "/p/docs/knowledge-bank",
        str(home / ".claude/memory/knowledge-bank"),
        str(home / ".claude/iflow/memory"),
    )


def test_this_program_is_where_its_files_are():
    assert os.path.isfile(os.path.join(paths.clone(), "src", "onrecord", "paths.py"))
    assert os.path.isfile(paths.launcher())


def test_the_files_of_an_index_are_those_of_every_version(tmp_path):
    store, other = str(tmp_path / "store"), str(tmp_path / "other")
    assert paths.index_files(store) == []
    os.makedirs(paths.cache_dir())
    current, words = paths.index_file(store, 9, ".sqlite"), paths.index_file(store, 9, ".words")
    older = current.replace(f"9-{paths.__version__}", "8-0.1.0")
    for name in (words, older, current, paths.index_file(other, 9, ".sqlite"), paths.nested_file(str(tmp_path))):
        open(name, "w").close()

    assert paths.index_files(store) == sorted([older, current, words])
    assert paths.nested_file("/p").endswith(".nested") and paths.nested_file("/p") != paths.nested_file("/q")
    assert os.path.dirname(paths.nested_file("/p")) == paths.cache_dir()


STANDARD = [
    ("linux", {}, ("/h/.cache/onrecord", "/h/.local/state/onrecord", "/h/.local/share/onrecord")),
    (
        "darwin",
        {},
        (
            "/h/Library/Caches/onrecord",
            "/h/Library/Application Support/onrecord",
            "/h/Library/Application Support/onrecord",
        ),
    ),
    ("darwin", {"XDG_CACHE_HOME": "/x"}, ("/x/onrecord", None, None)),
    (
        "win32",
        {},
        (
            "/h/AppData/Local/onrecord/cache",
            "/h/AppData/Local/onrecord/state",
            "/h/AppData/Local/onrecord/data",
        ),
    ),
    ("win32", {"LOCALAPPDATA": "/local"}, ("/local/onrecord/cache", "/local/onrecord/state", "/local/onrecord/data")),
]


@pytest.mark.skipif(os.name == "nt", reason="paths with slashes")
@pytest.mark.parametrize(("system", "variables", "folders"), STANDARD)
def test_the_standard_folders_of_each_system(monkeypatch, system, variables, folders):
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/h", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(paths.sys, "platform", system)

    found = (paths.cache_dir(), paths.state_dir(), paths.data_dir())

    assert [got for got, wanted in zip(found, folders) if wanted] == [wanted for wanted in folders if wanted]


def test_another_program_has_folders_of_its_own(home):
    assert paths.standard_dir("cache", paths.OLD_NAME) == str(home / ".cache" / "recollect")


def test_a_user_without_a_home_has_nothing_below_one(monkeypatch):
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")

    assert paths.user_store() == "/dev/null/.claude/memory"


def test_variables_are_overridden_inside_a_with_and_restored_after_it(monkeypatch):
    monkeypatch.setenv("ONRECORD_STATE_DIR", "/before")
    monkeypatch.delenv("ONRECORD_CACHE_DIR", raising=False)

    with paths.override({"ONRECORD_STATE_DIR": "/inside", "ONRECORD_CACHE_DIR": "/cache"}):
        assert (paths.state_dir(), paths.cache_dir()) == ("/inside", "/cache")

    assert (os.environ["ONRECORD_STATE_DIR"], "ONRECORD_CACHE_DIR" in os.environ) == ("/before", False)
