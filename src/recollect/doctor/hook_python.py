"""The interpreter that hooks run with: which one it is, and whether it will do.

`hooks/launch` looks for it and remembers it in a small file; this asks the same script, so as to see what it sees.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any, Union

_OLDEST = [3, 9]
_PATIENCE = 20
_ABOUT = """
import json, sys
try:
    import sqlite3
    sqlite3.connect(":memory:").execute("create virtual table probe using fts5(body)")
    fault = ""
except Exception as error:
    fault = str(error)
print(json.dumps([list(sys.version_info[:3]), fault]))
"""

Problem = tuple[str, str, str, str]
"""A severity, a check, what was found and how to mend it."""


def memo_file() -> str:
    """Where the launcher remembers what it found. A shell script, it knows nothing of macOS's own cache folder."""
    base = os.environ.get("RECOLLECT_CACHE_DIR", "")
    if not base:
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        base = os.path.join(xdg if os.path.isabs(xdg) else os.path.expanduser("~/.cache"), "recollect")
    return os.path.join(base, "python")


def remembered() -> str:
    """What the launcher found last time; empty if it was never run."""
    try:
        with open(memo_file(), encoding="utf-8", errors="replace") as file:
            return file.readline(4_096).rstrip("\n")
    except OSError:
        return ""


def problems(launcher: str) -> Iterator[Problem]:
    """What is to be said about the Python that a launcher finds, good or bad."""
    before = remembered()
    if before and not os.access(before, os.X_OK):
        what = f"hooks remembered {before}, which is not there any more; they look for another"
        yield "note", "python", what, f"nothing; or rm {memo_file()}"
    said = _run(["sh", launcher, "none"])
    if said is None:
        fix = "install a POSIX shell (on Windows: Git for Windows) and put its sh on the PATH"
        yield "error", "python", "hooks are started by `sh`, which cannot be run here", fix
    elif "no Python" in said.stderr:
        fix = "put a python3 of version 3.9 or later on the PATH that Claude Code is started with"
        yield "error", "python", "hooks find no Python 3.9 or later, so memory is off", fix
    elif remembered():
        yield from about(remembered())
    elif before:
        what = f"hooks ran with {before}, which does not work; it is forgotten, and the next hook looks for another"
        yield "warning", "python", what, "recollect doctor once more, to see what it finds"


def about(python: str) -> Iterator[Problem]:
    """Whether an interpreter will do."""
    version, fault = _asked(python)
    if not version:
        fix = f"rm {memo_file()}, so that hooks look for another"
        yield "error", "python", f"hooks run with {python}, which does not work", fix
    elif version < _OLDEST:
        fix = f"put a newer python3 on the PATH, then rm {memo_file()}"
        yield "error", "python", f"hooks run with {python}, Python {_dotted(version)}, which is too old", fix
    elif fault:
        fix = f"put a Python whose SQLite has FTS5 first on the PATH, then rm {memo_file()}"
        what = f"hooks run with {python}, whose SQLite has no full-text search ({fault}): the keyword scorer answers"
        yield "warning", "fts5", what, fix
    else:
        yield "ok", "python", f"hooks run with Python {_dotted(version)}", ""


def _asked(python: str) -> tuple[list[int], str]:
    said = _run([python, "-S", "-E", "-c", _ABOUT])
    try:
        version, fault = json.loads(said.stdout) if said else ([], "")
    except ValueError:
        return [], ""
    return version, fault


def _dotted(version: Sequence[Any]) -> str:
    return ".".join(map(str, version))


def _run(command: list[str]) -> Union[subprocess.CompletedProcess[str], None]:
    """The outcome of a program; None if it cannot be started or does not end."""
    if not shutil.which(command[0]):
        return None
    try:
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
