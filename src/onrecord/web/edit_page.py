"""Forms to create a record, and to edit a record or a draft."""

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
from onrecord.record import compose, drafts, form, memory, naming
from onrecord.record.form import FieldProblem
from onrecord.record.memory import Memory
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.web import inbox_page, record_page, view


class EditForm(NamedTuple):
    """The text in a form, and the fields and problems found in it."""

    text: str
    fields: Mapping[str, Any] = {}
    problems: tuple[FieldProblem, ...] = ()


def edit(request: Request) -> Response:
    store, entry = record_page.requested_record(request)
    if request.method == "GET":
        return _page(request, f"Edit: {entry.memory.title}", EditForm(_form_text(entry.memory)), entry.hash)
    edit_form, expected_hash = _parse_form(request, entry.memory.category), view.form_fields(request).get("hash", "")
    if edit_form.problems:
        return _page(request, f"Edit: {entry.memory.title}", edit_form, expected_hash)
    try:
        after = _update(request, store, entry, edit_form)
    except Changed:
        # Show both texts; saving the form again replaces the current version.
        now = store.read(entry.path)
        return _page(request, f"Edit: {now.memory.title}", edit_form, now.hash, current_text=_form_text(now.memory))
    except OnrecordError as error:
        return _page(request, f"Edit: {entry.memory.title}", _with_problems(edit_form, error), expected_hash)
    return view.redirect_after_change(
        request, view.address(request.path_params["store"], after.path), store, _saved(after.memory, entry.memory)
    )


def _saved(record: Memory, before: Memory | None = None) -> str:
    """Return what the next page says: that it was saved, and which new triggers fit any prompt."""
    note = naming.generic_note([text for text in record.triggers if not before or text not in before.triggers])
    return f"Saved. Note: {note}." if note else "Saved."


def _update(request: Request, store: Store, entry: Entry, edit_form: EditForm) -> Entry:
    fields = view.form_fields(request)
    store.expect(entry.path, fields.get("hash", ""))
    patch = _patch(entry.memory, edit_form)
    before = entry.memory.related_files
    related_files.refuse_missing_in_store(store.root, patch.get("related_files") or (), before, may_come=False)
    summary = " ".join(fields.get("summary", "").split())[:1_000]
    writer = Writer(store, view.site_of(request).project().settings)
    return writer.update(entry.path, patch, entry.hash, summary=summary, may_shrink=True)


def _patch(record: Memory, edit_form: EditForm) -> dict[str, Any]:
    """Return the fields that the user changed. Fields that the form does not show are not changed."""
    before = form.parse(record.category, _form_text(record)).fields
    return drafts.difference(before, edit_form.fields)


def edit_draft(request: Request) -> Response:
    project = view.site_of(request).project()
    writer = inbox_page.open_writer(project)
    draft = Inbox(writer.store.root).get(request.path_params["name"])
    title = f"Edit the draft: {draft.record.title}"
    if request.method == "GET":
        return _page(request, title, EditForm(_form_text(draft.record)), draft.hash, is_draft=True)
    edit_form, expected_hash = _parse_form(request, draft.record.category), view.form_fields(request).get("hash", "")
    if expected_hash == draft.hash and edit_form.problems:
        return _page(request, title, edit_form, expected_hash, is_draft=True)
    try:
        writer.store.expect(f"{paths.INBOX}/{draft.name}.json", expected_hash)
        record = review.revised(draft.record, _patch(draft.record, edit_form))
        review.put(writer, [draft._replace(record=record)], "edit draft")
    except Changed:
        now = Inbox(writer.store.root).get(draft.name)
        edit_form = edit_form._replace(problems=())
        return _page(request, title, edit_form, now.hash, current_text=_form_text(now.record), is_draft=True)
    except OnrecordError as error:
        return _page(request, title, _with_problems(edit_form, error), expected_hash, is_draft=True)
    return view.redirect_after_change(request, "/inbox", writer.store, "Draft changed; accept it to save it.")


def new(request: Request) -> Response:
    category = request.path_params["category"]
    if category not in categories.CATEGORIES:
        raise BadInput(f"{category!r} is not a category", fix=f"use one of {', '.join(categories.CATEGORIES)}")
    title = f"New {category.replace('_', ' ')}"
    if request.method == "GET":
        content = dict(categories.CATEGORIES[category].defaults)
        return _page(request, title, EditForm(form.render(category, {"content": content})), is_new=True)
    edit_form = _parse_form(request, category)
    if edit_form.problems:
        return _page(request, title, edit_form, is_new=True)
    writer = view.site_of(request).project().writer
    try:
        entry = _save(request, writer, category, edit_form)
    except OnrecordError as error:
        return _page(request, title, _with_problems(edit_form, error), is_new=True)
    return view.redirect_after_change(
        request, view.address(view.PROJECT, entry.path), writer.store, _saved(entry.memory)
    )


def _save(request: Request, writer: Writer, category: str, edit_form: EditForm) -> Entry:
    related_files.refuse_missing_in_store(
        writer.store.root, edit_form.fields.get("related_files") or (), may_come=False
    )
    if not view.form_fields(request).get("force"):
        record = compose.compose(category, edit_form.fields)
        matches = similar.find(writer.store, record)
        similar.refuse(matches, lambda record_id: f"edit {record_id}, or tick the box to save both")
    return save(writer, category, edit_form.fields)


def _form_text(record: Memory) -> str:
    return form.render(record.category, memory.to_json(record))


def _parse_form(request: Request, category: str) -> EditForm:
    text = view.form_fields(request).get("text", "")
    parsed = form.parse(category, text)
    return EditForm(text, parsed.fields, parsed.problems)


def _with_problems(edit_form: EditForm, error: OnrecordError) -> EditForm:
    """Return `edit_form` with the problems that `error` reports."""
    problems = form.error_problems(error) or (FieldProblem("", f"{error.message}; {error.fix}".rstrip("; ")),)
    return edit_form._replace(problems=problems)


def _page(
    request: Request,
    title: str,
    edit_form: EditForm,
    expected_hash: str = "",
    *,
    current_text: str = "",
    is_new: bool = False,
    is_draft: bool = False,
) -> Response:
    is_refused = bool(edit_form.problems or current_text)
    return view.page(
        request,
        "edit.html",
        title=title,
        http_status=(409 if current_text else 422) if is_refused else 200,
        text=edit_form.text,
        problems=edit_form.problems,
        current_text=current_text,
        expected_hash=expected_hash,
        is_new=is_new,
        is_draft=is_draft,
    )


_GET_AND_POST = ["GET", "POST"]
ROUTES = (
    Route("/new/{category}", new, methods=_GET_AND_POST),
    Route("/record/{store}/{folder}/{name}/edit", edit, methods=_GET_AND_POST),
    Route("/inbox/{name}/edit", edit_draft, methods=_GET_AND_POST),
)
