"""The tutorial is true: its commands are run in order, and what they print is compared with what the page shows.

`pytest tests/test_tutorial.py --update-golden` writes what they print now into the page.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import shell

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
_TYPED, _LISTED, _REVIEWED = "\n> ", "\n- ", "[q]uit [?]: "
ANSWERS = {
    "onrecord save": (
        ("Press its key: ", "d"),
        (_TYPED, "Sessions live in Postgres, not Redis\n"),
        (_TYPED, "Sessions are rows in auth.sessions with a 14 day expiry.\n"),
        (_TYPED, "Redis lost sessions on every failover, so users were logged out.\n"),
        *((_LISTED, line) for line in ("One fewer moving part.\n", "\n")),
        *(
            (_LISTED, line)
            for line in ("where do we keep login state?\n", "users are logged out after a deploy\n", "\n")
        ),
        *((_LISTED, line) for line in ("src/session.py\n", "\n")),
        ("[?]: ", "y"),
    ),
    "onrecord review": ((_REVIEWED, "a"),),
    "onrecord update cookies --tag http": (("[y/N] ", "y"),),
}
"""What a reader types when a command asks."""

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)

pytestmark = pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="needs a POSIX shell and git")


class Step(NamedTuple):
    """A command as the page prints it, and what it shows below."""

    command: str
    output: str


def test_every_command_of_the_tutorial_prints_what_the_page_shows(
    home: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    steps = list(_steps(PAGE.read_text(encoding="utf-8")))

    played = _play([step.command for step in steps], home, tmp_path)

    if request.config.getoption("--update-golden"):
        _update(played)
    shown = [(step.command, _plain(step.output)) for step in _steps(PAGE.read_text(encoding="utf-8"))]
    assert [(step.command, _plain(step.output)) for step in played] == shown


def test_the_tutorial_shows_the_moments_it_promises() -> None:
    """The page may be refreshed by a command; this is what must not be refreshed away."""
    steps = list(_steps(PAGE.read_text(encoding="utf-8")))
    outputs = {step.command.split(" \\\n")[0]: step.output for step in steps}
    prompts = [step.output for step in steps if step.command.startswith('onrecord recall "')]
    commands = [step.output for step in steps if step.command.startswith("onrecord recall --command")]

    assert "- sessions-live: Sessions live in Postgres, not Redis" in outputs["onrecord digest"]
    assert "Sessions are rows in auth.sessions with a 14 day expiry." in prompts[0]
    assert prompts[1] == commands[1] == "(nothing is relevant enough to be shown)\n"
    assert "uv add NAME, never pip install" in commands[0] and "goes against" not in commands[0]
    assert "this command goes against it" in commands[2]
    checked = next(output for command, output in outputs.items() if command.startswith("onrecord check"))
    assert checked.startswith("src/fares.py:1: ") and checked.endswith("the job fails\n")
    assert outputs["onrecord review"].endswith("1 accepted\n")
    assert "changed: src/session.py, 1 commit" in outputs["onrecord freshness --stale"]
    assert "at most 2 KB" in prompts[2] and "rows in auth.sessions" not in prompts[2]
    assert outputs["onrecord undo"].startswith("undid: update")


def test_a_step_is_a_command_with_its_continuation_and_its_output() -> None:
    page = "```console\n$ one \\\n    two\nfirst\nsecond\n$ three |\n    four\n```\ntext\n```sh\n$ not run\n```\n"

    assert list(_steps(page)) == [Step("one \\\n    two", "first\nsecond\n"), Step("three |\n    four", "")]


def _steps(page: str) -> Iterator[Step]:
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.splitlines()
            last = next(number for number, line in enumerate(lines) if not line.endswith((" \\", " |")))
            output = lines[last + 1 :]
            yield Step("\n".join(lines[: last + 1]), "".join(f"{line}\n" for line in output))


def _play(commands: list[str], home: Path, tmp_path: Path) -> list[Step]:
    """Run the commands in one shell, as a reader would who sits at a terminal; every one must succeed."""
    (home / "onrecord").symlink_to(ROOT)
    played = shell.play(commands, home=home, cwd=home, programs=tmp_path / "programs", answers=ANSWERS)
    assert [one for one in played if one.code] == []
    ended = (one.output if one.output.endswith("\n") or not one.output else f"{one.output}\n" for one in played)
    return [Step(command, output) for command, output in zip(commands, ended)]


def _plain(output: str) -> str:
    """Output without what differs from day to day and from machine to machine."""
    for pattern, stand_in in (
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "MOMENT"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d", "MINUTE"),
        (r"\d{4}-\d\d-\d\d", "DATE"),
        (r"\bjust now\b|\b\d+ minutes? ago\b", "AGO"),
        # On a slow machine an age of a minute takes more room in a table, and a title is cut earlier.
        (r"(?m)(^| )(?:now|\d+ minutes?)(?= |$)", r"\1AGE"),
        (r" {2,}", "  "),
        (r"(?m)^(.{24}).*?…", r"\1…"),
        (r"\blast [0-9a-f]{7,}", "last HASH"),
        (r"\b(?:[0-9a-f]{8}|[0-9a-f]{12,64})\b", "HASH"),
        (r"Python 3\.[0-9.]+\w*", "Python 3.x"),
    ):
        output = re.sub(pattern, stand_in, output)
    return output


def _update(played: list[Step]) -> None:
    """Put what the commands print now under them, unless only dates and hashes differ."""
    left = iter(played)

    def block(match: re.Match[str]) -> str:
        shown = list(_steps(f"```console\n{match[0]}```\n"))
        pairs = [(old, next(left)) for old in shown]
        steps = [old if _plain(old.output) == _plain(new.output) else new for old, new in pairs]
        return "".join(f"$ {step.command}\n{step.output}" for step in steps)

    PAGE.write_text(_BLOCK.sub(block, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
