"""Read architecture decision records as decisions, and link those that replace each other.

Handles the formats of Nygard and MADR, Y-statements, and their common variations.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from onrecord import markdown
from onrecord.audit import audit_item, report
from onrecord.audit.report import Evidence
from onrecord.coldstart import NamedTuple
from onrecord.errors import Invalid
from onrecord.importers import adr_outcome, adr_page, quotation, sources
from onrecord.importers.adr_options import AdrOption
from onrecord.importers.adr_outcome import AdrOutcome
from onrecord.importers.adr_page import Fields, Quotable
from onrecord.importers.quotation import Quotation
from onrecord.markdown import MarkdownPage
from onrecord.record import compose, naming, rule_title
from onrecord.record.author import IMPORT, RecordAuthor
from onrecord.record.memory import Memory
from onrecord.text import cut, sentences

# A draft is short: what is not there cannot be wrong, and the page is one step away.
_MAX_ITEM_LENGTH = 280
_MAX_ITEMS = 2
_MAX_PARAGRAPHS = 3
_MAX_ALTERNATIVES = 6
_MAX_NAME_LENGTH = 100
_MAX_TITLE_LENGTH = 120
_MAX_QUOTED_LENGTH = 40
_MAX_STATUSES = 2
_STEM_LENGTH = 4
_IN_PART = re.compile(r"\b(?:part(?:ly|ially)|in part|mostly|accepted or|or rejected|or accepted)\b")
_BEFORE_STATUS = re.compile(
    r"^(?:[^\w✅]|status\b|this\b|(?:adr|decision|document|record)\b|is\b|was\b|has been\b|currently\b|under\b|"
    r"still\b|already\b|being\b|fully\b|now\b|final(?=ly)\w*|initial(?:ly)?\b|to be\b|"
    r"in(?= (?:review|discussion|use))\b)*"
)
"""Words that may precede the status."""

_NUMBER = re.compile(r"(?:adr[\s_-]*)?0*(\d{1,6})(?=\D|$)", re.IGNORECASE)
_TITLE_NUMBER = re.compile(
    r"\[?(?:adr|[A-Z]{2,6}(?=-\d{1,4}:)|(?:architectur\w+ )?decision(?: record)?|rfc)[\s#:_-]*"
    r"\d{1,6}\]?\s*[.:)–—-]*\s*(?=\S)"
    r"|(?:\d{1,6}|n{1,4})\s*[.:)–—-]\s*(?=\S)|0\d{1,5}\s+(?=\S)"
    r"|(?:adr|(?:architectur\w+ )?decision(?: record)?(?: \(adr\))?|decision outcome)\s*(?:[:–—-]|for\b)\s+(?=\S)",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    r"(?:(?:an? |the )?(?:architectur\w+ )?(?:decisions?|adr)(?: records?| log)?s?|title|untitled|template|"
    r"index|context|status|"
    r"(?:number|nnnn?|xxxx?|0000)[. ]+title)[\s\d.:#-]*",
    re.IGNORECASE,
)
_SLUG = re.compile(r"[A-Za-z0-9.]+(?:[-_][a-z0-9.]+){2,}")
"""A heading that is the name of a file: where both have one, that of the file was changed last."""

_PLACEHOLDER_TITLE = re.compile(
    r"\b[Tt]itle of (?:the|this) (?:[Dd]ecision|ADR)|[Dd]escription of the (?:decision|problem)|"
    r"[\[{<][^\]}>]*(?:title|short|name|decision|problem)[^\]}>]*[\]}>]|\bNNNN?\b|\bXXXX?\b|ADR TITLE"
)
_OUTDATED = re.compile(r"\W*(outdated|deprecated|obsolete|superseded|rejected)\b[\s:)\]–—-]*(?=\S)", re.IGNORECASE)
_TEMPLATE_TITLE = re.compile(r"\b(?:records?|adrs?|decision)\b.*\btemplate\b", re.IGNORECASE)
_STATUSES = {
    "rejected": "reject|declined|withdrawn|abandon|not accepted|not adopted|won't do|cancelled|canceled",
    "superseded": "supersed|superced|replaced",
    "deprecated": "deprecat|revert|obsolete|retired|no longer|outdated|archived|expired|historic",
    "proposed": "propos|draft|pending|review|rfc|discussion|discussing|open|in progress|wip|on hold|postponed|deferred|"
    "undecided|tbd|ready for|awaiting|not started|work in progress|idea|tentative|incomplete|"
    "not implemented|unimplemented|trial",
    "accepted": "accept|approv|adopt|implement|decided|active|done|final|agreed|✅|complete|ratified|committed|"
    "in force|current|live|in use|amended|closed",
}
"""The words for each status. The first in a text counts, and of two at the same position the longer."""

_FILE = re.compile(r"([\w.-]{1,200}\.md)\b", re.IGNORECASE)
_BY_NUMBER = re.compile(r"\badr[\s_#-]*0*(\d{1,6})\b", re.IGNORECASE)
_BARE_NUMBER = re.compile(r"[\s\[(#]*0*(\d{1,6})(?=[\s.:\])-]|$)")
# The best-known tool for these records spells it with a c.
_REPLACED_BY = re.compile(
    r"(?:super[sc]eded|replaced)(?:\s*[-:–(]?\s*(?:by|with)\b|\s*[-:–(]?\s*(?=\[|adr|\d))", re.IGNORECASE
)
_REPLACES = re.compile(r"(?:super[sc]edes|super[sc]eding|replaces|replacing)\b", re.IGNORECASE)
_NO_IDS: Mapping[str, str] = {}
_MAX_REFERENCES = 20
"""References of one record; more is a list of all records."""


class Unread(NamedTuple):
    """A file without a record: the reason, the line to start reading, and whether an agent should read it."""

    reason: str
    line: int = 1
    is_for_agent: bool = True


class Adr(NamedTuple):
    """A decision as a record, and the file names or numbers of the decisions that it refers to."""

    record: Memory
    path: str
    number: int
    replaced_by: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """What of the page is not in the record, and why."""


def read(text: str, path: str, now: str) -> Union[Adr, Unread]:
    """Return the decision in `text`, or the reason why there is none."""
    page = markdown.parse(text)
    title = _title(page, path)
    if _is_list_of_links(page):
        return Unread("a list of links", is_for_agent=False)
    fields = adr_page.read_fields(page)
    outdated = _OUTDATED.match(title)
    title = title[outdated.end() :] if outdated else title
    hint = outdated[1] if outdated else "" if fields.status else _status_of_folder(path)
    status = parse_status(f"{hint} {fields.status}")
    outcome = adr_outcome.read(page)
    if _is_called_template(page, path) and (outcome.doubt or not sources.is_numbered(path)):
        return Unread("a template", is_for_agent=False)
    doubt = outcome.doubt or _doubt(title, status, fields.status)
    if _is_of_another_page(title, path, outcome.decision):
        doubt = doubt or "its title has no word of its file name or its decision: it may be that of another page"
    draft = _Draft(page, outcome, title, path)
    doubt = doubt or ("" if draft.reasons else "it gives neither a context nor a reason")
    if doubt:
        return Unread(doubt, outcome.line)
    record_fields: dict[str, Any] = {
        "title": title,
        "content": {key: value for key, value in draft.content(status).items() if value},
        "source": f"{path}:{outcome.line}"[-1_000:],
        **({"created_at": fields.day, "updated_at": fields.day} if fields.day and fields.day <= now else {}),
        **({"tags": fields.tags.split(",")[:12]} if fields.tags else {}),
    }
    try:
        record = compose.compose("decision", record_fields, now=now, allow_secret=True, written_by=RecordAuthor(IMPORT))
    except Invalid as error:
        return Unread(f"it makes no valid record: {error.message}"[:200], outcome.line)
    record = _with_rule_title(record)
    findings = _audit_findings(record)
    if findings:
        return Unread(f"an audit would complain about its record: {findings}", outcome.line)
    return Adr(record, path, _number(path, page), *references(fields), tuple(draft.notes))


def _audit_findings(record: Memory) -> str:
    """Return what an audit finds in a record; empty for nothing. Credentials are reported when all files are read."""
    measures = report.audit([audit_item.from_record(record)], Evidence())
    names = ("overlong", "junk", "triggers")
    return "; ".join(finding.message for name in names for finding in measures[name].findings)


def _with_rule_title(record: Memory) -> Memory:
    """Return the record with a title made of its decision where that of the page is a topic, which stays a trigger.

    The title is changed only if it has a whole sentence of the decision, and no part of one.
    """
    better = naming.clean_title(rule_title.proposal(record))
    beginning = better.lower().removeprefix(f"{record.title.lower()}: ")
    decision = record.text("decision")
    first = next(iter(sentences(decision)), "")
    is_whole = first.rstrip(".! ").lower().endswith(beginning) and ": " not in beginning and " - " not in beginning
    if not better or not is_whole:
        return record
    topic = () if naming.is_generic(record.title) else (record.title,)
    return record._replace(title=better, triggers=(*topic, *record.triggers))


def _status_of_folder(path: str) -> str:
    """Return the status that the name of the folder says; empty for none."""
    folders = os.path.dirname(path).lower().split("/")
    return next(
        (name for name in folders if name in ("deprecated", "obsolete", "archived", "rejected", "proposed")), ""
    )


def _doubt(title: str, status: str, status_text: str) -> str:
    if not title:
        return "it has no title"
    if len(title) > _MAX_TITLE_LENGTH or quotation.name_flaw(title):
        return f"its title {cut(title, _MAX_QUOTED_LENGTH)!r} cannot be quoted"
    if status == "rejected":
        return "it was rejected: only a reader can say what is valid instead"
    return f"its status {status_text[:60]!r} is unknown" if not status else ""


def parse_status(text: str) -> str:
    """Return the status that `text` begins with: accepted if it is empty, an empty string if it is unclear.

    A status word further back may be about anything: "reverted in a discussion".
    """
    lower = re.sub(r"~~.*?~~", " ", " ".join(text.lower().split()))
    if len({status for status, cues in _STATUSES.items() if re.search(rf"(?<!\w)(?:{cues})", lower)}) > _MAX_STATUSES:
        # A list of all possible statuses comes from a template.
        return ""
    if _REPLACED_BY.search(lower) and not _IN_PART.search(lower):
        return "superseded"
    lower = _REPLACES.split(lower, maxsplit=1)[0].strip(" .,;:~_*")
    if not lower:
        return "accepted"
    beginning = _BEFORE_STATUS.sub("", lower, count=1)
    matches = [
        (-len(match[0]), status)
        for status, cues in _STATUSES.items()
        if (match := re.match(rf"(?:{cues})", beginning)) and not _IN_PART.search(lower)
    ]
    return min(matches)[1] if matches else ""


def _title(page: MarkdownPage, path: str) -> str:
    """Return the first heading without number and "ADR", or the title in the front matter, or the name of the file.

    A heading that is part of every such page, such as "Context", is no title.
    """
    first = next((section for section in page.sections if section.title), None)
    heading = first.title if first and first.level == 1 and not adr_page.is_part(first) else ""
    for title in (heading, page.first("title"), page.first("name"), _file_title(path)):
        match = _TITLE_NUMBER.match(title)
        bare = adr_page.clean(title[match.end() :] if match else title).strip(" _*")
        if (
            bare
            and not _NO_TITLE.fullmatch(bare)
            and not _PLACEHOLDER_TITLE.search(title)
            and not _SLUG.fullmatch(bare)
        ):
            return bare
    return ""


def _file_title(path: str) -> str:
    """Return the words of a numbered file's name; empty for none or one."""
    stem = os.path.splitext(os.path.basename(path))[0]
    name = re.sub(r"[-_\s]+", " ", _NUMBER.sub("", stem, count=1)).strip() if _NUMBER.match(stem) else ""
    return f"{name[:1].upper()}{name[1:]}" if " " in name else ""


