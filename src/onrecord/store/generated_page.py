"""A page made of the records for agents that can only read a file: marked as ours, and renewed when records change."""

from __future__ import annotations

import os
from collections.abc import Iterable

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.freshness import anchors
from onrecord.record import export
from onrecord.record.export import ALL_RECORDS, SectionFilter
from onrecord.record.memory import Memory
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.store.store import Store

_LARGEST = 2_000_000
"""Bytes of a page that a section is put into; an AGENTS.md of more helps no agent."""

_ENDINGS = (".md", ".mdc", ".txt")
"""Of files that a setting may name: a project's settings must not lead to anything that a program reads."""


class GeneratedPage(NamedTuple):
    """A file with a section of ours: what it holds, and what it shall hold."""

    file: str
    before: str
    after: str
    section: str
    """What is ours of it."""
    lines: int
    """How many records it has, in a line each."""

    @property
    def is_fresh(self) -> bool:
        return self.before == self.after

    def write(self) -> None:
        """Write what it shall hold, unless it does."""
        if not self.is_fresh:
            files.write(self.file, self.after.encode("utf-8"))


def plan(
    file: str, records: Iterable[Memory], only: SectionFilter = ALL_RECORDS, *, may_add: bool = False
) -> GeneratedPage:
    """The page with its section renewed; BadInput for one of somebody else, unless a section may be added to it.

    Unless it is said which records it shall have, it keeps the choice that it was made with.
    """
    before = _read(file)
    if before and not may_add and export.BEGIN not in before:
        raise BadInput(f"{file!r} was not made by `onrecord export`", fix="name a new file, or add a section: --into")
    try:
        only = export.read_filter(before) if only == ALL_RECORDS else only
    except ValueError as error:
        raise BadInput(f"the section of {file!r} cannot be renewed: {error}", fix="delete the section") from error
    current = [record for record in records if record.is_current and only.accepts(record)]
    section = export.agents_section(current, only)
    after = export.replace_section(before, section)
    if after is None:
        marks = f"{export.BEGIN} and {export.END}"
        raise BadInput(f"{file!r} has more or less than one pair of marks", fix=f"leave one pair of {marks}, or none")
    return GeneratedPage(os.path.abspath(file), before, after, section, len(current))


def renew(store: Store) -> None:
    """Renew the page that a setting of the project names, if there is one and it is ours."""
    name, root = load_settings(store.root).text("export.file"), anchors.project_root(store.root)
    if not name or not root:
        return
    file = resolve(root, name)
    if not os.path.lexists(file):
        from shlex import quote

        fix = f"to make it: onrecord export --file {quote(file)}"
        raise BadInput(f"the file {name!r} that export.file names is not there", fix=fix)
    plan(file, (entry.memory for entry in store.entries())).write()


def resolve(root: str, name: str) -> str:
    """The real path of a file that a setting names; BadInput or UnsafePath for what it must not name."""
    file = files.inside(root, name)
    parts = os.path.relpath(file, os.path.realpath(root)).lower().split(os.sep)
    if not file.lower().endswith(_ENDINGS) or ".git" in parts:
        endings = ", ".join(_ENDINGS)
        raise BadInput(f"export.file names {name!r}", fix=f"name a file of the project that ends in {endings}")
    return file


def _read(file: str) -> str:
    """What a file holds; empty if there is none."""
    try:
        page = files.read(file, _LARGEST + 1).decode("utf-8") if os.path.lexists(file) else ""
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {file!r}: {error}", fix="name a text file in UTF-8") from error
    if len(page.encode("utf-8")) > _LARGEST:
        raise BadInput(f"{file!r} is larger than {_LARGEST:,} bytes", fix="name another file")
    return page
