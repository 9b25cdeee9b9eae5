"""`recollect web`: the memory in a browser, on this machine."""

from __future__ import annotations

import argparse
import sys

from recollect.cli import arguments
from recollect.cli.output import Answer, Screen, clean, say
from recollect.errors import BadInput
from recollect.terminal.progress import watched
from recollect.text import many


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, metavar="N", default=0, help="the port to listen on (default: any)")
    static = "write the pages into DIR as a site to publish: only to read, without drafts and usage"
    parser.add_argument("--static", metavar="DIR", default="", help=static)
    parser.add_argument("--no-open", action="store_true", help="print the address and open no browser")


def run(args: argparse.Namespace) -> Answer:
    arguments.existing(args)
    try:
        from recollect.web import server, static_site
    except ImportError as error:
        raise BadInput(f"the web page needs a package: {error}", fix="pip install 'recollect[web]'") from error
    if args.static:
        count = static_site.write(args.project, args.static, lambda records: watched(records, "writing pages"))
        data = {"folder": args.static, "records": count}
        return Answer(data, lambda screen: f"wrote {many(count, 'record')} to {clean(args.static)}/index.html")
    bound = server.bind(args.port)
    server.serve(args.project, bound, lambda access: _started(access.address, args), server.IDLE_SECONDS)
    return Answer({}, lambda screen: "Stopped.")


def _started(address: str, args: argparse.Namespace) -> None:
    say(address, Screen.of(sys.stdout))
    if not args.no_open:
        import threading
        import webbrowser

        # Some browsers are waited for until they end, and none of them gets a page before the server goes on.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