def _is_of_another_page(title: str, path: str, decision: str) -> bool:
    """True if neither the name of the file nor the decision has a word that begins as one of the title does."""
    file_title = _file_title(path)
    joined = "".join(re.findall(r"[^\W_]+", f"{file_title} {decision}".lower()))
    stems = {word[:_STEM_LENGTH] for word in re.findall(r"[^\W_]{2,}", title.lower())}
    return bool(file_title) and title.isascii() and not any(stem in joined for stem in stems)


def _is_called_template(page: MarkdownPage, path: str) -> bool:
    """True if the name of a file says that it is a template, or its heading does and the file has no number."""
    if "template" in os.path.basename(path).lower():
        return True
    heading = next((section.title for section in page.sections if section.title), "")
    is_heading = _PLACEHOLDER_TITLE.search(heading) or _TEMPLATE_TITLE.search(heading)
    return bool(is_heading) and not sources.is_numbered(path)


def _number(path: str, page: MarkdownPage) -> int:
    heading = next((section.title for section in page.sections if section.title), "")
    match = _NUMBER.match(os.path.basename(path)) or _NUMBER.match(heading)
    return int(match[1]) if match else -1


def _is_list_of_links(page: MarkdownPage) -> bool:
    """True if most lines of the page are links to other pages."""
    lines = [line.strip() for section in page.sections for line in section.source.split("\n") if line.strip()]
    links = sum(bool(re.match(r"(?:[-*+|]|\d+\.)\s*.{0,80}\]\([^()\s]+\.md\b", line)) for line in lines)
    return links > 2 and links * 2 >= len(lines)


