"""The project that the examples of the help texts are about: records of every status, a draft, files, a commit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.git_project import GitProject

Run = Callable[..., "tuple[int, str, str]"]

ADR = "# 1. Use NATS\n\n## Status\n\nAccepted\n\n## Context\n\nJobs are late.\n\n## Decision\n\nWe will use NATS.\n"
FILES = {"pyproject.toml": "[project]\n", "src/harbour.py": "CALLS = 60\n", "docs/adr/0001-use-nats.md": ADR}
DECISIONS = {
    "Use uv": ("Installing took minutes.", "Dependencies are installed with uv.", "Twenty times quicker."),
    "Use pip": ("It comes with Python.", "pip and a requirements file.", "Nothing to learn."),
    "Use Travis": ("There was no other CI.", "Builds run on Travis.", "Free of charge."),
    "Use Subversion": ("It was 2009.", "One repository, one trunk.", "All of us knew it."),
}
CONSTRAINT = {
    "title": "60 calls a minute",
    "tags": ["harbour-api"],
    "triggers": ["429 Too Many Requests"],
    "related_files": ["src/harbour.py"],
    "rule": "At most 60 calls a minute to the harbour's API.",
    "impact": ["The key is blocked for 15 minutes."],
    "severity": "high",
}
RUNBOOK = {
    "title": "Import hangs at 99 %",
    "tags": ["import"],
    "trigger": "The nightly import stays at 99 %.",
    "steps": ["Find the session that is idle in a transaction.", "End it."],
    "verification": "The import prints done.",
}
DRAFT = {"title": "Tests run in Docker", "topic": "tests", "value": "In the container.", "reason": "Same as in CI."}


def make(folder: Path, run: Run) -> None:
    """Lay the project out; `run` runs a command in it."""
    project = GitProject(folder)
    for name, text in FILES.items():
        project.write(name, text)
    project.commit("Install with uv")
    for title, (context, decision, rationale) in DECISIONS.items():
        fields = {"context": context, "decision": decision, "rationale": [rationale]}
        _save(run, "decision", {"title": title, "tags": ["tooling"], **fields})
    _save(run, "constraint", CONSTRAINT)
    _save(run, "runbook", RUNBOOK)
    _save(run, "preference", DRAFT, "--draft")
    assert run("retire", "use-travis", "--reason=gone")[0] == 0
    assert run("archive", "use-subversion", "--reason=long ago")[0] == 0
    record = folder / ".claude/memory/decisions/use-uv.json"
    for name in ("base.json", "ours.json", "theirs.json"):
        shutil.copy(record, folder / name)


def _save(run: Run, category: str, fields: dict[str, object], *flags: str) -> None:
    outcome = run("save", category, "--force", *flags, stdin=json.dumps(fields))
    assert outcome[0] == 0, outcome
