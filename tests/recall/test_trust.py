from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import onrecord
from onrecord import paths
from onrecord.cli import main
from onrecord.errors import BadInput, Unwritable
from onrecord.paths import StoreRef
from onrecord.recall import trust
from onrecord.settings import load_settings
from tests.git_project import GitProject
from tests.hooks.hook_process import run_hook
from tests.known_project import known_project, six_records
from tests.records import raw


def ask():
    Path(paths.user_store()).mkdir(parents=True, exist_ok=True)
    (Path(paths.user_store()) / paths.CONFIG).write_text(json.dumps({"trust": {"clones": "ask"}}))


def test_the_identity_is_the_origin_and_else_the_folder(tmp_path):
    first, second, other = (GitProject(tmp_path / name) for name in ("first", "second", "other"))
    first.git("remote", "add", "origin", "git@github.com:acme/api.git")
    second.git("remote", "add", "origin", "https://github.com/acme/api")

    assert trust.identity(str(first.root)) == trust.identity(str(second.root)) == "github.com/acme/api"
    assert trust.identity(str(other.root)) == os.path.realpath(other.root)


def test_a_working_tree_of_an_accepted_repository_is_accepted(tmp_path):
    """The flaw of 0.3.0-dev: without an origin, each branch in a working tree of its own was asked about again."""
    project = GitProject(tmp_path / "project")
    project.git("commit", "--allow-empty", "-qm", "x")
    project.git("worktree", "add", "-q", str(tmp_path / "feature"))

    assert trust.identity(str(tmp_path / "feature")) == trust.identity(str(project.root))
    project.git("remote", "add", "origin", "git@github.com:acme/api.git")
    assert trust.identity(str(tmp_path / "feature")) == "github.com/acme/api"


def test_a_renamed_folder_and_a_second_clone_are_the_same_repository(tmp_path):
    ask()
    first, second = GitProject(tmp_path / "first"), GitProject(tmp_path / "second")
    first.git("remote", "add", "origin", "git@github.com:acme/api.git")
    second.git("remote", "add", "origin", "https://token@github.com/acme/api/")
    trust.accept(str(first.root))
    first.root.rename(tmp_path / "renamed")

    for root in (tmp_path / "renamed", second.root):
        assert trust.is_accepted(str(root), load_settings(""))


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


@pytest.mark.parametrize("change", [trust.accept, trust.revoke])
@pytest.mark.parametrize(("flaw", "error"), [("not JSON", BadInput), ("not a file", Unwritable)])
def test_a_list_that_cannot_be_read_is_not_written_over(tmp_path, change, flaw, error):
    """The flaw of 0.3.0-dev: where the disk did not give the list, accepting one repository forgot all others."""
    file = Path(trust.trusted_file())
    file.parent.mkdir(parents=True, exist_ok=True)
    if flaw == "not JSON":
        file.write_text('{"repositories": {"host/team/app": "2026-05-01T12:00:00Z"},}')
    else:
        file.mkdir()

    with pytest.raises(error, match=r"trusted\.json"):
        change(str(tmp_path))

    assert file.is_dir() or "host/team/app" in file.read_text()


def test_a_store_is_made_although_the_list_cannot_be_read(tmp_path, capsys):
    ask()
    Path(trust.trusted_file()).write_text("{")

    assert main(["init", "--project", str(tmp_path)]) == 0
    assert "trusted.json is not JSON" in capsys.readouterr().err
    assert (tmp_path / paths.STORE).is_dir()


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


@pytest.mark.parametrize("maker", ["an agent", "beside another store"])
def test_making_a_store_accepts_nothing_that_came_with_a_clone(tmp_path, monkeypatch, maker):
    """The flaw of 0.3.0-dev: an agent that saved a first record accepted all that the repository had in its folders."""
    clone = GitProject(tmp_path / "clone")
    web = clone.root / "packages" / "web"
    (web / "src").mkdir(parents=True)
    if maker != "an agent":
        folder = web / paths.STORE / "constraints"
        folder.mkdir(parents=True)
        (folder / "web-rule.json").write_text(json.dumps(raw("constraint", id="web-rule")))
        clone.git("add", "-A")
    ask()
    if maker == "an agent":
        monkeypatch.setenv("CLAUDECODE", "1")

    main(["init", "--project", str(clone.root)])

    assert (clone.root / paths.STORE).is_dir()
    assert trust.accepted() == {}


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


MARK = "EVILMARK"

