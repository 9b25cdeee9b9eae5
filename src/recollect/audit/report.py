"""Audit: how much of a store has rotted. Each check tells what it found and the share of the store it concerns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.audit import contradictions, similarity
from recollect.audit.audit_item import Item
from recollect.freshness import project_files
from recollect.record import secrets
from recollect.search import terms

ALIKE = 0.6
LONGEST = 3_000
"""Characters beyond which nobody reads a memory to its end, an agent neither."""

_SHORTEST = 20
_HOLLOW = re.compile(
    r"(?i)^(?:untitled|new (?:memory|note|record)|note(?: ?\d+)?|test(?:ing)?(?: ?\d+)?|todo|tbd|n/?a|none|asdf\w*|foo"
    r"|bar|placeholder|lorem ipsum.*|session (?:started|ended)|heartbeat|hello(?: world)?|\W*)$"
)
_ECHO = re.compile(r"(?i)<memory-context|<system-reminder|^\s*(?:human|assistant|user)\s*:", re.MULTILINE)
_DUMP = re.compile(
    r"(?m)^(?:Traceback \(most recent call last\)|\s+at [\w.$<>]+\(.*\)$"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*(?:INFO|DEBUG|WARN))"
)
_MENTION = re.compile(r"`([\w@.-]+(?:/[\w@.-]+)+\.\w{1,8})`")


class Finding(NamedTuple):
    """Something found: the memories it concerns, what is wrong, and what to do."""

    ids: tuple[str, ...]
    message: str
    fix: str


class Measure(NamedTuple):
    """One check: how many memories it concerns, of how many; None when it could not be measured."""

    hits: int | None
    of: int
    findings: tuple[Finding, ...] = ()

    @property
    def rate(self) -> float | None:
        if self.hits is None:
            return None
        return self.hits / self.of if self.of else 0.0


class Evidence(NamedTuple):
    """What an audit cannot see in the memories themselves; None where nobody knows."""

    drifted: Mapping[str, str] | None = None
    """Ids of memories whose files changed, and how that is said."""

    missing: Mapping[str, str] | None = None
    uses: Mapping[str, int] | None = None
    """Ids of memories that were told often enough to tell, and how often agents used them."""


def audit(items: Sequence[Item], evidence: Evidence) -> dict[str, Measure]:
    """Every check, by name."""
    current = [item for item in items if item.is_current]
    alive = [item for item in items if not item.is_retired]
    return {
        "duplicates": _duplicates(current),
        "contradictions": _contradictions(current),
        "superseded": _each(alive, _superseded(alive)),
        "drifted": _known(current, evidence.drifted, "read the file, then recollect update {0} or reanchor {0}"),
        "missing": _known(current, evidence.missing, "recollect update {0} with the new path, or retire {0}"),
        "unused": _unused(current, evidence.uses),
        "overlong": _each(current, _overlong),
        "secrets": _each(items, _secret),
        "junk": _each(current, _junk),
    }


def lost_files(items: Iterable[Item], root: str) -> dict[str, str]:
    """Ids of memories that name, in backticks, files the project does not have; how that is said."""
    lost = {}
    for item in items:
        named = dict.fromkeys(_MENTION.findall(item.text))
        gone = [
            path for path in list(named)[:20] if project_files.is_lexically_inside(path) and not _exists(root, path)
        ]
        if gone:
            lost[item.id] = f"names {', '.join(gone[:3])}, which is not there"
    return lost


def _exists(root: str, path: str) -> bool:
    return os.path.exists(os.path.join(root, path))


def _duplicates(items: Sequence[Item]) -> Measure:
    sets = [similarity.shingles(terms.stream(f"{item.title}\n{item.text[:20_000]}")) for item in items]
    findings, extra = [], 0
    for group in similarity.clusters(sets, ALIKE):
        same = sorted((items[number] for number in group), key=lambda item: (item.updated, item.id))
        extra += len(same) - 1
        ids = tuple(item.id for item in same)
        fix = f"keep one: recollect supersede {ids[0]} {ids[-1]}"
        findings.append(Finding(ids, f"{len(ids)} say nearly the same: {same[-1].title}", fix))
    return Measure(extra, len(items), tuple(findings))


def _contradictions(items: Sequence[Item]) -> Measure:
    found = contradictions.conflicts(items)
    findings = tuple(
        Finding(
            (each.older.id, each.newer.id),
            f"{each.older.title} / {each.newer.title}: {each.reason}",
            f"if the newer one holds: recollect supersede {each.older.id} {each.newer.id}",
        )
        for each in found
    )
    return Measure(len({name for finding in findings for name in finding.ids}), len(items), findings)


def _superseded(items: Sequence[Item]) -> Callable[[Item], tuple[str, str] | None]:
    heirs = {old: item.id for item in items for old in item.supersedes}

    def check(item: Item) -> tuple[str, str] | None:
        if item.superseded_by and item.says_current:
            return f"is replaced by {item.superseded_by} and still says that it holds", f"recollect edit {item.id}"
        heir = heirs.get(item.id)
        if heir and not item.superseded_by:
            return f"{heir} says that it replaces this one", f"recollect supersede {item.id} {heir}"
        if item.says_superseded and not item.superseded_by:
            return "says itself that it no longer holds", f"recollect retire {item.id}, or supersede it"
        return None

    return check


def _known(items: Sequence[Item], found: Mapping[str, str] | None, fix: str) -> Measure:
    if found is None:
        return Measure(None, len(items))
    hit = [item for item in items if item.id in found]
    return Measure(
        len(hit), len(items), tuple(Finding((item.id,), found[item.id], fix.format(item.id)) for item in hit)
    )


def _unused(items: Sequence[Item], uses: Mapping[str, int] | None) -> Measure:
    if uses is None:
        return Measure(None, len(items))
    told = [item for item in items if item.id in uses]
    return _each(told, lambda item: None if uses[item.id] else ("was told and never used", f"recollect show {item.id}"))


def _overlong(item: Item) -> tuple[str, str] | None:
    length = len(item.text)
    return (f"has {length:,} characters", "split it, or keep the rule and drop the story") if length > LONGEST else None


def _secret(item: Item) -> tuple[str, str] | None:
    leak = next(secrets.leaks(item.raw), None)
    return (str(leak), "change the credential, then take it out of the text and of git's history") if leak else None


def _junk(item: Item) -> tuple[str, str] | None:
    reason = _hollowness(item)
    return (reason, f"recollect retire {item.id}") if reason else None


def _hollowness(item: Item) -> str:
    """Why a memory says nothing worth keeping; empty if it does."""
    text = item.text.strip()
    letters = sum(char.isalpha() or char.isspace() for char in text[:5_000])
    if _HOLLOW.match(item.title.strip()) or _HOLLOW.match(text):
        return "is a placeholder"
    if len(text) < _SHORTEST and len(f"{item.title}{text}") < 2 * _SHORTEST and text.isascii():
        return "says next to nothing"
    if _ECHO.search(text):
        return "repeats a conversation or an injected memory"
    if len(_DUMP.findall(text)) > 2 or (len(text) > 200 and letters < 0.55 * min(len(text), 5_000)):
        return "is a dump of output, not a memory"
    return ""


def _each(items: Sequence[Item], check: Callable[[Item], tuple[str, str] | None]) -> Measure:
    found = [(item, told) for item in items for told in [check(item)] if told]
    return Measure(len(found), len(items), tuple(Finding((item.id,), message, fix) for item, (message, fix) in found))
