"""Architecture decision records as decisions: Nygard's shape and MADR's, with their status and what replaces them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from recollect import markdown, timestamps
from recollect.coldstart import NamedTuple
from recollect.errors import Invalid
from recollect.markdown import Page
from recollect.record import compose, naming
from recollect.record.memory import Memory
from recollect.text import cut

# A status is a line or two, and naming what replaces a decision takes few words more.
_LONGEST_STATUS = 2_000
# Within the limits of the schema, and as much as anybody reads of one field.
_LONGEST = 4_000
_LONGEST_LINE = 600
_MOST_LINES = 12
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
# The best-known tool for these records spells it with a c.
_REPLACED_BY = re.compile(r"(?:super[sc]ed\w+|replaced)\s+by", re.IGNORECASE)
_REPLACES = re.compile(r"(?:super[sc]edes|replaces)\b", re.IGNORECASE)
_STATUSES = (
    ("superseded", "supersed", "superced", "replaced"),
    ("deprecated", "deprecat", "obsolete", "withdrawn", "abandoned", "retired", "reject", "declined"),
    ("proposed", "propos", "draft", "pending", "review", "rfc", "in discussion", "open"),
    ("accepted", "accept", "approv", "adopt", "implement", "decided", "active", "done", "final", "agreed"),
)
_DECISION = ("decision outcome", "decision", "the decision", "resolution")
_CONTEXT = ("context and problem statement", "context", "problem statement", "problem", "background", "motivation")
_REASONS = ("rationale", "decision drivers", "reasons", "justification", "why")
_OPTIONS = ("considered options", "options considered", "alternatives considered", "alternatives", "options")
_EFFECTS = ("consequences", "positive consequences", "negative consequences", "implications")
_CHOSEN = re.compile(r"chosen option:?\s*", re.IGNORECASE)
_BECAUSE = re.compile(r"\s*,?\s*\bbecause\b\s*", re.IGNORECASE)
_AROUND = "\"'“”`*., "


class Adr(NamedTuple):
    """A decision as a record, and the decisions its file refers to, by a file's name or a number."""

    record: Memory
    path: str
    number: int
    replaced_by: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()


def parse(text: str, path: str, now: str) -> Adr | None:
    """The decision in a text; None if there is no section that decides anything."""
    page = markdown.read(text)
    heading = next((section for section in page.sections if section.title), None)
    fields = _fields(page)
    content = _content(page, fields["status"])
    if heading is None or content is None:
        return None
    title = _TITLE_NUMBER.sub("", heading.title, count=1) if _TITLE_NUMBER.match(heading.title) else heading.title
    values: dict[str, Any] = {
        "title": cut(title, 120),
        "content": {**content, "context": content["context"] or title},
        "origin": "import",
        "source": f"{path}:{heading.line}"[-1_000:],
        **_dates(fields["date"], now),
        **({"tags": fields["tags"].split(",")[:12]} if fields["tags"] else {}),
    }
    try:
        record = compose.compose("decision", values, now=now, allow_secret=True)
    except Invalid:
        return None
    number = _NUMBER.match(os.path.basename(path)) or _NUMBER.match(heading.title)
    return Adr(record, path, int(number[1]) if number else -1, *_links(fields))


def linked(adrs: Sequence[Adr]) -> list[Memory]:
    """The records with ids of their own, linked to what replaces them; links that lead in a circle are left out."""
    taken: set[str] = set()
    records = [with_free_id(adr.record, taken) for adr in adrs]
    places: dict[tuple[str, str | int], int] = {}
    for at, adr in enumerate(adrs):
        folder, name = os.path.split(adr.path)
        places.setdefault((folder, name.lower()), at)
        places.setdefault((folder, adr.number), at)

    def resolve(reference: str, adr: Adr) -> int:
        name = int(reference) if reference.isdigit() else reference.lower()
        return places.get((os.path.dirname(adr.path), name), -1)

    successor: dict[int, int] = {}
    for at, adr in enumerate(adrs):
        pairs = [(at, resolve(other, adr)) for other in adr.replaced_by]
        pairs += [(resolve(other, adr), at) for other in adr.replaces]
        for old, new in pairs:
            if min(old, new) >= 0 and old not in successor and old not in _chain(successor, new):
                successor[old] = new
    return [_with_links(records, at, successor) for at in range(len(records))]


def with_free_id(record: Memory, taken: set[str]) -> Memory:
    """The record under an id that is not taken yet; it is from now on."""
    number, record_id = 2, record.id
    while record_id in taken:
        record_id, number = naming.numbered(record.id, number), number + 1
    taken.add(record_id)
    return record._replace(id=record_id)


def status_of(text: str) -> str:
    """The status that a text means; an empty one is accepted, an unknown one proposed."""
    lower = text.lower()
    if _REPLACED_BY.search(lower):
        return "superseded"
    lower = _REPLACES.split(lower, maxsplit=1)[0].strip(" .,;:")
    if not lower:
        return "accepted"
    matches = [(lower.find(cue), status) for status, *cues in _STATUSES for cue in cues if cue in lower]
    return min(matches)[1] if matches else "proposed"


