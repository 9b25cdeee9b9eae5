"""What becomes of a draft or a new record: accepted, merged into a record that is there, refused, or rejected.

Whether the store says it already is decided by what records say: the probability that they are about the same thing,
how much of their wording they share, and whether they contradict each other. A shared tag decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

from recollect.audit import audit_item, contradictions
from recollect.audit.audit_item import likeness
from recollect.capture import suggestions, triage
from recollect.capture.inbox import BrokenDraft
from recollect.categories import BY_NAME
from recollect.coldstart import NamedTuple
from recollect.errors import Changed, NearDuplicate, RecollectError, Reverses
from recollect.git import git_files
from recollect.record import compose, lifecycle, memory, revision, summary_line
from recollect.record.draft import Draft
from recollect.record.fields import shorten
from recollect.record.memory import HistoryEntry, Memory
from recollect.search import gate, index, query, rank, terms
from recollect.store.store import Entry, Store
from recollect.store.writer import Writer

SAME = 0.6
"""Share of wording from which two records say the same."""

RELATED = 0.3
PROBABLE = gate.HIGH
_CANDIDATES = 8
_LONGEST_QUERY = 1_200
_LONGEST_SOURCE = 1_000
_WORKING = frozenset(category.name for category in BY_NAME.values() if not category.is_rule)
_CONTRAST = frozenset("not instead rather over statt nicht anstelle sondern".split())
_ORDER = ("same", "reverses", "update", "related")


class Neighbour(NamedTuple):
    """A record near a new one: how probably it is about the same thing, and what it means for the new one."""

    entry: Entry
    probability: float
    likeness: float
    verdict: str
    """`same`, `reverses`, `update` or `related`."""

    reason: str = ""

    @property
    def memory(self) -> Memory:
        return self.entry.memory


def nearest(store: Store, record: Memory, most: int = 3) -> list[Neighbour]:
    """The records nearest to a new one, those that matter most first."""
    if not store.exists:
        return []
    query = f"{record.title}\n{summary_line.of(record)}"
    near = [
        _compared(record, entry, probability)
        for entry, probability in _matches(store, query, _CANDIDATES, hook=False)
        if entry.memory.is_current and entry.memory.id not in record.supersedes
    ]
    near = [each for each in near if each.probability >= PROBABLE or each.verdict != "related"]
    return sorted(near, key=lambda each: (_ORDER.index(each.verdict), -each.likeness, -each.probability))[:most]


def _matches(store: Store, query: str, most: int, *, hook: bool) -> Iterator[tuple[Entry, float]]:
    for match in rank.find(index.open(store.root, hook=hook), query[:_LONGEST_QUERY], limit=most, mode="similar"):
        try:
            yield store.read(match.path), match.probability
        except RecollectError:
            continue


def saying(store_root: str, sentence: str) -> Memory | None:
    """The current record that says what a sentence says, if there is one: its words are all there."""
    records = (entry.memory for entry, _ in _matches(Store(store_root), sentence, 3, hook=True))
    return next((each for each in records if each.is_current and triage.is_said_in(sentence, [_text(each)])), None)


def refuse(near: Sequence[Neighbour], retry: str) -> None:
    """NearDuplicate or Reverses if the nearest record must be dealt with knowingly; `retry` is what to run then."""
    if not near or near[0].verdict not in ("same", "reverses"):
        return
    record, reason = near[0].memory, near[0].reason
    where = f"{near[0].entry.path} ({shorten(record.title)})"
    if near[0].verdict == "same":
        raise NearDuplicate(
            f"{where} says nearly the same: {reason}",
            fix=f"to change it: {retry} --update {record.id}; if it is another thing: {retry} --force; or leave it",
        )
    raise Reverses(
        f"this reverses {where}: {reason}. Supersede it?",
        fix=f"if it no longer holds: {retry} --supersedes {record.id}; to correct it: {retry} --update {record.id}; "
        f"if both hold: {retry} --force",
    )


def _compared(record: Memory, entry: Entry, probability: float) -> Neighbour:
    other = entry.memory
    statements, texts = zip(*((summary_line.of(each), _text(each)) for each in (record, other)))
    alike = max(likeness(*(frozenset(terms.stream(text)) for text in pair)) for pair in (statements, texts))
    same_kind = record.category == other.category or not {record.category, other.category} & _WORKING
    reason = _reversal(record, other) if same_kind else ""
    verdict = "reverses" if reason else "related"
    if not reason and record.category == other.category:
        titles = (set(terms.stream(each.title)) - query.ENGLISH for each in (record, other))
        if alike >= SAME and set.intersection(*titles):
            verdict, reason = "same", f"{alike:.0%} of the wording is the same"
        elif alike >= RELATED and probability >= PROBABLE:
            verdict, reason = "update", "it is about the same thing"
    return Neighbour(entry, probability, alike, verdict, reason)


def _reversal(record: Memory, other: Memory) -> str:
    """In what two records contradict each other; empty if they do not."""
    conflicts = contradictions.conflicts([audit_item.of(record), audit_item.of(other)])
    if conflicts:
        return conflicts[0].reason
    # One says A and not B where the other says B and not A.
    swapped = any(
        first[0] & second[1] and first[1] & second[0]
        for first in _preferences(record)
        for second in _preferences(other)
    )
    return "one prefers what the other puts second" if swapped else ""


def _preferences(record: Memory) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What stands before and after the word of contrast in a record's title and statement, without what both share."""
    pairs = []
    for text in (record.title, audit_item.of(record).statement.split(". ")[0]):
        words = text.lower().replace(",", " ").split()
        at = next((number for number, word in enumerate(words) if word in _CONTRAST), 0)
        chosen, rejected = (frozenset(terms.stream(" ".join(part))) for part in (words[:at], words[at + 1 :]))
        if at and rejected:
            pairs.append((chosen - rejected, rejected - chosen))
    return pairs


