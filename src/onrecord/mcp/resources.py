"""Records as resources: listed page by page, read by an address. An address names a store, a category and an id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from onrecord import paths
from onrecord.categories import BY_NAME
from onrecord.coldstart import NamedTuple
from onrecord.errors import NotFound, OnrecordError, SwitchedOff
from onrecord.mcp import calls, reading, tool_table
from onrecord.mcp.messages import BAD_PARAMS, NO_RESOURCE, OUR_FAULT, STATELESS, Fault, Request
from onrecord.mcp.server import Caller
from onrecord.project import Project
from onrecord.store import record_files
from onrecord.store.store import Entry, Store
from onrecord.text import for_agent

SCHEME = "onrecord://"
PAGE = 100
_TYPE = "text/plain"
_LONGEST_ID = 200
"""Letters of an id in an address: more than any record's, fewer than a file's name may have."""

_OWNERS = {"project": "the project's memory", "user": "the user's memory"}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class Address(NamedTuple):
    """Where a record is: `project`, `user` or a shared store, its category, its id."""

    store: str
    category: str
    id: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.store}/{self.category}/{self.id}"

    @property
    def path(self) -> str:
        return f"{BY_NAME[self.category].folder}/{self.id}.json"


def parse(uri: str) -> Address | None:
    """The address in a text; None if it is none."""
    parts = uri[len(SCHEME) :].split("/") if uri.startswith(SCHEME) else []
    if len(parts) != 3 or not _LETTERS.issuperset(parts[0] + parts[2]) or parts[1] not in BY_NAME:
        return None
    return Address(*parts) if parts[0] and 0 < len(parts[2]) <= _LONGEST_ID else None


def _stores(project: Project) -> dict[str, Store]:
    """The stores that are there, by their names in addresses and in the order of these."""
    return {
        name: Store(root) for name, root in sorted((paths.store_name(source), root) for root, source in project.places)
    }


def listed(request: Request, caller: Caller) -> Mapping[str, Any]:
    """One page of the records that count here, in a fixed order: by store, category and id."""
    cursor = request.params.get("cursor")
    after = parse(cursor) if isinstance(cursor, str) else None
    if cursor is not None and after is None:
        raise Fault(BAD_PARAMS, "there is no such page")
    try:
        calls.refuse_if_off()
        project = Project(caller.folder)
        page = list(islice(_current(project, after), PAGE))
        shown = list(_not_hidden(project, page))
    except SwitchedOff:
        page = shown = []
    except OnrecordError as error:
        raise Fault(OUR_FAULT, calls.harmless(str(error))) from error
    body: dict[str, Any] = {"resources": [_resource(address, entry) for address, entry in shown]}
    if len(page) == PAGE:
        body["nextCursor"] = str(page[-1][0])
    return body


def _not_hidden(project: Project, page: list[tuple[Address, Entry]]) -> Iterator[tuple[Address, Entry]]:
    """A page without what another store hides in this project; it may be left with fewer records than others."""
    for name, store in _stores(project).items():
        here = [each for each in page if each[0].store == name]
        hidden = project.hidden(store, [address.id for address, _ in here]) if here else {}
        yield from (each for each in here if each[0].id not in hidden)


def _current(project: Project, after: Address | None) -> Iterator[tuple[Address, Entry]]:
    """The current records behind an address, read one by one."""
    for address, store in _addresses(project):
        if after is None or _place(address) > _place(after):
            try:
                entry = store.read(address.path)
            except OnrecordError:
                continue
            if entry.memory.is_current:
                yield address, entry


def _addresses(project: Project) -> Iterator[tuple[Address, Store]]:
    for name, store in _stores(project).items():
        for category in BY_NAME.values():
            for file in record_files.names_in(store.root, category.folder):
                address = parse(str(Address(name, category.name, file[: -len(".json")])))
                if address:
                    yield address, store


def _place(address: Address) -> tuple[str, int, str]:
    """What the order of addresses goes by: the names of files are sorted with their ending."""
    return address.store, list(BY_NAME).index(address.category), f"{address.id}.json"


def _resource(address: Address, entry: Entry) -> dict[str, Any]:
    record = entry.memory
    return {
        "uri": str(address),
        "name": record.id,
        "title": calls.harmless(record.title),
        "description": f"{record.category} in {_OWNERS.get(address.store, f'the shared store {address.store}')}",
        "mimeType": _TYPE,
        "annotations": {"lastModified": record.updated_at},
    }


def templates(request: Request, caller: Caller) -> Mapping[str, Any]:
    """How addresses are made, for each store."""
    tool_table.refuse_cursor(request)
    about = {
        "project": "A record of this project",
        "user": "A record of the user's own, for every project",
        "{store}": "A record of a shared store, by the name it is connected with",
    }
    return {
        "resourceTemplates": [
            {
                "uriTemplate": f"{SCHEME}{name}/{{category}}/{{id}}",
                "name": f"{name.strip('{}')}-record",
                "title": title,
                "description": f"Categories: {', '.join(BY_NAME)}. Ids are those that search gives.",
                "mimeType": _TYPE,
            }
            for name, title in about.items()
        ]
    }


def read(request: Request, caller: Caller) -> Mapping[str, Any]:
    """One record as the tool `show` gives it."""
    uri = request.text("uri")
    address = parse(uri)
    if address is None:
        raise _missing(uri, caller)
    try:
        calls.refuse_if_off()
        project = Project(caller.folder)
        store = _stores(project).get(address.store)
        if store is None:
            raise _missing(uri, caller)
        page = reading.page(project, store, store.read(address.path))
    except NotFound:
        raise _missing(uri, caller) from None
    except OnrecordError as error:
        raise Fault(OUR_FAULT, calls.harmless(str(error))) from error
    return {"contents": [{"uri": str(address), "mimeType": _TYPE, "text": for_agent(page)}]}


def _missing(uri: str, caller: Caller) -> Fault:
    code = BAD_PARAMS if caller.version == STATELESS else NO_RESOURCE
    return Fault(code, "Resource not found", {"uri": uri})


METHODS = {"resources/list": listed, "resources/templates/list": templates, "resources/read": read}
