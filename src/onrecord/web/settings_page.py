"""`/settings`: every setting with its value, origin and meaning (read-only)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.setting_table import SETTINGS
from onrecord.web import view


class SettingRow(NamedTuple):
    """A setting with its current value."""

    key: str
    value: str
    source: str
    meaning: str
    is_set: bool


def show(request: Request) -> Response:
    project = view.site_of(request).project()
    settings = project.settings
    rows = [
        SettingRow(
            key, _text(settings.value(key)), settings.origins.get(key, "default"), setting.doc, settings.is_set(key)
        )
        for key, setting in SETTINGS.items()
    ]
    problems = [f"{problem.file}: {problem.key} {problem.message}" for problem in settings.problems]
    return view.page(request, "settings.html", title="Settings", rows=rows, problems=problems, file=paths.CONFIG)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


ROUTES = (Route("/settings", show),)
