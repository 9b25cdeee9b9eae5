"""`/inbox`: drafts of all stores to review, each beside its source and similar records; and `/undo`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.capture import review, similar
from onrecord.capture.review import SourcePassage
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, NotFound, OnrecordError
from onrecord.freshness import anchors
from onrecord.project import Project, require_store
from onrecord.record import author, check, form, memory, summary_line
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.search import listing
from onrecord.settings import load_settings
from onrecord.shared import reconcile, replicas
from onrecord.store import history
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.text import plural
from onrecord.web import field_merge, record_page, view
from onrecord.web.field_merge import Marked, Merge
from onrecord.web.record_page import FieldView
from onrecord.web.view import Notice

_MAX_DRAFTS = 20
"""Drafts on one page: each is compared with all records."""

_MAX_DIFFERENCES = 12


class Difference(NamedTuple):
    """A field that two records, or two versions, have differently."""

    label: str
    values: Marked


class SimilarRecord(NamedTuple):
    """A record that is similar to a draft, and how they differ."""

    id: str
    title: str
    address: str
    is_same: bool
    differences: tuple[Difference, ...]


class OutdatedDraft(NamedTuple):
    """A draft that changed after the page was loaded, and what changed in it."""

    title: str
    changes: tuple[str, ...]


class StoredDraft(NamedTuple):
    """A draft of a store, by the name of the store in addresses."""

    store: str
    writer: Writer
    draft: Draft | BrokenDraft

    @property
    def made_at(self) -> str:
        return getattr(self.draft, "made_at", "")

    @property
    def anchor(self) -> str:
        return view.draft_anchor(self.store, self.draft.name)


class DraftView(NamedTuple):
    """A draft as the page shows it."""

    name: str
    store: str
    anchor: str
    title: str
    category: str
    made_at: str
    hash: str = ""
    """Hash of the file; empty if it cannot be read."""
    line: str = ""
    """What an agent will be shown."""
    fields: tuple[FieldView, ...] = ()
    evidence: tuple[str, ...] = ()
    note: str = ""
    """What of its source is not in it."""
    passage: SourcePassage | None = None
    triggers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    similar: tuple[SimilarRecord, ...] = ()
    updates: str = ""
    supersedes: str = ""
    source: str = ""
    author: str = ""
    """Who wrote it, as far as the program could tell."""
    changes: tuple[Difference, ...] = ()
    """What it would change in the record that it updates."""
    is_conflict: bool = False
    """True if it is our side of a conflict in a shared store."""
    error: str = ""
    """The reason if the draft cannot be read or applied."""

    @property
    def is_readable(self) -> bool:
        return bool(self.hash)

    @property
    def into(self) -> str:
        """The record that it would most probably be merged into."""
        return self.updates or (self.similar[0].id if self.similar else "")


def inbox(request: Request) -> Response:
    view.site_of(request).project().require_a_store()
    return _page(request)


def _stored_drafts(project: Project) -> list[StoredDraft]:
    """Return the drafts of all stores whose drafts this user may decide on, oldest first."""
    drafts = [
        StoredDraft(name, writer, draft)
        for name, writer in _writers(project)
        for draft in Inbox(writer.store.root).scan()
    ]
    return sorted(drafts, key=lambda stored: (stored.made_at, stored.store, stored.draft.name))


def _writers(project: Project) -> Iterator[tuple[str, Writer]]:
    """Yield a writer for each store whose drafts this user may decide on, with the store's name in addresses."""
    for store_ref in project.known_refs:
        root, name = paths.working_root(store_ref.root), view.name_in_address(store_ref.prefix)
        is_shared = paths.is_shared(store_ref.prefix)
        state = replicas.Replica(name).state if is_shared else replicas.SyncState()
        if not (state.asks_for_review or state.is_read_only):
            yield name, _writer(Store(root), project)


def _writer(store: Store, project: Project) -> Writer:
    is_own = store.root == project.store.root
    store.recover()
    return Writer(store, project.settings if is_own else load_settings(store.root))


