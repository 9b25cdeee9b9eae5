"""Architecture decision records as decisions: Nygard's shape and MADR's, with their status and their succession."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from recollect import markdown, timestamps
from recollect.errors import Invalid
from recollect.importers import adr_content
from recollect.importers.adr_content import BY, OF
from recollect.markdown import Page
from recollect.record import compose, slug
from recollect.record.memory import Memory
from recollect.text import cut

_LONGEST_STATUS = 2_000
_NUMBER = re.compile(r"(?:adr[\s_-]*)?0*(\d{1,6})(?=\D|$)", re.IGNORECASE)
_TITLE_NUMBER = re.compile(
    r"\[?(?:adr|decision)[\s#:_-]*\d{1,6}\]?\s*[.:)–—-]*\s*(?=\S)|\d{1,6}\s*[.:)–—-]\s+(?=\S)|0\d{1,5}\s+(?=\S)"
    r"|adr\s*[:–—-]\s+(?=\S)",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(status|date|superseded by|supersedes|deciders?|tags?)\s*:\s*(.*)", re.IGNORECASE)
_FILE = re.compile(r"([\w.-]{1,200}\.md)\b", re.IGNORECASE)
_BY_NUMBER = re.compile(r"\badr[\s_-]*0*(\d{1,6})\b", re.IGNORECASE)
_BARE_NUMBER = re.compile(r"[\s\[(#]*0*(\d{1,6})(?=[\s.:\])]|$)")


class Adr(NamedTuple):
    """A decision on file, as a record, and what its text says about its place among the others."""

    record: Memory
    path: str
    number: int
    replaced_by: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    """References: a file's name, or a number."""


def parse(text: str, path: str, now: str) -> Adr | None:
    """The decision in a text; None if there is no section that decides anything."""
    page = markdown.read(text)
    heading = next((section for section in page.sections if section.title), None)
    fields = _fields(page)
    content = adr_content.of(page, fields["status"])
    if heading is None or content is None:
        return None
    numbered = _TITLE_NUMBER.match(heading.title)
    title = heading.title[numbered.end() :] if numbered else heading.title
    given: dict[str, Any] = {
        "title": cut(title, 120),
        "content": {**content, "context": content["context"] or title},
        "origin": "import",
        "source": f"{path}:{heading.line}"[-1_000:],
        **_dates(fields["date"], now),
    }
    if fields["tags"]:
        given["tags"] = fields["tags"].split(",")[:12]
    try:
        record = compose.compose("decision", given, now=now, allow_secret=True)
    except Invalid:
        return None
    number = _NUMBER.match(os.path.basename(path)) or _NUMBER.match(heading.title)
    return Adr(record, path, int(number[1]) if number else -1, *_succession(fields))


def linked(adrs: Sequence[Adr]) -> list[Memory]:
    """The records with ids of their own, linked to what replaces them; links that lead in a circle are left out."""
    unique = _with_own_ids(adrs)
    places: dict[tuple[str, str | int], int] = {}
    for at, adr in enumerate(unique):
        folder, name = os.path.split(adr.path)
        places.setdefault((folder, name.lower()), at)
        places.setdefault((folder, adr.number), at)

    def resolve(reference: str, adr: Adr) -> int:
        name = int(reference) if reference.isdigit() else reference.lower()
        return places.get((os.path.dirname(adr.path), name), -1)

    successor: dict[int, int] = {}
    for at, adr in enumerate(unique):
        pairs = [(at, resolve(other, adr)) for other in adr.replaced_by]
        pairs += [(resolve(other, adr), at) for other in adr.replaces]
        for old, new in pairs:
            if min(old, new) >= 0 and old not in successor and old not in _chain(successor, new):
                successor[old] = new
    return [_placed(unique, at, successor) for at in range(len(unique))]


def _chain(successor: dict[int, int], start: int) -> list[int]:
    chain = [start]
    while chain[-1] in successor:
        chain.append(successor[chain[-1]])
    return chain


def _placed(adrs: Sequence[Adr], at: int, successor: dict[int, int]) -> Memory:
    record = adrs[at].record
    olds = [adrs[old].record.id for old, new in successor.items() if new == at]
    if at in successor:
        content = {**record.content, "status": "superseded"}
        record = record._replace(superseded_by=adrs[successor[at]].record.id, content=content)
    return record._replace(supersedes=tuple(olds[:50]))


def _with_own_ids(adrs: Sequence[Adr]) -> list[Adr]:
    taken: set[str] = set()
    found = []
    for adr in adrs:
        number, record_id = 2, adr.record.id
        while record_id in taken:
            record_id, number = slug.numbered(adr.record.id, number), number + 1
        taken.add(record_id)
        found.append(adr._replace(record=adr.record._replace(id=record_id)))
    return found


def _fields(page: Page) -> dict[str, str]:
    """Status, date and succession, wherever a template puts them: front matter, a line at the top, a section."""
    found = {"status": "", "date": "", "tags": "", "superseded by": "", "supersedes": ""}
    for key, values in page.front.items():
        if key.replace("-", " ").replace("_", " ") in found:
            found[key.replace("-", " ").replace("_", " ")] = ", ".join(values)
    for section in page.sections[:3]:
        for line in section.lines:
            match = _FIELD.match(line.lstrip("|* ").replace("|", " ", 1))
            if match and match[1].lower() in found and not found[match[1].lower()]:
                found[match[1].lower()] = match[2].strip(" |")
    for key in ("status", "date"):
        own = page.section(key)
        if own is not None and not found[key]:
            found[key] = " ".join(own.lines)
    return found


def _dates(text: str, now: str) -> dict[str, str]:
    """When it was decided, if the text gives a day that is not in the future."""
    found = re.search(r"\d{4}-\d{2}-\d{2}", text)
    when = f"{found[0]}T00:00:00Z" if found else ""
    return {"created_at": when, "updated_at": when} if when and timestamps.is_instant(when) and when <= now else {}


def _succession(fields: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What replaces a decision and what it replaces, as its fields and its status tell."""
    by, of = fields["superseded by"], fields["supersedes"]
    status = fields["status"][:_LONGEST_STATUS]
    for match in BY.finditer(status):
        by += " " + OF.split(status[match.end() :], maxsplit=1)[0]
    for match in OF.finditer(status):
        of += " " + BY.split(status[match.end() :], maxsplit=1)[0]
    return _references(by), _references(of)


def _references(text: str) -> tuple[str, ...]:
    """Files if any are named, else numbers of records, else a bare number that leads the text."""
    text = text[:2_000]
    found = _FILE.findall(text) or _BY_NUMBER.findall(text)
    if not found:
        found = [match[1] for match in [_BARE_NUMBER.match(text)] if match]
    return tuple(dict.fromkeys(found))[:20]
