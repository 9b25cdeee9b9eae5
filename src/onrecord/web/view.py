"""Rendering and navigation that all pages share: templates, addresses, notices and redirects."""

from __future__ import annotations

import difflib
import os
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from onrecord import __version__, paths, timestamps
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import OnrecordError
from onrecord.hosts import table
from onrecord.paths import PROJECT_PREFIX, USER_PREFIX
from onrecord.project import Project, require_store
from onrecord.record import author, check, export
from onrecord.record.memory import Memory
from onrecord.record.naming import remove_invisible
from onrecord.search import index
from onrecord.search.index import Index
from onrecord.search.listing import Listed
from onrecord.state_file import StateFile, state_path
from onrecord.store.store import Store
from onrecord.text import plural
from onrecord.web import first_steps
from onrecord.web.access import Access
from onrecord.web.live import Live

_FOLDER = os.path.dirname(__file__)
_MAX_NOTICES = 50
_MAX_SHOWN_VERSIONS = 200
"""Versions of records that pages have shown. They are kept to show a diff if a record changes meanwhile."""

_CHECK_INTERVAL_SECONDS = 2.0
"""Time between two checks of all files against the index, so that search-as-you-type stays fast."""

_LINK = re.compile(r'\b(href|src|action|formaction)="/')
"""The beginning of a link to a page. Quotes in records are escaped, so none of them is mistaken for one."""

_BREAK = re.compile(r"(?<=[/\\_.:@=-])(?=\w)")

THEMES = ("system", "light", "dark")
"""The themes of the pages; by default the system's. The choice is kept in the state folder and needs no script."""

_MAX_THEME_BYTES = 100
"""Bytes of the state file, which holds one word."""

PROJECT, USER = "project", "user"
"""Names of the stores in addresses."""


class NavigationGroup(NamedTuple):
    """Pages that stand together in the navigation."""

    position: int
    heading: str = ""


class NavigationLink(NamedTuple):
    """A page in the navigation."""

    address: str
    label: str
    icon: str
    group: NavigationGroup


_DAILY, _PICTURE = NavigationGroup(0), NavigationGroup(1, "Picture")
_CARE, _SET_UP = NavigationGroup(2, "Care"), NavigationGroup(3, "Agents")

NAVIGATION = (
    NavigationLink("/", "Start", "start", _DAILY),
    NavigationLink("/search", "Search", "search", _DAILY),
    NavigationLink("/inbox", "Inbox", "inbox", _DAILY),
    NavigationLink("/map", "Map", "map", _PICTURE),
    NavigationLink("/timeline", "Timeline", "timeline", _PICTURE),
    NavigationLink("/health", "Health", "health", _CARE),
    NavigationLink("/usage", "Usage", "usage", _CARE),
    NavigationLink("/effect", "Effect", "effect", _CARE),
    NavigationLink("/agent", "Agent", "agent", _SET_UP),
    NavigationLink("/settings", "Settings", "settings", _SET_UP),
)
"""Links on every page."""

PUBLIC = tuple(link for link in NAVIGATION if link.address in ("/", "/search", "/timeline", "/map"))
"""Links on a static site."""


class StoreChange(NamedTuple):
    """A change in the log of a store, and the name of that store in addresses."""

    store: str
    id: str


class Notice(NamedTuple):
    """Result of a change, shown once on the next page."""

    text: str
    undoes: tuple[StoreChange, ...] = ()
    """The changes that the Undo button reverts."""
    warnings: tuple[str, ...] = ()
    """Problems that occurred after the change was made."""
    syncs: str = ""
    """Shared store that a button of the notice syncs, because the change waits for that."""


class ListItem(NamedTuple):
    """A record in a list."""

    title: str
    category: str
    status: str
    updated_at: str
    address: str


def list_item(list_row: Listed) -> ListItem:
    return ListItem(
        list_row.title, list_row.category, list_row.status, list_row.updated_at, address(PROJECT, list_row.path)
    )


def address(store: str, path: str) -> str:
    """Return the address of a record's page; `store` is `project`, `user` or the name of a shared store."""
    return f"/record/{store}/{quote(path, safe='/')}"


def address_of(agent_path: str) -> str:
    """Return the address of a record's page. `agent_path` is the record's path, with the prefix of its store."""
    for prefix in (USER_PREFIX, PROJECT_PREFIX):
        if agent_path.startswith(prefix):
            return address(paths.store_name(prefix), agent_path[len(prefix) :])
    folder, is_nested, path = agent_path.partition(f"/{PROJECT_PREFIX}")
    if is_nested:
        return address(name_in_address(f"{folder}/{PROJECT_PREFIX}"), path)
    name, _, path = agent_path.partition(":")
    return address(name, path)


def name_in_address(prefix: str) -> str:
    """Return the name of a store as one part of an address: `packages~web` for a nested one, `~` for the one above."""
    return paths.store_name(prefix).replace("..", "~").replace("/", "~")


