"""Records that take more authority than one record should have, for people who review a pull request.

Each is reported, none is refused: a team may mean what it says. What a report names is worth a second look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from onrecord import budget, timestamps
from onrecord.audit.report import AuditFinding
from onrecord.coldstart import NamedTuple
from onrecord.record import validity
from onrecord.record.memory import Memory
from onrecord.search import coefficients, document, query, rank, terms
from onrecord.search.candidates import Filter
from onrecord.search.index import Index
from onrecord.settings import load_settings

MAX_REPLACED = 3
"""Records that one record may replace without being reported."""

_MAX_SHARE = 0.15
"""Share of unrelated prompts at which one record may be shown."""

MAX_SUBJECTS = 6
"""Different things that the triggers of one record may be about: a record has three to six of them."""

_MIN_WORD_LETTERS = 4
_PER_PROMPT = 5
_MAX_QUOTE = 80

PROMPTS = (
    "the date picker shows the wrong month after midnight",
    "rename the customer table and everything that uses it",
    "why is the nightly build slower since last week",
    "write a short message for this commit",
    "add a search box above the list of orders",
    "explain what this function returns when the list is empty",
    "the container does not start on my machine",
    "move the helpers for dates into a file of their own",
    "users report that the export is missing a column",
    "upgrade the http client to its next major version",
    "make the table sortable by name",
    "translate the welcome page into Italian",
    "how do I run only one of the tests",
    "remove the feature flag for the old checkout",
    "there is a memory leak in the image worker",
    "draw the login flow as a diagram",
    "the linter complains about an unused import",
    "cache the exchange rates for an hour",
    "look at the failing pipeline and tell me the cause",
    "add dark colours to the settings screen",
    "what would it take to support Windows",
    "parse the invoice number from the file name",
    "replace the deprecated call in the payment module",
    "give me a list of the endpoints without tests",
    "the avatar upload fails above five megabytes",
    "set the time zone of the scheduler to UTC",
    "review my change before I push it",
    "document how the retry of jobs works",
    "clean up the temporary files after the import",
    "why are there two versions of the address parser",
)
"""Prompts about thirty different things: a record that is shown at many of them is about none."""

_SPEAKS = re.compile(
    r"(?im)\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|earlier|above|all|other|user|system)\b"
    r"|^\W*(?:system|assistant|human|user|developer)\s*:|\[/?INST\]|<\|\w{2,20}\|>|^\W*#{2,}\s*(?:instruction|system)"
    r"|\byou are now\b|\bnew (?:operating |system )?instructions\b|\bmaintenance mode\b"
    r"|\b(?:do not|don't|never) (?:tell|mention|show|inform|ask)\b.{0,30}\buser\b"
    r"|</?(?:system|instructions?|tool_result)\b|\bmessage from (?:anthropic|openai|google|the system)\b"
)
_DECIDES = re.compile(
    r"(?i)\b(?:no|without|skip|skips|skipping|bypass|bypasses|bypassing)\b.{0,25}\b(?:review|approval|consent"
    r"|confirmation|reviewers?|asking)\b"
    r"|\b(?:review|approval|confirmation|consent)s?\b.{0,30}\b(?:not|never|no longer)\b"
    r".{0,20}\b(?:need|requir|necessary)"
    r"|\bauto-?(?:approve|merge|accept)\w*|\b(?:decides?|approves?) (?:alone|for (?:the|this) team|everything)"
    r"|\b(?:sole|final|only) (?:approver|authority|decision|say|word)\b"
    r"|\b(?:is|are) allowed to (?:merge|push|deploy|approve|publish|release)\b"
    r"|\b(?:capture\.mode|trust\.clones|checks\.enforce)\b"
)


_SUSPICIONS = (
    (
        "speaks to the agent",
        _SPEAKS,
        (
            "ignore", "disregard", "forget", "override", "system", "assistant", "human", "user", "developer", "inst]",
            "<|", "##", "you are now", "instruction", "maintenance mode", "tool_result", "message from",
        ),
    ),
    (
        "changes who decides",
        _DECIDES,
        (
            "review", "approv", "consent", "confirmation", "asking", "auto", "decide", "authority", "decision", "say",
            "word", "allowed to", "capture.mode", "trust.clones", "checks.enforce",
        ),
    ),
)  # fmt: skip
"""What only people should say, its pattern, and hints: the pattern is tried on texts that have one of these."""


class Reach(NamedTuple):
    """How many of the prompts about other things a record is shown at."""

    record_id: str
    prompts: int


def examine(
    records: Sequence[Memory], reaches: Iterable[Reach] = (), among: Collection[str] | None = None
) -> list[AuditFinding]:
    """Return what is to be looked at in the records of a store; `among` has the ids of those that a change concerns."""
    find = validity.finder(records)
    findings = [
        AuditFinding((record.id,), message, f"read it: onrecord show {_name(record, find)}")
        for record in budget.counted(records, "reading what records claim")
        if record.record_status == "active" and (among is None or record.id in among)
        for message in _messages(record)
    ]
    for record in records:
        others = [other.path for other in find(record.id) if other.path < record.path]
        if others and (among is None or record.id in among):
            fix = f"give one of them another title: onrecord edit {record.path}"
            findings.append(AuditFinding((record.id,), f"{record.path} has the id of {others[0]}", fix))
    for record_id, prompts in reaches:
        if among is None or record_id in among:
            message = f"is shown at {prompts} of {len(PROMPTS)} prompts about other things"
            fix = f"make its triggers and tags say what it is about: onrecord edit {record_id}"
            findings.append(AuditFinding((record_id,), message, fix))
    return findings


def _name(record: Memory, find: Callable[[str], Sequence[Memory]]) -> str:
    return record.id if len(find(record.id)) == 1 else record.path


def _messages(record: Memory) -> Iterator[str]:
    if len(record.supersedes) > MAX_REPLACED:
        yield f"says that it replaces {len(record.supersedes)} records"
    shared = [name for name in record.supersedes if ":" in name]
    if shared:
        yield f"sets a record of a shared store aside here: {', '.join(shared[:MAX_REPLACED])}"
    yield from in_text("\n".join((record.title, *record.triggers, *document.content_texts(record))))
    subjects = _subjects(record)
    if subjects > MAX_SUBJECTS:
        yield f"has triggers about {subjects} different things"
    tomorrow = timestamps.days_before(timestamps.now(), -1)
    latest = max(record.updated_at, record.created_at)
    if latest > tomorrow:
        yield f"is dated in the future, {latest[:10]}, so it comes before all others"
    beyond = [flaw for flaw in record.flaws_in_file if "must have at most" in flaw or "must be at most" in flaw]
    if beyond:
        yield f"has more than is used of it: {beyond[0]}"
    everywhere = [flaw for flaw in record.flaws_in_file if "fits nearly every file" in flaw]
    if everywhere:
        yield f"is about every file: {everywhere[0][:_MAX_QUOTE]}"


def in_text(text: str) -> Iterator[str]:
    """Yield what a text of a record or a knowledge bank says that only people should."""
    plain = _without_case(text)
    for what, pattern, hints in _SUSPICIONS:
        match = pattern.search(text) if any(hint in plain for hint in hints) else None
        if match:
            yield f"{what}: “{' '.join(match[0].split())[:_MAX_QUOTE]}”"


def _without_case(text: str) -> str:
    """Return a text in which every letter that a pattern takes for a plain one, whatever its case, is that one."""
    return text.lower() if text.isascii() else text.casefold().replace("ı", "i").replace("\u0307", "")


def _subjects(record: Memory) -> int:
    """Return how many groups of triggers share no word, neither with each other nor with the record's own text."""
    groups = _joined([], [_words(trigger) for trigger in record.triggers])
    if len(groups) < MAX_SUBJECTS:
        # With its own text there is at most one more: that need not be read.
        return len(groups)
    return len(_joined([_words(" ".join((record.title, *record.tags, *document.content_texts(record))))], groups))


def _joined(groups: list[set[str]], word_sets: Iterable[set[str]]) -> list[set[str]]:
    """Return the groups with the others, those that share a word made one."""
    for words in word_sets:
        sharing = [group for group in groups if group & words]
        groups = [group for group in groups if not group & words] + [words.union(*sharing)]
    return groups


def _words(text: str) -> set[str]:
    return {term for term in terms.stream(text) if len(term) >= _MIN_WORD_LETTERS}


def reaches(index: Index, watch: Callable[[Iterable[str]], Iterable[str]] = iter) -> list[Reach]:
    """Return the records that are shown at many unrelated prompts, those at most prompts first.

    The config of the project does not count: a change could bring one that hides from us what it brings.
    """
    settings = load_settings("")
    counts: dict[str, int] = {}
    for prompt in watch(PROMPTS):
        for match in rank.find(index, query.parse(prompt), Filter("auto", settings=settings), _PER_PROMPT):
            if match.probability >= coefficients.POINTER:
                counts[match.id] = counts.get(match.id, 0) + 1
    limit = _MAX_SHARE * len(PROMPTS)
    many = [Reach(record_id, count) for record_id, count in counts.items() if count > limit]
    return sorted(many, key=lambda reach: (-reach.prompts, reach.record_id))
