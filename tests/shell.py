"""A shell as a reader of the documents has it: a terminal, a home folder, `onrecord` and git on the PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.terminal_session import TerminalSession

ROOT = Path(__file__).parents[1]
_MARK = "=-=-= end of a command, exit code "

Answers = Sequence[tuple[str, str]]
"""Ends of questions, and what the user types then: a line, or a single key."""


class CommandRun(NamedTuple):
    """A command, the text it printed, and its exit code."""

    command: str
    output: str
    code: int


def play(
    commands: list[str], *, home: Path, cwd: Path, programs: Path, answers: Mapping[str, Answers] = {}
) -> list[CommandRun]:
    """Run commands one after the other in one shell on a terminal, as a user who types them."""
    script = "".join(f'{command}\necho "{_MARK}$?"\n' for command in commands)
    with TerminalSession(program=("sh", "-c", script), cwd=cwd, env=_environment(programs)) as session:
        runs = [_run(session, command, answers.get(command, ())) for command in commands]
    return [run._replace(output=run.output.replace(str(home), "/home/you")) for run in runs]


def _run(session: TerminalSession, command: str, answers: Answers) -> CommandRun:
    """Read what a command prints up to its end; type the answers when it asks for them."""
    output = ""
    for question, answer in answers:
        output += session.expect(question)
        (session.send if answer.endswith("\n") else session.press)(answer)
    output += session.expect(_MARK).removesuffix(_MARK)
    return CommandRun(command, output, int(session.expect("\n")))


def _environment(programs: Path) -> dict[str, str]:
    """Return this environment with our Python as `python3`, `onrecord` on the PATH, and a name for git commits."""
    programs.mkdir()
    for name, words in (
        ("python3", f'"{sys.executable}"'),
        ("onrecord", f'"{sys.executable}" "{ROOT}/bin/onrecord"'),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    person = {"NAME": "You", "EMAIL": "you@example.org"}
    git = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    plain = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PAGER": "cat"}
    return {**os.environ, **git, **plain, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
