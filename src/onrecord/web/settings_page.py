"""`/settings`: every setting, its value and where that comes from; `/theme`; and buttons that run commands (`/do`)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from itertools import groupby

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from onrecord import detached, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError
from onrecord.hosts import connection, table
from onrecord.record.schema import shorten
from onrecord.setting_table import SETTINGS, Setting
from onrecord.settings import Settings, off_switches
from onrecord.text import plural
from onrecord.web import view
from onrecord.web.view import Notice

_HEADINGS = {
    "retrieval": "What an agent is shown",
    "session_start": "At the start of a session",
    "capture": "What is suggested to be saved",
    "triage": "What is worth a suggestion",
    "remotes": "Shared stores",
    "usage": "Event log",
    "delete": "Retired records",
    "trust": "Repositories of others",
}
"""Headings of the groups of settings whose name does not say enough."""

_TIMEOUT_SECONDS = 150.0
"""Connecting an agent may start that agent's own program."""

_STATES = {
    connection.CURRENT: "connected",
    connection.OUTDATED: "connected by an earlier version: connect it again",
    connection.PLUGIN: "connected by its plugin",
    connection.MISSING: "not connected",
}
_PROGRAM = "from onrecord.cli import main; raise SystemExit(main())"

_MAX_ARGUMENT_CHARS = 200
_MAX_NOTES = 5
"""Reasons that the report on an import names for what was left out."""


class AgentRow(NamedTuple):
    """A coding agent that is on this machine, or connected."""

    name: str
    title: str
    state: str
    """The state of its connection, in words."""
    is_connected: bool


class SettingControl(NamedTuple):
    """The control that changes a setting."""

    choices: tuple[str, ...]
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
            SettingGroup(name, _HEADINGS.get(name, name.capitalize()), tuple(group))
            for name, group in groupby(sorted(rows, key=_place), lambda row: row.key.partition(".")[0])
        ],
        hidden=[row for row in rows if row.consequence],
        changed=sum(1 for row in rows if row.source),
        problems=[f"{problem.file}: {problem.key} {problem.message}" for problem in settings.problems],
        own_file=own_config(),
        agents=list(_agents()),
    )


def _agents() -> Iterator[AgentRow]:
    for setup in table.setups():
        state = connection.state(setup)
        if state.is_connected or connection.installed(setup).is_there:
            is_server_only = state.is_connected and state.entrance == connection.MISSING
            words = "only its MCP server is connected" if is_server_only else state.flaw or _STATES[state.entrance]
            yield AgentRow(setup.host, table.BY_NAME[setup.host].title, words, state.is_connected)


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


class PageCommand(NamedTuple):
    """A command behind a button."""

    arguments: tuple[str, ...]
    notice: str
    """The sentence that reports it; empty if that depends on what it did."""
    page: str = ""
    """The page to show afterwards; the one with the button if it is empty."""
    has_subject: bool = False
    """True if the form names what it is about, such as a shared store or a setting."""
    has_value: bool = False
    """True if the form has a value for that."""


COMMANDS = {
    "begin": PageCommand(("init",), "The memory is made. Save a first decision, or import what is written down.", "/"),
    "import": PageCommand(("import",), "", "/inbox"),
    "trust": PageCommand(("trust",), "Agents are shown the records of this repository."),
    "connect": PageCommand(("connect", "--yes"), "Connected. Start the agent again.", has_subject=True),
    "disconnect": PageCommand(
        ("connect", "--remove", "--yes"), "Disconnected. Start the agent again.", has_subject=True
    ),
    "sync": PageCommand(("sync",), "Synced.", has_subject=True),
    "set": PageCommand(("config", "set"), "Changed.", has_subject=True, has_value=True),
    "unset": PageCommand(("config", "unset"), "Back to the default.", has_subject=True),
}


