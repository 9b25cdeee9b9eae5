"""Forms to create a record, and to edit a record or a draft, with a preview of what agents will be shown.

If two people change a record, the second one merges field by field: what both changed is to be chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories, paths
from onrecord.capture import review, similar
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, NotFound, OnrecordError
from onrecord.freshness import related_files
from onrecord.project import save_record
from onrecord.record import compose, drafts, memory, naming
from onrecord.record.drafts import Draft
from onrecord.record.form import FieldProblem, FilledForm
from onrecord.record.memory import Memory
from onrecord.search import listing
from onrecord.shared import replicas
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.web import agent_page, field_merge, inbox_page, record_form, record_page, record_versions, view
from onrecord.web.agent_page import AgentPreview
from onrecord.web.field_merge import Merge
from onrecord.web.record_form import Values

_MAX_SUMMARY_CHARACTERS = 1_000


class _FormPage(NamedTuple):
    """The content of a page with a form, apart from the record that it is about."""

    values: Values
    problems: tuple[FieldProblem, ...] = ()
    preview: AgentPreview | None = None
    extra: str = ""
    """The list that gets one more empty item."""
    is_unsaved: bool = False
    takes_force: bool = False
    """True if only a similar record keeps it from being saved."""


class _Subject:
    """The subject of a form: a new record, a saved one, or a draft."""

    title = ""
    note = ""
    """What the person should know before anything else."""
    is_draft = False
    stores: tuple[str, ...] = ()
    """The stores to choose from."""

    def __init__(self, request: Request, store: Store, store_name: str, category: str) -> None:
        self.request = request
        self.store = store
        self.store_name = store_name
        self.category = category
        self.project = view.site_of(request).project()
        self.writer = Writer(store, self.project.settings)

    @property
    def address(self) -> str:
        """The address that the form is sent to."""
        return str(self.request.url.path)

    @property
    def list_address(self) -> str:
        """The address that Cancel leads to."""
        return self.address.removesuffix("/edit")

    @property
    def record(self) -> Memory | None:
        """The record as it is now; None for a new one."""
        return None

    @property
    def hash(self) -> str:
        """The hash of the version that the record has now."""
        return ""

    def begin(self) -> Values:
        """Return the values of the form when it is opened."""
        raise NotImplementedError

    def save(self, fields: Mapping[str, Any], values: Values) -> Response:
        """Save the fields of the form. Raises OnrecordError."""
        raise NotImplementedError

    def proposal(self, fields: Mapping[str, Any]) -> Memory:
        """Return the record that agents will get if the fields of the form are saved. Raises OnrecordError."""
        raise NotImplementedError

    def write(self, patch: Mapping[str, Any], expected_hash: str, values: Values) -> Response:
        """Apply a patch to the version with this hash. Raises Changed and other errors."""
        raise NotImplementedError

    def put_draft(self, draft: Draft | None, address: str) -> Response:
        """Put a draft into the inbox of a shared store that takes only drafts; None if nothing would change."""
        if draft is not None:
            name = naming.unused_name(draft.name, self.store.has_draft)
            review.put(self.writer, [draft._replace(name=name)])
        text = f"Saved as a draft, because {self.store_name} takes only drafts from you."
        return view.redirect_after_change(self.request, address, self.store, text)

    def base(self, version: str) -> Memory | None:
        """Return the version that the person began with; None if it is not known any more."""
        return view.site_of(self.request).shown_version(version)


class _NewRecord(_Subject):
    """A record that does not exist yet, in one of the stores that the user may write to."""

    def __init__(self, request: Request, category: str = "", note: str = "") -> None:
        category = category or request.path_params["category"]
        if category not in categories.CATEGORIES:
            raise BadInput(f"{category!r} is not a category", fix=f"use one of {', '.join(categories.CATEGORIES)}")
        stores, name = record_page.writable_stores(view.site_of(request).project()), requested_store_name(request)
        if name not in stores and note:
            name = view.PROJECT
        if name not in stores:
            raise BadInput(f"no new record can be written to {name!r}", fix=f"choose one of {', '.join(stores)}")
        super().__init__(request, stores[name], name, category)
        self.stores = tuple(stores)
        self.note = note
        self.title = f"New {category.replace('_', ' ')}"

    @property
    def address(self) -> str:
        return f"/new/{self.category}"

    @property
    def list_address(self) -> str:
        return "/"

    def begin(self) -> Values:
        content = dict(categories.CATEGORIES[self.category].defaults)
        return record_form.from_fields(self.category, {"content": content})

    def proposal(self, fields: Mapping[str, Any]) -> Memory:
        return compose.compose(self.category, fields, now=self.writer.now)

    def save(self, fields: Mapping[str, Any], values: Values) -> Response:
        record = compose.compose(self.category, fields, now=self.writer.now)
        root = self.store.root
        related_files.refuse_missing_in_store(root, record.related_files, may_come=bool(values.get("force")))
        old = _resolved(self.store, values.get(record_form.SUPERSEDES, ""))
        if not values.get("force") and not old:
            similar.refuse(similar.find(self.store, record), lambda record_id: f"edit {record_id} instead")
        if values.get("force"):
            record = record._replace(id=naming.unused_name(record.id, self.store.has))
        if replicas.takes_drafts(root):
            return self.put_draft(inbox.new_draft(record, supersedes=old), "/")
        entry = save_record(self.writer, record, supersedes=old)
        # What waits for a sync has no page yet.
        is_shared = paths.is_shared(paths.prefix_of(root))
        address = "/" if is_shared else view.address(self.store_name, entry.path)
        return view.redirect_after_change(self.request, address, self.store, _saved(entry.memory))


class _SavedRecord(_Subject):
    """A record of any store."""

    def __init__(self, request: Request) -> None:
        store, self.entry = record_page.requested_record(request)
        super().__init__(request, store, request.path_params["store"], self.entry.memory.category)
        self.title = f"Edit: {self.entry.memory.title}"

    @property
    def record(self) -> Memory:
        return self.entry.memory

    @property
    def hash(self) -> str:
        return self.entry.hash

    def begin(self) -> Values:
        view.site_of(self.request).remember(self.entry.hash, self.entry.memory)
        return record_form.from_record(self.record)

    def base(self, version: str) -> Memory | None:
        return super().base(version) or record_versions.with_hash(self.store, self.entry.path, version)

    def proposal(self, fields: Mapping[str, Any]) -> Memory:
        return self.writer.revised(self.record, record_form.patch(self.record, fields))

    def save(self, fields: Mapping[str, Any], values: Values) -> Response:
        self.store.expect(self.entry.path, values.get("hash", ""))
        return self.write(record_form.patch(self.record, fields), self.entry.hash, values)

    def write(self, patch: Mapping[str, Any], expected_hash: str, values: Values) -> Response:
        new_files = patch.get("related_files") or ()
        may_come = bool(values.get("force"))
        related_files.refuse_missing_in_store(self.store.root, new_files, self.record.related_files, may_come=may_come)
        summary = " ".join(values.get("summary", "").split())[:_MAX_SUMMARY_CHARACTERS]
        if replicas.takes_drafts(self.store.root):
            return self._propose(patch, summary)
        after = self.writer.update(self.entry.path, patch, expected_hash, summary=summary, may_shrink=True)
        address = view.address(self.store_name, after.path)
        text = _saved(after.memory, self.record)
        return view.redirect_after_change(self.request, address, self.store, text)

    def _propose(self, patch: Mapping[str, Any], summary: str) -> Response:
        """Put the change into the inbox of a shared store that takes only drafts."""
        compose.refuse_secrets({**patch, "summary": summary})
        draft = review.draft_update(self.writer, self.entry, patch, summary)
        return self.put_draft(draft, view.address(self.store_name, self.entry.path))


class _DraftRecord(_Subject):
    """A draft in the inbox of a store."""

    is_draft = True

    def __init__(self, request: Request) -> None:
        name = requested_store_name(request)
        store = record_page.store_to_change(request, name)
        store.recover()
        self.draft: Draft = Inbox(store.root).get(request.path_params["name"])
        super().__init__(request, store, name, self.draft.record.category)
        self.title = f"Edit the draft: {self.draft.record.title}"

    @property
    def record(self) -> Memory:
        return self.draft.record

    @property
    def hash(self) -> str:
        return self.draft.hash

    @property
    def list_address(self) -> str:
        return inbox_page.requested_part(self.request).address

    def begin(self) -> Values:
        view.site_of(self.request).remember(self.draft.hash, self.draft.record)
        part = self.request.query_params.get("from", "")
        return {**record_form.from_record(self.record), "supersedes": self.draft.supersedes, "from": part}

    def proposal(self, fields: Mapping[str, Any]) -> Memory:
        draft = review.edited(self.draft, record_form.patch(self.record, fields))
        if draft.updates and self.store.has(draft.updates):
            return review.preview(self.writer, draft)[1]
        return review.accepted_record(draft.record, self.writer.now)

    def save(self, fields: Mapping[str, Any], values: Values) -> Response:
        self.store.expect(f"{paths.INBOX}/{self.draft.name}.json", values.get("hash", ""))
        return self.write(record_form.patch(self.record, fields), self.draft.hash, values)

    def write(self, patch: Mapping[str, Any], expected_hash: str, values: Values) -> Response:
        # The store compares the hash again under its lock.
        old = _resolved(self.store, values.get(record_form.SUPERSEDES, ""))
        draft = review.edited(self.draft, patch)._replace(supersedes=old, hash=expected_hash)
        if draft != self.draft:
            review.put(self.writer, [draft], "edit draft")
        text = "Draft changed; accept it to save it."
        anchor = view.draft_anchor(self.store_name, self.draft.name)
        return view.redirect_after_change(self.request, self.list_address, self.store, text, element=anchor)


def requested_store_name(request: Request) -> str:
    """Return the name of the store of a draft, from the form or the address."""
    fields = view.form_fields(request) if request.method == "POST" else request.query_params
    return str(fields.get("store") or view.PROJECT)


def _resolved(store: Store, text: str) -> str:
    """Return the id of the one record that a text means; empty for no text. Raises OnrecordError."""
    text = " ".join(text.split())
    if not text or ":" in text:
        return text
    try:
        return store.read(listing.resolve(store, text)).memory.id
    except OnrecordError as error:
        error.field_errors = ((record_form.SUPERSEDES, error.message),)
        raise


def _saved(record: Memory, before: Memory | None = None) -> str:
    """Return what the next page says of a saved record: whether it is in use, and which new triggers fit any prompt."""
    generic = naming.generic_note([text for text in record.triggers if not before or text not in before.triggers])
    note = f" Note: {generic}." if generic else ""
    status = "" if record.record_status == "active" else f" Agents do not get it: it is {record.record_status}."
    return f"Saved.{status}{note}"


def new(request: Request) -> Response:
    return _respond(request, _NewRecord)


def edit(request: Request) -> Response:
    return _respond(request, _SavedRecord)


def edit_draft(request: Request) -> Response:
    return _respond(request, _DraftRecord)


def _respond(request: Request, open_subject: Callable[[Request], _Subject]) -> Response:
    """Show a form, or carry out the button of it that was pressed."""
    if request.method == "GET":
        form_subject = open_subject(request)
        return _page(form_subject, _FormPage(form_subject.begin()))
    try:
        return _press(open_subject(request), view.form_fields(request))
    except OnrecordError as error:
        return _keep_text(request, error)


def _keep_text(request: Request, error: OnrecordError) -> Response:
    """Return what was typed as the form of a new record, because what it was about is gone. Raises the error."""
    values = view.form_fields(request)
    if values.get("category") not in categories.CATEGORIES:
        raise error
    is_draft = "name" in request.path_params and "folder" not in request.path_params
    fate = inbox_page.fate_of_draft(request) if is_draft and isinstance(error, NotFound) else ""
    what = fate or f"{error.message[:1].upper()}{error.message[1:]}."
    note = f"{what} Nothing was saved. What you typed is below; saving it makes a new record."
    form_subject = _NewRecord(request, values["category"], note)
    return _page(form_subject, _FormPage(_typed_values(values), is_unsaved=True))


def _typed_values(values: Values) -> Values:
    """Return the values of a form, with the texts that were written in place of two versions."""
    category = values["category"]
    fields = field_merge.with_own_texts(category, record_form.parse(category, values).fields, values)
    return {**values, **record_form.from_fields(category, fields)}


def _press(form_subject: _Subject, values: Values) -> Response:
    """Carry out a button of a form."""
    command = values.get("do", "save")
    if command.split(" ")[0] in ("up", "down", "remove", "add"):
        extra = command.partition(" ")[2] if command.startswith("add ") else ""
        return _page(form_subject, _FormPage(record_form.rearrange(values, command), extra=extra, is_unsaved=True))
    values = record_form.without_gaps(form_subject.category, values)
    filled = record_form.parse(form_subject.category, values)
    if command == "preview":
        preview = _preview(form_subject, filled)
        if values.get("part"):
            return view.fragment(form_subject.request, "agent_preview.html", preview=preview)
        return _page(form_subject, _FormPage(values, filled.problems, preview, is_unsaved=True))
    if filled.problems:
        return _page(form_subject, _FormPage(values, filled.problems, is_unsaved=True))
    try:
        if command == "merge":
            return _write_merged(form_subject, filled.fields, values)
        return form_subject.save(filled.fields, values)
    except Changed:
        return _merge(form_subject, filled.fields, values)
    except OnrecordError as error:
        return _refused(form_subject, values, error)


def _refused(form_subject: _Subject, values: Values, error: OnrecordError) -> Response:
    """Return the form with the problems that an error reports."""
    problems = tuple(FieldProblem(where, message) for where, message in error.field_errors)
    takes_force = error.code in ("NEAR_DUPLICATE", "ALREADY_EXISTS", "BAD_INPUT")
    if not problems:
        problems = (FieldProblem("", f"{error.message}; {error.fix}".rstrip("; ")),)
    return _page(form_subject, _FormPage(values, problems, is_unsaved=True, takes_force=takes_force))


def _merged(form_subject: _Subject, fields: Mapping[str, Any], values: Values, theirs: Memory) -> Merge:
    """Return the merge of a form with the version that somebody else saved after it was opened."""
    base = form_subject.base(values.get("base", "") or values.get("hash", ""))
    start = base or theirs
    yours = drafts.apply(memory.to_json(start), record_form.patch(start, fields))
    if "tags" in yours:
        yours["tags"] = list(naming.clean_tags(yours["tags"]))
    return field_merge.of_versions(base, yours, theirs)


def _merge(form_subject: _Subject, fields: Mapping[str, Any], values: Values) -> Response:
    """Save both changes if no field was changed by both people; ask which version to take if one was."""
    now = type(form_subject)(form_subject.request)  # type: ignore[call-arg]
    assert now.record is not None
    merge = _merged(now, fields, values, now.record)
    if not merge.clashes:
        try:
            return _write(now, merge, merge.result, values)
        except Changed:
            return _merge(form_subject, fields, values)
        except OnrecordError as error:
            return _refused(now, {**values, "hash": now.hash}, error)
    return _choice_page(now, merge, values)


def _write_merged(form_subject: _Subject, fields: Mapping[str, Any], values: Values) -> Response:
    """Save the versions that a person chose, unless the record has changed again. Raises Changed."""
    assert form_subject.record is not None
    if values.get("hash", "") != form_subject.hash:
        raise Changed("changed again", fix="choose again")
    merge = _merged(form_subject, fields, values, form_subject.record)
    try:
        return _write(form_subject, merge, merge.chosen(values), values)
    except Changed:
        raise
    except OnrecordError as error:
        return _choice_page(form_subject, merge, values, error)


def _write(form_subject: _Subject, merge: Merge, fields: Mapping[str, Any], values: Values) -> Response:
    return form_subject.write(merge.patch(fields), form_subject.hash, values)


def _choice_page(form_subject: _Subject, merge: Merge, values: Values, error: OnrecordError | None = None) -> Response:
    assert form_subject.record is not None
    view.site_of(form_subject.request).remember(form_subject.hash, form_subject.record)
    typed_fields = {name: text for name, text in values.items() if _is_typed(name)}
    typed_fields["base"] = values.get("base", "") or values.get("hash", "")
    return view.page(
        form_subject.request,
        "conflict.html",
        title=form_subject.title,
        http_status=409,
        choices=merge.choices(values),
        problems=dict(error.field_errors) if error else {},
        error=error,
        typed=typed_fields,
        expected_hash=form_subject.hash,
        is_draft=form_subject.is_draft,
        list_address=form_subject.list_address,
        has_base=bool(merge.base),
    )


def _is_typed(name: str) -> bool:
    return name not in ("form_token", "hash", "base", "do") and not name.startswith(("choice.", "own."))


def _page(form_subject: _Subject, form_page: _FormPage) -> Response:
    is_refused = bool(form_page.problems) and form_page.preview is None
    sections = record_form.sections(form_subject.category, form_page.values, form_page.extra)
    problems = record_form.place_problems(form_page.problems, sections)
    values = {
        "sections": record_form.unfold_problems(sections, problems),
        "problems": problems,
        "labels": record_form.labels(sections),
        "focused": next((name for name in problems if name), "title" if form_subject.record is None else ""),
        "values": form_page.values,
        "preview": form_page.preview or _first_preview(form_subject, form_page),
        "extra": form_page.extra,
        "is_unsaved": form_page.is_unsaved,
        "takes_force": form_page.takes_force,
        "expected_hash": form_page.values.get("hash", "") if form_page.is_unsaved else form_subject.hash,
        "category": form_subject.category,
        "store": form_subject.store_name,
        "stores": form_subject.stores,
        "record": form_subject.record,
        "is_draft": form_subject.is_draft,
        "is_new": form_subject.record is None,
        "address": form_subject.address,
        "list_address": form_subject.list_address,
        "note": form_subject.note,
    }
    http_status = 422 if is_refused else 409 if form_subject.note else 200
    if form_subject.request.query_params.get("part"):
        return view.fragment(form_subject.request, "edit_form.html", **values)
    return view.page(form_subject.request, "edit.html", title=form_subject.title, http_status=http_status, **values)


def _first_preview(form_subject: _Subject, form_page: _FormPage) -> AgentPreview | None:
    """Return the preview of a record as it is saved; None for a form with other text."""
    if form_page.is_unsaved or form_subject.record is None:
        return None
    fields, before = record_form.parse(form_subject.category, form_page.values).fields, form_subject.record
    try:
        record = form_subject.proposal(fields)
    except OnrecordError:
        record = before
    return AgentPreview(agent_page.texts(form_subject.project, form_subject.store.root, record, before=before))


def _preview(form_subject: _Subject, filled: FilledForm) -> AgentPreview:
    """Return what agents will be shown of the record that a form holds, and what speaks against saving it."""
    project, store, before = form_subject.project, form_subject.store, form_subject.record
    try:
        record = form_subject.proposal(filled.fields)
        preview = agent_page.preview(project, store, form_subject.store_name, record, before=before)
    except OnrecordError as error:
        preview = agent_page.partial_preview(project, store, form_subject.category, filled.fields, error, before=before)
    problems = tuple(f"{problem.field}: {problem.message}" for problem in filled.problems)
    return preview._replace(refusals=(*preview.refusals, *problems))


_GET_AND_POST = ["GET", "POST"]
ROUTES = (
    Route("/new/{category}", new, methods=_GET_AND_POST),
    Route("/record/{store}/{folder}/{name}/edit", edit, methods=_GET_AND_POST),
    Route("/inbox/{name}/edit", edit_draft, methods=_GET_AND_POST),
)
