"""Whether the connected shared stores can be read, and what keeps them from being synced."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.doctor import Finding
from onrecord.errors import BadInput
from onrecord.remotes import pending, remote, shared
from onrecord.remotes.replica import Replica
from onrecord.settings import Settings
from onrecord.text import many

_WHAT = "remotes"


def examine(settings: Settings) -> Iterator[Finding]:
    """What is wrong with the remotes, or that they are connected; nothing where there are none and none is wanted."""
    try:
        remotes, missing = remote.connected(), shared.missing(settings)
    except BadInput as error:
        yield Finding("error", _WHAT, f"no shared store is read: {error.message}", error.fix)
        return
    yield from (Finding("note", _WHAT, shared.wish(name), "onrecord remote list") for name in missing)
    findings = [finding for each in remotes for finding in _examine(each.name)]
    yield from findings
    if remotes and not findings:
        yield Finding("ok", _WHAT, f"{many(len(remotes), 'shared store')} connected")


def _examine(name: str) -> Iterator[Finding]:
    replica = Replica(name)
    state, conflicts = replica.state, pending.conflicts(replica)
    if state.offline_since:
        yield Finding("warning", _WHAT, f"{name} was not reached since {state.offline_since}", "onrecord remote status")
    if state.last_error:
        yield Finding("warning", _WHAT, f"{name}: {state.last_error}", "onrecord remote status")
    if state.refused or state.unreadable:
        count = many(len(state.refused) + len(state.unreadable), "file")
        yield Finding("warning", _WHAT, f"{name}: {count} could not be synced", "onrecord remote status")
    if conflicts:
        yield Finding("note", _WHAT, f"{name}: {many(len(conflicts), 'conflict')}", f"onrecord review --remote {name}")
