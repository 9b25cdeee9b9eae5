"""`/map`: the repository as a tree map, down to folders and files, with the records about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.audit import outcomes
from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.search.listing import Listed, ListingFilter
from onrecord.text import plural
from onrecord.web import coverage, tree_map, view
from onrecord.web.coverage import Area, Coverage, RecordedFiles
from onrecord.web.tree_map import Cell
from onrecord.web.view import ListItem, Site

WIDTH, HEIGHT = 720, 470
"""Size of the drawing, in units of the SVG."""

_MAX_RECORDS = 20_000
_MAX_CELLS = 360
_MAX_LISTED = 200
"""Records about a folder in the list beside the map, and rows of the table below it."""

_MAX_MARKED = 20
"""Records that the list marks for one box."""

_COUNT_ROOM = 12
"""Space around the name and the count in a box."""

_MAX_TAGS = 40
_MAX_STATIC_FOLDERS = 300
"""Folders that have a page on a static site: the largest ones."""

WORDS = {
    coverage.CORRECTED: "agent was corrected",
    coverage.CHANGED: "changed since",
    coverage.COVERED: "with records",
    coverage.BARE: "no record",
}
"""The states in words, as the key of the map names them."""


class DrawnCell(NamedTuple):
    """A box of the map with the text that describes it, and its address."""

    cell: Cell
    text: str
    address: str
    """Empty for a file without records, and for a folder without a page."""
    numbers: str
    """The numbers of the records about it in the list, with spaces between them."""
    number: str
    """How many records are about it, if there is room for that beside its name."""


class AreaRow(NamedTuple):
    """A folder or file in the table."""

    name: str
    address: str
    is_folder: bool
    area: Area
    records: int


class Crumb(NamedTuple):
    """A folder above the one that is shown."""

    name: str
    address: str


class ProjectMap(NamedTuple):
    """The records in force of a project, and the files that they are about."""

    records: Sequence[Listed]
    coverage: Coverage
    static_folders: frozenset[str] | None
    """The folders that have a page on a static site; None where every folder and file has one."""

    def address(self, area: Area) -> str:
        """Return the address of the map of a folder, or of a file with records; empty if it has no page."""
        if self.static_folders is not None:
            return address(area.path) if area.path in self.static_folders else ""
        return address(area.path) if area.children or area.below or self.coverage.numbers_about(area) else ""


def read(site: Site, project: Project) -> ProjectMap:
    """Return the map of the site's project, which the caller has read."""
    index = view.open_index(project)
    records, _ = listing.read(index, ListingFilter(status="active"), _MAX_RECORDS)
    states = _states(site, index)
    recorded = [RecordedFiles(record.files, states.get(record.path, coverage.COVERED)) for record in records]
    measured = coverage.measure(coverage.tracked_files(project.root), recorded)
    folders = frozenset(largest_folders(measured, _MAX_STATIC_FOLDERS)) if site.is_static else None
    return ProjectMap(records, measured, folders)


def _states(site: Site, index: Index) -> dict[str, str]:
    """Return the paths of the records that were corrected in the last weeks, or whose files changed."""
    ids = frozenset(site.live.changed_files(index.root).ids)
    rows, _ = listing.read(index, ListingFilter(status="active"), _MAX_RECORDS) if ids else ([], 0)
    states = {row.path: coverage.CHANGED for row in rows if row.id in ids}
    # Whom an agent did not obey is nothing to publish.
    corrected = () if site.is_static else outcomes.lately_corrected(index.root)
    return {**states, **dict.fromkeys(corrected, coverage.CORRECTED)}


def drawing(project_map: ProjectMap, area: Area, width: int, height: int, most: int) -> list[DrawnCell]:
    """Return the boxes for what is in `area`."""
    positions = {number: position for position, number in enumerate(_record_numbers(project_map, area))}
    return [_drawn_cell(project_map, cell, positions) for cell in tree_map.draw(area, width, height, most)]


