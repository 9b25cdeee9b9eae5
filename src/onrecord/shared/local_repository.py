"""A remote that is a folder of this machine, reached without running any program that its repository names.

Git would start `upload-pack` and `receive-pack` inside that repository, and these obey its hooks and its config. So git
gets a repository of our own instead: its config is ours, and of the remote it has only the objects and the refs, by
links. No other address may lead git to a local path: for those the protocol `file` is not allowed.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from shlex import quote
from urllib.parse import unquote

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, Unwritable

_FILE_SCHEME = "file://"
_ENDINGS = (f"{os.sep}.git", "", f".git{os.sep}.git", ".git")
"""Where git looks for a repository, in this order, relative to the typed path."""

_DATA_FOLDERS = ("objects", "refs", "reftable", "worktrees")
"""Linked from the remote: objects and refs; and its other working trees, whose branches must not be changed."""

_WRITTEN = ("objects", "refs", "reftable", "packed-refs")
"""What git writes to: neither these nor a folder in them may be a link, which could lead anywhere."""

_GATES = ("pre-receive", "update", "proc-receive", "reference-transaction")
"""Hooks that may refuse a push. As they are not run, nothing is written past them."""

_SETTINGS = {
    "core.bare": re.compile("true|false"),
    "core.sharedrepository": re.compile("true|false|umask|group|all|world|everybody|[0-7]{1,4}"),
    "core.repositoryformatversion": re.compile("[01]"),
    "extensions.objectformat": re.compile("sha1|sha256"),
    "extensions.refstorage": re.compile("files|reftable"),
    "receive.denynonfastforwards": re.compile("true|false"),
    "receive.denydeletes": re.compile("true|false"),
    "receive.denycurrentbranch": re.compile("true|false|refuse|ignore|warn"),
}
"""Settings of the remote that are obeyed, with their values: none of them names a program or a path."""

_OWN_SETTINGS = {
    "core.hookspath": os.devnull,
    "core.fsmonitor": "false",
    "core.logallrefupdates": "false",
    # By default git would run in each repository that lends it objects.
    "core.alternaterefscommand": ":",
    # Collecting garbage here would not see the remote's reflogs and working trees, and could delete what they need.
    "receive.autogc": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_MAX_FILE_BYTES = 4_000
_MAX_CONFIG_BYTES = 100_000
_PREFIX = "folder-"
_LEFTOVER_SECONDS = 86_400
_SECTION = re.compile(r"\[\s*([A-Za-z0-9.-]+)\s*\]")


class RepositoryFolders(NamedTuple):
    """The folders of a repository: that of its HEAD, and the one that its working trees share."""

    git_dir: str
    common: str


def local_path(url: str) -> str:
    """Return the path of an address that git would open on this machine; empty for any other address."""
    if url[: len(_FILE_SCHEME)].lower() == _FILE_SCHEME:
        rest = unquote(url[len(_FILE_SCHEME) :])
        # `file://host/share` is a folder on the network, and `file:///C:/x` has a drive.
        has_drive = os.name == "nt" and re.match("/[A-Za-z]:", rest)
        return rest[1:] if has_drive else rest if rest.startswith("/") else f"//{rest}"
    return url if os.path.isabs(url) else ""


def find(path: str) -> RepositoryFolders:
    """Return the repository at `path`. Raises BadRemote."""
    for ending in _ENDINGS:
        folder = path.rstrip("/" + os.sep) + ending
        if files.is_regular(folder):
            target = _first_line(folder)
            folder = os.path.join(os.path.dirname(folder), target[8:].strip()) if target[:8] == "gitdir: " else ""
        if folder and files.is_regular(os.path.join(folder, "HEAD")):
            shared = _first_line(os.path.join(folder, "commondir"))
            common = os.path.join(folder, shared) if shared else folder
            if files.is_folder(os.path.join(common, "objects")):
                return RepositoryFolders(os.path.abspath(folder), os.path.abspath(common))
    reason = "it does not appear to be a git repository"
    raise BadRemote(f"{path} cannot be used: {reason}", fix=f"check that git can reach it: git ls-remote {quote(path)}")


def gates(path: str) -> list[str]:
    """Return the names of the hooks at `path` that may refuse a push. Raises BadRemote."""
    repository = find(path)
    settings = read_settings(os.path.join(repository.common, "config"), ("core.hookspath",))
    folder = os.path.join(repository.common, settings.get("core.hookspath", "hooks"))
    return [name for name in _GATES if os.access(os.path.join(folder, name), os.X_OK)]


@contextmanager
def opened(path: str, parent: str) -> Iterator[str]:
    """Yield a repository of our own in `parent` with the objects and refs of the one at `path`. Raises BadRemote."""
    repository = find(path)
    for name in _linked(repository.common):
        raise BadRemote(f"{path} cannot be used: {name!r} is a link", fix="connect the repository that it leads to")
    files.make_folder(parent, is_private=True)
    _remove_leftovers(parent)
    folder = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
    try:
        try:
            _fill(folder, repository)
        except OSError as error:
            reason = error.strerror or error
            raise Unwritable(f"cannot write {folder}: {reason}", fix="check the disk's space") from error
        yield folder
    finally:
        # Removes the links, and nothing behind them.
        shutil.rmtree(folder, ignore_errors=True)


def _linked(git_dir: str) -> Iterator[str]:
    """Yield what a push may write to and is a link, such as the folder `refs/heads/onrecord`."""
    waiting = list(_WRITTEN)
    while waiting:
        name = waiting.pop()
        folder = os.path.join(git_dir, name)
        if os.path.islink(folder):
            yield name
        elif files.is_folder(folder):
            with os.scandir(folder) as entries:
                waiting += [os.path.join(name, entry.name) for entry in entries if entry.is_dir()]


def _fill(folder: str, repository: RepositoryFolders) -> None:
    settings = {"core.bare": _is_bare(repository), **_obeyed(read_settings(os.path.join(repository.common, "config")))}
    files.write(os.path.join(folder, "config"), _config({**settings, **_OWN_SETTINGS}).encode(), lasting=False)
    for name, source in (("HEAD", repository.git_dir), ("shallow", repository.common)):
        data = _read(os.path.join(source, name), _MAX_CONFIG_BYTES)
        if data:
            files.write(os.path.join(folder, name), data.encode("utf-8", "surrogateescape"), lasting=False)
    for name in _DATA_FOLDERS:
        if files.is_folder(os.path.join(repository.common, name)):
            _link_folder(os.path.join(repository.common, name), os.path.join(folder, name))
    packed = os.path.join(repository.common, "packed-refs")
    try:
        # A link and no copy: others may pack the refs between this moment and our push.
        os.symlink(packed, os.path.join(folder, "packed-refs"))
    except OSError:
        if not files.IS_WINDOWS:
            raise
        if files.is_regular(packed):
            shutil.copyfile(packed, os.path.join(folder, "packed-refs"))


def _link_folder(target: str, link: str) -> None:
    try:
        os.symlink(target, link, target_is_directory=True)
    except OSError:
        if not files.IS_WINDOWS:
            raise
        # A junction needs no privilege.
        import _winapi

        _winapi.CreateJunction(target, link)  # type: ignore[attr-defined]


def _is_bare(repository: RepositoryFolders) -> str:
    """Return the value of `core.bare` for a repository that does not set it."""
    return (
        "false" if os.path.basename(repository.git_dir) == ".git" or repository.git_dir != repository.common else "true"
    )


def _obeyed(git_settings: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in git_settings.items() if _SETTINGS[key].fullmatch(value)}


def _config(git_settings: Mapping[str, str]) -> str:
    lines = []
    for key, value in git_settings.items():
        section, _, name = key.partition(".")
        lines.append(f'[{section}]\n\t{name} = "{value}"\n')
    return "".join(lines)


def read_settings(path: str, keys: Collection[str] = tuple(_SETTINGS)) -> dict[str, str]:
    """Return the values of `keys` in a git config, read as data: files that it includes are not read."""
    section = ""
    values: dict[str, str] = {}
    for line in _read(path, _MAX_CONFIG_BYTES).splitlines():
        text = line.strip()
        if heading := _SECTION.match(text):
            section, text = heading[1].lower(), text[heading.end() :].strip()
        elif text.startswith("["):
            section = ""
        name, equals, value = text.partition("=")
        key = f"{section}.{name.strip().lower()}"
        if key in keys:
            value = value.strip().strip('"') if equals else "true"
            values[key] = value if key == "core.hookspath" else value.lower()
    return values


def _remove_leftovers(parent: str) -> None:
    """Remove what killed syncs have left."""
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        if name.startswith(_PREFIX) and time.time() - os.lstat(path).st_mtime > _LEFTOVER_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _first_line(path: str) -> str:
    return _read(path, _MAX_FILE_BYTES).split("\n", 1)[0].strip()


def _read(path: str, max_bytes: int) -> str:
    try:
        return files.read(path, max_bytes).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
