"""What 0.2.0, which was called Recollect, wrote into agents' files is replaced by `connect`, or removed by `--remove`.

The home folder is that of 0.2.0-agents.json. Where the history is there, the real 0.2.0 writes it again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.upgrade import old_data, old_project
from tests.upgrade.old_project import AGENTS, VERSIONS, OldProject


@pytest.fixture
def old(tmp_path: Path) -> OldProject:
    """The files of a user whose agents 0.2.0 has connected."""
    return old_project.unpack(json.loads(AGENTS.read_text(encoding="utf-8")), tmp_path / "machine")


def texts(home: Path) -> dict[str, str]:
    """Return what the agents' files say."""
    files = (path for path in home.rglob("*") if path.is_file() and ".local" not in path.parts)
    return {path.relative_to(home).as_posix(): path.read_text(encoding="utf-8") for path in files}


def meaning(path: str, text: str) -> Any:
    """Return what a file says without its layout."""
    return json.loads(text) if path.endswith(".json") else "".join(text.split())


def values(home: Path) -> dict[str, Any]:
    return {path: meaning(path, text) for path, text in texts(home).items()}


def findings(old: OldProject, *checks: str) -> list[dict[str, str]]:
    # Outdated entries whose program is gone are errors, so its status is 1.
    listed = json.loads(old.shell(f"'{old_project.NEW_PROGRAM}' doctor --json || true"))["findings"]
    return [finding for finding in listed if finding["check"] in checks]


def test_connect_leaves_what_it_writes_where_0_2_0_never_was(old: OldProject) -> None:
    fresh = OldProject(old.root.parent / "fresh")
    fresh.project.mkdir(parents=True)
    for path, text in old_data.AGENT_FILES.items():
        old_project.write(fresh.home / path, text)
    fresh.connect("--mcp", "--yes")

    old.connect("--yes")

    now, expected = values(old.home), values(fresh.home)
    assert now.pop(".cursor/mcp.json")["mcpServers"].keys() == {"tickets", "onrecord"}
    assert expected.pop(".cursor/mcp.json")["mcpServers"].keys() == {"tickets"}
    assert now == expected
    assert [path for path, text in texts(old.home).items() if "recollect" in text.lower() + path] == []
    assert "nothing to change" in old.connect("codex", "--yes")


def test_remove_leaves_what_was_there_before_0_2_0(old: OldProject) -> None:
    old.connect("--remove", "--yes")

    assert texts(old.home) == old_data.AGENT_FILES


def test_remove_after_the_upgrade_leaves_what_was_there_before_0_2_0(old: OldProject) -> None:
    old.connect("--yes")
    old.connect("--remove", "--yes")

    assert texts(old.home) == old_data.AGENT_FILES


def test_what_the_user_switched_off_stays_off(old: OldProject) -> None:
    codex, opencode = old.home / ".codex/config.toml", old.home / ".config/opencode/opencode.jsonc"
    codex.write_text(codex.read_text() + 'enabled = false\n\n[mcp_servers.recollect.env]\nTOKEN = "x"\n')
    opencode.write_text(opencode.read_text().replace('"enabled": true', '"enabled": false'))

    old.connect("codex", "opencode", "--yes")

    text = codex.read_text()
    assert text[text.index("[mcp_servers.onrecord]") :].splitlines()[2:] == [
        'args = ["mcp"]',
        "enabled = false",
        "",
        "[mcp_servers.onrecord.env]",
        'TOKEN = "x"',
    ]
    assert "recollect" not in text + opencode.read_text()
    assert '"enabled": false' in opencode.read_text()


def test_a_server_of_the_old_name_that_0_2_0_did_not_write_stays(old: OldProject) -> None:
    file = old.home / ".gemini/settings.json"
    settings = json.loads(file.read_text())
    settings["mcpServers"]["recollect"] = {"command": "photos", "args": ["serve"]}
    file.write_text(json.dumps(settings))

    old.connect("gemini", "--mcp", "--yes")

    servers = json.loads(file.read_text())["mcpServers"]
    assert (servers["recollect"], list(servers)) == (
        {"command": "photos", "args": ["serve"]},
        ["recollect", "onrecord"],
    )


