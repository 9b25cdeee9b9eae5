"""A small project with records, and prompts about it: the same for every client."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import onrecord

SESSIONS: dict[str, Any] = {
    "title": "Sessions live in Postgres, not Redis",
    "tags": ["auth", "sessions"],
    "triggers": ["where do we keep login state?", "users are logged out after a deploy"],
    "content": {
        "context": "Redis lost sessions on every failover.",
        "decision": "User sessions are rows in auth.sessions with a 14 day expiry.",
        "rationale": ["one fewer moving part"],
    },
}
CENTS: dict[str, Any] = {
    "title": "Amounts are whole cents",
    "related_files": ["src/money.py"],
    "content": {
        "kind": "policy",
        "rule": "Never a float for money: amounts are integers of cents.",
        "impact": ["rounding errors"],
        "severity": "high",
    },
}
TILES: dict[str, Any] = {
    "title": "The tile cache refuses to start",
    "content": {
        "trigger": "tilecache exits at start",
        "symptoms": ["tilecache: stale epoch marker in /var/tiles, refusing to start"],
        "steps": ["Delete the epoch marker", "Start tilecache with --rebuild"],
        "verification": "tilecache status says warm",
    },
}
LEFT: dict[str, Any] = {
    "title": "Rotate the signing key",
    "content": {
        "goal": "Rotate the key that signs cookies",
        "outcome": "partial",
        "completed": ["The new key is deployed."],
        "next_actions": ["Take the old key out."],
    },
}
FAILS = "echo 'tilecache: stale epoch marker in /srv/tiles, refusing to start'; exit 3"
"""A command that fails as the runbook says."""
ASKS = "users lose their login state after a deploy, where do we keep it?"
DECIDED = (
    "ok let's go with argon2id instead of bcrypt for the password hashes, because bcrypt silently cuts"
    " everything after 72 bytes."
)
"""Brings a suggestion to save, where somebody reads along."""
NOTE = "later sessions may need to know this (a decision)"
"""Is in the suggestion."""


def create(folder: Path) -> None:
    """Create a project with two files and a history, without records."""
    (folder / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=120)
    for name, text in {"money.py": "cents = 1\n", "auth.py": "hashed = bcrypt\n"}.items():
        (folder / "src" / name).write_text(text)
        who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        for words in (["add", "."], ["commit", "-q", "-m", f"Add {name}"]):
            subprocess.run(["git", "-C", str(folder), *who, *words], check=True, timeout=120)


def remember(folder: Path) -> None:
    """Give the project a decision, a constraint on a file, a runbook and an unfinished session."""
    project = onrecord.open(str(folder))
    project.save("decision", SESSIONS)
    project.save("constraint", CENTS)
    project.save("runbook", TILES)
    project.save("session_summary", LEFT)
