"""`onrecord update ID`: change fields of the version that was read, or only add to it.

With `--draft` the update waits in the inbox, and is refused if the record was changed in the meantime.
"""

from __future__ import annotations

import argparse
from typing import Any

from onrecord.capture import review
from onrecord.cli import arguments, resolve
from onrecord.cli.arguments import RecordFlags
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.errors import BadInput
from onrecord.record import compose, drafts, lifecycle, memory
from onrecord.record.drafts import Draft
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer

_HASH_HELP = (
    "hash of the version you read, from `onrecord show`; not needed in a terminal, or to add tags, triggers or files"
)

_DRAFT_HELP = "put the change in the inbox, to be reviewed first"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "id")
    parser.add_argument("--hash", metavar="H", help=_HASH_HELP)
    arguments.add_record(parser)
    parser.add_argument("--draft", action="store_true", help=_DRAFT_HELP)
    parser.add_argument("--force", action="store_true", help="allow related files that do not exist yet")
    arguments.add(parser, "--summary", "--allow-secret", "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    writer, asker, flags = arguments.existing_writer(args), arguments.asker(args), arguments.record_flags(args)
    before = resolve.record(asker, writer.store, args.id, changes=True)
    patch = _patch(flags, before, needs_hash=not args.hash and not asker.can_ask)
    files = patch.get("related_files")
    arguments.refuse_lost_files(writer.store, files, before.memory.related_files, force=args.force)
    change = {"summary": args.summary, "allow_secret": args.allow_secret}
    if not args.draft:
        after = writer.update(before.path, patch, args.hash or before.hash, **change)
        return update_result(writer.store, before, after, dry_run=args.dry_run)
    writer.store.expect(before.path, args.hash or before.hash)
    # Flags only add. With the hash, a whole list may be shorter: its author read the old one, and a reviewer sees both.
    may_shrink = bool(args.hash) and not flags.tags and not flags.related_files
    draft = _draft(writer, before, patch, may_shrink=may_shrink, **change)
    if draft is None:
        return update_result(writer.store, before, before, dry_run=args.dry_run)
    return put_draft(writer, draft, dry_run=args.dry_run, where=arguments.store_flags(args))


def _patch(flags: RecordFlags, before: Entry, *, needs_hash: bool) -> dict[str, Any]:
    """Return the fields to change. Raises BadInput if `needs_hash` and the update does more than add.

    Without the hash of the version that was read, it could undo a change that its author has not seen.
    """
    patch = arguments.update_patch(flags, before.memory.category)
    only_adds = bool(patch) and patch == flags.added
    if needs_hash and not only_adds:
        raise BadInput(
            "update needs the hash of the version that was read, so that no other change is lost",
            fix=f"onrecord show {before.memory.id}; then the same command with --hash and the hash it prints",
        )
    if flags.triggers and patch["triggers"] == flags.triggers:
        patch["triggers"] = list(dict.fromkeys([*before.memory.triggers, *flags.triggers]))
    return patch


def _draft(
    writer: Writer, before: Entry, patch: dict[str, Any], *, may_shrink: bool, summary: str, allow_secret: bool
) -> Draft | None:
    """Return a draft that changes the version `before`; None if it would change nothing."""
    if not allow_secret:
        compose.refuse_secrets({**patch, "summary": summary})
    record = lifecycle.revise(before.memory, patch, now=writer.now, may_shrink=may_shrink)
    if record is before.memory:
        return None
    about = {"updates": before.memory.id, "revises": before.hash, "summary": summary}
    return inbox.new_draft(record, fields=drafts.changed_fields(before.memory, record), **about)


def put_draft(writer: Writer, draft: Draft, *, dry_run: bool, where: str) -> CommandResult:
    """Put a draft into the inbox, and return its name and file. Raises AlreadyExists."""
    box = Inbox(writer.store.root)
    box.refuse_taken(draft)
    review.put(writer, [draft])
    file = f"{box.folder}/{draft.name}.json"
    data = {
        "draft": draft.name,
        "category": draft.record.category,
        "title": draft.record.title,
        "updates": draft.updates,
        "supersedes": draft.supersedes,
        "file": file,
        "dry_run": dry_run,
    }

    def text(screen: Screen) -> str:
        verb = "would draft" if dry_run else screen.paint("drafted", "green")
        return f"{verb} {clean(file)}; `onrecord review{where}` decides on it"

    return CommandResult(data, text).warned(*writer.store.warnings)


def update_result(store: Store, before: Entry, after: Entry, *, dry_run: bool) -> CommandResult:
    """Return the changed record, with the lines added to its history."""
    new_changes = [change for change in after.memory.changes if change not in before.memory.changes]
    data = {
        **arguments.record_data(store, after),
        "changed": after.hash != before.hash,
        "changes": memory.to_json(after.memory._replace(changes=tuple(new_changes))).get("changes", []),
        "dry_run": dry_run,
    }

    def text(screen: Screen) -> str:
        if after.hash == before.hash:
            return f"{after.path} already says that; nothing changed"
        verb = "would update" if dry_run else screen.paint("updated", "green")
        return "\n".join([f"{verb} {after.path}", *(f"  {clean(change.summary)}" for change in new_changes)])

    return CommandResult(data, text).warned(*store.warnings)
