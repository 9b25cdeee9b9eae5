"""`recollect version`."""

from __future__ import annotations

import argparse
import sys

from recollect import __version__
from recollect.cli.output import Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none of its own."""


def run(args: argparse.Namespace) -> Answer:
    python = ".".join(map(str, sys.version_info[:3]))
    return Answer({"version": __version__, "python": python}, lambda screen: f"recollect {__version__}")
