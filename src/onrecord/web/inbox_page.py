"""`/inbox`: drafts to review, each with its evidence and similar records; and `/undo`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.capture import review, similar
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, OnrecordError
from onrecord.project import Project, require_store
from onrecord.record import author, check
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.store import history
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.writer import Writer
from onrecord.web import record_page, view
from onrecord.web.record_page import FieldView
from onrecord.web.view import Notice

_MAX_DRAFTS = 50


class SimilarRecord(NamedTuple):
    """A record that is similar to a draft."""

    id: str
    title: str
    address: str
    is_same: bool


class OutdatedDraft(NamedTuple):
    """A draft that changed after the page was loaded, and what changed in it."""

    title: str
    changes: tuple[str, ...]


class DraftView(NamedTuple):
    """A draft as the page shows it."""

    name: str
    title: str
    category: str
    made_at: str
    hash: str = ""
    """Hash of the file; empty if it cannot be read."""
    fields: tuple[FieldView, ...] = ()
    evidence: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    similar: tuple[SimilarRecord, ...] = ()
    updates: str = ""
    supersedes: str = ""
    author: str = ""
    """Who wrote it, as far as the program could tell."""
    changes: tuple[str, ...] = ()
    """Diff of the record that the draft would update."""
    error: str = ""
    """The reason if the draft cannot be read."""


def inbox(request: Request) -> Response:
    return _page(request, open_writer(view.site_of(request).project()))


def _page(request: Request, writer: Writer, outdated: OutdatedDraft | None = None) -> Response:
    drafts = Inbox(writer.store.root).scan()
    for draft in drafts[:_MAX_DRAFTS]:
        if isinstance(draft, Draft):
            view.site_of(request).remember(draft.hash, draft.record)
    return view.page(
        request,
        "inbox.html",
        title="Inbox",
        http_status=409 if outdated else 200,
        drafts=[_draft_view(writer, draft) for draft in drafts[:_MAX_DRAFTS]],
        total=len(drafts),
        outdated=outdated,
    )


def open_writer(project: Project) -> Writer:
    writer = Writer(require_store(project.store), project.settings)
    writer.store.recover()
    return writer


def _draft_view(writer: Writer, draft: Draft | BrokenDraft) -> DraftView:
    if isinstance(draft, BrokenDraft):
        return DraftView(draft.name, draft.name, "", "", error=draft.error.message)
    record = draft.record
    return DraftView(
        draft.name,
        record.title,
        record.category,
        draft.made_at,
        draft.hash,
        fields=tuple(record_page.fields_of(record)),
        evidence=tuple(draft.evidence),
        triggers=record.triggers,
        checks=tuple(map(check.describe, record.checks)),
        similar=tuple(_similar(writer, record)),
        updates=draft.updates,
        supersedes=draft.replaces,
        author=author.described(record.origin, record.agent, record.host),
        changes=tuple(_changes(writer, draft)),
    )


def _similar(writer: Writer, record: Memory) -> list[SimilarRecord]:
    return [
        SimilarRecord(match.memory.id, match.memory.title, view.address(view.PROJECT, match.entry.path), match.is_same)
        for match in similar.find(writer.store, record)
    ]


def _changes(writer: Writer, draft: Draft) -> list[str]:
    if not draft.updates or not writer.store.has(draft.updates):
        return []
    try:
        return view.diff(*review.preview(writer, draft))
    except OnrecordError as error:
        return [f"This change cannot be applied: {error.message}"]


def decide(request: Request) -> Response:
    """Accept, merge or reject a draft, unless it changed after the page was loaded."""
    project = view.site_of(request).project()
    writer = open_writer(project)
    name, expected_hash = request.path_params["name"], view.form_fields(request).get("hash", "")
    draft = Inbox(writer.store.root).find(name)
    try:
        if expected_hash or isinstance(draft, Draft):
            writer.store.expect(f"{paths.INBOX}/{draft.name}.json", expected_hash)
        return _carry_out(request, writer, draft)
    except Changed:
        now = Inbox(writer.store.root).find(name)
        if isinstance(now, Draft) and now.hash != expected_hash:
            changes = view.changes_since(request, expected_hash, now.record)
            return _page(request, writer, OutdatedDraft(now.record.title, changes))
        raise


def _carry_out(request: Request, writer: Writer, draft: Draft | BrokenDraft) -> Response:
    action, fields = request.path_params["action"], view.form_fields(request)
    project = view.site_of(request).project()
    if action == "reject":
        review.reject(writer, draft, project=project.root)
        return view.redirect_after_change(request, "/inbox", writer.store, f"Rejected: {draft.name}")
    if isinstance(draft, BrokenDraft):
        raise draft.error
    if action == "accept":
        entry = review.accept(writer, draft, project=project.root, force=bool(fields.get("force")))
        return view.redirect_after_change(request, "/inbox", writer.store, f"Saved: {entry.memory.title}")
    if action == "merge":
        into = fields.get("into", "").strip() or draft.updates
        if not into:
            raise BadInput("no record to merge into", fix="go back and enter its id")
        entry = review.merge(writer, draft, into, project=project.root)
        return view.redirect_after_change(request, "/inbox", writer.store, f"Merged into: {entry.memory.title}")
    raise BadInput(f"unknown action for a draft: {action!r}", fix="use the buttons on the page")


def undo(request: Request) -> Response:
    """Undo a change of a store."""
    fields = view.form_fields(request)
    store = require_store(record_page.store_by_name(request, fields.get("store", view.PROJECT)))
    result = history.undo(store, fields.get("change", ""))
    view.site_of(request).check_again()
    text = f"Undone: {result.change.action} of {result.change.at[:16]}"
    return view.redirect(request, "/", Notice(text, warnings=tuple(store.warnings)))


ROUTES = (
    Route("/inbox", inbox),
    Route("/inbox/{name}/{action}", decide, methods=["POST"]),
    Route("/undo", undo, methods=["POST"]),
)
