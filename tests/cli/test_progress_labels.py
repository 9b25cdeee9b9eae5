"""What each command says that it is doing while a person waits, in the order in which it does it."""

from __future__ import annotations

import subprocess

import pytest

from onrecord.cli import terminal

LABELS = {
    "audit": (
        "reading records",
        "checking files",
        "trying prompts and commands",
        "reading what records claim",
        "comparing records",
        "comparing wording",
        "looking for credentials",
        "reading statements",
    ),
    "check": ("comparing", "reading what records claim"),
    "check --try -": ("reading the working tree", "reading commits", "reading sessions"),
    "gc": ("reading records",),
    "index rebuild": ("reading records",),
    "digest": ("looking at the work",),
    "doctor": ("examining the installation", "checking files", "examining records"),
    "effect": ("looking for sessions", "reading records", "reading sessions"),
    "export": ("reading records",),
    "export --file X.md": ("reading records",),
    "freshness": ("reading records", "checking files"),
    "improve": ("reading records", "comparing records", "comparing wording", "reading titles and wording"),
    "status": ("checking files",),
    "search uv": ("searching",),
    "why uv": ("searching",),
    "try": ("replaying prompts",),
    "import docs": (
        "reading records",
        "reading 1 file",
        "comparing wording",
        "looking for credentials",
        "reading statements",
        "writing drafts",
    ),
    "web --static site": ("checking files", "writing pages"),
    "index check": ("reading records",),
}
"""The labels of each command; `indexing records` may be among them, or not if the index is up to date."""


@pytest.mark.parametrize("command", LABELS)
def test_a_command_says_what_it_is_doing(sample, onrecord, monkeypatch, command):
    subprocess.run(("git", "init", "-q", str(sample)), check=True, timeout=60)
    labels: list[str] = []
    enter = terminal.Progress.__enter__
    monkeypatch.setattr(terminal.Progress, "__enter__", lambda self: labels.append(self._what) or enter(self))
    one = '{"on": "edit", "has": ["x"]}'

    assert onrecord(*command.split(), stdin=one).code in (0, 1)

    assert tuple(label for label in dict.fromkeys(labels) if label != "indexing records") == LABELS[command]
