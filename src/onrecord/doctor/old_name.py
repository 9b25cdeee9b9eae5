"""Finds leftovers of the name that Onrecord had up to 0.2.0. They are only reported, never changed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.doctor import Finding
from onrecord.errors import OnrecordError
from onrecord.git import git_files
from onrecord.hosts import table

NAME = "recollect"
_VARIABLE = f"{NAME.upper()}_"
_OLD_PROGRAM = re.compile(rb'["/@.:] ?recollect\b')
"""The old name in a config file: a server's key, a plugin's marketplace, a program, or the end of a hook command."""

_OWN_FILE = b"Written by `recollect connect"
_ATTRIBUTE = re.compile(rb"\bmerge=recollect\b")
_MAX_CONFIG_BYTES = 1_000_000


class Leftover(NamedTuple):
    """A leftover, and how to remove it: a command to paste, or advice."""

    what: str
    command: str = ""
    advice: str = ""


def examine(project: str) -> Iterator[Finding]:
    """Yield one note that lists all leftovers of the old name."""
    leftovers = [*_folders(), *_git(project), *_hosts(), *_variables()]
    if leftovers:
        what = f"left of the old name {NAME}: {', '.join(leftover.what for leftover in leftovers)}"
        # Commands come first: all of them can be pasted as one line.
        fixes = [leftover.command for leftover in leftovers] + [leftover.advice for leftover in leftovers]
        yield Finding("note", "old name", what, "; ".join(dict.fromkeys(filter(None, fixes))))


def _folders() -> Iterator[Leftover]:
    data = paths.standard_dir("data", NAME)
    for folder in (paths.standard_dir("cache", NAME), paths.standard_dir("state", NAME)):
        if os.path.isdir(folder) and folder != data:
            yield Leftover(folder, _line("rm", "-r", folder))
    if os.path.isdir(data):
        yield Leftover(data, advice=f"delete {data} unless shared stores in it have changes that were not pushed")


def _git(project: str) -> Iterator[Leftover]:
    try:
        if git_files.is_clone(project) and git_files.merge_driver(project, NAME):
            remove = _line("git", "-C", project, "config", "--remove-section", f"merge.{NAME}")
            yield Leftover(f"merge.{NAME}.driver in git's config", f"{remove}; onrecord init --merge-driver")
    except OnrecordError:
        # The git check reports this.
        pass
    for folder in dict.fromkeys((project, os.path.join(project, paths.STORE), paths.user_store())):
        path = os.path.join(folder, ".gitattributes")
        if _ATTRIBUTE.search(_read(path)):
            replace = _line("perl", "-pi", "-e", f"s/merge={NAME}/merge={git_files.DRIVER}/", path)
            yield Leftover(f"merge={NAME} in {path}", replace)


def _hosts() -> Iterator[Leftover]:
    """Yield the files of hosts that start the old program."""
    for path in _host_files():
        data = _read(path)
        if _OWN_FILE in data:
            yield Leftover(path, _line("rm", path))
        elif f"memory@{NAME}".encode() in data:
            yield Leftover(path, f"claude plugin uninstall memory@{NAME}")
        elif _OLD_PROGRAM.search(data):
            yield Leftover(path, advice=f"remove the entries of {NAME} from {path}")


def _variables() -> Iterator[Leftover]:
    for name in sorted(os.environ):
        if name.startswith(_VARIABLE):
            yield Leftover(name, advice=f"rename {name} to ONRECORD_{name[len(_VARIABLE) :]} where it is set")


def _host_files() -> list[str]:
    """Return the paths of all files that Onrecord writes for hosts, under its old name and its new one."""
    names = []
    for setup in table.setups():
        own = (setup.hooks and setup.hooks.file, setup.shim_file, setup.server and setup.server.file)
        for file in filter(None, own):
            names += [setup.path(file), setup.path(file.replace("onrecord", NAME))]
    skills = os.path.join(os.path.expanduser("~"), ".agents", "skills")
    names += [os.path.join(skills, name, "SKILL.md") for name in _names(skills)]
    return [path for path in dict.fromkeys(names) if os.path.isfile(path)]


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith("memory-"))
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        return files.read(path, _MAX_CONFIG_BYTES)
    except OSError:
        return b""


def _line(*words: str) -> str:
    return " ".join(map(shlex.quote, words))