def _page(request: Request, *, outdated: OutdatedDraft | None = None, gone: str = "") -> Response:
    all_drafts = _stored_drafts(view.site_of(request).project())
    stores = list(dict.fromkeys(stored.store for stored in all_drafts))
    store = view.valid_choice(request.query_params.get("store", ""), stores)
    drafts = [stored for stored in all_drafts if store in ("", stored.store)]
    shown = drafts[:_MAX_DRAFTS]
    for stored in shown:
        if isinstance(stored.draft, Draft):
            view.site_of(request).remember(stored.draft.hash, stored.draft.record)
    return view.page(
        request,
        "inbox.html",
        title="Inbox",
        http_status=409 if outdated or gone else 200,
        drafts=[_draft_view(stored) for stored in shown],
        total=len(drafts),
        stores=stores if len(stores) > 1 else (),
        store=store,
        outdated=outdated,
        gone=gone,
    )


def _draft_view(stored: StoredDraft) -> DraftView:
    draft, writer = stored.draft, stored.writer
    head = (draft.name, stored.store, stored.anchor)
    if isinstance(draft, BrokenDraft):
        return DraftView(*head, draft.name, "", "", error=draft.error.message)
    record, error = draft.record, ""
    after: Memory = record
    changes: tuple[Difference, ...] = ()
    if draft.updates and writer.store.has(draft.updates):
        try:
            before, after = review.preview(writer, draft)
            changes = tuple(_differences(before, after))
        except OnrecordError as problem:
            error = f"This change cannot be applied: {problem.message}"
    return DraftView(
        *head,
        record.title,
        record.category,
        draft.made_at,
        draft.hash,
        summary_line.render(after),
        fields=tuple(record_page.fields_of(record)),
        evidence=tuple(draft.evidence),
        note=draft.note,
        passage=review.source_passage(anchors.project_root(writer.store.root), record),
        triggers=record.triggers,
        tags=record.tags,
        files=record.related_files,
        checks=tuple(map(check.describe, record.checks)),
        similar=() if draft.updates else tuple(_similar(stored, record)),
        updates=draft.updates,
        supersedes=draft.replaces,
        source=record.source,
        author=author.described(record.origin, record.agent, record.host),
        changes=changes,
        is_conflict=draft.name.startswith(reconcile.CONFLICT),
        error=error,
    )


def _similar(stored: StoredDraft, record: Memory) -> Iterator[SimilarRecord]:
    for match in similar.find(stored.writer.store, record):
        other = match.memory
        address = view.address(stored.store, match.entry.path)
        differences = tuple(_differences(other, record))[:_MAX_DIFFERENCES]
        yield SimilarRecord(other.id, other.title, address, match.is_same, differences)


def _differences(before: Memory, after: Memory) -> Iterator[Difference]:
    """Yield the fields of two records that differ and that a person reads."""
    old, new = memory.to_json(before), memory.to_json(after)
    for name in field_merge.differing(old, new):
        if name in ("id", "source", "confidence"):
            continue
        kind = field_merge.kind_of(after.category, name)
        texts = [field_merge.as_text(kind, field_merge.value_at(side, name)) for side in (old, new)]
        yield Difference(field_merge.label_of(name), field_merge.compare_words(*texts))


def _requested_draft(request: Request) -> StoredDraft:
    """Return the draft that an address or a form names. Raises NotFound."""
    fields: Mapping[str, str] = view.form_fields(request) if request.method == "POST" else request.query_params
    name = fields.get("store") or view.PROJECT
    project = view.site_of(request).project()
    store = record_page.store_to_change(request, name)
    writer = _writer(require_store(store), project)
    return StoredDraft(name, writer, Inbox(store.root).find(request.path_params["name"]))


def decide(request: Request) -> Response:
    """Accept, merge or reject a draft, unless it is gone or changed after the page was loaded."""
    expected_hash = view.form_fields(request).get("hash", "")
    try:
        stored = _requested_draft(request)
    except NotFound as error:
        gone = _fate(request)
        if not gone:
            raise error
        return _page(request, gone=gone)
    try:
        if expected_hash or isinstance(stored.draft, Draft):
            stored.writer.store.expect(f"{paths.INBOX}/{stored.draft.name}.json", expected_hash)
        return _carry_out(request, stored)
    except Changed:
        now = Inbox(stored.writer.store.root).find(stored.draft.name)
        if isinstance(now, Draft) and now.hash != expected_hash:
            changes = view.changes_since(request, expected_hash, now.record)
            return _page(request, outdated=OutdatedDraft(now.record.title, changes))
        raise


