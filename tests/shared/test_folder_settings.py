"""What is obeyed of the config of a folder that is a remote, and what git gets in our own repository beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from onrecord.errors import BadRemote
from onrecord.git import repository
from onrecord.shared import git_mirror, local_repository
from onrecord.shared.git_mirror import Mirror

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
OWN = {
    "core.hookspath": "/dev/null", "core.fsmonitor": "false", "core.logallrefupdates": "false",
    "core.alternaterefscommand": ":", "receive.autogc": "false", "gc.auto": "0", "maintenance.auto": "false",
}  # fmt: skip


def git(*words: str) -> str:
    return subprocess.run(("git", *words), check=True, capture_output=True, text=True, timeout=120).stdout.strip()


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    git("init", "-q", "--bare", "-b", "main", str(tmp_path / "team.git"))
    (tmp_path / "team.git" / "config").write_text("")
    return tmp_path / "team.git"


def settings(remote: Path, *, is_bare: str = "true") -> dict[str, str]:
    """Return the config that git gets for a remote, without our own settings."""
    with local_repository.opened(str(remote), str(remote.parent / "ann")) as folder:
        lines = git("config", "--file", os.path.join(folder, "config"), "--list").splitlines()
    values = dict(line.split("=", 1) for line in lines)
    assert {key: values.pop(key) for key in OWN} == OWN
    assert values.pop("core.bare") == is_bare
    return values


@pytest.mark.parametrize(
    ("key", "obeyed", "ignored"),
    [
        ("core.sharedrepository", ["true", "false", "umask", "group", "all", "world", "everybody", "0", "0660"],
         ["0o660", "06600", "x"]),
        ("core.repositoryformatversion", ["0", "1"], ["2", "01"]),
        ("extensions.objectformat", ["sha1", "sha256"], ["md5"]),
        ("extensions.refstorage", ["files", "reftable"], ["x"]),
        ("receive.denynonfastforwards", ["true", "false"], ["yes"]),
        ("receive.denydeletes", ["true", "false"], ["1"]),
        ("receive.denycurrentbranch", ["true", "false", "refuse", "ignore", "warn"], ["updateInstead"]),
        ("core.hookspath", [], ["/hooks"]),
        ("core.sshcommand", [], ["touch x"]),
        ("receive.procreceiverefs", [], ["refs"]),
    ],
)  # fmt: skip
def test_a_setting_is_obeyed_if_it_names_no_program_and_has_a_known_value(remote, key, obeyed, ignored):
    section, _, name = key.partition(".")
    for value in (*obeyed, *ignored):
        (remote / "config").write_text(f"[{section}]\n\t{name} = {value}\n")

        assert settings(remote) == ({key: value} if value in obeyed else {}), value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[core]\nbare = false\n", {"core.bare": "false"}),
        ("[ Core ] Bare = \"TRUE\"\n", {"core.bare": "true"}),
        ("[core]\n\tbare\n", {"core.bare": "true"}),
        ('[core "x"]\n\tbare = true\n', {}),
        ("[core]\n[include]\n\tpath = x\n", {}),
        ("bare = true\n", {}),
        ("[core]\nbare = true\nbare = false\n", {"core.bare": "false"}),
        (f"[core]\n{'#' * 99_981}\nbare = true\n", {"core.bare": "true"}),
        (f"[core]\n{'#' * 99_995}\nbare = true\n", {}),
    ],
)  # fmt: skip
def test_a_config_is_read_as_data(tmp_path, text, values):
    (tmp_path / "config").write_text(text)

    assert local_repository.read_settings(str(tmp_path / "config")) == values
    assert local_repository.read_settings(str(tmp_path / "gone")) == {}


def test_the_folder_of_hooks_keeps_its_letters(tmp_path):
    (tmp_path / "config").write_text("[core]\n\thooksPath = /My/Hooks\n")

    found = local_repository.read_settings(str(tmp_path / "config"), ("core.hookspath",))

    assert found == {"core.hookspath": "/My/Hooks"}


def test_hooks_that_may_refuse_a_push_are_named_wherever_the_config_has_them(remote, tmp_path):
    names = ("pre-receive", "update", "proc-receive", "reference-transaction", "post-receive", "pre-push")
    for folder in (remote / "hooks", tmp_path / "mine"):
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
    (remote / "hooks" / "update").chmod(0o644)

    assert local_repository.gates(str(remote)) == ["pre-receive", "proc-receive", "reference-transaction"]
    (remote / "config").write_text(f"[core]\n\thooksPath = {tmp_path / 'mine'}\n")
    assert local_repository.gates(str(remote)) == list(names[:4])
    (remote / "config").write_text("[core]\n\thooksPath = none\n")
    assert local_repository.gates(str(remote)) == []


def test_a_repository_is_found_where_git_looks_for_it(tmp_path):
    git("init", "-q", str(tmp_path / "work"))
    git("init", "-q", "--bare", str(tmp_path / "team.git"))
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / ".git").write_text("gitdir: ../team.git\n")

    found = {name: local_repository.find(str(tmp_path / name)).git_dir for name in (
        "work", "work/", "work/.git", "team.git", "team", "link")}  # fmt: skip

    work, team = str(tmp_path / "work" / ".git"), str(tmp_path / "team.git")
    assert found == {"work": work, "work/": work, "work/.git": work, "team.git": team, "team": team, "link": team}
    with pytest.raises(BadRemote) as caught:
        local_repository.find(str(tmp_path / "no where"))
    path = str(tmp_path / "no where")
    assert caught.value.message == f"{path} cannot be used: it does not appear to be a git repository"
    assert caught.value.fix == f"check that git can reach it: git ls-remote '{path}'"
    assert settings(tmp_path / "work", is_bare="false")


def test_what_killed_syncs_have_left_is_removed_after_a_day(remote):
    parent = remote.parent / "ann"
    for name, hours in (("folder-old", 25), ("folder-new", 23), ("other", 99)):
        (parent / name).mkdir(parents=True)
        moment = (parent / name).stat().st_mtime - hours * 3_600
        os.utime(parent / name, (moment, moment))

    settings(remote)

    assert sorted(os.listdir(parent)) == ["folder-new", "other"]


def test_git_that_needs_no_network_may_use_none_and_a_folder_is_reached_without_the_users_config(monkeypatch):
    for key in ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY"):
        monkeypatch.setenv(key, f"/{key}")
    plain = repository.environment()
    asked = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GIT_ALLOC_LIMIT": "1g"}

    assert git_mirror._environment("") == plain
    assert git_mirror._environment("file") == {
        **plain, **asked, "GIT_ALLOW_PROTOCOL": "file", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    users = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
    assert git_mirror._environment(git_mirror.PROTOCOLS) == {
        **plain, **asked, "GIT_ALLOW_PROTOCOL": "git:http:https:ssh", **{key: f"/{key}" for key in users},
    }  # fmt: skip


def test_a_mirror_is_made_once_and_again_if_a_part_is_missing(tmp_path):
    mirror = Mirror(str(tmp_path / "ann" / "repository"))
    assert mirror.create().is_good
    (tmp_path / "ann" / "repository" / "refs" / "x.lock").write_text("")
    (tmp_path / "ann" / "repository" / "config").write_text("[core]\n\tbare = true\n")

    assert mirror.create() == (0, b"", "")

    assert not (tmp_path / "ann" / "repository" / "refs" / "x.lock").exists()
    assert (tmp_path / "ann" / "repository" / "config").read_text() == "[core]\n\tbare = true\n"
    for part in ("HEAD", "refs", "objects"):
        path = tmp_path / "ann" / "repository" / part
        path.unlink() if path.is_file() else shutil.rmtree(path)
        assert mirror.create().is_good and path.exists()
    mirror.remove()
    assert not (tmp_path / "ann" / "repository").exists()


@pytest.mark.parametrize(("limit", "status"), [(1_000_000, 0), (999_999, None)])
def test_an_answer_that_is_too_long_is_not_taken_for_a_whole_one(tmp_path, monkeypatch, limit, status):
    """The flaw of 0.3.0-dev: if git had ended by then, what was cut off passed for all that it had answered."""
    mirror = Mirror(str(tmp_path / "repository"))
    mirror.create()
    blob = mirror.run_local("hash-object", "-w", "--stdin", stdin=b"x" * 1_000_000).text.strip()
    monkeypatch.setattr(git_mirror, "MAX_OUTPUT_BYTES", limit)

    result = mirror.run_local("cat-file", "blob", blob)

    message = "" if status == 0 else "answered more than 999,999 bytes"
    assert (result.status, result.message, len(result.output)) == (status, message, limit)


def test_without_git_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert Mirror(str(tmp_path / "repository")).create() == (None, b"", "git was not found")
