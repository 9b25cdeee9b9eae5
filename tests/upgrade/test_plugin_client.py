"""The plugin of 0.1.0 or 0.2.0 in the real Claude Code: `connect` replaces it, so each record is shown once."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.hosts import known_project
from tests.hosts.clients.claude_code import ClaudeCode
from tests.hosts.conftest import unavailable
from tests.hosts.known_project import ASKS, SESSIONS
from tests.upgrade import old_project
from tests.upgrade.old_project import VERSIONS, OldVersion

RULE = SESSIONS["content"]["decision"]


@pytest.mark.client
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.number)
def test_connect_replaces_the_plugin(version: OldVersion, tmp_path: Path) -> None:
    if reason := unavailable(ClaudeCode):
        pytest.skip(reason)
    if not version.is_in_history():
        pytest.skip(f"the commit of {version.number} is not in this clone's history")
    client = ClaudeCode(tmp_path / "a home", tmp_path / "a project")
    known_project.create(client.project)
    known_project.remember(client.project)
    version.check_out(tmp_path / "recollect")
    for words in (["marketplace", "add", str(tmp_path / "recollect")], ["install", "memory@recollect"]):
        done = client.run("plugin", *words)
        assert done.exit_code == 0, done.stdout + done.stderr

    before = client.prompt(ASKS)
    connect = [str(old_project.NEW_PROGRAM), "connect", "claude-code", "--yes"]
    subprocess.run(connect, cwd=client.project, env=client.env, check=True, capture_output=True, timeout=120)
    after = client.prompt(ASKS)

    folder = client.home / ".claude" / "plugins"
    installed = json.loads((folder / "installed_plugins.json").read_text())["plugins"]
    assert (list(installed), list(json.loads((folder / "known_marketplaces.json").read_text()))) == (
        ["memory@onrecord"],
        ["onrecord"],
    )
    assert (before.last.text.count(RULE), after.last.text.count(RULE)) == (1, 1)
    doctor = [str(old_project.NEW_PROGRAM), "doctor", "--json"]
    found = subprocess.run(doctor, cwd=client.project, env=client.env, check=False, capture_output=True, timeout=120)
    findings = json.loads(found.stdout)["findings"]
    assert [finding["what"] for finding in findings if "memory@recollect" in json.dumps(finding)] == []