def _chain(successor: dict[int, int], start: int) -> list[int]:
    chain = [start]
    while chain[-1] in successor:
        chain.append(successor[chain[-1]])
    return chain


def _with_links(records: Sequence[Memory], at: int, successor: dict[int, int]) -> Memory:
    record = records[at]
    olds = [records[old].id for old, new in successor.items() if new == at]
    if at in successor:
        content = {**record.content, "status": "superseded"}
        record = record._replace(superseded_by=records[successor[at]].id, content=content)
    return record._replace(supersedes=tuple(olds[:50]))


def _fields(page: Page) -> dict[str, str]:
    """Status, date and links, wherever a template puts them: front matter, a line at the top, a section."""
    fields = {"status": "", "date": "", "tags": "", "superseded by": "", "supersedes": ""}
    for key, values in page.front.items():
        if key.replace("-", " ").replace("_", " ") in fields:
            fields[key.replace("-", " ").replace("_", " ")] = ", ".join(values)
    for section in page.sections[:3]:
        for line in section.lines:
            match = _FIELD.match(line.lstrip("|* ").replace("|", " ", 1))
            if match and match[1].lower() in fields and not fields[match[1].lower()]:
                fields[match[1].lower()] = match[2].strip(" |")
    for key in ("status", "date"):
        own = page.section(key)
        if own is not None and not fields[key]:
            fields[key] = " ".join(own.lines)
    return fields


def _dates(text: str, now: str) -> dict[str, str]:
    """When it was decided, if the text gives a day that is not in the future."""
    match = re.search(r"\d{4}-\d{2}-\d{2}", text)
    when = f"{match[0]}T00:00:00Z" if match else ""
    return {"created_at": when, "updated_at": when} if when and timestamps.is_instant(when) and when <= now else {}


def _links(fields: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What replaces a decision and what it replaces, from its fields and its status."""
    by, of = fields["superseded by"], fields["supersedes"]
    status = fields["status"][:_LONGEST_STATUS]
    for match in _REPLACED_BY.finditer(status):
        by += " " + _REPLACES.split(status[match.end() :], maxsplit=1)[0]
    for match in _REPLACES.finditer(status):
        of += " " + _REPLACED_BY.split(status[match.end() :], maxsplit=1)[0]
    return _references(by), _references(of)


def _references(text: str) -> tuple[str, ...]:
    """Files if any are named, else numbers of records, else a bare number that leads the text."""
    text = text[:_LONGEST_STATUS]
    bare = _BARE_NUMBER.match(text)
    names = _FILE.findall(text) or _BY_NUMBER.findall(text) or ([bare[1]] if bare else [])
    return tuple(dict.fromkeys(names))[:20]


def _content(page: Page, status: str) -> dict[str, Any] | None:
    """The content of the decision on a page; None if no section decides anything."""
    text = page.text_of(page.section(*_DECISION))
    if not text:
        return None
    decision, reason = _outcome(text)
    is_rejected = any(cue in status.lower() for cue in ("reject", "declined"))
    context = page.text_of(page.section(*_CONTEXT))
    reasons = [line for line in (reason, *page.items(page.section(*_REASONS))) if line]
    content: dict[str, Any] = {
        "status": status_of(status),
        "context": cut(context, _LONGEST),
        "decision": cut(f"Rejected: {decision}" if is_rejected else decision, _LONGEST),
        "rationale": reasons or [cut(context, 300) or "The decision record gives no reason"],
        "alternatives": _alternatives(page, decision),
        "consequences": [line for title in _EFFECTS for line in page.items(page.section(title))],
    }
    for key in ("rationale", "consequences"):
        content[key] = [cut(line, _LONGEST_LINE) for line in content[key][:_MOST_LINES]]
    return {key: value for key, value in content.items() if value or key == "context"}


def _outcome(text: str) -> tuple[str, str]:
    """The decision in a text, and the reason that its sentence gives for it."""
    chosen = _CHOSEN.match(text)
    text = text[chosen.end() :] if chosen else text
    because = _BECAUSE.search(text)
    head = text[: because.start()] if because else text
    if not because or (". " in head and chosen is None):
        return text.strip(_AROUND) if chosen else text, ""
    reason, stop, rest = text[because.end() :].partition(". ")
    if not reason.strip() or not head.strip(_AROUND):
        return text, ""
    head = head.strip(_AROUND) if chosen else head.strip()
    return f"{head}. {rest}".strip() if stop else head, f"{reason[:1].upper()}{reason[1:]}".rstrip(". ")


def _alternatives(page: Page, decision: str) -> list[dict[str, str]]:
    """The options that were not chosen, each with the first argument against it."""
    options = [option.strip(_AROUND) for option in page.items(page.section(*_OPTIONS))[:_MOST_LINES]]
    return [
        {"option": cut(option, 300), "rejected_reason": _against(page, option)}
        for option in options
        if option and option.lower()[:60] not in decision.lower() and decision.lower()[:60] not in option.lower()
    ]


def _against(page: Page, option: str) -> str:
    for line in page.items(page.section(option)):
        if line.lower().startswith(("bad", "con", "negative")):
            return cut(_BECAUSE.split(line, maxsplit=1)[-1], 300)
    return "Not chosen; the decision record says no more"
