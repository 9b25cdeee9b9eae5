"""What a decision record says: its status, the decision and the reasons, what was rejected, what follows."""

from __future__ import annotations

import re
from typing import Any

from recollect.markdown import Page
from recollect.text import cut

# The best-known tool for these records spells it with a c.
BY = re.compile(r"(?:super[sc]ed\w+|replaced)\s+by", re.IGNORECASE)
OF = re.compile(r"(?:super[sc]edes|replaces)\b", re.IGNORECASE)

_LONGEST = 4_000
_LONGEST_LINE = 600
_MOST_LINES = 12
_STATUSES = (
    ("superseded", "supersed", "superced", "replaced"),
    ("deprecated", "deprecat", "obsolete", "withdrawn", "abandoned", "retired", "reject", "declined"),
    ("proposed", "propos", "draft", "pending", "review", "rfc", "in discussion", "open"),
    ("accepted", "accept", "approv", "adopt", "implement", "decided", "active", "done", "final", "agreed"),
)
_REJECTED = ("reject", "declined")
_DECISION = ("decision outcome", "decision", "the decision", "resolution")
_CONTEXT = ("context and problem statement", "context", "problem statement", "problem", "background", "motivation")
_REASONS = ("rationale", "decision drivers", "reasons", "justification", "why")
_OPTIONS = ("considered options", "options considered", "alternatives considered", "alternatives", "options")
_EFFECTS = ("consequences", "positive consequences", "negative consequences", "implications")
_CHOSEN = re.compile(r"chosen option:?\s*", re.IGNORECASE)
_BECAUSE = re.compile(r"\s*,?\s*\bbecause\b\s*", re.IGNORECASE)
_AROUND = "\"'“”`*., "


def of(page: Page, status: str) -> dict[str, Any] | None:
    """The content of the decision on a page; None if no section decides anything."""
    said = page.text_of(page.section(*_DECISION))
    if not said:
        return None
    decision, reason = outcome(said)
    context = page.text_of(page.section(*_CONTEXT))
    reasons = [line for line in (reason, *page.items(page.section(*_REASONS))) if line]
    content: dict[str, Any] = {
        "status": status_of(status),
        "context": cut(context, _LONGEST),
        "decision": cut(f"Rejected: {decision}" if _is_rejected(status) else decision, _LONGEST),
        "rationale": _cut(reasons or [cut(context, 300) or "The decision record gives no reason"]),
    }
    more = {
        "alternatives": _alternatives(page, decision),
        "consequences": _cut([line for title in _EFFECTS for line in page.items(page.section(title))]),
    }
    return {**content, **{key: value for key, value in more.items() if value}}


def outcome(said: str) -> tuple[str, str]:
    """The decision in a text, and the reason that its sentence gives for it."""
    chosen = _CHOSEN.match(said)
    said = said[chosen.end() :] if chosen else said
    because = _BECAUSE.search(said)
    head = said[: because.start()] if because else said
    if not because or (". " in head and chosen is None):
        return said.strip(_AROUND) if chosen else said, ""
    reason, stop, rest = said[because.end() :].partition(". ")
    if not reason.strip() or not head.strip(_AROUND):
        return said, ""
    head = head.strip(_AROUND) if chosen else head.strip()
    return f"{head}. {rest}".strip() if stop else head, f"{reason[:1].upper()}{reason[1:]}".rstrip(". ")


def status_of(text: str) -> str:
    """The status a text stands for; none given is accepted, one that nobody knows is proposed."""
    said = text.lower()
    if BY.search(said):
        return "superseded"
    said = OF.split(said, maxsplit=1)[0].strip(" .,;:")
    if not said:
        return "accepted"
    found = [(said.find(cue), status) for status, *cues in _STATUSES for cue in cues if cue in said]
    return min(found)[1] if found else "proposed"


def _is_rejected(status: str) -> bool:
    return any(cue in status.lower() for cue in _REJECTED)


def _alternatives(page: Page, decision: str) -> list[dict[str, str]]:
    """The options that were not chosen, each with the first argument against it."""
    found = []
    for option in page.items(page.section(*_OPTIONS))[:_MOST_LINES]:
        label = option.strip(_AROUND)
        if label and label.lower()[:60] not in decision.lower() and decision.lower()[:60] not in label.lower():
            found.append({"option": cut(label, 300), "rejected_reason": _against(page, label)})
    return found


def _against(page: Page, option: str) -> str:
    for line in page.items(page.section(option)):
        if line.lower().startswith(("bad", "con", "negative")):
            return cut(_BECAUSE.split(line, maxsplit=1)[-1], 300)
    return "Not chosen; the decision record says no more"


def _cut(lines: list[str]) -> list[str]:
    return [cut(line, _LONGEST_LINE) for line in lines[:_MOST_LINES]]
