"""Gather what an import proposes: the new and changed records of all sources, linked and without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from onrecord import files, markdown, paths
from onrecord.audit import audit_item
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, SecretFound
from onrecord.importers import adr, import_log, memories, sources
from onrecord.importers.adr import Adr
from onrecord.importers.import_log import ImportedDocument
from onrecord.importers.sources import Passage, Source
from onrecord.record import compose, export
from onrecord.record.memory import Memory, to_json
from onrecord.search import terms

_LOADED = "agents load it themselves: rules that always apply stay there"
_ORPHANED = "superseded, and what replaced it is not among the records and drafts: import that as well"
_MAX_FILES = 12
"""Files that a decision is about; a decision with more than twice as many is about none in particular."""

_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
# Share of common word pairs at which two records say the same: a word or two may differ.
MIN_SIMILARITY = 0.8
_NO_DOCUMENTS: Mapping[str, ImportedDocument] = {}


class Reading(NamedTuple):
    """The content of a source: a decision, other records, passages for an agent, or the reason for none."""

    source: Source
    fingerprint: str = ""
    decision: Adr | None = None
    records: tuple[Memory, ...] = ()
    passages: tuple[Passage, ...] = ()
    left_out: str = ""


def read_source(project: str, source: Source, now: str) -> Reading:
    """Read a source, up to the limit for its size."""
    full = os.path.join(project, source.path)
    try:
        if memories.is_database(full):
            database = memories.read_claude_mem(full, source.path, project, now)
            return Reading(source, database.fingerprint, records=database.records, left_out=database.left_out)
        text = sources.decoded(files.read(full, markdown.MAX_CHARACTERS))
    except OSError as error:
        if files.is_fault(error):
            raise files.unreadable(full, error) from error
        return Reading(source, left_out=f"cannot be read: {error.strerror or error}")
    if not text.strip():
        return Reading(source, left_out="empty")
    return _read_text(project, source, text, now)._replace(fingerprint=import_log.text_hash(text))


def _read_text(project: str, source: Source, text: str, now: str) -> Reading:
    if source.kind == "aside":
        return Reading(source, left_out="an index, a template or a page about the folder")
    if source.kind == "memory":
        return _read_memory(source, text, now)
    if source.kind in ("loaded", "guide"):
        reason = _LOADED if source.kind == "loaded" else memories.PROSE
        others = _without_our_section(text)
        if not others.strip():
            return Reading(source, left_out="only the section that an export wrote")
        return Reading(source, passages=sources.sections(others, reason))
    if not source.path.lower().endswith((".md", ".markdown", ".mdx")):
        return Reading(source, passages=sources.whole_document(text, "not Markdown"))
    return _read_decision(project, source, text, now)


def _without_our_section(text: str) -> str:
    """Return a text in which the lines that `onrecord export` wrote are blank; all others keep their numbers."""
    start = text.find(export.BEGIN)
    end = text.find(export.END, start) if start >= 0 else -1
    if end < 0:
        return text
    stop = end + len(export.END)
    return text[:start] + "\n" * text.count("\n", start, stop) + text[stop:]


def _read_memory(source: Source, text: str, now: str) -> Reading:
    content = memories.read(source.path, text, now)
    left_out = "" if content.records or content.passages else "no memories in it"
    return Reading(source, records=content.records, passages=content.passages, left_out=left_out)


def _read_decision(project: str, source: Source, text: str, now: str) -> Reading:
    decision = adr.read(text, source.path, now)
    if isinstance(decision, Adr):
        record = decision.record._replace(related_files=mentioned_files(project, source.path, text))
        return Reading(source, decision=decision._replace(record=record))
    if source.kind == "page":
        return _read_memory(source, text, now)
    if not decision.is_for_agent:
        return Reading(source, left_out=decision.reason)
    return Reading(source, passages=sources.whole_document(text, decision.reason, decision.line))


def mentioned_files(project: str, path: str, text: str) -> tuple[str, ...]:
    """Return the project's files that a decision mentions in code or as a link, except those of its own folder."""
    own = os.path.dirname(path)
    related: dict[str, None] = {}
    for name, is_link in _names(text):
        candidates = [os.path.normpath(os.path.join(own, name))] if is_link else []
        for candidate in (*candidates, os.path.normpath(name)):
            inside = candidate.replace(os.sep, "/")
            if _is_related(project, inside, own):
                related.setdefault(inside)
                break
    return tuple(related)[:_MAX_FILES] if len(related) <= 2 * _MAX_FILES else ()


