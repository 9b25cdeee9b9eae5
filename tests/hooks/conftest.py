"""A project with a memory, and the hook as the host runs it: a cold process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import onrecord
from onrecord.project import Project

ROOT = Path(__file__).parents[2]


class Answer(NamedTuple):
    """What a hook process printed, and the context in it."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def context(self) -> str:
        return str(self.specific.get("additionalContext", ""))

    @property
    def specific(self) -> dict[str, Any]:
        return json.loads(self.stdout)["hookSpecificOutput"] if self.stdout else {}


Hook = Callable[..., Answer]


def command(event: str, *, is_patient: bool = True) -> list[str]:
    """The words that start a hook; a patient one is not ended by the clock while the machine stalls."""
    patience = [str(ROOT / "tests/hooks/patient.py")] if is_patient else []
    return [sys.executable, "-S", "-E", *patience, str(ROOT / "src/onrecord/hooks/run.py"), event]


def run_hook(
    event: str, payload: bytes | dict[str, Any], host: str = "", *, is_patient: bool = True, **env: str
) -> Answer:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    done = subprocess.run(
        [*command(event, is_patient=is_patient), *[host][: bool(host)]],
        input=data,
        capture_output=True,
        env={**os.environ, **env},
        timeout=120,
        check=False,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return six_records(tmp_path)


def six_records(parent: Path) -> Project:
    """A project that knows six things, one of each category."""
    folder = parent / "project"
    (folder / ".git").mkdir(parents=True)
    known = onrecord.open(str(folder))
    for category, given in SIX.items():
        known.save(category, given)
    return known


@pytest.fixture
def hook(project: Project) -> Hook:
    """Run an event in the project; fields given by name are added to the event."""

    def run(event: str, *, session: str = "s1", is_patient: bool = True, **fields: Any) -> Answer:
        payload = {"session_id": session, "cwd": project.root, "transcript_path": "", **fields}
        return run_hook(event, payload, is_patient=is_patient)

    return run


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
