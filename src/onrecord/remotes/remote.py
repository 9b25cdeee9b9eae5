"""The shared stores that the user has connected: a name, an address, and what the user allows, in `remotes.json`.

The file lies beside the user's own settings, and nothing of a project is read here: a project can never connect
one. Hooks load this module, so it imports nothing that costs.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.errors import AlreadyExists, BadInput, NotFound
from onrecord.remotes import address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LOCK = "remote.lock"
"""A file in the state folder: nothing but a lock."""

LONGEST_NAME = 40
RESERVED = ("project", "user", "none")
"""Names that mean something else where a remote is named: the other two stores, and no remote at all."""

_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
_LARGEST = 1_000_000
_MOST = 100
"""Remotes that one user can connect: every one of them is a store more for each hook to ask."""


class Remote(coldstart.NamedTuple):
    """One connected shared store: its name, its address, and what the user allows."""

    name: str
    url: str
    kind: str
    """`git` or `postgres`."""
    review: bool = False
    """Whether what is shared waits in its inbox until somebody accepts it."""
    auto: bool = False
    """Whether a session's start may begin a sync."""


def is_planted(project: str) -> bool:
    """Whether the file lies in a project: whoever wrote the project's files put it there, then. Home is no project."""
    is_home = os.path.realpath(project) == os.path.realpath(os.path.expanduser("~"))
    return bool(project) and not is_home and paths.is_within(project, paths.user_store())


def connected() -> list[Remote]:
    """The connected remotes by name; BadInput if the file is not one that we could have written."""
    try:
        data = files.read(paths.remotes_file(), _LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _unreadable(error.strerror or str(error)) from error
    if len(data) > _LARGEST:
        raise _unreadable(f"is larger than {_LARGEST:,} bytes")
    try:
        listed = coldstart.loads(data.decode().removeprefix("\ufeff"))
    except ValueError as error:
        raise _unreadable(f"is not JSON: {error}") from error
    if not isinstance(listed, list) or len(listed) > _MOST:
        raise _unreadable(f"must be a list of at most {_MOST} remotes")
    remotes = [_remote(entry, number) for number, entry in enumerate(listed, 1)]
    if len({each.name for each in remotes}) < len(remotes):
        raise _unreadable("names one remote twice")
    return sorted(remotes)


def usable() -> list[Remote]:
    """The same for hooks: none where the file cannot be read, and a line in the failure log."""
    try:
        return connected()
    except BadInput as error:
        from onrecord import failure_log

        failure_log.leave("remotes", error.message)
        return []


def get(name: str) -> Remote:
    """The remote of this name; NotFound if it is not connected."""
    for remote in connected():
        if remote.name == name:
            return remote
    raise NotFound(f"no remote {name[:80]!r} is connected ({listed()})", fix="onrecord remote list")


def listed() -> str:
    """The names of the connected remotes, in words."""
    names = ", ".join(each.name for each in connected())
    return f"connected: {names}" if names else "none is connected"


def add(name: str, url: str, *, review: bool = False, auto: bool = False) -> Remote:
    """Connect a shared store. Nothing is fetched; BadInput for a name or an address that cannot be used."""
    refuse_name(name)
    url = address.absolute(url)
    remote = Remote(name, url, address.kind(url), review, auto)
    with _changing():
        remotes = connected()
        if any(each.name == name for each in remotes):
            raise AlreadyExists(
                f"a remote {name!r} is connected already", fix="choose another name; onrecord remote list"
            )
        if same := next((each.name for each in remotes if each.url == url), ""):
            raise AlreadyExists(f"this address is connected already, as {same!r}", fix=f"onrecord remote status {same}")
        if len(remotes) >= _MOST:
            raise BadInput(f"{_MOST} remotes are connected", fix="onrecord remote list; remove one that you do not use")
        _write([*remotes, remote])
    return remote


def remove(name: str) -> Remote:
    """Take a remote off the list; its replica is not touched. The last one takes the list with it."""
    with _changing():
        remote = get(name)
        others = [each for each in connected() if each.name != name]
        if others:
            _write(others)
        else:
            _delete()
    return remote


def refuse_name(name: str) -> None:
    """BadInput for a name that no remote can have."""
    if name in RESERVED:
        raise BadInput(f"{name!r} means something else", fix="choose another name, such as platform")
    if not is_name(name):
        shown = repr(name[: 2 * LONGEST_NAME])
        fix = "use the letters a to z, digits and hyphens, such as platform"
        raise BadInput(f"{shown} is not a name of 1 to {LONGEST_NAME} lower-case letters, digits and hyphens", fix=fix)


def is_name(name: object) -> bool:
    """Whether a remote can have this name."""
    return (
        isinstance(name, str)
        and 1 <= len(name) <= LONGEST_NAME
        and not name.strip(_CHARACTERS)
        and name[0] != "-"
        and name not in RESERVED
    )


def _remote(entry: object, number: int) -> Remote:
    """An entry of the file as a remote; BadInput if it has another form: somebody edited it."""
    if not isinstance(entry, dict):
        raise _unreadable(f"entry {number} is not an object")
    name, url = entry.get("name"), entry.get("url")
    if not is_name(name):
        raise _unreadable(f"entry {number} has no usable name")
    if not isinstance(url, str):
        raise _unreadable(f"entry {number} ({name}) has no url")
    flags = [entry.get(key, False) for key in ("review", "auto")]
    if not all(isinstance(flag, bool) for flag in flags):
        raise _unreadable(f"entry {number} ({name}): review and auto must be true or false")
    try:
        kind = address.kind(url)
    except BadInput as error:
        raise _unreadable(f"entry {number} ({name}): {error.message}") from error
    if entry.get("kind", kind) != kind:
        raise _unreadable(f"entry {number} ({name}): its url is one of {kind}")
    return Remote(str(name), url, kind, *flags)


def _changing() -> files.locked:
    return files.locked(os.path.join(paths.state_dir(), LOCK))


def _write(remotes: Iterable[Remote]) -> None:
    import json

    entries = [each._asdict() for each in sorted(remotes)]
    text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
    files.write(paths.remotes_file(), text.encode("utf-8"), mode=0o600)


def _delete() -> None:
    """Delete the list, and the user's store if it held nothing else: its folder may be there for the list alone."""
    os.unlink(paths.remotes_file())
    try:
        os.rmdir(os.path.dirname(paths.remotes_file()))
    except OSError:
        pass


def _unreadable(reason: str) -> BadInput:
    file = paths.remotes_file()
    return BadInput(f"{file}: {reason}", fix=f"correct {file}, or delete it and connect the remotes again")
