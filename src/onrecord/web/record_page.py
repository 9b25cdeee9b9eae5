"""`/record/…`: one record as the agent sees it, its fields, files, history and usage, and the buttons to change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories, paths
from onrecord.capture import sharing
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, NotFound, OnrecordError
from onrecord.freshness import anchors, check, git_history
from onrecord.project import Project
from onrecord.record import lifecycle, schema, summary_line, validity
from onrecord.record.export import value_text
from onrecord.record.memory import Memory
from onrecord.search import listing
from onrecord.settings import load_settings
from onrecord.shared import remotes, replicas
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.usage import event_log, usage_log
from onrecord.usage.event_log import Feedback, Showing
from onrecord.usage.usage_log import Counts
from onrecord.web import agent_page, record_versions, view
from onrecord.web.view import Notice

_MAX_CHAIN_LENGTH = 20
_WEEKS = 12
_MAX_SHOWINGS = 5


class FieldView(NamedTuple):
    """A field of a record as the page shows it: one text, or a list of items."""

    label: str
    text: str = ""
    items: tuple[str, ...] = ()
    is_ordered: bool = False


class ChainEntry(NamedTuple):
    """A record in a chain of records that replaced each other."""

    title: str
    address: str
    since: str
    is_this: bool


class FileView(NamedTuple):
    """A file that a record is about, and its freshness."""

    name: str
    state: str = ""
    sentence: str = ""
    changes: tuple[str, ...] = ()
    """Diff since the record was saved."""


class UsageView(NamedTuple):
    """Usage counts of a record: in total, and for each week in which it was used."""

    total: Counts
    weeks: tuple[tuple[str, Counts], ...]
    broken: str
    """How often an agent broke it so that the user corrected it, and when last; empty if never."""
    showings: tuple[Showing, ...]
    """When agents were shown it last, and what became of it."""
    feedback: Feedback


class RefusedChange(NamedTuple):
    """A change that was refused, and why: the record changed after the page was loaded, or what was typed is wrong."""

    action: str
    text: str
    changes: tuple[str, ...] = ()
    """What changed in the record."""
    message: str = ""
    """What is wrong."""


def show(request: Request) -> Response:
    return _page(request, *requested_record(request))


def _page(request: Request, store: Store, entry: Entry, refused_change: RefusedChange | None = None) -> Response:
    site = view.site_of(request)
    site.remember(entry.hash, entry.memory)
    record, is_static, project = entry.memory, site.is_static, site.project()
    prefix = paths.prefix_of(store.root)
    versions = [] if is_static else record_versions.known(store, entry)
    return view.page(
        request,
        "record.html",
        title=record.title,
        http_status=200 if refused_change is None else 422 if refused_change.message else 409,
        refused=refused_change,
        outdated=refused_change if refused_change and not refused_change.message else None,
        typed=view.form_fields(request) if refused_change else {},
        record=record,
        entry=entry,
        store=request.path_params["store"],
        is_shared=paths.is_shared(prefix),
        is_read_only=_is_read_only(prefix),
        shown_path=prefix + entry.path,
        hidden_by=project.hidden(store, [record.id]).get(record.id, ""),
        address=view.address(request.path_params["store"], entry.path),
        line=summary_line.render(record),
        shown=agent_page.texts(project, store.root, record),
        fields=list(fields_of(record)),
        chain=_replacement_chain(store, entry, request.path_params["store"]),
        files=list(_files(store, record, shows_lines=not is_static)),
        is_replaced=bool(validity.successor(record, store.records_named)),
        status=validity.status(record, store.records_named),
        one_sided=[link.note for link in validity.one_sided_of(record, store.records_named)],
        usage=None if is_static else _usage(store, entry),
        history=record_versions.changes(entry, versions),
        targets=[] if is_static else _share_targets(prefix),
    )


def _share_targets(prefix: str) -> list[str]:
    """Return the names of the shared stores that a record of the store with this prefix can be shared to."""
    return [remote.name for remote in remotes.usable() if f"{remote.name}:" != prefix]


def _usage(store: Store, entry: Entry) -> UsageView:
    weeks = usage_log.per_week(store.root, _WEEKS, entry.path)
    total = usage_log.per_record(store.root).get(entry.path, Counts())
    broken = usage_log.corrections(store.root).get(entry.path)
    weeks_of_use = tuple((week, count) for week, count in weeks if count != Counts())
    events = event_log.read(store.root)
    showings = tuple(event_log.showings(events, _MAX_SHOWINGS, entry.path))
    feedback = event_log.feedback(store.root).get(entry.path, Feedback())
    return UsageView(total, weeks_of_use, broken.summary if broken else "", showings, feedback)


def requested_record(request: Request) -> tuple[Store, Entry]:
    store = store_by_name(request, request.path_params["store"])
    return store, store.read(f"{request.path_params['folder']}/{request.path_params['name']}")


def store_by_name(request: Request, name: str) -> Store:
    """Return a store by its name in addresses: `project`, `user` or a shared store. Raises NotFound.

    A page shows what a shared store has; a change is made in its replica.
    """
    store = _named_store(request, name)
    return Store(paths.working_root(store.root)) if request.method == "POST" else store


def store_to_change(request: Request, name: str) -> Store:
    """Return a store by its name in addresses, where changes to it are made. Raises NotFound."""
    return Store(paths.working_root(_named_store(request, name).root))


def _named_store(request: Request, name: str) -> Store:
    project = view.site_of(request).project()
    if name in (view.PROJECT, view.USER):
        return project.user if name == view.USER else project.store
    for store_ref in project.known_refs:
        if name in (view.name_in_address(store_ref.prefix), paths.store_name(store_ref.prefix)):
            return Store(store_ref.root)
    raise NotFound(f"no store called {name!r}", fix="onrecord list")


def writable_stores(project: Project) -> dict[str, Store]:
    """Return the stores that this user may write a new record to, by their names in addresses: the project's first."""
    stores = {view.PROJECT: project.store, view.USER: project.user}
    for store_ref in project.known_refs:
        name, root = view.name_in_address(store_ref.prefix), paths.working_root(store_ref.root)
        if not _is_read_only(store_ref.prefix):
            stores.setdefault(name, Store(root))
    return stores


