"""This installation, as a coding agent must name it: absolute paths, whether it is a clone, a plugin or a package."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from onrecord import paths
from onrecord.errors import BadInput

MARK = "|| : onrecord"
"""The end of every hook command of ours. With it the command succeeds even if this installation is gone: a host may
take a hook that fails for a veto."""


def launcher() -> str:
    """The script that a host starts for each event."""
    return _usable(paths.launcher())


def hook_command(event: str, host: str) -> str:
    """The shell command that answers an event of a host."""
    return f"sh {shlex.quote(launcher())} {event} {host} {MARK}"


def program() -> list[str]:
    """The words that start `onrecord` from anywhere."""
    script = os.path.join(paths.clone(), "bin", "onrecord")
    if os.path.exists(script):
        return [sys.executable, _usable(script)] if sys.platform == "win32" else [_usable(script)]
    suffix = ".exe" if sys.platform == "win32" else ""
    script = os.path.join(os.path.dirname(sys.executable), f"onrecord{suffix}")
    return [_usable(script)] if os.path.exists(script) else [_usable(sys.executable), "-m", "onrecord"]


def typed() -> str:
    """The same as somebody types it: the bare name where a shell finds this installation by it."""
    words = program()
    on_path = shutil.which("onrecord")
    is_same = on_path and len(words) == 1 and os.path.realpath(on_path) == os.path.realpath(words[0])
    return "onrecord" if is_same else " ".join(map(shlex.quote, words))


def is_clone() -> bool:
    """Whether this is a clone or a plugin, with the manifest that hosts can install it by."""
    return os.path.exists(os.path.join(paths.clone(), ".claude-plugin", "plugin.json"))


def _usable(path: str) -> str:
    """The path, unless no config file could hold it."""
    if path.isprintable():
        return path
    fix = "move it to a folder whose name has only printable characters"
    raise BadInput(f"the path of this installation cannot be written to a config file: {path!r}", fix=fix)
