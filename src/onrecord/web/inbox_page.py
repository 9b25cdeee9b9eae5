"""`/inbox`: the drafts that wait, each with what it rests on and what it is near to; and `/undo`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.capture import review, similar
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, OnrecordError
from onrecord.project import Project, require_store
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.store import history
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.writer import Writer
from onrecord.web import record_page, view
from onrecord.web.record_page import Field
from onrecord.web.view import Notice

_MOST = 50
"""Drafts on one page."""


class Near(NamedTuple):
    """A record that is similar to a draft."""

    id: str
    title: str
    address: str
    is_same: bool


class Outdated(NamedTuple):
    """A draft that is no longer as it was on the page, and what is different."""

    title: str
    changes: tuple[str, ...]


class Waiting(NamedTuple):
    """A draft as it is shown."""

    name: str
    title: str
    category: str
    made_at: str
    hash: str = ""
    """Its version; empty if it cannot be read."""
    fields: tuple[Field, ...] = ()
    evidence: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()
    updates: str = ""
    supersedes: str = ""
    changes: tuple[str, ...] = ()
    """What it changes in the record that it updates, line by line."""
    error: str = ""
    """Why it cannot be read."""


def inbox(request: Request) -> Response:
    return _page(request, writer_of(view.site_of(request).project()))


def _page(request: Request, writer: Writer, outdated: Outdated | None = None) -> Response:
    waiting = Inbox(writer.store.root).scan()
    for draft in waiting[:_MOST]:
        if isinstance(draft, Draft):
            view.site_of(request).remember(draft.hash, draft.record)
    return view.page(
        request,
        "inbox.html",
        title="Inbox",
        http_status=409 if outdated else 200,
        drafts=[_waiting(writer, draft) for draft in waiting[:_MOST]],
        total=len(waiting),
        outdated=outdated,
    )


def writer_of(project: Project) -> Writer:
    writer = Writer(require_store(project.store), project.settings)
    writer.store.recover()
    return writer


def _waiting(writer: Writer, draft: Draft | BrokenDraft) -> Waiting:
    if isinstance(draft, BrokenDraft):
        return Waiting(draft.name, draft.name, "", "", error=draft.error.message)
    record = draft.record
    return Waiting(
        draft.name,
        record.title,
        record.category,
        draft.made_at,
        draft.hash,
        fields=tuple(record_page.fields_of(record)),
        evidence=tuple(draft.evidence),
        triggers=record.triggers,
        near=tuple(_near(writer, record)),
        updates=draft.updates,
        supersedes=draft.supersedes,
        changes=tuple(_changes(writer, draft)),
    )


def _near(writer: Writer, record: Memory) -> list[Near]:
    return [
        Near(each.memory.id, each.memory.title, view.address(view.PROJECT, each.entry.path), each.is_same)
        for each in similar.find(writer.store, record)
    ]


def _changes(writer: Writer, draft: Draft) -> list[str]:
    if not draft.updates or not writer.store.has(draft.updates):
        return []
    try:
        return view.differences(*review.preview(writer, draft))
    except OnrecordError as error:
        return [f"It cannot be applied: {error.message}"]


def decide(request: Request) -> Response:
    """Accept, merge or reject the version of a draft that was on the page."""
    project = view.site_of(request).project()
    writer = writer_of(project)
    name, read = request.path_params["name"], view.form(request).get("hash", "")
    draft = Inbox(writer.store.root).find(name)
    try:
        if read or isinstance(draft, Draft):
            writer.store.expect(f"{paths.INBOX}/{draft.name}.json", read)
        return _carry_out(request, writer, draft)
    except Changed:
        now = Inbox(writer.store.root).find(name)
        if isinstance(now, Draft) and now.hash != read:
            return _page(request, writer, Outdated(now.record.title, view.since_seen(request, read, now.record)))
        raise


def _carry_out(request: Request, writer: Writer, draft: Draft | BrokenDraft) -> Response:
    action, fields = request.path_params["action"], view.form(request)
    project = view.site_of(request).project()
    if action == "reject":
        review.reject(writer, draft, project=project.root)
        return view.changed(request, "/inbox", writer.store, f"Rejected: {draft.name}")
    if isinstance(draft, BrokenDraft):
        raise draft.error
    if action == "accept":
        entry = review.accept(writer, draft, project=project.root, force=bool(fields.get("force")))
        return view.changed(request, "/inbox", writer.store, f"Saved: {entry.memory.title}")
    if action == "merge":
        into = fields.get("into", "").strip() or draft.updates
        if not into:
            raise BadInput("this needs the record to merge into", fix="go back and fill it in")
        entry = review.merge(writer, draft, into, project=project.root)
        return view.changed(request, "/inbox", writer.store, f"Merged into: {entry.memory.title}")
    raise BadInput(f"{action!r} cannot be done to a draft here", fix="use the buttons on the page")


def undo(request: Request) -> Response:
    """Take a change of a store back."""
    fields = view.form(request)
    store = require_store(record_page.store_called(request, fields.get("store", view.PROJECT)))
    undone = history.undo(store, fields.get("change", ""))
    view.site_of(request).check_again()
    text = f"Taken back: {undone.change.action} of {undone.change.at[:16]}"
    return view.go(request, "/", Notice(text, warnings=tuple(store.warnings)))


ROUTES = (
    Route("/inbox", inbox),
    Route("/inbox/{name}/{action}", decide, methods=["POST"]),
    Route("/undo", undo, methods=["POST"]),
)
