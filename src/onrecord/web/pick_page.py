"""`/pick/…`: what a field of a form offers while somebody types: ids of records, tags, and files of the project."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.record.naming import remove_invisible
from onrecord.search import index, listing
from onrecord.text import plural
from onrecord.web import coverage, view

MAX_OFFERED = 20
_MAX_TYPED = 200
_MAX_TAGGED = 5_000
"""Records of each store whose tags are counted: the newest ones."""

_FILES_SECONDS = 10.0
"""Time for which the list of files is kept: git takes a while in a large repository."""


class _Files(NamedTuple):
    """The files and folders of a project, and when git listed them."""

    at: float
    names: list[str]


_files: dict[str, _Files] = {}
"""By project; a server has one."""


def pick_ids(request: Request) -> Response:
    """Return records whose id or title contains what is typed, with their titles."""
    project, typed = _asked(request)
    titles: dict[str, str] = {}
    for ref in reversed(project.store_refs):
        titles.update(listing.containing(index.open(ref.root, hook=project.is_quick), typed, MAX_OFFERED))
    begun = sorted(titles, key=lambda record_id: not record_id.startswith(typed))
    return _offers({record_id: titles[record_id] for record_id in begun})


def pick_tags(request: Request) -> Response:
    """Return the tags that contain what is typed, the most frequent first, with how many records have them."""
    project, typed = _asked(request)
    counts: Counter[str] = Counter()
    for ref in project.store_refs:
        counts.update(listing.newest_tags(index.open(ref.root, hook=project.is_quick), _MAX_TAGGED))
    frequent = [tag for tag, _ in counts.most_common()]
    return _offers({tag: f"{tag} · {plural(counts[tag], 'record')}" for tag in _containing(frequent, typed)})


def pick_files(request: Request) -> Response:
    """Return the files and folders of the project, as git tracks them, that contain what is typed."""
    project, typed = _asked(request)
    kept = _files.get(project.root)
    if kept is None or time.monotonic() - kept.at > _FILES_SECONDS:
        tracked = [name for name in coverage.tracked_files(project.root) if name.isprintable()]
        folders = dict.fromkeys(folder for name in tracked for folder in _folders_of(name))
        kept = _files[project.root] = _Files(time.monotonic(), [*folders, *tracked])
    return _offers({name: name for name in _containing(kept.names, typed)})


def _asked(request: Request) -> tuple[Project, str]:
    typed = request.query_params.get("q", "")[:_MAX_TYPED].strip().lower()
    return view.site_of(request).project_for_search(), typed


def _folders_of(name: str) -> Iterable[str]:
    end = name.find("/")
    while end >= 0:
        yield name[: end + 1]
        end = name.find("/", end + 1)


def _containing(names: Iterable[str], typed: str) -> list[str]:
    """Return the names that contain what is typed; those that begin with it, or whose last part does, come first."""
    fitting = [name for name in names if typed in name.lower()]
    return sorted(fitting, key=lambda name: _place(name.lower(), typed))[:MAX_OFFERED]


def _place(name: str, typed: str) -> int:
    if name.startswith(typed):
        return 0
    return 1 if name.rstrip("/").rpartition("/")[2].startswith(typed) else 2


def _offers(labels: Mapping[str, str]) -> Response:
    offers = [{"value": value, "label": remove_invisible(label)} for value, label in labels.items()]
    return JSONResponse(offers[:MAX_OFFERED])


ROUTES = (
    Route("/pick/ids", pick_ids),
    Route("/pick/tags", pick_tags),
    Route("/pick/files", pick_files),
)
