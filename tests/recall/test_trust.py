from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import onrecord
from onrecord import paths
from onrecord.cli import main
from onrecord.paths import StoreRef
from onrecord.recall import trust
from onrecord.settings import load_settings
from tests.git_project import GitProject
from tests.known_project import six_records


def ask():
    Path(paths.user_store()).mkdir(parents=True, exist_ok=True)
    (Path(paths.user_store()) / paths.CONFIG).write_text(json.dumps({"trust": {"clones": "ask"}}))


def test_the_identity_is_the_origin_and_else_the_folder(tmp_path):
    first, second, other = (GitProject(tmp_path / name) for name in ("first", "second", "other"))
    first.git("remote", "add", "--offline", "origin", "git@github.com:acme/api.git")
    second.git("remote", "add", "--offline", "origin", "https://github.com/acme/api")

    assert trust.identity(str(first.root)) == trust.identity(str(second.root)) == "github.com/acme/api"
    assert trust.identity(str(other.root)) == os.path.realpath(other.root)


def test_only_stores_of_the_repository_wait(tmp_path):
    project = six_records(tmp_path)
    ask()
    refs = [StoreRef("a", ".claude/memory/"), StoreRef("b", "web/.claude/memory/"), StoreRef("c", "~/.claude/memory/")]
    refs += [StoreRef("d", "platform:")]
    settings = load_settings(project.store.root)

    assert [ref.is_trusted for ref in trust.marked(refs, project.root, settings)] == [False, False, True, True]

    trust.accept(project.root)
    assert trust.marked(refs, project.root, settings) == refs
    assert trust.revoke(project.root)
    assert not trust.revoke(project.root)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"repositories": 3}', '{"repositories": []}'])
def test_a_damaged_list_accepts_nothing(tmp_path, content):
    ask()
    Path(trust.trusted_file()).write_text(content)

    assert trust.accepted() == {}
    assert not trust.is_accepted(str(tmp_path), load_settings(""))


def test_the_list_is_the_users_alone(tmp_path):
    trust.accept(str(tmp_path))

    assert stat.S_IMODE(os.stat(trust.trusted_file()).st_mode) == 0o600


def test_a_project_cannot_accept_itself(tmp_path):
    project = six_records(tmp_path)
    ask()
    (Path(project.store.root) / paths.CONFIG).write_text(json.dumps({"trust": {"clones": "host"}}))

    assert not trust.is_accepted(project.root, load_settings(project.store.root))


def test_a_store_that_is_made_here_is_accepted(tmp_path):
    ask()
    main(["init", "--project", str(tmp_path)])

    assert trust.is_accepted(str(tmp_path), load_settings(""))


def test_a_store_that_waits_hides_nothing_and_checks_nothing(tmp_path):
    from onrecord.recall import for_check

    project = six_records(tmp_path)
    own = project.store.read(next(entry.path for entry in project.store.entries())).memory
    user = project.user
    with user.writing() as batch:
        batch.put(own)
    assert project.hidden(user, [own.id])

    ask()
    fresh = onrecord.open(project.root)
    assert not fresh.hidden(fresh.user, [own.id])
    assert for_check.in_force(fresh.stores, fresh.settings) == []


def test_the_command_accepts_lists_and_revokes(tmp_path, capsys):
    project = six_records(tmp_path)
    ask()
    where = ["--project", project.root]

    assert main(["status", *where]) == 0
    assert "onrecord trust" in capsys.readouterr().out
    assert main(["trust", *where]) == 0
    assert "accepted" in capsys.readouterr().out
    assert main(["trust", "--list"]) == 0
    assert os.path.realpath(project.root) in capsys.readouterr().out
    assert main(["trust", "--revoke", *where]) == 0
    assert not trust.accepted()


def test_an_agent_cannot_accept(tmp_path, capsys, monkeypatch):
    project = six_records(tmp_path)
    monkeypatch.setenv("CLAUDECODE", "1")

    assert main(["trust", "--project", project.root]) == 1
    assert "only a person" in capsys.readouterr().err
    assert not trust.accepted()
