"""`onrecord web`: show the records in a browser on this machine, or write them as a static site."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from onrecord import extras
from onrecord.cli import arguments, terminal
from onrecord.cli.output import CommandResult, Screen, clean, say
from onrecord.cli.terminal import watched
from onrecord.errors import BadInput
from onrecord.text import plural

if TYPE_CHECKING:
    from onrecord.web.access import Access


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=arguments.count(0, 65_535), metavar="N", default=0, help="port to listen on (default: any)"
    )
    static = "write a read-only website into DIR, without drafts and usage"
    parser.add_argument("--static", metavar="DIR", default="", help=static)
    parser.add_argument("--no-open", action="store_true", help="print the address without opening a browser")


def run(args: argparse.Namespace) -> CommandResult:
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
    with suppress(KeyboardInterrupt):
        server.serve(args.project, bound, lambda access: _started(access, opens=not args.no_open), server.IDLE_SECONDS)
    return CommandResult({}, lambda screen: "Stopped.")


def _started(access: Access, *, opens: bool) -> None:
    screen, address = Screen.for_stream(sys.stdout), access.new_address()
    say(address, screen)
    if terminal.at_terminal():
        say("This address works in one browser. Press Enter for another one, Ctrl-C to stop.", screen)
        _in_background(_print_addresses, access, screen)
    if opens:
        import webbrowser

        # `open` may wait until the browser ends, and the browser needs the server to go on.
        _in_background(webbrowser.open, address)


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
