"""`/search`: results as you type, narrowed by facets, in all stores; without words, all records, latest change first.

The address says all of it, so that a search can be kept and the page works without its script. `/search.json` and
`/pick/…` are for the scripts of other pages: the palette, and fields of forms that offer what fits what is typed.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlencode

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from onrecord import globs, paths
from onrecord.audit import outcomes
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.project import Hit, Project
from onrecord.record.naming import remove_invisible
from onrecord.search import index, listing, terms
from onrecord.search.listing import Listed, ListingFilter
from onrecord.text import plural
from onrecord.usage import usage_log
from onrecord.web import coverage, view

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

STORE, CATEGORY, STATUS, TAG, FILE, NEVER, CORRECTED = (
    "store", "category", "status", "tag", "file", "never", "corrected",
)  # fmt: skip

FACETS = (STORE, CATEGORY, STATUS, TAG, FILE, NEVER, CORRECTED)
"""The facets, as they are named in addresses."""

FLAGS = {NEVER: "never shown", CORRECTED: "corrected"}
"""Facets with one choice, and its words."""

_HEADINGS = {STORE: "Store", CATEGORY: "Category", STATUS: "Status", TAG: "Tag", FILE: "File", NEVER: "Use"}

_MAX_CHOICES = {TAG: 12, FILE: 6}

_FEW_CHOICES = 20
"""Choices shown of a facet: the most frequent ones, and the one that is chosen."""

_MAX_VALUE = 300


_MAX_OFFERED = 20
_MAX_PICK_CHARS = 200
_MAX_TAGGED = 5_000
"""Records of each store whose tags are counted: the newest ones."""

_FILES_SECONDS = 10.0
"""Time for which the list of files is kept: git takes a while in a large repository."""


class PickOffer(NamedTuple):
    """A value that a field offers, how it is shown, and what else helps to choose it."""

    value: str
    label: str
    note: str = ""


class _Files(NamedTuple):
    """The files and folders of a project, and when git listed them."""

    at: float
    names: list[str]


_files: dict[str, _Files] = {}
"""By project; a server has one."""


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


class _Matches(NamedTuple):
    """All records that a search is about, before facets narrow them."""

    facet_rows: Sequence[FacetRow]
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
    nearest: Sequence[Result]
    nothing: str
    is_cut: bool


def search(request: Request) -> Response:
    project, params = view.site_of(request).project_for_search(), request.query_params
    if view.site_of(request).is_static:
        rows, _ = listing.read(view.open_index(project), ListingFilter(), _PER_PAGE)
        return view.page(request, "search.html", title="Search", records=list(map(view.list_item, rows)))
    project.require_a_store()
    selection = read_selection(params, view.page_number(params.get("page", "")), _MAX_QUERY_CHARS)
    values = {**_results(project, selection)._asdict(), "selection": selection, "per_page": _PER_PAGE}
    if params.get("part"):
        return view.fragment(request, "results.html", **values)
    return view.page(request, "search.html", title="Search", **values)


def quick(request: Request) -> Response:
    """Return the first results as JSON, for the palette."""
    site = view.site_of(request)
    text = request.query_params.get("q", "")[:_MAX_QUERY_CHARS]
    hits = site.project_for_search().search(text, _MAX_QUICK) if text.strip() else []
    offers = [
        {
            "title": remove_invisible(hit.title),
            "category": hit.category,
            "store": hit.source,
            "address": f"{site.access.prefix}{view.address_of(hit.path)}",
            "snippet": remove_invisible(hit.snippet()),
        }
        for hit in (hits or getattr(hits, "nearest", []))
    ]
    return JSONResponse(offers[:_MAX_QUICK])


def _results(project: Project, selection: Selection) -> Results:
    matches = _matching(project, selection) if selection.text.strip() else _all(project)
    matching_rows, facets = narrow(matches.facet_rows, selection)
    first = (selection.page - 1) * _PER_PAGE
    page_rows = matching_rows[first : first + _PER_PAGE]
    words = _WORD.findall(selection.text.casefold())
    other_hits = [matches.hits[row.path] for row in page_rows if row.path in matches.hits]
    results = [
        _result(row, matches, words, other_hits if first + number < _MAX_EXPLAINED_RESULTS else ())
        for number, row in enumerate(page_rows)
    ]
    nearest = [] if selection.is_narrow else [_of_hit(hit, words) for hit in matches.nearest]
    return Results(results, facets, len(matching_rows), nearest, matches.nothing, matches.is_cut)


def _matching(project: Project, selection: Selection) -> _Matches:
    """Return the results of a search in all stores."""
    include_retired = selection.facet_values.get(STATUS) in _HIDDEN_STATES
    hits = project.search(selection.text, _MAX_HITS, include_retired=include_retired)
    by_path = {hit.path: hit for hit in hits}
    rows: dict[str, Listed] = {}
    for ref in project.store_refs:
        here = [hit.location[1] for hit in hits if hit.path == f"{ref.prefix}{hit.location[1]}"]
        rows_by_path = listing.at(index.open(ref.root, hook=project.is_quick), here) if here else {}
        rows.update({f"{ref.prefix}{path}": row for path, row in rows_by_path.items()})
    facet_rows = _facet_rows(project, {path: rows[path] for path in by_path if path in rows})
    return _Matches(facet_rows, rows, by_path, hits.nearest, hits.note, len(hits) == _MAX_HITS)


def _all(project: Project) -> _Matches:
    """Return all records of all stores, latest change first."""
    rows: dict[str, Listed] = {}
    is_cut = False
    for ref in project.known_refs:
        store_rows, total = listing.read(index.open(ref.root, hook=project.is_quick), ListingFilter(), None)
        is_cut = is_cut or total > _MAX_LISTED
        rows.update({f"{ref.prefix}{row.path}": row for row in store_rows[:_MAX_LISTED]})
    newest_first = dict(sorted(rows.items(), key=lambda item: item[1].updated_at, reverse=True))
    return _Matches(_facet_rows(project, newest_first), newest_first, {}, is_cut=is_cut)


def _facet_rows(project: Project, listed_rows: Mapping[str, Listed]) -> list[FacetRow]:
    """Return a row for each record: its own fields, and how it is used."""
    used: dict[str, tuple[set[str], set[str]]] = {
        ref.prefix: (outcomes.shown_paths(ref.root), set(usage_log.current_corrections(ref.root)))
        for ref in project.known_refs
    }
    facet_rows = []
    for path, row in listed_rows.items():
        prefix = path[: len(path) - len(row.path)]
        shown_paths, corrected_paths = used.get(prefix, (set(), set()))
        is_never_shown = row.status == "active" and row.path not in shown_paths
        facet_rows.append(
            FacetRow(
                path,
                paths.store_name(prefix),
                row.category,
                row.status,
                row.tags,
                row.files,
                is_never_shown,
                row.path in corrected_paths,
            )
        )
    return facet_rows


def _result(facet_row: FacetRow, search_matches: _Matches, words: Sequence[str], other_hits: Sequence[Hit]) -> Result:
    row, hit = search_matches.rows[facet_row.path], search_matches.hits.get(facet_row.path)
    return Result(
        facet_row.path,
        _marked_words(row.title, words),
        row.category,
        row.status,
        row.updated_at,
        facet_row.store,
        row.tags,
        _snippet(hit) if hit else Markup(),
        hit.reasons(other_hits) if hit and other_hits else (),
        facet_row.is_never_shown,
        facet_row.is_corrected,
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
    beginnings = tuple(word for word in words if len(word) >= _MIN_MARKED)
    if not beginnings:
        return escape(remove_invisible(text))
    inside = re.compile("|".join(map(re.escape, beginnings)), re.IGNORECASE)
    return _marked(_WORD.sub(lambda match: _marked_word(match[0], beginnings, inside), text))


def _marked_word(word: str, beginnings: tuple[str, ...], inside: re.Pattern[str]) -> str:
    """Return a word marked if it begins with one of the query; in a script without spaces, mark those of the query."""
    if any(map(terms.is_unspaced, word)):
        return inside.sub(lambda match: f"{_OPEN}{match[0]}{_CLOSE}", word)
    return f"{_OPEN}{word}{_CLOSE}" if word.casefold().startswith(beginnings) else word


def _marked(text: str) -> Markup:
    """Return a text as HTML, where what is between the marks is marked; everything else in it is escaped."""
    first, *rest = text.split(_OPEN)
    parts = [escape(remove_invisible(first))]
    for part in rest:
        word, _, after = part.partition(_CLOSE)
        parts.append(Markup("<mark>{}</mark>{}").format(remove_invisible(word), remove_invisible(after)))
    return Markup().join(parts)


class FacetRow(NamedTuple):
    """The fields of a record that facets narrow by."""

    path: str
    """With the prefix of its store."""
    store: str
    category: str
    status: str
    tags: Sequence[str]
    files: Sequence[str]
    is_never_shown: bool
    is_corrected: bool

    def values(self, facet: str) -> Sequence[str]:
        """Return the choices of a facet that this record is among."""
        if facet == TAG:
            return self.tags
        if facet == FILE:
            return [file.partition("#")[0] for file in self.files]
        if facet in FLAGS:
            return ["1"] if (self.is_never_shown if facet == NEVER else self.is_corrected) else []
        return [getattr(self, facet)]


class FacetChoice(NamedTuple):
    """One choice of a facet: its label, the number of records that it leaves, and the address that takes it."""

    facet: str
    value: str
    label: str
    number: int
    address: str
    is_chosen: bool


class Facet(NamedTuple):
    """A facet with its choices."""

    name: str
    heading: str
    choices: Sequence[FacetChoice]


class Selection(NamedTuple):
    """The text of a search, the chosen value of each facet, and the page: all that the address has."""

    text: str
    facet_values: Mapping[str, str]
    """By facet; without those that are not chosen."""
    page: int = 1

    @property
    def is_narrow(self) -> bool:
        return bool(self.facet_values)

    def address(self, facet: str = "", choice: str = "", page_number: int = 1) -> str:
        """Return the address of this selection with another value of a facet, and of one of its pages."""
        facet_values = {**self.facet_values, facet: choice} if facet else self.facet_values
        fields = {"q": self.text, **facet_values, "page": str(page_number) if page_number > 1 else ""}
        query = urlencode({name: text for name, text in fields.items() if text})
        return f"/search?{query}" if query else "/search"

    def accepts(self, facet_row: FacetRow, facet: str) -> bool:
        """True if a record is among what is chosen of a facet, or nothing is."""
        value = self.facet_values.get(facet, "")
        if not value:
            return True
        values = facet_row.values(facet)
        return value in values or (facet == FILE and any(_covers(file, value) for file in values))


def read_selection(params: Mapping[str, str], page_number: int, max_chars: int) -> Selection:
    """Return the selection that an address names."""
    facet_values = {name: params.get(name, "")[:_MAX_VALUE].strip() for name in FACETS}
    facet_values = {name: "1" if name in FLAGS else value for name, value in facet_values.items() if value}
    return Selection(params.get("q", "")[:max_chars], facet_values, page_number)


def narrow(facet_rows: Sequence[FacetRow], selection: Selection) -> tuple[list[FacetRow], list[Facet]]:
    """Return the records that are chosen, and the facets with how many records each choice would leave.

    The numbers of a facet are those with all other facets as they are chosen.
    """
    counts: dict[str, Counter[str]] = {facet: Counter() for facet in FACETS}
    matching_rows: list[FacetRow] = []
    for facet_row in facet_rows:
        refusing = [facet for facet in selection.facet_values if not selection.accepts(facet_row, facet)]
        if not refusing:
            matching_rows.append(facet_row)
        # One that a single facet refuses is counted for that one alone.
        for facet in FACETS if not refusing else refusing if len(refusing) == 1 else ():
            counts[facet].update(facet_row.values(facet))
    facets = [Facet(name, _HEADINGS[name], list(_choices(name, counts, selection))) for name in _HEADINGS]
    return matching_rows, [facet for facet in facets if _narrows(facet, len(matching_rows))]


def _narrows(facet: Facet, total: int) -> bool:
    """True if a facet has a choice that changes anything."""
    return any(choice.is_chosen or choice.number < total for choice in facet.choices)


def _choices(name: str, choice_counts: Mapping[str, Counter[str]], selection: Selection) -> Iterator[FacetChoice]:
    """Yield the choices of a facet, the current one first, then the most frequent ones."""
    names = (NEVER, CORRECTED) if name == NEVER else (name,)
    for facet in names:
        current = selection.facet_values.get(facet, "")
        frequent = [value for value, _ in choice_counts[facet].most_common(_MAX_CHOICES.get(facet, _FEW_CHOICES))]
        for value in dict.fromkeys([*([current] if current else []), *frequent]):
            is_chosen = value == current
            number = choice_counts[facet][value]
            label = FLAGS.get(facet) or (value.replace("_", " ") if facet == CATEGORY else value)
            target = selection.address(facet, "" if is_chosen else value)
            yield FacetChoice(facet, value, label, number, target, is_chosen)


def _covers(pattern: str, path: str) -> bool:
    """True if a file, a folder or a glob of a record covers a path, or is in the folder at that path."""
    pattern, path = pattern.rstrip("/"), path.rstrip("/")
    return pattern == path or pattern.startswith(f"{path}/") or globs.matches(pattern, path)


def pick_ids(request: Request) -> Response:
    """Return the records that have each word of the query in the id or the title: of one store, or of all."""
    project, text = _query(request)
    store = request.query_params.get("store", "")
    offers: dict[str, PickOffer] = {}
    for ref in project.known_refs:
        name = view.name_in_address(ref.prefix)
        if store not in ("", name):
            continue
        for record_id, title in listing.containing(index.open(ref.root, hook=project.is_quick), text, _MAX_OFFERED):
            offers.setdefault(record_id, PickOffer(record_id, title, record_id if store else f"{record_id} · {name}"))
    return _offers(sorted(offers.values(), key=lambda offer: not offer.value.startswith(text)))


def pick_tags(request: Request) -> Response:
    """Return the tags that contain the query, the most frequent first, with how many records have them."""
    project, text = _query(request)
    counts: Counter[str] = Counter()
    for ref in project.store_refs:
        counts.update(listing.newest_tags(index.open(ref.root, hook=project.is_quick), _MAX_TAGGED))
    frequent = [tag for tag, _ in counts.most_common()]
    return _offers(PickOffer(tag, tag, plural(counts[tag], "record")) for tag in _containing(frequent, text))


def pick_files(request: Request) -> Response:
    """Return the files and folders of the project, as git tracks them, that contain the query."""
    project, text = _query(request)
    files = _files.get(project.root)
    if files is None or time.monotonic() - files.at > _FILES_SECONDS:
        tracked = [name for name in coverage.tracked_files(project.root) if name.isprintable()]
        folders = dict.fromkeys(folder for name in tracked for folder in _folders_of(name))
        files = _files[project.root] = _Files(time.monotonic(), [*folders, *tracked])
    return _offers(PickOffer(name, name) for name in _containing(files.names, text))


def _query(request: Request) -> tuple[Project, str]:
    """Return the project, and the text that was typed into a field."""
    text = request.query_params.get("q", "")[:_MAX_PICK_CHARS].strip().lower()
    return view.site_of(request).project_for_search(), text


def _folders_of(name: str) -> Iterable[str]:
    end = name.find("/")
    while end >= 0:
        yield name[: end + 1]
        end = name.find("/", end + 1)


def _containing(names: Iterable[str], text: str) -> list[str]:
    """Return the names that contain a text; those that begin with it, or whose last part does, come first."""
    fitting = [name for name in names if text in name.lower()]
    return sorted(fitting, key=lambda name: _place(name.lower(), text))[:_MAX_OFFERED]


def _place(name: str, text: str) -> int:
    if name.startswith(text):
        return 0
    return 1 if name.rstrip("/").rpartition("/")[2].startswith(text) else 2


def _offers(offers: Iterable[PickOffer]) -> Response:
    visible_offers = (PickOffer(offer.value, remove_invisible(offer.label), offer.note) for offer in offers)
    return JSONResponse([offer._asdict() for offer in visible_offers][:_MAX_OFFERED])


ROUTES = (
    Route("/search", search),
    Route("/search.json", quick),
    Route("/pick/ids", pick_ids),
    Route("/pick/tags", pick_tags),
    Route("/pick/files", pick_files),
)
