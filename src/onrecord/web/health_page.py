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
from onrecord.search import index, listing
from onrecord.search.index import Index
from onrecord.store.store import Entry, Store
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts
from onrecord.web import home_page, record_page, view

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


class LookedAt(NamedTuple):
    """The store that the page is about."""

    name: str
    """Its name in addresses."""
    store: Store
    store_index: Index


_OF_STORES = (attention.UNREADABLE, attention.SYNC, attention.WAITING, attention.REFUSED)
"""Needs that are about a whole store, which have no other page."""


def show(request: Request) -> Response:
    site = view.site_of(request)
    project = site.project_for_search()
    name = request.query_params.get("store") or view.PROJECT
    store = require_store(record_page.store_by_name(request, name))
    looked_at = LookedAt(name, store, index.open(store.root, hook=project.is_quick))
    is_thorough = bool(request.query_params.get("all"))
    groups = [*_quick(looked_at)]
    hard: list[HardToFind] = []
    if is_thorough:
        entries = _newest(store)
        groups += _thorough(looked_at, entries)
        hard = hard_to_find.find([entry.memory for entry in entries], anchors.project_root(store.root))
    stores = list(dict.fromkeys(view.name_in_address(ref.prefix) for ref in project.known_refs))
    return view.page(
        request,
        "health.html",
        title="Health",
        groups=[group for group in groups if group.findings],
        is_thorough=is_thorough,
        max_records=_MAX_AUDITED_RECORDS,
        hard=_hard_rows(looked_at, hard[:_MAX_HARD]),
        needs=home_page.need_views(project, (need for need in site.live.needs() if need.kind in _OF_STORES)),
        store=name,
        stores=stores if len(stores) > 1 else (),
        total_hard=len(hard),
    )


def _quick(looked_at: LookedAt) -> Iterator[Group]:
    store = looked_at.store
    broken = [
        HealthFinding((FindingRecord(path),), _reason(store, path)) for path in listing.broken(looked_at.store_index)
    ]
    yield _group("Cannot be read", broken, "bad")
    contradictions = [
        HealthFinding(tuple(_record(looked_at, record_id) for record_id in finding.ids), finding.message)
        for finding in attention.contradictions(looked_at.store_index)
    ]
    yield _group("Contradict what replaces what", contradictions, "bad")
    yield _group("Changed files", list(_changed(looked_at)), "warn")


def _reason(store: Store, path: str) -> str:
    try:
        store.read(path)
    except OnrecordError as error:
        return error.message
    return "It could not be read a moment ago; now it can."


def _changed(looked_at: LookedAt) -> Iterator[HealthFinding]:
    root = anchors.project_root(looked_at.store.root)
    freshness = Freshness(root, attention.PATIENCE) if root else None
    for record_id, anchored in (
        listing.anchored(looked_at.store_index, attention.MAX_CHECKED_RECORDS) if freshness else ()
    ):
        note, _ = freshness.note(anchored) if freshness else ("", False)
        if note:
            record = _record(looked_at, record_id)
            # Backquotes are for agents.
            note = note.removeprefix("verify: ").replace("`", "")
            yield HealthFinding((record,), note, can_confirm=bool(record.hash))


def _newest(store: Store) -> list[Entry]:
    entries = [entry for entry in store.scan() if isinstance(entry, Entry)]
    return sorted(entries, key=lambda entry: entry.memory.updated_at, reverse=True)[:_MAX_AUDITED_RECORDS]


def _thorough(looked_at: LookedAt, entries: list[Entry]) -> Iterator[Group]:
    store = looked_at.store
    records = {entry.memory.id: _of_entry(looked_at, entry) for entry in entries}
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


def _hard_rows(looked_at: LookedAt, hard: list[HardToFind]) -> list[HardRow]:
    usage = usage_log.per_record(looked_at.store.root) if hard else {}
    rows = []
    for result in hard:
        record = _record(looked_at, result.record.id)
        path = record.address.removeprefix(view.address(looked_at.name, ""))
        reasons = tuple(reason.message for reason in result.reasons[:_MAX_REASONS])
        share = 100 * result.weight // hard[0].weight
        rows.append(HardRow(record, share, reasons, usage.get(path, Counts()).injected))
    return rows


def _group(heading: str, findings: list[HealthFinding], level: str) -> Group:
    return Group(heading, level, tuple(findings[:_MAX_FINDINGS]), len(findings))


def _record(looked_at: LookedAt, record_id: str) -> FindingRecord:
    """Return a record for the page; the id and no address if it is ambiguous or was deleted."""
    try:
        return _of_entry(looked_at, looked_at.store.get(record_id))
    except OnrecordError:
        return FindingRecord(record_id)


def _of_entry(looked_at: LookedAt, entry: Entry) -> FindingRecord:
    address = view.address(looked_at.name, entry.path)
    return FindingRecord(entry.memory.title, address, entry.memory.category, entry.hash)


ROUTES = (Route("/health", show),)
