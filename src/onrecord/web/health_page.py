"""`/health`: records that want a look, why, and what to do about each."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.audit import audit_item, evidence, hard_to_find, report
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.freshness import anchors
from onrecord.freshness.check import Freshness
from onrecord.project import require_store
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.store.store import Entry, Store
from onrecord.web import view

_MOST_CHECKED = 500
"""Records whose files are compared at once, the newest first."""

_PATIENCE = 3.0
_MOST_SHOWN = 100
_MOST_AUDITED = 3_000
"""Records that are compared with each other when asked for: they take some ten seconds."""

_NAMES = {
    "duplicates": "Say nearly the same",
    "superseded": "Replaced, and not marked as such",
    "missing": "Files are gone",
    "overlong": "Too long",
    "secrets": "Hold a credential",
    "junk": "Say nothing",
}
"""The checks of an audit that are shown here, and their headings; others have a quicker way."""


class Finding(NamedTuple):
    """Records with something wrong: what, and the command that fixes it."""

    records: tuple[tuple[str, str], ...]
    """Title and address of each."""
    message: str
    fix: str


class Group(NamedTuple):
    """Findings of one kind."""

    heading: str
    findings: tuple[Finding, ...]
    total: int


def show(request: Request) -> Response:
    project = view.site_of(request).searched()
    store = require_store(project.store)
    is_thorough = bool(request.query_params.get("all"))
    groups = [*_quick(store, view.opened(project)), *(_thorough(store) if is_thorough else ())]
    shown = [group for group in groups if group.findings]
    return view.page(request, "health.html", title="Health", groups=shown, is_thorough=is_thorough, most=_MOST_AUDITED)


def _quick(store: Store, opened: Index) -> Iterator[Group]:
    broken = [
        Finding(((path, ""),), "cannot be read as a record", "onrecord doctor") for path in listing.broken(opened)
    ]
    yield _group("Cannot be read", broken)
    yield _group("Files changed since", list(_changed(store, opened)))


def _changed(store: Store, opened: Index) -> Iterator[Finding]:
    root = anchors.root_of(store.root)
    freshness = Freshness(root, _PATIENCE) if root else None
    for record_id, anchored in listing.anchored(opened, _MOST_CHECKED) if freshness else ():
        note, _ = freshness.note(anchored) if freshness else ("", False)
        if note:
            yield Finding((_link(store, record_id),), note, f"if it still holds: onrecord reanchor {record_id}")


def _thorough(store: Store) -> Iterator[Group]:
    entries = [each for each in store.scan() if isinstance(each, Entry)]
    entries = sorted(entries, key=lambda each: each.memory.updated_at, reverse=True)[:_MOST_AUDITED]
    links = {each.memory.id: (each.memory.title, view.address(view.PROJECT, each.path)) for each in entries}
    measures = report.audit([audit_item.of(each.memory) for each in entries], evidence.of(store, entries))
    for name, heading in _NAMES.items():
        findings = [
            Finding(tuple(links.get(each, (each, "")) for each in finding.ids), finding.message, finding.fix)
            for finding in measures[name].findings
        ]
        yield _group(heading, findings)
    hard = hard_to_find.among([each.memory for each in entries], anchors.root_of(store.root))
    yield _group("Hard to find", [
        Finding((links[each.record.id],), each.reasons[0].message, each.reasons[0].fix) for each in hard if each.reasons
    ])  # fmt: skip


def _group(heading: str, findings: list[Finding]) -> Group:
    return Group(heading, tuple(findings[:_MOST_SHOWN]), len(findings))


def _link(store: Store, record_id: str) -> tuple[str, str]:
    """The title and address of a record; its id alone if two files have that id, or it is gone since."""
    try:
        entry = store.get(record_id)
    except OnrecordError:
        return record_id, ""
    return entry.memory.title, view.address(view.PROJECT, entry.path)


ROUTES = (Route("/health", show),)