def _text(record: Memory) -> str:
    item = audit_item.of(record)
    return f"{item.title}\n{item.text[:20_000]}"


def source(session: str, evidence: tuple[str, ...]) -> str:
    """Where a record came from: the session, and the words it rests on."""
    quoted = f': "{" … ".join(evidence)}"' if evidence else ""
    return f"session {session or 'unknown'}{quoted}"[:_LONGEST_SOURCE]


def accept(writer: Writer, draft: Draft, *, project: str, force: bool = False) -> Entry:
    """Make a draft a record: a new one, a change of the one it updates, or the successor of the one it supersedes."""
    if draft.updates:
        return merge(writer, draft, draft.updates, project=project)
    record = accepted(draft.record, writer.now)
    if not draft.supersedes and not record.superseded_by and not force:
        refuse(nearest(writer.store, record), f"recollect review --accept {draft.name}")
    git_files.ensure(writer.store.root)
    if record.supersedes or record.superseded_by:
        (entry,), _ = writer.accept([draft._replace(record=record)])
    else:
        entry = writer.save(record, supersedes=draft.supersedes, draft=draft.name)
    _log(draft, project, "saved")
    return entry


def accepted(record: Memory, now: str) -> Memory:
    """The record of a draft as it is saved: from now on, or from the day of the document that it was imported from."""
    record = compose.checked(memory.to_json(record))
    since = record.created_at if record.origin == "import" else now
    change = HistoryEntry(now, "Accepted from the inbox")
    return record._replace(created_at=since, updated_at=max(since, record.updated_at), changes=(change,))


def merge(writer: Writer, draft: Draft, into: str, *, project: str) -> Entry:
    """Put what a draft says into an existing record; Changed if it revises a version that is no longer there."""
    before, draft = _target(writer, draft, into)
    expected, may_shrink = draft.revises or before.hash, bool(draft.revises)
    summary = draft.summary or f"Merged a draft: {draft.record.title}"
    patch = revision.patch_of(draft, before.memory)
    try:
        after = writer.update(before.path, patch, expected, summary=summary, may_shrink=may_shrink, draft=draft.name)
    except Changed as error:
        again = f"recollect show {before.memory.id} --json; then draft the change again"
        error.fix = f"recollect review --reject {draft.name}; {again}"
        raise
    _log(draft, project, "saved")
    return after


def _target(writer: Writer, draft: Draft, into: str) -> tuple[Entry, Draft]:
    """The record that a draft is put into, and the draft: it revises only the record that it was made for."""
    entry = writer.store.get(into)
    is_other = draft.revises and writer.store.get(draft.updates).path != entry.path
    return entry, draft._replace(revises="", summary="") if is_other else draft


def put(writer: Writer, drafts: Sequence[Draft], action: str = "draft") -> str:
    """Put drafts into the inbox as one change, over those of the same name; the id of the change."""
    was_there = writer.store.exists
    change_id = writer.draft(drafts, action)
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    return change_id


def accept_all(writer: Writer, drafts: Sequence[Draft]) -> tuple[list[Entry], str]:
    """Make imported drafts records as one change, without asking what is near; the records, and the change's id."""
    was_there = writer.store.exists
    accepting = [draft._replace(record=accepted(draft.record, writer.now)) for draft in drafts]
    entries, change_id = writer.accept(accepting, "import")
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    return entries, change_id


def reject(writer: Writer, draft: Union[Draft, BrokenDraft], *, project: str) -> None:
    """Throw a draft away and remember its evidence, so that it is not suggested again."""
    if isinstance(draft, Draft):
        _log(draft, project, "rejected")
    writer.reject([draft.name])


def _log(draft: Draft, project: str, state: str) -> None:
    evidence = draft.evidence or (draft.record.title,)
    suggestions.add(project, state, draft.record.category, draft.session, evidence)


def preview(writer: Writer, draft: Draft, into: str) -> tuple[Memory, Memory]:
    """The record as it is, and as it would be with the draft merged into it."""
    before, draft = _target(writer, draft, into)
    patch = revision.patch_of(draft, before.memory)
    after = lifecycle.revised(before.memory, patch, now=writer.now, may_shrink=bool(draft.revises))
    return before.memory, after