_FATES = {"accept": "accepted", "merge": "merged into a record", "reject": "rejected", "edit draft": "renamed"}


def _fate(request: Request) -> str:
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
    following = _following(project, stored)
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
    return view.redirect_after_change(request, "/inbox", writer.store, text, element=following)


def _following(project: Project, stored: StoredDraft) -> str:
    """Return the anchor of the draft after this one, which is decided on next; of the one before if it is the last."""
    anchors = [other.anchor for other in _stored_drafts(project)]
    position = anchors.index(stored.anchor) if stored.anchor in anchors else len(anchors)
    others = [*anchors[position + 1 :], *reversed(anchors[:position])]
    return others[0] if others else ""


def _target(stored: StoredDraft, text: str) -> Entry:
    """Return the record that a draft is to be merged into: its id, the beginning of it, or words of its title."""
    store, draft = stored.writer.store, stored.draft
    text = " ".join(text.split()) or (draft.updates if isinstance(draft, Draft) else "")
    if not text:
        raise BadInput("no record to merge into", fix="go back and enter its id")
    return store.read(listing.resolve(store, text))


def show_merge(request: Request) -> Response:
    """Show what merging a draft into a record would change, field by field."""
    stored = _requested_draft(request)
    if isinstance(stored.draft, BrokenDraft):
        raise stored.draft.error
    return _merge_page(request, stored, _target(stored, request.query_params.get("into", "")), {})


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
    merge = _merge_of(stored, into_entry)
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
        problems=messages or {},
        note=note,
        is_conflict=is_conflict,
        has_base=False,
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


class ChosenDraft(NamedTuple):
    """A draft that was on the screen, in the version that was shown."""

    store: str
    name: str
    hash: str
    title: str


def accept_shown(request: Request) -> Response:
    """Accept the drafts that were on the screen, after one question."""
    fields = view.form_fields(request)
    chosen = _chosen(fields)
    if not fields.get("confirmed"):
        return view.page(request, "accept_all.html", title=f"Accept {plural(len(chosen), 'draft')}?", drafts=chosen)
    project = view.site_of(request).project()
    accepted, left = 0, []
    store = require_store(project.store)
    for name in dict.fromkeys(draft.store for draft in chosen):
        writer = _writer(record_page.store_to_change(request, name), project)
        together = []
        for shown in (draft for draft in chosen if draft.store == name):
            draft, reason = _acceptable(writer, shown)
            left += [f"{shown.title}: {reason}"] if draft is None else []
            together += [draft] if draft is not None else []
        if together:
            accepted += len(review.accept_group(writer, together, project=project.root))
            store = writer.store
    text = f"Saved {plural(accepted, 'record')}."
    view.site_of(request).check_again()
    name = view.name_in_address(paths.prefix_of(store.root))
    notice = Notice(text, store.last_change, name, (*store.warnings, *left))
    return view.redirect(request, "/inbox", notice)


def _chosen(form_values: Mapping[str, str]) -> list[ChosenDraft]:
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


def _acceptable(writer: Writer, chosen: ChosenDraft) -> tuple[Draft | None, str]:
    """Return a draft that may be accepted together with others, or the reason why it may not."""
    try:
        draft = Inbox(writer.store.root).get(chosen.name)
    except OnrecordError as error:
        return None, error.message
    if draft.hash != chosen.hash:
        return None, "it was changed after the page was loaded"
    if review.needs_own_decision(writer, draft):
        return None, "it changes, replaces or repeats a record, so decide on it alone"
    return draft, ""


def undo(request: Request) -> Response:
    """Undo a change of a store, and go back to the page where that was asked for."""
    fields = view.form_fields(request)
    store = require_store(record_page.store_by_name(request, fields.get("store", view.PROJECT)))
    result = history.undo(store, fields.get("change", ""))
    view.site_of(request).check_again()
    text = f"Undone: {form.field_label(result.change.action)} of {result.change.at[:16]}"
    return view.redirect(request, _page_after_undo(request), Notice(text, warnings=tuple(store.warnings)))


def _page_after_undo(request: Request) -> str:
    """Return the address of the page that the undo was pressed on; the start page if that page is gone with it."""
    page = view.page_before(request)
    parts: Sequence[str] = unquote(page.partition("?")[0]).split("/")
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
