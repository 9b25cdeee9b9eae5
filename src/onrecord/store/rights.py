"""What a user may write to a replica: what its remote would refuse is refused at once, by whatever command.

The last sync has noted in the state of the replica what the remote accepts. Restoring what the remote has is always
allowed: that is how a change is taken back.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Optional

SYNC = "sync"
"""The action of a sync in the log: it writes what the remote has."""

_MAX_STATE_BYTES = 4_000_000
_MAX_FILE_BYTES = 1_000_001


def refuse(root: str, new_texts: Mapping[str, Optional[str]]) -> None:
    """Raise Refused for files that the remote of a replica would refuse; None among the texts deletes a file."""
    prefix = paths.prefix_of(root)
    if not paths.is_shared(prefix):
        return
    name = paths.store_name(prefix)
    if root == paths.accepted(name).root:
        raise Refused(f"what {name} has accepted is not changed here", fix=f"onrecord remote status {name}")
    is_read_only, takes_drafts_only = _noted(root)
    for path, text in new_texts.items():
        is_allowed = not is_read_only and (not takes_drafts_only or path.startswith(f"{paths.INBOX}/"))
        if not is_allowed and (text or "") != _accepted_text(name, path):
            raise _refused(name, path, is_read_only=is_read_only)


def _refused(name: str, path: str, *, is_read_only: bool) -> Refused:
    if is_read_only:
        fix = f"ask its administrator for the role writer; then: onrecord sync {name}"
        return Refused(f"your role in {name} is reader, so {path} was not written", fix=fix)
    fix = f"run the same command with --draft; or share a record of your project; onrecord remote status {name}"
    return Refused(f"{name} accepts only drafts from you, which are reviewed there; {path} was not written", fix=fix)


def _noted(root: str) -> tuple[bool, bool]:
    """Return whether the remote accepts nothing, and whether it accepts only drafts, as of the last sync.

    Raises Unwritable if the disk does not tell.
    """
    data = files.read_if_there(os.path.join(os.path.dirname(root), "state.json"), _MAX_STATE_BYTES)
    try:
        fields = coldstart.loads(data.decode("utf-8"))
    except ValueError:
        return False, False
    if not isinstance(fields, dict):
        return False, False
    return fields.get("is_read_only") is True, fields.get("asks_for_review") is True


def _accepted_text(name: str, path: str) -> str:
    return _read(paths.accepted(name).root, path).decode("utf-8", "replace")


def _read(root: str, path: str) -> bytes:
    try:
        return files.read(os.path.join(root, path), _MAX_FILE_BYTES)
    except OSError:
        return b""


def unaccepted_paths(store_root: str, record_paths: Iterable[str]) -> set[str]:
    """Return those of `record_paths` in a replica that its remote does not have as they are there; none elsewhere."""
    prefix = paths.prefix_of(store_root)
    if not paths.is_shared(prefix):
        return set()
    accepted = paths.accepted(paths.store_name(prefix)).root
    return {path for path in record_paths if _read(store_root, path) != _read(accepted, path)}
