"""Whether a record is in force: the one answer of prompts, map, checks, exports, lists, audits and pages.

A record is in force if it is active, no other one replaces it, it does not say itself that it no longer holds, and its
last day has not passed. What settings leave out besides, such as records that are too old, is not decided here.
"""

from __future__ import annotations

from onrecord import timestamps
from onrecord.categories import CATEGORIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.record.memory import Memory

ACTIVE, SUPERSEDED, OUTDATED = "active", "superseded", "outdated"


def status(record_status: str, *, is_replaced: bool, is_over: bool) -> str:
    """Return the status of a record, as lists and pages name it; only an active one is in force."""
    if record_status != ACTIVE:
        return record_status
    return SUPERSEDED if is_replaced else OUTDATED if is_over else ACTIVE


def status_of(record: Memory, *, is_replaced: bool, day: str = "") -> str:
    """Return the status of a record on a day (default: today); `links` knows whether another one replaces it."""
    return status(record.record_status, is_replaced=is_replaced, is_over=is_over(is_void(record), expiry(record), day))


def is_over(is_void: bool, expiry: str, day: str = "") -> bool:
    """True if a record says that it no longer holds, or its last day is before a day (default: today)."""
    return is_void or bool(expiry and expiry[:10] < (day or timestamps.now())[:10])


def is_void(record: Memory) -> bool:
    """True if the record itself says that it is no longer in force."""
    field, values = CATEGORIES[record.category].inactive_when
    return record.content.get(field) in values


def expiry(record: Memory) -> str:
    """Return the last day on which a record is in force; empty if it gives none, or a condition in words."""
    field = CATEGORIES[record.category].expires_field
    text = record.text(field) if field else ""
    return text if timestamps.is_day(text) else ""
