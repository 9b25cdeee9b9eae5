"""`onrecord web`: show the records in a browser on this machine, or write them as a static site."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from onrecord import extras, files, paths
from onrecord.cli import arguments, terminal
from onrecord.cli.output import CommandResult, Screen, clean, say
from onrecord.cli.terminal import watched
from onrecord.errors import BadInput, OnrecordError
from onrecord.text import plural

if TYPE_CHECKING:
    from onrecord.web.access import Access

_ENTRANCE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Onrecord</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={0}">'
    '<p><a href="{0}">Continue to the memory</a></p></html>\n'
)
_ENTRANCE_SECONDS = 120.0
"""How long the file that leads a browser in exists, if no browser comes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=arguments.count(0, 65_535), metavar="N", default=0, help="port to listen on (default: any)"
    )
    static = "write a read-only website into DIR, without drafts and usage"
    parser.add_argument("--static", metavar="DIR", default="", help=static)
    parser.add_argument("--no-open", action="store_true", help="print the address without opening a browser")


def run(args: argparse.Namespace) -> CommandResult:
    if args.static:
        arguments.existing_store(args)
    try:
        from onrecord.web import server, static_site
    except ImportError as error:
        raise BadInput(f"the web page needs a package: {error}", fix=extras.install_command("web")) from error
    if args.static:
        count = static_site.write(args.project, args.static, lambda records: watched(records, "writing pages"))
        data = {"folder": args.static, "records": count}
        return CommandResult(data, lambda screen: f"wrote {plural(count, 'record')} to {clean(args.static)}/index.html")
    bound = server.bind(args.port)
    if hasattr(signal, "SIGTTIN"):
        # As a background job, waiting for Enter must not stop the server.
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
    # Ctrl-C is the normal way to end it.
    entrance = os.path.join(paths.state_dir(), f"web-{os.getpid()}.html")
    try:
        with suppress(KeyboardInterrupt):
            server.serve(
                args.project,
                bound,
                lambda access: _started(access, "" if args.no_open else entrance),
                server.IDLE_SECONDS,
            )
    finally:
        files.remove(entrance)
    return CommandResult({}, lambda screen: "Stopped.")


def _started(access: Access, entrance: str) -> None:
    """Print the address, and let a browser open it through the file `entrance`, if there is one."""
    screen, address = Screen.for_stream(sys.stdout), access.new_address()
    say(address, screen)
    if terminal.at_terminal():
        say("This address works in one browser. Press Enter for another one, Ctrl-C to stop.", screen)
        _in_background(_print_addresses, access, screen)
    if entrance:
        # Opening may wait until the browser ends, and the browser needs the server to go on.
        _in_background(_open_browser, access, address, entrance)


def _open_browser(access: Access, address: str, entrance: str) -> None:
    """Open a file that leads to the address: every user of this machine can read a browser's command line."""
    import webbrowser
    from pathlib import Path

    try:
        files.make_folder(os.path.dirname(entrance), is_private=True)
        files.write(entrance, _ENTRANCE.format(address).encode(), lasting=False, mode=0o600)
    except (OSError, OnrecordError):
        # The address is printed.
        return
    webbrowser.open(Path(entrance).as_uri())
    access.has_entered.wait(_ENTRANCE_SECONDS)
    files.remove(entrance)


def _print_addresses(access: Access, screen: Screen) -> None:
    """Print a new address each time Enter is pressed."""
    # Reading `sys.stdin` would hold a lock that Python needs to exit.
    while _read_input():
        say(access.new_address(), screen)


def _read_input() -> bytes:
    try:
        return os.read(sys.stdin.fileno(), 1_000)
    except OSError:
        return b""


def _in_background(function: Callable[..., object], *arguments: object) -> None:
    import threading

    threading.Thread(target=function, args=arguments, daemon=True).start()
