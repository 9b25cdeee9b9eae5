"""`/map`: which folders and tags have records, and which folders have none."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.git import repository
from onrecord.search import listing
from onrecord.search.listing import Choice, Listed
from onrecord.web import view

_MOST_RECORDS = 20_000
_MOST_FOLDERS = 400
_DEPTH = 3
"""Folders below the project's root that have a row of their own."""

_PATIENCE = 3.0
_MOST_TAGS = 60


class Folder(NamedTuple):
    """A folder of the project, its files, and the active records about something in it."""

    path: str
    depth: int
    files: int
    records: tuple[Listed, ...]


def show(request: Request) -> Response:
    project = view.site_of(request).searched()
    records, _ = listing.read(view.opened(project), Choice(status="active"), _MOST_RECORDS)
    tags = Counter(tag for record in records for tag in record.tags).most_common(_MOST_TAGS)
    folders = _folders(_tracked(project.root), records)
    return view.page(
        request,
        "map.html",
        title="Map",
        folders=folders[:_MOST_FOLDERS],
        total=len(folders),
        tags=tags,
        without=sum(1 for record in records if not record.files),
        listed=view.listed,
    )


def _tracked(root: str) -> list[str]:
    """The files that git knows in a project; empty where there is no git."""
    around = repository.around(root)
    if around is None:
        return []
    answer = around.ask("ls-files", "-z", "--", ".", deadline=time.monotonic() + _PATIENCE, about_files=True)
    return [name for name in answer.output.decode("utf-8", "replace").split("\0") if name]


def _folders(tracked: Iterable[str], records: Iterable[Listed]) -> list[Folder]:
    files = Counter(folder for name in tracked for folder in _above(name))
    about: dict[str, dict[str, Listed]] = {}
    for record in records:
        for file in record.files:
            for folder in _above(file.partition("#")[0]):
                about.setdefault(folder, {})[record.path] = record
    names = sorted(set(files) | set(about))
    return [Folder(name, name.count("/"), files[name], tuple(about.get(name, {}).values())) for name in names]


def _above(path: str) -> list[str]:
    """The folders that a path lies in, down to the depth of the map; a folder or pattern lies in itself."""
    parts = path.strip("/").split("/")
    fixed = next((place for place, part in enumerate(parts) if "*" in part or "?" in part), None)
    folders = parts[:fixed] if fixed is not None else parts if path.endswith("/") else parts[:-1]
    return ["/".join(folders[: place + 1]) for place in range(min(len(folders), _DEPTH))]


ROUTES = (Route("/map", show),)
