"""`onrecord mcp`: serve the Model Context Protocol on standard input and output."""

from __future__ import annotations

import argparse

from onrecord.cli.output import CommandResult
from onrecord.mcp import server
from onrecord.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no arguments of its own."""


def run(args: argparse.Namespace) -> CommandResult:
    """Serve until the client closes its end. Prints nothing but the protocol."""
    Project(args.project)
    raise SystemExit(server.serve("" if args.project == "." else args.project))
