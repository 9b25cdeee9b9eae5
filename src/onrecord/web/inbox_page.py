"""`/inbox`: drafts of all stores to review, each beside its source and similar records; and `/undo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, unquote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.capture import review
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, CannotUndo, Changed, NearDuplicate, NotFound, OnrecordError
from onrecord.project import Project, require_store
from onrecord.record import form, summary_line
from onrecord.record.drafts import Draft
from onrecord.search import listing
from onrecord.shared import reconcile
from onrecord.store import history
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.store import Entry
from onrecord.store.writer import Writer
from onrecord.text import plural
from onrecord.web import draft_view, field_merge, record_page, view
from onrecord.web.draft_view import StoredDraft
from onrecord.web.field_merge import Merge
from onrecord.web.view import Notice, StoreChange

_MAX_DRAFTS = 20
"""Drafts on one page: each is compared with all records."""

_MAX_NAME = 200


class InboxPart(NamedTuple):
    """The part of the inbox that is on a page: the drafts of one store or of all, and the number of the page.

    Forms send it along as `from`, so that a decision leads back to where it was made.
    """

    store: str
    page: int

    @property
    def query(self) -> str:
        fields = {"store": self.store, "page": str(self.page) if self.page > 1 else ""}
        return urlencode({name: text for name, text in fields.items() if text})

    @property
    def address(self) -> str:
        return f"/inbox?{self.query}" if self.query else "/inbox"

    def at(self, page_number: int) -> InboxPart:
        return self._replace(page=page_number)


def requested_part(request: Request) -> InboxPart:
    """Return the part of the inbox that a request is about."""
    fields: Mapping[str, str] = request.query_params
    if request.method == "POST":
        fields = view.form_fields(request)
    if request.method == "POST" or "from" in fields:
        fields = dict(parse_qsl(fields.get("from", "")))
    return InboxPart(fields.get("store", "")[:_MAX_NAME], view.page_number(fields.get("page", "")))


class RefusedDecision(NamedTuple):
    """A decision that was not carried out, and why; shown at the draft that it is about."""

    anchor: str
    message: str
    into: str
    """What was typed as the record to merge into."""
    is_repeated: bool
    """True if another record says nearly the same."""


class OutdatedDraft(NamedTuple):
    """A draft that changed after the page was loaded, and what changed in it."""

    title: str
    changes: tuple[str, ...]


def inbox(request: Request) -> Response:
    view.site_of(request).project().require_a_store()
    return _page(request)


def _page(
    request: Request, *, outdated: OutdatedDraft | None = None, gone: str = "", refused: RefusedDecision | None = None
) -> Response:
    site, part = view.site_of(request), requested_part(request)
    all_drafts = draft_view.stored_drafts(site.project())
    stores = list(dict.fromkeys(stored.store for stored in all_drafts))
    part = part._replace(store=view.valid_choice(part.store, stores))
    drafts = [stored for stored in all_drafts if part.store in ("", stored.store)]
    pages = max(1, -(-len(drafts) // _MAX_DRAFTS))
    anchors = [stored.anchor for stored in drafts]
    position = anchors.index(refused.anchor) if refused and refused.anchor in anchors else -1
    part = part._replace(page=min(part.page, pages) if position < 0 else position // _MAX_DRAFTS + 1)
    first = (part.page - 1) * _MAX_DRAFTS
    shown = drafts[first : first + _MAX_DRAFTS]
    for stored in shown:
        if isinstance(stored.draft, Draft):
            site.remember(stored.draft.hash, stored.draft.record)
    return view.page(
        request,
        "inbox.html",
        title="Inbox",
        http_status=422 if refused else 409 if outdated or gone else 200,
        drafts=[draft_view.of(stored) for stored in shown],
        first=first + 1,
        total=len(drafts),
        pages=pages,
        part=part,
        stores=stores if len(stores) > 1 else (),
        outdated=outdated,
        gone=gone,
        refused=refused,
    )


def _requested_draft(request: Request) -> StoredDraft:
    """Return the draft that an address or a form names. Raises NotFound."""
    fields: Mapping[str, str] = view.form_fields(request) if request.method == "POST" else request.query_params
    name = fields.get("store") or view.PROJECT
    project = view.site_of(request).project()
    store = record_page.store_to_change(request, name)
    writer = draft_view.writer_of(require_store(store), project)
    return StoredDraft(name, writer, Inbox(store.root).find(request.path_params["name"]))


def decide(request: Request) -> Response:
    """Accept, merge or reject a draft, unless it is gone or changed after the page was loaded."""
    expected_hash = view.form_fields(request).get("hash", "")
    try:
        stored = _requested_draft(request)
    except NotFound as error:
        gone = fate_of_draft(request)
        if not gone:
            raise error
        return _page(request, gone=gone)
    try:
        if expected_hash or isinstance(stored.draft, Draft):
            stored.writer.store.expect(f"{paths.INBOX}/{stored.draft.name}.json", expected_hash)
        return _carry_out(request, stored)
    except Changed as error:
        now = Inbox(stored.writer.store.root).find(stored.draft.name)
        if isinstance(now, Draft) and now.hash != expected_hash:
            changes = view.changes_since(request, expected_hash, now.record)
            return _page(request, outdated=OutdatedDraft(now.record.title, changes))
        return _refuse(request, stored, error)
    except OnrecordError as error:
        return _refuse(request, stored, error)


def _refuse(request: Request, stored: StoredDraft, error: OnrecordError) -> Response:
    """Show the inbox with an error at the draft that it is about."""
    fields: Mapping[str, str] = view.form_fields(request) if request.method == "POST" else request.query_params
    is_repeated = isinstance(error, NearDuplicate)
    advice = "Merge it into that record, or tick “Save it anyway”." if is_repeated else view.advice_of(error)
    message = f"{error.message[:1].upper()}{error.message[1:]}. {advice}".rstrip()
    return _page(request, refused=RefusedDecision(stored.anchor, message, fields.get("into", ""), is_repeated))


_FATES = {"accept": "accepted", "merge": "merged into a record", "reject": "rejected", "edit draft": "renamed"}


def fate_of_draft(request: Request) -> str:
    """Return what became of a draft that is gone, from the log of this machine; empty if that is not known."""
    name = view.form_fields(request).get("store") or view.PROJECT
    store, path = record_page.store_to_change(request, name), f"{paths.INBOX}/{request.path_params['name']}.json"
    for change in reversed(history.read(store.root)):
        file = next((file for file in change.files if file.path == path), None)
        if file is not None and not file.after and not change.is_undone:
            by = "a person" if change.by == "person" else change.by
            title = file.title or history.title_in(file.before) or request.path_params["name"]
            return f"“{title}” was {_FATES.get(change.action, change.action)} by {by} at {change.at[11:16]} UTC."
    return ""


def _carry_out(request: Request, stored: StoredDraft) -> Response:
    action, fields = request.path_params["action"], view.form_fields(request)
    project, writer, draft = view.site_of(request).project(), stored.writer, stored.draft
    following = _following(project, stored, requested_part(request).store)
    if action == "reject":
        review.reject(writer, draft, project=project.root)
        title = draft.record.title if isinstance(draft, Draft) else draft.name
        return _decided(request, writer, f"Rejected: {title}", following)
    if isinstance(draft, BrokenDraft):
        raise draft.error
    if action == "accept":
        entry = review.accept(writer, draft, project=project.root, force=bool(fields.get("force")))
        return _decided(request, writer, f"Saved: {entry.memory.title}", following)
    if action != "merge":
        raise BadInput(f"unknown action for a draft: {action!r}", fix="use the buttons on the page")
    into = _target(stored, fields.get("into", ""))
    if fields.get("record"):
        return _merge_chosen(request, stored, into, following)
    entry = review.merge(writer, draft, into.path, project=project.root)
    return _decided(request, writer, f"Merged into: {entry.memory.title}", following)


def _decided(request: Request, writer: Writer, text: str, following: str) -> Response:
    return view.redirect_after_change(request, requested_part(request).address, writer.store, text, element=following)


def _following(project: Project, stored: StoredDraft, store: str) -> str:
    """Return the anchor of the draft after this one, which is decided on next; of the one before if it is the last.

    `store` is the one whose drafts are on the page; empty for all.
    """
    shown = [other for other in draft_view.stored_drafts(project) if store in ("", other.store)]
    anchors = [other.anchor for other in shown]
    position = anchors.index(stored.anchor) if stored.anchor in anchors else len(anchors)
    others = [*anchors[position + 1 :], *reversed(anchors[:position])]
    return others[0] if others else ""


def _target(stored: StoredDraft, text: str) -> Entry:
    """Return the record that a draft is to be merged into: its id, the beginning of it, or words of its title."""
    store, draft = stored.writer.store, stored.draft
    text = " ".join(text.split()) or (draft.updates if isinstance(draft, Draft) else "")
    if not text:
        raise BadInput("no record to merge into", fix="enter its id, or words of its title")
    return store.read(listing.resolve(store, text))


def show_merge(request: Request) -> Response:
    """Show what merging a draft into a record would change, field by field."""
    stored = _requested_draft(request)
    if isinstance(stored.draft, BrokenDraft):
        raise stored.draft.error
    try:
        into = _target(stored, request.query_params.get("into", ""))
        return _merge_page(request, stored, into, {})
    except OnrecordError as error:
        return _refuse(request, stored, error)


def _merge_page(
    request: Request,
    stored: StoredDraft,
    into_entry: Entry,
    answers: Mapping[str, str],
    *,
    messages: Mapping[str, str] | None = None,
    note: str = "",
) -> Response:
    draft = stored.draft
    assert isinstance(draft, Draft)
    merge, (before, after) = _merge_of(stored, into_entry), review.preview(stored.writer, draft, into_entry.path)
    is_conflict = draft.name.startswith(reconcile.CONFLICT)
    # Where two people disagree, a person has to choose; else what the draft says is why it is merged.
    usual = {} if is_conflict else {f"choice.{name}": field_merge.YOURS for name in merge.clashes}
    return view.page(
        request,
        "merge.html",
        title=f"Merge into: {into_entry.memory.title}",
        http_status=409 if note else 422 if messages else 200,
        draft=draft,
        store=stored.store,
        into=into_entry,
        into_address=view.address(stored.store, into_entry.path),
        choices=merge.choices({**usual, **answers}),
        line=field_merge.compare_words(summary_line.render(before), summary_line.render(after)),
        problems=messages or {},
        note=note,
        is_conflict=is_conflict,
        has_base=False,
        part=requested_part(request),
    )


def _merge_of(stored: StoredDraft, into_entry: Entry) -> Merge:
    assert isinstance(stored.draft, Draft)
    before, after = review.preview(stored.writer, stored.draft, into_entry.path)
    return field_merge.of_draft(before, after)


def _merge_chosen(request: Request, stored: StoredDraft, into_entry: Entry, following: str) -> Response:
    """Write the versions that a person chose, if the record is still the one that was shown."""
    answers, writer, draft = view.form_fields(request), stored.writer, stored.draft
    assert isinstance(draft, Draft)
    note = "The record was changed after you opened the page. Below is its present text; choose again."
    if answers["record"] != into_entry.hash:
        return _merge_page(request, stored, into_entry, answers, note=note)
    merge = _merge_of(stored, into_entry)
    try:
        patch = merge.patch(merge.chosen(answers))
    except OnrecordError as error:
        return _merge_page(request, stored, into_entry, answers, messages=dict(error.field_errors))
    project = view.site_of(request).project().root
    entry = review.merge_fields(writer, draft, into_entry, patch, project=project)
    return _decided(request, writer, f"Merged into: {entry.memory.title}", following)


_CANNOT_UNDO = "The page of the record has its history: each change there can be put back."


class ChosenDraft(NamedTuple):
    """A draft that was on the screen, in the version that was shown."""

    store: str
    name: str
    hash: str
    title: str


def accept_shown(request: Request) -> Response:
    """Accept the drafts that were on the screen, after one question."""
    fields, part = view.form_fields(request), requested_part(request)
    shown_drafts = _drafts_of_form(fields)
    if not fields.get("confirmed"):
        return view.page(
            request,
            "accept_all.html",
            title=f"Accept {plural(len(shown_drafts), 'draft')}?",
            drafts=shown_drafts,
            part=part,
        )
    project = view.site_of(request).project()
    accepted, warnings, changes = 0, [], []
    for name in dict.fromkeys(draft.store for draft in shown_drafts):
        writer = draft_view.writer_of(record_page.store_to_change(request, name), project)
        drafts = [_acceptable(writer, shown) for shown in shown_drafts if shown.store == name]
        try:
            together = [draft for draft in drafts if isinstance(draft, Draft)]
            accepted += len(review.accept_group(writer, together, project=project.root)) if together else 0
        except OnrecordError as error:
            warnings.append(f"{name}: {error.message}")
            continue
        warnings += [*writer.store.warnings, *(reason for reason in drafts if isinstance(reason, str))]
        changes += [StoreChange(name, writer.store.last_change)] if together and writer.store.last_change else []
    view.site_of(request).check_again()
    notice = Notice(f"Saved {plural(accepted, 'record')}.", tuple(changes), tuple(warnings))
    return view.redirect(request, part.address, notice)


def _drafts_of_form(form_values: Mapping[str, str]) -> list[ChosenDraft]:
    """Return the drafts that a form names, without those that are not ticked."""
    is_confirmed = bool(form_values.get("confirmed"))
    numbers = [
        key[len("draft.") : -len(".name")] for key in form_values if key.startswith("draft.") and key.endswith(".name")
    ]
    return [
        ChosenDraft(*(form_values.get(f"draft.{number}.{part}", "") for part in ChosenDraft._fields))
        for number in numbers
        if not is_confirmed or form_values.get(f"draft.{number}.accept")
    ]


def _acceptable(writer: Writer, shown_draft: ChosenDraft) -> Draft | str:
    """Return a draft that may be accepted together with others, or the reason why it may not."""
    try:
        draft = Inbox(writer.store.root).get(shown_draft.name)
    except OnrecordError as error:
        return f"{shown_draft.title}: {error.message}"
    if draft.hash != shown_draft.hash:
        return f"{shown_draft.title}: it was changed after the page was loaded"
    if review.needs_own_decision(writer, draft):
        return f"{shown_draft.title}: it changes, replaces or repeats a record, so decide on it alone"
    return draft


def undo(request: Request) -> Response:
    """Undo what a notice reports, and go back to the page where that was asked for."""
    fields = view.form_fields(request)
    undone, warnings = [], []
    for name in (name for name in fields if name.startswith("change")):
        store_name = fields.get(name.replace("change", "store"), view.PROJECT)
        store = require_store(record_page.store_by_name(request, store_name))
        try:
            change = history.undo(store, fields[name]).change
        except (CannotUndo, NotFound) as error:
            warnings.append(f"{error.message[:1].upper()}{error.message[1:]}. {_CANNOT_UNDO}")
            continue
        undone.append(f"{form.field_label(change.action)} of {change.at[:16].replace('T', ' ')}")
        warnings += store.warnings
    view.site_of(request).check_again()
    text = f"Undone: {', '.join(undone)}" if undone else "Nothing was undone."
    return view.redirect(request, _page_after_undo(request), Notice(text, warnings=tuple(warnings)))


def _page_after_undo(request: Request) -> str:
    """Return the address of the page that the undo was pressed on; the start page if that page is gone with it."""
    page = view.page_before(request)
    parts: Sequence[str] = unquote(page.partition("?")[0]).split("/")
    if parts[1] == "inbox" and len(parts) > 2:
        return "/inbox"
    if len(parts) < 5 or parts[1] != "record":
        return page
    path = f"{parts[3]}/{parts[4]}"
    try:
        record_page.store_by_name(request, parts[2]).read(path)
    except OnrecordError:
        return "/"
    return view.address(parts[2], path)


ROUTES = (
    Route("/inbox", inbox),
    Route("/inbox/accept", accept_shown, methods=["POST"]),
    Route("/inbox/{name}/merge", show_merge),
    Route("/inbox/{name}/{action}", decide, methods=["POST"]),
    Route("/undo", undo, methods=["POST"]),
)
