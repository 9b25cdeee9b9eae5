"""What an import proposes: the records of all sources, linked, without secrets, and only what is new or has changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from onrecord.audit import audit_item
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, SecretFound
from onrecord.importers import adr, import_log, reading
from onrecord.importers.import_log import ImportedDocument
from onrecord.importers.reading import Reading
from onrecord.importers.sources import Passage, Source
from onrecord.record import compose
from onrecord.record.memory import Memory, to_json
from onrecord.search import terms

# Share of word pairs in common from which two records say the same; the texts differ in a word or two.
MIN_SIMILARITY = 0.8
_NOTHING: Mapping[str, ImportedDocument] = {}


class Proposal(NamedTuple):
    """A record that an import proposes, and the id of the one it would change (empty: it is new)."""

    record: Memory
    updates: str = ""


class FileReport(NamedTuple):
    """What became of one file: what it proposes, what an agent should read of it, and what was left out and why."""

    path: str
    kind: str
    fingerprint: str
    proposals: tuple[Proposal, ...] = ()
    passages: tuple[Passage, ...] = ()
    left_out: tuple[str, ...] = ()
    is_unchanged: bool = False
    """Whether it was imported before, and has not changed since."""

    is_refused: bool = False
    """Whether something in it could not be read, or holds a secret."""


def gather(
    project: str,
    sources: Sequence[Source],
    now: str,
    existing: Sequence[Memory] = (),
    imported: Mapping[str, ImportedDocument] = _NOTHING,
) -> list[FileReport]:
    """What each source proposes beside the records that exist, and what was imported before."""
    readings = [reading.read(project, source, now) for source in sources]
    before = {_path_of(record): record for record in existing if record.origin == "import"}
    decisions = [each.decision for each in readings if each.decision]
    linked = adr.link_records(decisions, {path: record.id for path, record in before.items()})
    by_path = {decision.path: record for decision, record in zip(decisions, linked)}
    taken = {record.id for record in (*existing, *linked)}
    reports = []
    for each in readings:
        own = by_path.get(each.source.path)
        records = [own] if own else [adr.with_free_id(record, taken) for record in each.records]
        reports.append(_report(each, records, before, imported.get(each.source.path)))
    return _without_duplicates(reports, existing)


def records_in(reports: Sequence[FileReport]) -> list[Memory]:
    """The records that all files propose."""
    return [proposal.record for report in reports for proposal in report.proposals]


def _path_of(record: Memory) -> str:
    """The file that a record was made of."""
    return record.source.rpartition(":")[0]


def _report(
    each: Reading, records: Sequence[Memory], before: Mapping[str, Memory], imported: ImportedDocument | None
) -> FileReport:
    report = FileReport(each.source.path, each.source.kind, each.fingerprint)
    if imported and imported.fingerprint == each.fingerprint and not (each.passages and not imported.is_read):
        return report._replace(is_unchanged=True)
    left_out = [each.left_out] if each.left_out else []
    is_refused = each.left_out.startswith("cannot be read")
    proposals = []
    for record in records:
        leak = _leak(record)
        if leak:
            left_out.append(f"line {record.source.rpartition(':')[2]}: {leak}")
            is_refused = True
        elif not imported or import_log.proposal_hash(record) not in imported.proposals:
            proposals += _proposals(record, before.get(each.source.path) if len(records) == 1 else None)
    return report._replace(
        proposals=tuple(proposals), passages=each.passages, left_out=tuple(left_out), is_refused=is_refused
    )


def _leak(record: Memory) -> str:
    try:
        compose.refuse_secrets(to_json(record))
    except SecretFound as error:
        return error.message
    return ""


def _proposals(record: Memory, before: Memory | None) -> list[Proposal]:
    if before is None:
        return [Proposal(record)]
    # Its successor is proposed with the link; accepting that changes this one.
    is_only_replaced = bool(record.superseded_by)
    is_same = record.content == before.content and record.title == before.title
    return [] if is_same or is_only_replaced else [Proposal(record, before.id)]


def _without_duplicates(reports: Sequence[FileReport], existing: Sequence[Memory]) -> list[FileReport]:
    """The reports without records that say what another one says."""
    proposals = [proposal for report in reports for proposal in report.proposals if not proposal.updates]
    same_as = _same([proposal.record for proposal in proposals], existing)
    thinned = []
    for report in reports:
        twice = [each for each in report.proposals if not each.updates and each.record.id in same_as]
        words = [f"{_where(report, each.record)}says the same as {same_as[each.record.id]}" for each in twice]
        rest = tuple(each for each in report.proposals if each not in twice)
        thinned.append(report._replace(proposals=rest, left_out=(*report.left_out, *words)))
    return thinned


def _where(report: FileReport, record: Memory) -> str:
    return f"line {record.source.rpartition(':')[2]} " if len(report.proposals) > 1 else ""


def _same(records: Sequence[Memory], existing: Sequence[Memory]) -> dict[str, str]:
    """Ids of new records that say the same as another one, and the id of that."""
    everything = [*existing, *records]
    same_as: dict[str, str] = {}
    for first, second in audit_item.similar_pairs([_wording(record) for record in everything], MIN_SIMILARITY):
        old, new = everything[first], everything[second]
        is_linked = old.id in new.supersedes or new.id in old.supersedes
        if second >= len(existing) and old.id not in same_as and not is_linked:
            same_as.setdefault(new.id, old.id)
    return same_as


def _wording(record: Memory) -> frozenset[str]:
    words = terms.stream(audit_item.from_record(record).statement)[:400]
    return audit_item.shingles(words if len(words) > 5 else terms.stream(record.title) + words)


def documents(reports: Sequence[FileReport]) -> list[ImportedDocument]:
    """What is to be remembered of an import: every file that proposed something."""
    return [
        ImportedDocument(
            report.path, report.fingerprint, tuple(import_log.proposal_hash(each.record) for each in report.proposals)
        )
        for report in reports
        if report.proposals
    ]


def read_by_agent(project: str, names: Sequence[str]) -> list[ImportedDocument]:
    """What is to be remembered of documents that an agent has read."""
    marked = []
    for name in names:
        path = os.path.relpath(os.path.abspath(name), project).replace(os.sep, "/")
        path = os.path.abspath(name) if path.startswith("..") else path
        if not os.path.isfile(os.path.join(project, path)):
            raise BadInput(f"there is no file {name!r}", fix="name the files that were read")
        read = reading.read(project, Source(path, "guide"), "")
        marked.append(ImportedDocument(path, read.fingerprint, is_read=True))
    return marked
