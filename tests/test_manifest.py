"""The repository is the plugin: its manifests, versions and scripts agree."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import onrecord

ROOT = Path(__file__).parent.parent


def _read(name: str) -> dict[str, object]:
    return json.loads((ROOT / ".claude-plugin" / name).read_text(encoding="utf-8"))


def test_the_plugin_is_called_memory_and_has_the_version_of_the_package():
    plugin = _read("plugin.json")

    assert (plugin["name"], plugin["version"], plugin["license"]) == ("memory", onrecord.__version__, "MIT")


def test_the_marketplace_offers_the_plugin_from_this_very_folder():
    marketplace = _read("marketplace.json")

    assert [(entry["name"], entry["source"]) for entry in marketplace["plugins"]] == [("memory", "./")]
    assert marketplace["description"] and marketplace["owner"]["name"]


def test_the_changelog_knows_this_version_or_what_comes_next():
    versions = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert versions[0] == "Unreleased" or versions[0] == onrecord.__version__


@pytest.mark.parametrize("script", ["bin/onrecord", "scripts/test", "scripts/docs", ".ci/run"])
def test_scripts_can_be_run(script):
    assert os.access(ROOT / script, os.X_OK)


def test_nothing_is_needed_at_run_time_but_python():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert re.search(r"^dependencies = \[\]$", project, re.MULTILINE)
    assert 'requires-python = ">=3.9"' in project


def test_the_tests_that_nox_runs_on_other_pythons_are_there():
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    core = "".join(re.findall(r'"(.*)"', noxfile.split("CORE = (")[1].split(")")[0])).split()

    files = {name: ROOT / "tests" / Path(name).with_name(f"test_{Path(name).name}.py") for name in core}
    assert [name for name, file in files.items() if not file.is_file()] == []