class _Draft:
    """The parts of a draft, taken from the page within the limits for a record, and notes on what was left out."""

    def __init__(self, page: MarkdownPage, outcome: AdrOutcome, title: str, path: str) -> None:
        self.notes = list(outcome.notes)
        self.decision = outcome.decision
        context = self._sentence("the context", adr_page.context(page))
        self.context = context or title
        reasons = [outcome.reason] if outcome.reason else []
        reasons += self._items("reasons", adr_page.reasons(page), quotation.item)
        # What a decision has to meet, and what called for it, are no reasons yet: they say what they are.
        if not reasons:
            drivers = self._items("decision drivers", adr_page.drivers(page), quotation.item)
            reasons = [f"Decision driver: {driver}" for driver in drivers]
        reasons = reasons or ([f"From the context: {context}"] if context else [])
        # The page says more, and nothing of it can be read alone: a reader is sent there.
        is_elsewhere = bool(adr_page.context(page) or adr_page.reasons(page))
        self.reasons = reasons[:_MAX_ITEMS] or ([f"Not quoted here: see {path}"] if is_elsewhere else [])
        self.effects = self._items("consequences", adr_page.effects(page), quotation.effect)
        self.alternatives = self._alternatives(outcome.alternatives)

    def _sentence(self, name: str, text_parts: Sequence[Quotable]) -> str:
        """Return a sentence of the first paragraphs that can be read alone; empty if there is none."""
        first = Quotation()
        for part in text_parts[:_MAX_PARAGRAPHS]:
            text = quotation.without_last(part.text) if part.is_open else part.text
            flaw = _flaw(part) or ("" if part.kind == "paragraph" else "it is no paragraph")
            flaw = flaw or ("" if text else "it goes on with another sentence")
            quoted = Quotation("", (part.text,), flaw) if flaw else quotation.first_sentence(text, _MAX_ITEM_LENGTH)
            first = first if first.rest else quoted
            if quoted.text:
                break
        else:
            quoted = Quotation()
        rest = first if first.rest else quoted
        if rest.rest:
            self.notes.append(f"{name} from {cut(rest.rest[0], _MAX_QUOTED_LENGTH)!r} on ({rest.flaw})")
        return quoted.text

    def _items(self, name: str, text_parts: Sequence[Quotable], quote: Callable[[str, int], Quotation]) -> list[str]:
        """Return the first items that can be read alone, and the first sentence of a paragraph without a list."""
        paragraphs = [part for part in text_parts if part.kind == "paragraph"][:1]
        items = [part for part in text_parts if part.kind == "item"]
        quoted = [
            Quotation("", (part.text,), _flaw(part)) if _flaw(part) else quote(part.text, _MAX_ITEM_LENGTH)
            for part in items
        ]
        quoted += [
            Quotation("", (part.text,), _flaw(part))
            if _flaw(part)
            else quotation.first_sentence(part.text, _MAX_ITEM_LENGTH)
            for part in paragraphs
            if not items
        ]
        texts = list(dict.fromkeys(each.text for each in quoted if each.text))[:_MAX_ITEMS]
        lost = len(quoted) - len(texts)
        if lost:
            flaws = dict.fromkeys(each.flaw or quotation.ENOUGH for each in quoted if each.text not in texts)
            self.notes.append(f"{lost} of {len(quoted)} {name} ({', '.join(flaws)})")
        return texts

    def _alternatives(self, options: Sequence[AdrOption]) -> list[dict[str, str]]:
        """Return the options that were not chosen; none if one has no proper name: the list has another form."""
        flaw = next(
            (option for option in options if len(option.name) > _MAX_NAME_LENGTH or quotation.name_flaw(option.name)),
            None,
        )
        if flaw:
            self.notes.append(f"the alternatives: {cut(flaw.name, _MAX_QUOTED_LENGTH)!r} cannot be quoted")
            return []
        if len(options) > _MAX_ALTERNATIVES:
            self.notes.append(f"{len(options) - _MAX_ALTERNATIVES} alternatives ({quotation.ENOUGH})")
        return [{"option": option.name, "rejected_reason": "Not chosen"} for option in options[:_MAX_ALTERNATIVES]]

    def content(self, status: str) -> dict[str, Any]:
        return {
            "status": status,
            "context": self.context,
            "decision": self.decision,
            "rationale": self.reasons,
            "alternatives": self.alternatives,
            "consequences": self.effects,
        }


