"""`onrecord doctor` on connected agents: entries that are outdated, lost, doubled or not trusted."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.cli import main
from onrecord.doctor import Finding, agents
from onrecord.hosts import host_files
from onrecord.remedy import COMMAND

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths of POSIX systems")


def examine(project: Path) -> list[Finding]:
    return list(agents.examine_connections(str(project)))


def connect(*words: str) -> None:
    assert main(["connect", *words, "--yes"]) == 0


HASHES = {
    "session_start": "aa9126fefaaf4bd995f7eaac1912753ef2322c0c5c9834cbdebfd2535e6a5fca",
    "user_prompt_submit": "3dec69c38675b533a5353f715155d7f642a97216750642753be45f42f2926bed",
    "pre_tool_use": "3139f6ffe87eed16bd31da5717e855799202089d1592eaa6a9cb4597c2a682a0",
    "post_tool_use": "55c5b72bee3dff6f5bc53e3cb36869b3fdcc9060137049079c8f4a505cad2af3",
    "stop": "cf4a875587da8f383a7af7396743f247f2d493f810fc238cc2540ab04547096b",
    "pre_compact": "cdb81452d275792470794026a6b156797fcf4e563ac6bb357e901df2c3992571",
    "session_end": "12c80afa015981513027dd41bf1fb8c25197d31fcb7ab79eda1bd16cc4888664",
}
"""What Codex 0.166.0 wrote when "Trust all and continue" was chosen, for commands with the launcher and mark below."""

LAUNCHER = "/work/w-connect/src/recollect/hooks/launch"
MARK = "|| : recollect"


@pytest.fixture
def launcher(monkeypatch):
    """An installation in the folder for which Codex's fingerprints were recorded."""
    monkeypatch.setattr(paths, "launcher", lambda: LAUNCHER)
    monkeypatch.setattr(host_files, "HOOK_MARK", MARK)


def trust(home: Path, *events: str) -> None:
    hooks = home / ".codex" / "hooks.json"
    tables = [f'[hooks.state."{hooks}:{event}:0:0"]\ntrusted_hash = "sha256:{HASHES[event]}"\n' for event in events]
    (home / ".codex" / "config.toml").write_text("\n".join(tables))


def test_nothing_is_said_where_no_agent_is(tmp_path):
    assert examine(tmp_path) == []


def test_a_connected_and_trusted_agent_is_good(tmp_path, home, launcher):
    connect("codex")
    trust(home, *HASHES)

    assert examine(tmp_path) == [Finding("ok", "codex", "Codex CLI is connected")]


def test_codex_was_not_told_to_trust_the_hooks(tmp_path, home, launcher):
    connect("codex")
    trust(home, *list(HASHES)[:-2])

    _, finding = examine(tmp_path)

    assert finding[:2] == ("warning", "codex")
    assert finding.what == "2 hooks skipped, since Codex does not trust them yet: PreCompact, SessionEnd"
    assert finding.fix.startswith("start codex in a terminal")


def test_a_hook_has_changed_since_codex_was_told_to_trust_it(tmp_path, home, launcher):
    connect("codex")
    trust(home, *HASHES)
    path = home / ".codex" / "config.toml"
    path.write_text(path.read_text().replace(HASHES["stop"], "0" * 64))

    _, finding = examine(tmp_path)

    assert finding.what == "1 hook changed since you trusted them in Codex: Stop"


@pytest.mark.parametrize(("host", "file"), [("codex", ".codex/hooks.json"), ("pi", ".pi/agent/extensions/onrecord.ts")])
def test_the_installation_was_moved(host, file, tmp_path, home):
    connect(host)
    path = home / file
    path.write_text(path.read_text().replace(paths.launcher(), "/old place/launch").replace("sh /old", "sh '/old"))
    path.write_text(path.read_text().replace("place/launch ", "place/launch' "))

    finding = examine(tmp_path)[0]

    assert finding[:2] == ("error", host)
    assert "is set up to start /old place/launch, which does not exist" in finding.what
    assert [main(command.split()[1:]) for command in COMMAND.findall(finding.fix)] == [0]
    assert examine(tmp_path)[0].severity == "ok"


@pytest.mark.parametrize(
    "entry",
    [
        {"hooks": [{"command": "sh '/no end || : onrecord"}]},
        {"hooks": [{"command": "|| : onrecord"}]},
        {"hooks": [7, {"command": "x || : onrecord"}]},
        {"hooks": {"a": 1}, "command": "sh || : onrecord"},
    ],
)
def test_an_entry_that_somebody_changed_stops_no_check(entry, tmp_path, home):
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [entry]}}))
    key = f"{home}/.codex/hooks.json:stop:0:0"
    (home / ".codex" / "config.toml").write_text(f'[hooks.state."{key}"]\ntrusted_hash = "sha256:1"\n')

    first, second = [finding.what for finding in examine(tmp_path)]

    assert first.startswith("Codex CLI") and second.startswith("1 hook changed since")


