"""`/record/…`: one record: its text, what it replaced and was replaced by, its files, and how often it was shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, NotFound, OnrecordError
from onrecord.freshness import anchors, check
from onrecord.record import schema
from onrecord.record.export import in_words
from onrecord.record.memory import Memory
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.usage import counts
from onrecord.usage.counts import Counts
from onrecord.web import view

_LONGEST_LINE_OF_TIME = 20
_WEEKS = 12


class Field(NamedTuple):
    """A field of a record as it is read: one text, or the items of a list."""

    label: str
    text: str = ""
    items: tuple[str, ...] = ()


class Moment(NamedTuple):
    """A record in the line of those that replaced each other."""

    title: str
    address: str
    since: str
    is_this: bool


class File(NamedTuple):
    """A file that a record is about, and whether it changed since."""

    name: str
    state: str = ""
    sentence: str = ""
    changes: tuple[str, ...] = ()
    """The lines that changed since the record was saved."""


class Usage(NamedTuple):
    """How often a record was shown and opened, in all and in each week with such an event."""

    total: Counts
    weeks: tuple[tuple[str, Counts], ...]


class Outdated(NamedTuple):
    """A button that was pressed for a version that is no longer there, and what is different now."""

    action: str
    text: str
    changes: tuple[str, ...]


def show(request: Request) -> Response:
    return _page(request, *requested(request))


def _page(request: Request, store: Store, entry: Entry, outdated: Outdated | None = None) -> Response:
    view.site_of(request).remember(entry.hash, entry.memory)
    record, is_static = entry.memory, view.site_of(request).is_static
    return view.page(
        request,
        "record.html",
        title=record.title,
        http_status=409 if outdated else 200,
        outdated=outdated,
        record=record,
        entry=entry,
        store=request.path_params["store"],
        shown_path=paths.source_of(store.root) + entry.path,
        hidden_by=view.site_of(request).project().hidden(store, [record.id]).get(record.id, ""),
        address=view.address(request.path_params["store"], entry.path),
        fields=list(fields_of(record)),
        line=_line_of_time(store, entry, request.path_params["store"]),
        files=list(_files(store, record, shows_lines=not is_static)),
        usage=None if is_static else _usage(store, entry),
    )


def _usage(store: Store, entry: Entry) -> Usage:
    weeks = counts.per_week(store.root, _WEEKS, entry.path)
    total = counts.per_record(store.root).get(entry.path, Counts())
    return Usage(total, tuple((week, each) for week, each in weeks if each != Counts()))


def requested(request: Request) -> tuple[Store, Entry]:
    store = store_called(request, request.path_params["store"])
    return store, store.read(f"{request.path_params['folder']}/{request.path_params['name']}")


def store_called(request: Request, name: str) -> Store:
    """A store by its name in addresses: the project's, the user's, or one of the shared ones that are read here."""
    project = view.site_of(request).project()
    if name in (view.PROJECT, view.USER):
        return project.user if name == view.USER else project.store
    for place in project.places:
        if paths.store_name(place.source) == name:
            return Store(place.root)
    raise NotFound(f"there is no store called {name!r}", fix="onrecord list")


def fields_of(record: Memory) -> Iterator[Field]:
    names = [field.name for field in schema.content_fields(record.category)]
    for name in dict.fromkeys((*names, *sorted(record.content))):
        value = record.content.get(name)
        if value in (None, "", []):
            continue
        label = name.replace("_", " ").capitalize()
        yield (
            Field(label, items=tuple(map(in_words, value)))
            if isinstance(value, list)
            else Field(label, in_words(value))
        )


def _line_of_time(store: Store, entry: Entry, name: str) -> list[Moment]:
    """What a record replaced, itself, and what replaced it, oldest first; empty if there is nothing but itself."""
    before = list(_chain(store, entry, lambda record: record.supersedes[0] if record.supersedes else ""))
    after = list(_chain(store, entry, lambda record: record.superseded_by))
    line = [*reversed(before), entry, *after]
    if len(line) == 1:
        return []
    return [
        Moment(each.memory.title, view.address(name, each.path), each.memory.created_at, each is entry) for each in line
    ]


def _chain(store: Store, entry: Entry, next_of: Callable[[Memory], str]) -> Iterator[Entry]:
    seen = {entry.path}
    for _ in range(_LONGEST_LINE_OF_TIME):
        reference = next_of(entry.memory)
        try:
            entry = store.get(reference) if reference else entry
        except OnrecordError:
            return
        if entry.path in seen:
            return
        seen.add(entry.path)
        yield entry


def _files(store: Store, record: Memory, *, shows_lines: bool) -> Iterator[File]:
    root = anchors.root_of(store.root)
    indexed = anchors.indexed(record) if root else ()
    freshness = check.Freshness(root)
    for anchor in indexed[: check.MOST_ANCHORS]:
        verdict = freshness.check(anchor)
        name = f"{anchor.path}#{anchor.symbol}" if anchor.symbol else anchor.path
        changes = check.lines(root, verdict) if shows_lines and verdict.state == check.CHANGED else []
        yield File(name, verdict.state, check.sentence(verdict), tuple(changes))
    anchored = {anchor.path for anchor in indexed}
    yield from (File(file) for file in record.related_files if file not in anchored)


CHANGES: dict[str, Callable[[Writer, str, str, str], Entry]] = {
    "retire": lambda writer, path, read, reason: writer.retire(path, reason, expected_hash=read),
    "restore": lambda writer, path, read, _: writer.restore(path, expected_hash=read),
    "archive": lambda writer, path, read, reason: writer.archive(path, reason, expected_hash=read),
    "unarchive": lambda writer, path, read, _: writer.unarchive(path, expected_hash=read),
    "reanchor": lambda writer, path, read, _: writer.reanchor(path, {}, expected_hash=read),
    "supersede": lambda writer, path, read, new: writer.supersede(path, new, expected_hash=read)[0],
}
"""What a button does to the version of a record that was on the page, given the text that goes with it."""

_NEEDS_TEXT = {"retire": "a reason", "archive": "a reason", "supersede": "the record that replaces it"}
_DONE = {
    "retire": "Retired.",
    "restore": "Back in use.",
    "archive": "Archived.",
    "unarchive": "Back in use.",
    "reanchor": "Confirmed for its files as they are now.",
    "supersede": "Superseded.",
}


def change(request: Request) -> Response:
    """Carry one change out on the version of the record that was on the page."""
    store, entry = requested(request)
    action = request.path_params["action"]
    fields = view.form(request)
    if action not in CHANGES:
        raise BadInput(f"{action!r} cannot be done to a record here", fix="use the buttons on its page")
    text = " ".join(fields.get("text", "").split())
    if action in _NEEDS_TEXT and not text:
        raise BadInput(f"this needs {_NEEDS_TEXT[action]}", fix="go back and fill it in")
    # Without a hash the writer would not compare.
    writer, read = Writer(store, view.site_of(request).project().settings), fields.get("hash") or "unknown"
    try:
        after = CHANGES[action](writer, entry.path, read, text)
    except Changed:
        now = store.read(entry.path)
        changes = view.since_seen(request, read, now.memory)
        return _page(request, store, now, Outdated(action, text, changes))
    place = view.address(request.path_params["store"], after.path)
    return view.changed(request, place, store, _DONE[action])


_PLACE = "/record/{store}/{folder}/{name}"
ROUTES = (Route(_PLACE, show), Route(_PLACE + "/{action}", change, methods=["POST"]))
