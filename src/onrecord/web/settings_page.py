"""`/settings`: every setting with its value and where that comes from; and the choice of a theme."""

from __future__ import annotations

from itertools import groupby

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.setting_table import SETTINGS, Setting
from onrecord.settings import Settings, off_switches
from onrecord.web import command_page, view

_HEADINGS = {
    "retrieval": "What an agent is shown",
    "session_start": "At the start of a session",
    "checks": "Checks",
    "capture": "What is suggested to be saved",
    "categories": "Categories",
    "triage": "What is worth a suggestion",
    "judge": "Judge",
    "remotes": "Shared stores",
    "usage": "Event log",
    "export": "Export",
    "delete": "Retired records",
    "trust": "Repositories of others",
}
"""Headings of the groups of settings whose name does not say enough."""


class SettingControl(NamedTuple):
    """The control that changes a setting."""

    choices: tuple[str, ...] = ()
    """The values to choose from; none for a number or a text."""
    is_number: bool = False
    minimum: str = ""
    maximum: str = ""
    step: str = ""
    is_users: bool = False
    """True if only the user's own config may have it."""


class SettingRow(NamedTuple):
    """A setting with its current value."""

    key: str
    value: str
    source: str
    """The file that sets it; empty for the default."""
    meaning: str
    consequence: str
    """What is hidden or not done because of its value; empty if nothing."""
    control: SettingControl | None
    """None for a key that stands for several settings."""


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
        own_file=command_page.own_config(),
    )


def _place(setting_row: SettingRow) -> int:
    """Return the place of a setting's group: that of its first setting in the table."""
    group = setting_row.key.partition(".")[0]
    return next(place for place, key in enumerate(SETTINGS) if key.partition(".")[0] == group)


def _row(settings: Settings, key: str, consequence: str) -> SettingRow:
    source = settings.origins.get(key, "") if settings.is_set(key) else ""
    declared = SETTINGS[key]
    control = None if "*" in key else _control(declared)
    return SettingRow(key, _text(settings.value(key)), source, declared.doc, consequence, control)


def _control(declared: Setting) -> SettingControl:
    """Return the control for the values that a setting may have."""
    if isinstance(declared.default, bool):
        return SettingControl(("true", "false"), is_users=declared.user_only)
    if isinstance(declared.default, (int, float)):
        has_range = declared.maximum > declared.minimum
        least, most = (f"{limit:g}" if has_range else "" for limit in (declared.minimum, declared.maximum))
        step = "1" if isinstance(declared.default, int) else "any"
        return SettingControl((), True, least, most, step, declared.user_only)
    return SettingControl(declared.choices, is_users=declared.user_only)


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
