"""Records that say nothing: placeholders, dumps of output, and what is left when a text was cut out of its place."""

from __future__ import annotations

import re

from onrecord.audit.audit_item import AuditItem

# Characters in which hardly anything can be said.
_SHORTEST = 20
# Characters of a text that are looked at for what it is made of.
_MOST_LETTERS = 5_000
# Characters beyond which a statement says something, however it begins.
_SHORT = 160
_PLACEHOLDER = re.compile(
    r"(?i)^(?:untitled|new (?:memory|note|record)|note(?: ?\d+)?|test(?:ing)?(?: ?\d+)?|todo|tbd|n/?a|none|asdf\w*|foo"
    r"|bar|placeholder|lorem ipsum.*|session (?:started|ended)|heartbeat|hello(?: world)?|\W*)$"
)
_ECHO = re.compile(r"(?i)<memory-context|<system-reminder|^\s*(?:human|assistant|user)\s*:", re.MULTILINE)
_DUMP = re.compile(
    r"(?m)^(?:Traceback \(most recent call last\)|\s+at [\w.$<>]+\(.*\)$"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:INFO|DEBUG|WARN))"
)
# A number, a letter, or a heading under which anything could stand.
_HEADING = re.compile(
    r"(?i)^\W*(?:\d{1,3}|[a-z]|§\s?[\d.]+)\W*$|^\d{1,3}\)\s"
    r"|^\W*(?:[\d.]+\W+)?(?:overview|introduction|general|miscellaneous|misc|guidelines?|rules|important|notes?|background"
    r"|context|summary|conventions|principles|non-negotiables|do'?s and don'?ts|other|tl;?dr|decision|status)\W*$"
)
_OPTION = re.compile(
    r"(?i)^\W*(?:(?:we|the team) )?(?:chose|choose|pick|picked|go(?:es)? with|went with|decided (?:on|for))?\W*"
    r"(?:the )?"
    r"(?:option|alternative|variant|proposal|solution|approach|choice)s?\s+(?:[a-h]|\d{1,2}|[ivx]{1,4})\b"
    r"(?:\W+(?:and|or|with|a|the|as|fallback|to|plus|option|alternative|then|[a-h]|\d{1,2}))*\W*$"
)
# The end of a sentence or of a heading ("Chosen options:" without its first letters).
_FRAGMENT = re.compile(r"^\s*(?:[a-z]{0,2}\s?[:;,)\]]|(?:and|or|but|because|which)\s)")
_HALF_QUOTED = re.compile(r'(?:^|\s)"\w[^"]*$')
_REFERENCE = re.compile(
    r"(?i)^\W*(?:please )?(?:see|refer to|cf\.?|read|check)\s(?:also )?(?:the )?"
    r"(?:section|chapter|§|above|below|page|appendix|document|guide|file|[\w./-]+\.md)\b.{0,80}$"
)
_NO_REASON = re.compile(
    r"(?i)^\W*(?:it )?(?:goes against|violates|breaks|contradicts)\s\S+\.md\W*$|^\W*\S+\.md says so\W*$"
)


def reason(item: AuditItem) -> str:
    """Why a record says nothing; empty if it says something."""
    return _placeholder(item) or _cut_out(item) or _output(item.text.strip())


def _placeholder(item: AuditItem) -> str:
    title, text = item.title.strip(), item.text.strip()
    if _PLACEHOLDER.match(title) or _PLACEHOLDER.match(text):
        return "is a placeholder"
    if len(text) < _SHORTEST and len(f"{title}{text}") < 2 * _SHORTEST and text.isascii():
        return "says hardly anything"
    return "has a title that says nothing" if _HEADING.match(title) else ""


def _cut_out(item: AuditItem) -> str:
    """What a reader lacks who has the record alone."""
    statement = (item.statement or item.text).strip()
    if len(statement) > _SHORT:
        return ""
    if _OPTION.match(statement):
        return "names an option that only its source explains"
    if _REFERENCE.match(statement):
        return "only refers to another text"
    if _FRAGMENT.match(statement) or _HALF_QUOTED.search(statement):
        return "is cut out of a sentence"
    lines = item.text.splitlines()
    return "gives a file as its reason" if any(_NO_REASON.match(line) for line in lines) else ""


def _output(text: str) -> str:
    if _ECHO.search(text):
        return "repeats a conversation or an injected record"
    letters = sum(char.isalpha() or char.isspace() for char in text[:_MOST_LETTERS])
    # Prose is mostly letters and spaces; what is not is a log, a table or data.
    is_data = len(text) > 200 and letters < 0.55 * min(len(text), _MOST_LETTERS)
    return "is a dump of output" if is_data or len(_DUMP.findall(text)) > 2 else ""
