"""`onrecord share ID --to NAME`: copy a record into a shared store."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from onrecord.capture import sharing, similar
from onrecord.cli import arguments, questions, resolve, sync
from onrecord.cli.output import CommandResult, Screen, clean, say, to_json
from onrecord.cli.questions import Asker
from onrecord.cli.show import page
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError, Refused, Stopped
from onrecord.project import Project
from onrecord.record import lifecycle, memory
from onrecord.record.memory import Memory
from onrecord.scopes import Scope
from onrecord.settings import load_settings
from onrecord.shared import remotes, replicas
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import Remote
from onrecord.store.store import DryRunStore, Entry, Store
from onrecord.store.writer import Writer

_SCOPES = (
    ("--repositories", "GLOB", "only in repositories whose host/owner/name matches (repeatable)"),
    ("--languages", "NAME", "only in projects in this language, such as python (repeatable)"),
    ("--paths", "GLOB", "only for matching files (repeatable)"),
)


class _ShareOptions(NamedTuple):
    """Options of a share; `reference` is the record as it was typed."""

    reference: str
    update: str
    supersedes: str
    force: bool
    draft: bool
    yes: bool


class _Pair(NamedTuple):
    """A record and the copy of it for others."""

    record: Memory
    copy: Memory


class _Shared(NamedTuple):
    """The path of the copy in the replica, and what was done: shared, updated, drafted or unchanged."""

    path: str
    action: str
    synced: SyncResult | None = None
    """The sync that sent it; None if it was not sent yet."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "id")
    parser.add_argument("--to", metavar="REMOTE", required=True, help="the remote to share it with")
    for name, metavar, meaning in _SCOPES:
        parser.add_argument(name, action="append", default=[], metavar=metavar, help=meaning)
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--update", metavar="ID", default="", help="update this record there with yours")
    target.add_argument("--supersedes", metavar="ID", default="", help="it replaces this record there")
    parser.add_argument("--force", action="store_true", help="share it although a record there says nearly the same")
    parser.add_argument("--draft", action="store_true", help="put it in the inbox there, to be reviewed first")
    parser.add_argument("--sync", action="store_true", help="send it now instead of with the next sync")
    parser.add_argument("--yes", action="store_true", help="do not ask; required outside a terminal")
    arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    remote = remotes.get(args.to)
    asker = arguments.asker(args)
    record = resolve.record(asker, store, args.id, changes=True).memory
    lifecycle.require_shareable(record)
    writer = _writer(remote, dry_run=args.dry_run)
    scope_flags = {"repositories": args.repositories, "languages": args.languages, "paths": args.paths}
    project = "" if args.user else f"the project {os.path.basename(Project(args.project).root)}"
    source = f"the shared store {args.remote}" if args.remote else project
    copy = lifecycle.shared_copy(record, scope=_scope(record, scope_flags), source=source, now=writer.now)
    options = _ShareOptions(args.id, args.update, args.supersedes, args.force, args.draft, args.yes)
    same = sharing.already_shared(writer.store, copy)
    shared = _Shared(*same) if same else _share(options, asker, writer, remote, _Pair(record, copy))
    if args.sync and not args.dry_run:
        shared = shared._replace(synced=_send(remote, shared))
    return _result(writer.store, remote, copy, shared, dry_run=args.dry_run).warned(*writer.store.warnings)


def _writer(remote: Remote, *, dry_run: bool) -> Writer:
    """Return a writer for the replica."""
    root = replicas.prepare(remote.name).store
    return Writer(DryRunStore(root) if dry_run else Store(root), load_settings(root))


def _scope(record: Memory, scope_flags: Mapping[str, Sequence[str]]) -> Scope:
    """Return the scope of the record, with the values of `scope_flags`."""
    return record.scope._replace(unknown={}, **{name: tuple(values) for name, values in scope_flags.items() if values})


