"""`/inbox`: the drafts that wait, each with what it rests on and what it is near to; and `/undo`."""

from __future__ import annotations

import difflib

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.capture import review, similar
from recollect.capture.inbox import BrokenDraft, Inbox
from recollect.coldstart import NamedTuple, digest
from recollect.errors import BadInput, Changed, RecollectError
from recollect.project import Project, require_store
from recollect.record import draft as drafts
from recollect.record import export
from recollect.record.draft import Draft
from recollect.record.memory import Memory
from recollect.store import undo as store_undo
from recollect.store.writer import Writer
from recollect.web import record_page, view
from recollect.web.record_page import Field
from recollect.web.view import Notice

_MOST = 50
"""Drafts on one page."""


class Near(NamedTuple):
    """A record that is similar to a draft."""

    id: str
    title: str
    address: str
    is_same: bool


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
    project = view.site_of(request).project()
    writer = writer_of(project)
    waiting = Inbox(writer.store.root).scan()
    shown = [_waiting(writer, draft) for draft in waiting[:_MOST]]
    return view.page(request, "inbox.html", title="Inbox", drafts=shown, total=len(waiting))


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
        version(draft),
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
        before, after = (
            export.markdown([record]).split("\n") for record in review.preview(writer, draft, draft.updates)
        )
    except RecollectError as error:
        return [f"It cannot be applied: {error.message}"]
    return [
        line for line in difflib.unified_diff(before, after, lineterm="", n=1) if line[:3] not in ("---", "+++", "@@ ")
    ]


def version(draft: Draft | BrokenDraft) -> str:
    """What tells one version of a draft from another: an agent may put a better one in its place at any time."""
    return "" if isinstance(draft, BrokenDraft) else digest(drafts.render(draft))


def decide(request: Request) -> Response:
    """Accept, merge or reject a draft."""
    project = view.site_of(request).project()
    writer = writer_of(project)
    draft = Inbox(writer.store.root).find(request.path_params["name"])
    action, fields = request.path_params["action"], view.form(request)
    if fields.get("hash", "") != version(draft):
        raise Changed(f"the draft {draft.name!r} is not as it was on the page", fix="look at it again in the inbox")
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
    undone = store_undo.undo(store, fields.get("change", ""))
    view.site_of(request).check_again()
    return view.go(request, "/", Notice(f"Taken back: {undone.change.action} of {undone.change.at[:16]}"))


ROUTES = (
    Route("/inbox", inbox),
    Route("/inbox/{name}/{action}", decide, methods=["POST"]),
    Route("/undo", undo, methods=["POST"]),
)
