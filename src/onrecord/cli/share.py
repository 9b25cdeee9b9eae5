"""`onrecord share ID --to NAME`: put a copy of a record into a shared store, for everybody who reads that."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from onrecord import paths
from onrecord.capture import review, similar
from onrecord.cli import arguments, questions, resolve, sync
from onrecord.cli.output import CommandResult, Screen, clean, say, to_json
from onrecord.cli.questions import Asker
from onrecord.cli.show import page
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, NearDuplicate, OnrecordError, Refused, Stopped
from onrecord.project import Project
from onrecord.record import drafts, lifecycle, memory, naming
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.scopes import Scope
from onrecord.settings import load_settings
from onrecord.shared import remotes, replicas
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import Remote
from onrecord.store import inbox
from onrecord.store.store import DryRunStore, Entry, Store
from onrecord.store.writer import Writer

_SCOPES = (
    ("--repositories", "GLOB", "only in repositories whose host/owner/name fits (repeatable)"),
    ("--languages", "NAME", "only in projects in this language, such as python (repeatable)"),
    ("--paths", "GLOB", "only for files that fit (repeatable)"),
)
_SAID = ("title", "content", "tags", "triggers", "scope", "confidence")
"""The fields of a record that say something to whoever reads it."""


class _Options(NamedTuple):
    """How a record is shared: the text that names it, what it updates or replaces, and what is not asked."""

    typed: str
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
    """What became of the copy: where it is in the replica, and what was done there."""

    path: str
    action: str
    synced: SyncResult | None = None
    """How the sync ended that sent it; None if it was not sent yet."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "id")
    parser.add_argument("--to", metavar="REMOTE", required=True, help="the remote to share it with")
    for name, metavar, meaning in _SCOPES:
        parser.add_argument(name, action="append", default=[], metavar=metavar, help=meaning)
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--update", metavar="ID", default="", help="let this record there say what yours says")
    target.add_argument("--supersedes", metavar="ID", default="", help="it replaces this record there")
    parser.add_argument("--force", action="store_true", help="share it although a record there says nearly the same")
    parser.add_argument("--draft", action="store_true", help="put it in the inbox there, to be reviewed first")
    parser.add_argument("--sync", action="store_true", help="send it now, not with the next sync")
    parser.add_argument("--yes", action="store_true", help="do not ask; needed where nobody can be asked")
    arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    remote = remotes.get(args.to)
    asker = arguments.asker(args)
    record = resolve.record(asker, store, args.id, changes=True).memory
    lifecycle.require_shareable(record)
    writer = _writer(remote, dry_run=args.dry_run)
    scope = {"repositories": args.repositories, "languages": args.languages, "paths": args.paths}
    project = "" if args.user else f"the project {os.path.basename(Project(args.project).root)}"
    source = f"the shared store {args.remote}" if args.remote else project
    copy = lifecycle.shared_copy(record, scope=_scope(record, scope), source=source, now=writer.now)
    options = _Options(args.id, args.update, args.supersedes, args.force, args.draft, args.yes)
    shared = _there(writer.store, copy) or _share(options, asker, writer, remote, _Pair(record, copy))
    if args.sync and not args.dry_run:
        shared = shared._replace(synced=_send(remote, shared))
    return _answer(writer.store, remote, copy, shared, dry_run=args.dry_run).warned(*writer.store.warnings)


def _writer(remote: Remote, *, dry_run: bool) -> Writer:
    """Return what carries changes out on the replica."""
    root = replicas.prepare(remote.name).store
    return Writer(DryRunStore(root) if dry_run else Store(root), load_settings(root))


def _scope(record: Memory, scope: Mapping[str, Sequence[str]]) -> Scope:
    """Return the scope of the copy: that of the record, unless `scope` says otherwise."""
    return record.scope._replace(unknown={}, **{name: tuple(values) for name, values in scope.items() if values})


def _there(store: Store, copy: Memory) -> _Shared | None:
    """What to answer where the record of that id says all of it already."""
    there = store.read(copy.path).memory if store.has(copy.path) else None
    if there is None or not there.is_current or any(getattr(there, name) != getattr(copy, name) for name in _SAID):
        return None
    return _Shared(there.path, "unchanged")


def _share(options: _Options, asker: Asker, writer: Writer, remote: Remote, pair: _Pair) -> _Shared:
    """Put the copy into the replica: as a record, as a draft, or into a record that is there."""
    store, copy = writer.store, pair.copy
    update, supersedes = (resolve.flag_id(asker, store, typed) for typed in (options.update, options.supersedes))
    if not (update or supersedes or options.force):
        _refuse_same(store, copy, options.typed, remote.name)
    before = store.get(update) if update else None
    draft = _revision(before, copy) if before else inbox.new_draft(_free(copy, store), supersedes=supersedes)
    if not (options.yes or asker.is_dry_run):
        _ask(asker, remote, pair.record, draft.record)
    if options.draft or remote.review or replicas.Replica(remote.name).state.asks_for_review:
        draft = draft._replace(name=naming.unused_name(draft.name, store.has_draft))
        review.put(writer, [draft], "share")
        return _Shared(f"{paths.INBOX}/{draft.name}.json", "drafted")
    if before is None:
        return _Shared(writer.save(draft.record, supersedes=supersedes).path, "shared")
    patch = drafts.draft_patch(draft, before.memory)
    after = writer.update(before.path, patch, before.hash, summary=draft.summary, may_shrink=True)
    return _Shared(after.path, "unchanged" if after.hash == before.hash else "updated")


