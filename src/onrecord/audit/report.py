"""The checks of an audit. Each returns its findings and the share of records concerned."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from onrecord import budget, files, globs, timestamps
from onrecord.audit import audit_item, check_report
from onrecord.audit.audit_item import AuditItem
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors, check, project_files
from onrecord.freshness.check import Freshness, IndexedAnchor, Verdict
from onrecord.record import naming, secrets, validity
from onrecord.search import document, terms
from onrecord.store.store import Entry, Store

MIN_SIMILARITY = 0.6
"""Share of common word pairs at which two records say nearly the same."""

MAX_RECORD_CHARS = 3_000
"""A longer record is reported: neither people nor agents read it to its end."""

_MAX_COMPARED_CHARS = 20_000
"""Later text hardly changes the similarity of two records, and would make a huge one slow."""

_CHANGED_FIX = "if it is still true: onrecord reanchor {0}; if not: onrecord edit {0}"
_CHECKS_FIX = "correct it: onrecord edit {0}"
_MISSING_FIX = (
    "if it is still true, update its related files: onrecord edit {0}; "
    "if not: onrecord retire {0} --reason 'its file is gone'"
)
_OUTDATED = "says itself that it is outdated"
_MENTION = re.compile(r"`([\w@.-]+(?:/[\w@.-]+)+\.\w{1,8})`")

_MIN_TEXT_CHARS = 20
_MAX_ANALYZED_CHARS = 5_000
_MAX_FRAGMENT_CHARS = 160
"""A longer statement is never taken for a fragment, however it begins."""

_PLACEHOLDER = re.compile(
    r"(?i)^(?:untitled|new (?:memory|note|record)|note(?: ?\d+)?|test(?:ing)?(?: ?\d+)?|todo|tbd|n/?a|none|asdf\w*|foo"
    r"|bar|placeholder|lorem ipsum.*|session (?:started|ended)|heartbeat|hello(?: world)?|\W*)$"
)
# Space before a word is that of its own line: across lines, each of a thousand empty ones would look at all the others.
_ECHO = re.compile(r"(?i)<memory-context|<system-reminder|^[^\S\n]*(?:human|assistant|user)\s*:", re.MULTILINE)
_DUMP = re.compile(
    r"(?m)^(?:Traceback \(most recent call last\)|[^\S\n]+at [\w.$<>]+\(.*\)$"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:INFO|DEBUG|WARN))"
)
_LETTERS = re.compile(r"[^\W\d_]+|\s+")
# A number, a letter, or a heading that says nothing about the content.
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
    r"(?i)^\W*(?:it )?(?:goes against|violates|breaks|contradicts)\s\S+\.md\W*$|^(?:\W*\s)?\S+\.md says so\W*$"
)
TIMEOUT_SECONDS = 60.0
"""Total time for git: a large history needs ten seconds, and a hostile repository can make git wait forever."""


class AuditFinding(NamedTuple):
    """A problem of one or more records, and its fix."""

    ids: tuple[str, ...]
    message: str
    fix: str


class Measure(NamedTuple):
    """The result of a check: `hits` of `of` records have the problem; `hits` is None if it could not be measured."""

    hits: int | None
    of: int
    findings: tuple[AuditFinding, ...] = ()

    @property
    def rate(self) -> float | None:
        if self.hits is None:
            return None
        return self.hits / self.of if self.of else 0.0


class Evidence(NamedTuple):
    """Facts from outside the records, by record id; None if unknown."""

    changed: Mapping[str, str] | None = None
    """Changes of the files of a record."""

    missing: Mapping[str, str] | None = None
    """Missing files of a record."""

    checks: Mapping[str, str] | None = None
    """What is wrong with the checks of a record."""

    authority: tuple[AuditFinding, ...] | None = None
    """Records that take more authority than one record should have."""


def audit(
    items: Sequence[AuditItem], evidence: Evidence, watch: Callable[[Iterable[str]], Iterable[str]] = iter
) -> dict[str, Measure]:
    """Run every check. Return the results by name; `watch` can report progress."""
    current = [item for item in items if item.is_current]
    alive = [item for item in items if not item.is_retired]
    return {
        "duplicates": duplicates(current, watch),
        "superseded": contradictions(alive),
        "changed": _measure_messages(current, evidence.changed, _CHANGED_FIX),
        "missing": _measure_messages(current, evidence.missing, _MISSING_FIX),
        "overlong": _measure(current, _overlong),
        "secrets": _measure(items, _secret, "looking for credentials"),
        "junk": _measure(current, _junk, "reading statements"),
        "checks": _measure_messages(current, evidence.checks, _CHECKS_FIX),
        "triggers": _measure(current, _generic_triggers),
        "authority": _authority(current, evidence),
    }


def _authority(items: Sequence[AuditItem], evidence: Evidence) -> Measure:
    if evidence.authority is None:
        return Measure(None, len(items))
    ids = {finding.ids for finding in evidence.authority}
    return Measure(len(ids), len(items), evidence.authority)


def lost_files(items: Iterable[AuditItem], root: str) -> dict[str, str]:
    """Return a message, by id, for each note that names a missing file in backticks."""
    lost = {}
    for item in items:
        mentions = list(dict.fromkeys(_MENTION.findall(item.text)))[:20]
        inside = [path for path in mentions if project_files.is_lexically_inside(path)]
        missing = [path for path in inside if files.status(os.path.join(root, path)) is None]
        if missing:
            lost[item.id] = f"names {', '.join(missing[:3])}, which does not exist"
    return lost


def duplicates(items: Sequence[AuditItem], watch: Callable[[Iterable[str]], Iterable[str]]) -> Measure:
    """Find groups of items that say nearly the same."""
    texts = [f"{item.title}\n{item.text[:_MAX_COMPARED_CHARS]}" for item in items]
    findings, extra = [], 0
    for group in audit_item.similar_texts(map(terms.stream, watch(texts)), MIN_SIMILARITY):
        members = sorted(
            (items[number] for number in group), key=lambda item: (timestamps.order(item.updated), item.id)
        )
        extra += len(members) - 1
        ids = tuple(item.id for item in members)
        fix = f"keep one: onrecord supersede {ids[0]} {ids[-1]}"
        findings.append(AuditFinding(ids, f"{len(ids)} say nearly the same: {members[-1].title}", fix))
    return Measure(extra, len(items), tuple(findings))


def contradictions(items: Sequence[AuditItem]) -> Measure:
    """Find records that are not retired and contradict themselves or another one about what replaces what."""
    return _measure(items, _superseded(items))


def _superseded(items: Sequence[AuditItem]) -> Callable[[AuditItem], tuple[str, str] | None]:
    by_id = {item.id: item for item in items}
    claims: dict[str, list[str]] = {}
    for item in items:
        for old in filter(by_id.__contains__, item.supersedes):
            claims.setdefault(old, []).append(item.id)

    def check(item: AuditItem) -> tuple[str, str] | None:
        if item.superseded_by and item.says_current:
            return f"is replaced by {item.superseded_by} and still says it is in force", f"onrecord edit {item.id}"
        claimant = next((name for name in claims.get(item.id, ()) if name != item.superseded_by), "")
        if claimant:
            message = f"{claimant} says that it replaces this one, which does not say so: nothing obeys that"
            return message, f"read it, and remove the claim: onrecord edit {claimant}"
        if item.says_superseded and not item.superseded_by:
            return _OUTDATED, f"onrecord retire {item.id} --reason '{_OUTDATED}'"
        return None

    return check


def _measure_messages(items: Sequence[AuditItem], messages: Mapping[str, str] | None, fix: str) -> Measure:
    if messages is None:
        return Measure(None, len(items))
    return _measure(items, lambda item: (messages[item.id], fix.format(item.id)) if item.id in messages else None)


def _overlong(item: AuditItem) -> tuple[str, str] | None:
    length = len(item.text)
    return (f"has {length:,} characters", "split it, or shorten it to the rule") if length > MAX_RECORD_CHARS else None


def _generic_triggers(item: AuditItem) -> tuple[str, str] | None:
    note = document.trigger_note(item.source) if item.source else naming.generic_note(item.triggers)
    return (note, f"onrecord edit {item.id}") if note else None


def _secret(item: AuditItem) -> tuple[str, str] | None:
    leak = next(secrets.find_leaks(item.raw), None)
    return (str(leak), "change the credential, then remove it from the text and from git's history") if leak else None


def _junk(item: AuditItem) -> tuple[str, str] | None:
    reason = junk_reason(item)
    fix = f"onrecord edit {item.id}; or: onrecord retire {item.id} --reason {shlex.quote(reason)}"
    return (reason, fix) if reason else None


def _measure(
    items: Sequence[AuditItem], test: Callable[[AuditItem], tuple[str, str] | None], what: str = ""
) -> Measure:
    """Return the findings of a test; `what` it does is counted where the program shows counts."""
    tried = budget.counted(items, what) if what else items
    findings = tuple(AuditFinding((item.id,), *result) for item in tried if (result := test(item)))
    return Measure(len(findings), len(items), findings)


def junk_reason(item: AuditItem) -> str:
    """Return why a record has no useful content; empty if it has."""
    return _placeholder(item) or _fragment(item) or _output(item.text.strip())


def _placeholder(item: AuditItem) -> str:
    title, text = item.title.strip(), item.text.strip()
    if _PLACEHOLDER.match(title) or _PLACEHOLDER.match(text):
        return "is a placeholder"
    if len(text) < _MIN_TEXT_CHARS and len(f"{title}{text}") < 2 * _MIN_TEXT_CHARS and text.isascii():
        return "says hardly anything"
    return "has a title that says nothing" if _HEADING.match(title) else ""


def _fragment(item: AuditItem) -> str:
    """Return why the statement cannot be understood alone; empty if it can."""
    statement = (item.statement or item.text).strip()
    if len(statement) > _MAX_FRAGMENT_CHARS:
        return ""
    if _OPTION.match(statement):
        return "names an option that only its source explains"
    if _REFERENCE.match(statement):
        return "only refers to another text"
    if _FRAGMENT.match(statement) or _HALF_QUOTED.search(statement):
        return "is a fragment of a sentence"
    lines = item.text.splitlines()
    return "gives a file as its reason" if any(_NO_REASON.match(line) for line in lines) else ""


def _output(text: str) -> str:
    if _ECHO.search(text):
        return "repeats a conversation or an injected record"
    start = text[:_MAX_ANALYZED_CHARS]
    # Prose is mostly letters and spaces; other text is a log, a table or data.
    is_data = len(text) > 200 and len(_LETTERS.sub("", start)) > 0.45 * len(start)
    return "is a dump of output" if is_data or len(_DUMP.findall(text)) > 2 else ""


class LooseFile(NamedTuple):
    """A file of a record that has no anchor, and its path now; empty if there is no such file."""

    path: str
    now: str

    @property
    def is_moved(self) -> bool:
        return self.now not in ("", self.path)


class RecordFreshness(NamedTuple):
    """A record, the verdicts on its anchors, and its files that have no anchor."""

    entry: Entry
    verdicts: tuple[Verdict, ...]
    loose: tuple[LooseFile, ...]

    @property
    def moved(self) -> dict[str, str]:
        """The new paths of the files that were renamed, by their old ones."""
        paths = {verdict.anchor.path: verdict.now for verdict in self.verdicts if verdict.is_moved}
        return {**paths, **{file.path: file.now for file in self.loose if file.is_moved}}

    @property
    def is_stale(self) -> bool:
        return bool(self.loose) or any(verdict.state != check.FRESH or verdict.is_moved for verdict in self.verdicts)


def collect(
    store: Store, entries: Sequence[Entry], watch_entries: Callable[[Iterable[Entry]], Iterable[Entry]] = iter
) -> Evidence:
    """Return the changed and missing files of current records; `watch_entries` can report progress."""
    if not anchors.project_root(store.root):
        return Evidence()
    states: dict[str, dict[str, str]] = {check.CHANGED: {}, check.MISSING: {}}
    paths = {record.path for record in validity.current(entry.memory for entry in entries)}
    current = [entry for entry in entries if entry.memory.path in paths]
    for result in check_all(store, watch_entries(current)):
        for state, messages in states.items():
            changes = [check.sentence(verdict) for verdict in result.verdicts if verdict.state == state]
            if changes:
                messages[result.entry.memory.id] = "; ".join(changes[:3])
    records = [entry.memory for entry in current if entry.memory.checks]
    odd = check_report.find_odd(records, anchors.project_root(store.root)) if records else {}
    return Evidence(changed=states[check.CHANGED], missing=states[check.MISSING], checks=odd)


def check_all(store: Store, entries: Iterable[Entry]) -> list[RecordFreshness]:
    """Check all anchors of these records."""
    freshness = Freshness(anchors.project_root(store.root), TIMEOUT_SECONDS)
    return [_check_record(freshness, entry) for entry in entries if entry.memory.anchors or entry.memory.related_files]


def _check_record(freshness: Freshness, entry: Entry) -> RecordFreshness:
    indexed = anchors.to_indexed(entry.memory)
    covered = {anchor.path for anchor in indexed}
    loose = tuple(
        LooseFile(file, _path_now(freshness, file)) for file in entry.memory.related_files if file not in covered
    )
    return RecordFreshness(entry, tuple(map(freshness.check, indexed)), loose)


def _path_now(freshness: Freshness, path: str) -> str:
    """Return where a file without an anchor is now: one that is gone is followed from its first commit."""
    if globs.is_pattern(path) or files.is_there(os.path.join(freshness.root, path)):
        return path
    verdict = freshness.check(IndexedAnchor(path, "", "", "", "", ""))
    return verdict.now if verdict.is_moved else ""
