"""`/search`: results as you type, narrowed by facets, in all stores; without words, all records, latest change first.

The address says all of it, so that a search can be kept and the page works without its script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from onrecord import paths
from onrecord.audit import outcomes
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.project import Hit, Project
from onrecord.record.naming import remove_invisible
from onrecord.search import index, listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.usage import usage_log
from onrecord.web import facets, view
from onrecord.web.facets import Facet, Selection

_MAX_HITS = 200
"""Results of a search that are looked at; nobody reads more, and facets narrow them."""

_MAX_LISTED = 20_000
"""Records of each store that are listed without words, the newest ones: half a second."""

_MAX_EXPLAINED_RESULTS = 5
"""Results that are shown with reasons; the reasons of later results differ little."""

_PER_PAGE = 30
_MAX_QUERY_CHARS = 2_000
"""The same limit as in a hook."""

_MAX_QUICK = 8
_HIDDEN_STATES = ("retired", "archived")
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Marks around words of the query, from the area for private use: in a record they mean no more than a mark."""

_WORD = re.compile(r"\w+")
_MIN_MARKED = 2


class Result(NamedTuple):
    """A record in the list of results."""

    path: str
    """With the prefix of its store."""
    title: Markup
    category: str
    status: str
    updated_at: str
    store: str
    tags: Sequence[str]
    snippet: Markup = Markup()
    reasons: Sequence[str] = ()
    is_never_shown: bool = False
    is_corrected: bool = False


class _Found(NamedTuple):
    """All records that a search is about, before facets narrow them."""

    listings: Sequence[facets.Listing]
    rows: dict[str, Listed]
    hits: dict[str, Hit]
    nearest: Sequence[Hit] = ()
    nothing: str = ""
    is_cut: bool = False
    """True if there are more than were looked at."""


class Results(NamedTuple):
    """One page of results."""

    results: Sequence[Result]
    facets: Sequence[Facet]
    total: int
    nearest: Sequence[Result] = ()
    nothing: str = ""
    is_cut: bool = False


def search(request: Request) -> Response:
    project, params = view.site_of(request).project_for_search(), request.query_params
    if view.site_of(request).is_static:
        rows, _ = listing.read(view.open_index(project), ListingFilter(), _PER_PAGE)
        return view.page(request, "search.html", title="Search", records=list(map(view.list_item, rows)))
    wanted = facets.selection(params, view.page_number(params.get("page", "")), _MAX_QUERY_CHARS)
    values = {**_results(project, wanted)._asdict(), "wanted": wanted, "per_page": _PER_PAGE}
    if params.get("part"):
        return view.fragment(request, "results.html", **values)
    return view.page(request, "search.html", title="Search", **values)


def quick(request: Request) -> Response:
    """Return the first results as JSON, for the palette."""
    site = view.site_of(request)
    text = request.query_params.get("q", "")[:_MAX_QUERY_CHARS]
    hits = site.project_for_search().search(text, _MAX_QUICK) if text.strip() else []
    found = [
        {
            "title": remove_invisible(hit.title),
            "category": hit.category,
            "store": hit.source,
            "address": f"{site.access.prefix}{view.address_of(hit.path)}",
            "snippet": remove_invisible(hit.snippet()),
        }
        for hit in (hits or getattr(hits, "nearest", []))
    ]
    return JSONResponse(found[:_MAX_QUICK])


def _results(project: Project, wanted: Selection) -> Results:
    found = _matching(project, wanted) if wanted.text.strip() else _all(project)
    accepted, choices = facets.narrow(found.listings, wanted)
    first = (wanted.page - 1) * _PER_PAGE
    shown = accepted[first : first + _PER_PAGE]
    words = _WORD.findall(wanted.text.casefold())
    others = [found.hits[one.path] for one in shown if one.path in found.hits]
    results = [
        _result(one, found, words, others if first + number < _MAX_EXPLAINED_RESULTS else ())
        for number, one in enumerate(shown)
    ]
    nearest = [] if wanted.is_narrow else [_of_hit(hit, words) for hit in found.nearest]
    return Results(results, choices, len(accepted), nearest, found.nothing, found.is_cut)


