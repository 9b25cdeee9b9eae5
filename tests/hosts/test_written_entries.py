"""What `connect` writes for each agent, whole: the file, each event with its tools and time limit, and the server."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths
from onrecord.hosts import connection, host_files, table
from onrecord.hosts.host_files import HostSetup

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths of POSIX systems")

ALL = {
    "SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit", "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use", "PostToolUseFailure": "post_tool_use_failure", "Stop": "stop",
    "PreCompact": "pre_compact", "SessionEnd": "session_end",
}  # fmt: skip
NO_FAILURES = {name: event for name, event in ALL.items() if name != "PostToolUseFailure"}
GEMINI = {
    "SessionStart": "session_start", "BeforeAgent": "user_prompt_submit", "BeforeTool": "pre_tool_use",
    "AfterTool": "post_tool_use", "AfterAgent": "stop", "PreCompress": "pre_compact", "SessionEnd": "session_end",
}  # fmt: skip
CLAUDE_TOOLS = "Read|Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Task|Agent"
QWEN_TOOLS = "read_file|write_file|edit|notebook_edit|run_shell_command"
GEMINI_TOOLS = "read_file|write_file|replace|run_shell_command"
HOOKS: dict[str, tuple[str, dict[str, str], str, str]] = {
    "claude-code": (".claude/settings.json", ALL, CLAUDE_TOOLS, "Bash|PowerShell"),
    "codex": (".codex/hooks.json", NO_FAILURES, "Edit|Write|Bash", ""),
    "copilot": (".copilot/hooks/onrecord.json", NO_FAILURES, "", ""),
    "qwen": (".qwen/settings.json", ALL, QWEN_TOOLS, "run_shell_command"),
    "gemini": (".gemini/settings.json", GEMINI, GEMINI_TOOLS, ""),
    "droid": (".factory/settings.json", NO_FAILURES, "Read|Edit|Create|ApplyPatch|Execute", ""),
}
"""The file, its events and ours, the tools before and after which the hook runs, and the shells that may fail."""

SHIMS = {
    "opencode": ".config/opencode/plugins/onrecord.js",
    "pi": ".pi/agent/extensions/onrecord.ts",
    "cline": ".cline/plugins/onrecord.js",
}
PLAIN: dict[str, Any] = {"command": "{program}", "args": ["mcp"]}
SERVERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "copilot": (".copilot/mcp-config.json", "mcpServers", {"type": "local", **PLAIN, "tools": ["*"]}),
    "qwen": (".qwen/settings.json", "mcpServers", PLAIN),
    "gemini": (".gemini/settings.json", "mcpServers", PLAIN),
    "droid": (".factory/mcp.json", "mcpServers", {"type": "stdio", **PLAIN}),
    "opencode": (".config/opencode/opencode.json", "mcp",
                 {"type": "local", "command": ["{program}", "mcp"], "enabled": True}),
    "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers", PLAIN),
}  # fmt: skip
CODEX_SERVER = '[mcp_servers.onrecord]\ncommand = "{program}"\nargs = ["mcp"]\n'


@pytest.fixture(autouse=True)
def _without_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find no program of an agent."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def hook(host: str, name: str, event: str, tools: str, shells: str) -> dict[str, Any]:
    """Return the entry of an event."""
    seconds = 3 if event == "session_end" else 5
    is_named = host == "gemini"
    handler: dict[str, Any] = {"type": "command"}
    if is_named:
        handler["name"] = "onrecord"
    handler["command"] = f"sh {paths.launcher()} {event} {host} || : onrecord"
    handler["timeout"] = seconds * 1_000 if is_named else seconds
    is_for = shells if name == "PostToolUseFailure" else tools if "Tool" in name else ""
    return {**({"matcher": is_for} if is_for else {}), "hooks": [handler]}


def expected_files(host: str) -> dict[str, Any]:
    """Return all that is written for a host with the server: the files in the home folder, and their values."""
    program = host_files.program()[0]
    files: dict[str, Any] = {}
    if host in HOOKS:
        file, events, tools, shells = HOOKS[host]
        files[file] = {
            "hooks": {name: [hook(host, name, event, tools, shells)] for name, event in events.items()},
            **({"version": 1} if host == "copilot" else {}),
        }
    if host in SERVERS:
        file, key, entry = json.loads(json.dumps(SERVERS[host]).replace("{program}", program))
        files[file] = {**files.get(file, {}), key: {"onrecord": entry}}
    return files


def written(setup: HostSetup, base: Path, project: str = "") -> dict[str, str]:
    changes = connection.plan(setup, project, wants_server=connection.can_have_server(setup)).changes
    assert all(change.before is None and change.after for change in changes)
    return {os.path.relpath(change.path, base): (change.after or b"").decode() for change in changes}


@pytest.mark.parametrize("host", table.BY_NAME)
def test_all_files_of_an_agent_are_written_whole(host: str, home: Path):
    texts = written(table.setup(host), home)

    if host == "codex":
        server = texts.pop(".codex/config.toml")
        assert server == CODEX_SERVER.replace("{program}", host_files.program()[0])
    shim = texts.pop(SHIMS[host], "") if host in SHIMS else ""
    assert {file: json.loads(text) for file, text in texts.items()} == expected_files(host)
    assert (f"const LAUNCHER = {json.dumps(paths.launcher())}\n" in shim) is (host in SHIMS)
    assert "{{" not in shim


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("codex", [".codex/hooks.json", ".codex/config.toml"]),
        ("gemini", [".gemini/settings.json"]),
        ("qwen", [".qwen/settings.json"]),
    ],
)
def test_in_a_project_the_same_files_are_written(host: str, names: list[str], tmp_path: Path):
    texts = written(table.setup(host), tmp_path, str(tmp_path))

    assert list(texts) == names
    assert json.loads(texts[names[0]]) == expected_files(host)[names[0]]


def test_only_these_agents_have_files_in_a_project():
    assert [setup.host for setup in table.setups() if setup.project_folder] == ["codex", "qwen", "gemini"]


@pytest.mark.parametrize(
    ("host", "variable", "folder"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/x"),
        ("codex", "CODEX_HOME", "/x"),
        ("copilot", "COPILOT_HOME", "/x"),
        ("qwen", "QWEN_HOME", "/x"),
        ("gemini", "GEMINI_CLI_HOME", "/x/.gemini"),
        ("opencode", "XDG_CONFIG_HOME", "/x/opencode"),
        ("pi", "PI_CODING_AGENT_DIR", "/x"),
        ("cline", "", ""),
        ("droid", "", ""),
    ],
)
def test_the_folder_of_an_agent_is_where_its_variable_says(host, variable, folder, monkeypatch, home: Path):
    setup = table.setup(host)
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    usual = setup.path("a/b.json")

    if variable:
        monkeypatch.setenv(variable, "/x")
        assert setup.path("a/b.json") == f"{folder}/a/b.json"
        monkeypatch.setenv(variable, "relative")
    assert setup.path("a/b.json") == usual
    assert usual == str(home / setup.folder / "a" / "b.json")
    assert setup.variable[0] == variable


@pytest.mark.parametrize("host", table.BY_NAME)
def test_an_agent_is_found_by_the_name_of_its_program(host: str, tmp_path: Path, monkeypatch, home: Path):
    name = "claude" if host == "claude-code" else host
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    absent = connection.installed(table.setup(host))

    monkeypatch.setenv("PATH", str(program.parent))
    present = connection.installed(table.setup(host))

    assert absent == ("", "", False) and not absent.is_there
    assert present == (str(program), "", False) and present.is_there


def test_an_agent_with_a_folder_only_is_there(home: Path):
    (home / ".factory").mkdir()

    assert connection.installed(table.setup("droid")) == ("", "", True)
    assert connection.installed(table.setup("droid")).is_there


def test_what_is_to_be_done_after_connecting_is_said_for_codex_alone():
    steps = {setup.host: setup.next_steps for setup in table.setups()}

    assert "Trust all and continue" in steps.pop("codex")[0]
    assert set(steps.values()) == {("Restart {title}.",)}


def test_which_agents_read_the_skills_of_the_home_folder_and_which_have_their_own():
    shared = [setup.host for setup in table.setups() if setup.reads_skills]
    own = {setup.host: setup.own_skills for setup in table.setups() if setup.own_skills}

    assert shared == ["codex", "copilot", "qwen", "gemini", "opencode", "pi", "droid"]
    assert own == {"claude-code": "skills"}


@pytest.mark.parametrize(
    ("host", "command"),
    [
        ("claude-code", "claude plugin uninstall memory@onrecord"),
        ("codex", "codex plugin remove memory@onrecord"),
        ("copilot", "copilot plugin uninstall memory@onrecord"),
        ("qwen", "qwen extensions uninstall memory"),
        ("droid", "droid plugin uninstall memory"),
        ("gemini", ""),
    ],
)
def test_the_command_that_removes_the_plugin_is_that_of_the_agent(host: str, command: str):
    plugin = table.setup(host).plugin

    assert (plugin.removal if plugin else "") == command
    assert connection.old_plugin_removal(table.setup(host)) == command.replace("onrecord", "recollect")


def test_an_entry_of_0_2_0_is_taken_over_with_what_the_user_added(home: Path):
    path = home / ".factory" / "mcp.json"
    path.parent.mkdir()
    old = {"command": "/old/bin/recollect", "args": ["mcp"], "env": {"A": "1"}, "enabled": False}
    path.write_text(json.dumps({"mcpServers": {"recollect": old}}))

    state = connection.state(table.setup("droid"))
    (change,) = [
        change for change in connection.plan(table.setup("droid"), "", wants_server=False).changes
        if change.path == str(path)
    ]  # fmt: skip

    assert state == ("missing", "outdated", "")
    assert state.is_connected
    assert json.loads(change.after or b"") == {
        "mcpServers": {
            "onrecord": {**old, "type": "stdio", "command": host_files.program()[0]},
        }
    }


@pytest.mark.parametrize(
    ("entry", "is_ours"),
    [
        ({"command": "/a/onrecord", "args": ["mcp"]}, True),
        ({"command": "C:\\a\\onrecord.exe", "args": ["mcp"]}, True),
        ({"command": "/a/recollect", "args": ["mcp"]}, True),
        ({"command": "recollect.exe", "args": ["mcp"]}, True),
        ({"command": "/a/python3", "args": ["-m", "onrecord", "mcp"]}, True),
        ({"command": ["/a/onrecord", "mcp"]}, True),
        ({"command": ["/a/onrecord"], "args": ["mcp"]}, True),
        ({"command": "/a/onrecord", "args": ["mcp", "--project", "x"]}, False),
        ({"command": "/a/onrecord", "args": ["serve"]}, False),
        ({"command": "/a/onrecord", "args": "mcp"}, False),
        ({"command": "/a/other", "args": ["mcp"]}, False),
        ({"command": "/a/onrecorder", "args": ["mcp"]}, False),
        ({"args": ["mcp"]}, False),
        ("onrecord mcp", False),
    ],
)
def test_a_server_is_ours_if_its_command_starts_it(home: Path, entry: Any, is_ours: bool):
    path = home / ".qwen" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"onrecord": entry}}))

    assert (connection.state(table.setup("qwen")).server != "missing") is is_ours


@pytest.mark.parametrize(
    ("table_text", "state"),
    [
        ('command = "{program}"\nargs = ["mcp"]', "current"),
        ('command = "/old/onrecord"\nargs = ["mcp"]', "outdated"),
        ('command = "/old/onrecord"\nargs = ["serve"]', "missing"),
        ("command = '/old/onrecord'\nargs = ['mcp']", "missing"),
        ('command = "mcp"', "missing"),
    ],
)
def test_a_table_of_codex_is_ours_if_its_command_starts_our_server(home: Path, table_text: str, state: str):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text("[mcp_servers.onrecord]\n" + table_text.replace("{program}", host_files.program()[0]) + "\n")

    assert connection.state(table.setup("codex")).server == state


@pytest.mark.parametrize(("name", "is_used"), [("opencode.jsonc", True), ("opencode.json", False)])
def test_opencode_has_its_server_in_the_file_with_comments_if_there_is_one(home: Path, name: str, is_used: bool):
    path = home / ".config" / "opencode" / name
    path.parent.mkdir(parents=True)
    path.write_text("{}")

    part = host_files.server(table.setup("opencode"))

    assert part and part.path == str(path)


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        ("sh '/a b/launch' stop codex || : onrecord", ["/a b/launch"]),
        ("sh /a/launch stop codex || : recollect", ["/a/launch"]),
        ("bash /a/launch stop codex || : onrecord", []),
        ("sh '/no end || : onrecord", []),
        ("sh /a/launch stop codex", []),
    ],
)
def test_the_launcher_is_read_from_the_hooks_of_an_agent(home: Path, command: str, launcher: list[str]):
    path = home / ".codex" / "hooks.json"
    path.parent.mkdir()
    entry = {"hooks": [{"command": command}]}
    path.write_text("\ufeff" + json.dumps({"hooks": {"Stop": [entry, entry]}}), encoding="utf-8")

    assert host_files.launchers(table.setup("codex")) == launcher


def test_the_launcher_is_read_from_a_shim(home: Path):
    path = home / SHIMS["pi"]
    assert host_files.launchers(table.setup("pi")) == []

    path.parent.mkdir(parents=True)
    path.write_text('const LAUNCHER = "/a \\"b\\"/launch"\n')

    assert host_files.launchers(table.setup("pi")) == ['/a "b"/launch']


@pytest.mark.parametrize("count", [30, 31])
def test_thirty_events_may_have_hooks_of_ours(home: Path, count: int):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    entry = {"hooks": [{"command": "x || : onrecord"}]}
    path.write_text(json.dumps({"hooks": {f"e{number}": [entry] for number in range(count)}}))

    assert connection.state(table.setup("gemini")).entrance == ("outdated" if count == 30 else "unreadable")


def test_files_that_only_0_2_0_wrote_make_a_connection_outdated_and_go_with_the_next_one(home: Path):
    hooks = '{\n  "hooks": {\n    "Stop": [\n      {"command": "x || : recollect"}\n    ]\n  }\n}\n'
    old = {
        "copilot": (".copilot/hooks/recollect.json", hooks),
        "opencode": (".config/opencode/plugins/recollect.js", "// Written by `recollect connect`\n"),
        "pi": (".pi/agent/extensions/recollect.ts", "// Written by `recollect connect`\n"),
    }
    for host, (name, text) in old.items():
        path = home / name
        path.parent.mkdir(parents=True)
        path.write_text(text)

        assert connection.state(table.setup(host)).entrance == "outdated"
        for plan in (
            connection.plan(table.setup(host), "", wants_server=False), connection.removal(table.setup(host), "")
        ):  # fmt: skip
            assert [change.path for change in plan.changes if change.after is None] == [str(path)]


def test_a_file_of_somebody_else_with_the_old_name_stays(home: Path):
    path = home / ".pi" / "agent" / "extensions" / "recollect.ts"
    path.parent.mkdir(parents=True)
    path.write_text("export default {}")

    assert connection.state(table.setup("pi")).entrance == "missing"
    changes = connection.plan(table.setup("pi"), "", wants_server=False).changes
    assert [change.path for change in changes] == [str(home / SHIMS["pi"])]
