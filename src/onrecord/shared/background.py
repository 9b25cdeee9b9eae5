"""Start a sync in the background at the start of a session, as a process that no hook waits for.

Only the user's own config turns it on, for each remote. The process runs `onrecord sync --automatic`: it prints
nothing, ends after a time limit, and writes failures to the failure log. Hooks load this module.
"""

from __future__ import annotations

import os
import sys
import time

from onrecord import detached, files, paths
from onrecord.shared import remotes

MIN_SECONDS_BETWEEN = 600
"""Seconds between two automatic syncs, however many sessions start."""

_NOTE = ".automatic"
"""A file with the path of the Python that can sync; its time is the start of the last sync."""

_MAX_PATH_BYTES = 4_096
_PROGRAM = "from onrecord.__main__ import main; sys.exit(main())"


def start(project: str) -> bool:
    """Start a sync if one is due and the user syncs a remote automatically; return True if it was started."""
    if remotes.is_planted(project) or not _is_due() or not any(remote.auto for remote in remotes.usable()):
        return False
    python = _read_python() or sys.executable
    _write_python(python)
    command = detached.python_command(_PROGRAM, "sync", "--automatic", python=python, needs_packages=True)
    detached.start(command, paths.replicas())
    return True


def note_python() -> None:
    """Save the path of the running Python, which can sync; the Python of a hook may lack psycopg."""
    if _read_python() != sys.executable:
        _write_python(sys.executable)


def _write_python(python: str) -> None:
    files.make_folder(paths.replicas(), is_private=True)
    files.write(_file(), os.fsencode(python), lasting=False)


def _is_due() -> bool:
    """True if the last start is long enough ago. A time in the future is from another clock and does not count."""
    try:
        return not 0 <= time.time() - os.stat(_file()).st_mtime < MIN_SECONDS_BETWEEN
    except OSError:
        return True


def _file() -> str:
    return os.path.join(paths.replicas(), _NOTE)


def _read_python() -> str:
    """Return the noted Python; empty if it is gone."""
    try:
        python = os.fsdecode(files.read(_file(), _MAX_PATH_BYTES))
    except OSError:
        return ""
    return python if os.path.isabs(python) and os.access(python, os.X_OK) else ""
