"""`/settings`: every setting with its value and where that comes from; and the choice of a theme."""

from __future__ import annotations

from itertools import groupby

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.setting_table import SETTINGS
from onrecord.settings import Settings, off_switches
from onrecord.web import view

_HEADINGS = {
    "retrieval": "What an agent is shown",
    "session_start": "At the start of a session",
    "checks": "Checks",
    "capture": "What is suggested to be saved",
    "categories": "Categories",
    "judge": "Judge",
    "export": "Export",
}
"""Headings of the groups of settings whose name does not say enough."""


class SettingRow(NamedTuple):
    """A setting with its current value."""

    key: str
    value: str
    source: str
    """The file that sets it; empty for the default."""
    meaning: str
    consequence: str
    """What is hidden or not done because of its value; empty if nothing."""


class SettingGroup(NamedTuple):
    """Settings of one feature."""

    name: str
    heading: str
    rows: tuple[SettingRow, ...]


def show(request: Request) -> Response:
    settings = view.site_of(request).project().settings
    consequences = {switch.key: switch.consequence for switch in off_switches(settings)}
    rows = [_row(settings, key, consequences.get(key, "")) for key in SETTINGS]
    return view.page(
        request,
        "settings.html",
        title="Settings",
        groups=[
            SettingGroup(name, _HEADINGS.get(name, name.replace("_", " ").capitalize()), tuple(group))
            for name, group in groupby(sorted(rows, key=_place), lambda row: row.key.partition(".")[0])
        ],
        hidden=[row for row in rows if row.consequence],
        changed=sum(1 for row in rows if row.source),
        problems=[f"{problem.file}: {problem.key} {problem.message}" for problem in settings.problems],
        file=paths.CONFIG,
    )


def _place(setting_row: SettingRow) -> int:
    """Return the place of a setting's group: that of its first setting in the table."""
    group = setting_row.key.partition(".")[0]
    return next(place for place, key in enumerate(SETTINGS) if key.partition(".")[0] == group)


def _row(settings: Settings, key: str, consequence: str) -> SettingRow:
    source = settings.origins.get(key, "") if settings.is_set(key) else ""
    return SettingRow(key, _text(settings.value(key)), source, SETTINGS[key].doc, consequence)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def choose_theme(request: Request) -> Response:
    """Keep the chosen theme, and return to the page that it was chosen on."""
    fields = view.form_fields(request)
    view.choose_theme(fields.get("theme", ""))
    page = fields.get("page", "/")
    # With two slashes it would be the address of another host.
    is_page = page.startswith("/") and page[1:2] not in ("/", "\\") and page.isprintable()
    return RedirectResponse(view.site_of(request).access.prefix + (page if is_page else "/"), 303)


ROUTES = (Route("/settings", show), Route("/theme", choose_theme, methods=["POST"]))