def _share(share_options: _ShareOptions, asker: Asker, writer: Writer, remote: Remote, pair: _Pair) -> _Shared:
    """Put the copy into the replica: as a record, as a draft, or as an update of an existing record."""
    store, copy = writer.store, pair.copy
    update = resolve.flag_id(asker, store, share_options.update)
    supersedes = resolve.flag_id(asker, store, share_options.supersedes)
    if not (update or supersedes or share_options.force):
        fix = similar.command_fix(f"onrecord share {quote(share_options.reference)} --to {remote.name} --yes")
        sharing.refuse_same(store, copy, remote.name, fix)
    draft = sharing.draft_of(store, copy, updates=update, supersedes=supersedes)
    if not (share_options.yes or asker.is_dry_run):
        _require_consent(asker, remote, pair.record, draft.record)
    as_draft = share_options.draft or remote.review or replicas.Replica(remote.name).state.asks_for_review
    return _Shared(*sharing.put(writer, draft, as_draft=as_draft))


def _require_consent(asker: Asker, remote: Remote, record: Memory, copy: Memory) -> None:
    """Show the copy and ask whether to share it. Raises Stopped on no, BadInput outside a terminal."""
    if not asker.can_ask:
        message = f"not a terminal, so nothing was shared: the next sync of {remote.name} would send it to others"
        raise BadInput(message, fix="ask the user; if they agree, run the same command with --yes")
    screen = Screen.for_stream(sys.stdout)
    say(page(Entry(copy, copy.path, ""), screen, status="to be shared"), screen)
    say(f"{screen.paint('left out', 'cyan')}: {', '.join(sharing.left_out(record))}", screen)
    if not questions.confirm(f"Share it with everyone who reads {clean(remote.name)}, {clean(remote.url)}?", screen):
        raise Stopped("nothing was shared")


def _send(remote: Remote, shared: _Shared) -> SyncResult:
    """Sync the remote to send the copy. Raises OnrecordError; the copy stays in the replica then."""
    try:
        result = sync.sync_remote(remote)
    except OnrecordError as error:
        error.message = f"{shared.path} is in the replica, but was not sent: {error.message}"
        raise
    if reason := result.refused.get(shared.path):
        raise Refused(
            f"{remote.name} did not take {shared.path}: {reason}", fix=f"onrecord remote status {remote.name}"
        )
    return result


def _sent_text(remote: Remote, path: str, result: SyncResult) -> str:
    """Return the outcome of the sync for the copy, for people."""
    if path in result.waiting:
        return f"others do not have it yet: {result.note}"
    if path in result.outdated:
        return f"not sent yet, because others wrote at the same time: `onrecord sync {remote.name}` tries again"
    if any(conflict.path == path for conflict in result.conflicts):
        return f"{remote.name} has another version, so yours is a draft now: `onrecord review --remote {remote.name}`"
    return "sent"


def _result(store: Store, remote: Remote, copy: Memory, shared: _Shared, *, dry_run: bool) -> CommandResult:
    data: dict[str, Any] = {
        "remote": remote.name,
        "action": shared.action,
        "path": shared.path,
        "file": os.path.join(store.root, *shared.path.split("/")),
        "record": memory.to_json(copy),
        "dry_run": dry_run,
        "sync": sync.outcome_data(remote, shared.synced) if shared.synced else None,
    }
    verbs = {"shared": "share", "updated": "update", "drafted": "draft"}

    def text(screen: Screen) -> str:
        sent_text = clean(_sent_text(remote, shared.path, shared.synced)) if shared.synced else ""
        if shared.action == "unchanged":
            return f"{shared.path} of {remote.name} already says all of it; {sent_text or 'nothing changed'}"
        where = f"{clean(shared.path)} in {remote.name}"
        if dry_run:
            return f"would {verbs[shared.action]} {where}\n{to_json(data['record'])}"
        outcome = sent_text or f"`onrecord sync {remote.name}` sends it"
        return f"{screen.paint(shared.action, 'green')} {where}; {outcome}"

    return CommandResult(data, text, warning=_never_synced_warning(remote))


def _never_synced_warning(remote: Remote) -> str:
    """Return a warning for a remote that nothing was fetched from yet; empty for any other."""
    if replicas.Replica(remote.name).state.last_sync:
        return ""
    return f"{remote.name} was never synced, so its records are not known here"
