"""What is read of a repository's own files, without git: branch, commit, remote, and where it begins."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from onrecord.git import repository
from onrecord.git.repository import Repository
from tests.git_project import GitProject

COMMIT, OTHER = "a" * 40, "b" * 40


@pytest.fixture
def bare(tmp_path: Path) -> Repository:
    """Return a repository made by hand: nothing of git is run."""
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    return Repository(str(tmp_path), str(tmp_path / ".git"))


def write(repo: Repository, name: str, text: str) -> None:
    Path(repo.git_dir, name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/main\n", "main"),
        ("ref: refs/heads/team/a b \nmore\n", "team/a b"),
        (f"{COMMIT}\n", ""),
        ("ref: refs/heads/.invalid\n", ""),
        ("ref: refs/tags/x\n", ""),
        ("", ""),
        (f"ref: refs/heads/{'x' * 250}\n", "x" * 250),
        (f"ref: refs/heads/{'x' * 251}\n", "x" * 250),
    ],
)
def test_the_branch_is_the_one_that_head_names(bare, head, branch):
    write(bare, "HEAD", head)

    assert bare.branch == branch


@pytest.mark.parametrize(
    ("config", "origin"),
    [
        ('[remote "origin"]\n\turl = https://h/x.git\n', "https://h/x.git"),
        ('[ Remote "Origin" ]\n  URL="https://h/x.git"\n', "https://h/x.git"),
        ('[core]\n\turl = a\n[remote "other"]\n\turl = b\n', ""),
        ('[remote "origin"]\n\turl\n\tpushurl = c\n[core]\n\turl = d\n', ""),
        ('[remote "origin"]\n\turl = a\n\turl = b\n', "a"),
        (f'[remote "origin"]\n\turl = {"x" * 501}\n', "x" * 500),
        ("", ""),
    ],
)
def test_the_address_of_origin_is_read_from_the_config(bare, config, origin):
    write(bare, "config", config)

    assert bare.origin == origin


@pytest.mark.parametrize(
    ("files", "commit"),
    [
        ({"HEAD": COMMIT}, COMMIT),
        ({"HEAD": "ref: refs/heads/main", "refs/heads/main": COMMIT}, COMMIT),
        ({"HEAD": "ref: refs/heads/m", "packed-refs": f"# x\n{OTHER} refs/heads/a\n{COMMIT} refs/heads/m\n"}, COMMIT),
        ({"HEAD": "ref: refs/heads/m", "packed-refs": f"{OTHER} refs/heads/m\n", "refs/heads/m": COMMIT}, COMMIT),
        ({"HEAD": "ref: refs/heads/gone"}, ""),
        ({"HEAD": "ref: ../HEAD"}, ""),
        ({"HEAD": "ref: /etc/passwd"}, ""),
        ({"HEAD": "no commit"}, ""),
        ({"HEAD": "ref: a", "a": "ref: b", "b": "ref: c", "c": "ref: d", "d": COMMIT}, COMMIT),
        ({"HEAD": "ref: a", "a": "ref: b", "b": "ref: c", "c": "ref: d", "d": "ref: e", "e": COMMIT}, ""),
    ],
)  # fmt: skip
def test_the_commit_is_found_in_files(bare, files, commit):
    for name, text in files.items():
        write(bare, name, text)

    assert bare.head == commit


@pytest.mark.parametrize(
    ("text", "is_id"),
    [("a" * 6, False), ("a" * 7, True), ("0123456789abcdef", True), ("a" * 64, True), ("a" * 65, False),
     ("A" * 7, False), ("-" * 7, False), ("", False)],
)  # fmt: skip
def test_an_id_has_seven_to_sixty_four_hexadecimal_digits(text, is_id):
    assert repository.is_commit(text) is is_id


def test_a_linked_working_tree_has_its_own_head_and_the_refs_of_the_main_one(tmp_path):
    project = GitProject(tmp_path / "main")
    project.write("src/a.py", "x\n")
    project.commit()
    project.git("worktree", "add", "-q", "-b", "feature", str(tmp_path / "linked"))
    project.git("remote", "add", "origin", "https://h/x.git")
    whole, linked = repository.find(str(project.root)), repository.find(str(tmp_path / "linked"))

    assert whole is not None and linked is not None
    assert (whole.branch, linked.branch, linked.origin) == ("main", "feature", "https://h/x.git")
    assert whole.head == linked.head == project.git("rev-parse", "HEAD")
    assert (linked.root, linked.main_root, whole.main_root) == (
        str(tmp_path / "linked"), str(project.root), str(project.root),
    )  # fmt: skip


def test_the_main_folder_of_a_bare_repository_is_itself(tmp_path):
    project = GitProject(tmp_path / "main")
    project.write("a", "x\n")
    project.commit()
    project.git("clone", "-q", "--bare", str(project.root), str(tmp_path / "bare.git"))
    project.git("-C", str(tmp_path / "bare.git"), "worktree", "add", "-q", str(tmp_path / "linked"), "main")

    linked = repository.find(str(tmp_path / "linked"))

    assert linked is not None and linked.main_root == str(tmp_path / "bare.git")


def test_a_repository_is_found_from_any_folder_below_it(tmp_path):
    project = GitProject(tmp_path / "main")
    (project.root / "a" / "b").mkdir(parents=True)
    (project.root / "a" / ".git").mkdir()
    (project.root / "c").mkdir()
    (project.root / "c" / ".git").write_text("gitdir: ../nowhere\n")
    (project.root / "d").mkdir()
    (project.root / "d" / ".git").write_text("../.git\n")

    found = repository.find(str(project.root / "a" / "b"))

    assert found is not None and found.root == str(project.root)
    assert (found.inner(str(project.root / "a")), found.inner(str(project.root))) == ("a/", "")
    assert [repository.find(str(project.root / name)) for name in "cd"] == [None, None]
    assert found.notes == []


def test_a_repository_without_git_says_so_for_each_command(tmp_path, monkeypatch):
    project = GitProject(tmp_path / "main")
    repo = repository.find(str(project.root))
    assert repo is not None
    monkeypatch.setenv("PATH", str(tmp_path))

    results = repo.run_all([(("log",), False), (("status",), True)], time.monotonic() + 60)

    assert results == [(None, b"", "git was not found")] * 2
    assert repository.merge_text("a", "b", "c", 7, time.monotonic() + 60) == (None, b"", "git was not found")


@pytest.mark.parametrize(
    ("theirs", "status", "merged"),
    [
        ("a\nb\nc\nd\nE\n", 0, "A\nb\nc\nd\nE\n"),
        ("x\nb\nc\nd\ne\n", 1, f"{'<' * 9} ours\nA\n{'=' * 9}\nx\n{'>' * 9} theirs\nb\nc\nd\ne\n"),
    ],
)
def test_texts_are_merged_line_by_line_with_marks_of_a_length(tmp_path, theirs, status, merged):
    texts = {"ours": "A\nb\nc\nd\ne\n", "base": "a\nb\nc\nd\ne\n", "theirs": theirs}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)

    result = repository.merge_text(*(str(tmp_path / name) for name in texts), 9, time.monotonic() + 60)

    assert (result.status, (tmp_path / "ours").read_text()) == (status, merged)


def test_git_gets_the_users_config_and_no_variable_that_leads_it_elsewhere(monkeypatch):
    given = {
        "GIT_DIR": "/x", "GIT_EXTERNAL_DIFF": "/x", "GIT_EDITOR": "/x", "GIT_CONFIG_GLOBAL": "/g", "GIT_PAGER": "/x",
        "GIT_CONFIG_SYSTEM": "/s", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1", "LC_ALL": "de", "ANY": "kept",
    }  # fmt: skip
    for key, value in given.items():
        monkeypatch.setenv(key, value)

    environment = repository.environment()

    assert {key: value for key, value in environment.items() if key.startswith(("GIT_", "LC_ALL", "ANY"))} == {
        "GIT_CONFIG_GLOBAL": "/g", "GIT_CONFIG_SYSTEM": "/s", "GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_ALLOC_LIMIT": "100m",
        "GIT_EDITOR": "true", "GIT_PAGER": "cat", "LC_ALL": "C", "ANY": "kept",
    }  # fmt: skip
    assert environment["PATH"] == os.environ["PATH"]


def test_a_file_is_read_up_to_its_limit(bare):
    write(bare, "config", f'[remote "origin"]\n{"#" * 199_000}\n\turl = near\n')
    assert bare.origin == "near"

    write(bare, "config", f'[remote "origin"]\n{"#" * 200_000}\n\turl = far\n')

    assert bare.origin == ""