DOORS = {
    "start": ("session_start", {"source": "startup"}),
    "prompt": ("user_prompt_submit", {"prompt": "where do we keep login state?"}),
    "past": ("user_prompt_submit", {"prompt": "what did we decide about login state?"}),
    "left off": ("user_prompt_submit", {"prompt": "where did we leave off?"}),
    "correction": ("user_prompt_submit", {"prompt": "No, that is wrong, never force push main"}),
    "read": ("pre_tool_use", {"tool_name": "Read", "tool_input": {"file_path": "src/auth.py"}}),
    "nested": ("pre_tool_use", {"tool_name": "Read", "tool_input": {"file_path": "packages/web/src/a.ts"}}),
    "command": ("pre_tool_use", {"tool_name": "Bash", "tool_input": {"command": "git push --force origin main"}}),
    "subagent": (
        "pre_tool_use",
        {"tool_name": "Task", "tool_input": {"prompt": "change where we keep login state", "description": "x"}},
    ),
    "failure": (
        "post_tool_use_failure",
        {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 1\nECONNREFUSED tile cache 6379"},
    ),
}
"""Every event at which a hook shows records, with what brings one of those of `_clone`."""


def _clone(root):
    """Return a project that came with records of every kind, a bank, and a store in a folder."""
    rule = {"kind": "policy", "rule": f"{MARK} not ever", "impact": ["x"], "severity": "high", "active": True}
    push = {"title": "Nobody force pushes main", "triggers": ["git push --force"], "content": rule}
    check = [{"on": "command", "starts": ["git push"], "has": ["--force"], "say": MARK}]
    decision = {"context": "c", "decision": MARK, "rationale": ["r"]}
    runbook = {"trigger": MARK, "symptoms": ["ECONNREFUSED tile cache 6379"], "steps": [MARK], "verification": "x"}
    summary = {"goal": MARK, "outcome": "partial", "completed": [MARK], "next_actions": [MARK]}
    project = known_project(
        root,
        ("constraint", {**push, "related_files": ["src/auth.py"], "checks": check}),
        ("decision", {"title": "Login state", "triggers": ["where do we keep login state"], "content": decision}),
        ("runbook", {"title": "Tile cache refuses", "content": runbook}),
        ("session_summary", {"title": "Keys", "content": summary}),
    )
    for file in ("src/auth.py", "packages/web/src/a.ts"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("x")
    bank = root / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text(f"### {MARK}\n{MARK}\n- Observation count: 9\n")
    web = raw("constraint", id="web-rule", title="Web rule", related_files=["src/a.ts"], content=rule)
    nested = root / "packages" / "web" / paths.STORE / "constraints"
    nested.mkdir(parents=True)
    (nested / "web-rule.json").write_text(json.dumps(web))
    return project


@pytest.mark.parametrize("door", DOORS)
def test_no_hook_shows_the_text_of_records_that_wait(tmp_path, door):
    project = _clone(tmp_path / "project")
    event, fields = DOORS[door]
    fields = json.loads(json.dumps(fields).replace('"src/', f'"{project.root}/src/'))
    fields = json.loads(json.dumps(fields).replace('"packages/', f'"{project.root}/packages/'))
    fields = {"session_id": "s", "cwd": project.root, **fields}
    ask()

    waiting = run_hook(event, fields).stdout.decode()

    assert MARK not in waiting
    assert "The user is correcting you" not in waiting
    trust.accept(project.root)
    assert MARK in run_hook(event, {**fields, "session_id": "t"}).stdout.decode()


def test_mcp_recalls_no_text_of_records_that_wait(tmp_path):
    from onrecord.mcp import reading

    project = _clone(tmp_path / "project")
    files = ["src/auth.py", "packages/web/src/a.ts"]
    ask()

    def recalled():
        return reading.recall(onrecord.open(project.root), "where do we keep login state?", files=files)

    waiting = recalled()
    assert MARK not in waiting.text + json.dumps(waiting.data)
    trust.accept(project.root)
    assert recalled().text.count(MARK) == 3


def test_whoever_asks_for_a_record_that_waits_is_told_so(tmp_path, capsys):
    """The flaw of 0.3.0-dev: the pointer led to `onrecord show`, which did not say whose word it was."""
    project = _clone(tmp_path / "project")
    ask()
    for words in (["show", "login-state"], ["search", "login state"], ["show", "login-state", "keys"]):
        main([*words, "--project", project.root])
        assert trust.NOTE in " ".join(capsys.readouterr().err.split())
        main([*words, "--json", "--project", project.root])
        assert '"is_accepted": false' in capsys.readouterr().out

    trust.accept(project.root)
    main(["show", "login-state", "--project", project.root])
    assert trust.COMMAND not in capsys.readouterr().err


def test_mcp_says_of_found_records_that_they_wait(tmp_path):
    from onrecord.mcp import reading

    project = _clone(tmp_path / "project")
    assert trust.COMMAND not in reading.search(project, "login state").text
    ask()

    found = reading.search(onrecord.open(project.root), "login state")
    assert trust.COMMAND in found.text
    assert trust.COMMAND in found.data["note"]


def test_mcp_says_of_a_record_that_is_asked_for_that_it_waits(tmp_path):
    from onrecord.mcp import reading

    project = _clone(tmp_path / "project")
    assert trust.COMMAND not in reading.show(project, "login-state").text
    ask()

    assert trust.COMMAND in reading.show(onrecord.open(project.root), "login-state").text
