"""A broken check at an action: the rule is shown, or the person is asked, or the tool is denied; never on an error."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import budget, paths
from onrecord.hooks import tools
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts.events import HostEvent
from onrecord.project import Project
from onrecord.recall import for_check
from onrecord.record import check
from onrecord.usage import usage_log
from tests.hooks.hook_process import HookOutput, run_hook
from tests.known_project import known_project

PNPM = {
    "title": "Add packages with pnpm",
    "id": "use-pnpm",
    "content": {"decision": "pnpm add, never npm.", "context": "One lock file.", "rationale": ["npm writes its own"]},
    "checks": [
        {"on": "command", "starts": ["npm install", "npm i"], "unless": ["--workspace"], "say": "run pnpm add"},
        {"on": "command", "starts": ["yarn add", "yarn install"]},
        {"on": "edit", "paths": ["src/**/*.ts"], "adds": ["from 'moment'"], "say": "date-fns, not moment"},
    ],
}
Tool = Callable[..., HookOutput]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return known_project(tmp_path / "project", ("decision", PNPM))


@pytest.fixture
def tool(project: Project) -> Tool:
    """Run the event before a tool; `host` and `event` name others."""

    def run(name: str, session: str = "s1", host: str = "", event: str = "pre_tool_use", **fields: Any) -> HookOutput:
        payload = {"session_id": session, "cwd": project.root, "tool_name": name, "tool_input": fields}
        output = run_hook(event, payload, host)
        assert (output.code, output.stderr) == (0, b"")
        return output

    return run


def configure(root: str, values: dict[str, Any]) -> None:
    os.makedirs(root, exist_ok=True)
    Path(root, "memory-config.json").write_text(json.dumps(values), encoding="utf-8")


def test_a_broken_check_shows_the_rule_before_the_command(tool):
    context = tool("Bash", command="cd web && npm install left-pad").context

    assert "pnpm add, never npm." in context
    assert "this command goes against it; run pnpm add" in context
    assert "decisions/use-pnpm.json" in context


@pytest.mark.parametrize(
    "command", ["npm test", "npm install --workspace web", "git commit -m 'npm install'", "npm install x #nomem"]
)
def test_other_commands_break_no_check(tool, command):
    assert "goes against it" not in tool("Bash", command=command).context


def test_a_rule_is_shown_once_for_a_family_of_actions_whatever_was_shown_before(tool, project):
    tool("Read", file_path=os.path.join(project.root, "src/a.ts"))
    shown = [
        "goes against it" in tool("Bash", command=command).context
        for command in ("npm install a", "npm i b", "cd web && npm install c", "npm i d")
    ]

    assert shown == [True, False, False, False]
    assert "goes against it" in tool("Bash", command="yarn install").context
    assert "goes against it" in tool("Bash", session="s2", command="npm install a").context


def test_a_rule_without_room_is_shown_at_the_next_such_command(tool, project):
    for name in ("registry", "review"):
        rule = {**PNPM, "id": name, "title": f"Every package goes through {name}"}
        advice = f"{name} first: {'ask the owner of the registry before anything is added ' * 3}"
        project.save("decision", {**rule, "checks": [{"on": "command", "starts": ["npm install"], "say": advice}]})
    names = ("use-pnpm", "registry", "review")

    contexts = [tool("Bash", command=f"npm install {package}").context for package in "abcd"]

    shown = [name for context in contexts for name in names if f"decisions/{name}.json" in context]
    counts = {path: record.injected for path, record in usage_log.per_record(project.store.root).items()}
    assert sorted(shown) == sorted(names)
    assert counts == {f"decisions/{name}.json": 1 for name in names}


@pytest.mark.parametrize("name", ["Edit", "Write"])
def test_a_grave_rule_about_the_file_is_not_shown_twice_at_the_edit_that_breaks_it(tool, project, name):
    """The check showed it, and then the file did: with its note, and without."""
    content = {"rule": "Format dates with date-fns.", "impact": "x", "severity": "high", "kind": "policy"}
    rule = {"id": "dates", "title": "Dates", "content": content, "related_files": ["src/"]}
    project.save("constraint", {**rule, "checks": [{"on": "edit", "paths": ["src/**"], "adds": ["moment("]}]})
    Path(project.root, "src").mkdir(exist_ok=True)
    change = {"content": "moment()"} if name == "Write" else {"old_string": "x", "new_string": "moment()"}

    for file, times in (("src/a.ts", 1), ("src/a.ts", 0), ("src/b.ts", 1)):
        context = tool(name, file_path=os.path.join(project.root, file), **change).context

        assert context.count("Format dates with date-fns.") == context.count("goes against it") == times


def test_an_edit_that_adds_a_text_breaks_a_check(tool, project):
    file = os.path.join(project.root, "src/a.ts")
    moment = "import m from 'moment'"

    assert "date-fns, not moment" in tool("Edit", file_path=file, old_string="x", new_string=moment).context
    assert not tool("Edit", "s2", file_path=file, old_string=moment, new_string=f"{moment} // x").context
    assert not tool("Edit", "s2", file_path=f"{file}x", old_string="x", new_string=moment).context
    assert "date-fns" in tool("Write", "s2", file_path=file, content=moment).context


def test_a_file_that_had_the_text_already_may_be_written_again(tool, project):
    file = Path(project.root, "src/a.ts")
    file.parent.mkdir()
    file.write_text("import m from 'moment'\n")

    assert not tool("Write", file_path=str(file), content="import m from 'moment'\nmore\n").context


PRINT = {
    "title": "Log with the logger",
    "id": "use-logger",
    "content": {"decision": "No print.", "context": "Logs are read by a machine.", "rationale": ["one format"]},
    "checks": [
        {"on": "edit", "adds": ['from "luxon"']},
        {"on": "edit", "starts": ["print("]},
        {"on": "edit", "paths": ["src/"], "has": ["axios"]},
        {"on": "write", "paths": ["locked.txt"]},
    ],
}


@pytest.mark.parametrize(
    ("old", "new", "every", "is_broken"),
    [
        ("lodash", "luxon", False, True),
        ("debug(x)", "print(x)", False, False),
        ("logger.debug(x)", "print(x)", False, True),
        ("logger.", "", False, False),
        ("logger.debug", "print", False, False),
        ("logger.debug", "print", True, True),
        ("not in the file", "print(x)", False, True),
    ],
)
def test_an_edit_is_compared_by_whole_lines_of_the_file(tool, project, old, new, every, is_broken):
    project.save("decision", PRINT)
    file = Path(project.root, "src/m.ts")
    file.parent.mkdir()
    lines = ('import m from "lodash"', "if (a) logger.debug(y)", "logger.debug(x)")
    # Of several places, the first is replaced.
    file.write_bytes("\r\n".join(lines if "debug(x)" not in old else lines[::2]).encode())
    fields = {"old_string": old, "new_string": new, **({"replace_all": True} if every else {})}

    assert ("goes against it" in tool("Edit", file_path=str(file), **fields).context) is is_broken
    assert ("goes against it" in tool("MultiEdit", "s2", file_path=str(file), edits=[fields]).context) is is_broken


def test_lines_of_a_patch_count_for_their_own_file(tool, project):
    project.save("decision", PRINT)
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    def decision(docs: str, source: str) -> object:
        sections = f"*** Update File: docs/b.md\n@@\n-b\n+{docs}\n*** Update File: src/a.ts\n@@\n-a\n+{source}\n"
        patch = f"*** Begin Patch\n{sections}*** End Patch"
        return tool("apply_patch", host="codex", command=patch).specific.get("permissionDecision")

    assert decision("we do not use axios", "fetch()") is None
    assert decision("we use fetch", "axios()") == "deny"


def test_a_file_that_is_emptied_is_replaced(tool, project):
    project.save("decision", PRINT)
    file = Path(project.root, "locked.txt")
    file.write_text("kept\n")

    assert not tool("Edit", file_path=str(file), old_string="kept", new_string="").context
    assert "goes against it" in tool("Write", file_path=str(file), content="").context


def test_a_question_is_for_the_person_and_a_denial_for_the_agent(tool):
    configure(paths.user_store(), {"checks": {"enforce": "ask"}})
    asked = tool("Bash", command="npm i x").specific["permissionDecisionReason"].splitlines()[0]
    denied = tool("shell", host="codex", command="npm i x").specific["permissionDecisionReason"].splitlines()[0]

    assert "goes against the rule “Add packages with pnpm” (record use-pnpm). Instead: run pnpm add." in asked
    assert "the user" not in asked
    assert "you" not in denied
    assert "if the user wants it all the same, add the comment #nomem" in denied


@pytest.mark.parametrize(
    "command",
    [
        "(cd web && npm install)",
        "out=$(npm install 2>&1)",
        'echo "$(npm install)"',
        "npm \\\ninstall x",
        "2>/dev/null npm install",
        "f() { npm install; }; f",
        "for d in a b; do (cd $d && npm install); done",
        "timeout 60 npm install x",
        'npm install x --registry "http://r/#nomem"',
        "npm install left-pad; echo foo#nomemory",
    ],
)
def test_a_command_is_denied_however_the_shell_is_told_to_run_it(tool, command):
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    assert tool("Bash", command=command).specific["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    ("level", "host", "decision"), [("deny", "", "deny"), ("ask", "", "ask"), ("ask", "codex", "deny")]
)
def test_the_user_has_a_broken_check_enforced(tool, project, level, host, decision):
    configure(paths.user_store(), {"checks": {"by_record": {"use-pnpm": level}}})

    name = "shell" if host else "Bash"
    for _ in range(2):
        specific = tool(name, host=host, command="npm i x").specific
        assert specific["permissionDecision"] == decision
        reason = specific["permissionDecisionReason"]
        assert "onrecord show use-pnpm" in reason
        assert "#nomem" in reason
        assert "onrecord config set --user checks.by_record.use-pnpm warn" in reason
        assert "run pnpm add" in reason
        assert "&lt;" not in reason
    assert not tool("Bash", command="npm i x #nomem").stdout


def test_a_project_may_lower_what_the_user_enforces_and_never_raise_it(tool, project):
    configure(project.store.root, {"checks": {"enforce": "deny", "by_record": {"use-pnpm": "ask"}}})
    assert "goes against it" in tool("Bash", command="npm i x").context

    configure(paths.user_store(), {"checks": {"enforce": "deny"}})
    assert tool("Bash", command="npm i x").specific["permissionDecision"] == "ask"

    configure(project.store.root, {"checks": {"enforce": "warn"}})
    assert "goes against it" in tool("Bash", session="s2", command="npm i x").context


def test_a_host_that_shows_rules_late_denies_before_and_warns_after(tool):
    fields = {"command": "npm i x"}
    assert not tool("run_shell_command", host="gemini", **fields).stdout
    assert b"goes against it" in tool("run_shell_command", host="gemini", event="post_tool_use", **fields).stdout

    configure(paths.user_store(), {"checks": {"enforce": "deny"}})
    denied = json.loads(tool("run_shell_command", host="gemini", **fields).stdout)
    assert denied["decision"] == "deny"


@pytest.mark.parametrize(
    "change",
    [
        {"record_status": "retired", "retired_at": "2026-03-02T09:30:00Z"},
        {"superseded_by": "use-bun"},
        {"scope": {"branches": ["release"]}},
        {"checks": [{"on": "command", "starts": ["npm install"], "unless": ["npm"]}]},
    ],
)
def test_records_that_are_not_in_force_here_are_not_checked(tool, project, change):
    Path(project.root, ".git", "HEAD").write_text("ref: refs/heads/main\n")
    file = Path(project.store.root, "decisions/use-pnpm.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    assert not tool("Bash", command="npm install x").specific.get("permissionDecision")


def test_a_blank_text_in_one_record_leaves_the_checks_of_others_in_force(tool, project):
    project.save("decision", {**PNPM, "id": "second", "title": "Second", "checks": [{"on": "command", "has": ["zz"]}]})
    file = Path(project.store.root, "decisions/second.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "checks": [{"on": "command", "starts": [" "]}]}))
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    assert "use-pnpm" in tool("Bash", command="npm install x").specific["permissionDecisionReason"]
    assert not tool("Bash", command="git status").stdout


def test_a_check_that_fails_leaves_the_others_in_force(project, monkeypatch):
    broken = {**PNPM, "id": "broken", "title": "Broken", "checks": [{"on": "command", "has": ["npm"]}]}
    project.save("decision", broken)
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})
    compare = check.breaks_command

    def fail(one: check.Check, command: str) -> bool:
        if one.has:
            raise IndexError("a malformed check")
        return compare(one, command)

    monkeypatch.setattr(check, "breaks_command", fail)
    event = HostEvent("pre_tool_use", "claude-code", "s", project.root, tool="shell", command="npm i x")
    budget.start(100, time.process_time() + 100)
    try:
        reply = tools.pre_tool_use(event, EventStores(project.root, project.store.root, ""))
    finally:
        budget.stop()

    assert reply.kind == "deny"
    assert "a malformed check" in Path(paths.state_dir(), "failures.log").read_text()


def test_a_proposed_decision_only_warns(tool, project):
    file = Path(project.store.root, "decisions/use-pnpm.json")
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "content": {**record["content"], "status": "proposed"}}))
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    assert "goes against it" in tool("Bash", command="npm install x").context


@pytest.mark.parametrize("key", ["checks.enabled", "retrieval.enabled", "categories.decision.enabled"])
def test_what_is_switched_off_is_not_checked(tool, project, key):
    configure(paths.user_store(), {key: False, "checks.enforce": "deny"})

    assert not tool("Bash", command="npm install x").stdout


def test_a_record_that_cannot_be_read_lets_the_tool_run(tool, project):
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})
    Path(project.store.root, "decisions/use-pnpm.json").write_text("{")

    assert not tool("Bash", command="npm install x").specific.get("permissionDecision")


def test_an_edited_check_counts_at_once(tool, project):
    tool("Bash", command="npm install x")
    file = Path(project.store.root, "decisions/use-pnpm.json")
    record = json.loads(file.read_text())
    checks = [{"on": "command", "starts": ["yarn add"]}]
    file.write_text(json.dumps({**record, "checks": checks}))

    assert "goes against it" not in tool("Bash", "s2", command="npm install x").context
    assert "goes against it" in tool("Bash", "s3", command="yarn add x").context


def test_an_error_lets_the_tool_run_and_leaves_a_trace(project, monkeypatch):
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    def fail(*_: object) -> None:
        raise RuntimeError("no such check")

    monkeypatch.setattr(for_check, "verdict", fail)
    event = HostEvent(
        "pre_tool_use", "claude-code", "s", project.root, tool="shell", command="npm i x", shows_files=True
    )
    budget.start(100, time.process_time() + 100)
    try:
        reply = tools.pre_tool_use(event, EventStores(project.root, project.store.root, ""))
    finally:
        budget.stop()

    assert reply.kind != "deny"
    assert any("no such check" in line for line in Path(paths.state_dir(), "failures.log").read_text().splitlines())


def test_a_check_that_takes_too_long_lets_the_tool_run(project, monkeypatch):
    configure(paths.user_store(), {"checks": {"enforce": "deny"}})

    def spin(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(for_check, "find", spin)
    event = HostEvent(
        "pre_tool_use", "claude-code", "s", project.root, tool="shell", command="npm i x", shows_files=True
    )
    budget.start(1, time.process_time() + 100)
    try:
        reply = tools.pre_tool_use(event, EventStores(project.root, project.store.root, ""))
    finally:
        budget.stop()

    assert reply.kind != "deny"
