"""The conditions of the experiment: what of the memory a subject gets."""

from __future__ import annotations

from typing import Any, NamedTuple

GOVERNED, IDLE, TRAP = "governed", "idle", "trap"
"""Kinds of tasks: records apply; no record is about it; a record governs a command that the task leads to."""


class Condition(NamedTuple):
    """What a subject gets: the settings of the hooks, and the kinds of tasks it is asked."""

    name: str
    has_memory: bool
    settings: dict[str, Any]
    kinds: tuple[str, ...] = (GOVERNED, TRAP)
    starts_anew: bool = False
    """True if each request is a session of its own, on a branch named after the task."""


def _settings(*, map: bool, prompts: str, actions: bool = False) -> dict[str, Any]:
    """Return settings for the user's own config; `prompts` is none, rules or rules_and_pointers."""
    return {
        "session_start": {"enabled": map, "map": map},
        "retrieval": {
            "enabled": prompts != "none" or actions,
            "max_inject": 0 if prompts == "none" else 3,
            "pointers": prompts == "rules_and_pointers",
            "with_map": prompts,
            "actions": actions,
            "files": actions,
        },
    }


CONDITIONS = {
    condition.name: condition
    for condition in (
        Condition("none", False, {}, (GOVERNED, IDLE, TRAP)),
        Condition("rules", True, _settings(map=False, prompts="rules")),
        Condition("map", True, _settings(map=True, prompts="none"), (GOVERNED, IDLE, TRAP)),
        Condition("map-rules", True, _settings(map=True, prompts="rules")),
        Condition("map-pointers", True, _settings(map=True, prompts="rules_and_pointers")),
        Condition("action", True, _settings(map=False, prompts="none", actions=True), (TRAP,)),
        Condition("map-action", True, _settings(map=True, prompts="none", actions=True), (TRAP,)),
        Condition("part", True, _settings(map=True, prompts="none"), (GOVERNED,)),
        Condition("part-context", True, _settings(map=True, prompts="none"), (GOVERNED,), starts_anew=True),
        Condition("part-rules", True, _settings(map=True, prompts="rules_and_pointers"), (GOVERNED,)),
    )
}
"""`part…` are for stores of which the map shows only a part."""
