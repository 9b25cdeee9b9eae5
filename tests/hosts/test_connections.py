"""Connections of agents: their state, by entries or by our plugin, and the commands and notes of plans."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths, state_file
from onrecord.errors import BadInput, Unwritable
from onrecord.hosts import connection, host_files, table
from onrecord.hosts.connection import ConnectionState, HookTrial, Installed, Plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths of POSIX systems")

INSTALLED = "plugins/installed_plugins.json"
KNOWN = "plugins/known_marketplaces.json"


@pytest.fixture(autouse=True)
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH; it has no agent."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def claude(bin_folder: Path) -> str:
    """The program of Claude Code."""
    program = bin_folder / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program)


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def plan(host: str, *, mcp: bool = False) -> Plan:
    return connection.plan(table.setup(host), "", wants_server=mcp)


def removal(host: str) -> Plan:
    return connection.removal(table.setup(host), "")


def server(command: str) -> dict[str, Any]:
    return {"command": command, "args": ["mcp"]}


@pytest.mark.parametrize(
    ("host", "files", "has_plugin"),
    [
        ("codex", {"config.toml": '[plugins."memory@onrecord"]\nenabled = true\n'}, True),
        ("codex", {"config.toml": '[plugins."memory@onrecord"]\nenabled = false\n'}, False),
        ("codex", {"config.toml": '[plugins."memory@other"]\nenabled = true\n'}, False),
        ("codex", {}, False),
        ("qwen", {"extensions/memory/src/onrecord/__init__.py": ""}, True),
        ("qwen", {"extensions/memory/src/onrecord": ""}, False),
        ("claude-code", {INSTALLED: {"plugins": {"memory@onrecord": [{}]}}}, True),
        ("claude-code", {INSTALLED: {"plugins": {"memory@onrecord": []}}}, False),
        ("claude-code", {INSTALLED: {"plugins": {"memory@onrecord": [{}]}},
                         "settings.json": {"enabledPlugins": {"memory@onrecord": False}}}, False),
        ("claude-code", {INSTALLED: {"plugins": {"memory@onrecord": [{}]}},
                         "settings.json": {"enabledPlugins": {"memory@onrecord": True, "b@c": False}}}, True),
        ("claude-code", {INSTALLED: {"plugins": {"memory@onrecord": [{}]}}, "settings.json": {"enabledPlugins": [1]}},
         True),
        ("claude-code", {INSTALLED: "{broken"}, False),
        ("copilot", {"settings.json": {"enabledPlugins": {"memory@onrecord": True}}}, True),
        ("copilot", {"settings.json": {"enabledPlugins": {"memory@onrecord": False}}}, False),
        ("copilot", {"settings.json": {"enabledPlugins": {"other@onrecord": True}}}, False),
        ("droid", {"settings.json": {"enabledPlugins": {"memory@copy": True}, "extraKnownMarketplaces": {
            "copy": {"source": {"path": "{folder}"}}}}}, True),
        ("droid", {"settings.json": {"enabledPlugins": {"memory@copy": True}, "extraKnownMarketplaces": {
            "copy": {"source": {"path": "{folder}/src"}}}}}, False),
        ("droid", {"settings.json": {"enabledPlugins": {"memory@copy": True}}}, False),
        ("gemini", {"settings.json": {"enabledPlugins": {"memory@onrecord": True}}}, False),
    ],
)  # fmt: skip
def test_an_agent_has_our_plugin_if_its_own_files_say_so(host, files, has_plugin, tmp_path: Path):
    setup = table.setup(host)
    (tmp_path / "a clone" / "src" / "onrecord").mkdir(parents=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        write(Path(setup.path(name)), text.replace("{folder}", str(tmp_path / "a clone")))

    assert connection.has_plugin(setup) is has_plugin
    assert not connection.has_old_plugin(setup)
    assert connection.state(setup).entrance == ("plugin" if has_plugin else "missing")
    assert connection.state(setup).is_connected is has_plugin


def test_a_config_that_is_no_toml_makes_the_connection_unreadable(home: Path):
    path = write(home / ".codex" / "config.toml", "[plugins")

    flaw = f"{path} cannot be changed: line 1: the header of a table does not end"
    assert connection.state(table.setup("codex")) == ConnectionState("unreadable", "missing", flaw)
    assert not connection.has_plugin(table.setup("codex"))


def test_the_plugin_of_0_2_0_is_not_taken_for_that_of_this_version():
    setup = table.setup("claude-code")
    write(Path(setup.path(INSTALLED)), {"plugins": {"memory@recollect": [{}]}})

    assert (connection.has_plugin(setup), connection.has_old_plugin(setup)) == (False, True)
    assert connection.state(setup) == ConnectionState("outdated", "missing")


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ({}, "missing"),
        ({"other": server("/gone/x")}, "missing"),
        ({"onrecord": server("{program}")}, "current"),
        ({"onrecord": server("onrecord")}, "current"),
        ({"onrecord": {"url": "https://x.test"}}, "current"),
        ({"onrecord": server("/gone/bin/onrecord")}, "outdated"),
        ({"recollect": server("{program}")}, "outdated"),
    ],
)
def test_the_server_of_claude_code_is_outdated_if_its_program_is_gone(home: Path, monkeypatch, entries, state):
    text = json.dumps({"mcpServers": entries}).replace("{program}", host_files.program()[0])
    write(home / ".claude" / ".claude.json", "\ufeff" + text)
    in_its_folder = connection.state(table.setup("claude-code"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    elsewhere = connection.state(table.setup("claude-code"))
    write(home / ".claude.json", text)

    assert in_its_folder == ConnectionState("missing", state)
    assert elsewhere == ConnectionState("missing", "missing")
    assert connection.state(table.setup("claude-code")) == ConnectionState("missing", state)


@pytest.mark.parametrize("text", ["{broken", "[]", "\udcff"])
def test_a_file_of_claude_code_that_cannot_be_read_has_no_server(home: Path, text: str):
    (home / ".claude").mkdir()
    (home / ".claude" / ".claude.json").write_bytes(text.encode("utf-8", "surrogateescape"))

    assert connection.state(table.setup("claude-code")).server == "missing"


def test_only_entries_or_a_plugin_or_a_server_make_a_connection():
    entrances = ("missing", "current", "outdated", "plugin", "unreadable")

    connected = {name: ConnectionState(name, "missing").is_connected for name in entrances}
    by_server = {name: ConnectionState("missing", name).is_connected for name in ("missing", "current", "outdated")}

    assert connected == {"missing": False, "current": True, "outdated": True, "plugin": True, "unreadable": False}
    assert by_server == {"missing": False, "current": True, "outdated": True}


def test_the_state_in_a_project_is_that_of_its_files_alone(home: Path, tmp_path: Path):
    write(home / ".codex" / "config.toml", '[plugins."memory@onrecord"]\nenabled = true\n')
    write(home / ".pi" / "agent" / "extensions" / "onrecord.ts", "// Written by `onrecord connect`")

    states = [connection.state(table.setup(host), str(tmp_path)) for host in ("codex", "pi")]

    assert states == [ConnectionState("missing", "missing")] * 2


def test_a_project_is_connected_if_its_file_has_our_mark(tmp_path: Path):
    path = write(tmp_path / ".gemini" / "settings.json", "{")
    marks = {}
    for text in ("{}", "x || : onrecord", "x || : recollect", "Written by `onrecord connect", "onrecord"):
        path.write_text(text)
        marks[text] = connection.is_named_in(table.setup("gemini"), str(tmp_path))

    assert marks == {
        "{}": False,
        "x || : onrecord": True,
        "x || : recollect": True,
        "Written by `onrecord connect": True,
        "onrecord": False,
    }
    assert not connection.is_named_in(table.setup("qwen"), str(tmp_path))
    assert not connection.is_named_in(table.setup("pi"), str(tmp_path))


def test_which_agents_can_be_given_the_server(claude: str, bin_folder: Path):
    able = [setup.host for setup in table.setups() if connection.can_have_server(setup)]
    (bin_folder / "claude").unlink()
    without_claude = [setup.host for setup in table.setups() if connection.can_have_server(setup)]

    assert able == ["claude-code", *without_claude]
    assert without_claude == ["codex", "copilot", "qwen", "gemini", "opencode", "cline", "droid"]


def test_claude_code_gets_the_plugin_and_the_server_by_its_commands(claude: str):
    commands = [
        [claude, "plugin", "marketplace", "add", paths.clone()],
        [claude, "plugin", "install", "memory@onrecord"],
        [claude, "mcp", "add", "--scope", "user", "onrecord", "--", *host_files.program(), "mcp"],
    ]

    assert plan("claude-code", mcp=True) == Plan("claude-code", [], commands, [], why_empty="connected by its plugin")
    assert plan("claude-code").commands == commands[:2]
    assert not plan("claude-code").is_empty


def test_claude_code_that_has_the_plugin_needs_nothing(claude: str, home: Path):
    write(home / ".claude" / INSTALLED, {"plugins": {"memory@onrecord": [{}]}})
    write(home / ".claude" / ".claude.json", {"mcpServers": {"onrecord": server(host_files.program()[0])}})

    nothing = plan("claude-code", mcp=True)

    note = "to use entries instead of the plugin: claude plugin uninstall memory@onrecord"
    assert nothing == Plan("claude-code", [], [], [note], why_empty="connected by its plugin")
    assert nothing.is_empty


def test_a_server_of_claude_code_that_is_gone_is_added_again_even_if_it_was_not_asked_for(claude: str, home: Path):
    write(home / ".claude" / INSTALLED, {"plugins": {"memory@onrecord": [{}]}})
    write(home / ".claude" / ".claude.json", {"mcpServers": {"onrecord": server("/gone/onrecord")}})

    assert plan("claude-code").commands == [
        [claude, "mcp", "remove", "--scope", "user", "onrecord"],
        [claude, "mcp", "add", "--scope", "user", "onrecord", "--", *host_files.program(), "mcp"],
    ]


@pytest.mark.parametrize("is_known", [True, False])
def test_claude_code_loses_all_by_its_commands(claude: str, home: Path, is_known: bool):
    write(home / ".claude" / INSTALLED, {"plugins": {"memory@onrecord": [{}], "memory@recollect": [{}]}})
    write(home / ".claude" / KNOWN, {"onrecord": {}, "recollect": {}} if is_known else {"other": {}})
    write(home / ".claude" / ".claude.json", {"mcpServers": {"onrecord": {}, "recollect": {}}})

    removed = removal("claude-code")

    plugins = []
    for name in ("onrecord", "recollect"):
        plugins.append([claude, "plugin", "uninstall", f"memory@{name}"])
        plugins += [[claude, "plugin", "marketplace", "remove", name]] if is_known else []
    servers = [[claude, "mcp", "remove", "--scope", "user", name] for name in ("onrecord", "recollect")]
    assert removed == Plan("claude-code", [], [*plugins, *servers], [])


def test_a_connection_that_is_not_there_has_an_empty_removal(claude: str):
    for host in table.BY_NAME:
        assert removal(host) == Plan(host, [], [], [])
        assert removal(host).is_empty


def test_without_its_program_the_plugin_of_claude_code_is_removed_by_hand(home: Path):
    write(home / ".claude" / INSTALLED, {"plugins": {"memory@onrecord": [{}], "memory@recollect": [{}]}})
    old = (
        "the plugin of 0.2.0 is still there, so every hook runs twice; to remove it: "
        "claude plugin uninstall memory@recollect"
    )

    removed, kept = removal("claude-code"), plan("claude-code")

    note = "to remove it: claude plugin uninstall memory@onrecord"
    assert removed == Plan("claude-code", [], [], [note, old], why_empty="connected by its plugin")
    assert kept.notes == [old, "to use entries instead of the plugin: claude plugin uninstall memory@onrecord"]


def test_the_server_is_refused_where_it_cannot_be_added():
    errors = {}
    for host in ("claude-code", "pi"):
        with pytest.raises(BadInput) as caught:
            plan(host, mcp=True)
        errors[host] = (caught.value.message, caught.value.fix)

    assert errors == {
        "claude-code": (
            "the program `claude` was not found, and it is what adds the MCP server",
            "put claude on your PATH, or leave out --mcp",
        ),
        "pi": (
            "pi cannot be given the MCP server by this command",
            "leave out --mcp; what each agent has: onrecord docs agents/README",
        ),
    }


def test_a_server_in_a_file_is_written_only_if_it_is_wanted_or_there(home: Path):
    def files(*, mcp: bool = False) -> list[str]:
        return [os.path.basename(change.path) for change in plan("droid", mcp=mcp).changes]

    alone, wanted = files(), files(mcp=True)
    write(home / ".factory" / "mcp.json", {"mcpServers": {"onrecord": server("/old/onrecord")}})

    assert (alone, wanted, files()) == (["settings.json"], ["settings.json", "mcp.json"], ["settings.json", "mcp.json"])


def test_what_0_2_0_wrote_for_cursor_goes_and_its_server_stays_one(home: Path):
    hooks = {"version": 1, "hooks": {"stop": [{"command": "x || : recollect"}, {"command": "theirs"}]}}
    write(home / ".cursor" / "hooks.json", hooks)
    write(home / ".cursor" / "mcp.json", {"mcpServers": {"recollect": server("/old/recollect")}})

    kept, gone = (connection.retired_plan("", is_removal=is_removal) for is_removal in (False, True))

    def values(plan: Plan) -> dict[str, Any]:
        return {os.path.basename(change.path): json.loads(change.after or b"null") for change in plan.changes}

    theirs = {"version": 1, "hooks": {"stop": [{"command": "theirs"}]}}
    assert values(kept) == {
        "hooks.json": theirs,
        "mcp.json": {"mcpServers": {"onrecord": server(host_files.program()[0])}},
    }
    assert values(gone) == {"hooks.json": theirs, "mcp.json": {"mcpServers": {}}}
    assert kept.name == "cursor"


def test_where_cursor_has_no_server_of_ours_it_gets_none(home: Path):
    write(home / ".cursor" / "mcp.json", {"mcpServers": {}})

    assert connection.retired_plan("", is_removal=False) == Plan("cursor", [])


def test_skills_are_written_with_the_first_agent_and_removed_with_the_last(home: Path):
    codex, pi, cline, claude = (table.setup(host) for host in ("codex", "pi", "cline", "claude-code"))

    first = connection.skills([codex, pi], is_removal=False)
    none = connection.skills([cline], is_removal=False)
    own = connection.skills([claude], is_removal=False)
    for plan in (*first, connection.plan(pi, "", wants_server=False)):
        connection.write_files([plan])

    assert [plan.name for plan in first] == ["skills"]
    assert none == []
    assert [plan.name for plan in own] == ["skills of claude-code"]
    assert {os.path.dirname(os.path.dirname(change.path)) for change in own[0].changes} == {f"{home}/.claude/skills"}
    assert connection.skills([codex], is_removal=False) == []
    assert connection.skills([codex], is_removal=True) == []
    (removed,) = connection.skills([codex, pi], is_removal=True)
    assert [change.after for change in removed.changes] == [None] * len(first[0].changes)


def test_claude_code_with_the_plugin_has_no_skills_of_its_own(claude: str, home: Path):
    setup = table.setup("claude-code")
    path = write(home / ".claude/skills/memory-save/SKILL.md", "<!-- Written by `onrecord connect`")

    (removed,) = connection.skills([setup], is_removal=False)

    assert [(change.path, change.after) for change in removed.changes] == [(str(path), None)]


def test_what_is_typed_for_a_skill_depends_on_the_agents_that_are_connected(home: Path):
    typed = [connection.typed_skill("save")]
    for host in ("qwen", "gemini", "codex", "pi"):
        connection.write_files([plan(host)])
        typed.append(connection.typed_skill("save"))
    write(home / ".claude" / INSTALLED, {"plugins": {"memory@onrecord": [{}]}})
    typed.append(connection.typed_skill("save"))

    last = "$memory-save in Codex CLI, /memory-save in Qwen Code and Gemini CLI, /skill:memory-save in pi"
    assert typed == [
        "its skill memory-save",
        "/memory-save",
        "/memory-save",
        "$memory-save in Codex CLI, /memory-save in Qwen Code and Gemini CLI",
        last,
        f"/memory:save in Claude Code, {last}",
    ]


def test_a_disk_that_fails_costs_the_name_of_a_skill_and_leaves_a_note(monkeypatch):
    def fail(*_: object) -> None:
        raise Unwritable("cannot read x", fix="check the disk")

    monkeypatch.setattr(connection, "state", fail)

    assert connection.typed_skill("save") == "its skill memory-save"
    assert [row[1:] for row in state_file.recent_failures()] == [("agents", "cannot read x")]
    assert state_file.take_lacking()[-1] == "cannot read x"


def test_the_version_of_a_program_is_that_of_the_package_above_it(bin_folder: Path, tmp_path: Path):
    package = tmp_path / "lib" / "node_modules" / "codex"
    program = write(package / "dist" / "bin" / "codex.js", "#!/bin/sh\n")
    program.chmod(0o755)
    (bin_folder / "codex").symlink_to(program)
    manifests = {}
    for text in ('{"version": "1.2"}', '{"version": 3}', "[1]", "{broken"):
        write(package / "package.json", text)
        manifests[text] = connection.installed(table.setup("codex"))

    empty = Installed(str(bin_folder / "codex"), "", False)
    assert manifests == {
        '{"version": "1.2"}': empty._replace(version="1.2"),
        '{"version": 3}': empty,
        "[1]": empty,
        "{broken": empty,
    }


def launcher(home: Path, script: str) -> str:
    """Connect Codex with a launcher, and return the command that is tried."""
    path = write(home / "launch", f"#!/bin/sh\n{script}\n")
    command = f"sh {path} user_prompt_submit codex || : onrecord"
    write(home / ".codex" / "hooks.json", {"hooks": {"Stop": [{"hooks": [{"command": command}]}]}})
    return f"sh {path} user_prompt_submit codex"


def try_hook(project: Path) -> HookTrial:
    return connection.try_hook(table.setup("codex"), str(project), "which queue?")._replace(seconds=0.0)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("<memory-context>\n<result path='x'>one</result>\n<result>two</result><result>three</result>", ("one", "two")),
        ("[project memory, from x]\n- one\n* other\n- two\n- three", ("one", "two")),
        (" \n<memory-context>\n<result>one</result>\n- two", ("one",)),
        ("another text\n- one", ()),
    ],
)
def test_a_trial_shows_the_first_two_records_of_the_reply(shell, home: Path, tmp_path: Path, text: str, lines: Any):
    reply = write(tmp_path / "reply.json", {"hookSpecificOutput": {"hookEventName": "x", "additionalContext": text}})
    command = launcher(home, f"cat {reply}")

    assert try_hook(tmp_path) == HookTrial("codex", command, 0.0, lines)


@pytest.mark.parametrize(
    ("script", "flaw"),
    [
        ("echo no >&2; exit 1", "no"),
        ('printf "1\\tx\\told\\n2\\tx\\tthe last\\n" > "$ONRECORD_STATE_DIR/failures.log"', "the last"),
        ('printf "1\\tx\\tno \\377\\n" > "$ONRECORD_STATE_DIR/failures.log"', "no \ufffd"),
        ("echo '[broken'", ""),
        ("echo '[1]'", ""),
        (":", ""),
    ],
)  # fmt: skip
def test_a_trial_that_shows_nothing_says_what_went_wrong(shell, home: Path, tmp_path: Path, script: str, flaw: str):
    command = launcher(home, script)

    assert try_hook(tmp_path) == HookTrial("codex", command, 0.0, (), flaw)


def test_a_hook_is_tried_with_an_event_of_any_host_in_the_project(shell, home: Path, tmp_path: Path):
    launcher(home, f"cat > {tmp_path}/event; pwd > {tmp_path}/folder")

    try_hook(tmp_path)

    assert json.loads((tmp_path / "event").read_text()) == {
        "session_id": "connect-check",
        "conversation_id": "connect-check",
        "cwd": str(tmp_path),
        "prompt": "which queue?",
        "submitted_prompt": "which queue?",
    }
    assert (tmp_path / "folder").read_text().strip() == str(tmp_path)


def test_the_time_of_a_trial_is_that_of_its_hook(shell, home: Path, tmp_path: Path):
    launcher(home, ":")
    start = time.monotonic()

    trial = connection.try_hook(table.setup("codex"), str(tmp_path), "which queue?")

    assert 0 <= trial.seconds <= time.monotonic() - start


def test_an_agent_without_a_hook_of_ours_is_not_tried(home: Path, tmp_path: Path):
    nothing = HookTrial("codex", "", 0.0, (), "no hook of Onrecord is in its files")

    assert try_hook(tmp_path) == nothing
    write(home / ".codex" / "hooks.json", "{broken")
    assert try_hook(tmp_path) == nothing


def test_the_launcher_of_the_plugin_is_where_the_registry_says_it_is(home: Path, tmp_path: Path):
    setup = table.setup("claude-code")
    script = write(tmp_path / "copy" / "src" / "onrecord" / "hooks" / "launch", "")
    entries = [7, {"installPath": 7}, {"installPath": "/gone"}, {"installPath": str(tmp_path / "copy")}]
    launchers = []
    for content in ({"plugins": {}}, "{broken", {"plugins": {"memory@onrecord": entries}}):
        write(home / ".claude" / INSTALLED, content)
        launchers.append(connection.plugin_launcher(setup))

    assert launchers == ["", "", str(script)]
    assert connection._launcher(setup) == str(script)
    write(home / ".claude" / INSTALLED, {"plugins": {"memory@onrecord": [{}]}})
    assert connection._launcher(setup) == paths.launcher()
