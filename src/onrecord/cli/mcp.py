"""`onrecord mcp`: a server for agents that speak the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse

from onrecord.cli.output import CommandResult
from onrecord.mcp import server
from onrecord.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing beyond what every command takes."""


def run(args: argparse.Namespace) -> CommandResult:
    """Serve until the client closes its end; nothing but the protocol is printed."""
    Project(args.project)
    raise SystemExit(server.serve("" if args.project == "." else args.project))
