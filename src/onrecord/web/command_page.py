"""`/do/NAME`: buttons that run one of our own commands for the project, with the same checks as in a terminal."""

from __future__ import annotations

import json
import os
import subprocess

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import detached, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError
from onrecord.web import view
from onrecord.web.view import Notice

_TIMEOUT_SECONDS = 60.0
_PROGRAM = "from onrecord.cli import main; raise SystemExit(main())"
_MAX_ARGUMENT_CHARS = 200


class PageCommand(NamedTuple):
    """A command behind a button."""

    arguments: tuple[str, ...]
    notice: str
    """The sentence that reports it."""
    page: str = ""
    """The page to show afterwards; the one with the button if it is empty."""
    has_subject: bool = False
    """True if the form names what it is about, such as a shared store or a setting."""
    has_value: bool = False
    """True if the form has a value for that."""


COMMANDS = {
    "begin": PageCommand(("init",), "The memory is made. Save a first decision, or import what is written down.", "/"),
    "import": PageCommand(("import",), "Drafts are made of the documents. Accept what is right.", "/inbox"),
    "trust": PageCommand(("trust",), "Agents are shown the records of this repository."),
    "sync": PageCommand(("sync",), "Synced.", has_subject=True),
    "set": PageCommand(("config", "set"), "Changed.", has_subject=True, has_value=True),
    "unset": PageCommand(("config", "unset"), "Back to the default.", has_subject=True),
}


def run(request: Request) -> Response:
    """Run the command of a button, and report how it ended on the next page."""
    fields = view.form_fields(request)
    command = COMMANDS.get(request.path_params["name"])
    if command is None:
        raise BadInput("there is no such button", fix="onrecord --help")
    arguments = list(command.arguments)
    if command.has_subject:
        arguments.append(_argument(fields.get("subject", "")))
    if command.has_value:
        arguments.append(_argument(fields.get("value", "").strip()))
    # The user's own settings are in a file of their own.
    is_own = fields.get("file", "") == own_config()
    where = ["--user"] if is_own else ["--project", view.site_of(request).project_dir]
    _run([*arguments, *where])
    view.site_of(request).check_again()
    return view.redirect(request, command.page or view.page_before(request), Notice(command.notice))


def own_config() -> str:
    """Return the file with the user's own settings."""
    return os.path.join(paths.user_store(), paths.CONFIG)


def _argument(text: str) -> str:
    """Return what a form names. Raises BadInput for what a command would take for an option."""
    if not text or text.startswith("-") or not text.isprintable() or len(text) > _MAX_ARGUMENT_CHARS:
        raise BadInput("nothing is named that the button is for", fix="reload the page")
    return text


def _run(arguments: list[str]) -> None:
    """Run a command. Raises OnrecordError with its error."""
    line = detached.python_command(_PROGRAM, *arguments, "--json", needs_packages=True)
    try:
        result = subprocess.run(
            line, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        fix = f"onrecord {' '.join(arguments)}"
        raise BadInput(f"it took more than {_TIMEOUT_SECONDS:.0f} seconds and was ended", fix=fix) from error
    if result.returncode:
        raise _error(result.stdout + result.stderr, arguments)


def _error(output: bytes, arguments: list[str]) -> OnrecordError:
    """Return the error that a command has printed."""
    fix = f"onrecord {' '.join(arguments)}"
    _, brace, rest = output.decode("utf-8", "replace").partition("{")
    try:
        raw, _ = json.JSONDecoder().raw_decode(brace + rest)
    except ValueError:
        return BadInput("it failed", fix=fix)
    error = raw.get("error")
    if not isinstance(error, dict):
        return BadInput("it failed", fix=fix)
    return BadInput(str(error.get("message", "it failed")), fix=str(error.get("fix") or fix))


ROUTES = (Route("/do/{name}", run, methods=["POST"]),)
