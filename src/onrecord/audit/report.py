"""The checks of an audit: what each finds in a store, and the share of records it concerns."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from onrecord.audit import audit_item, junk
from onrecord.audit.audit_item import AuditItem
from onrecord.coldstart import NamedTuple
from onrecord.freshness import project_files
from onrecord.record import secrets
from onrecord.search import terms

# Share of word pairs in common from which two records say nearly the same.
ALIKE = 0.6
# Characters beyond which nobody reads a record to its end, an agent neither.
LONGEST = 3_000
# Words beyond these do not change whether two records are alike, and would make a huge one slow.
_LONGEST_COMPARED = 20_000
_CHANGED = "if it still holds: onrecord reanchor {0}; if not: onrecord edit {0}"
_GONE = (
    "if it still holds, name the file as it is now: onrecord edit {0}; "
    "if not: onrecord retire {0} --reason 'its file is gone'"
)
_OUTDATED = "says itself that it is outdated"
_MENTION = re.compile(r"`([\w@.-]+(?:/[\w@.-]+)+\.\w{1,8})`")


class Finding(NamedTuple):
    """The records concerned, what is wrong with them, and what to do."""

    ids: tuple[str, ...]
    message: str
    fix: str


class Measure(NamedTuple):
    """The result of a check: how many records it concerns, of how many; None when it could not be measured."""

    hits: int | None
    of: int
    findings: tuple[Finding, ...] = ()

    @property
    def rate(self) -> float | None:
        if self.hits is None:
            return None
        return self.hits / self.of if self.of else 0.0


class Evidence(NamedTuple):
    """What an audit cannot see in the records themselves, by id; None where it is unknown."""

    changed: Mapping[str, str] | None = None
    """How the files of a record have changed."""

    missing: Mapping[str, str] | None = None
    """Which files of a record are gone."""

    uses: Mapping[str, int] | None = None
    """How often agents used a record, if it was shown often enough to judge."""


def audit(
    items: Sequence[AuditItem], evidence: Evidence, watch: Callable[[Iterable[str]], Iterable[str]] = iter
) -> dict[str, Measure]:
    """Every check, by name; `watch` may count the texts that are compared as they go by."""
    current = [item for item in items if item.is_current]
    alive = [item for item in items if not item.is_retired]
    return {
        "duplicates": duplicates(current, watch),
        "superseded": _each(alive, _superseded(alive)),
        "changed": _listed(current, evidence.changed, _CHANGED),
        "missing": _listed(current, evidence.missing, _GONE),
        "unused": _unused(current, evidence.uses),
        "overlong": _each(current, _overlong),
        "secrets": _each(items, _secret),
        "junk": _each(current, _junk),
    }


def lost_files(items: Iterable[AuditItem], root: str) -> dict[str, str]:
    """Notes, by id, that name in backticks files the project does not have, with a sentence about it."""
    lost = {}
    for item in items:
        mentions = list(dict.fromkeys(_MENTION.findall(item.text)))[:20]
        inside = [path for path in mentions if project_files.is_lexically_inside(path)]
        gone = [path for path in inside if not os.path.exists(os.path.join(root, path))]
        if gone:
            lost[item.id] = f"names {', '.join(gone[:3])}, which does not exist"
    return lost


def duplicates(items: Sequence[AuditItem], watch: Callable[[Iterable[str]], Iterable[str]]) -> Measure:
    """Groups of items that say nearly the same."""
    texts = [f"{item.title}\n{item.text[:_LONGEST_COMPARED]}" for item in items]
    findings, extra = [], 0
    for group in audit_item.clusters([audit_item.shingles(terms.stream(text)) for text in watch(texts)], ALIKE):
        same = sorted((items[number] for number in group), key=lambda item: (item.updated, item.id))
        extra += len(same) - 1
        ids = tuple(item.id for item in same)
        fix = f"keep one: onrecord supersede {ids[0]} {ids[-1]}"
        findings.append(Finding(ids, f"{len(ids)} say nearly the same: {same[-1].title}", fix))
    return Measure(extra, len(items), tuple(findings))


def _superseded(items: Sequence[AuditItem]) -> Callable[[AuditItem], tuple[str, str] | None]:
    successors = {old: item.id for item in items for old in item.supersedes}

    def check(item: AuditItem) -> tuple[str, str] | None:
        if item.superseded_by and item.says_current:
            return f"is replaced by {item.superseded_by} and still says it is in force", f"onrecord edit {item.id}"
        successor = successors.get(item.id)
        if successor and not item.superseded_by:
            return f"{successor} says that it replaces this one", f"onrecord supersede {item.id} {successor}"
        if item.says_superseded and not item.superseded_by:
            return _OUTDATED, f"onrecord retire {item.id} --reason '{_OUTDATED}'"
        return None

    return check


def _listed(items: Sequence[AuditItem], messages: Mapping[str, str] | None, fix: str) -> Measure:
    if messages is None:
        return Measure(None, len(items))
    return _each(items, lambda item: (messages[item.id], fix.format(item.id)) if item.id in messages else None)


def _unused(items: Sequence[AuditItem], uses: Mapping[str, int] | None) -> Measure:
    if uses is None:
        return Measure(None, len(items))
    shown = [item for item in items if item.id in uses]
    return _each(shown, lambda item: None if uses[item.id] else ("was shown, never used", f"onrecord show {item.id}"))


def _overlong(item: AuditItem) -> tuple[str, str] | None:
    length = len(item.text)
    return (f"has {length:,} characters", "split it, or shorten it to the rule") if length > LONGEST else None


def _secret(item: AuditItem) -> tuple[str, str] | None:
    leak = next(secrets.leaks(item.raw), None)
    return (str(leak), "change the credential, then take it out of the text and of git's history") if leak else None


def _junk(item: AuditItem) -> tuple[str, str] | None:
    reason = junk.reason(item)
    fix = f"onrecord edit {item.id}; or: onrecord retire {item.id} --reason {shlex.quote(reason)}"
    return (reason, fix) if reason else None


def _each(items: Sequence[AuditItem], check: Callable[[AuditItem], tuple[str, str] | None]) -> Measure:
    findings = tuple(Finding((item.id,), *result) for item in items if (result := check(item)))
    return Measure(len(findings), len(items), findings)
