"""`onrecord connect`: what it writes for each agent, that it can be taken back, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths
from onrecord.cli import connect
from onrecord.errors import Changed, Unwritable
from onrecord.hooks import EVENTS
from onrecord.hosts import config_file, connection, host_files, json_edit, table
from tests.terminal_session import TerminalSession

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths of POSIX systems")

SKILLS = [f"memory-{name}" for name in ("config", "import", "improve", "review", "save", "search", "status")]
ASKS = {"session_id": "s", "prompt": "where do we keep user sessions, postgres or redis?"}
HAND_MADE = """{
  // mine, do not touch
  "apiKey": "sk-secret",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], // bell
  },
}
"""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def value(path: Path) -> Any:
    text = path.read_text()
    return json_edit.value_of(text, json_edit.parse(text))


def hook_commands(path: Path) -> list[str]:
    """Every command in the hooks of a file."""
    entries = [entry for entries in value(path)["hooks"].values() for entry in entries]
    return [command for entry in entries for command in host_files.commands(entry)]


@pytest.mark.parametrize("host", table.BY_NAME)
def test_connecting_twice_is_connecting_once_and_removing_leaves_nothing(host, home, onrecord):
    before = files(home)

    first = onrecord("connect", host, "--yes")
    after = files(home)
    second = onrecord("connect", host, "--yes")

    assert (first.code, second.code) == (0, 0)
    assert after != before
    assert files(home) == after
    assert "nothing to change" in second.out
    assert onrecord("connect", host, "--remove", "--yes").code == 0
    assert files(home) == before
    assert [path for path in home.rglob("*") if path.name in ("skills", "plugins", "hooks", "extensions")] == []


def test_every_host_has_a_setup():
    assert [table.setup(name).host for name in table.BY_NAME] == [*table.BY_NAME]


@pytest.mark.parametrize("setup", [setup for setup in table.setups() if setup.hooks], ids=lambda setup: setup.host)
def test_every_command_written_answers_an_event_of_ours(setup, home, onrecord, project):
    onrecord("save", "decision", "Sessions live in Postgres, not Redis", "--set=context=c",
              "--set=decision=User sessions are rows in Postgres.", "--set=rationale=r")  # fmt: skip
    onrecord("connect", setup.host, "--yes")

    commands = hook_commands(Path(setup.path(setup.hooks.file)))

    assert [command.split()[2] for command in commands] == [wire.event for wire in setup.hooks.wires]
    assert {wire.event for wire in setup.hooks.wires} <= set(EVENTS)
    prompt = next(command for command in commands if " user_prompt_submit " in command)
    event = {**ASKS, "cwd": str(project), "conversation_id": "c", "submitted_prompt": ASKS["prompt"]}
    done = subprocess.run(
        prompt, shell=True, input=json.dumps(event).encode(), capture_output=True, check=True, timeout=120
    )
    assert b"User sessions are rows in Postgres." in done.stdout


def test_a_command_never_fails_even_if_this_installation_is_gone(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "launcher", lambda: str(tmp_path / "it's gone" / "launch"))

    command = host_files.hook_command("pre_tool_use", "copilot")

    done = subprocess.run(
        command, shell=True, input=b"$(touch PWNED)", cwd=tmp_path, capture_output=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert os.listdir(tmp_path) == []


def test_a_path_with_spaces_and_quotation_marks_works(monkeypatch, tmp_path, home, onrecord):
    folder = tmp_path / 'it\'s a "place" with $(touch HACKED) `x` and ü'
    shutil.copytree(
        Path(paths.launcher()).parents[1], folder / "onrecord", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(paths, "launcher", lambda: str(folder / "onrecord" / "hooks" / "launch"))

    onrecord("connect", "codex", "--yes")
    command = hook_commands(home / ".codex" / "hooks.json")[0]

    done = subprocess.run(command, shell=True, input=b"{}", cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "HACKED" not in os.listdir(tmp_path)
    assert connection.state(table.setup("codex")).entrance == "current"


def test_a_file_made_by_hand_keeps_everything(home, onrecord):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(HAND_MADE)

    shown = onrecord("connect", "gemini", "--dry-run", "--mcp")
    unchanged = path.read_text()
    assert onrecord("connect", "gemini", "--yes", "--mcp").code == 0

    assert unchanged == HAND_MADE
    assert "sk-secret" not in shown.out
    added = path.read_text()
    assert "// mine, do not touch" in added and "// bell" in added
    assert value(path)["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "say done"}]}]
    assert [command for command in hook_commands(path) if "onrecord" not in command] == ["say done"]
    assert value(path)["mcpServers"]["onrecord"]["args"] == ["mcp"]
    onrecord("connect", "gemini", "--remove", "--yes")
    assert path.read_text() == HAND_MADE


@pytest.mark.parametrize(
    "text", ['{"apiKey": "sk-secret"}', '{\n  "apiKey": "sk-secret"\n}\n', '{"hooks": {"Stop": [{"x": "sk-secret"}]}}']
)
def test_what_is_shown_has_none_of_the_users_own_values(text, home, onrecord):
    path = home / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text(text)

    added = onrecord("connect", "codex", "--dry-run")
    onrecord("connect", "codex", "--yes")
    removed = onrecord("connect", "codex", "--remove", "--dry-run", "--json")

    assert "user_prompt_submit codex" in added.out and "user_prompt_submit codex" in removed.out
    assert "sk-secret" not in added.out + removed.out
    onrecord("connect", "codex", "--remove", "--yes")
    assert path.read_text() == text


def test_claude_code_loses_the_plugin_although_another_file_of_its_is_broken(home, tmp_path, monkeypatch, onrecord):
    folder = home / ".claude" / "plugins"
    folder.mkdir(parents=True)
    (folder / "installed_plugins.json").write_text('{"plugins": {"memory@onrecord": [{}]}}')
    (folder / "known_marketplaces.json").write_text("{,}")
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    assert onrecord("connect", "claude-code", "--remove", "--yes").code == 0

    assert (tmp_path / "log").read_text() == "plugin uninstall memory@onrecord\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks":{"AfterAgent":[]},"apiKey":"sk-secret","mcpServers":{"x":{"env":{"K":"sk-secret"}}}}',
        '{"hooks":{"SessionStart":[]},"a":1,"apiKey":"sk-secret","mcpServers":{},"z":{"a":"x","sk-secret":1}}',
        '{"hooks": {}, /* "sk-secret */ "mcpServers": {}, "b": ["sk-secret", "\\"sk-secret"]}',
    ],
)
def test_a_value_between_two_changes_of_one_line_is_not_shown(text, home, onrecord):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)

    added = onrecord("connect", "gemini", "--mcp", "--dry-run")
    onrecord("connect", "gemini", "--mcp", "--yes")
    removed = onrecord("connect", "gemini", "--remove", "--dry-run", "--json")

    assert "session_start gemini" in added.out and "session_start gemini" in removed.out
    assert "sk-secret" not in added.out + removed.out
    onrecord("connect", "gemini", "--remove", "--yes")
    assert path.read_text() == text


def test_half_a_character_in_an_entry_of_ours_is_refused(home, onrecord):
    path = home / ".qwen" / "settings.json"
    path.parent.mkdir()
    path.write_text(
        '{"mcpServers": {"onrecord": {"command": "/old/onrecord", "args": ["mcp"], "env": {"A": "\\ud800"}}}}'
    )

    outcome = onrecord("connect", "qwen", "--yes")

    assert (outcome.code, outcome.err.startswith(f"BAD_INPUT: {path} cannot be changed")) == (1, True)


@pytest.mark.parametrize("data", [b"{'a': 1}", b'{"hooks": [', b"\xff\xfe", b'{"hooks": {"BeforeAgent": "x"}}'])
def test_a_file_that_cannot_be_read_is_not_touched(home, onrecord, data):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(data)

    outcome = onrecord("connect", "gemini", "--yes")

    assert outcome.code == 1
    assert outcome.err.startswith(f"BAD_INPUT: {path} cannot be changed: ")
    assert path.read_bytes() == data
    assert not (home / ".agents").exists()
    assert onrecord("connect", "--list").code == 0


def test_an_entry_of_another_installation_is_replaced_and_of_an_event_no_longer_used_removed(home, onrecord):
    onrecord("connect", "codex", "--yes")
    path = home / ".codex" / "hooks.json"
    text = path.read_text().replace(paths.launcher(), "/old/launch").replace('"PreCompact"', '"PreCompactOld"')
    path.write_text(text)

    before = connection.state(table.setup("codex")).entrance
    onrecord("connect", "codex", "--yes")

    assert before == "outdated"
    assert "/old/launch" not in path.read_text()
    assert list(value(path)["hooks"]) == [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd", "PreCompact"
    ]  # fmt: skip


def test_an_mcp_entry_keeps_what_somebody_added_and_is_brought_up_to_date(home, onrecord):
    path = home / ".qwen" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"onrecord": {"command": "/old/onrecord", "args": ["mcp"], "env": {"A": "1"}}}}')

    onrecord("connect", "qwen", "--yes")

    entry = value(path)["mcpServers"]["onrecord"]
    assert (entry["command"], entry["env"]) == (host_files.program()[0], {"A": "1"})


@pytest.mark.parametrize(
    ("host", "file", "key", "choice"),
    [
        ("opencode", ".config/opencode/opencode.json", "mcp", {"enabled": False}),
        ("copilot", ".copilot/mcp-config.json", "mcpServers", {"tools": ["search"]}),
    ],
)
def test_an_mcp_server_that_somebody_switched_off_or_narrowed_stays_so(host, file, key, choice, home, onrecord):
    onrecord("connect", host, "--mcp", "--yes")
    path = home / file
    path.write_text(json.dumps({key: {"onrecord": {**value(path)[key]["onrecord"], **choice}}}))

    assert connection.state(table.setup(host)).server == "current"
    path.write_text(path.read_text().replace(host_files.program()[0], "/old/onrecord"))
    onrecord("connect", host, "--yes")

    assert connection.state(table.setup(host)).server == "current"
    assert choice.items() <= value(path)[key]["onrecord"].items()


def test_a_file_of_hooks_that_has_none_is_not_ours(home, onrecord):
    path = home / ".copilot" / "hooks" / "onrecord.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "version": 1\n}\n')

    assert not connection.state(table.setup("copilot")).is_connected
    assert "not connected" in onrecord("connect", "copilot", "--remove", "--yes").out
    assert path.exists()


def test_a_file_with_more_events_than_anybody_has_is_refused_at_once(home, onrecord):
    entry = {"hooks": [{"command": "x || : onrecord"}]}
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"hooks": {f"e{number}": [entry] for number in range(40)}}))

    assert connection.state(table.setup("gemini"))[::2] == (
        "unreadable", f"{path} cannot be changed: 40 events have hooks of Onrecord"
    )  # fmt: skip


def test_events_of_others_are_read_once(monkeypatch):
    reads = []
    parse = json_edit.parse
    monkeypatch.setattr(json_edit, "parse", lambda *words: reads.append(1) or parse(*words))
    text = json.dumps({"hooks": {f"e{number}": [{"command": "theirs"}] for number in range(500)}})

    assert host_files._drop_hooks(text, table.setup("gemini").hooks) == text
    assert len(reads) == 1


def test_codex_gets_its_server_in_toml_beside_what_is_there(home, onrecord):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('model = "gpt" # mine')

    onrecord("connect", "codex", "--mcp", "--yes")

    program = host_files.program()[0]
    assert path.read_text() == f'model = "gpt" # mine\n\n[mcp_servers.onrecord]\ncommand = "{program}"\nargs = ["mcp"]'
    onrecord("connect", "codex", "--remove", "--yes")
    assert path.read_text() == 'model = "gpt" # mine'


def test_opencode_keeps_its_config_with_comments(home, onrecord):
    path = home / ".config" / "opencode" / "opencode.jsonc"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // theme\n  "theme": "dark"\n}\n')

    onrecord("connect", "opencode", "--mcp", "--yes")

    assert value(path)["mcp"]["onrecord"]["command"] == [*host_files.program(), "mcp"]
    assert not path.with_suffix(".json").exists()


def test_a_link_and_the_permissions_stay(home, tmp_path, onrecord):
    real, path = tmp_path / "dotfiles" / "gemini.json", home / ".gemini" / "settings.json"
    real.parent.mkdir()
    path.parent.mkdir()
    real.write_text(HAND_MADE)
    real.chmod(0o640)
    path.symlink_to(real)

    onrecord("connect", "gemini", "--yes")

    assert path.is_symlink()
    assert (stat.S_IMODE(real.stat().st_mode), "onrecord" in real.read_text()) == (0o640, True)
    assert os.listdir(real.parent) == ["gemini.json"]


def test_a_link_to_a_file_with_nothing_but_ours_goes_with_the_file(home, tmp_path, onrecord):
    real, path = tmp_path / "dotfiles" / "hooks.json", home / ".codex" / "hooks.json"
    real.parent.mkdir()
    path.parent.mkdir()
    path.symlink_to(real)

    onrecord("connect", "codex", "--yes")
    has_file = real.exists()
    onrecord("connect", "codex", "--remove", "--yes")

    assert has_file
    assert (real.exists(), path.is_symlink()) == (False, False)


def test_a_mark_at_the_beginning_of_a_file_stays(home, onrecord):
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf{}\r\n")

    onrecord("connect", "gemini", "--yes")

    assert path.read_bytes().startswith(b'\xef\xbb\xbf{"hooks": {')
    onrecord("connect", "gemini", "--remove", "--yes")
    assert path.read_bytes() == b"\xef\xbb\xbf{}\r\n"


def test_a_change_by_somebody_else_in_between_is_not_overwritten(home):
    path = home / ".codex" / "hooks.json"
    plan = connection.plan(table.setup("codex"), "", wants_server=False)
    path.parent.mkdir()
    path.write_text('{"hooks": {}}')

    with pytest.raises(Changed, match="was changed while this command ran"):
        connection.write_files([plan])

    assert path.read_text() == '{"hooks": {}}'


def test_a_file_that_may_not_be_written_is_refused(home, monkeypatch):
    path = home / "settings.json"
    path.write_text("{}")
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(Unwritable, match="may not be written"):
        config_file.carry_out(config_file.FileChange(str(path), b"{}", b"{ }"))


@pytest.mark.parametrize("host", ["opencode", "pi", "cline"])
def test_a_plugin_file_of_somebody_else_is_not_replaced(host, home, onrecord):
    setup = table.setup(host)
    path = Path(setup.path(setup.shim_file))
    path.parent.mkdir(parents=True)
    path.write_text("export default {}")

    outcome = onrecord("connect", host, "--yes")

    assert "it is not a file that Onrecord wrote" in outcome.err
    assert path.read_text() == "export default {}"
    onrecord("connect", host, "--remove", "--yes")
    assert path.read_text() == "export default {}"


def test_skills_stay_until_the_last_agent_that_reads_them_goes(home, onrecord):
    for host in ("codex", "pi", "cline"):
        onrecord("connect", host, "--yes")
    skills = home / ".agents" / "skills"

    onrecord("connect", "codex", "--remove", "--yes")
    names = sorted(os.listdir(skills))
    onrecord("connect", "pi", "--remove", "--yes")

    assert names == SKILLS
    assert not skills.exists()


def test_skills_say_nothing_that_only_claude_code_understands(home, onrecord):
    onrecord("connect", "codex", "--yes")

    for path in (home / ".agents" / "skills").rglob("SKILL.md"):
        text = path.read_text()
        head = text.split("---")[1]
        assert re.findall(r"^(\w[\w-]*):", head, re.MULTILINE) == ["name", "description"]
        assert f"name: {path.parent.name}\n" in head
        assert [word for word in ("$ARGUMENTS", "CLAUDE_PLUGIN_ROOT", "/memory:", "{{") if word in text] == []
        command = re.search(r"^(\S*onrecord) \w+", text, re.MULTILINE)
        assert command and os.access(command[1], os.X_OK)


def test_a_skill_of_somebody_else_with_our_name_stays_and_stops_nothing_else(home, onrecord):
    path = home / ".agents" / "skills" / "memory-save" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("theirs")

    outcome = onrecord("connect", "codex", "--yes")

    assert (outcome.code, path.read_text()) == (0, "theirs")
    note = next(line for line in outcome.out.splitlines() if line.startswith("  left as it is: "))
    assert str(path) in note and "it is not a file that Onrecord wrote" in note
    assert (home / ".codex" / "hooks.json").exists()
    others = [name for name in SKILLS if name != "memory-save"]
    assert sorted(str(each.parent.name) for each in path.parents[1].rglob("SKILL.md")) == sorted(
        [*others, "memory-save"]
    )
    onrecord("connect", "codex", "--remove", "--yes")
    assert [each.parent.name for each in path.parents[1].rglob("SKILL.md")] == ["memory-save"]


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("codex", ".codex/config.toml", '[plugins."memory@onrecord"]\nenabled = true\n'),
        ("copilot", ".copilot/settings.json", '{"enabledPlugins": {"memory@onrecord": true}}'),
        ("qwen", ".qwen/extensions/memory/src/onrecord/__init__.py", ""),
        ("claude-code", ".claude/plugins/installed_plugins.json", '{"plugins": {"memory@onrecord": [{}]}}'),
    ],
)
def test_where_the_plugin_is_installed_no_second_hooks_are_written(host, file, text, home, onrecord):
    path = home / file
    path.parent.mkdir(parents=True)
    path.write_text(text)

    outcome = onrecord("connect", host, "--yes")

    assert f"{host}: connected by its plugin" in outcome.out
    assert connection.state(table.setup(host)).entrance == "plugin"
    assert not Path(host_files.entrance(table.setup(host)).path).exists()


def test_droid_names_a_marketplace_after_its_folder(home, tmp_path, onrecord):
    (tmp_path / "copy" / "src" / "onrecord").mkdir(parents=True)
    market = {"copy": {"source": {"source": "local", "path": str(tmp_path / "copy")}}}
    (home / ".factory").mkdir()
    settings = {"enabledPlugins": {"memory@copy": True}, "extraKnownMarketplaces": market}
    (home / ".factory" / "settings.json").write_text(json.dumps(settings))

    assert connection.state(table.setup("droid")).entrance == "plugin"


def test_claude_code_gets_the_plugin_by_its_own_command(home, tmp_path, monkeypatch, onrecord):
    log = tmp_path / "log"
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\n[ "$2" != install ] || [ ! -e {tmp_path}/broken ] || exit 3\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    outcome = onrecord("connect", "claude-code", "--yes")
    assert "not on your PATH" not in outcome.out
    (tmp_path / "broken").touch()
    failed = onrecord("connect", "claude-code", "--yes")

    assert outcome.code == 0
    assert log.read_text().splitlines()[:2] == [
        f"plugin marketplace add {paths.clone()}",
        "plugin install memory@onrecord",
    ]
    assert (failed.code, failed.err.splitlines()[0]) == (
        1,
        "COMMAND_FAILED: claude plugin install memory@onrecord: it failed",
    )
    assert f"done before: claude plugin marketplace add {paths.clone()}" in " ".join(failed.err.split())
    assert files(home) == {}


def test_an_agent_whose_files_cannot_be_read_stops_no_other(home, onrecord, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name, text in ((".codex/hooks.json", "{,}"), (".gemini/settings.json", "{}")):
        (home / name).parent.mkdir()
        (home / name).write_text(text)

    outcome = onrecord("connect", "--yes")

    assert outcome.code == 0
    assert "codex: left as it is" in outcome.out and "gemini: connected" in outcome.out
    assert (home / ".codex" / "hooks.json").read_text() == "{,}"


def test_claude_code_loses_the_plugin_its_marketplace_and_the_server_by_its_own_commands(
    home, tmp_path, monkeypatch, onrecord
):
    installed = {"plugins/installed_plugins.json": {"plugins": {"memory@onrecord": [{}]}},
                 "plugins/known_marketplaces.json": {"onrecord": {}},
                 ".claude.json": {"mcpServers": {"onrecord": {}}}}  # fmt: skip
    for name, data in installed.items():
        (home / ".claude" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / ".claude" / name).write_text(json.dumps(data))
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    assert onrecord("connect", "--remove", "--yes").code == 0

    assert (tmp_path / "log").read_text().splitlines() == [
        "plugin uninstall memory@onrecord",
        "plugin marketplace remove onrecord",
        "mcp remove --scope user onrecord",
    ]


def test_claude_code_gets_its_server_again_when_the_installation_has_moved(home, tmp_path, monkeypatch, onrecord):
    (home / ".claude").mkdir()
    entry = {"command": "/old/bin/onrecord", "args": ["mcp"]}
    (home / ".claude" / ".claude.json").write_text(json.dumps({"mcpServers": {"onrecord": entry}}))
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    assert connection.state(table.setup("claude-code")).server == "outdated"
    assert onrecord("connect", "claude-code", "--yes").code == 0

    words = " ".join([*host_files.program(), "mcp"])
    assert (tmp_path / "log").read_text().splitlines()[-2:] == [
        "mcp remove --scope user onrecord",
        f"mcp add --scope user onrecord -- {words}",
    ]


def test_claude_code_loses_its_entries_when_it_gets_the_plugin(home, tmp_path, monkeypatch, onrecord):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    onrecord("connect", "claude-code", "--yes")
    before = files(home)
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    onrecord("connect", "claude-code", "--yes")

    assert sorted(before)[0] == ".claude/settings.json" and len(before) == 1 + len(SKILLS)
    assert files(home) == {}


def test_only_what_is_installed_is_connected_unless_it_is_named(home, onrecord, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    nothing = onrecord("connect", "--yes")
    (home / ".codex").mkdir()

    agents = [entry["agent"] for entry in json.loads(onrecord("connect", "--yes", "--json").out)["agents"]]

    assert nothing.err.startswith("BAD_INPUT: no agent was found on this machine")
    assert agents == ["codex", "skills"]


def test_the_list_names_versions_without_starting_anything(home, tmp_path, monkeypatch, onrecord):
    package = tmp_path / "node_modules" / "codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"version": "0.166.0"}')
    (package / "bin" / "codex.js").write_text(f"#!/bin/sh\ntouch {tmp_path}/STARTED\n")
    (package / "bin" / "codex.js").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(package / "bin" / "codex.js")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    agents = {entry["agent"]: entry for entry in json.loads(onrecord("connect", "--list", "--json").out)["agents"]}

    assert (agents["codex"]["version"], agents["codex"]["connected"]) == ("0.166.0", "missing")
    assert agents["gemini"]["installed"] is False
    assert not (tmp_path / "STARTED").exists()


def test_in_a_project_its_own_files_are_written(project, home, onrecord):
    outcome = onrecord("connect", "codex", "--here", "--yes")

    assert outcome.code == 0
    assert "do not commit them" in outcome.out
    assert (project / ".codex" / "hooks.json").exists()
    assert not (home / ".codex").exists()
    refused = onrecord("connect", "pi", "--here", "--yes")
    assert refused.err.startswith("BAD_INPUT: pi can be connected for your user only")
    onrecord("connect", "--here", "--remove", "--yes")
    assert not (project / ".codex" / "hooks.json").exists()


def test_without_an_agent_that_has_files_in_a_project_that_is_said(project, home, onrecord, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (home / ".pi" / "agent").mkdir(parents=True)

    outcome = onrecord("connect", "--here", "--yes")

    assert (outcome.code, "no agent found here can be connected in a project" in outcome.err) == (1, True)


def test_a_link_that_leads_out_of_the_project_is_not_followed(project, tmp_path, onrecord):
    (tmp_path / "outside").mkdir()
    (project / ".codex").symlink_to(tmp_path / "outside")

    outcome = onrecord("connect", "codex", "--here", "--yes")

    assert outcome.err.startswith("UNSAFE_PATH")
    assert os.listdir(tmp_path / "outside") == []


def test_nothing_is_written_where_nobody_can_be_asked(home, onrecord):
    outcome = onrecord("connect", "codex", "--mcp")

    assert outcome == (
        1,
        "",
        "BAD_INPUT: not a terminal, so nothing was written (use --yes)\nfix: onrecord connect codex --mcp --yes\n"
        "docs: onrecord docs BAD_INPUT\n",
    )
    assert files(home) == {}


def test_the_command_that_writes_without_asking_names_the_project(home, project, onrecord):
    outcome = onrecord("connect", "codex", "--here", "--project", str(project))

    assert f"fix: onrecord connect codex --here --yes --project {project}\n" in outcome.err


def test_an_agent_that_is_not_known_is_refused_with_the_nearest(onrecord):
    assert onrecord("connect", "emacs").err.startswith("BAD_INPUT: no agent is called 'emacs'")
    assert "did you mean gemini?" in onrecord("connect", "gemni").err


@pytest.mark.parametrize("name", ["vscode", "cursor", "windsurf", "zed"])
def test_an_editor_that_has_only_mcp_gets_its_entry(onrecord, name):
    error = json.loads(onrecord("connect", name, "--json").out)["error"]

    assert "its agent can use Onrecord's MCP server" in error["message"]
    entry = json.loads(error["fix"].partition("beside what is there: ")[2].partition("; what it gives: ")[0])
    ((servers),) = entry.values()
    assert servers["onrecord"]["args"][-1] == "mcp"


def test_the_check_shows_what_each_connected_agent_gets(home, onrecord, project):
    onrecord("save", "decision", "Sessions live in Postgres, not Redis", "--set=context=c",
              "--set=decision=User sessions are rows in Postgres.", "--set=rationale=r")  # fmt: skip
    onrecord("connect", "codex", "gemini", "opencode", "--yes")
    before = files(home)

    checked = onrecord("connect", "--check")

    assert checked.code == 0, checked
    assert [line.split(":")[0] for line in checked.out.splitlines() if "its hook replied" in line] == [
        "codex", "gemini", "opencode",
    ]  # fmt: skip
    assert checked.out.count("User sessions are rows in Postgres.") == 3
    assert "times shown" not in onrecord("stats").out
    assert {name for name in files(home) if "cache" not in name} == {name for name in before if "cache" not in name}


def test_the_check_says_that_there_is_no_record(home, onrecord, project):
    onrecord("init")
    onrecord("connect", "codex", "--yes")

    checked = onrecord("connect", "--check")

    assert (checked.code, "no record is in use here; onrecord save --help" in checked.out) == (0, True)


def test_the_check_fails_where_the_hook_cannot_start(home, onrecord, project):
    onrecord("save", "decision", "Sessions live in Postgres, not Redis", "--set=context=c",
              "--set=decision=User sessions are rows in Postgres.", "--set=rationale=r")  # fmt: skip
    onrecord("connect", "codex", "--yes")
    hooks = home / ".codex/hooks.json"
    hooks.write_text(hooks.read_text().replace("hooks/launch", "hooks/gone"))

    checked = onrecord("connect", "--check")

    assert checked.code == 1
    assert "codex: its hook failed: " in checked.out and "onrecord connect codex --yes" in checked.out


def test_the_check_without_an_agent_says_so(home, onrecord):
    refused = onrecord("connect", "--check")

    assert refused.err.splitlines()[:2] == [
        "WRONG_STATE: no agent is connected",
        "fix: connect one: `onrecord connect`; the agents here: onrecord connect --list",
    ]


def test_an_agent_can_be_called_by_the_name_of_its_program(onrecord):
    assert onrecord("connect", "claude", "Codex", "--dry-run", "--json").code == 0


def test_on_a_terminal_it_sums_up_shows_the_lines_on_request_and_asks(home, project):
    with TerminalSession("connect", "codex", cwd=project, size=(250, 50)) as session:
        first = session.expect("[y/N/d]")
        session.press("d")
        session.expect("session_start codex")
        session.expect("[y/N/d]")
        session.press("y")
        session.expect("codex: connected")
        assert session.end() == 0

    # How many lines there are depends on the length of this repository's path.
    hooks = home / ".codex" / "hooks.json"
    assert f"codex: {hooks}: {len(hooks.read_text().splitlines())} lines added" in first
    assert "session_start" not in first


def test_on_a_terminal_any_other_key_writes_nothing(home, project):
    with TerminalSession("connect", "codex", cwd=project) as session:
        session.expect("[y/N/d]")
        session.press("\r")
        session.expect("nothing was written")
        assert session.end() == 0

    assert not (home / ".codex").exists()


def test_an_agent_without_mcp_says_so_if_it_was_named(home, onrecord, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (home / ".pi" / "agent").mkdir(parents=True)

    assert onrecord("connect", "--mcp", "--yes").code == 0
    assert "the program `claude` was not found" in onrecord("connect", "claude-code", "--mcp", "--yes").err
    assert onrecord("connect", "pi", "--mcp", "--yes").err.startswith("BAD_INPUT: pi cannot be given the MCP server")


def test_a_path_that_no_config_can_hold_is_refused(monkeypatch, onrecord):
    monkeypatch.setattr(paths, "launcher", lambda: "/a\nb/launch")

    assert onrecord("connect", "codex", "--yes").err.startswith("BAD_INPUT: the path of this installation cannot")


def test_the_summary_counts_files():
    changes = [config_file.FileChange(f"/h/skills/{name}/SKILL.md", None, b"x") for name in "abc"]

    plan = connection.Plan("skills", changes)
    assert connect._outcome(plan, is_removal=False, dry_run=False) == "written (3 files in /h/skills)"


def test_hooks_shared_with_a_command_of_somebody_else_are_left_alone():
    mixed = {"hooks": [{"command": f"x {host_files.HOOK_MARK}"}, {"command": "theirs"}]}
    text = json.dumps({"hooks": {"Stop": [mixed]}})

    assert json_edit.drop_items(text, ("hooks", "Stop"), host_files.is_ours) == text
