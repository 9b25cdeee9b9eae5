"""The same pages as a site of plain files: only to read, with a search that runs in the browser.

Drafts, usage, settings and the user's own store are nobody else's business, so they are left out.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
from collections.abc import Callable, Iterable
from itertools import chain
from urllib.parse import parse_qs, unquote, urlsplit

from starlette.types import ASGIApp

from onrecord import files
from onrecord.errors import BadInput
from onrecord.project import Project, require_store
from onrecord.search import index, listing
from onrecord.search.listing import Choice, Listed
from onrecord.web import server, timeline_page, view
from onrecord.web.access import Access

MARK = ".onrecord-site"
"""The file that says that a folder is ours, and what we wrote there."""

_LINK = re.compile(r'(href|src)="(/[^"]*)"')
_STATIC = ("app.css", "search.js")
_PAGES = ("/", "/search", "/map")
_LARGEST_MARK = 20_000_000


def write(project_dir: str, folder: str, watch: Callable[[Iterable[Listed]], Iterable[Listed]] = iter) -> int:
    """Write the site of a project into a folder, over an earlier one; how many records it shows."""
    store = require_store(Project(project_dir).store)
    _claim(folder)
    opened = index.open(store.root)
    records, _ = listing.read(opened, Choice(order="created"), None)
    site = view.Site(project_dir, Access(0), is_static=True)
    timelines = range(1, 2 + len(records) // timeline_page.PER_PAGE)
    pages = chain(
        _PAGES,
        (f"/timeline?category=&page={number}" for number in timelines),
        (view.address(view.PROJECT, record.path) for record in watch(records)),
    )
    written = asyncio.run(_write_pages(server.pages(site), folder, pages))
    written += [_copy(folder, name) for name in _STATIC]
    written.append(_write(folder, "static/records.js", f"var records = {_rows(records)};\n"))
    _forget(folder, set(written))
    _write(folder, MARK, json.dumps(sorted(written)))
    return len(records)


def _claim(folder: str) -> None:
    """Mark a folder as ours before anything is in it; BadInput for one with anything that we did not write."""
    try:
        there = os.listdir(folder)
    except FileNotFoundError:
        there = []
    except OSError as error:
        raise BadInput(f"{folder!r} cannot be used: {error.strerror}", fix="name a new or empty folder") from error
    if there and MARK not in there:
        raise BadInput(f"{folder!r} holds files that are not of such a site", fix="name a new or empty folder")
    if not there:
        _write(folder, MARK, "[]")


async def _write_pages(pages: ASGIApp, folder: str, paths: Iterable[str]) -> list[str]:
    return [_page(folder, path, *await _ask(pages, path)) for path in paths]


def _page(folder: str, path: str, status: int, body: bytes) -> str:
    if status != 200:
        raise BadInput(f"the page {path} cannot be made", fix="onrecord doctor")
    name = _file_of(path)
    depth = name.count("/")
    return _write(folder, name, _LINK.sub(lambda link: _relative(link, depth), body.decode("utf-8")))


async def _ask(pages: ASGIApp, path: str) -> tuple[int, bytes]:
    """What the application answers, without a server in between."""
    address = urlsplit(path)
    status, body = 500, b""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        nonlocal status, body
        status = int(str(message.get("status", status)))
        part = message.get("body", b"")
        body += part if isinstance(part, bytes) else b""

    scope = {"type": "http", "method": "GET", "path": unquote(address.path), "raw_path": address.path.encode()}
    scope |= {"query_string": address.query.encode(), "headers": [], "http_version": "1.1", "scheme": "http"}
    await pages(scope, receive, send)  # type: ignore[arg-type]
    return status, body


def _file_of(path: str) -> str:
    """The file of the page at an address."""
    address = urlsplit(path)
    query = parse_qs(address.query)
    if address.path.startswith("/record/project/"):
        return f"record/{unquote(address.path[len('/record/project/') :]).removesuffix('.json')}.html"
    if address.path.startswith("/static/"):
        return address.path[1:]
    number = query.get("page", ["1"])[0]
    name = address.path.strip("/") or "index"
    return f"{name}{'' if number == '1' else '-' + number}.html"


def _relative(link: re.Match[str], depth: int) -> str:
    """A link of a page as one to the file next to it; what a filter in it asks for is left to the search's script."""
    path = html.unescape(link[2])
    query = parse_qs(urlsplit(path).query)
    words = query.get("tag", query.get("category", [""]))[0]
    file = _file_of(path)
    if urlsplit(path).path in ("/search", "/timeline") and words and "page" not in query:
        file = f"search.html?q={words}"
    return f'{link[1]}="{html.escape("../" * depth + file)}"'


def _rows(records: Iterable[Listed]) -> str:
    """What the search's script looks through; in a script of its own, `<` could still end it in an old browser."""
    return json.dumps([_row(record) for record in records]).replace("<", "\\u003c")


def _row(record: Listed) -> list[str]:
    file = _file_of(view.address(view.PROJECT, record.path))
    return [record.title, record.category, record.status, record.created_at[:10], " ".join(record.tags), file]


def _copy(folder: str, name: str) -> str:
    with open(os.path.join(server.STATIC_FOLDER, name), encoding="utf-8") as file:
        return _write(folder, f"static/{name}", file.read())


def _write(folder: str, name: str, text: str) -> str:
    # The folder may lie in a repository, whose links could lead anywhere; and what is lost can be written again.
    files.write(files.inside(folder, name), text.encode("utf-8", "backslashreplace"), lasting=False)
    return name


def _forget(folder: str, written: set[str]) -> None:
    """Delete the pages of an earlier site that this one does not have."""
    try:
        before = json.loads(files.read_inside(folder, MARK, _LARGEST_MARK))
    except (OSError, ValueError):
        return
    for name in before if isinstance(before, list) else ():
        if isinstance(name, str) and name.endswith(".html") and name not in written:
            try:
                os.remove(files.inside(folder, name))
            except OSError:
                continue
