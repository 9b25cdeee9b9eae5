"""The plugin updated from a real 0.1.0 with the commands of the docs, in the hands of the real client."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sandbox import Client

from tests import pages
from tests.hosts import known_project, plugin_copy
from tests.upgrade import old_project

pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(not old_project.is_in_history(), reason="the commit of 0.1.0 is not in this clone's history"),
]

UPDATE = (("plugin", "marketplace", "update", "onrecord"), ("plugin", "update", "memory@onrecord"))


def test_a_conversation_begun_with_0_1_0_goes_on_after_the_update(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--all-hosts"):
        pytest.skip("takes long; with --all-hosts it runs")
    home, project, copy = tmp_path / "a home", tmp_path / "a project", tmp_path / "onrecord"
    old_project.check_out(copy)
    known_project.create(project)
    known_project.remember(project)
    client = Client(home, project)
    for words in (("marketplace", "add", str(copy)), ("install", "memory@onrecord")):
        assert client.run("plugin", *words).exit_code == 0
    before = client.prompt(known_project.ASKS).injected

    shutil.rmtree(copy)
    plugin_copy.copy_to(copy)
    raise_version(copy)
    updated = [client.run(*words) for words in UPDATE]
    again = client.prompt(known_project.ASKS, resume=True)
    new = client.prompt(known_project.ASKS)

    assert "from 0.1.0 to 9.9.9" in updated[-1].stdout
    # What was shown before the update is still part of the conversation.
    counts = [sum("auth.sessions" in text for text in shown) for shown in (before, again.injected, new.injected)]
    assert counts == [1, 1, 1]
    page = pages.read("docs/how-to/install-upgrade-remove.md#upgrade-from-010")
    assert [words for words in UPDATE if f"claude {' '.join(words)}\n" not in page] == []


def raise_version(copy: Path) -> None:
    """The client updates a plugin only if its version is another."""
    manifest = copy / ".claude-plugin" / "plugin.json"
    values = {**json.loads(manifest.read_text(encoding="utf-8")), "version": "9.9.9"}
    manifest.write_text(json.dumps(values), encoding="utf-8")
