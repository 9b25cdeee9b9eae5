"""`/`: what needs the user, what agents were shown, whether that was right, and what is known; and `/feedback`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from onrecord import attention, categories, paths, timestamps
from onrecord.attention import Need, Subject
from onrecord.audit import effect, outcomes, share
from onrecord.audit.outcomes import Outcomes, StreamedShowing, WeekOutcome
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError
from onrecord.paths import StoreRef
from onrecord.project import Project
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.text import plural
from onrecord.usage import event_log
from onrecord.usage.event_log import FEEDBACK, TAKEN_BACK, Showing
from onrecord.web import map_page, record_page, view
from onrecord.web.map_page import DrawnCell

_MAX_NEWEST = 8
_MAX_NEEDS = 4
_MAX_SHOWN = 8
"""So few needs and showings that the four answers of Start are in sight at once, on a screen of 1440 by 900."""

_MAX_STREAM = 200
"""Showings on the page of usage, which has all that Start leaves out."""

_MAX_SUBJECTS = 3
_MAX_LISTED = 3
"""Records that are corrected most, and that were never shown."""


_MAP_WIDTH, _MAP_HEIGHT, _MAP_CELLS = 350, 200, 80
_PLOT_WIDTH, _SHARE_HEIGHT, _BAR_HEIGHT = 290, 84, 30
"""Sizes of the pictures, in units of the SVG."""


class NeedButton(NamedTuple):
    """The button of a need: a form that takes care of it, or a link to the page where that is done."""

    label: str
    address: str
    is_form: bool = False
    subject: str = ""
    file: str = ""


class SubjectView(NamedTuple):
    """One of the things that a need is about; without an address if there is no page for it."""

    title: str
    address: str
    note: str


class NeedView(NamedTuple):
    """A need as the page shows it."""

    need: Need
    icon: str
    level: str
    """`bad` if agents get nothing or something is broken, else `warn` or `info`."""
    button: NeedButton
    subjects: tuple[SubjectView, ...]
    """The first records or drafts that it is about."""


class ShowingView(NamedTuple):
    """A showing in the stream."""

    showing: Showing
    title: str
    address: str
    category: str
    path: str
    """With the prefix of the store."""
    store: str
    host: str
    ago: str


class WeekMark(NamedTuple):
    """A week in the plot: the share that the agent opened with its interval, and the corrections below it."""

    label: str
    """Its first day in words."""
    x: int
    middle: int
    top: int
    bottom: int
    has_share: bool
    bar: int
    text: str


class CategoryCount(NamedTuple):
    """Number of active records in a category."""

    name: str
    label: str
    number: int


_BUTTONS = {
    attention.DRAFT: "Review",
    attention.SHARED_DRAFT: "Review",
    attention.CONFLICT: "Resolve",
    attention.CHANGED: "Verify",
    attention.MISSING: "Settings",
    attention.SETTING: "Settings",
    attention.NOT_USED: "Settings",
    attention.AGENT: "Connect",
}
_ICONS = {
    attention.DRAFT: "inbox",
    attention.SHARED_DRAFT: "inbox",
    attention.CONFLICT: "warning",
    attention.CHANGED: "file",
    attention.CORRECTED: "failure",
    attention.BROKEN: "warning",
    attention.CONTRADICTED: "warning",
    attention.UNREADABLE: "warning",
    attention.OFF: "off",
    attention.SETTING: "settings",
    attention.SYNC: "shared",
    attention.WAITING: "shared",
    attention.REFUSED: "shared",
    attention.MISSING: "shared",
    attention.AGENT: "agent",
    attention.TRUST: "user",
    attention.EMPTY: "plus",
}
_SERIOUS = (
    attention.UNREADABLE, attention.BROKEN, attention.OFF, attention.CONFLICT, attention.SYNC, attention.CONTRADICTED,
)  # fmt: skip
_LIGHT = (attention.WAITING, attention.SETTING, attention.MISSING, attention.EMPTY, attention.AGENT)


def home(request: Request) -> Response:
    site = view.site_of(request)
    project = site.project_for_search()
    index = view.open_index(project)
    newest, total = listing.read(index, listing.ListingFilter(status="active"), _MAX_NEWEST)
    project_map = map_page.read(site, project)
    has_all_needs = request.query_params.get("all") == "needs"
    values = {} if site.is_static else _for_the_user(project, site, has_all_needs=has_all_needs)
    return view.page(
        request,
        "home.html",
        title="Project memory" if site.is_static else "Start",
        counts=_counts(index),
        newest=[view.list_item(record) for record in newest],
        total=total,
        cells=_small_map(project_map),
        coverage=project_map.coverage.root,
        map_width=_MAP_WIDTH,
        map_height=_MAP_HEIGHT,
        words=map_page.words_of(site),
        **values,
    )


def _small_map(project_map: map_page.ProjectMap) -> list[DrawnCell]:
    return map_page.drawing(project_map, project_map.coverage.root, _MAP_WIDTH, _MAP_HEIGHT, _MAP_CELLS)


def _for_the_user(project: Project, site: view.Site, *, has_all_needs: bool) -> dict[str, Any]:
    """Return the values for what is private: a static site has none of it."""
    needs = site.live.needs()
    is_cut = len(needs) > _MAX_NEEDS and not has_all_needs
    streamed = read_stream(project)
    result = outcomes.read(project.known_refs, _MAX_LISTED, is_quick=project.is_quick)
    total = share.total(week.used for week in result.weeks)
    return {
        "needs": need_views(project, needs[:_MAX_NEEDS], most=1) if is_cut else need_views(project, needs),
        "number_of_needs": len(needs),
        "is_cut": is_cut,
        "most_needs": _MAX_NEEDS,
        "shown": showing_views(project, streamed[:_MAX_SHOWN]),
        "shown_link": _shown_link(len(streamed)),
        "log_switch": log_switch(project),
        "outcomes": result,
        "used": total,
        "used_text": effect.percent(total.value) if total.of else "",
        "used_range": effect.range_text(total) if total.of else "",
        "corrections": sum(week.corrected for week in result.weeks),
        "plot": _plot(result),
        "plot_width": _PLOT_WIDTH,
        "share_height": _SHARE_HEIGHT,
        "plot_height": _SHARE_HEIGHT + _BAR_HEIGHT + 34,
        "feedback": FEEDBACK,
    }


def _shown_link(number: int) -> str:
    """Return the words of the link to all showings that are kept."""
    if number <= _MAX_SHOWN:
        return "Usage"
    return f"All {number}" if number < _MAX_STREAM else f"The newest {number}"


def need_views(project: Project, needs: Iterable[Need], *, most: int = _MAX_SUBJECTS) -> list[NeedView]:
    """Return needs as a page shows them, each with at most so many of its subjects."""
    return [_need_view(project, need, most) for need in needs]


def _need_view(project: Project, need: Need, most: int) -> NeedView:
    level = "bad" if need.kind in _SERIOUS else "info" if need.kind in _LIGHT else "warn"
    in_inbox = need.kind in (attention.DRAFT, attention.SHARED_DRAFT, attention.CONFLICT)
    subjects = tuple(
        _draft_subject(project, need, subject) if in_inbox else _subject_view(subject)
        for subject in need.subjects[:most]
    )
    return NeedView(need, _ICONS.get(need.kind, "warning"), level, _button(project, need), subjects)


def _subject_view(of_need: Subject) -> SubjectView:
    address = view.address_of(of_need.path) if of_need.path else ""
    return SubjectView(of_need.title or of_need.name, address, of_need.note)


def _draft_subject(project: Project, need: Need, of_need: Subject) -> SubjectView:
    """Return a draft with its title, which only a page reads: `attention` has the names of the files."""
    ref = next((ref for ref in project.known_refs if paths.store_name(ref.prefix) == need.store), None)
    try:
        title = Inbox(paths.working_root(ref.root)).get(of_need.name).record.title if ref else of_need.name
    except OnrecordError:
        title = of_need.name
    anchor = view.draft_anchor(view.name_in_address(ref.prefix) if ref else need.store, of_need.name)
    return SubjectView(title, f"{need.page}#{anchor}", of_need.note)


def _button(project: Project, need: Need) -> NeedButton:
    if need.kind == attention.TRUST:
        return NeedButton("Accept", "/do/trust", is_form=True)
    if need.kind in (attention.SYNC, attention.WAITING) and need.store:
        return NeedButton("Sync now", "/do/sync", is_form=True, subject=need.store)
    switch = need.subjects[0].name if need.kind in (attention.OFF, attention.SETTING) and need.subjects else ""
    if switch in project.settings.origins:
        file = project.settings.origins[switch]
        return NeedButton("Use the default", "/do/unset", is_form=True, subject=switch, file=file)
    if need.kind == attention.CORRECTED and need.number == 1 and need.subjects[0].path:
        return NeedButton("Improve", f"{view.address_of(need.subjects[0].path)}/edit")
    return NeedButton(_BUTTONS.get(need.kind, "See which"), need.page)


class LogSwitch(NamedTuple):
    """The switch of the event log, where it is off."""

    file: str
    """The config file that sets it; empty if it is not a file."""


def log_switch(project: Project) -> LogSwitch | None:
    """Return the switch of the event log if it is off: nothing new appears in the stream then."""
    is_on = project.settings.flag(event_log.SETTING)
    return None if is_on else LogSwitch(project.settings.origins.get(event_log.SETTING, ""))


def read_stream(project: Project) -> list[StreamedShowing]:
    """Return the newest showings in the stores of a project."""
    return outcomes.stream(project.known_refs, _MAX_STREAM)


def showing_views(project: Project, streamed: Iterable[StreamedShowing]) -> list[ShowingView]:
    """Return showings as a page shows them."""
    refs = project.known_refs
    return [_showing_view(refs, showing) for showing in streamed]


def _showing_view(refs: Sequence[StoreRef], streamed: StreamedShowing) -> ShowingView:
    showing = streamed.showing
    title, category, address = f"map of {showing.lines:,} records", "", "/map"
    if showing.path:
        root = next(ref.root for ref in refs if paths.store_name(ref.prefix) == streamed.store)
        try:
            record = Store(root).read(showing.path).memory
            title, category, address = record.title, record.category, view.address_of(streamed.path)
        except OnrecordError:
            title, address = f"{showing.path} (deleted)", ""
    host, ago = view.host_title(showing.host), timestamps.ago(showing.at)
    return ShowingView(showing, title, address, category, streamed.path, streamed.store, host, ago)


def _plot(totals: Outcomes) -> list[WeekMark]:
    highest = max((week.corrected for week in totals.weeks), default=0) or 1
    column = _PLOT_WIDTH / max(len(totals.weeks), 1)
    return [_week_mark(week, round((number + 0.5) * column), highest) for number, week in enumerate(totals.weeks)]


def _week_mark(week: WeekOutcome, x: int, highest: int) -> WeekMark:
    low, high = week.used.interval
    middle, top, bottom = (round(_SHARE_HEIGHT * (1 - value)) for value in (week.used.value, high, low))
    share_text = (
        f"{week.used.hits:,} of {week.used.of:,} opened ({effect.range_text(week.used)})"
        if week.used.of
        else "nothing shown"
    )
    corrected = f", corrected {plural(week.corrected, 'time')}" if week.corrected else ""
    bar, label = round(_BAR_HEIGHT * week.corrected / highest), effect.day_in_words(week.monday)
    return WeekMark(label, x, middle, top, bottom, bool(week.used.of), bar, f"week of {label}: {share_text}{corrected}")


def _counts(index: Index) -> list[CategoryCount]:
    numbers = listing.counts(index)
    return [
        CategoryCount(name, category.folder.replace("-", " ").capitalize(), numbers.get((name, "active"), 0))
        for name, category in categories.CATEGORIES.items()
    ]


def give_feedback(request: Request) -> Response:
    """Note what the user says about a showing; the same button again takes it back."""
    fields = view.form_fields(request)
    store = record_page.store_by_name(request, fields.get("store", view.PROJECT))
    path, verdict, session = fields.get("record", ""), fields.get("verdict", ""), fields.get("session", "")
    if verdict not in FEEDBACK:
        raise BadInput("this says nothing about a record", fix="use the buttons on the page")
    entry = store.read(path)
    showings = event_log.showings(event_log.read(store.root), path=entry.path)
    feedback = next((showing.feedback for showing in showings if showing.session == session), "")
    event_log.give_feedback(store.root, entry.path, TAKEN_BACK if feedback == verdict else verdict, session)
    back = "/usage#shown" if fields.get("page") == "/usage" else "/#shown"
    return RedirectResponse(view.site_of(request).access.prefix + back, 303)


ROUTES = (Route("/", home), Route("/feedback", give_feedback, methods=["POST"]))