def _is_read_only(prefix: str) -> bool:
    """True for a shared store that takes nothing from this user, as of the last sync."""
    return paths.is_shared(prefix) and replicas.Replica(paths.store_name(prefix)).state.is_read_only


def fields_of(record: Memory) -> Iterator[FieldView]:
    ordered = {
        field.name
        for field in schema.content_fields(record.category)
        if isinstance(field.kind, schema.ListOf) and field.kind.is_ordered
    }
    defaults = categories.CATEGORIES[record.category].defaults
    names = sorted((field.name for field in schema.content_fields(record.category)), key=lambda name: name in defaults)
    for name in dict.fromkeys((*names, *sorted(record.content))):
        value = record.content.get(name)
        if value in (None, "", []):
            continue
        label = name.replace("_", " ").capitalize()
        yield (
            FieldView(label, items=tuple(map(value_text, value)), is_ordered=name in ordered)
            if isinstance(value, list)
            else FieldView(label, value_text(value))
        )


def _replacement_chain(store: Store, entry: Entry, name: str) -> list[ChainEntry]:
    """Return the records that superseded each other, with this one among them, oldest first; empty if it is alone."""
    before = list(_chain(store, entry, lambda record: _predecessor(store, record)))
    after = list(_chain(store, entry, lambda record: validity.successor(record, store.records_named)))
    chain = [*reversed(before), entry, *after]
    if len(chain) == 1:
        return []
    return [
        ChainEntry(link.memory.title, view.address(name, link.path), link.memory.created_at, link is entry)
        for link in chain
    ]


