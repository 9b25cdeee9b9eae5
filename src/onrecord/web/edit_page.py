"""A record or a draft as a form: a new one, or a change of the version that was on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories, paths
from onrecord.capture import review, similar
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, OnrecordError
from onrecord.freshness import related_files
from onrecord.project import save
from onrecord.record import compose, drafts, form, memory
from onrecord.record.form import Problem
from onrecord.record.memory import Memory
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.web import inbox_page, record_page, view


class Filled(NamedTuple):
    """What was typed into a form, and what of it cannot be taken."""

    text: str
    fields: Mapping[str, Any] = {}
    problems: tuple[Problem, ...] = ()


def edit(request: Request) -> Response:
    store, entry = record_page.requested(request)
    if request.method == "GET":
        return _page(request, f"Edit: {entry.memory.title}", Filled(_rendered(entry.memory)), entry.hash)
    filled, read = _filled(request, entry.memory.category), view.form(request).get("hash", "")
    if filled.problems:
        return _page(request, f"Edit: {entry.memory.title}", filled, read)
    try:
        after = _update(request, store, entry, filled)
    except Changed:
        # The form goes on from what is there now; both texts are on the page.
        now = store.read(entry.path)
        return _page(request, f"Edit: {now.memory.title}", filled, now.hash, theirs=_rendered(now.memory))
    except OnrecordError as error:
        return _page(request, f"Edit: {entry.memory.title}", _refused(filled, error), read)
    return view.changed(request, view.address(request.path_params["store"], after.path), store, "Saved.")


def _update(request: Request, store: Store, entry: Entry, filled: Filled) -> Entry:
    fields = view.form(request)
    store.expect(entry.path, fields.get("hash", ""))
    patch = _patch(entry.memory, filled)
    before = entry.memory.related_files
    related_files.refuse_lost(store.root, patch.get("related_files") or (), before, may_come=False)
    summary = " ".join(fields.get("summary", "").split())[:1_000]
    writer = Writer(store, view.site_of(request).project().settings)
    return writer.update(entry.path, patch, entry.hash, summary=summary, may_shrink=True)


def _patch(record: Memory, filled: Filled) -> dict[str, Any]:
    """What a form changes: only what it offers, so that what it does not show stays as it is."""
    before = form.parse(record.category, _rendered(record)).fields
    return drafts.difference(before, filled.fields)


def edit_draft(request: Request) -> Response:
    project = view.site_of(request).project()
    writer = inbox_page.writer_of(project)
    draft = Inbox(writer.store.root).get(request.path_params["name"])
    title = f"Edit the draft: {draft.record.title}"
    if request.method == "GET":
        return _page(request, title, Filled(_rendered(draft.record)), draft.hash, is_draft=True)
    filled, read = _filled(request, draft.record.category), view.form(request).get("hash", "")
    if read == draft.hash and filled.problems:
        return _page(request, title, filled, read, is_draft=True)
    try:
        writer.store.expect(f"{paths.INBOX}/{draft.name}.json", read)
        record = review.revised(draft.record, _patch(draft.record, filled))
        review.put(writer, [draft._replace(record=record)], "edit draft")
    except Changed:
        now = Inbox(writer.store.root).get(draft.name)
        mine, theirs = filled._replace(problems=()), _rendered(now.record)
        return _page(request, title, mine, now.hash, theirs=theirs, is_draft=True)
    except OnrecordError as error:
        return _page(request, title, _refused(filled, error), read, is_draft=True)
    return view.changed(request, "/inbox", writer.store, "The draft is changed; accept it to save it.")


def new(request: Request) -> Response:
    category = request.path_params["category"]
    if category not in categories.CATEGORIES:
        raise BadInput(f"{category!r} is not a category", fix=f"use one of {', '.join(categories.CATEGORIES)}")
    title = f"New {category.replace('_', ' ')}"
    if request.method == "GET":
        content = dict(categories.CATEGORIES[category].defaults)
        return _page(request, title, Filled(form.render(category, {"content": content})), is_new=True)
    filled = _filled(request, category)
    if filled.problems:
        return _page(request, title, filled, is_new=True)
    writer = view.site_of(request).project().writer
    try:
        entry = _save(request, writer, category, filled)
    except OnrecordError as error:
        return _page(request, title, _refused(filled, error), is_new=True)
    return view.changed(request, view.address(view.PROJECT, entry.path), writer.store, "Saved.")


def _save(request: Request, writer: Writer, category: str, filled: Filled) -> Entry:
    related_files.refuse_lost(writer.store.root, filled.fields.get("related_files") or (), may_come=False)
    if not view.form(request).get("force"):
        record = compose.compose(category, filled.fields)
        similar.refuse(similar.find(writer.store, record), lambda same: f"change {same}, or tick the box to save both")
    return save(writer, category, filled.fields)


def _rendered(record: Memory) -> str:
    return form.render(record.category, memory.to_json(record))


def _filled(request: Request, category: str) -> Filled:
    text = view.form(request).get("text", "")
    filled = form.parse(category, text)
    return Filled(text, filled.fields, filled.problems)


def _refused(filled: Filled, error: OnrecordError) -> Filled:
    """The form with what the store says against it."""
    problems = form.problems_of(error) or (Problem("", f"{error.message}; {error.fix}".rstrip("; ")),)
    return filled._replace(problems=problems)


def _page(
    request: Request,
    title: str,
    filled: Filled,
    read: str = "",
    *,
    theirs: str = "",
    is_new: bool = False,
    is_draft: bool = False,
) -> Response:
    is_refused = bool(filled.problems or theirs)
    return view.page(
        request,
        "edit.html",
        title=title,
        http_status=(409 if theirs else 422) if is_refused else 200,
        text=filled.text,
        problems=filled.problems,
        theirs=theirs,
        read=read,
        is_new=is_new,
        is_draft=is_draft,
    )


_BOTH = ["GET", "POST"]
ROUTES = (
    Route("/new/{category}", new, methods=_BOTH),
    Route("/record/{store}/{folder}/{name}/edit", edit, methods=_BOTH),
    Route("/inbox/{name}/edit", edit_draft, methods=_BOTH),
)