def _refuse_same(store: Store, copy: Memory, typed: str, name: str) -> None:
    """Raise NearDuplicate if a record there says nearly the same, or has the same id and title."""
    fix = similar.command_fix(f"onrecord share {quote(typed)} --to {name} --yes")
    similar.refuse(similar.find(store, copy), fix)
    there = store.read(copy.path).memory if store.has(copy.path) else None
    if there is not None and naming.slug(there.title) == naming.slug(copy.title):
        back = f"{lifecycle.fix_for_status(there)} --remote {name}"
        message = f"{there.path} of {name} has the same title, and is {there.record_status}"
        raise NearDuplicate(message, fix=fix(there.id) if there.is_current else f"to bring it back: {back}")


def _revision(before: Entry, copy: Memory) -> Draft:
    """A draft by which a record says what the copy says, and keeps its id, its links and its history."""
    record = before.memory._replace(**{name: getattr(copy, name) for name in _SAID})
    about = {"updates": before.memory.id, "revises": before.hash, "summary": copy.changes[0].summary}
    return inbox.new_draft(record, fields=drafts.changed_fields(before.memory, record), **about)


def _free(copy: Memory, store: Store) -> Memory:
    """The copy under an id that no record there has."""
    return copy._replace(id=naming.unused_name(copy.id, store.has))


def _ask(asker: Asker, remote: Remote, record: Memory, copy: Memory) -> None:
    """Raise Stopped unless the person agrees that others get the record; BadInput if there is nobody to ask."""
    if not asker.can_ask:
        message = f"others get the record with the next sync of {remote.name}, and nobody can be asked here"
        raise BadInput(message, fix="ask the user; if they agree, give the same command with --yes")
    screen = Screen.of(sys.stdout)
    say(page(Entry(copy, copy.path, ""), screen, status="to be shared"), screen)
    say(f"{screen.paint('left out', 'cyan')}: {', '.join(_left_out(record))}", screen)
    if not questions.confirm(f"Share it with everybody who reads {clean(remote.name)}, {clean(remote.url)}?", screen):
        raise Stopped("nothing was shared")


def _left_out(record: Memory) -> list[str]:
    """What of the record stays on this machine, in words."""
    parts = {
        "its files": record.related_files,
        "links to other records": record.supersedes,
        "where it came from": record.source,
        "its history": record.changes,
    }
    return [name for name, value in parts.items() if value] or ["nothing"]


def _send(remote: Remote, shared: _Shared) -> SyncResult:
    """Sync the remote, so that it has the copy; what keeps it from that leaves the copy in the replica."""
    try:
        done = sync.sync_remote(remote)
    except OnrecordError as error:
        error.message = f"{shared.path} is in the replica, and was not sent: {error.message}"
        raise
    if reason := done.refused.get(shared.path):
        raise Refused(
            f"{remote.name} did not take {shared.path}: {reason}", fix=f"onrecord remote status {remote.name}"
        )
    return done


def _sent(remote: Remote, path: str, done: SyncResult) -> str:
    """What became of the copy at the remote, in words."""
    if path in done.waiting:
        return f"not everybody has it yet: {done.note}"
    if path in done.outdated:
        return f"not sent yet, as others wrote at the same time: `onrecord sync {remote.name}` tries again"
    if any(each.path == path for each in done.conflicts):
        return f"{remote.name} has another version, and yours is a draft: `onrecord review --remote {remote.name}`"
    return "sent"


def _answer(store: Store, remote: Remote, copy: Memory, shared: _Shared, *, dry_run: bool) -> CommandResult:
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
        sent = clean(_sent(remote, shared.path, shared.synced)) if shared.synced else ""
        if shared.action == "unchanged":
            return f"{shared.path} of {remote.name} says all of it already; {sent or 'nothing changed'}"
        where = f"{clean(shared.path)} in {remote.name}"
        if dry_run:
            return f"would {verbs[shared.action]} {where}\n{to_json(data['record'])}"
        return f"{screen.paint(shared.action, 'green')} {where}; {sent or f'`onrecord sync {remote.name}` sends it'}"

    return CommandResult(data, text, warning=_unknown(remote))


def _unknown(remote: Remote) -> str:
    """What to say of a remote of which nothing was fetched yet; nothing of any other."""
    if replicas.Replica(remote.name).state.last_sync:
        return ""
    return f"{remote.name} was never synced: what is there already is not known here"