def test_an_entry_of_an_older_version_is_outdated(tmp_path, home):
    connect("gemini")
    path = home / ".gemini" / "settings.json"
    path.write_text(path.read_text().replace("5000", "60000"))

    (finding,) = examine(tmp_path)

    assert finding == Finding(
        "warning", "gemini", "Gemini CLI: its entries were written by another version",
        "onrecord connect gemini --yes",
    )  # fmt: skip


def test_the_skills_are_outdated(tmp_path, home):
    connect("pi")
    path = home / ".agents" / "skills" / "memory-save" / "SKILL.md"
    path.write_text(path.read_text().replace("# Save a record", "# Save"))

    assert examine(tmp_path)[-1][:3] == ("warning", "agents", "the skills in ~/.agents/skills are outdated")


def test_an_agent_that_is_here_but_not_connected(tmp_path, home):
    (home / ".codex").mkdir()
    (home / ".qwen").mkdir()

    assert examine(tmp_path) == [
        Finding("note", "agents", "on this machine but not connected: codex, qwen", "onrecord connect --list")
    ]


def test_a_config_that_cannot_be_read(tmp_path, home):
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{,}")

    (finding,) = examine(tmp_path)

    assert (finding.severity, finding.check, "line 1" in finding.what) == ("warning", "gemini", True)


def test_hooks_that_run_twice(tmp_path, home, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    connect("copilot")
    connect("codex")
    connect("codex", "--here")
    (home / ".copilot" / "settings.json").write_text('{"enabledPlugins": {"memory@onrecord": true}}')

    twice = [finding for finding in examine(tmp_path) if "twice" in finding.what]

    assert [(finding.check, finding.fix) for finding in twice] == [
        ("codex", "onrecord connect codex --here --remove --yes"),
        ("copilot", "onrecord connect copilot --yes"),
    ]
    assert [main(finding.fix.split()[1:]) for finding in twice] == [0, 0]
    assert [finding for finding in examine(tmp_path) if "twice" in finding.what] == []
    assert os.listdir(home / ".copilot") == ["settings.json"]


def test_a_file_of_the_project_is_only_looked_through_and_no_link_out_of_it_followed(tmp_path, home, monkeypatch):
    """The project may be hostile: parsing its file could take forever."""
    monkeypatch.chdir(tmp_path)
    connect("codex")
    project, entries = tmp_path / "project", tmp_path / "project" / ".codex" / "hooks.json"
    (project / ".git").mkdir(parents=True)
    entries.parent.mkdir()

    entries.write_text("{" * 100_000 + " || : onrecord")
    broken = [finding for finding in examine(project) if "twice" in finding.what]
    entries.unlink()
    entries.symlink_to(home / ".codex" / "hooks.json")
    linked = [finding for finding in examine(project) if "twice" in finding.what]

    assert ([finding.check for finding in broken], linked) == (["codex"], [])


def test_over_mcp_only(tmp_path, home):
    (home / ".factory").mkdir()
    entry = {"type": "stdio", "command": host_files.program()[0], "args": ["mcp"]}
    (home / ".factory" / "mcp.json").write_text(json.dumps({"mcpServers": {"onrecord": entry}}))

    assert examine(tmp_path) == [Finding("ok", "droid", "Factory Droid is connected over MCP only")]


def test_claude_code_connected_by_its_settings_misses_no_plugin(tmp_path, home, monkeypatch):
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    connect("claude-code")

    assert [
        finding for finding in agents.examine_claude_code(str(tmp_path)) if finding.check in ("plugin", "others")
    ] == []
    assert examine(tmp_path) == [Finding("ok", "claude-code", "Claude Code is connected")]


def test_who_has_another_agent_and_no_claude_code_misses_no_plugin(tmp_path, home, monkeypatch):
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    assert "plugin" in {finding.check for finding in agents.examine_claude_code(str(tmp_path))}

    connect("codex")

    assert "plugin" not in {finding.check for finding in agents.examine_claude_code(str(tmp_path))}


def test_the_program_is_typed_by_its_name_only_where_a_shell_finds_this_one(tmp_path, monkeypatch):
    program = host_files.program()[0]
    for folder, target in (("ours", program), ("another", shutil.which("git"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "onrecord").symlink_to(target)

    typed = {}
    for folder in ("ours", "another", "none"):
        monkeypatch.setenv("PATH", str(tmp_path / folder))
        typed[folder] = host_files.shell_command()

    assert typed == {"ours": "onrecord", "another": shlex.quote(program), "none": shlex.quote(program)}
