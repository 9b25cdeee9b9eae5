"""The page of agents has a section for each: how it is connected, and what it lacks, in agreement with the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onrecord.cli import parser_of
from onrecord.hosts import table
from onrecord.hosts.table import HOSTS

PAGE = (Path(__file__).parents[2] / "docs" / "agents" / "README.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def row(title: str, heading: str) -> dict[str, str]:
    """Return the cells of an agent in a table of the page, by their columns."""
    lines = [line.strip("| ").split(" | ") for line in section(heading).splitlines() if line.startswith("| ")]
    cells = next(cells for cells in lines if cells[0].startswith(f"[{title}]"))
    return dict(zip(lines[0], cells))


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_an_agent_is_connected_and_removed_by_its_name(host):
    command = f"onrecord connect {host.name}"

    assert f"`{command}`" in section(host.title)
    assert "`--remove`" in section("Connect")
    for line in (command, f"{command} --remove"):
        parser_of("connect").parse_args(line.split()[2:])


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_the_table_says_when_an_agent_gets_what(host):
    cells = row(host.title, "When an agent gets it")
    setup = table.setup(host.name)

    assert cells["the [map](../how-it-works.md#the-start-of-a-session)"] == host.digest
    assert cells["records for a prompt"] == host.prompt
    assert cells["records for a file"] == host.files
    assert cells["the runbook for a failed command"] == (host.failures or "no")
    assert cells["the suggestion to save"] == (host.suggestion or "no")
    assert cells["records in use, after a compaction"] == (host.compaction or "no")
    assert (cells["the skills"] != "no") == (setup.reads_skills or host.name == "claude-code")
    assert (cells["the MCP server"] != "no") == (bool(setup.server) or host.name == "claude-code")


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_section_says_why_the_agent_lacks_something(host):
    setup = table.setup(host.name)
    expected = {
        "command fails": not host.failures,
        "No skills": not setup.reads_skills and host.name != "claude-code",
        "no MCP": not setup.server and host.name != "claude-code",
    }

    assert [word for word, is_due in expected.items() if is_due and word not in section(host.title)] == []
    assert ("Not run" in section(host.title)) == (not host.version)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_section_names_the_file_that_is_written(host):
    setup = table.setup(host.name)
    file = setup.hooks.file if setup.hooks else setup.shim_file

    assert f"`~/{setup.folder}/{file}`" in section(host.title)
    if setup.variable[0] not in ("", "XDG_CONFIG_HOME"):
        assert f"`${setup.variable[0]}`" in section(host.title)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_section_says_how_the_agents_own_memory_and_ours_live_together(host):
    paragraph = section(host.title).partition("**Its own memory.**")[2]

    assert re.search(r"reads `[^`]+\.md`|reads `\.[a-z]+", paragraph)


def test_every_agent_has_a_section():
    assert {host.title for host in HOSTS} <= set(HEADINGS)
    assert "aider, and agents that can only read a file" in HEADINGS
    assert section("Cursor").startswith("\n**Not run**")
