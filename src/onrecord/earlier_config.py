"""The config of the earlier plugin: which of its settings have no counterpart here, and which nobody chose.

A file is recognised as that plugin's by a setting that only it has. Its defaults in such a file are no one's choice,
and some mean something else here: its thresholds belong to another detector, its model and retention to another design.
"""

from __future__ import annotations

from onrecord.coldstart import content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ONLY_THERE = frozenset(
    (
        "memory_root",
        "auto_commit",
        "max_memories_per_category",
        "retrieval.confidence_abs_floor",
        "retrieval.cluster_detection_enabled",
        "retrieval.output_mode",
        "retrieval.judge.dual_verification",
        "delete.archive_retired",
    )
)
_FAMILIES_ONLY_THERE = ("triage.parallel.", "logging.", "architecture.")
_DEFAULTS: dict[str, tuple[object, ...]] = {
    "categories.session_summary.retention_days": (0, 90),
    "categories.session_summary.max_retained": (5,),
    "delete.grace_period_days": (30,),
    "retrieval.max_inject": (3, 5),
    "retrieval.match_strategy": ("fts5_bm25",),
    "retrieval.judge.enabled": (False,),
    "retrieval.judge.model": ("claude-haiku-4-5-20251001",),
    "retrieval.judge.timeout_per_call": (3.0,),
    "retrieval.judge.candidate_pool_size": (15,),
    "retrieval.judge.include_conversation_context": (True,),
    "retrieval.judge.context_turns": (5,),
    "triage.enabled": (True,),
    "triage.max_messages": (50,),
    "triage.thresholds.constraint": (0.45, 0.5),
    "triage.thresholds.decision": (0.4,),
    "triage.thresholds.preference": (0.4,),
    "triage.thresholds.runbook": (0.4, 0.5),
    "triage.thresholds.session_summary": (0.6,),
    "triage.thresholds.tech_debt": (0.4,),
}
"""Defaults of its versions."""

_CATEGORY_DEFAULTS: dict[str, tuple[object, ...]] = {
    "enabled": (True,),
    "auto_capture": (True,),
    "retention_days": (0,),
}
"""The same of each category, by the end of the key."""

_DEFAULT_DESCRIPTIONS = frozenset(
    (
        "3745affdf092d374ed4ae8ffa94528c8",
        "e3ca0e48253485e82e90cd96a3626469",
        "78c4ae5eb31556448a06fd9dfc137b3a",
        "898223ecdb1c4781d0822983cc0cb153",
        "fbbd3fea930f523d205c417918bdb592",
        "4d48aeb7a681bd91975afec5a7f015df",
    )
)
"""Hashes of its descriptions of the categories."""


def unused_keys(config: Mapping[str, object]) -> list[str]:
    """Return the keys of a config, with dots, that only the earlier plugin has, and its untouched defaults beside them.

    Empty if the config has no setting that only it has.
    """
    only_there = [key for key in config if is_only_there(key)]
    return [key for key in config if is_only_there(key) or _is_default(key, config[key])] if only_there else []


def is_only_there(key: str) -> bool:
    """True if the earlier plugin has this setting and Onrecord has nothing like it."""
    is_folder = key.startswith("categories.") and key.endswith(".folder")
    return key in _ONLY_THERE or is_folder or _starts_with_one_of(key, _FAMILIES_ONLY_THERE)


def _starts_with_one_of(key: str, prefixes: Iterable[str]) -> bool:
    return any(key.startswith(prefix) for prefix in prefixes)


def _is_default(key: str, value: object) -> bool:
    if key.startswith("categories.") and key.endswith(".description") and isinstance(value, str):
        return content_hash(value.encode("utf-8", "replace")) in _DEFAULT_DESCRIPTIONS
    defaults = _DEFAULTS.get(key, ())
    if not defaults and key.startswith("categories."):
        defaults = _CATEGORY_DEFAULTS.get(key.rpartition(".")[2], ())
    # A flag is equal to a number in Python, and not here.
    return any(value == default and isinstance(value, bool) == isinstance(default, bool) for default in defaults)
