"""Pages to browse records: `/timeline` by month, and `/map` by folder and tag."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.git import repository
from onrecord.search import listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.web import view

TIMELINE_PAGE_SIZE = 200
_MAX_RECORDS = 20_000
_MAX_FOLDERS = 400
_MAX_DEPTH = 3
"""Levels of folders below the project's root."""

_GIT_TIMEOUT_SECONDS = 3.0
_MAX_TAGS = 60


class Event(NamedTuple):
    """A record in the timeline: the day it was saved, and the id of the record that superseded it, if any."""

    title: str
    category: str
    status: str
    day: str
    address: str
    successor_id: str


class Month(NamedTuple):
    """Records saved in one month, newest first."""

    name: str
    events: tuple[Event, ...]


def show_timeline(request: Request) -> Response:
    index = view.open_index(view.site_of(request).project_for_search())
    params = request.query_params
    category = view.valid_choice(params.get("category", "decision"), categories.CATEGORIES)
    tag, number = params.get("tag", "").strip().lower()[:100], view.page_number(params.get("page", ""))
    choice = ListingFilter(category, frozenset([tag] if tag else ()), order="created")
    rows, total = listing.read(index, choice, number * TIMELINE_PAGE_SIZE)
    rows = rows[(number - 1) * TIMELINE_PAGE_SIZE :]
    successors = listing.successors(index, [row.path for row in rows])
    events = [_event(row, successors.get(row.path, "")) for row in rows]
    return view.page(
        request,
        "timeline.html",
        title="Timeline",
        months=[Month(name, tuple(group)) for name, group in groupby(events, lambda event: event.day[:7])],
        category=category,
        tag=tag,
        number=number,
        has_more=total > number * TIMELINE_PAGE_SIZE,
        categories=list(categories.CATEGORIES),
    )


def _event(list_row: Listed, successor_id: str) -> Event:
    address = view.address(view.PROJECT, list_row.path)
    return Event(list_row.title, list_row.category, list_row.status, list_row.created_at, address, successor_id)


class Folder(NamedTuple):
    """A folder of the project, its number of files, and the active records about files in it."""

    path: str
    depth: int
    files: int
    records: tuple[Listed, ...]


def show_map(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    records, _ = listing.read(view.open_index(project), ListingFilter(status="active"), _MAX_RECORDS)
    tags = Counter(tag for record in records for tag in record.tags).most_common(_MAX_TAGS)
    folders = _folders(_tracked_files(project.root), records)
    return view.page(
        request,
        "map.html",
        title="Map",
        folders=folders[:_MAX_FOLDERS],
        total=len(folders),
        tags=tags,
        without=sum(1 for record in records if not record.files),
        list_item=view.list_item,
    )


def _tracked_files(root: str) -> list[str]:
    """Return the files that git tracks; empty without a repository."""
    repo = repository.find(root)
    if repo is None:
        return []
    result = repo.run("ls-files", "-z", "--", ".", deadline=time.monotonic() + _GIT_TIMEOUT_SECONDS, in_work_tree=True)
    return [name for name in result.output.decode("utf-8", "replace").split("\0") if name]


def _folders(tracked: Iterable[str], list_rows: Iterable[Listed]) -> list[Folder]:
    files = Counter(folder for name in tracked for folder in _folders_of(name))
    records: dict[str, dict[str, Listed]] = {}
    for list_row in list_rows:
        for file in list_row.files:
            for folder in _folders_of(file.partition("#")[0]):
                records.setdefault(folder, {})[list_row.path] = list_row
    names = sorted(set(files) | set(records))
    return [Folder(name, name.count("/"), files[name], tuple(records.get(name, {}).values())) for name in names]


def _folders_of(path: str) -> list[str]:
    """Return the parent folders of `path`, down to the depth of the map.

    Of a pattern such as `src/*.py`, these are the folders before the first wildcard.
    """
    parts = path.strip("/").split("/")
    fixed = next((position for position, part in enumerate(parts) if "*" in part or "?" in part), None)
    folders = parts[:fixed] if fixed is not None else parts if path.endswith("/") else parts[:-1]
    return ["/".join(folders[: position + 1]) for position in range(min(len(folders), _MAX_DEPTH))]


ROUTES = (Route("/timeline", show_timeline), Route("/map", show_map))