def _names(text: str) -> list[tuple[str, bool]]:
    code = [(name, False) for name in re.findall(r"`([^`\n]{3,200})`", text)]
    links = [(name.partition("#")[0], True) for name in re.findall(r"\]\(([^()\s:]{3,300})\)", text)]
    return [
        (name, is_link)
        for name, is_link in (*code, *links)
        if _PATH.fullmatch(name.removeprefix("./").replace("../", ""))
    ]


def _is_related(project: str, inside: str, own: str) -> bool:
    full = os.path.join(project, inside)
    is_own = os.path.dirname(inside) == own or (own and inside.startswith(f"{own}/"))
    is_path = "." in os.path.basename(inside) or "/" in inside
    return bool(
        is_path
        and not is_own
        and not inside.startswith("..")
        and files.is_file(full)
        and paths.is_within(project, full)
    )


class Proposal(NamedTuple):
    """A record that an import proposes, and the id of the record it would update (empty: it is new)."""

    record: Memory
    updates: str = ""
    left_out: tuple[str, ...] = ()
    """What of its source is not in the record, and why."""


class FileReport(NamedTuple):
    """The result for one file: proposals, passages that an agent should read, and reasons for what was left out."""

    path: str
    kind: str
    fingerprint: str
    proposals: tuple[Proposal, ...] = ()
    passages: tuple[Passage, ...] = ()
    left_out: tuple[str, ...] = ()
    is_unchanged: bool = False
    """True if it was imported before and has not changed since."""

    is_refused: bool = False
    """True if the file could not be read or contains a secret."""


def gather(
    project: str,
    sources: Sequence[Source],
    now: str,
    existing: Sequence[Memory] = (),
    imported: Mapping[str, ImportedDocument] = _NO_DOCUMENTS,
) -> list[FileReport]:
    """Return a report for each source.

    `existing` are the records of the store, `imported` the documents that were imported before, by path.
    """
    readings = [read_source(project, source, now) for source in sources]
    by_source = {file_of(record): record for record in existing if record.origin == "import"}
    decisions = [reading.decision for reading in readings if reading.decision]
    linked = adr.link_records(decisions, {path: record.id for path, record in by_source.items()})
    by_path = {decision.path: record for decision, record in zip(decisions, linked)}
    used_ids = {record.id for record in (*existing, *linked)}
    reports = []
    for reading in readings:
        path = reading.source.path
        own = by_path.get(path)
        records = [own] if own else [adr.with_free_id(record, used_ids) for record in reading.records]
        reports.append(_report(reading, records, by_source.get(path), imported.get(path)))
    return _without_orphans(_without_duplicates(reports, existing), existing)


def records_in(reports: Sequence[FileReport]) -> list[Memory]:
    """Return the records that all files propose."""
    return [proposal.record for report in reports for proposal in report.proposals]


def file_of(record: Memory) -> str:
    """Return the file that a record was imported from."""
    return record.source.rpartition(":")[0]


def _report(
    reading: Reading, records: Sequence[Memory], old_record: Memory | None, document: ImportedDocument | None
) -> FileReport:
    report = FileReport(reading.source.path, reading.source.kind, reading.fingerprint)
    is_read = not reading.passages or (document and document.is_read)
    if document and document.fingerprint == reading.fingerprint and is_read:
        return report._replace(is_unchanged=True)
    left_out = [reading.left_out] if reading.left_out else []
    is_refused = reading.left_out.startswith("cannot be read")
    proposals = []
    for record in records:
        secret = _secret(record)
        if secret:
            left_out.append(f"line {record.source.rpartition(':')[2]}: {secret}")
            is_refused = True
        elif not document or import_log.proposal_hash(record) not in document.proposals:
            notes = reading.decision.left_out if reading.decision else ()
            proposals += _proposals(record, old_record if len(records) == 1 else None, notes)
    return report._replace(
        proposals=tuple(proposals), passages=reading.passages, left_out=tuple(left_out), is_refused=is_refused
    )


def _secret(record: Memory) -> str:
    try:
        compose.refuse_secrets(to_json(record))
    except SecretFound as error:
        return error.message
    return ""


