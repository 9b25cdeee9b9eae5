"""Our changes to a shared store as one commit, made by git's own importer: no working tree, no index."""

from __future__ import annotations

import getpass
import os
import platform
import time
from collections.abc import Sequence

from onrecord.coldstart import NamedTuple, digest
from onrecord.record import naming
from onrecord.shared import incoming
from onrecord.shared.git_mirror import Mirror
from onrecord.shared.git_tree import broken
from onrecord.shared.transport import Push
from onrecord.text import first_few, many

NEXT = "refs/onrecord/next"
"""The commit that is about to be pushed."""

_MOST_NAMED = 3


class Author(NamedTuple):
    """Who writes commits on this machine."""

    name: str
    email: str


def author(mirror: Mirror) -> Author:
    """The user as git knows them, or else as the system does."""
    listed = mirror.ask("config", "--null", "--get-regexp", r"^user\.(name|email)$").text.split("\0")
    values = dict(entry.split("\n", 1) for entry in listed if "\n" in entry)
    user = _plain(_user())
    name, email = (_plain(values.get(key, "")) for key in ("user.name", "user.email"))
    return Author(name or user, email or f"{user}@{_plain(platform.node()) or 'localhost'}")


def own_branch(mirror: Mirror) -> str:
    """The branch for what the main one does not take: this user's, on this machine, for this remote."""
    user = naming.slug(_user())[:30] or "user"
    return f"onrecord/{user}-{digest(f'{platform.node()}{os.path.realpath(mirror.folder)}'.encode())[:6]}"


def make(mirror: Mirror, parent: str, below: str, changes: Sequence[Push]) -> str:
    """Commit changes on top of a commit, or as the first one; the id of the new commit."""
    who = author(mirror)
    message = _message(changes).encode("utf-8")
    head = f"reset {NEXT}\n\ncommit {NEXT}\ncommitter {who.name} <{who.email}> {int(time.time())} +0000\n"
    parts = [head.encode("utf-8"), b"data %d\n%s\n" % (len(message), message)]
    if parent:
        parts.append(f"from {parent}\n".encode("ascii"))
    for path, data, _ in changes:
        place = f"{below}{path}".encode("ascii")
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (place, len(data), data) if data else b"D %s\n" % place)
    answer = mirror.ask("fast-import", "--quiet", "--done", "--force", stdin=b"".join((*parts, b"\ndone\n")))
    commit = mirror.commit_of(NEXT) if answer.is_good else ""
    if not commit:
        raise broken(answer.message)
    return commit


def _message(changes: Sequence[Push]) -> str:
    names = [incoming.stem(change.path) for change in changes]
    listed = "".join(f"\n{'delete' if not change.data else 'write'} {change.path}" for change in changes[:100])
    subject = f"Sync {many(len(names), 'file')}: {first_few(names, _MOST_NAMED)}"
    return f"{subject}\n\nWritten by `onrecord sync`.\n{listed}\n"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _plain(text: str) -> str:
    """A name as it may stand in the line of a commit."""
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip()
