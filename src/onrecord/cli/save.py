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
from onrecord.categories import BY_NAME
from onrecord.cli import arguments, chosen, fixes, questions, save_by_hand
from onrecord.cli.output import CommandResult, Screen, clean, to_json
from onrecord.cli.save_by_hand import ByHand
from onrecord.cli.update import drafted, updated
from onrecord.errors import BadInput
from onrecord.project import Project
from onrecord.record import compose, drafts, memory, schema
from onrecord.record.memory import Memory
from onrecord.store import inbox
from onrecord.store.writer import Writer

_NO_TRIGGERS = "it has no triggers, so prompts in other words seldom find it"
_NEEDS_NONE = tuple(category.name for category in BY_NAME.values() if category.most_active)
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
    fields = {"--file": args.file, "--tag": args.tag, "--trigger": args.trigger, "--related": args.related}
    arguments.exclude("--from", args.text, {"TITLE": args.title, **fields, "--set": args.set})
    writer = arguments.writer_of(args)
    by_hand = save_by_hand.is_wanted(args)
    category = "" if by_hand and not (args.category or args.text) else _category(args)
    if by_hand:
        return ByHand(args, writer, category, lambda *record: _saved(args, writer, *record)).run()
    return _saved(args, writer, category, arguments.record(args, category), False)


def _category(args: argparse.Namespace) -> str:
    if not args.category:
        fix = f"onrecord save --help; then name one of {', '.join(schema.FOLDERS)}"
        raise BadInput("save needs the category of the record", fix=fix)
    return compose.category_of(args.category)


def _saved(
    args: argparse.Namespace, writer: Writer, category: str, fields: Mapping[str, Any], has_seen_similar: bool
) -> CommandResult:
    """Save the fields of a record, or draft it, or put it into another, as the flags say."""
    made = _suggestion(args)
    partial = {**_origin(args, made), **fields}
    record = compose.compose(category, partial, now=writer.now, allow_secret=args.allow_secret)
    arguments.refuse_lost_files(args, writer.store, record.related_files)
    args.update, args.supersedes = (chosen.flag(args, writer.store, typed) for typed in (args.update, args.supersedes))
    near = [] if has_seen_similar else _near(args, writer, record)
    is_draft = args.draft or (made is not None and writer.settings.text("capture.mode") != "auto")
    if is_draft:
        answer = _draft(args, writer, record, made, near)
    elif args.update:
        answer = _update(args, writer, record)
    else:
        answer = _save(args, writer, category, partial, near)
    if made and not args.dry_run:
        state = "drafted" if is_draft else "saved"
        suggestions.add(Project(args.project).root, state, category, made.session, made.evidence)
    return _noted(answer, args, writer, record)


def _noted(answer: CommandResult, args: argparse.Namespace, writer: Writer, record: Memory) -> CommandResult:
    """The answer, with a line on how to make the record easier to find if it has no triggers."""
    updated = writer.store.get(args.update).memory.triggers if args.update else ()
    if record.triggers or updated or record.category in _NEEDS_NONE:
        return answer
    record_id = answer.data.get("id")
    fix = f"onrecord update {record_id} --trigger 'how somebody would ask'" if record_id else "add some in the review"
    note = f"{_NO_TRIGGERS}: {fixes.placed(fix, fixes.where(args))}"
    return answer._replace(note=note, data={**answer.data, "note": note})


def _suggestion(args: argparse.Namespace) -> Suggestion | None:
    if not args.suggested:
        return None
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    suggestion = suggestions.unanswered(Project(args.project).root, session)
    if suggestion is None:
        raise BadInput("no suggestion to save is open in this session", fix="leave --suggested out")
    return suggestion


def _origin(args: argparse.Namespace, made: Suggestion | None) -> dict[str, Any]:
    if made:
        return {"origin": "agent", "source": review.source(made.session, made.evidence)}
    return {"origin": "agent"} if args.draft and not questions.can_ask(args) else {}


def _near(args: argparse.Namespace, writer: Writer, record: Memory) -> list[Similar]:
    """Similar records; refused if one says nearly the same and nobody said what to do with it."""
    if writer.store.has(record.path):
        return []
    near = similar.find(writer.store, record)
    if not (args.force or args.update or args.supersedes):
        similar.refuse(near, similar.by_command("the same command with"))
    return near if not (args.update or args.supersedes) else []


def _draft(
    args: argparse.Namespace, writer: Writer, record: Memory, made: Suggestion | None, near: list[Similar]
) -> CommandResult:
    if not args.update:
        writer.store.refuse_existing(record.id)
    origin = {"session": made.session, "evidence": made.evidence} if made else {}
    draft = inbox.draft_of(record, updates=args.update, supersedes=args.supersedes, **origin)
    answer = drafted(args, writer, draft)
    data = {**answer.data, "similar": [_brief(each) for each in near]}
    replaces = f"onrecord review --accept {draft.name} --supersedes {{0}}{fixes.where(args)}"
    return CommandResult(data, lambda screen: "\n".join([*_similar_lines(near, replaces), answer.text(screen)]))


def _update(args: argparse.Namespace, writer: Writer, record: Memory) -> CommandResult:
    before = writer.store.get(args.update)
    patch = drafts.added(before.memory, record)
    summary = f"Updated from: {record.title}"
    after = writer.update(before.path, patch, before.hash, summary=summary, allow_secret=args.allow_secret)
    return updated(args, writer.store, before, after)


def _save(
    args: argparse.Namespace, writer: Writer, category: str, partial: dict[str, Any], near: list[Similar]
) -> CommandResult:
    entry = project.save(writer, category, partial, supersedes=args.supersedes, allow_secret=args.allow_secret)
    data: dict[str, Any] = {
        **arguments.handle(writer.store, entry),
        "similar": [_brief(each) for each in near],
        "dry_run": args.dry_run,
    }
    if args.dry_run:
        data["record"] = memory.to_json(entry.memory)

    replaces = f"onrecord supersede {{0}} {entry.memory.id}{fixes.where(args)}"

    def text(screen: Screen) -> str:
        if args.dry_run:
            return "\n".join([*_similar_lines(near, replaces), f"would save {entry.path}", to_json(data["record"])])
        return "\n".join([*_similar_lines(near, replaces), f"{screen.paint('saved', 'green')} {clean(data['file'])}"])

    return CommandResult(data, text)


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
