"""A shared store behind real servers of git: over SSH, and over HTTP with a password. Nothing may ever ask."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.errors import Offline, OnrecordError, Refused
from onrecord.shared.git_transport import GitTransport
from tests.shared import git_servers
from tests.shared.machines import Machine, both_have

pytestmark = pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="servers of Unix, and git")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "memory.git"
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(folder)), check=True, timeout=120)
    subprocess.run(("git", "--git-dir", str(folder), "config", "http.receivepack", "true"), check=True, timeout=120)
    return folder


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[git_servers.Ssh]:
    with git_servers.ssh(tmp_path / "ssh") as server:
        monkeypatch.setenv("GIT_SSH_COMMAND", server.client())
        yield server


def _machines(tmp_path: Path, url: str) -> list[Machine]:
    folders = (tmp_path / "ann", tmp_path / "bob")
    return [Machine(folder, GitTransport(url, str(folder / "repository"))) for folder in folders]


def _refusal(tmp_path: Path, url: str) -> OnrecordError:
    with pytest.raises(OnrecordError) as caught:
        _machines(tmp_path, url)[0].sync()
    return caught.value


@pytest.mark.debian("openssh-server")
def test_two_machines_share_over_ssh(tmp_path, repository, ssh):
    ann, bob = _machines(tmp_path, f"{ssh.address}{repository}")

    both_have(ann, bob)

    assert ann.files() == bob.files() != {}


@pytest.mark.debian("openssh-server")
def test_a_host_that_ssh_does_not_know_is_refused_without_a_question(tmp_path, repository, ssh, monkeypatch):
    monkeypatch.setenv("GIT_SSH_COMMAND", ssh.client(known_hosts="nothing"))

    error = _refusal(tmp_path, f"{ssh.address}{repository}")

    assert isinstance(error, Refused) and "Host key verification failed" in error.message
    assert not (ssh.folder / "nothing").exists()


@pytest.mark.debian("openssh-server")
def test_a_key_that_the_server_does_not_know_is_refused(tmp_path, repository, ssh, monkeypatch):
    monkeypatch.setenv("GIT_SSH_COMMAND", ssh.client(key="stranger"))

    error = _refusal(tmp_path, f"{ssh.address}{repository}")

    assert isinstance(error, Refused) and "Permission denied" in error.message


@pytest.mark.debian("openssh-server")
def test_an_ssh_server_that_is_gone_is_offline(tmp_path, repository, monkeypatch):
    with git_servers.ssh(tmp_path / "ssh") as server:
        monkeypatch.setenv("GIT_SSH_COMMAND", server.client())

    error = _refusal(tmp_path, f"{server.address}{repository}")

    assert isinstance(error, Offline) and "Connection refused" in error.message


@pytest.fixture
def http(repository: Path) -> Iterator[str]:
    with git_servers.http(repository.parent) as address:
        yield f"{address}/{repository.name}"


def _remember(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, password: str) -> None:
    """Set up git's own credential helper for this user, as `git config --global credential.helper store` does."""
    credentials = tmp_path / "credentials"
    login = f"{git_servers.LOGIN}:{password.replace(' ', '%20')}@"
    credentials.write_text(url.rpartition("/")[0].replace("//", f"//{login}") + "\n")
    (tmp_path / "gitconfig").write_text(f"[credential]\n\thelper = store --file {credentials}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


def test_two_machines_share_over_http_with_the_users_credential_helper(tmp_path, http, monkeypatch):
    _remember(tmp_path, monkeypatch, http, git_servers.PASSWORD)
    ann, bob = _machines(tmp_path, http)

    both_have(ann, bob)

    assert ann.files() == bob.files() != {}


@pytest.mark.parametrize("password", ["", "wrong"])
def test_without_the_right_password_it_is_refused_without_a_question(tmp_path, http, monkeypatch, password):
    if password:
        _remember(tmp_path, monkeypatch, http, password)

    error = _refusal(tmp_path, http)

    assert isinstance(error, Refused) and f"git ls-remote {http}" in error.fix