def _matching(project: Project, wanted: Selection) -> _Found:
    """Return the results of a search in all stores."""
    include_retired = wanted.chosen.get(facets.STATUS) in _HIDDEN_STATES
    hits = project.search(wanted.text, _MAX_HITS, include_retired=include_retired)
    by_path = {hit.path: hit for hit in hits}
    rows: dict[str, Listed] = {}
    for ref in project.store_refs:
        here = [hit.location[1] for hit in hits if hit.path == f"{ref.prefix}{hit.location[1]}"]
        found = listing.at(index.open(ref.root, hook=project.is_quick), here) if here else {}
        rows.update({f"{ref.prefix}{path}": row for path, row in found.items()})
    listings = _listings(project, {path: rows[path] for path in by_path if path in rows})
    return _Found(listings, rows, by_path, hits.nearest, hits.note, len(hits) == _MAX_HITS)


def _all(project: Project) -> _Found:
    """Return all records of all stores, latest change first."""
    rows: dict[str, Listed] = {}
    is_cut = False
    for ref in project.known_refs:
        found, total = listing.read(index.open(ref.root, hook=project.is_quick), ListingFilter(), None)
        is_cut = is_cut or total > _MAX_LISTED
        rows.update({f"{ref.prefix}{row.path}": row for row in found[:_MAX_LISTED]})
    newest_first = dict(sorted(rows.items(), key=lambda item: item[1].updated_at, reverse=True))
    return _Found(_listings(project, newest_first), newest_first, {}, is_cut=is_cut)


def _listings(project: Project, rows: dict[str, Listed]) -> list[facets.Listing]:
    """Return what the facets need of each record: its own fields, and how it is used."""
    used: dict[str, tuple[set[str], set[str]]] = {
        ref.prefix: (outcomes.shown_paths(ref.root), set(usage_log.current_corrections(ref.root)))
        for ref in project.known_refs
    }
    listings = []
    for path, row in rows.items():
        prefix = path[: len(path) - len(row.path)]
        shown, corrected = used.get(prefix, (set(), set()))
        is_never_shown = row.status == "active" and row.path not in shown
        listings.append(
            facets.Listing(
                path,
                paths.store_name(prefix),
                row.category,
                row.status,
                row.tags,
                row.files,
                is_never_shown,
                row.path in corrected,
            )
        )
    return listings


def _result(one: facets.Listing, found: _Found, words: Sequence[str], others: Sequence[Hit]) -> Result:
    row, hit = found.rows[one.path], found.hits.get(one.path)
    return Result(
        one.path,
        _marked_words(row.title, words),
        row.category,
        row.status,
        row.updated_at,
        one.store,
        row.tags,
        _snippet(hit) if hit else Markup(),
        hit.reasons(others) if hit and others else (),
        one.is_never_shown,
        one.is_corrected,
    )


def _of_hit(hit: Hit, words: Sequence[str]) -> Result:
    title = _marked_words(hit.title, words)
    return Result(hit.path, title, hit.category, hit.status, hit.updated_at, hit.source, hit.tags, _snippet(hit))


def _snippet(hit: Hit) -> Markup:
    """Return the passage that matches best, with the words of the query marked."""
    try:
        return _marked(hit.snippet((_OPEN, _CLOSE)))
    except OnrecordError:
        return Markup()


def _marked_words(text: str, words: Sequence[str]) -> Markup:
    """Return a text with the words marked that begin with one of the query."""
    wanted = tuple(word for word in words if len(word) >= _MIN_MARKED)
    if not wanted:
        return escape(remove_invisible(text))
    return _marked(
        _WORD.sub(lambda word: f"{_OPEN}{word[0]}{_CLOSE}" if word[0].casefold().startswith(wanted) else word[0], text)
    )


def _marked(text: str) -> Markup:
    """Return a text as HTML, where what is between the marks is marked; everything else in it is escaped."""
    first, *rest = text.split(_OPEN)
    parts = [escape(remove_invisible(first))]
    for part in rest:
        word, _, after = part.partition(_CLOSE)
        parts.append(Markup("<mark>{}</mark>{}").format(remove_invisible(word), remove_invisible(after)))
    return Markup().join(parts)


ROUTES = (Route("/search", search), Route("/search.json", quick))
