"""Finds leftovers of the name that Onrecord had up to 0.2.0. They are only reported, never changed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.doctor import Finding
from onrecord.errors import OnrecordError
from onrecord.git import git_files
from onrecord.hosts import connection, host_files, table
from onrecord.hosts.host_files import HostSetup, Part
from onrecord.paths import OLD_NAME as NAME
from onrecord.shared import remotes, replicas

_VARIABLE = f"{NAME.upper()}_"
_PLUGIN = f"memory@{NAME}"
_OLD_PROGRAM = re.compile(r'["/@.:`] ?recollect\b')
"""The old name in a config file: a server's key, a plugin's marketplace, a program, or the end of a hook command."""

_ATTRIBUTE = re.compile(rb"\bmerge=recollect\b")
_IMPORTS = "imports"
_MAX_WORKFLOWS = 100
_MAX_CONFIG_BYTES = 1_000_000


class Leftover(NamedTuple):
    """A leftover, and how to remove it: a command to paste, or advice."""

    what: str
    command: str = ""
    advice: str = ""


def examine(project: str) -> Iterator[Finding]:
    """Yield one note that lists all leftovers of the old name."""
    leftovers = [*_folders(), *_git(project), *_hosts(), *_project_files(project), *_variables()]
    if leftovers:
        what = f"left of the old name {NAME}: {', '.join(leftover.what for leftover in leftovers)}"
        # Commands come first: all of them can be pasted as one line.
        fixes = [leftover.command for leftover in leftovers] + [leftover.advice for leftover in leftovers]
        yield Finding("note", "old name", what, "; ".join(dict.fromkeys(filter(None, fixes))))


def _folders() -> Iterator[Leftover]:
    data = paths.standard_dir("data", NAME)
    cache, state = paths.standard_dir("cache", NAME), paths.standard_dir("state", NAME)
    if os.path.isdir(cache) and cache != data:
        yield Leftover(cache, _line("rm", "-r", cache))
    # The log of imports is still read: without it, what was rejected would be proposed again.
    names = _names(state)
    unused = [os.path.join(state, name) for name in names if name != _IMPORTS] if _IMPORTS in names else [state]
    if os.path.isdir(state) and state != data and unused:
        yield Leftover(state, _line("rm", "-r", *unused))
    if any(os.path.isdir(replicas.old_replica(remote.name)) for remote in remotes.usable()):
        yield Leftover(data, "onrecord sync")
    elif os.path.isdir(data):
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
    """Yield the files of hosts that start the old program: `connect` replaces what it wrote there."""
    setups = table.setups()
    files_of = {setup.host: _files_with_old_parts(setup) for setup in (*setups, connection.CURSOR)}
    hosts = [setup.host for setup in setups if files_of[setup.host]]
    reconnect = f"onrecord connect {' '.join(hosts)} --yes"
    for host, paths_there in files_of.items():
        for path in paths_there:
            yield Leftover(path, reconnect if host in hosts else "onrecord connect --yes")
    for setup in setups:
        yield from _others(setup)
    yield from _skills(reconnect if any(setup.reads_skills for setup in setups if setup.host in hosts) else "")


def _files_with_old_parts(setup: HostSetup) -> list[str]:
    """Return the files of a host, or folders of its skills, in which something of ours has the old name."""
    old_paths = [part.path for part in _parts(setup) if _is_old(part)]
    if setup.own_skills and any(map(_is_old, host_files.skills(setup.path(setup.own_skills)))):
        old_paths.append(setup.path(setup.own_skills))
    return list(dict.fromkeys(old_paths))


def _parts(setup: HostSetup) -> list[Part]:
    """Return all parts of a host but its skills, under the old name and the new one."""
    server = host_files.server(setup)
    return [host_files.entrance(setup), *host_files.old_files(setup), *([server] if server else [])]


def _is_old(host_part: Part) -> bool:
    """True if a part is in its file and names the old program."""
    text = _text(host_part.path)
    return len(_OLD_PROGRAM.findall(text)) > len(_OLD_PROGRAM.findall(_without(text, [host_part])))


def _others(setup: HostSetup) -> Iterator[Leftover]:
    """Yield the files of a host in which the old name is elsewhere than in our parts: a plugin, or edited entries."""
    parts = _parts(setup)
    for path in dict.fromkeys(part.path for part in parts):
        text = _without(_text(path), [part for part in parts if part.path == path])
        if _PLUGIN in text:
            yield Leftover(f"{_PLUGIN} in {path}", connection.old_plugin_removal(setup))
        elif _OLD_PROGRAM.search(text):
            yield Leftover(path, advice=f"remove the entries of {NAME} from {path}")


def _without(text: str, parts: Iterable[Part]) -> str:
    """Return a text without what is ours in it; as it is if it cannot be read."""
    try:
        for part in parts:
            text = part.drop(text)
    except ValueError:
        pass
    return text


def _skills(command: str) -> Iterator[Leftover]:
    """Yield the skills that hosts share, with the command that replaces them, if a host gets them anew by it."""
    old = [part.path for part in host_files.skills() if _is_old(part)]
    if old:
        folder = os.path.dirname(os.path.dirname(old[0]))
        yield Leftover(folder, command or _line("rm", *old))


def _project_files(project: str) -> Iterator[Leftover]:
    """Yield the project's own files that start the old program."""
    workflows = os.path.join(".github", "workflows")
    names = [os.path.join(workflows, name) for name in _names(os.path.join(project, workflows))[:_MAX_WORKFLOWS]]
    for name in (".pre-commit-config.yaml", ".mcp.json", *names):
        path = os.path.join(project, name)
        if _OLD_PROGRAM.search(_text(path)):
            yield Leftover(path, advice=f"rename {NAME} to onrecord in {path}")


def _variables() -> Iterator[Leftover]:
    for name in sorted(os.environ):
        if name.startswith(_VARIABLE):
            yield Leftover(name, advice=f"rename {name} to ONRECORD_{name[len(_VARIABLE) :]} where it is set")


def _read(path: str) -> bytes:
    try:
        return files.read(path, _MAX_CONFIG_BYTES)
    except OSError:
        return b""


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _text(path: str) -> str:
    return _read(path).decode("utf-8", "replace").removeprefix("\ufeff")


def _line(*words: str) -> str:
    return " ".join(map(shlex.quote, words))