def valid_choice(text: str, allowed: Collection[str]) -> str:
    """Return `text` if it is one of `allowed`, else an empty string."""
    return text if text in allowed else ""


def page_number(text: str) -> int:
    """Return the page number in an address; 1 if it is not valid."""
    return min(max(int(text), 1), 10_000) if text.isascii() and text.isdigit() and len(text) < 6 else 1


class Site:
    """State that all requests share: project, secrets, templates and notices."""

    def __init__(self, project_dir: str, access: Access, *, is_static: bool = False) -> None:
        self.project_dir = project_dir
        self.is_static = is_static
        self.access = access
        self.live = Live(project_dir)
        self._notices: OrderedDict[str, Notice] = OrderedDict()
        self._shown_versions: OrderedDict[str, Memory] = OrderedDict()
        self._count = 0
        self._last_check = -_CHECK_INTERVAL_SECONDS
        loader = jinja2.FileSystemLoader(os.path.join(_FOLDER, "templates"))
        self._templates = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters.update(
            many=plural,
            number="{:,}".format,
            host=host_title,
            record_address=address_of,
            visible=remove_invisible,
            breakable=breakable,
            breakable_lines=_breakable_lines,
            visible_lines=_visible_lines,
            with_code=_with_code,
            day=_day,
            described=check.describe,
            author=lambda record: author.described(record.origin, record.agent, record.host),
        )

    def project(self) -> Project:
        """Return the project, with settings and stores read again for every request."""
        return Project(self.project_dir)

    def project_for_search(self) -> Project:
        """Return the project for a page that uses the index, which is checked against all files every two seconds."""
        now = time.monotonic()
        is_quick = now < self._last_check + _CHECK_INTERVAL_SECONDS
        if not is_quick:
            self._last_check = now
        return Project(self.project_dir, is_quick=is_quick)

    def check_again(self) -> None:
        """Check all files against the index on the next request."""
        self._last_check = -_CHECK_INTERVAL_SECONDS

    def render(self, template: str, **values: Any) -> str:
        text = self._templates.get_template(template).render(
            navigation=PUBLIC if self.is_static else NAVIGATION,
            version=__version__,
            form_token="" if self.is_static else self.access.form_token,
            is_static=self.is_static,
            **{"theme": "system", "here": "/", "due": Counter(), "live": "", **values},
        )
        return text if self.is_static else _LINK.sub(rf'\1="{self.access.prefix}/', text)

    def keep_notice(self, notice: Notice) -> str:
        """Keep a notice for the next page. Return its name for the address of that page."""
        self._count += 1
        self._notices[str(self._count)] = notice
        while len(self._notices) > _MAX_NOTICES:
            self._notices.popitem(last=False)
        return str(self._count)

    def take_notice(self, name: str) -> Notice | None:
        return self._notices.pop(name, None)

    def remember(self, version: str, record: Memory) -> None:
        """Keep the version on a page. If the record changes before the user presses a button, a diff is shown."""
        self._shown_versions[version] = record
        self._shown_versions.move_to_end(version)
        while len(self._shown_versions) > _MAX_SHOWN_VERSIONS:
            self._shown_versions.popitem(last=False)

    def shown_version(self, version: str) -> Memory | None:
        return self._shown_versions.get(version)