def _proposals(record: Memory, old_record: Memory | None, left_out: tuple[str, ...]) -> list[Proposal]:
    if old_record is None:
        return [Proposal(record, left_out=left_out)]
    # Its successor is proposed with the link, and accepting that changes this record.
    is_only_replaced = bool(record.superseded_by)
    is_same = record.content == old_record.content and record.title == old_record.title
    return [] if is_same or is_only_replaced else [Proposal(record, old_record.id, left_out)]


def _without_duplicates(reports: Sequence[FileReport], existing: Sequence[Memory]) -> list[FileReport]:
    """Return the reports without proposals that say the same as another record."""
    proposals = [proposal for report in reports for proposal in report.proposals if not proposal.updates]
    same_as = _same([proposal.record for proposal in proposals], existing)
    unique = []
    for report in reports:
        duplicates = [
            proposal for proposal in report.proposals if not proposal.updates and proposal.record.id in same_as
        ]
        reasons = [
            f"{_line_prefix(report, proposal.record)}says the same as {same_as[proposal.record.id]}"
            for proposal in duplicates
        ]
        rest = tuple(proposal for proposal in report.proposals if proposal not in duplicates)
        unique.append(report._replace(proposals=rest, left_out=(*report.left_out, *reasons)))
    return unique


def _without_orphans(reports: Sequence[FileReport], existing: Sequence[Memory]) -> list[FileReport]:
    """Return the reports without superseded decisions whose successor is neither proposed nor a record.

    A record that says it was superseded, and by nothing, is neither in force nor history.
    """
    while True:
        ids = {record.id for record in (*existing, *records_in(reports))}
        orphans = [
            proposal
            for report in reports
            for proposal in report.proposals
            if proposal.record.content.get("status") == "superseded" and proposal.record.superseded_by not in ids
        ]
        if not orphans:
            return list(reports)
        reports = [_without_proposals(report, orphans, _ORPHANED) for report in reports]


def _without_proposals(report: FileReport, refused: Sequence[Proposal], reason: str) -> FileReport:
    rest = tuple(proposal for proposal in report.proposals if proposal not in refused)
    is_less = len(rest) < len(report.proposals)
    return report._replace(proposals=rest, left_out=(*report.left_out, reason)) if is_less else report


def _line_prefix(report: FileReport, record: Memory) -> str:
    return f"line {record.source.rpartition(':')[2]} " if len(report.proposals) > 1 else ""


def _same(records: Sequence[Memory], existing: Sequence[Memory]) -> dict[str, str]:
    """Return the ids of new records that say the same as another record, each with the id of that record."""
    all_records = [*existing, *records]
    same_as: dict[str, str] = {}
    for first, second in audit_item.similar_pairs([_wording(record) for record in all_records], MIN_SIMILARITY):
        old, new = all_records[first], all_records[second]
        is_linked = old.id in new.supersedes or new.id in old.supersedes
        if second >= len(existing) and old.id not in same_as and not is_linked:
            same_as.setdefault(new.id, old.id)
    return same_as


def _wording(record: Memory) -> frozenset[str]:
    words = terms.stream(audit_item.from_record(record).statement)[:400]
    return audit_item.shingles(words if len(words) > 5 else terms.stream(record.title) + words)


def imported_documents(reports: Sequence[FileReport]) -> list[ImportedDocument]:
    """Return the entries of the import log: one for each file that proposed something."""
    return [
        ImportedDocument(
            report.path,
            report.fingerprint,
            tuple(import_log.proposal_hash(proposal.record) for proposal in report.proposals),
        )
        for report in reports
        if report.proposals
    ]


def documents_read_by_agent(project: str, names: Sequence[str]) -> list[ImportedDocument]:
    """Return the entries of the import log for documents that an agent has read. Raises BadInput."""
    documents = []
    for name in names:
        path = os.path.relpath(os.path.abspath(name), project).replace(os.sep, "/")
        path = os.path.abspath(name) if path.startswith("..") else path
        if not os.path.isfile(os.path.join(project, path)):
            raise BadInput(f"there is no file {name!r}", fix="name the files that were read")
        reading = read_source(project, Source(path, "guide"), "")
        documents.append(ImportedDocument(path, reading.fingerprint, is_read=True))
    return documents
