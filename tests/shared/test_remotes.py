from __future__ import annotations

import json
import os
import stat

import pytest

from onrecord import paths, state_file
from onrecord.cli import main
from onrecord.errors import AlreadyExists, BadInput, NotFound, OnrecordError
from onrecord.shared import remotes, replicas
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica, SyncState

GIT = "git@example.com:team/memory.git"


def test_remotes_are_listed_by_name_and_taken_off_the_list():
    remotes.add("platform", GIT, review=True)
    remotes.add("acme", "postgresql://hub@db.example.com/memory", auto=True)

    assert remotes.connected() == [
        Remote("acme", "postgresql://hub@db.example.com/memory", "postgres", review=False, auto=True),
        Remote("platform", GIT, "git", review=True, auto=False),
    ]
    assert remotes.remove("acme").name == "acme"
    assert [remote.name for remote in remotes.connected()] == ["platform"]
    assert remotes.get("platform").url == GIT
    with pytest.raises(NotFound, match="connected: platform"):
        remotes.get("acme")


def test_an_agent_cannot_connect_a_shared_store(monkeypatch, capsys):
    monkeypatch.setenv("CLAUDECODE", "1")

    assert main(["remote", "add", "platform", "https://host.invalid/memory.git"]) == 1
    assert "only a person may connect a shared store" in capsys.readouterr().err
    assert remotes.connected() == []


def test_a_name_and_an_address_are_connected_once():
    remotes.add("platform", GIT)

    with pytest.raises(AlreadyExists, match="a remote 'platform'"):
        remotes.add("platform", "/srv/memory.git")
    with pytest.raises(AlreadyExists, match="this address is connected already, as 'platform'"):
        remotes.add("team", GIT)


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_the_list_is_the_users_alone():
    remotes.add("platform", GIT)

    assert stat.S_IMODE(os.stat(paths.remotes_file()).st_mode) == 0o600
    assert os.path.dirname(paths.remotes_file()) == paths.user_store()


@pytest.mark.parametrize("name", ["", "project", "user", "none", "Platform", "a b", "../x", "-x", "ä", "x" * 41, "a/b"])
def test_a_name_that_no_remote_can_have(name):
    for act in (lambda: remotes.add(name, GIT), lambda: Replica(name)):
        with pytest.raises(BadInput) as caught:
            act()
        assert caught.value.fix


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (GIT, "git"),
        ("host:memory.git", "git"),
        ("https://example.com/team/memory.git", "git"),
        ("https://ann@example.com/team/memory.git", "git"),
        ("ssh://git@example.com:2222/memory.git", "git"),
        ("file:///srv/memory.git", "git"),
        ("/srv/memory.git", "git"),
        ("postgresql://db.example.com/memory?sslmode=verify-full", "postgres"),
        ("postgres://ann@db.example.com:5433/memory", "postgres"),
        ("postgresql:///memory?service=acme", "postgres"),
        ("postgresql://ann@[::1]:5433,db:5432,other/memory", "postgres"),
    ],
)
def test_addresses(url, kind):
    assert remotes.address_kind(url) == kind


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "printable"),
        (" https://example.com", "printable"),
        ("https://example.com/\x1b[2J", "printable"),
        ("https://example.com/" + "x" * 2_000, "printable"),
        ("--upload-pack=touch x", "hyphen"),
        ("-oProxyCommand=x:y", "hyphen"),
        ("ssh://-oProxyCommand=x/y", "hyphen"),
        ("ssh://git@-oProxyCommand=x/y", "hyphen"),
        ("git@-oProxyCommand=x:y", "hyphen"),
        ("host:-x", "hyphen"),
        ("ext::sh -c touch% x", "run a program"),
        ("fd::3", "run a program"),
        ("ext::https://example.com/x", "run a program"),
        ("ftp://example.com/memory", "is not a scheme"),
        ("javascript://x", "is not a scheme"),
        ("platform", "not an address"),
        ("https://ann:secret@example.com/memory.git", "password"),
        ("https://:secret@example.com/memory.git", "password"),
        ("https://x0123456789abcdef0123456789@example.com/memory.git", "password"),
        ("postgresql://ann:secret@db/memory", "password"),
        ("postgresql://db/memory?sslmode=require&password=secret", "password"),
        ("postgresql://db/memory?PassWord=secret", "password"),
        ("postgresql://db?password=secret", "password"),
        ("postgresql://ann:secret/+x@db/memory", "password"),
        ("postgresql://ann:secret?x@db/memory", "password"),
        ("https://ann:secret/x@example.com/memory.git", "password"),
    ],
)
def test_addresses_that_are_refused(url, reason):
    with pytest.raises(BadInput, match=reason) as caught:
        remotes.add("platform", url)

    assert caught.value.fix
    assert "secret" not in str(caught.value) + caught.value.fix
    assert remotes.connected() == []


