"""`onrecord update ID`: change fields of the version that was read, or only add to it.

With `--draft` an update waits in the inbox, and is made only if the record is still the one that was read.
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
    "the hash of what you read, from `onrecord show`; not needed on a terminal, or to add tags, triggers or files"
)

_DRAFT_HELP = "put the change in the inbox, to be reviewed before it is made"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "id")
    parser.add_argument("--hash", metavar="H", help=_HASH_HELP)
    arguments.add_record(parser)
    parser.add_argument("--draft", action="store_true", help=_DRAFT_HELP)
    parser.add_argument("--force", action="store_true", help="also name related files that are not there yet")
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
        return updated(writer.store, before, after, dry_run=args.dry_run)
    writer.store.expect(before.path, args.hash or before.hash)
    # Flags add. Whoever gives a whole list and the hash has read the old one, and a reviewer sees the difference.
    may_shrink = bool(args.hash) and not flags.tags and not flags.related_files
    draft = _draft(writer, before, patch, may_shrink=may_shrink, **change)
    if draft is None:
        return updated(writer.store, before, before, dry_run=args.dry_run)
    return drafted(writer, draft, dry_run=args.dry_run, where=arguments.store_flags(args))


def _patch(flags: RecordFlags, before: Entry, *, needs_hash: bool) -> dict[str, Any]:
    """What an update changes; without a hash it may only add, and so undo no change its author has not seen.

    A person at a terminal need not name the hash: what they type is meant for the record as it is now.
    """
    patch = arguments.update_patch(flags, before.memory.category)
    only_adds = bool(patch) and patch == flags.added
    if needs_hash and not only_adds:
        raise BadInput(
            "update needs the hash of what was read, so that nobody's change is lost",
            fix=f"onrecord show {before.memory.id}; then the same command with --hash and the hash it prints",
        )
    if flags.triggers and patch["triggers"] == flags.triggers:
        patch["triggers"] = list(dict.fromkeys([*before.memory.triggers, *flags.triggers]))
    return patch


def _draft(
    writer: Writer, before: Entry, patch: dict[str, Any], *, may_shrink: bool, summary: str, allow_secret: bool
) -> Draft | None:
    """Return a draft that changes the version that was read; None if it would change nothing."""
    if not allow_secret:
        compose.refuse_secrets({**patch, "summary": summary})
    record = lifecycle.revise(before.memory, patch, now=writer.now, may_shrink=may_shrink)
    if record is before.memory:
        return None
    about = {"updates": before.memory.id, "revises": before.hash, "summary": summary}
    return inbox.new_draft(record, fields=drafts.changed_fields(before.memory, record), **about)


def drafted(writer: Writer, draft: Draft, *, dry_run: bool, where: str) -> CommandResult:
    """Put a draft into the inbox; AlreadyExists if there is one of its name."""
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


def updated(store: Store, before: Entry, after: Entry, *, dry_run: bool) -> CommandResult:
    """The changed record, and which lines its history gained."""
    gained = [change for change in after.memory.changes if change not in before.memory.changes]
    data = {
        **arguments.record_data(store, after),
        "changed": after.hash != before.hash,
        "changes": memory.to_json(after.memory._replace(changes=tuple(gained))).get("changes", []),
        "dry_run": dry_run,
    }

    def text(screen: Screen) -> str:
        if after.hash == before.hash:
            return f"{after.path} says that already; nothing changed"
        verb = "would update" if dry_run else screen.paint("updated", "green")
        return "\n".join([f"{verb} {after.path}", *(f"  {clean(change.summary)}" for change in gained)])

    return CommandResult(data, text).warned(*store.warnings)