def site_of(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


def open_index(project: Project) -> Index:
    """Open the index of the project's store. Raises NoStore."""
    return index.open(require_store(project.store).root, hook=project.is_quick)


def page(request: Request, template: str, *, title: str, http_status: int = 200, **values: Any) -> Response:
    """Return a rendered page, with the notice if there is one."""
    site = site_of(request)
    notice = site.take_notice(request.query_params.get("notice", ""))
    project = site.project()
    steps = None if site.is_static else first_steps.find(project, site.live)
    text = site.render(
        template,
        title=title,
        path=request.url.path,
        here=_address_of_page(request),
        project=os.path.basename(project.root),
        theme=theme(),
        due=Counter() if site.is_static else site.live.news().due,
        live="" if site.is_static else site.live.version(),
        notice=notice,
        first_steps=steps,
        has_records=not steps or not steps.is_all_of(request.url.path),
        **values,
    )
    return HTMLResponse(text, http_status)


def begin(request: Request) -> Response:
    """Return the page of a project without a store: what to do first."""
    path = request.url.path
    title = next(link.label for link in NAVIGATION if link.address == path)
    return page(request, "begin.html", title=title, promise=first_steps.PROMISES[path])


def _address_of_page(request: Request) -> str:
    """Return the address of the page, to come back to it; a page that a form made has none of its own."""
    if request.url.path.startswith("/do/"):
        return page_before(request)
    query = "&".join(part for part in request.url.query.split("&") if part and not part.startswith("notice="))
    path = request.url.path
    if request.method == "POST" and not path.startswith("/new/") and not path.endswith("/edit"):
        path = "/inbox" if path.startswith("/inbox/") else path.rpartition("/")[0]
    return quote(path or "/") + (f"?{query}" if query else "")


def advice_of(error: OnrecordError) -> str:
    """Return what an error says to do, without the commands of a terminal."""
    words = [part.words for part in error.remedies if part.words and not part.command]
    return "; ".join(words) and f"{words[0][:1].upper()}{'; '.join(words)[1:]}."


def fragment(request: Request, template: str, **values: Any) -> Response:
    """Return a fragment of a page, for the script that inserts it."""
    return HTMLResponse(site_of(request).render(template, **values))


def redirect_after_change(request: Request, path: str, store: Store, text: str, *, element: str = "") -> Response:
    """Redirect to another page, which reports the last change to `store` and has a button to undo it."""
    site_of(request).check_again()
    prefix = paths.prefix_of(store.root)
    name = paths.store_name(prefix)
    waits = f"The change waits for the next sync: until then this page and agents show what {name} has."
    warnings = (*store.warnings, *([waits] if paths.is_shared(prefix) else []))
    syncs = name if paths.is_shared(prefix) else ""
    undoes = (StoreChange(name, store.last_change),) if store.last_change else ()
    return redirect(request, path, Notice(text, undoes, warnings, syncs), element=element)


def redirect(request: Request, path: str, notice: Notice, *, element: str = "") -> Response:
    """Redirect to another page, at the element called `element`; the page shows `notice`."""
    site = site_of(request)
    sign = "&" if "?" in path else "?"
    place = f"#{element}" if element else ""
    return RedirectResponse(f"{site.access.prefix}{path}{sign}notice={site.keep_notice(notice)}{place}", 303)


def page_before(request: Request) -> str:
    """Return the address of the page that a form was sent from; the start page if that is not known."""
    site, origin = site_of(request), urlsplit(request.headers.get("referer", ""))
    path = origin.path[len(site.access.prefix) :] if origin.path.startswith(f"{site.access.prefix}/") else ""
    if origin.netloc != site.access.host or not path.startswith("/") or path.startswith("//"):
        return "/"
    query = urlencode([pair for pair in parse_qsl(origin.query) if pair[0] != "notice"])
    return f"{path}?{query}" if query else path


def draft_anchor(store_name: str, draft_name: str) -> str:
    """Return the id of a draft's element on the page of the inbox."""
    return f"draft-{content_hash(f'{store_name}/{draft_name}'.encode('utf-8', 'surrogatepass'))[:12]}"


def diff(before: Memory, after: Memory) -> list[str]:
    """Return the differences between two versions of a record, as lines of its Markdown."""
    old, new = (export.markdown([record]).split("\n") for record in (before, after))
    lines = difflib.unified_diff(old, new, lineterm="", n=1)
    return [line for line in lines if line[:3] not in ("---", "+++", "@@ ")]


def changes_since(request: Request, version: str, record: Memory) -> tuple[str, ...]:
    """Return the differences between a version that was on a page and `record`; none if the version was dropped."""
    before = site_of(request).shown_version(version)
    return tuple(diff(before, record)) if before else ()


def form_fields(request: Request) -> dict[str, str]:
    """Return the fields of the submitted form, which the guard has checked."""
    fields = request.state.form
    assert isinstance(fields, dict)
    return fields


def breakable(text: str) -> Markup:
    """Return `text` with places where a long path or id may break: after a slash, a hyphen, an underscore or a dot."""
    parts = _BREAK.split(remove_invisible(text))
    return Markup("<wbr>").join(parts)


def host_title(name: str) -> str:
    """Return what a coding agent calls itself; its name in the log if it is not known."""
    return table.BY_NAME[name].title if name in table.BY_NAME else remove_invisible(name)


def _breakable_lines(text: str) -> Markup:
    return Markup("\n").join(map(breakable, text.split("\n")))


def _with_code(text: str) -> Markup:
    """Return a text as HTML, with what stands between backticks as code."""
    parts = text.split("`")
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else Markup("{}").format(part)
        for number, part in enumerate(parts)
    )


def _day(moment: str) -> str:
    return moment[:10] if timestamps.is_day(moment[:10]) else remove_invisible(moment)[:40]


def _visible_lines(text: str) -> str:
    return "\n".join(map(remove_invisible, text.split("\n")))


def theme() -> str:
    """Return the theme of the pages that the user chose; `system` if none."""
    name = _theme_file().read().decode("ascii", "replace").strip()
    return name if name in THEMES else THEMES[0]


def choose_theme(name: str) -> None:
    """Keep the choice for the next pages."""
    if name in THEMES:
        _theme_file().replace(f"{name}\n".encode())


def _theme_file() -> StateFile:
    return StateFile(state_path("theme"), _MAX_THEME_BYTES, "web")