def _drawn_cell(project_map: ProjectMap, cell: Cell, positions: dict[int, int]) -> DrawnCell:
    area = cell.area
    numbers = sorted(project_map.coverage.numbers_about(area)) if not cell.rest else sorted(area.below)
    marked_positions = [str(positions[number]) for number in numbers if number in positions][:_MAX_MARKED]
    text = f"{area.path}/: {cell.rest} more" if cell.rest else area.path + ("/" if area.children else "")
    if area.children or cell.rest:
        text += f", {plural(area.files, 'file')}, {area.with_records:,} with records"
    text += f", {WORDS[area.state]}" if area.state != coverage.COVERED else ""
    if numbers:
        text += f", {plural(len(numbers), 'record')}"
    count = f"{len(numbers):,}" if numbers and cell.label else ""
    has_room = tree_map.text_width(f"{cell.label} {count}") + _COUNT_ROOM <= cell.box.width
    drawn_count = count if has_room else ""
    return DrawnCell(
        cell, text, "" if cell.rest else project_map.address(area), " ".join(marked_positions), drawn_count
    )


def largest_folders(of_files: Coverage, most: int) -> list[str]:
    """Return the paths of the folders with the most files, without the root."""
    folders: list[Area] = []
    waiting = [of_files.root]
    while waiting:
        area = waiting.pop()
        if area.children:
            folders.append(area)
            waiting += area.children.values()
    folders.sort(key=lambda area: (-area.files, area.path))
    return [area.path for area in folders if area.path][:most]


def address(path: str) -> str:
    """Return the address of the map of a folder or file."""
    return f"/map?folder={quote(path)}" if path else "/map"


def words_of(site: Site) -> dict[str, str]:
    """Return the states that a map can show, in words: a static site has no corrections."""
    return {state: words for state, words in WORDS.items() if state != coverage.CORRECTED or not site.is_static}


def _record_numbers(project_map: ProjectMap, area: Area) -> list[int]:
    """Return the numbers of the records about an area, as many as a list holds; those about less of it come first."""
    numbers = project_map.coverage.numbers_about(area)
    return sorted(numbers, key=lambda number: (number not in area.below, number))[:_MAX_LISTED]


def show(request: Request) -> Response:
    site = view.site_of(request)
    project_map = read(site, site.project_for_search())
    path = request.query_params.get("folder", "").strip("/")
    area = project_map.coverage.area(path) or project_map.coverage.root
    tags = Counter(tag for record in project_map.records for tag in record.tags).most_common(_MAX_TAGS)
    rows = _rows(project_map, area)
    return view.page(
        request,
        "map.html",
        title="Map",
        area=area,
        crumbs=_crumbs(area),
        cells=drawing(project_map, area, WIDTH, HEIGHT, _MAX_CELLS) if area.children else [],
        width=WIDTH,
        height=HEIGHT,
        rows=rows[:_MAX_LISTED],
        more_rows=len(rows) - len(rows[:_MAX_LISTED]),
        records=_items(project_map, area),
        number_of_records=len(project_map.coverage.numbers_about(area)),
        words=words_of(site),
        tags=tags,
        without=sum(1 for record in project_map.records if not record.files),
        is_complete=project_map.coverage.is_complete,
    )


def _items(project_map: ProjectMap, area: Area) -> list[ListItem]:
    return [view.list_item(project_map.records[number]) for number in _record_numbers(project_map, area)]


def _crumbs(area: Area) -> list[Crumb]:
    names = area.path.split("/") if area.path else []
    return [Crumb(name, address("/".join(names[: level + 1]))) for level, name in enumerate(names)]


def _rows(project_map: ProjectMap, area: Area) -> list[AreaRow]:
    """Return what is in a folder: the folders, then the files; those with records first."""
    children = sorted(
        area.children.values(), key=lambda child: (not child.children, not child.with_records, -child.files, child.name)
    )
    return [
        AreaRow(
            child.name,
            project_map.address(child),
            bool(child.children),
            child,
            len(project_map.coverage.numbers_about(child)),
        )
        for child in children[: 2 * _MAX_LISTED]
    ]


ROUTES = (Route("/map", show),)
