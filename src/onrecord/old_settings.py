"""Settings under the names they had in 0.1.0 or in the earlier plugin of this format, and what they are now.

Loaded only when a config has a key that is not a setting.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.setting_table import SETTINGS, setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

RENAMED = {
    "retrieval.judge.timeout_per_call": "retrieval.judge.timeout_seconds",
    "retrieval.judge.candidate_pool_size": "retrieval.judge.max_candidates",
    "retrieval.judge.include_conversation_context": "retrieval.judge.context_turns",
    "triage.enabled": "capture.mode",
}
OF_0_1_0 = {"capture.max_offers": "capture.max_suggestions"}
"""Obeyed without a word: a team may share a config with somebody who still has 0.1.0."""

REMOVED = ("retrieval.judge.price_in", "retrieval.judge.price_out")
"""Settings of 0.2.0 that have no effect any more: ignored without a word, for the same reason."""

_SWITCHED_OFF: dict[str, object] = {
    "retrieval.judge.include_conversation_context": 0,
    "triage.enabled": "off",
}
"""What stands for `false` in the settings that have taken over a switch; `true` is what they do anyway."""

_ALIKE = 0.7
"""Similarity of two parts of a key, of 1, from which the one may be a misspelling of the other."""


class Successor(NamedTuple):
    """The setting that has taken over an old one, and its value: None where its default does the same."""

    key: str
    value: object
    is_reported: bool = True


def successor(key: str, value: object) -> Successor | None:
    """What an old setting means now; None for a key that never was one."""
    if key in OF_0_1_0:
        return Successor(OF_0_1_0[key], value, is_reported=False)
    new = RENAMED.get(key)
    if new is None:
        return None
    if key not in _SWITCHED_OFF:
        return Successor(new, value)
    return Successor(new, _SWITCHED_OFF[key] if value is False else None)


def old_names(key: str) -> list[str]:
    """The names that a setting had before."""
    return [old for old, new in (*RENAMED.items(), *OF_0_1_0.items()) if new == key]


def suggestion(key: str) -> str:
    """The setting that a misspelt key most probably means: no part of it may be quite another word."""
    from difflib import SequenceMatcher

    def similarity(other: str) -> float:
        wanted, parts = key.split("."), other.split(".")
        if len(wanted) < len(parts) and setting(key) is None:
            parts = parts[-len(wanted) :]
        if len(wanted) != len(parts):
            return 0.0
        pairs = [(a, b) for a, b in zip(wanted, parts) if a != "*"]
        return min(SequenceMatcher(None, a, b).ratio() for a, b in pairs)

    best = max(_keys(), key=lambda other: (similarity(other), other))
    return best if similarity(best) >= _ALIKE else ""


def _keys() -> Iterator[str]:
    from onrecord.categories import BY_NAME

    for name in SETTINGS:
        yield from (name.replace("*", category) for category in BY_NAME) if "*" in name else (name,)
