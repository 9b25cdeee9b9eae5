"""A config as the earlier plugin writes it: its untouched defaults, without its descriptions of the categories."""

from __future__ import annotations

import json
from typing import Any

_FOLDERS = {
    "session_summary": "sessions",
    "decision": "decisions",
    "runbook": "runbooks",
    "constraint": "constraints",
    "tech_debt": "tech-debt",
    "preference": "preferences",
}


def untouched() -> dict[str, Any]:
    categories: dict[str, dict[str, Any]] = {
        name: {"enabled": True, "folder": folder, "auto_capture": True, "retention_days": 0}
        for name, folder in _FOLDERS.items()
    }
    categories["session_summary"].update(retention_days=90, max_retained=5)
    judge = {
        "enabled": False,
        "model": "claude-haiku-4-5-20251001",
        "timeout_per_call": 3.0,
        "fallback_top_k": 2,
        "candidate_pool_size": 15,
        "dual_verification": False,
        "include_conversation_context": True,
        "context_turns": 5,
    }
    retrieval = {"max_inject": 3, "match_strategy": "fts5_bm25", "confidence_abs_floor": 0.0, "output_mode": "legacy"}
    thresholds = {
        "decision": 0.4,
        "runbook": 0.5,
        "constraint": 0.45,
        "tech_debt": 0.4,
        "preference": 0.4,
        "session_summary": 0.6,
    }
    parallel = {"enabled": True, "category_models": {"decision": "sonnet"}, "verification_enabled": False}
    return {
        "memory_root": ".claude/memory",
        "categories": categories,
        "auto_commit": False,
        "max_memories_per_category": 100,
        "retrieval": {**retrieval, "cluster_detection_enabled": False, "judge": judge},
        "triage": {"enabled": True, "max_messages": 50, "thresholds": thresholds, "parallel": parallel},
        "delete": {"grace_period_days": 30, "archive_retired": True},
        "logging": {"enabled": False, "level": "info", "retention_days": 14},
        "architecture": {"simplified_flow": True},
    }


def with_changes(**changes: Any) -> str:
    """Return the text of such a config with other values; `retrieval__max_inject` names a key."""
    config = untouched()
    for name, value in changes.items():
        *parts, last = name.split("__")
        inner = config
        for part in parts:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return json.dumps(config, indent=2)