def _predecessor(store: Store, record: Memory) -> str:
    """Return the first record that this one replaces, if both say so."""
    olds = ((name, store.records_named(name)) for name in record.supersedes)
    return next((name for name, records in olds if any(old.superseded_by == record.id for old in records)), "")


def _chain(store: Store, entry: Entry, next_of: Callable[[Memory], str]) -> Iterator[Entry]:
    visited = {entry.path}
    for _ in range(_MAX_CHAIN_LENGTH):
        reference = next_of(entry.memory)
        try:
            entry = store.get(reference) if reference else entry
        except OnrecordError:
            return
        if entry.path in visited:
            return
        visited.add(entry.path)
        yield entry


def _files(store: Store, record: Memory, *, shows_lines: bool) -> Iterator[FileView]:
    root = anchors.project_root(store.root)
    indexed = anchors.to_indexed(record) if root else ()
    freshness = check.Freshness(root)
    for anchor in indexed[: check.MAX_ANCHORS]:
        verdict = freshness.check(anchor)
        name = f"{anchor.path}#{anchor.symbol}" if anchor.symbol else anchor.path
        changes = []
        if shows_lines and verdict.state == check.CHANGED:
            changes = git_history.changed_lines(root, verdict.anchor.id, verdict.now)
        yield FileView(name, verdict.state, check.about_file(verdict), tuple(changes))
    anchored = {anchor.path for anchor in indexed}
    yield from (FileView(file) for file in record.related_files if file not in anchored)


class ChangeRequest(NamedTuple):
    """A button that was pressed: the record, the hash of the version on the page, and the text beside the button."""

    writer: Writer
    entry: Entry
    hash: str
    text: str


def _supersede(change_request: ChangeRequest) -> Entry:
    # A picker sends an id; without a script, people type the beginning of one or words of the title.
    new = listing.resolve(change_request.writer.store, change_request.text)
    return change_request.writer.supersede(change_request.entry.path, new, expected_hash=change_request.hash)[0]


def _put_back(change_request: ChangeRequest) -> Entry:
    """Put back one field as it was before a change, or with `version HASH` all of an earlier version."""
    verb, _, name = change_request.text.partition(" ")
    record, versions = (
        change_request.entry.memory,
        record_versions.known(change_request.writer.store, change_request.entry),
    )
    if verb == "version":
        version = next((version for version in versions if version.hash == name), None)
        if version is None:
            raise NotFound("this version is not known here any more", fix="onrecord log")
        patch = record_versions.patch_to(record, version.record)
        summary = f"Put back the version of {version.record.updated_at[:10]}"
    else:
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 4 else len(record.changes)
        entry = record.changes[number] if number < len(record.changes) else None
        old = record_versions.old_value(versions, entry) if entry else None
        if entry is None or old is None or not old.is_whole or not record_versions.is_editable(entry.field):
            raise BadInput("this change cannot be put back", fix="edit the record")
        patch = record_versions.patch_of(entry.field, old.value)
        summary = f"Put back {entry.field.removeprefix('content.')} of before {entry.date[:10]}"
    return change_request.writer.update(
        change_request.entry.path, patch, change_request.hash, summary=summary, may_shrink=True
    )


CHANGES: dict[str, Callable[[ChangeRequest], Entry]] = {
    "retire": lambda change: change.writer.retire(change.entry.path, change.text, expected_hash=change.hash),
    "restore": lambda change: change.writer.restore(change.entry.path, expected_hash=change.hash),
    "archive": lambda change: change.writer.archive(change.entry.path, change.text, expected_hash=change.hash),
    "unarchive": lambda change: change.writer.unarchive(change.entry.path, expected_hash=change.hash),
    "reanchor": lambda change: change.writer.reanchor(change.entry.path, {}, expected_hash=change.hash),
    "supersede": _supersede,
    "put-back": _put_back,
}
"""The function for each button."""

