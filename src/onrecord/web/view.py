"""What a page is made from: its template, the project it is about, and what the last change answered."""

from __future__ import annotations

import difflib
import os
import time
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import quote

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from onrecord import __version__, paths, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.paths import PROJECT_SOURCE, USER_SOURCE
from onrecord.project import Hit, Project, require_store
from onrecord.record import export
from onrecord.record.memory import Memory
from onrecord.record.naming import visible
from onrecord.search import index
from onrecord.search.index import Index
from onrecord.search.listing import Listed
from onrecord.store.store import Store
from onrecord.text import many
from onrecord.web.access import Access

_FOLDER = os.path.dirname(__file__)
_MOST_NOTICES = 50
_MOST_SEEN = 200
"""Versions of records that were shown and are remembered."""

_CHECKED_EVERY = 2.0
"""Seconds between two comparisons of every file with the index, so that a search costs little while somebody types."""

PROJECT, USER = "project", "user"
"""The stores, as they are called in addresses."""

NAVIGATION = (
    ("/", "Start"),
    ("/search", "Search"),
    ("/inbox", "Inbox"),
    ("/agent", "Agent"),
    ("/timeline", "Timeline"),
    ("/map", "Map"),
    ("/health", "Health"),
    ("/usage", "Usage"),
    ("/settings", "Settings"),
)
"""The pages that every page links to."""

PUBLIC = tuple(link for link in NAVIGATION if link[0] in ("/", "/search", "/timeline", "/map"))
"""Those of a static site."""


class Notice(NamedTuple):
    """What a change answered, shown once on the next page."""

    text: str
    undoes: str = ""
    """The change that a button beside it takes back."""
    store: str = PROJECT
    """Where that change was made, as in addresses."""
    warnings: tuple[str, ...] = ()
    """What went wrong after the change was made."""


class ListedRecord(NamedTuple):
    """A record in a list."""

    title: str
    category: str
    status: str
    updated_at: str
    address: str
    snippet: str = ""
    match: str = ""
    """How well it matches, in a word; empty where nothing was searched for."""
    reasons: tuple[str, ...] = ()
    """Why it matches."""
    shared: str = ""
    """The name of the shared store that it is in; empty for the project's and the user's own."""


def listed(row: Listed) -> ListedRecord:
    return ListedRecord(row.title, row.category, row.status, row.updated_at, address(PROJECT, row.path))


def hit(result: Hit, reasons: Sequence[str] = ()) -> ListedRecord:
    """A result of a search, in any store, with why it matches."""
    return ListedRecord(
        result.title,
        result.category,
        result.status,
        result.updated_at,
        address_of(result.path),
        result.snippet(),
        result.confidence,
        tuple(reasons),
        "" if result.source in (PROJECT, USER) else result.source,
    )


def address(store: str, path: str) -> str:
    """The address of a record's page; `store` is `project`, `user` or the name of a shared store."""
    return f"/record/{store}/{quote(path, safe='/')}"


def address_of(shown: str) -> str:
    """The address of the page of a record whose path is as agents see it."""
    for source in (USER_SOURCE, PROJECT_SOURCE):
        if shown.startswith(source):
            return address(paths.store_name(source), shown[len(source) :])
    name, _, path = shown.partition(":")
    return address(name, path)


def one_of(text: str, values: Collection[str]) -> str:
    """A choice that somebody made in an address; empty for one that does not exist."""
    return text if text in values else ""


def number(text: str) -> int:
    """The number of a page in an address, from 1 on."""
    return min(max(int(text), 1), 10_000) if text.isascii() and text.isdigit() and len(text) < 6 else 1


