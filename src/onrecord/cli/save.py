"""`onrecord save CATEGORY`: a new record from flags, JSON, questions or a form, after a look at similar ones."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from onrecord import project
from onrecord.capture import review, similar, suggestions
from onrecord.capture.similar import Similar
from onrecord.capture.suggestions import Suggestion
from onrecord.categories import CATEGORIES
from onrecord.cli import arguments, chosen, fixes, form_file, save_by_hand
from onrecord.cli.output import CommandResult, Screen, clean, to_json
from onrecord.cli.questions import Asker
from onrecord.cli.save_by_hand import ByHand, SaveOptions
from onrecord.cli.update import drafted, updated
from onrecord.errors import BadInput
from onrecord.project import Project
from onrecord.record import compose, drafts, memory, schema
from onrecord.record.memory import Memory
from onrecord.store import inbox
from onrecord.store.writer import Writer

_NO_TRIGGERS = "it has no triggers, so prompts in other words seldom find it"
_NEEDS_NONE = tuple(category.name for category in CATEGORIES.values() if category.max_active)
"""Summaries of sessions: the start of the next session shows them, not a prompt."""

_FORCE_HELP = "save it although a record says nearly the same, or a related file is not there yet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY", nargs="?", help=f"one of {', '.join(schema.FOLDERS)}")
    parser.add_argument("title", metavar="TITLE", nargs="?", help="one line that says what it is about")
    arguments.add_record(parser)
    parser.add_argument("--from", dest="text", metavar="FILE", help="open a form that was kept, in your editor")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--update", metavar="ID", default="", help="update this record instead of creating one")
    target.add_argument("--supersedes", metavar="ID", default="", help="it replaces this record, which no longer holds")
    parser.add_argument("--force", action="store_true", help=_FORCE_HELP)
    parser.add_argument("--draft", action="store_true", help="put it in the inbox, to be reviewed before it is used")
    parser.add_argument("--suggested", action="store_true", help="it answers the suggestion made in this session")
    arguments.add(parser, "--allow-secret", "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    flags, asker, writer = arguments.record_flags(args), arguments.asker(args), arguments.writer_of(args)
    fields = {"--file": args.file, "--tag": args.tag, "--trigger": args.trigger, "--related": args.related}
    arguments.exclude("--from", args.text, {"TITLE": args.title, **fields, "--set": args.set})
    options = SaveOptions(
        args.project, args.update, args.supersedes, args.force, args.draft, args.suggested, args.allow_secret,
        arguments.where(args),
    )  # fmt: skip
    whole = arguments.read_json(args.file) if args.file else {}
    named = args.category or whole.get("category")
    category = compose.category_of(named) if isinstance(named, str) and named else ""

    def save(options: SaveOptions, category: str, fields: Mapping[str, Any], has_seen_similar: bool) -> CommandResult:
        return _saved(options, asker, writer, category, fields, has_seen_similar=has_seen_similar)

    may_ask = not (args.file or args.suggested) and asker.can_ask
    if args.text or (may_ask and save_by_hand.is_wanted(flags, category)):
        begun = form_file.read(args.text) if args.text else None
        category = _required(category) if args.text else category
        return ByHand(writer, options, category, flags=flags, begun=begun, save=save).run()
    return save(options, _required(category), arguments.record(flags, _required(category), whole), False)


def _required(category: str) -> str:
    if not category:
        fix = f"onrecord save --help; then name one of {', '.join(schema.FOLDERS)}"
        raise BadInput("save needs the category of the record", fix=fix)
    return category


def _saved(
    options: SaveOptions,
    asker: Asker,
    writer: Writer,
    category: str,
    fields: Mapping[str, Any],
    *,
    has_seen_similar: bool,
) -> CommandResult:
    """Save the fields of a record, or draft it, or put it into another, as the options say."""
    suggestion = _suggestion(options.project) if options.suggested else None
    is_by_agent = options.draft and not asker.can_ask
    partial = {**_origin(suggestion, is_by_agent=is_by_agent), **fields}
    record = compose.compose(category, partial, now=writer.now, allow_secret=options.allow_secret)
    arguments.refuse_lost_files(writer.store, record.related_files, force=options.force)
    options = options._replace(
        update=chosen.flag(asker, writer.store, options.update),
        supersedes=chosen.flag(asker, writer.store, options.supersedes),
    )
    near = [] if has_seen_similar else _near(options, writer, record)
    is_draft = options.draft or (suggestion is not None and writer.settings.text("capture.mode") != "auto")
    if is_draft:
        result = _draft(options, writer, record, suggestion, near, dry_run=asker.is_dry_run)
    elif options.update:
        result = _update(options, writer, record, dry_run=asker.is_dry_run)
    else:
        result = _save(options, writer, category, partial, near, dry_run=asker.is_dry_run)
    if suggestion and not asker.is_dry_run:
        state = "drafted" if is_draft else "saved"
        suggestions.add(Project(options.project).root, state, category, suggestion.session, suggestion.evidence)
    return _noted(result, options, writer, record)


def _noted(result: CommandResult, options: SaveOptions, writer: Writer, record: Memory) -> CommandResult:
    """Return the result, with a line on how to make the record easier to find if it has no triggers."""
    updated = writer.store.get(options.update).memory.triggers if options.update else ()
    if record.triggers or updated or record.category in _NEEDS_NONE:
        return result
    record_id = result.data.get("id")
    fix = f"onrecord update {record_id} --trigger 'how somebody would ask'" if record_id else "add some in the review"
    note = f"{_NO_TRIGGERS}: {fixes.placed(fix, options.where)}"
    return result._replace(note=note, data={**result.data, "note": note})


def _suggestion(project: str) -> Suggestion:
    """Return the suggestion of this session that nothing was saved for yet; raise BadInput if there is none."""
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    suggestion = suggestions.newest_open(Project(project).root, session)
    if suggestion is None:
        raise BadInput("no suggestion to save is open in this session", fix="leave --suggested out")
    return suggestion


def _origin(suggestion: Suggestion | None, *, is_by_agent: bool) -> dict[str, Any]:
    if suggestion:
        return {"origin": "agent", "source": review.source(suggestion.session, suggestion.evidence)}
    return {"origin": "agent"} if is_by_agent else {}


def _near(options: SaveOptions, writer: Writer, record: Memory) -> list[Similar]:
    """Similar records; refused if one says nearly the same and nobody said what to do with it."""
    if writer.store.has(record.path):
        return []
    near = similar.find(writer.store, record)
    if not (options.force or options.update or options.supersedes):
        similar.refuse(near, similar.command_fix("the same command with"))
    return near if not (options.update or options.supersedes) else []


def _draft(
    options: SaveOptions,
    writer: Writer,
    record: Memory,
    suggestion: Suggestion | None,
    near: list[Similar],
    *,
    dry_run: bool,
) -> CommandResult:
    if not options.update:
        writer.store.refuse_existing(record.id)
    origin = {"session": suggestion.session, "evidence": suggestion.evidence} if suggestion else {}
    draft = inbox.new_draft(record, updates=options.update, supersedes=options.supersedes, **origin)
    result = drafted(writer, draft, dry_run=dry_run, where=options.where)
    data = {**result.data, "similar": [_brief(each) for each in near]}
    replaces = f"onrecord review --accept {draft.name} --supersedes {{0}}{options.where}"
    text = result.text
    return result._replace(data=data, text=lambda screen: "\n".join([*_similar_lines(near, replaces), text(screen)]))


def _update(options: SaveOptions, writer: Writer, record: Memory, *, dry_run: bool) -> CommandResult:
    before = writer.store.get(options.update)
    patch = drafts.additions(before.memory, record)
    summary = f"Updated from: {record.title}"
    after = writer.update(before.path, patch, before.hash, summary=summary, allow_secret=options.allow_secret)
    return updated(writer.store, before, after, dry_run=dry_run)


def _save(
    options: SaveOptions, writer: Writer, category: str, partial: dict[str, Any], near: list[Similar], *, dry_run: bool
) -> CommandResult:
    replaced, allow_secret = options.supersedes, options.allow_secret
    entry = project.save(writer, category, partial, supersedes=replaced, allow_secret=allow_secret)
    data: dict[str, Any] = {
        **arguments.handle(writer.store, entry),
        "similar": [_brief(each) for each in near],
        "dry_run": dry_run,
    }
    if dry_run:
        data["record"] = memory.to_json(entry.memory)

    replaces = f"onrecord supersede {{0}} {entry.memory.id}{options.where}"

    def text(screen: Screen) -> str:
        if dry_run:
            return "\n".join([*_similar_lines(near, replaces), f"would save {entry.path}", to_json(data["record"])])
        return "\n".join([*_similar_lines(near, replaces), f"{screen.paint('saved', 'green')} {clean(data['file'])}"])

    return CommandResult(data, text).warned(*writer.store.warnings)


def _brief(near: Similar) -> dict[str, Any]:
    return {
        **{name: getattr(near.memory, name) for name in ("id", "category", "title")},
        **{name: getattr(near.entry, name) for name in ("path", "hash")},
        **{name: round(getattr(near, name), 3) for name in ("closeness", "wording")},
        "same": near.is_same,
    }


def _similar_lines(near: list[Similar], replaces: str) -> list[str]:
    """The similar records; `replaces` is the command for the case that the new one replaces one of them."""
    hint = "If the new record replaces it"
    return [
        f"similar: {each.entry.path} ({clean(each.memory.title)}). {hint}: {replaces.format(each.memory.id)}"
        for each in near
    ]
