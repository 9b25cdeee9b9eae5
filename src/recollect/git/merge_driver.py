"""What git knows about a project: whether it is a clone, what it ignores, how it merges records."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

from recollect import paths
from recollect.errors import BadInput, Unwritable
from recollect.git import git_files

_KEY = f"merge.{git_files.DRIVER}"
_PATIENCE = 10


def is_clone(root: str) -> bool:
    return os.path.exists(os.path.join(root, ".git")) and shutil.which("git") is not None


def ignores(root: str, path: str) -> bool:
    """Whether git would leave a file out."""
    return is_clone(root) and _git(root, "check-ignore", "-q", "--no-index", path).returncode == 0


def driver(root: str) -> str:
    """The command git would merge records with here; empty if none is registered."""
    return _git(root, "config", "--get", f"{_KEY}.driver").stdout.strip()


def register_driver(root: str) -> str:
    """Tell this clone to merge records field by field; what was done, in words."""
    if not is_clone(root):
        raise BadInput(f"{root} is not a git clone", fix="git init, then recollect init --merge-driver")
    wanted, present = f"{own_command()} merge-driver %O %A %B %L %P", driver(root)
    if present == wanted:
        return "the merge driver was registered already"
    if present:
        return f"git has another driver for records and keeps it: {present}"
    # The command comes first: git refuses every merge while a driver has a name and no command.
    for key, value in ((f"{_KEY}.driver", wanted), (f"{_KEY}.name", "Recollect: records merged field by field")):
        done = _git(root, "config", "--local", key, value)
        if done.returncode:
            raise Unwritable(f"git config failed: {done.stderr.strip()}", fix="check the permissions of .git/config")
    return f"registered the merge driver: git config {_KEY}.driver {shlex.quote(wanted)}"


def own_command() -> str:
    """How a shell starts this Recollect again."""
    if shutil.which("recollect"):
        return "recollect"
    clone = paths.clone()
    script = os.path.join(clone, "bin", "recollect")
    if os.path.exists(script):
        return f"{shlex.quote(sys.executable)} {shlex.quote(script)}"
    return f"{shlex.quote(sys.executable)} -m recollect"


def _git(root: str, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ("git", "-C", root, *words),
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unwritable(f"git did not answer: {error}", fix="try again, or without --merge-driver") from error