def run_command(request: Request) -> Response:
    """Run one of our own commands, with the same checks as in a terminal, and report how it ended on the next page."""
    fields = view.form_fields(request)
    command = COMMANDS.get(request.path_params["name"])
    if command is None:
        raise BadInput("there is no such button", fix="onrecord --help")
    arguments = list(command.arguments)
    if command.has_subject:
        arguments.append(_subject(fields.get("subject", "")))
    if command.has_value:
        arguments.append(_value(fields.get("value", "").strip()))
    # The user's own settings are in a file of their own.
    is_own = fields.get("file", "") == own_config()
    where = ["--user"] if is_own else ["--project", view.site_of(request).project_dir]
    output = _run([*arguments, *where], is_import=command is COMMANDS["import"])
    view.site_of(request).check_again()
    notice = Notice(command.notice) if command.notice else _imported(output)
    return view.redirect(request, command.page or view.page_before(request), notice)


def _imported(output: bytes) -> Notice:
    """Return the report on an import: a document may have nothing that makes a draft, or a credential."""
    result = json.loads(output)
    counts = [plural(result[key], key[:-1]) for key in ("drafts", "records") if result[key]]
    text = f"{' and '.join(counts)} made of the documents. Accept what is right." if counts else "No draft was made."
    notes = [f"{file['path']}: {reason}" for file in result["files"] for reason in file["left_out"]]
    if not (counts or notes):
        notes = ["Nothing new in the documents reads as a decision. Let your agent read them: /memory:import."]
    more = [f"{len(notes) - _MAX_NOTES} more documents have parts that were left out."] if notes[_MAX_NOTES:] else []
    return Notice(text, warnings=(*notes[:_MAX_NOTES], *more))


def own_config() -> str:
    """Return the file with the user's own settings."""
    return os.path.join(paths.user_store(), paths.CONFIG)


def _subject(text: str) -> str:
    """Return what a form names. Raises BadInput if no command may get it."""
    if not _is_argument(text):
        raise BadInput("nothing is named that the button is for", fix="reload the page")
    return text


def _value(text: str) -> str:
    """Return the value of a setting. Raises BadInput if no command may get it."""
    if not text:
        raise BadInput("the setting has no value", fix="give it one, or use the default")
    if not _is_argument(text):
        fix = f"give one of at most {_MAX_ARGUMENT_CHARS} characters in one line, without a hyphen at its beginning"
        raise BadInput(f"this cannot be the value of a setting here: {shorten(text)}", fix=fix)
    return text


def _is_argument(text: str) -> bool:
    """True if a command does not take a text for an option, and can print it."""
    return bool(text) and not text.startswith("-") and text.isprintable() and len(text) <= _MAX_ARGUMENT_CHARS


def _run(arguments: list[str], *, is_import: bool) -> bytes:
    """Run a command, and return what it prints. Raises OnrecordError with its error.

    An import ends with 1 if it left a document out, too, and says so in what it prints.
    """
    line = detached.python_command(_PROGRAM, *arguments, "--json", needs_packages=True)
    try:
        result = subprocess.run(
            line, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        fix = f"onrecord {shlex.join(arguments)}"
        raise BadInput(f"it took more than {_TIMEOUT_SECONDS:.0f} seconds and was ended", fix=fix) from error
    if result.returncode and not (is_import and b'"files"' in result.stdout):
        raise _error(result.stdout + result.stderr, arguments)
    return result.stdout


def _error(output: bytes, arguments: list[str]) -> OnrecordError:
    """Return the error that a command has printed."""
    fix = f"onrecord {shlex.join(arguments)}"
    _, brace, rest = output.decode("utf-8", "replace").partition("{")
    try:
        raw, _ = json.JSONDecoder().raw_decode(brace + rest)
    except ValueError:
        return BadInput("it failed", fix=fix)
    error = raw.get("error")
    if not isinstance(error, dict):
        return BadInput("it failed", fix=fix)
    return BadInput(str(error.get("message", "it failed")), fix=str(error.get("fix") or fix))


ROUTES = (
    Route("/settings", show),
    Route("/theme", choose_theme, methods=["POST"]),
    Route("/do/{name}", run_command, methods=["POST"]),
)
