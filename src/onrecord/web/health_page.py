"""`/health`: records with problems, and the buttons that take care of them."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import attention
from onrecord.audit import audit_item, hard_to_find, report
from onrecord.audit.hard_to_find import HardToFind
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.freshness import anchors
from onrecord.freshness.check import Freshness
from onrecord.project import require_store
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.store.store import Entry, Store
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts
from onrecord.web import view

_MAX_FINDINGS = 100
_MAX_HARD = 20
"""Records in the list of those that are hard to find: the worst. More of them would be an alarm about everything."""

_MAX_REASONS = 2
_MAX_AUDITED_RECORDS = 3_000
"""Records in the thorough check: the newest ones. The check takes about ten seconds for so many."""

_HEADINGS = {
    "duplicates": "Duplicates",
    "superseded": "Replaced, but not marked as superseded",
    "missing": "Missing files",
    "overlong": "Too long",
    "triggers": "Triggers that fit any prompt",
    "secrets": "Contain a credential",
    "junk": "No content",
    "checks": "Checks that do not work",
}
"""Headings of the audit checks on this page. The checks that are not listed here run in a quick form."""

_IN_PAIRS = ("duplicates", "superseded")
"""Checks whose findings are about two records, of which one is to be kept."""


class FindingRecord(NamedTuple):
    """A record that a finding is about; without an address if there is no page for it."""

    title: str
    address: str = ""
    category: str = ""
    hash: str = ""
    """Hash of its version, for a button that confirms it."""


class HealthFinding(NamedTuple):
    """A problem of one or more records."""

    records: tuple[FindingRecord, ...]
    message: str
    fix: str = ""
    """A command, where no page does it."""
    can_confirm: bool = False
    """True if the button confirms the record for its files as they are now."""
    is_pair: bool = False


class Group(NamedTuple):
    """Findings of one kind."""

    heading: str
    level: str
    findings: tuple[HealthFinding, ...]
    total: int


class HardRow(NamedTuple):
    """A record that is hard to find: how hard, compared with the worst one, and why."""

    record: FindingRecord
    share: int
    """Width of its bar in percent."""
    reasons: tuple[str, ...]
    shown: int
    """How often agents were shown it all the same."""


def show(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    store = require_store(project.store)
    is_thorough = bool(request.query_params.get("all"))
    groups = [*_quick(store, view.open_index(project))]
    hard: list[HardToFind] = []
    if is_thorough:
        entries = _newest(store)
        groups += _thorough(store, entries)
        hard = hard_to_find.find([entry.memory for entry in entries], anchors.project_root(store.root))
    return view.page(
        request,
        "health.html",
        title="Health",
        groups=[group for group in groups if group.findings],
        is_thorough=is_thorough,
        max_records=_MAX_AUDITED_RECORDS,
        hard=_hard_rows(store, hard[:_MAX_HARD]),
        total_hard=len(hard),
    )


def _quick(store: Store, index: Index) -> Iterator[Group]:
    broken = [HealthFinding((FindingRecord(path),), _reason(store, path)) for path in listing.broken(index)]
    yield _group("Cannot be read", broken, "bad")
    yield _group("Changed files", list(_changed(store, index)), "warn")


def _reason(store: Store, path: str) -> str:
    try:
        store.read(path)
    except OnrecordError as error:
        return error.message
    return "It could not be read a moment ago; now it can."


def _changed(store: Store, index: Index) -> Iterator[HealthFinding]:
    root = anchors.project_root(store.root)
    freshness = Freshness(root, attention.PATIENCE) if root else None
    for record_id, anchored in listing.anchored(index, attention.MAX_CHECKED_RECORDS) if freshness else ():
        note, _ = freshness.note(anchored) if freshness else ("", False)
        if note:
            record = _record(store, record_id)
            yield HealthFinding((record,), note, can_confirm=bool(record.hash))


def _newest(store: Store) -> list[Entry]:
    entries = [entry for entry in store.scan() if isinstance(entry, Entry)]
    return sorted(entries, key=lambda entry: entry.memory.updated_at, reverse=True)[:_MAX_AUDITED_RECORDS]


def _thorough(store: Store, entries: list[Entry]) -> Iterator[Group]:
    records = {entry.memory.id: _of_entry(entry) for entry in entries}
    items = [audit_item.from_record(entry.memory) for entry in entries]
    measures = report.audit(items, report.collect(store, entries))
    for name, heading in _HEADINGS.items():
        findings = []
        for finding in measures[name].findings:
            subjects = tuple(records.get(record_id, FindingRecord(record_id)) for record_id in finding.ids)
            fix = "" if any(subject.address for subject in subjects) else finding.fix
            is_pair = name in _IN_PAIRS and len(subjects) > 1
            findings.append(HealthFinding(subjects, finding.message, fix, is_pair=is_pair))
        yield _group(heading, findings, "bad" if name == "secrets" else "warn")


def _hard_rows(store: Store, hard: list[HardToFind]) -> list[HardRow]:
    usage = usage_log.per_record(store.root) if hard else {}
    rows = []
    for result in hard:
        record = _record(store, result.record.id)
        path = record.address.removeprefix(view.address(view.PROJECT, ""))
        reasons = tuple(reason.message for reason in result.reasons[:_MAX_REASONS])
        share = 100 * result.weight // hard[0].weight
        rows.append(HardRow(record, share, reasons, usage.get(path, Counts()).injected))
    return rows


def _group(heading: str, findings: list[HealthFinding], level: str) -> Group:
    return Group(heading, level, tuple(findings[:_MAX_FINDINGS]), len(findings))


def _record(store: Store, record_id: str) -> FindingRecord:
    """Return a record for the page; the id and no address if it is ambiguous or was deleted."""
    try:
        return _of_entry(store.get(record_id))
    except OnrecordError:
        return FindingRecord(record_id)


def _of_entry(entry: Entry) -> FindingRecord:
    return FindingRecord(entry.memory.title, view.address(view.PROJECT, entry.path), entry.memory.category, entry.hash)


ROUTES = (Route("/health", show),)
