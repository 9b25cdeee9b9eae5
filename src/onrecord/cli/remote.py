"""`onrecord remote`: connect, list and disconnect shared stores, and show the state of their sync."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from shlex import quote
from typing import Any

from onrecord import files, timestamps
from onrecord.cli import sync
from onrecord.cli.output import CommandResult, Screen, clean, fitted, table, wrap
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, NotFound, OnrecordError, Refused, Unwritable, WrongState
from onrecord.project import Project
from onrecord.record import author
from onrecord.settings import Settings
from onrecord.shared import incoming, remotes, replicas, sync_base
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica, SyncState
from onrecord.shared.transport import StoreAccess
from onrecord.store import record_names
from onrecord.text import first_few, plural

_MAX_PATHS = 5
"""Paths listed for each kind of problem."""

_INDENT = "  "


class _RemoteStatus(NamedTuple):
    """A remote with its replica and the state of its sync."""

    remote: Remote
    replica: Replica
    state: SyncState
    records: int
    waiting: list[str]
    """Paths with changes to push."""
    conflicts: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(prog=parser.prog, dest="action", metavar="ACTION", help="default: list")
    actions.add_parser("list", help="list the connected stores (the default)")
    add = actions.add_parser("add", help="connect a shared store, and say what you may do there")
    add.add_argument("name", metavar="NAME", help="a name for it, such as platform")
    meaning = "its address, such as git@host:team/memory.git or postgresql://host/memory"
    add.add_argument("url", metavar="URL", help=meaning)
    add.add_argument("--review", action="store_true", help="share drafts to be reviewed there, not records")
    add.add_argument("--auto", action="store_true", help="sync in the background when a session starts")
    add.add_argument("--offline", action="store_true", help="connect it without trying whether it answers")
    remove = actions.add_parser("remove", help="disconnect a shared store and delete its replica")
    remove.add_argument("name", metavar="REMOTE", help="name of the remote")
    remove.add_argument("--force", action="store_true", help="even if changes were not pushed")
    withdraw = actions.add_parser("withdraw", help="take back changes that were refused, or not accepted yet")
    withdraw.add_argument("name", metavar="REMOTE", help="name of the remote")
    withdraw.add_argument("ids", nargs="*", metavar="ID", help="only these records (default: all that wait)")
    withdraw.add_argument("--draft", action="store_true", help="send them as drafts, to be reviewed there")
    status = actions.add_parser("status", help="show the last sync, changes to push, and conflicts")
    status.add_argument("name", nargs="?", metavar="REMOTE", help="only this remote (default: all)")


def run(args: argparse.Namespace) -> CommandResult:
    if args.action == "add":
        return _add(args.name, args.url, review=args.review, auto=args.auto, is_offline=args.offline)
    if args.action == "remove":
        return _remove(args.name, force=args.force)
    if args.action == "withdraw":
        return _withdraw(args.name, args.ids, as_drafts=args.draft)
    settings = Project(args.project).settings
    return _status(settings, args.name) if args.action == "status" else _list(settings)


def _add(name: str, url: str, *, review: bool, auto: bool, is_offline: bool) -> CommandResult:
    _refuse_old_replica(name)
    note = ""
    if remotes.address_kind(remotes.absolute_address(url)) == remotes.POSTGRES:
        team = remotes.parse_team_address(url).team
        note = "" if "#" in url else f"the address names no team, so it is the team {team}; another one: {url}#TEAM"
    if author.detect().origin == author.AGENT:
        raise BadInput("only a person may connect a shared store", fix="ask the user to run `onrecord remote add`")
    remote = remotes.add(name, url, review=review, auto=auto)
    access = None if is_offline else _access(remote, note)
    data = {**remote._asdict(), "replica": Replica(remote.name).root, "access": access._asdict() if access else None}
    text = f"connected {remote.name} ({remote.kind})"
    text += f": {_access_text(access)}" if access else ", without trying whether it answers"
    lines = [f"{text}; to fetch its records: onrecord sync {remote.name}"]
    result = CommandResult(data, lambda screen: "\n".join(fitted(screen, clean(line)) for line in lines), note=note)
    try:
        for folder in (Replica(remote.name).store, Replica(remote.name).base):
            files.make_folder(folder, is_private=True)
        if access and access.team:
            _note_rights(Replica(remote.name), access)
    except OSError as error:
        return result.warned(f"its folder cannot be created yet: {error.strerror or error}; the next sync tries again")
    except Unwritable as error:
        return result.warned(f"{error.message}; the next sync tries again")
    return result


def _access(remote: Remote, note: str) -> StoreAccess:
    """Return what the remote answers. If it cannot be used, disconnect it again and raise the error."""
    replica = Replica(remote.name)
    is_new = not files.is_folder(replica.root)
    try:
        with Progress(f"asking {remote.name}"), closing(sync.open_transport(remote)) as transport:
            return transport.access()
    except BaseException as error:
        remotes.remove(remote.name)
        if is_new and files.is_folder(replica.root):
            replicas.delete(replica)
        if isinstance(error, OnrecordError):
            options = "".join(f" --{option}" for option in ("review", "auto") if getattr(remote, option))
            anyway = f"onrecord remote add {remote.name} {quote(remote.url)}{options} --offline"
            error.message += f"; {remote.name} is not connected" + (f"; {note}" if note else "")
            error.fix += f"; to connect it all the same: {anyway}"
        raise


def _note_rights(replica: Replica, access: StoreAccess) -> None:
    """Note what a hub accepts from us, so that a change it would refuse is refused, or is a draft, before a sync."""
    is_read_only = access.role == "reader"
    replica.write_state(replica.state._replace(asks_for_review=access.asks_for_review, is_read_only=is_read_only))


def _access_text(access: StoreAccess) -> str:
    """Return who we are in a shared store, what we may do, and how much there is, in words."""
    contents = plural(access.records, "record")
    contents += f" and {plural(access.drafts, 'draft')}" if access.drafts else ""
    if access.team:
        return f"you are {access.login}, {access.role} in the team {access.team}, which has {contents}"
    may = {"writer": ", and you may write", "reader": ", and you may only read"}.get(access.role, "")
    return f"it has {contents}{may}"


def _refuse_old_replica(name: str) -> None:
    """Raise BadInput if an earlier remote of this name left a replica: its records would be pushed to the new one."""
    remotes.refuse_name(name)
    if any(remote.name == name for remote in remotes.connected()):
        return
    old = Replica(name)
    has_files = files.is_folder(old.store) and (next(record_names.paths(old.store), "") or old.state.cursor)
    for root, is_there in ((old.root, has_files), (replicas.old_replica(name), True)):
        if is_there and files.is_folder(root):
            fix = f"choose another name, or delete {root} if you do not need its records"
            raise BadInput(f"there is a replica of an earlier remote {name!r} at {root}", fix=fix)


def _remove(name: str, *, force: bool) -> CommandResult:
    remote = remotes.get(name)
    replica = replicas.opened(remote.name)
    waiting = sync_base.unpushed_paths(replica)
    if waiting and not force:
        count = plural(len(waiting), "change")
        fix = f"sync it first, or lose what was not pushed: onrecord remote remove {remote.name} --force"
        raise WrongState(f"{remote.name} has {count} to push: {first_few(waiting)}", fix=fix)
    with replica.lock():
        remotes.remove(remote.name)
    data = {**remote._asdict(), "replica": replica.root, "lost": waiting}
    try:
        # After the lock: Windows cannot delete a file that is open.
        replicas.delete(replica)
    except Unwritable as error:
        text = f"removed {remote.name}"
        return CommandResult(data, lambda screen: text).warned(f"{error.message}; {error.fix}")
    text = f"removed {remote.name} and its replica {replica.root}"
    return CommandResult(data, lambda screen: fitted(screen, clean(text)))


def _withdraw(name: str, ids: Sequence[str], *, as_drafts: bool) -> CommandResult:
    replica = replicas.opened(remotes.get(name).name)
    waiting = sync_base.unpushed_paths(replica)
    if as_drafts and replica.state.is_read_only:
        raise Refused(f"your role in {name} is reader: it accepts no drafts", fix=f"onrecord remote withdraw {name}")
    selected = [path for path in waiting if path in ids or incoming.stem(path) in ids]
    if unknown := [typed for typed in ids if not any(typed in (path, incoming.stem(path)) for path in selected)]:
        raise NotFound(f"{unknown[0]!r} does not wait in {name}", fix=f"onrecord remote status {name}")
    withdrawn = sync_base.withdraw(replica, selected, as_drafts=as_drafts)
    data = {"name": name, **{key: list(value) for key, value in withdrawn._asdict().items()}}
    drafts = f"; {plural(len(withdrawn.drafts), 'draft')} in its inbox: onrecord sync {name}" if as_drafts else ""
    text = f"took back {plural(len(withdrawn.paths), 'change')}: {first_few(withdrawn.paths)}{drafts}"
    text = text if withdrawn.paths else f"no change to {name} waits"
    return CommandResult(data, lambda screen: fitted(screen, clean(text)))


def _list(settings: Settings) -> CommandResult:
    connected, missing = remotes.connected(), replicas.missing_names(settings)
    rows = [(remote.name, remote.url, ", ".join(_properties(remote))) for remote in connected]
    data = {"remotes": [remote._asdict() for remote in connected], "asked_for": missing}

    def text(screen: Screen) -> str:
        line = table(screen, ("name", "address", ""), rows, gives_way=1) if rows else "No shared store is connected."
        return "\n".join([line, *_missing_notes(screen, missing)])

    return CommandResult(data, text)


def _properties(remote: Remote) -> Iterator[str]:
    yield remote.kind
    if remote.review:
        yield "review"
    if remote.auto:
        yield "auto"


def _status(settings: Settings, name: str | None) -> CommandResult:
    selected = [remotes.get(name)] if name else remotes.connected()
    with Progress("comparing files"):
        statuses = [_remote_status(remote) for remote in selected]
    missing = replicas.missing_names(settings)
    data = {"remotes": [_data(status) for status in statuses], "asked_for": missing}

    def text(screen: Screen) -> str:
        lines = [line for status in statuses for line in _lines(screen, status)]
        return "\n".join([*(lines or ["No shared store is connected."]), *_missing_notes(screen, missing)])

    return CommandResult(data, text)


def _remote_status(remote: Remote) -> _RemoteStatus:
    replica = replicas.opened(remote.name)
    return _RemoteStatus(
        remote,
        replica,
        replica.state,
        records=sum(1 for _ in record_names.paths(replica.store)),
        waiting=sync_base.unpushed_paths(replica),
        conflicts=sync_base.conflict_drafts(replica),
    )


def _data(remote_status: _RemoteStatus) -> dict[str, Any]:
    state = remote_status.state
    return {
        **remote_status.remote._asdict(),
        "replica": remote_status.replica.root,
        "records": remote_status.records,
        "last_sync": state.last_sync,
        "offline_since": state.offline_since,
        "last_error": state.last_error,
        "note": state.note,
        "waiting": remote_status.waiting,
        "conflicts": remote_status.conflicts,
        "refused": [{"path": path, "reason": reason} for path, reason in state.refused],
        "unreadable": [{"path": path, "reason": reason} for path, reason in state.unreadable],
        "asks_for_review": state.asks_for_review,
        "is_read_only": state.is_read_only,
    }


def _lines(screen: Screen, remote_status: _RemoteStatus) -> Iterator[str]:
    yield f"{screen.paint(remote_status.remote.name, 'bold')}  {clean(remote_status.remote.url)}"
    for fact in _facts(remote_status, screen):
        yield fitted(screen, clean(fact), _INDENT)


def _facts(remote_status: _RemoteStatus, screen: Screen) -> Iterator[str]:
    """Yield the facts that are worth a line."""
    state = remote_status.state
    moment = timestamps.ago(state.last_sync) if screen.is_terminal else state.last_sync
    yield f"{plural(remote_status.records, 'record')}, {f'last synced {moment}' if state.last_sync else 'never synced'}"
    if remote_status.waiting:
        count = plural(len(remote_status.waiting), "change")
        yield f"{count} to push, not shown to agents yet: {first_few(remote_status.waiting)}"
    if remote_status.conflicts:
        count = plural(len(remote_status.conflicts), "conflict")
        yield f"{count}: onrecord review --remote {remote_status.remote.name}"
    if state.offline_since:
        yield f"offline since {timestamps.ago(state.offline_since) if screen.is_terminal else state.offline_since}"
    if state.last_error:
        yield f"last error: {state.last_error}"
    if state.note and remote_status.waiting:
        yield state.note
    if remote_status.waiting and (state.note or state.refused):
        yield sync.way_out(remote_status.remote.name)
    if state.is_read_only:
        yield "your role is reader: nothing can be written to it"
    if state.asks_for_review and not remote_status.remote.review:
        yield "it accepts only drafts, which are reviewed there"
    for verb, paths in (("not pushed", state.refused), ("not pulled", state.unreadable)):
        for path, reason in paths[:_MAX_PATHS]:
            yield f"{verb}: {path}: {reason}"
        if len(paths) > _MAX_PATHS:
            yield f"{verb}: {len(paths) - _MAX_PATHS:,} more"


def _missing_notes(screen: Screen, names: Sequence[str]) -> Iterator[str]:
    yield from (wrap(replicas.missing_note(name), screen.width) for name in names)
