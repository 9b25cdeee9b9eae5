"""The page of each agent: how to connect it in two lines, and what it lacks, in agreement with the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.cli import parser_of
from onrecord.connections.recipes import BY_HOST
from onrecord.hosts.table import HOSTS, RESULT

FOLDER = Path(__file__).parents[1] / "docs" / "agents"
PAGES = {host.name: (FOLDER / f"{host.name}.md").read_text(encoding="utf-8") for host in HOSTS}


def section(name: str, title: str) -> str:
    return PAGES[name].partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_an_agent_is_connected_in_two_lines_and_removed_in_one(host):
    blocks = re.findall(r"```\n(.*?)\n```", PAGES[host.name], re.DOTALL)

    install, remove = blocks[0].splitlines(), blocks[-1].splitlines()
    assert (len(install), remove) == (2, [f"onrecord connect {host.name} --remove"])
    assert install[1] == f"onrecord connect {host.name}"
    for command in (install[1], remove[0]):
        parser_of("connect").parse_args(command.split()[2:])


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_page_says_what_the_agent_lacks(host):
    lacks = section(host.name, "What you do not get")
    recipe = BY_HOST[host.name]
    expected = {
        "suggestion to save": not host.suggestion,
        "with the tool's result": host.files == RESULT,
        "command fails": not host.failures,
        "compact": host.compaction != "at once" and host.name != "gemini",
        "compress": host.name == "gemini",
        "No skills": not recipe.reads_skills and host.name != "claude-code",
        "no MCP": not recipe.server and host.name != "claude-code",
    }

    assert [word for word, is_due in expected.items() if is_due and word not in lacks] == []
    assert ("Not run" in PAGES[host.name]) == (not host.version)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_page_names_the_file_that_is_written(host):
    recipe = BY_HOST[host.name]
    file = recipe.hooks.file if recipe.hooks else recipe.shim_file

    assert f"`~/{recipe.folder}/{file}`" in PAGES[host.name]
    assert f"`~/{recipe.folder}/{file}`" in (FOLDER / "README.md").read_text(encoding="utf-8")
    if recipe.variable[0] not in ("", "XDG_CONFIG_HOME"):
        assert f"`${recipe.variable[0]}`" in PAGES[host.name]


def test_the_list_of_agents_has_every_page():
    linked = re.findall(r"\]\((\S+?)\.md\)", (FOLDER / "README.md").read_text(encoding="utf-8"))

    assert set(PAGES) | {"mcp", "aider"} <= set(linked)
