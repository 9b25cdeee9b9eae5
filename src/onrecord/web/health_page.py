"""`/health`: records with problems, and what fixes each."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.audit import audit_item, hard_to_find, report
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.freshness import anchors
from onrecord.freshness.check import Freshness
from onrecord.project import require_store
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.store.store import Entry, Store
from onrecord.web import view

_MAX_CHECKED_RECORDS = 500
"""Records whose files are checked on one request: the newest ones."""

_TIMEOUT_SECONDS = 3.0
_MAX_FINDINGS = 100
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


class HealthFinding(NamedTuple):
    """A problem of one or more records, and the command that fixes it."""

    records: tuple[tuple[str, str], ...]
    """Title and address of each record."""
    message: str
    fix: str


class Group(NamedTuple):
    """Findings of one kind."""

    heading: str
    findings: tuple[HealthFinding, ...]
    total: int


def show(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    store = require_store(project.store)
    is_thorough = bool(request.query_params.get("all"))
    groups = [*_quick(store, view.open_index(project)), *(_thorough(store) if is_thorough else ())]
    return view.page(
        request,
        "health.html",
        title="Health",
        groups=[group for group in groups if group.findings],
        is_thorough=is_thorough,
        max_records=_MAX_AUDITED_RECORDS,
    )


def _quick(store: Store, index: Index) -> Iterator[Group]:
    broken = [
        HealthFinding(((path, ""),), "cannot be read as a record", "onrecord doctor") for path in listing.broken(index)
    ]
    yield _group("Cannot be read", broken)
    yield _group("Changed files", list(_changed(store, index)))


def _changed(store: Store, index: Index) -> Iterator[HealthFinding]:
    root = anchors.project_root(store.root)
    freshness = Freshness(root, _TIMEOUT_SECONDS) if root else None
    for record_id, anchored in listing.anchored(index, _MAX_CHECKED_RECORDS) if freshness else ():
        note, _ = freshness.note(anchored) if freshness else ("", False)
        if note:
            yield HealthFinding((_link(store, record_id),), note, f"if it is still true: onrecord reanchor {record_id}")


def _thorough(store: Store) -> Iterator[Group]:
    entries = [entry for entry in store.scan() if isinstance(entry, Entry)]
    entries = sorted(entries, key=lambda entry: entry.memory.updated_at, reverse=True)[:_MAX_AUDITED_RECORDS]
    links = {entry.memory.id: (entry.memory.title, view.address(view.PROJECT, entry.path)) for entry in entries}
    items = [audit_item.from_record(entry.memory) for entry in entries]
    measures = report.audit(items, report.collect(store, entries))
    for name, heading in _HEADINGS.items():
        findings = []
        for finding in measures[name].findings:
            records = tuple(links.get(record_id, (record_id, "")) for record_id in finding.ids)
            findings.append(HealthFinding(records, finding.message, finding.fix))
        yield _group(heading, findings)
    hard = hard_to_find.find([entry.memory for entry in entries], anchors.project_root(store.root))
    reasons = [(links[item.record.id], item.reasons[0]) for item in hard if item.reasons]
    yield _group("Hard to find", [HealthFinding((link,), reason.message, reason.fix) for link, reason in reasons])


def _group(heading: str, findings: list[HealthFinding]) -> Group:
    return Group(heading, tuple(findings[:_MAX_FINDINGS]), len(findings))


def _link(store: Store, record_id: str) -> tuple[str, str]:
    """Return the title and address of a record; the id and no address if it is ambiguous or was deleted."""
    try:
        entry = store.get(record_id)
    except OnrecordError:
        return record_id, ""
    return entry.memory.title, view.address(view.PROJECT, entry.path)


ROUTES = (Route("/health", show),)
