"""What may be a file of a shared store: checked for everything that comes from a remote or goes to one."""

from __future__ import annotations

import re

from onrecord import paths
from onrecord.errors import OnrecordError
from onrecord.record import draft, memory, naming, schema, secrets

MOST_FILES = 200_000
"""Files of one shared store; the replica is read by every hook, and a hook has no time for more."""

MOST_BYTES = 1_000_000_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,119}\.json")
"""Lower case only: two names that one machine keeps apart must not be one file on another."""

_FOLDERS = frozenset((*schema.FOLDERS.values(), paths.INBOX))


def flaw_of_path(path: str) -> str:
    """Why no file of a shared store can have this path; empty if one can."""
    folder, _, name = path.partition("/")
    if folder not in _FOLDERS or not _NAME.fullmatch(name):
        return "not the path of a record or a draft"
    return "a name that Windows does not allow" if naming.is_device(name.removesuffix(".json")) else ""


def flaw(path: str, data: bytes) -> str:
    """Why a file cannot be part of a shared store; empty if it can. A deleted one always can."""
    reason = flaw_of_path(path)
    if reason or not data:
        return reason
    try:
        if is_draft(path):
            draft.parse(stem(path), data)
        elif (record := memory.parse(data, path)).path != path:
            return f"says it is {record.path}"
    except OnrecordError as error:
        return error.message.removeprefix(f"{path}: ")
    return ""


def leak(data: bytes, before: bytes) -> str:
    """The first credential in a file that its version before did not hold; empty if there is none."""
    if not data:
        return ""
    old = frozenset(secrets.credentials(memory.decode(before, "before"))) if before else frozenset()
    return next(map(str, secrets.leaks(memory.decode(data, "record"), old=old)), "")


def is_draft(path: str) -> bool:
    return path.startswith(f"{paths.INBOX}/")


def stem(path: str) -> str:
    """The name of a file without its folder and ending: the id of a record, the name of a draft."""
    return path.rpartition("/")[2][: -len(".json")]
