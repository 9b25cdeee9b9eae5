"""A page generated from the records, for agents that can only read files. It is updated when a record changes."""

from __future__ import annotations

import os
from collections.abc import Iterable

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.freshness import anchors
from onrecord.record import export, validity
from onrecord.record.export import ALL_RECORDS, SectionFilter
from onrecord.record.memory import Memory
from onrecord.settings import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.store.store import Store

_MAX_BYTES = 2_000_000
"""Largest file that a section is added to; an agent could not use a larger AGENTS.md."""

_ENDINGS = (".md", ".mdc", ".txt")
"""The only file types that `export.file` may name: a project's settings must not overwrite code or configuration."""


class GeneratedPage(NamedTuple):
    """A file with a section of ours: its text before and after the update."""

    file: str
    before: str
    after: str
    section: str
    """Our part of the text."""
    lines: int
    """Number of records in the section; each takes one line."""

    @property
    def is_fresh(self) -> bool:
        return self.before == self.after

    def write(self) -> None:
        """Write the new content if it differs."""
        if not self.is_fresh:
            files.write(self.file, self.after.encode("utf-8"))


def plan(
    file: str, records: Iterable[Memory], section_filter: SectionFilter = ALL_RECORDS, *, may_add: bool = False
) -> GeneratedPage:
    """Return the page with its section updated. Raises BadInput.

    A file that has text but no section of ours is refused unless `may_add` is set. If `section_filter` is
    ALL_RECORDS, the filter that the existing section names is used.
    """
    before = _read(file)
    page_text = export.take_over_section(before)
    if page_text and not may_add and export.BEGIN not in page_text:
        raise BadInput(f"{file!r} was not made by `onrecord export`", fix="name a new file, or add a section: --into")
    try:
        section_filter = export.read_filter(page_text) if section_filter == ALL_RECORDS else section_filter
    except ValueError as error:
        raise BadInput(f"the section of {file!r} cannot be updated: {error}", fix="delete the section") from error
    current = [record for record in validity.current(records) if section_filter.accepts(record)]
    section = export.agents_section(current, section_filter)
    after = export.replace_section(page_text, section)
    if after is None:
        marks = f"{export.BEGIN} and {export.END}"
        raise BadInput(f"{file!r} must have exactly one pair of marks", fix=f"leave one pair of {marks}, or none")
    return GeneratedPage(os.path.abspath(file), before, after, section, len(current))


def renew(store: Store) -> None:
    """Update the page that the setting `export.file` names, if any. Raises BadInput or UnsafePath."""
    name, root = load_settings(store.root).text("export.file"), anchors.project_root(store.root)
    if not name or not root:
        return
    file = resolve(root, name)
    if not files.is_there(file):
        from shlex import quote

        fix = f"to make it: onrecord export --file {quote(file)}"
        raise BadInput(f"export.file: no such file: {name}", fix=fix)
    plan(file, (entry.memory for entry in store.entries())).write()


def resolve(root: str, name: str) -> str:
    """Return the real path of `name`, the value of the setting `export.file`. Raises BadInput or UnsafePath."""
    file = files.inside(root, name)
    parts = os.path.relpath(file, os.path.realpath(root)).lower().split(os.sep)
    if not file.lower().endswith(_ENDINGS) or ".git" in parts:
        endings = ", ".join(_ENDINGS)
        raise BadInput(f"export.file names {name!r}", fix=f"name a file of the project that ends in {endings}")
    return file


def _read(file: str) -> str:
    """Return the text of a file; empty if there is none. Raises BadInput, and Unwritable if that cannot be told."""
    try:
        page = files.read(file, _MAX_BYTES + 1).decode("utf-8") if files.is_there(file) else ""
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {file!r}: {error}", fix="name a text file in UTF-8") from error
    if len(page.encode("utf-8")) > _MAX_BYTES:
        raise BadInput(f"{file!r} is larger than {_MAX_BYTES:,} bytes", fix="name another file")
    return page
