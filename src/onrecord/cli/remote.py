"""`onrecord remote`: connect shared stores, list them, say how their sync stands, and take them off again."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from typing import Any

from onrecord import timestamps
from onrecord.cli import sync
from onrecord.cli.output import CommandResult, Screen, clean, fitted, table, wrap
from onrecord.cli.progress import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, WrongState
from onrecord.project import Project
from onrecord.settings import Settings
from onrecord.shared import remotes as address
from onrecord.shared import remotes as remote
from onrecord.shared import replicas, sync_base
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica, SyncState
from onrecord.store import record_names
from onrecord.text import first_few, plural

_MOST_NAMED = 5
_INDENT = "  "


class _Standing(NamedTuple):
    """How one remote stands."""

    remote: Remote
    replica: Replica
    state: SyncState
    records: int
    waiting: list[str]
    """Paths with changes that the remote does not have yet."""
    conflicts: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(prog=parser.prog, dest="action", metavar="ACTION", help="default: list")
    actions.add_parser("list", help="list those that are connected (the default)")
    add = actions.add_parser("add", help="connect a shared store; nothing is fetched yet")
    add.add_argument("name", metavar="NAME", help="a name for it, such as platform")
    meaning = "its address, such as git@host:team/memory.git or postgresql://host/memory"
    add.add_argument("url", metavar="URL", help=meaning)
    add.add_argument("--review", action="store_true", help="put what is shared in its inbox until it is accepted there")
    add.add_argument("--auto", action="store_true", help="sync in the background when a session starts")
    remove = actions.add_parser("remove", help="disconnect a shared store and delete its replica")
    remove.add_argument("name", metavar="REMOTE", help="the name of a remote")
    remove.add_argument("--force", action="store_true", help="even with changes that were not pushed")
    status = actions.add_parser("status", help="show the last sync, changes to push, and conflicts")
    status.add_argument("name", nargs="?", metavar="REMOTE", help="only this remote (default: all)")


def run(args: argparse.Namespace) -> CommandResult:
    if args.action == "add":
        return _add(args.name, args.url, review=args.review, auto=args.auto)
    if args.action == "remove":
        return _remove(args.name, force=args.force)
    settings = Project(args.project).settings
    return _status(settings, args.name) if args.action == "status" else _list(settings)


def _add(name: str, url: str, *, review: bool, auto: bool) -> CommandResult:
    _refuse_old_replica(name)
    if address.address_kind(address.absolute_address(url)) == address.POSTGRES:
        address.parse_team_address(url)
    added = remote.add(name, url, review=review, auto=auto)
    root = replicas.prepare(added.name).root
    data = {**added._asdict(), "replica": root}
    text = f"connected {added.name} ({added.kind}); nothing was fetched yet: `onrecord sync` does that"
    return CommandResult(data, lambda screen: wrap(clean(text), screen.width))


def _refuse_old_replica(name: str) -> None:
    """BadInput where a replica of another shared store may be left: its records would go to this one."""
    remote.refuse_name(name)
    old = Replica(name)
    is_connected = any(each.name == name for each in remote.connected())
    if not is_connected and os.path.isdir(old.store) and (next(record_names.paths(old.store), "") or old.state.cursor):
        fix = f"choose another name, or delete {old.root} if you do not need what is in it"
        raise BadInput(f"there is a replica of an earlier remote {name!r} at {old.root}", fix=fix)


def _remove(name: str, *, force: bool) -> CommandResult:
    removed = remote.get(name)
    left = Replica(removed.name)
    waiting = sync_base.unpushed_paths(left)
    if waiting and not force:
        count = plural(len(waiting), "change")
        fix = f"sync it first, or lose what was not pushed: onrecord remote remove {removed.name} --force"
        raise WrongState(f"{removed.name} has {count} that the remote does not have: {first_few(waiting)}", fix=fix)
    with left.lock():
        remote.remove(removed.name)
    # Windows deletes no file that is open, as the lock was.
    replicas.delete(left)
    data = {**removed._asdict(), "replica": left.root, "lost": waiting}
    return CommandResult(
        data, lambda screen: fitted(screen, clean(f"removed {removed.name} and its replica {left.root}"))
    )


def _list(settings: Settings) -> CommandResult:
    remotes, missing = remote.connected(), replicas.missing_names(settings)
    rows = [(each.name, each.url, ", ".join(_allowed(each))) for each in remotes]
    data = {"remotes": [each._asdict() for each in remotes], "asked_for": missing}

    def text(screen: Screen) -> str:
        lines = (
            [table(screen, ("name", "address", ""), rows, gives_way=1)] if rows else ["No shared store is connected."]
        )
        return "\n".join([*lines, *_wishes(screen, missing)])

    return CommandResult(data, text)


def _allowed(each: Remote) -> Iterator[str]:
    yield each.kind
    if each.review:
        yield "review"
    if each.auto:
        yield "auto"


def _status(settings: Settings, name: str | None) -> CommandResult:
    remotes = [remote.get(name)] if name else remote.connected()
    with Progress("comparing files"):
        standings = [_standing(each) for each in remotes]
    missing = replicas.missing_names(settings)
    data = {"remotes": [_data(each) for each in standings], "asked_for": missing}

    def text(screen: Screen) -> str:
        lines = [line for each in standings for line in _lines(screen, each)]
        return "\n".join([*(lines or ["No shared store is connected."]), *_wishes(screen, missing)])

    return CommandResult(data, text)


def _standing(each: Remote) -> _Standing:
    own = Replica(each.name)
    count = sum(1 for _ in record_names.paths(own.store))
    return _Standing(each, own, own.state, count, sync_base.unpushed_paths(own), sync_base.conflict_drafts(own))


def _data(standing: _Standing) -> dict[str, Any]:
    state = standing.state
    return {
        **standing.remote._asdict(),
        "replica": standing.replica.root,
        "records": standing.records,
        "last_sync": state.last_sync,
        "offline_since": state.offline_since,
        "last_error": state.last_error,
        "note": state.note,
        "waiting": standing.waiting,
        "conflicts": standing.conflicts,
        "refused": [{"path": path, "reason": reason} for path, reason in state.refused],
        "unreadable": [{"path": path, "reason": reason} for path, reason in state.unreadable],
        "asks_for_review": state.asks_for_review,
    }


def _lines(screen: Screen, standing: _Standing) -> Iterator[str]:
    each = standing.remote
    yield f"{screen.paint(each.name, 'bold')}  {clean(each.url)}"
    for fact in _facts(standing, screen):
        yield wrap(clean(fact), screen.width, _INDENT)


def _facts(standing: _Standing, screen: Screen) -> Iterator[str]:
    """What there is to say of a remote, in words."""
    state = standing.state
    moment = timestamps.ago(state.last_sync) if screen.is_terminal else state.last_sync
    yield f"{plural(standing.records, 'record')}, {f'last synced {moment}' if state.last_sync else 'never synced'}"
    if standing.waiting:
        yield f"{plural(len(standing.waiting), 'change')} to push: {first_few(standing.waiting)}"
    if standing.conflicts:
        count = plural(len(standing.conflicts), "conflict")
        yield f"{count}: onrecord review --remote {standing.remote.name}"
    if state.offline_since:
        yield f"offline since {timestamps.ago(state.offline_since) if screen.is_terminal else state.offline_since}"
    if state.last_error:
        yield f"last error: {state.last_error}"
    if state.note and standing.waiting:
        yield state.note
        yield sync.refused_hint(standing.remote.name)
    if state.asks_for_review and not standing.remote.review:
        yield "it takes drafts only: what is shared waits there for a review"
    for verb, paths in (("not pushed", state.refused), ("not taken from there", state.unreadable)):
        for path, reason in paths[:_MOST_NAMED]:
            yield f"{verb}: {path}: {reason}"
        if len(paths) > _MOST_NAMED:
            yield f"{verb}: {len(paths) - _MOST_NAMED:,} more"


def _wishes(screen: Screen, names: Sequence[str]) -> Iterator[str]:
    yield from (wrap(replicas.missing_note(name), screen.width) for name in names)
