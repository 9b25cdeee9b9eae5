"""What a command is called by, and what its help shows of it."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput


class WrongUsage(BadInput):
    """Arguments that do not go together, in a way that argparse cannot check; treated as its own errors are."""


class Example(NamedTuple):
    """A command that can be pasted, without `onrecord`; a long one goes on in a line of its own after ` \\`."""

    meaning: str
    command: str


class Command(NamedTuple):
    """A command: the module that holds it (empty: `cli` itself), what it does in one line, and examples."""

    module: str
    summary: str
    examples: tuple[Example, ...]
    has_store: bool = True
    """Whether it acts on one store, which `--user` or `--remote` can choose."""