def _flaw(text_part: Quotable) -> str:
    """Return why a part of a page cannot be quoted as a whole; empty if it can."""
    return text_part.flaw or ("it has a label" if text_part.label else "")


def references(adr_fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the references to what replaces a decision, and to what it replaces."""
    status = adr_fields.status
    replaced_by, replaces = adr_fields.superseded_by, adr_fields.supersedes
    for match in _REPLACED_BY.finditer(status):
        replaced_by += " " + _REPLACES.split(status[match.end() :], maxsplit=1)[0]
    for match in _REPLACES.finditer(status):
        replaces += " " + _REPLACED_BY.split(status[match.end() :], maxsplit=1)[0]
    return _references_in(replaced_by), _references_in(replaces)


def _references_in(text: str) -> tuple[str, ...]:
    """Return the file names in `text`, or else the numbers of records, or else a bare number at its start."""
    bare = _BARE_NUMBER.match(text)
    names = _FILE.findall(text) or _BY_NUMBER.findall(text) or ([bare[1]] if bare else [])
    return tuple(dict.fromkeys(names))[:_MAX_REFERENCES]


def link_records(adrs: Sequence[Adr], ids: Mapping[str, str] = _NO_IDS) -> list[Memory]:
    """Return the records with unique ids, linked to what replaces them, without links that form a cycle.

    `ids` maps the path of a file to the id of the record that was imported from it before.
    """
    used_ids = set(ids.values())
    records = [
        adr.record._replace(id=ids[adr.path]) if adr.path in ids else with_free_id(adr.record, used_ids) for adr in adrs
    ]
    positions: dict[tuple[str, str | int], int] = {}
    for position, adr in enumerate(adrs):
        folder, name = os.path.split(adr.path)
        positions.setdefault((folder, name.lower()), position)
        positions.setdefault((folder, adr.number), position)

    def resolve(reference: str, adr: Adr) -> int:
        name = int(reference) if reference.isdigit() else reference.lower()
        return positions.get((os.path.dirname(adr.path), name), -1)

    successor: dict[int, int] = {}
    for position, adr in enumerate(adrs):
        pairs = [(position, resolve(reference, adr)) for reference in adr.replaced_by]
        pairs += [(resolve(reference, adr), position) for reference in adr.replaces]
        for old, new in pairs:
            if min(old, new) >= 0 and old not in successor and old not in _chain(successor, new):
                successor[old] = new
    return [_with_links(records, position, successor) for position in range(len(records))]


def with_free_id(record: Memory, used_ids: set[str]) -> Memory:
    """Return the record with an id that is not in `used_ids`, and add the id to them."""
    record_id = naming.unused_name(record.id, used_ids.__contains__)
    used_ids.add(record_id)
    return record._replace(id=record_id)


def _chain(successor: dict[int, int], start: int) -> list[int]:
    chain = [start]
    while chain[-1] in successor:
        chain.append(successor[chain[-1]])
    return chain


def _with_links(records: Sequence[Memory], position: int, successor: dict[int, int]) -> Memory:
    record = records[position]
    olds = [records[old].id for old, new in successor.items() if new == position]
    if position in successor:
        content = {**record.content, "status": "superseded"}
        record = record._replace(superseded_by=records[successor[position]].id, content=content)
    return record._replace(supersedes=tuple(olds[:50]))
