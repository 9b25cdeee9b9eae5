"""Records that are hard to find by prompts, or hard to understand where they are shown, with reasons and fixes."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from onrecord import budget, files
from onrecord.audit import audit_item, report
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.freshness import project_files, related_files
from onrecord.record import rule_title, summary_line, validity
from onrecord.record.memory import Memory
from onrecord.record.schema import shorten
from onrecord.search import document, query, terms

CHECKS = ("feedback", "triggers", "title", "wording", "duplicates", "files", "length")
ENOUGH_TRIGGERS = 6
"""A record with this many triggers is not reported. More do not help: in a test with 354 prompts in two projects, the
right record came first for 79% of the prompts without triggers, 85% with three, 89% with six, and 89% with ten."""

_MIN_WEIGHT = 2
"""Lowest total weight that is reported. A record that only lacks related files is below it: prompts may find it."""

_MAX_LOST_FILES = 50
"""Missing files for which a similar name is searched. Each search takes half a second in a large repository."""

_MENTION = re.compile(r"[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,12}")
_MAX_MENTIONS = 40
_RECIPE = "write eight to ten, in other words than the title"

_MAX_TEXT_CHARS = 20_000
"""Characters of a text that are searched."""

_REFERENCE_ELSEWHERE = re.compile(
    r"(?i)\b(?:"
    # A named source ("as described in RFC 7231") can be looked up.
    r"as (?:we )?(?:just )?(?:discussed|agreed|mentioned|described|explained|noted|said)(?! (?:in|by|at|under|on)\b)"
    r"|(?:as|like|shown|results|described|mentioned|discussed|given|defined) (?:above|below|earlier|previously)"
    r"|the (?:above|aforementioned) (?:approach|option|decision|solution|problem|issue|discussion|comment)"
    # "The chat" may be part of the program.
    r"|(?:this|our) (?:chat|conversation)|(?:this|our|the) (?:slack|email|teams) thread"
    r"|see (?:above|below|(?:the )?(?:thread|chat|conversation|previous (?:message|section|comment)))"
    r"|wie (?:oben|besprochen|erwähnt|vereinbart|beschrieben|gehabt)(?! (?:in|im|unter|auf)\b)|siehe (?:oben|unten)"
    r"|como (?:se (?:discutió|acordó|mencionó|dijo)|comentamos|acordamos|hablamos|discutimos)"
    r"|(?:ver|véase) (?:más )?(?:arriba|abajo)"
    r")\b"
)
_RELATIVE_DATE = re.compile(
    r"(?i)\b(?:yesterday|tomorrow|earlier today|the other day|(?:last|next) (?:week|month|night|sprint|quarter|year)"
    r"|this (?:week|sprint)|gestern|letzte woche|nächste woche|ayer|la semana pasada|la próxima semana)\b"
)
# An option with its name is clear: "option B (Redis)".
_OPTION = re.compile(
    r"\b(?:[Oo]ption|[Aa]lternative|[Vv]ariant|[Aa]pproach|[Pp]roposal) (?:[A-E]|[1-9])\b(?! ?[(:–—,-])"
)
_UNCLEAR = (
    (
        _REFERENCE_ELSEWHERE,
        (
            "as ", "above", "aforementioned", "below", "earlier", "previously", "chat", "conversation", " thread",
            "see ", "wie ", "siehe ", "como ", "ver ", "véase ",
        ),
    ),
    (_OPTION, ("option ", "alternative ", "variant ", "approach ", "proposal ")),
    (
        _RELATIVE_DATE,
        (
            "yesterday", "tomorrow", "earlier", "other day", "last ", "next ", "this ", "gestern", "woche", "ayer",
            "semana",
        ),
    ),
)  # fmt: skip
"""Patterns of phrases that only their context explains; each is tried on texts that have one of its hints."""

_VAGUE_OPENING = re.compile(
    # "It is important to …" does not refer to earlier text.
    r"(?i)\W{0,9}((?:it|they)\b(?!(?:'s| is| was) \w{1,20} (?:to|that)\b)"
    r"|(?:this|that|these|those) (?:is|was|are|were|must|should|can|cannot|will|has|have|does|did|means|needs|works)\b)"
)
_VAGUE_OBJECT = re.compile(
    r"(?i)\W{0,9}(?:(?:always|never|please|don't|do not) )?"
    r"((?:use|do|fix|change|make|keep|move|put|set|run|remove|avoid|call|try|check) (?:it|them|this|that)"
    r"(?=\W{0,9}$| (?:in|for|to|with|again|instead|from|on|like|as)\b))"
)


class Reason(NamedTuple):
    """One thing that makes a record hard to find."""

    check: str
    message: str
    fix: str
    weight: int
    """Higher weights come first: a record without triggers is missed most often."""


class HardToFind(NamedTuple):
    """A record with the reasons why it is hard to find."""

    record: Memory
    reasons: tuple[Reason, ...]

    @property
    def weight(self) -> int:
        return sum(reason.weight for reason in self.reasons)


def find(
    records: Sequence[Memory], project: str, watch: Callable[[Iterable[str]], Iterable[str]] = iter
) -> list[HardToFind]:
    """Return the current records that are hard to find, worst first. Files are checked only with a `project`."""
    current = [record for record in validity.current(records) if _is_for_prompts(record)]
    duplicates = _duplicates(current, watch)
    lost_files = _lost_files(current, project)
    results = []
    for record in budget.counted(current, "reading titles and wording"):
        reasons = [*_triggers(record), *_title(record), *_wording(record), *_length(record)]
        reasons += [*duplicates.get(record.id, ()), *lost_files.get(record.id, ()), *_no_files(record, project)]
        results.append(HardToFind(record, tuple(reasons)))
    results = [result for result in results if result.weight >= _MIN_WEIGHT]
    return sorted(results, key=lambda result: (-result.weight, result.record.path))


def _is_for_prompts(record: Memory) -> bool:
    """True unless `record` is a session summary: those are shown at the start of a session, not for prompts."""
    return not CATEGORIES[record.category].max_active


def trigger_reasons(record: Memory) -> list[Reason]:
    """Return what makes a record hard to find by its triggers."""
    return list(_triggers(record))


def _triggers(record: Memory) -> Iterator[Reason]:
    title = set(terms.stream(record.title))
    specific = document.specific_triggers(record)
    useful = [trigger for trigger in specific if set(terms.stream(trigger)) - title - query.ENGLISH]
    fix = f"{_RECIPE}: onrecord edit {record.id}; or ask your agent to draft them"
    note = document.trigger_note(record)
    if note:
        yield Reason("triggers", note, f"onrecord edit {record.id}", 2)
    if not record.triggers:
        yield Reason("triggers", "has no triggers", fix, 4)
    elif not useful and specific:
        yield Reason("triggers", "its triggers only repeat the title", fix, 4)
    elif len(useful) < ENOUGH_TRIGGERS:
        repeated = len(specific) - len(useful)
        rest = f", and {repeated} more that only repeat the title" if repeated else ""
        count = "1 trigger" if len(useful) == 1 else f"{len(useful)} triggers"
        yield Reason("triggers", f"has {count}{rest}", fix, 2)


def _title(record: Memory) -> Iterator[Reason]:
    """Yield a reason if the title names a topic: a session starts with the titles of the records."""
    better = rule_title.proposal(record)
    if better:
        fix = f'state the rule, such as "{better}": onrecord edit {record.id}'
        yield Reason("title", "its title names a topic, not the rule", fix, 2)


def _wording(record: Memory) -> Iterator[Reason]:
    phrases = unclear_phrases(record)
    if phrases:
        quoted = ", ".join(f'"{shorten(phrase, 40)}"' for phrase in phrases[:3])
        fix = f"name what is meant, or give the date: onrecord edit {record.id}"
        yield Reason("wording", f"cannot be understood alone: {quoted}", fix, 3)


def _length(record: Memory) -> Iterator[Reason]:
    """Yield a reason if the record does not fit into the lines that an agent gets."""
    category = CATEGORIES[record.category]
    has_steps = any(not longest for _, _, longest, _ in category.details)
    statement = " ".join(record.text(category.statement).split())
    longest = category.statement_length or summary_line.MAX_CHARACTERS
    fix = f"shorten it to the rule, and put the rest into other fields or records: onrecord edit {record.id}"
    if len(statement) > longest:
        what = f"its {category.statement} has {len(statement):,} characters, but an agent is shown {longest}"
        yield Reason("length", what, fix, 2)
    elif has_steps and summary_line.lacks_steps(summary_line.render(record)):
        yield Reason("length", "its steps do not fit into the lines that an agent is shown", fix, 2)
    size = len(audit_item.text_of(record))
    if size > report.MAX_RECORD_CHARS:
        yield Reason("length", f"has {size:,} characters", "split it into several records", 2)


def _duplicates(records: Sequence[Memory], watch: Callable[[Iterable[str]], Iterable[str]]) -> dict[str, list[Reason]]:
    reasons: dict[str, list[Reason]] = {}
    for finding in report.duplicates([audit_item.from_record(record) for record in records], watch).findings:
        for record_id in finding.ids:
            others = [other for other in finding.ids if other != record_id]
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            what = f"says nearly the same as {', '.join(others[:3])}{more}, so they compete"
            reasons.setdefault(record_id, []).append(Reason("duplicates", what, finding.fix, 3))
    return reasons


def _lost_files(records: Sequence[Memory], project: str) -> dict[str, list[Reason]]:
    if not project:
        return {}
    owners: dict[str, list[str]] = {}
    for record in records:
        for text in record.related_files:
            owners.setdefault(text, []).append(record.id)
    reasons: dict[str, list[Reason]] = {}
    for flaw in islice(related_files.problems(project, owners), _MAX_LOST_FILES):
        what = f"its related file {shorten(flaw.text)} {flaw.what}, so it is never shown there"
        for record_id in owners[flaw.text]:
            fix = f"replace it with {flaw.nearest or 'its current path'}: onrecord edit {record_id}"
            reasons.setdefault(record_id, []).append(Reason("files", what, fix, 2))
    return reasons


def _no_files(record: Memory, project: str) -> Iterator[Reason]:
    """Yield a reason if a rule about the code has no related files."""
    if not project or not CATEGORIES[record.category].is_strict or record.related_files or record.scope.paths:
        return
    text = audit_item.text_of(record)[: report.MAX_RECORD_CHARS]
    mentions = dict.fromkeys(_MENTION.findall(text) if "/" in text else ())
    inside = [path for path in list(mentions)[:_MAX_MENTIONS] if project_files.is_lexically_inside(path)]
    present = [path for path in inside if files.is_regular(os.path.join(project, path))]
    if present:
        flags = " ".join(f"--related {shlex.quote(path)}" for path in present[:3])
        what = f"names {', '.join(present[:3])} only in its text, so it is not shown there"
        yield Reason("files", what, f"onrecord update {record.id} {flags}", 2)
    else:
        fix = f"if it is about certain files, add them as related_files: onrecord edit {record.id}"
        yield Reason("files", "has no related files, so it is shown for prompts only", fix, 1)


def unclear_phrases(record: Memory) -> list[str]:
    """Return the phrases that a reader of the record alone cannot understand, each once."""
    statement = record.text(CATEGORIES[record.category].statement)
    openings = [
        pattern.match(text) for text in (record.title, statement) for pattern in (_VAGUE_OPENING, _VAGUE_OBJECT)
    ]
    phrases = [opening.group(1) for opening in openings if opening]
    return list(dict.fromkeys((*phrases, *phrases_in([record.title, *document.content_texts(record)]))))


def phrases_in(texts: Iterable[str]) -> list[str]:
    """Return the phrases that point to what was said elsewhere or to a day that only the writer knew, each once."""
    texts = [text[:_MAX_TEXT_CHARS] for text in texts]
    lowered = "\n".join(texts).lower()
    phrases: list[str] = []
    for pattern, hints in _UNCLEAR:
        if any(hint in lowered for hint in hints):
            phrases += [match.group() for text in texts for match in pattern.finditer(text)]
    return list(dict.fromkeys(phrases))