def test_doctor_names_every_file_and_the_printed_line_replaces_it(old: OldProject, tmp_path: Path) -> None:
    with_old_name = {old.home / path for path, text in texts(old.home).items() if "recollect" in text + path}
    expected = {str(file.parents[1] if file.name == "SKILL.md" else file) for file in with_old_name}
    (leftovers,) = findings(old, "old name")
    program = tmp_path / "bin" / "onrecord"
    program.parent.mkdir()
    program.symlink_to(old_project.NEW_PROGRAM)

    old.shell(f"PATH={program.parent}:$PATH; {leftovers['fix']}")

    assert set(leftovers["what"].partition(": ")[2].split(", ")) == expected
    assert findings(old, "old name") == []
    agents = ("claude-code", "codex", "copilot", "qwen", "gemini", "opencode", "pi", "cline", "droid", "agents")
    assert [finding["what"] for finding in findings(old, *agents, "others") if finding["severity"] == "error"] == []


@pytest.mark.parametrize("options", [[], ["--remove"]], ids=["connect", "remove"])
def test_the_plugin_and_the_server_of_0_2_0_leave_claude_code(
    old: OldProject, options: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n')
    program.chmod(0o755)
    for file, content in {
        ".claude/plugins/installed_plugins.json": {"plugins": {"memory@recollect": [{}]}},
        ".claude/plugins/known_marketplaces.json": {"recollect": {}},
        ".claude.json": {"mcpServers": {"recollect": {"command": "/gone/bin/recollect", "args": ["mcp"]}}},
    }.items():
        old_project.write(old.home / file, json.dumps(content))

    old.shell(f"PATH={program.parent}:$PATH; '{old_project.NEW_PROGRAM}' connect claude-code --yes {' '.join(options)}")

    removed = ["plugin uninstall memory@recollect", "plugin marketplace remove recollect"]
    added = [
        f"plugin marketplace add {old_project.ROOT}",
        "plugin install memory@onrecord",
        "mcp remove --scope user recollect",
        f"mcp add --scope user onrecord -- {old_project.ROOT}/bin/onrecord mcp",
    ]
    expected = [*removed, "mcp remove --scope user recollect"] if options else [*added, *removed]
    assert log.read_text().splitlines() == expected
    assert "recollect" not in (old.home / ".claude/settings.json").read_text()


def test_the_real_0_2_0_leaves_the_files_kept_here(tmp_path: Path) -> None:
    version = VERSIONS[-1]
    if not version.is_in_history():
        pytest.skip(f"the commit of {version.number} is not in this clone's history")
    made = OldProject(tmp_path)
    version.check_out(made.root / old_project.OLD_CLONE)
    old_project.make_agents(made.root)

    kept = json.loads(AGENTS.read_text(encoding="utf-8"))
    # Where a line is broken depends on the length of the paths.
    assert {path: meaning(path, text) for path, text in old_project.pack(made).items()} == {
        path: meaning(path, text) for path, text in kept.items()
    }


@pytest.mark.parametrize(
    ("agent", "path", "text", "command"),
    [
        (
            "codex",
            ".codex/config.toml",
            '[plugins."memory@recollect"]\nenabled = true\n',
            "codex plugin remove memory@",
        ),
        ("qwen", ".qwen/extensions/memory/src/recollect/__init__.py", "", "qwen extensions uninstall memory"),
        (
            "copilot",
            ".copilot/settings.json",
            '{"enabledPlugins": {"memory@recollect": true}}',
            "copilot plugin uninst",
        ),
        ("droid", ".factory/settings.json", '{"enabledPlugins": {"memory@recollect": true}}', "droid plugin uninstall"),
    ],
)
def test_where_a_host_must_remove_the_plugin_of_0_2_0_its_command_is_printed(
    tmp_path: Path, agent: str, path: str, text: str, command: str
) -> None:
    user = OldProject(tmp_path)
    user.project.mkdir()
    old_project.write(user.home / path, text)

    connected, again = user.connect(agent, "--yes"), user.connect(agent, "--yes")
    removed = user.connect(agent, "--remove", "--yes")

    for printed in (connected, again, removed):
        assert command in " ".join(printed.split())


def test_entries_in_a_project_are_replaced_and_removed(old: OldProject) -> None:
    hooks = old.project / ".codex/hooks.json"
    old_project.write(hooks, (old.home / ".codex/hooks.json").read_text())

    old.connect("codex", "--here", "--yes")
    replaced = hooks.read_text()
    old.connect("codex", "--here", "--remove", "--yes")

    assert "recollect" not in replaced and replaced.count("|| : onrecord") == 7
    assert not hooks.exists()
