"""`onrecord import`: draft records from decision records and other tools' memories; list the rest for an agent."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import Any

from onrecord.capture import review
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.cli.terminal import Progress, watched
from onrecord.errors import BadInput
from onrecord.git import changes, repository
from onrecord.hosts import connection
from onrecord.importers import import_log, proposals, sources, trigger_request
from onrecord.importers.import_log import ImportedDocument
from onrecord.importers.proposals import FileReport, Proposal
from onrecord.importers.sources import Source
from onrecord.project import Project
from onrecord.record.drafts import Draft
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry
from onrecord.store.writer import Writer
from onrecord.text import plural

_GIT_SECONDS = 5
_PATHS_HELP = "files or folders (default: the project's decision records, and documents for an agent to read)"
_ACCEPT_HELP = "make them records at once, also drafts that an earlier import left in the inbox"
_PENDING_HELP = "list the documents and sections that only an agent can read, and change nothing"
_DONE_HELP = "mark these files as read by an agent: they are listed again only if they change"
_WITH_TRIGGERS_HELP = "then list the imported drafts that have no triggers, for an agent that answers with --triggers"
_TRIGGERS_HELP = 'add triggers to drafts, as JSON: {"draft": ["phrase", …]}; - reads standard input'
_AGAIN_HELP = "propose records again that were proposed before, even if they were rejected"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help=_PATHS_HELP)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--accept", action="store_true", help=_ACCEPT_HELP)
    mode.add_argument("--pending", action="store_true", help=_PENDING_HELP)
    mode.add_argument("--triggers", metavar="FILE", default="", help=_TRIGGERS_HELP)
    mode.add_argument("--done", action="store_true", help=_DONE_HELP)
    parser.add_argument("--with-triggers", action="store_true", help=_WITH_TRIGGERS_HELP)
    parser.add_argument("--again", action="store_true", help=_AGAIN_HELP)
    arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    writer = arguments.writer_of(args)
    root = Project(args.project).root
    arguments.exclude("--with-triggers", args.with_triggers, {"--accept": args.accept, "--pending": args.pending})
    if args.triggers:
        return _add_triggers(writer, args.triggers, dry_run=args.dry_run)
    if args.done:
        return _done(writer, root, args.paths, dry_run=args.dry_run)
    reports = _reports(writer, root, args.paths, again=args.again)
    if args.pending:
        return _pending(reports)
    with Progress("writing drafts"):
        waiting = {draft.name: draft for draft in Inbox(writer.store.root).drafts()}
        drafts = [_draft(writer, proposal, waiting) for report in reports for proposal in report.proposals]
        change, paths = _accept(writer, reports, drafts) if args.accept else _propose(writer, drafts)
        if not args.dry_run:
            import_log.add(writer.store.root, change, proposals.imported_documents(reports))
    result = _result(reports, paths, dry_run=args.dry_run).warned(*writer.store.warnings)
    return _with_request(writer, result) if args.with_triggers and not args.dry_run else result


def _reports(writer: Writer, root: str, names: Sequence[str], *, again: bool) -> list[FileReport]:
    documents = sources.from_names(root, names) if names else sources.discover(root)
    if not documents:
        raise BadInput(
            f"nothing to import in {root}",
            fix="name files or folders; to write a record yourself: onrecord save --help",
        )
    entries = list(watched(writer.store.entries(), "reading records")) if writer.store.exists else []
    imported = {} if again else _imported(writer.store.root, root, documents, entries)
    with Progress(f"reading {plural(len(documents), 'file')}"):
        return proposals.gather(root, documents, writer.now, [entry.memory for entry in entries], imported)


def _imported(
    store_root: str, root: str, documents: Sequence[Source], entries: Sequence[Entry]
) -> dict[str, ImportedDocument]:
    """Return the documents that were imported before, on this machine or in a commit that added their record."""
    imported = import_log.read(store_root)
    repo = repository.find(root)
    others = {source.path for source in documents if source.kind in ("decision", "page")}.difference(imported)
    if repo is None or not others:
        return imported
    inner = repo.inner(root)
    files_of = {
        f"{repo.inner(store_root)}{entry.path}": f"{inner}{document}"
        for entry in entries
        if entry.memory.origin == "import" and (document := proposals.file_of(entry.memory)) in others
    }
    texts = changes.texts_at_addition(repo, files_of, time.monotonic() + _GIT_SECONDS)
    for path, text in texts.items():
        document = path[len(inner) :]
        imported[document] = ImportedDocument(document, import_log.text_hash(sources.decoded(text)))
    return imported


def _draft(writer: Writer, proposal: Proposal, waiting: Mapping[str, Draft]) -> Draft:
    """Return a draft of `proposal`. Its name is unused, or that of a draft in the inbox from the same file."""
    record, number = proposal.record, 2
    name = record.id
    while writer.store.has_draft(name) and not _is_from(waiting.get(name), record.source):
        name, number = f"{record.id}-{number}", number + 1
    note = f"left out of {proposals.file_of(record)}: {'; '.join(proposal.left_out)}" if proposal.left_out else ""
    return Draft(name, record, made_at=writer.now, updates=proposal.updates, note=note)


def _is_from(draft: Draft | None, source: str) -> bool:
    return draft is not None and _file_of(draft) == source.rpartition(":")[0]


def _propose(writer: Writer, drafts: list[Draft]) -> tuple[str, dict[str, str]]:
    """Put the drafts into the inbox. Return the id of that change, and the path of each draft by its source."""
    change = review.put(writer, drafts, "import") if drafts else ""
    return change, {draft.record.source: f"inbox/{draft.name}" for draft in drafts}


def _accept(writer: Writer, reports: list[FileReport], drafts: list[Draft]) -> tuple[str, dict[str, str]]:
    """Make records of `drafts` and of earlier drafts from the same files; a draft that updates a record stays a draft.

    Return the id of that change, and the path of each record or draft by its source.
    """
    files = {report.path for report in reports}
    names = {draft.name for draft in drafts}
    waiting = [draft for draft in Inbox(writer.store.root).drafts() if draft.record.origin == "import"]
    waiting = [draft for draft in waiting if draft.name not in names and _file_of(draft) in files]
    new = [draft for draft in (*waiting, *drafts) if not draft.updates]
    entries, change = review.accept_all(writer, new) if new else ([], "")
    updates = [draft for draft in drafts if draft.updates]
    if updates:
        review.put(writer, updates, "import")
    paths = {draft.record.source: f"inbox/{draft.name}" for draft in updates}
    paths.update({entry.memory.source: entry.path for entry in entries})
    return change, paths


def _file_of(draft: Draft) -> str:
    return draft.record.source.rpartition(":")[0]


def _done(writer: Writer, root: str, names: Sequence[str], *, dry_run: bool) -> CommandResult:
    if not names:
        raise BadInput("--done needs the files that were read", fix="name them after --done")
    documents = proposals.documents_read_by_agent(root, names)
    if not dry_run:
        import_log.add(writer.store.root, "", documents)
    verb = "would be marked as read" if dry_run else "read"
    lines = [f"{verb}: {clean(document.source)}" for document in documents]
    return CommandResult({"read": [document.source for document in documents]}, lambda screen: "\n".join(lines))


def _with_request(writer: Writer, command_result: CommandResult) -> CommandResult:
    """Return a result with the drafts that have no triggers yet, and how an agent answers for all of them."""
    drafts = trigger_request.wanted(Inbox(writer.store.root).drafts())
    command = "onrecord import --triggers -"
    data = {
        "rules": trigger_request.RULES,
        "one_of_each": trigger_request.RECIPE,
        "answer_with": command,
        "drafts": [trigger_request.described(draft) for draft in drafts],
    }

    def text(screen: Screen) -> str:
        lines = [command_result.text(screen)]
        if drafts:
            lines += ["", f"{plural(len(drafts), 'draft')} without enough triggers: {trigger_request.RULES}."]
            lines += [f"  {number}. {kind}" for number, kind in enumerate(trigger_request.RECIPE, 1)]
            lines.append(f'Answer for all at once, as JSON {{"draft": ["phrase", …]}}: {command}')
        for draft in drafts:
            says = trigger_request.described(draft)["says"]
            lines.append(f"{screen.paint(clean(draft.name), 'bold')}: {clean(draft.record.title)}: {clean(says)}")
        return "\n".join(lines)

    return command_result._replace(data={**command_result.data, "triggers_wanted": data}, text=text)


def _add_triggers(writer: Writer, file: str, *, dry_run: bool) -> CommandResult:
    phrases = trigger_request.parse(arguments.read_json(file))
    before = list(Inbox(writer.store.root).drafts())
    answers = trigger_request.check(phrases, before)
    drafts = [answer.draft for answer in answers if answer.draft]
    if drafts:
        review.put(writer, drafts)
    refused = [answer for answer in answers if answer.reason]
    left = trigger_request.wanted(list({draft.name: draft for draft in (*before, *drafts)}.values()))
    data = {
        "written": [draft.name for draft in drafts],
        "refused": [{"draft": answer.name, "reason": answer.reason} for answer in refused],
        "left": [draft.name for draft in left],
    }

    def text(screen: Screen) -> str:
        lines = [f"refused: {clean(answer.name)}: {clean(answer.reason)}" for answer in refused]
        verb = "would be written" if dry_run else "written"
        lines.append(f"triggers {verb} for {plural(len(drafts), 'draft')}; {plural(len(left), 'draft')} left without")
        return "\n".join(lines)

    return CommandResult(data, text, 1 if refused else 0)


def _pending(reports: Sequence[FileReport]) -> CommandResult:
    waiting = [report for report in reports if report.passages and not report.is_unchanged]
    data = [
        {"path": report.path, "kind": report.kind, "passages": [passage._asdict() for passage in report.passages]}
        for report in waiting
    ]

    def text(screen: Screen) -> str:
        lines = []
        for report in waiting:
            lines.append(screen.paint(clean(report.path), "bold"))
            for passage in report.passages:
                lines.append(f"  {passage.first}-{passage.last}  {clean(passage.heading or passage.reason)}")
        return "\n".join(lines) or "nothing is left for an agent to read"

    return CommandResult({"documents": data}, text)


def _result(reports: list[FileReport], paths: dict[str, str], *, dry_run: bool) -> CommandResult:
    data = {
        "dry_run": dry_run,
        "files": [_as_json(report, paths) for report in reports],
        "drafts": sum(path.startswith("inbox/") for path in paths.values()),
        "records": sum(not path.startswith("inbox/") for path in paths.values()),
        "pending": sum(bool(report.passages) and not report.is_unchanged for report in reports),
        "unchanged": sum(report.is_unchanged for report in reports),
    }
    status = 1 if any(report.is_refused for report in reports) else 0
    reader = connection.typed_skill("import") if data["pending"] else ""
    return CommandResult(data, lambda screen: _text(screen, data, reports, paths, reader), status)


def _as_json(report: FileReport, paths: dict[str, str]) -> dict[str, Any]:
    proposed = [
        {
            "title": proposal.record.title,
            "category": proposal.record.category,
            "status": proposal.record.content.get("status", ""),
            "source": proposal.record.source,
            "updates": proposal.updates,
            "place": paths.get(proposal.record.source, ""),
            "not_in_it": list(proposal.left_out),
        }
        for proposal in report.proposals
    ]
    reasons = sorted({passage.reason for passage in report.passages})
    return {"path": report.path, "kind": report.kind, "proposed": proposed, "left_out": list(report.left_out),
            "for_the_agent": reasons, "unchanged": report.is_unchanged}  # fmt: skip


def _text(
    screen: Screen, data: dict[str, Any], reports: Sequence[FileReport], paths: dict[str, str], reader: str
) -> str:
    """Return the result for people; `reader` is what starts an agent that reads what is left to one."""
    lines: list[str] = []
    for report in reports:
        if not report.is_unchanged:
            lines += [screen.paint(clean(report.path), "bold"), *_lines(screen, report, paths)]
    counts = [plural(data["drafts"], "draft")] if data["drafts"] or not data["records"] else []
    counts += [plural(data["records"], "record")] if data["records"] else []
    verb = "would make " if data["dry_run"] else ""
    summary = f"{verb}{' and '.join(counts)} from {plural(sum(bool(r.proposals) for r in reports), 'file')}"
    pending = plural(data["pending"], "file")
    summary += f"; {pending} left to an agent ({reader})" if data["pending"] else ""
    summary += f"; {data['unchanged']:,} unchanged since the last import" if data["unchanged"] else ""
    next_steps = [] if data["dry_run"] or not paths else ["next: onrecord review; to undo this import: onrecord undo"]
    return "\n".join([*lines, summary, *next_steps])


def _lines(screen: Screen, report: FileReport, paths: dict[str, str]) -> list[str]:
    lines = []
    for proposal in report.proposals:
        record, path = proposal.record, paths.get(proposal.record.source, "")
        label = "changes" if proposal.updates else "draft" if path.startswith("inbox/") else "record"
        status = record.content.get("status", "")
        suffix = f" ({status})" if status not in ("", "accepted") else ""
        lines.append(f"  {screen.paint(label, 'green')} {record.category}: {clean(record.title)}{suffix}")
        lines += [f"    {screen.paint('not in it', 'dim')}: {clean(note)}" for note in proposal.left_out]
    lines += [f"  {screen.paint('left out', 'dim')}: {clean(reason)}" for reason in report.left_out]
    reasons = dict.fromkeys(passage.reason for passage in report.passages)
    return lines + [f"  {screen.paint('for the agent', 'yellow')}: {clean(reason)}" for reason in reasons]
