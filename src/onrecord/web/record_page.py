"""`/record/…`: one record with its text, history, files and usage, and the buttons that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, NotFound, OnrecordError
from onrecord.freshness import anchors, check, git_history
from onrecord.record import links, schema
from onrecord.record.export import value_text
from onrecord.record.memory import Memory
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts
from onrecord.web import view

_MAX_CHAIN_LENGTH = 20
_WEEKS = 12


class FieldView(NamedTuple):
    """A field of a record as the page shows it: one text, or a list of items."""

    label: str
    text: str = ""
    items: tuple[str, ...] = ()


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
    broken: str = ""
    """How often an agent broke it so that the user corrected it, and when last; empty if never."""


class RefusedChange(NamedTuple):
    """A change that was refused because the record changed after the page was loaded, and what changed in it."""

    action: str
    text: str
    changes: tuple[str, ...]


def show(request: Request) -> Response:
    return _page(request, *requested_record(request))


def _page(request: Request, store: Store, entry: Entry, refused_change: RefusedChange | None = None) -> Response:
    view.site_of(request).remember(entry.hash, entry.memory)
    record, is_static = entry.memory, view.site_of(request).is_static
    return view.page(
        request,
        "record.html",
        title=record.title,
        http_status=409 if refused_change else 200,
        outdated=refused_change,
        record=record,
        entry=entry,
        store=request.path_params["store"],
        shown_path=paths.prefix_of(store.root) + entry.path,
        hidden_by=view.site_of(request).project().hidden(store, [record.id]).get(record.id, ""),
        address=view.address(request.path_params["store"], entry.path),
        fields=list(fields_of(record)),
        chain=_replacement_chain(store, entry, request.path_params["store"]),
        files=list(_files(store, record, shows_lines=not is_static)),
        is_replaced=bool(links.successor(record, store.records_named)),
        one_sided=[link.note for link in links.one_sided_of(record, store.records_named)],
        usage=None if is_static else _usage(store, entry),
    )


def _usage(store: Store, entry: Entry) -> UsageView:
    weeks = usage_log.per_week(store.root, _WEEKS, entry.path)
    total = usage_log.per_record(store.root).get(entry.path, Counts())
    broken = usage_log.corrections(store.root).get(entry.path)
    weeks_of_use = tuple((week, count) for week, count in weeks if count != Counts())
    return UsageView(total, weeks_of_use, broken.summary if broken else "")


def requested_record(request: Request) -> tuple[Store, Entry]:
    store = store_by_name(request, request.path_params["store"])
    return store, store.read(f"{request.path_params['folder']}/{request.path_params['name']}")


def store_by_name(request: Request, name: str) -> Store:
    """Return a store by its name in addresses: `project`, `user` or a shared store. Raises NotFound."""
    project = view.site_of(request).project()
    if name in (view.PROJECT, view.USER):
        return project.user if name == view.USER else project.store
    for store_ref in project.known_refs:
        if view.name_in_address(store_ref.prefix) == name:
            # A page shows what a shared store has; a change is made in its replica.
            return Store(paths.working_root(store_ref.root) if request.method == "POST" else store_ref.root)
    raise NotFound(f"no store called {name!r}", fix="onrecord list")


def fields_of(record: Memory) -> Iterator[FieldView]:
    names = [field.name for field in schema.content_fields(record.category)]
    for name in dict.fromkeys((*names, *sorted(record.content))):
        value = record.content.get(name)
        if value in (None, "", []):
            continue
        label = name.replace("_", " ").capitalize()
        yield (
            FieldView(label, items=tuple(map(value_text, value)))
            if isinstance(value, list)
            else FieldView(label, value_text(value))
        )


def _replacement_chain(store: Store, entry: Entry, name: str) -> list[ChainEntry]:
    """Return the records that superseded each other, with this one among them, oldest first; empty if it is alone."""
    before = list(_chain(store, entry, lambda record: _predecessor(store, record)))
    after = list(_chain(store, entry, lambda record: links.successor(record, store.records_named)))
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
    return next((name for name, named in olds if any(old.superseded_by == record.id for old in named)), "")


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
        yield FileView(name, verdict.state, check.sentence(verdict), tuple(changes))
    anchored = {anchor.path for anchor in indexed}
    yield from (FileView(file) for file in record.related_files if file not in anchored)


CHANGES: dict[str, Callable[[Writer, str, str, str], Entry]] = {
    "retire": lambda writer, path, expected_hash, reason: writer.retire(path, reason, expected_hash=expected_hash),
    "restore": lambda writer, path, expected_hash, _: writer.restore(path, expected_hash=expected_hash),
    "archive": lambda writer, path, expected_hash, reason: writer.archive(path, reason, expected_hash=expected_hash),
    "unarchive": lambda writer, path, expected_hash, _: writer.unarchive(path, expected_hash=expected_hash),
    "reanchor": lambda writer, path, expected_hash, _: writer.reanchor(path, {}, expected_hash=expected_hash),
    "supersede": lambda writer, path, expected_hash, new: writer.supersede(path, new, expected_hash=expected_hash)[0],
}
"""The function for each button: takes the path, the hash of the version on the page, and the text beside the button."""

_NEEDS_TEXT = {"retire": "a reason", "archive": "a reason", "supersede": "the record that replaces it"}
_NOTICES = {
    "retire": "Retired.",
    "restore": "Back in use.",
    "archive": "Archived.",
    "unarchive": "Back in use.",
    "reanchor": "Confirmed for the current files.",
    "supersede": "Superseded.",
}


def change(request: Request) -> Response:
    """Carry out a change, unless the record changed after the page was loaded."""
    store, entry = requested_record(request)
    action = request.path_params["action"]
    fields = view.form_fields(request)
    if action not in CHANGES:
        raise BadInput(f"unknown action for a record: {action!r}", fix="use the buttons on its page")
    text = " ".join(fields.get("text", "").split())
    if action in _NEEDS_TEXT and not text:
        raise BadInput(f"missing: {_NEEDS_TEXT[action]}", fix="go back and fill it in")
    # With an empty hash the writer would not compare versions.
    writer, expected_hash = Writer(store, view.site_of(request).project().settings), fields.get("hash") or "unknown"
    try:
        after = CHANGES[action](writer, entry.path, expected_hash, text)
    except Changed:
        now = store.read(entry.path)
        changes = view.changes_since(request, expected_hash, now.memory)
        return _page(request, store, now, RefusedChange(action, text, changes))
    address = view.address(request.path_params["store"], after.path)
    return view.redirect_after_change(request, address, store, _NOTICES[action])


_ADDRESS = "/record/{store}/{folder}/{name}"
ROUTES = (Route(_ADDRESS, show), Route(_ADDRESS + "/{action}", change, methods=["POST"]))
