"""`recollect web`: the memory in a browser, on this machine."""

from __future__ import annotations

import argparse
import sys

from recollect.cli import arguments
from recollect.cli.output import Answer, Screen, say
from recollect.errors import BadInput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, metavar="N", default=0, help="the port to listen on (default: any)")
    parser.add_argument("--no-open", action="store_true", help="print the address and open no browser")


def run(args: argparse.Namespace) -> Answer:
    arguments.existing(args)
    try:
        from recollect.web import server
    except ImportError as error:
        raise BadInput(f"the web page needs a package: {error}", fix="pip install 'recollect[web]'") from error
    bound = server.bind(args.port)
    server.serve(args.project, bound, lambda access: _started(access.address, args), server.IDLE_SECONDS)
    return Answer({}, lambda screen: "Stopped.")


def _started(address: str, args: argparse.Namespace) -> None:
    say(address, Screen.of(sys.stdout))
    if not args.no_open:
        import webbrowser

        webbrowser.open(address)
