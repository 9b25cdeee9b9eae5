"""The commands of the real client that our documents print are given to it, in the order a reader would."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from sandbox import Client

from tests.pages import read

ROOT = Path(__file__).parents[2]
_LAST = "docs/how-to/upgrade-and-remove.md"
PAGES = (("docs/install.md",), ("docs/tutorial.md", f"{_LAST}#turn-it-off", f"{_LAST}#remove"))
_OURS = re.compile(r"/path/to/onrecord|~/onrecord")

pytestmark = pytest.mark.client


@pytest.mark.parametrize("pages", PAGES, ids=lambda pages: pages[-1])
def test_the_commands_for_the_client_work_as_printed(
    pages: tuple[str, ...], tmp_path: Path, _client_can_run: None
) -> None:
    client = Client(tmp_path / "home", tmp_path / "project")
    text = "\n".join(map(read, pages))
    commands = re.findall(r"^ *claude (.+)$", text, re.M)

    turns = [client.run(*shlex.split(_OURS.sub(str(ROOT), command))) for command in commands]

    assert len(commands) >= 2
    assert [(command, turn.stdout) for command, turn in zip(commands, turns) if turn.exit_code] == []
