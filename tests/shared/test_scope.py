"""Where a shared record applies: by repository, language, files and branch, all read as data and within bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import scopes
from onrecord.recall import scope
from onrecord.recall.scope import ProjectScope
from onrecord.scopes import Scope

ORIGIN = "git@GitHub.com:Acme/api-orders.git"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    _origin(folder, ORIGIN)
    (folder / "src").mkdir()
    (folder / "src" / "main.py").write_text("")
    (folder / "db" / "deep").mkdir(parents=True)
    (folder / "db" / "deep" / "one.sql").write_text("")
    return folder


def _origin(folder: Path, url: str) -> None:
    text = f'[core]\n\tbare = false\n[remote "upstream"]\n\turl = https://x/y/z\n[remote "origin"]\n\turl = {url}\n'
    (folder / ".git" / "config").write_text(text)


def _fits(project: Path, **limits: list[str]) -> bool:
    return ProjectScope(str(project)).fits(scopes.pack(Scope(**limits)))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:acme/api.git", "github.com/acme/api"),
        ("github.com:acme/api", "github.com/acme/api"),
        ("https://ann@github.com/acme/api.git/", "github.com/acme/api"),
        ("ssh://git@git.acme.org:2222/team/sub/api.git", "git.acme.org/team/sub/api"),
        ("file:///srv/api.git", ""),
        ("/srv/api.git", ""),
        ("../api", ""),
        ("", ""),
        ("https://", ""),
        ("git@github.com:\x1b[2J", ""),
    ],
)
def test_the_name_of_a_repository(url, name):
    assert scope.identity(url) == name


@given(st.text())
def test_any_address_has_a_name_or_none(url):
    assert scope.identity(url).isprintable()


@given(st.lists(st.lists(st.text(), max_size=5), min_size=4, max_size=4))
def test_a_scope_is_read_as_it_was_packed(parts):
    limits = Scope(*map(tuple, parts))

    assert scopes.unpack(scopes.pack(limits)) == (limits if any(parts) else Scope())


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("github.com/acme/api-orders", True),
        ("github.com/acme/*", True),
        ("github.com/acme", True),
        ("acme/api-*", True),
        ("ACME/*", True),
        ("api-*", True),
        ("orders", True),
        ("*", True),
        ("github.com/other/*", False),
        ("gitlab.com/acme/*", False),
        ("api", False),
        ("x/y/z", False),
    ],
)
def test_repositories(project, pattern, expected):
    assert _fits(project, repositories=[pattern]) is expected
    assert _fits(project, repositories=["nowhere/*", pattern]) is expected


def test_without_an_origin_the_folder_has_a_name(tmp_path):
    (tmp_path / "orders").mkdir()

    assert _fits(tmp_path / "orders", repositories=["orders"])
    assert not _fits(tmp_path / "orders", repositories=["acme/*"])


@pytest.mark.parametrize(
    "config",
    [
        b"\xff\xfe\x00" * 100,
        b'[remote "origin"\nurl = x',
        b'[remote "origin"]\nurl\n',
        b'[remote "origin"]\nurl = \x1b[2J:\x00/x\n',
        b'[remote "origin"]\n' + b"[" * 300_000,
        b'[include]\npath = other\n[remote "origin"]\nurl = ext::sh -c touch% HACKED\n',
        b"[core]\n" * 200_000 + b'[remote "origin"]\nurl = git@github.com:acme/api.git\n',
    ],
)
def test_a_hostile_config_of_git_names_nothing(project, config):
    (project / ".git" / "config").write_bytes(config)

    assert not _fits(project, repositories=["acme/*"])
    assert _fits(project, repositories=["orders"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs")
def test_a_config_that_is_a_pipe_does_not_block(project):
    (project / ".git" / "config").unlink()
    os.mkfifo(project / ".git" / "config")

    assert not _fits(project, repositories=["acme/*"])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["python"], True),
        (["go", "python"], True),
        (["sql"], False),
        (["go"], False),
    ],
)
def test_languages_are_those_of_files_in_the_project_and_one_folder_below(project, names, expected):
    assert _fits(project, languages=names) is expected


@pytest.mark.parametrize(
    ("file", "language"),
    [("go.mod", "go"), ("tsconfig.json", "typescript"), ("web/index.tsx", "typescript"), ("a/Cargo.toml", "rust")],
)
def test_a_marker_or_an_ending_tells_of_a_language(tmp_path, file, language):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")

    assert _fits(tmp_path, languages=[language])
    assert not _fits(tmp_path, languages=[each for each in scopes.LANGUAGES if each != language][:3])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("src/main.py", True),
        ("src/", True),
        ("*.sql", True),
        ("db/**/*.sql", True),
        ("src/**/*.sql", False),
        ("*.tf", False),
        ("../elsewhere", False),
        ("/etc/passwd", False),
    ],
)
def test_paths_are_those_of_files_that_exist(project, pattern, expected):
    assert _fits(project, paths=[pattern]) is expected


def test_one_of_each_kind_must_fit(project):
    assert _fits(project, repositories=["acme/*"], languages=["python"], paths=["*.sql"], branches=["feature/*"])
    assert not _fits(project, repositories=["acme/*"], languages=["go"], paths=["*.sql"])
    assert not _fits(project, repositories=["acme/*"], languages=["python"], branches=["main"])


def test_in_a_project_too_large_to_look_through_a_glob_fits(project, monkeypatch):
    monkeypatch.setattr(scope, "_MAX_ENTRIES", 3)

    assert _fits(project, paths=["*.tf"])


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_links_out_of_the_project_are_not_followed(project, tmp_path):
    (tmp_path / "elsewhere" / "infra").mkdir(parents=True)
    (tmp_path / "elsewhere" / "infra" / "main.tf").write_text("")
    os.symlink(tmp_path / "elsewhere", project / "linked")
    os.symlink(project, project / "loop")

    assert not _fits(project, paths=["*.tf"])
    assert not _fits(project, paths=["linked/infra/main.tf"])
    assert not _fits(project, languages=["terraform"])


def test_a_record_is_about_a_file_that_one_of_its_paths_covers(project):
    here = ProjectScope(str(project))
    about = scopes.pack(Scope(languages=["sql"], paths=["db/**"]))

    assert here.fits(about, "db/deep/one.sql")
    assert not here.fits(about, "src/main.py")
    assert here.fits(scopes.pack(Scope(languages=["python"])), "src/main.py")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Scope(), ""),
        (Scope(branches=("feature/*",)), ""),
        (Scope(branches=("release/*",)), "branch release/*"),
        (Scope(branches=("release/*", "main")), "branch release/*, main"),
        (Scope(repositories=("other/*",)), "repository other/*"),
        (Scope(languages=("go",)), "language go"),
        (Scope(paths=("web/**",)), "path web/**"),
        (Scope(paths=("a", "b", "c", "d", "e")), "path a, b, c and 2 more"),
        (Scope(branches=("main",), languages=("go",)), "language go"),
    ],
)
def test_the_reason_why_a_record_does_not_apply(project, limits, expected):
    assert ProjectScope(str(project)).misfit(scopes.pack(limits)) == expected


def test_nothing_limited_applies_where_there_is_no_project():
    assert not ProjectScope("").fits(scopes.pack(Scope(paths=["*"])))


def test_very_many_globs_are_not_compared_without_end(project, monkeypatch):
    monkeypatch.setattr(scope, "_MAX_COMPARED_CHARACTERS", 10 * scope._GLOB_COST)
    compared: list[str] = []
    monkeypatch.setattr(scope.globs, "matches", lambda pattern, path: bool(compared.append(pattern)))
    here = ProjectScope(str(project))

    fitting = [here.fits(scopes.pack(Scope(paths=[f"{number}-*.sql"]))) for number in range(200)]

    assert (fitting[0], fitting[-1]) == (False, True)
    assert 0 < len(set(compared)) < 10


def test_a_glob_is_compared_only_with_what_begins_and_ends_as_it_does(project, monkeypatch):
    compared: list[str] = []
    monkeypatch.setattr(scope.globs, "matches", lambda pattern, path: bool(compared.append(path)))

    assert not _fits(project, paths=["db/**/x*.sql", "src/*.sql", "nowhere/**"])
    assert compared == ["db/deep/one.sql"]