def test_a_relative_path_is_stored_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert remotes.add("platform", "./memory.git").url == str(tmp_path / "memory.git")
    assert remotes.add("other", "team/memory.git").url == str(tmp_path / "team" / "memory.git")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[1]",
        '[{"name": "platform"}]',
        '[{"name": "../x", "url": "/srv/x"}]',
        '[{"name": "x", "url": "ext::sh"}]',
        '[{"name": "x", "url": "/srv/x", "kind": "postgres"}]',
        '[{"name": "x", "url": "/srv/x", "auto": "yes"}]',
        '[{"name": "x", "url": "/srv/x"}, {"name": "x", "url": "/srv/y"}]',
        json.dumps([{"name": f"x{number}", "url": "/srv/x"} for number in range(101)]),
        "[" * 100_000,
        " " * 1_000_001,
    ],
)
def test_a_broken_list_is_an_error_for_people_and_no_remotes_for_hooks(text):
    os.makedirs(paths.user_store())
    with open(paths.remotes_file(), "w") as file:
        file.write(text)

    with pytest.raises(BadInput) as caught:
        remotes.connected()
    assert paths.remotes_file() in caught.value.message
    assert remotes.usable() == []
    assert state_file.recent_failures()[-1][1] == "remotes"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs")
def test_a_list_that_is_a_pipe_does_not_block():
    os.makedirs(paths.user_store())
    os.mkfifo(paths.remotes_file())

    with pytest.raises(OnrecordError):
        remotes.connected()


def test_a_replica_lies_in_the_data_folder(home, monkeypatch):
    monkeypatch.setenv("ONRECORD_DATA_DIR", str(home / "data"))
    replica = Replica("platform")

    assert replica.store == str(home / "data" / "remotes" / "platform" / "store")
    assert replica.base == str(home / "data" / "remotes" / "platform" / "base")
    assert replica.state == SyncState()
    state = SyncState(cursor="7", last_error="x", refused=(("decisions/a.json", "protected"),))
    with replica.lock():
        replica.write_state(state)

    assert replica.state == state
    if os.name != "nt":
        modes = {stat.S_IMODE(os.stat(path).st_mode) for path in (replica.root, os.path.dirname(replica.root))}
        assert modes == {0o700}
        assert stat.S_IMODE(os.stat(os.path.join(replica.root, "state.json")).st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cursor": 1, "refused": [["a"], 3, ["a", 1]]}', '{"refused": "x", "unknown": 1}', "\xff"]
)
def test_a_broken_state_means_nothing_is_known(text):
    replica = Replica("platform")
    os.makedirs(replica.root)
    with open(os.path.join(replica.root, "state.json"), "w", encoding="latin-1") as file:
        file.write(text)

    assert replica.state == SyncState()


def test_the_last_remote_leaves_nothing_in_the_users_store():
    remotes.add("platform", "/srv/platform.git")
    remotes.add("acme", "/srv/acme.git")
    remotes.remove("platform")
    assert os.listdir(paths.user_store()) == ["remotes.json"]

    remotes.remove("acme")

    assert not os.path.exists(paths.user_store())
    assert remotes.connected() == []


def test_a_store_of_the_user_stays_when_the_last_remote_goes():
    os.makedirs(paths.user_store())
    with open(os.path.join(paths.user_store(), "memory-config.json"), "w") as config:
        config.write("{}")
    remotes.add("platform", "/srv/platform.git")

    remotes.remove("platform")

    assert os.listdir(paths.user_store()) == ["memory-config.json"]


def test_the_replica_of_0_2_0_becomes_ours_with_what_it_had_not_pushed(capsys: pytest.CaptureFixture[str]):
    remotes.add("platform", GIT)
    old = replicas.old_replica("platform")
    state = SyncState(cursor="0123abcd", last_sync="2026-03-01T09:00:00Z")
    for path, text in {
        "store/decisions/use-uv.json": "{}",
        "base/decisions/use-pip.json": "{}",
        "repository/refs/recollect/theirs": "0123abcd",
        "state.json": json.dumps({"cursor": state.cursor, "last_sync": state.last_sync}),
    }.items():
        os.makedirs(os.path.dirname(os.path.join(old, path)), exist_ok=True)
        with open(os.path.join(old, path), "w") as file:
            file.write(text)

    main(["remote", "status", "--json"])
    (status,) = json.loads(capsys.readouterr().out)["remotes"]
    replica = replicas.opened("platform")

    assert status["waiting"] == ["decisions/use-pip.json", "decisions/use-uv.json"]
    assert replica.state == state
    assert os.listdir(os.path.join(replica.repository, "refs")) == ["onrecord"]
    assert not os.path.exists(os.path.dirname(os.path.dirname(old)))


def test_a_replica_of_0_2_0_replaces_none_that_is_there():
    remotes.add("platform", GIT)
    replica = replicas.prepare("platform")
    old = replicas.old_replica("platform")
    os.makedirs(os.path.join(old, "store"))

    assert replicas.opened("platform").root == replica.root

    assert os.path.isdir(os.path.join(old, "store"))
