"""Records as text for other tools: Markdown, JSON Lines, or a section of AGENTS.md that can be updated in place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.paths import OLD_NAME
from onrecord.record import memory, naming, summary_line
from onrecord.record.memory import Memory
from onrecord.text import escape_for_agent

BEGIN = "<!-- onrecord: begin -->"
END = "<!-- onrecord: end -->"
_OLD_BEGIN, _OLD_END = (mark.replace("onrecord", OLD_NAME) for mark in (BEGIN, END))
_ONLY = "<!-- only: "
_HEAD = "## Project memory\n\nWritten by `onrecord export`. Change the records, not this section."


def markdown(records: Iterable[Memory]) -> str:
    """Return all records with all fields, under the headings of their categories."""
    parts = ["# Project memory"]
    for heading, group in _by_category(records):
        parts += [f"## {heading}", *map(record_page, group)]
    return "\n\n".join(parts) + "\n"


def json_lines(records: Iterable[Memory]) -> str:
    """Return the records as they are stored, one per line."""
    return "".join(json.dumps(memory.to_json(record), ensure_ascii=False) + "\n" for record in records)


class SectionFilter(NamedTuple):
    """The categories and tags of the records in a section; an empty tuple does not restrict."""

    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def accepts(self, record: Memory) -> bool:
        return (not self.categories or record.category in self.categories) and set(self.tags) <= set(record.tags)

    @property
    def comment(self) -> str:
        """The line of a section with its filter, which an update reads; empty for all records."""
        words = [*self.categories, *(f"#{tag}" for tag in self.tags)]
        return f"{_ONLY}{' '.join(words)} -->" if words else ""


ALL_RECORDS = SectionFilter()


def read_filter(page_text: str) -> SectionFilter:
    """Return the filter of the section in a page. Raises ValueError for an unknown category."""
    start = page_text.find(_ONLY, page_text.find(BEGIN), page_text.find(END))
    words = page_text[start + len(_ONLY) : page_text.find(" -->", start)].split() if start >= 0 else []
    names = tuple(word for word in words if not word.startswith("#"))
    if not set(names) <= set(categories.CATEGORIES):
        raise ValueError("it names a category that does not exist")
    return SectionFilter(names, tuple(word[1:] for word in words if word.startswith("#")))


def agents_section(records: Iterable[Memory], section_filter: SectionFilter = ALL_RECORDS) -> str:
    """Return a section with the summary line of each record, between two marks."""
    parts = [BEGIN, *filter(None, [section_filter.comment]), _HEAD]
    for heading, group in _by_category(records):
        parts.append(f"### {heading}\n\n" + "\n".join(f"- {_line(record)}" for record in group))
    return "\n\n".join((*parts, END)) + "\n"


def take_over_section(page_text: str) -> str:
    """Return a page in which the section that 0.2.0 wrote is ours; without it, if it has a section of ours, too."""
    if BEGIN in page_text:
        return _without_old_sections(page_text)
    return page_text.replace(_OLD_BEGIN, BEGIN).replace(_OLD_END, END)


def _without_old_sections(page_text: str) -> str:
    """Return a page without the sections of 0.2.0 and the empty lines above them; one without an end stays."""
    parts: list[str] = []
    position = 0
    while (begin := page_text.find(_OLD_BEGIN, position)) >= 0 and (end := page_text.find(_OLD_END, begin)) >= 0:
        parts.append(page_text[position:begin].rstrip("\n"))
        position = end + len(_OLD_END)
    return "".join((*parts, page_text[position:]))


def replace_section(page_text: str, section: str) -> str | None:
    """Return a page with its section replaced, or added at the end; None if its marks are not one pair."""
    begins, ends = page_text.count(BEGIN), page_text.count(END)
    if not begins and not ends:
        gap = "" if not page_text else "\n" if page_text.endswith("\n") else "\n\n"
        return page_text + gap + section
    start, stop = page_text.find(BEGIN), page_text.find(END)
    if begins != 1 or ends != 1 or stop < start:
        return None
    return page_text[:start] + section.rstrip("\n") + page_text[stop + len(END) :]


def _by_category(records: Iterable[Memory]) -> Iterator[tuple[str, Sequence[Memory]]]:
    by_id = sorted(records, key=lambda record: record.id)
    for name, category in categories.CATEGORIES.items():
        group = [record for record in by_id if record.category == name]
        if group:
            yield category.folder.replace("-", " ").capitalize(), group


def _line(record: Memory) -> str:
    """Return the summary line of a record, and its files; nothing in it can end the section."""
    files = f" (`{'`, `'.join(record.related_files)}`)" if record.related_files else ""
    return escape_for_agent(" ".join((summary_line.render(record) + files).split()))


def record_page(record: Memory) -> str:
    """Return one record with all of its fields."""
    lines = [f"### {_flat(record.title)}", ""]
    lines += [f"- {name}: {_flat(text)}" for name, text in _about(record) if text]
    for name, value in record.content.items():
        lines += ["", f"**{name.replace('_', ' ')}**", "", *_value(value)]
    return "\n".join(lines)


def _about(record: Memory) -> list[tuple[str, str]]:
    status = "" if record.record_status == "active" else record.record_status
    return [
        ("id", record.id),
        ("status", status),
        ("updated", record.updated_at[:10]),
        ("tags", ", ".join(record.tags)),
        ("files", ", ".join(record.related_files)),
        ("triggers", "; ".join(record.triggers)),
        ("superseded by", record.superseded_by),
        ("source", record.source),
    ]


def _value(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [f"- {value_text(item)}" for item in value]
    return [value_text(value)]


def value_text(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, dict):
        return "; ".join(f"{name.replace('_', ' ')}: {value_text(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_text, value))
    return _flat(str(value).lower() if isinstance(value, bool) else str(value))


def _flat(text: str) -> str:
    return " ".join(naming.remove_invisible(text).split())