_NEEDS_TEXT = {
    "retire": "a reason",
    "archive": "a reason",
    "supersede": "the record that replaces it",
    "put-back": "the change",
    "share": "the shared store",
}
_NOTICES = {
    "retire": "Retired.",
    "restore": "Back in use.",
    "archive": "Archived.",
    "unarchive": "Back in use.",
    "reanchor": "Confirmed for the current files.",
    "supersede": "Superseded.",
    "put-back": "Put back.",
}


def change(request: Request) -> Response:
    """Carry out a change, unless the record changed after the page was loaded."""
    store, entry = requested_record(request)
    action = request.path_params["action"]
    fields = view.form_fields(request)
    if action not in CHANGES and action != "share":
        raise BadInput(f"unknown action for a record: {action!r}", fix="use the buttons on its page")
    text = " ".join(fields.get("text", "").split())
    if action in _NEEDS_TEXT and not text:
        raise BadInput(f"missing: {_NEEDS_TEXT[action]}", fix="go back and fill it in")
    # With an empty hash the writer would not compare versions.
    writer, expected_hash = Writer(store, view.site_of(request).project().settings), fields.get("hash") or "unknown"
    try:
        if action == "share":
            return _share(request, store, entry, expected_hash, text)
        after = CHANGES[action](ChangeRequest(writer, entry, expected_hash, text))
    except Changed:
        now = store.read(entry.path)
        changes = view.changes_since(request, expected_hash, now.memory)
        return _page(request, store, now, RefusedChange(action, text, changes))
    except OnrecordError as error:
        advice = view.advice_of(error)
        message = f"{error.message[:1].upper()}{error.message[1:]}. {advice}".rstrip()
        return _page(request, store, entry, RefusedChange(action, text, message=message))
    address = view.address(request.path_params["store"], after.path)
    return view.redirect_after_change(request, address, store, _NOTICES[action])


def _share(request: Request, store: Store, entry: Entry, expected_hash: str, target: str) -> Response:
    """Put a copy of a record into the replica of a shared store; the next sync sends it. Raises OnrecordError."""
    store.expect(entry.path, expected_hash)
    remote, record, fields = remotes.get(target), entry.memory, view.form_fields(request)
    lifecycle.require_shareable(record)
    replica = replicas.prepare(remote.name)
    writer = Writer(Store(replica.store), load_settings(replica.store))
    prefix = paths.prefix_of(store.root)
    source = f"the store {paths.store_name(prefix)}" if prefix != paths.PROJECT_PREFIX else "a project"
    copy = lifecycle.shared_copy(record, scope=record.scope._replace(unknown={}), source=source, now=writer.now)
    shared_copy = sharing.already_shared(writer.store, copy)
    if shared_copy is None:
        how = fields.get("how", "")
        other = listing.resolve(writer.store, fields.get("other", "")) if how in ("updates", "supersedes") else ""
        if not other:
            fix = "choose that it updates or replaces {}".format
            sharing.refuse_same(writer.store, copy, remote.name, fix)
        draft = sharing.draft_of(writer.store, copy, **({how: writer.store.read(other).memory.id} if other else {}))
        shared_copy = sharing.put(writer, draft, as_draft=remote.review or replica.state.asks_for_review)
    left_out = f"Left out: {', '.join(sharing.left_out(record))}."
    outcomes = {
        "unchanged": f"{remote.name} already has it.",
        "drafted": f"Put into the inbox of {remote.name}. {left_out}",
        "updated": f"Updated the record of {remote.name}. {left_out}",
    }
    text = outcomes.get(shared_copy.action, f"Shared with {remote.name}. {left_out}")
    address = view.address(request.path_params["store"], entry.path)
    if shared_copy.action == "unchanged":
        return view.redirect(request, address, Notice(text))
    return view.redirect_after_change(request, address, writer.store, text)


_ADDRESS = "/record/{store}/{folder}/{name}"
ROUTES = (Route(_ADDRESS, show), Route(_ADDRESS + "/{action}", change, methods=["POST"]))
