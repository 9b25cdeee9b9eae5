"""The pages as a read-only site of plain files, with a search that runs in the browser.

Drafts, usage, settings and the user's own store are private and left out.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
from collections.abc import Callable, Iterable
from itertools import chain
from urllib.parse import parse_qs, quote, unquote, urlsplit

from starlette.types import ASGIApp

from onrecord import coldstart, files
from onrecord.errors import BadInput
from onrecord.project import Project, require_store
from onrecord.search import index, listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.web import map_page, server, timeline_page, view
from onrecord.web.access import Access

MARKER = ".onrecord-site"
"""The file that marks a folder as written by us, and lists the files in it."""

_LINK = re.compile(r'(href|src|action)="(/[^"]*)"')
_STATIC = ("app.css", "edit.css", "icon.svg", "map.js", "search.js")
_PAGES = ("/", "/search", "/map")
_MAX_MARKER_BYTES = 20_000_000


def write(project_dir: str, folder: str, watch_rows: Callable[[Iterable[Listed]], Iterable[Listed]] = iter) -> int:
    """Write the site of a project to `folder`, replacing an earlier one, and return the number of records.

    `watch_rows` wraps the loop over the records, such as to show progress. Raises BadInput.
    """
    store = require_store(Project(project_dir).store)
    _claim(folder)
    records, _ = listing.read(index.open(store.root), ListingFilter(order="created"), None)
    site = view.Site(project_dir, Access(0), is_static=True)
    folders = map_page.read(site, Project(project_dir)).static_folders or ()
    timelines = range(1, 2 + len(records) // timeline_page.TIMELINE_PAGE_SIZE)
    pages = chain(
        _PAGES,
        (f"/timeline?category=&page={number}" for number in timelines),
        map(map_page.address, sorted(folders)),
        (view.address(view.PROJECT, record.path) for record in watch_rows(records)),
    )
    written_files = asyncio.run(_write_pages(server.create_pages(site), folder, pages))
    written_files += [_copy(folder, name) for name in _STATIC]
    written_files.append(_write(folder, "static/records.js", f"var records = {_search_data(records)};\n"))
    _delete_old_pages(folder, set(written_files))
    _write(folder, MARKER, json.dumps(sorted(written_files)))
    return len(records)


def _claim(folder: str) -> None:
    """Mark an empty folder as ours. Raises BadInput for a folder with other files."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise BadInput(f"{folder!r} cannot be used: {error.strerror}", fix="use a new or empty folder") from error
    if names and MARKER not in names:
        raise BadInput(f"{folder!r} contains files that are not part of such a site", fix="use a new or empty folder")
    if not names:
        _write(folder, MARKER, "[]")


async def _write_pages(pages: ASGIApp, folder: str, paths: Iterable[str]) -> list[str]:
    return [_page(folder, path, *await _get(pages, path)) for path in paths]


def _page(folder: str, path: str, http_status: int, body: bytes) -> str:
    if http_status != 200:
        raise BadInput(f"the page {path} cannot be written", fix="onrecord doctor")
    name = _page_file(path)
    depth = name.count("/")
    return _write(folder, name, _LINK.sub(lambda link: _relative_link(link, depth), body.decode("utf-8")))


async def _get(pages: ASGIApp, path: str) -> tuple[int, bytes]:
    """Call the application without a server, and return the status and body of a page."""
    address = urlsplit(path)
    http_status, body = 500, b""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(response: dict[str, object]) -> None:
        nonlocal http_status, body
        http_status = int(str(response.get("status", http_status)))
        part = response.get("body", b"")
        body += part if isinstance(part, bytes) else b""

    scope = {"type": "http", "method": "GET", "path": unquote(address.path), "raw_path": address.path.encode()}
    scope |= {"query_string": address.query.encode(), "headers": [], "http_version": "1.1", "scheme": "http"}
    await pages(scope, receive, send)  # type: ignore[arg-type]
    return http_status, body


def _page_file(path: str) -> str:
    """Return the file for the page at an address."""
    address = urlsplit(path)
    query = parse_qs(address.query)
    if address.path.startswith("/record/project/"):
        return f"record/{unquote(address.path[len('/record/project/') :]).removesuffix('.json')}.html"
    if address.path.startswith("/static/"):
        return address.path[1:]
    if address.path == "/map" and "folder" in query:
        # A folder may have any name; a file of the site may not.
        return f"map/{coldstart.content_hash(query['folder'][0].encode('utf-8', 'surrogatepass'))}.html"
    number = query.get("page", ["1"])[0]
    name = address.path.strip("/") or "index"
    return f"{name}{'' if number == '1' else '-' + number}.html"


def _relative_link(link: re.Match[str], depth: int) -> str:
    """Return `link` relative to a page that is `depth` folders deep. A link with a filter leads to the search page."""
    path = html.unescape(link[2])
    query = parse_qs(urlsplit(path).query)
    words = query.get("tag", query.get("category", [""]))[0]
    file = _page_file(path)
    if urlsplit(path).path in ("/search", "/timeline") and words and "page" not in query:
        file = f"search.html?q={quote(words)}"
    return f'{link[1]}="{html.escape("../" * depth + file)}"'


def _search_data(list_rows: Iterable[Listed]) -> str:
    """Return the JSON that the search script reads, with `<` escaped: `</script>` in a title would end the script."""
    return json.dumps([_search_row(list_row) for list_row in list_rows]).replace("<", "\\u003c")


def _search_row(list_row: Listed) -> list[str]:
    file = _page_file(view.address(view.PROJECT, list_row.path))
    return [list_row.title, list_row.category, list_row.status, list_row.created_at[:10], " ".join(list_row.tags), file]


def _copy(folder: str, name: str) -> str:
    with open(os.path.join(server.STATIC_FOLDER, name), encoding="utf-8") as file:
        return _write(folder, f"static/{name}", file.read())


def _write(folder: str, name: str, text: str) -> str:
    # `inside`, because a repository may contain links to anywhere. Not `lasting`, because a lost page can be rebuilt.
    files.write(files.inside(folder, name), text.encode("utf-8", "backslashreplace"), lasting=False)
    return name


def _delete_old_pages(folder: str, written_files: set[str]) -> None:
    """Delete pages of an earlier site that are not in this one."""
    try:
        old_files = json.loads(files.read_inside(folder, MARKER, _MAX_MARKER_BYTES))
    except (OSError, ValueError):
        return
    for name in old_files if isinstance(old_files, list) else ():
        if isinstance(name, str) and name.endswith(".html") and name not in written_files:
            try:
                os.remove(files.inside(folder, name))
            except OSError:
                continue
