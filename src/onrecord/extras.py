"""Extras: packages that some commands need, and the command that installs them for this installation of Onrecord.

No command installs Onrecord itself from a package index: a package with that name could be a stranger's.
"""

from __future__ import annotations

import os
import shlex
import sys

from onrecord import paths
from onrecord.coldstart import NamedTuple

PACKAGES = {
    "hub": ("psycopg[binary]>=3.2.11,<4",),
    "web": ("jinja2>=3.1,<4", "starlette>=0.49,<2", "uvicorn>=0.34,<1"),
}
"""A copy of the extras in pyproject.toml, because a wheel and a plugin do not contain that file."""

_UPGRADE = "install a newer Onrecord the way this one was installed"


class Origin(NamedTuple):
    """The place Onrecord was installed from: a `path` on this machine or an `address`; neither if it is unknown."""

    path: str = ""
    address: str = ""
    is_editable: bool = False

    def words(self, extra: str) -> list[str]:
        """Return the arguments by which pip, pipx or uv install this origin with `extra`."""
        if self.address:
            return [f"onrecord[{extra}] @ {self.address}"]
        return [*(["--editable"] if self.is_editable else []), f"{self.path}[{extra}]"]


def add_to_path() -> None:
    """Add the folder in which `install_command` puts packages beside a clone to `sys.path`."""
    folder = _beside_clone()
    if folder not in sys.path and os.path.isdir(folder):
        sys.path.insert(1, folder)


def install_command(extra: str) -> str:
    """Return the shell command that adds the packages of `extra` to this installation."""
    packages, origin = PACKAGES[extra], _origin()
    if _is_pipx():
        return _line("pipx", "inject", os.path.basename(sys.prefix), *packages)
    if _is_clone() and not origin.is_editable:
        # The interpreter may be the system's, into which pip must not install.
        return _pip_command("--upgrade", "--target", _beside_clone(), *packages)
    if not origin.path and not origin.address:
        return _pip_command(*packages)
    if _is_uv_tool():
        return _line("uv", "tool", "install", "--reinstall", *origin.words(extra))
    return _pip_command(*origin.words(extra))


def command_elsewhere(extra: str) -> str:
    """Return a command that installs Onrecord with `extra` on another machine; empty if this origin is only here."""
    origin = _origin()
    is_here = not origin.address or origin.address.partition("+")[2].startswith("file:")
    return "" if is_here else _line("python3", "-m", "pip", "install", *origin.words(extra))


def upgrade_command(extra: str) -> str:
    """Return the shell command that upgrades Onrecord with `extra`, or advice in words if there is no such command."""
    origin = _origin()
    folder = paths.clone() if _is_clone() else origin.path
    if folder:
        if not os.path.exists(os.path.join(folder, ".git")):
            return _UPGRADE
        pull = _line("git", "-C", folder, "pull")
        return f"{pull} && {_reinstall_command(origin, extra)}" if origin.path else pull
    return _reinstall_command(origin, extra) if origin.address else _UPGRADE


def _reinstall_command(origin: Origin, extra: str) -> str:
    if _is_pipx():
        return _line("pipx", "upgrade", os.path.basename(sys.prefix))
    if _is_uv_tool():
        return _line("uv", "tool", "install", "--reinstall", *origin.words(extra))
    return _pip_command("--upgrade", *origin.words(extra))


def _origin() -> Origin:
    """Return the origin that the installer recorded (PEP 610); empty if it is unknown or no longer exists."""
    import json
    from importlib import metadata
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    try:
        note = json.loads(metadata.distribution("onrecord").read_text("direct_url.json") or "{}")
        url, vcs = str(note["url"]), note.get("vcs_info")
        is_editable = bool(note.get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError, KeyError, AttributeError):
        return Origin()
    if vcs:
        revision = vcs.get("requested_revision") or ""
        return Origin(address=f"{vcs.get('vcs', 'git')}+{url}{'@' if revision else ''}{revision}")
    if not url.startswith("file:"):
        return Origin(address=url)
    path = url2pathname(urlsplit(url).path) if sys.platform == "win32" else unquote(urlsplit(url).path)
    is_other = _is_clone() and not (is_editable and os.path.realpath(path) == paths.clone())
    return Origin() if is_other or not os.path.exists(path) else Origin(path=path, is_editable=is_editable)


def _is_clone() -> bool:
    """True if this code runs from a clone or a plugin's folder."""
    return os.path.exists(os.path.join(paths.clone(), "bin", "onrecord"))


def _is_pipx() -> bool:
    return os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json"))


def _is_uv_tool() -> bool:
    return os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml"))


def _pip_command(*words: str) -> str:
    """Return the command that installs packages for this interpreter."""
    import shutil
    from importlib import util

    command = _line(sys.executable, "-m", "pip", "install", *words)
    if util.find_spec("pip"):
        return command
    if shutil.which("uv"):
        return _line("uv", "pip", "install", "--python", sys.executable, *words)
    return f"install pip for {sys.executable}; then: {command}"


def _beside_clone() -> str:
    """Return the folder for a clone's packages, one for each Python version: compiled packages fit only one."""
    return os.path.join(paths.clone(), ".packages", "{}.{}".format(*sys.version_info))


def _line(*words: str) -> str:
    if sys.platform == "win32":
        return " ".join(f'"{word}"' if set(word) & set(" <>&|^") else word for word in words)
    return " ".join(map(shlex.quote, words))