class Site:
    """What all requests share: the project, the secrets, the templates and the notices that wait."""

    def __init__(self, project_dir: str, access: Access, *, is_static: bool = False) -> None:
        self.project_dir = project_dir
        self.is_static = is_static
        self.access = access
        self._notices: OrderedDict[str, Notice] = OrderedDict()
        self._seen: OrderedDict[str, Memory] = OrderedDict()
        self._count = 0
        self._checked = -_CHECKED_EVERY
        loader = jinja2.FileSystemLoader(os.path.join(_FOLDER, "templates"))
        self._templates = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters.update(
            many=many, record_address=address_of, visible=visible, visible_lines=_visible_lines, day=_day
        )

    def project(self) -> Project:
        """The project as it is now: every request reads it anew."""
        return Project(self.project_dir)

    def searched(self) -> Project:
        """The project for a page that asks its index; all files are compared with that now and then only."""
        now = time.monotonic()
        is_quick = now < self._checked + _CHECKED_EVERY
        if not is_quick:
            self._checked = now
        return Project(self.project_dir, is_quick=is_quick)

    def check_again(self) -> None:
        """Compare all files with the index at the next request: something was changed."""
        self._checked = -_CHECKED_EVERY

    def render(self, template: str, **values: Any) -> str:
        return self._templates.get_template(template).render(
            navigation=PUBLIC if self.is_static else NAVIGATION,
            version=__version__,
            form_token="" if self.is_static else self.access.form_token,
            is_static=self.is_static,
            **values,
        )

    def leave(self, notice: Notice) -> str:
        """Keep a notice for the next page; its name for the address of that page."""
        self._count += 1
        self._notices[str(self._count)] = notice
        while len(self._notices) > _MOST_NOTICES:
            self._notices.popitem(last=False)
        return str(self._count)

    def take(self, name: str) -> Notice | None:
        return self._notices.pop(name, None)

    def remember(self, version: str, record: Memory) -> None:
        """Keep what a page shows, to say what is different if it was changed when somebody presses a button there."""
        self._seen[version] = record
        self._seen.move_to_end(version)
        while len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)

    def seen(self, version: str) -> Memory | None:
        return self._seen.get(version)


def site_of(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


def opened(project: Project) -> Index:
    """The index of the project's store; NoStore if there is none."""
    return index.open(require_store(project.store).root, hook=project.is_quick)


def page(request: Request, template: str, *, title: str, http_status: int = 200, **values: Any) -> Response:
    """A whole page."""
    site = site_of(request)
    notice = site.take(request.query_params.get("notice", ""))
    name = os.path.basename(site.project().root)
    text = site.render(template, title=title, path=request.url.path, project=name, notice=notice, **values)
    return HTMLResponse(text, http_status)


def part(request: Request, template: str, **values: Any) -> Response:
    """A part of a page, for the script that puts it in."""
    return HTMLResponse(site_of(request).render(template, **values))


def changed(request: Request, path: str, store: Store, text: str) -> Response:
    """On to another page after the last change of a store, which can be taken back there if anything was changed."""
    site_of(request).check_again()
    name = paths.store_name(paths.source_of(store.root))
    return go(request, path, Notice(text, store.last_change, name, tuple(store.warnings)))


def go(request: Request, path: str, notice: Notice) -> Response:
    """On to another page, which shows what happened."""
    return RedirectResponse(f"{path}?notice={site_of(request).leave(notice)}", 303)


def differences(before: Memory, after: Memory) -> list[str]:
    """What is different between two versions of a record, line by line as a person reads them."""
    old, new = (export.markdown([record]).split("\n") for record in (before, after))
    lines = difflib.unified_diff(old, new, lineterm="", n=1)
    return [line for line in lines if line[:3] not in ("---", "+++", "@@ ")]


def since_seen(request: Request, version: str, now: Memory) -> tuple[str, ...]:
    """What is different from the version that was on a page; nothing if that is no longer remembered."""
    before = site_of(request).seen(version)
    return tuple(differences(before, now)) if before else ()


def form(request: Request) -> dict[str, str]:
    """The fields of the form that was sent; the guard has read and checked them."""
    fields = request.state.form
    assert isinstance(fields, dict)
    return fields


def _day(moment: str) -> str:
    return moment[:10] if timestamps.is_day(moment[:10]) else visible(moment)[:40]


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))
