"""Projects whose memory has records, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onrecord
from onrecord.project import Project


def known_project(folder: Path, *records: tuple[str, Mapping[str, Any]]) -> Project:
    """Return the project at `folder`, which looks like a clone, with `records`: a category and its fields each."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    project = onrecord.open(str(folder))
    for category, fields in records:
        project.save(category, dict(fields))
    return project


def six_records(parent: Path) -> Project:
    """Return a project below `parent` with a record of each category."""
    return known_project(parent / "project", *SIX.items())


SIX: dict[str, dict[str, Any]] = {
    "decision": {
        "title": "Sessions live in Postgres, not Redis",
        "tags": ["auth", "sessions", "postgres"],
        "triggers": ["where do we keep login state?", "users are logged out after a deploy"],
        "content": {
            "context": "Redis lost sessions on every failover.",
            "decision": "User sessions are rows in auth.sessions with a 14 day expiry.",
            "rationale": ["one fewer moving part", "failover cost 40 tickets in May"],
        },
    },
    "constraint": {
        "title": "The carrier API allows 90 calls a minute",
        "tags": ["carrier", "rate-limit"],
        "related_files": ["src/carrier/client.py"],
        "content": {
            "rule": "At most 90 calls a minute to the carrier API; the 91st is answered with 429 for an hour.",
            "impact": ["all labels stop for an hour"],
            "severity": "high",
            "workarounds": ["batch label requests with POST /v2/labels/bulk"],
        },
    },
    "preference": {
        "title": "Errors are wrapped with the operation's name",
        "tags": ["errors", "style"],
        "content": {
            "topic": "Error wrapping",
            "value": 'Wrap errors as fmt.Errorf("fetch rates: %w", err), lower case, no punctuation.',
            "reason": "log lines read as a path",
            "strength": "strong",
        },
    },
    "runbook": {
        "title": "Kafka consumer lag after a rebalance",
        "tags": ["kafka", "oncall"],
        "content": {
            "trigger": "Consumer lag of group projector grows after a deploy",
            "symptoms": ["CommitFailedError: the coordinator is not aware of this member"],
            "steps": ["Scale projector to 12 replicas", "Raise max.poll.interval.ms to 600000", "Watch the lag fall"],
            "verification": "lag under 1000",
        },
    },
    "tech_debt": {
        "title": "Address parsing is written twice",
        "tags": ["addresses", "duplication"],
        "content": {
            "description": "rating/addr.py and labels/addr.py normalise postal addresses differently.",
            "reason_deferred": "label format freeze until June",
            "suggested_fix": ["one package postal with Parse and Format"],
            "priority": "high",
        },
    },
    "session_summary": {
        "title": "Move invoices to the new ledger",
        "tags": ["billing", "invoices"],
        "content": {
            "goal": "Write invoices to the double-entry ledger",
            "outcome": "partial",
            "completed": ["schema", "backfill of 2025"],
            "next_actions": ["switch reads behind the flag invoices_v2"],
        },
    },
}
