"""A shell as a reader of the documents has it: `recollect` and git at hand, a home of its own, a terminal if asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_MARK = "=-=-= end of a command, exit code "


class Played(NamedTuple):
    """A command that was run: what it printed, and its exit code."""

    command: str
    output: str
    code: int


def play(commands: list[str], *, home: Path, cwd: Path, programs: Path) -> list[Played]:
    """Run commands one after the other in one shell on a terminal, as somebody would who types them."""
    script = "".join(f'{command}\necho "{_MARK}$?"\n' for command in commands)
    printed = _on_a_terminal(script, cwd, environment(programs)).replace(str(home), "/home/you")
    parts = re.split(rf"{_MARK}(\d+)\n", printed)
    return [Played(*one) for one in zip(commands, parts[0:-1:2], map(int, parts[1::2]))]


def _on_a_terminal(script: str, cwd: Path, env: dict[str, str]) -> str:
    """What a shell prints for a script where a reader would see it: tables are aligned there."""
    import pty

    ours, theirs = pty.openpty()
    streams = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(("sh", "-c", script), cwd=cwd, env=env, **streams):
        os.close(theirs)
        printed = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return printed.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says it this way when the last writer has gone
        return b""


def environment(programs: Path) -> dict[str, str]:
    """This environment with our Python as `python3`, `recollect` on the path, and a name for git to commit under."""
    programs.mkdir()
    for name, words in (
        ("python3", f'"{sys.executable}"'),
        ("recollect", f'"{sys.executable}" "{ROOT}/bin/recollect"'),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    person = {"NAME": "You", "EMAIL": "you@example.org"}
    git = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    plain = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "NO_COLOR": "1", "COLUMNS": "100"}
    return {**os.environ, **git, **plain, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
