"""A store as the program of the earlier plugin (idnotbe/claude-memory, version 6) leaves it: our words, its files.

`make` lets its program, in a clone of it, write the store; earlier-plugin.json keeps what it wrote. No part of the
plugin is in this repository.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import earlier_config
from tests.known_project import SIX
from tests.upgrade import old_data
from tests.upgrade.old_project import OldProject, write

KEPT = Path(__file__).with_name("earlier-plugin.json")
CLONE = os.environ.get("ONRECORD_TEST_EARLIER_PLUGIN", "")
"""A clone of the plugin: git clone https://github.com/idnotbe/claude-memory."""

_FOLDERS = {
    "decision": "decisions",
    "constraint": "constraints",
    "preference": "preferences",
    "runbook": "runbooks",
    "tech_debt": "tech-debt",
    "session_summary": "sessions",
}
_REQUIRED: dict[str, dict[str, Any]] = {
    "decision": {"status": "accepted"},
    "constraint": {"kind": "limitation", "active": True},
    "preference": {"strength": "default"},
    "tech_debt": {"status": "open", "priority": "low"},
}
"""Fields of the content that the plugin demands and Onrecord does not."""

JOBS = "constraints/the-carrier-api-allows-90-calls-a-minute.json"
RETIRED, ARCHIVED = "preferences/tabs-for-indentation.json", "tech-debt/labels-are-printed-twice.json"
SESSIONS = 6
"""One more than its default keeps, so it retires the first."""


class EarlierPlugin:
    """The program of the plugin, at work in a project."""

    def __init__(self, clone: str, project: Path) -> None:
        self.clone = clone
        self.project = project

    @property
    def store(self) -> Path:
        return self.project / ".claude" / "memory"

    def run(self, script: str, *words: str, event: object = None) -> subprocess.CompletedProcess[str]:
        """Run one of its scripts, with the event of a hook."""
        return subprocess.run(
            [sys.executable, str(Path(self.clone, "hooks/scripts", script)), *words],
            input=json.dumps(event or {}),
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def write(self, action: str, path: str, record: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        """Create or update the record at a path in the store."""
        file = self.store / path
        version = ("--hash", hashlib.md5(file.read_bytes()).hexdigest()) if action == "update" else ()
        # It reads files in this folder only, and deletes what it has read.
        handle, pending = tempfile.mkstemp(".json", ".memory-write-pending", "/tmp", text=True)
        with open(handle, "w", encoding="utf-8") as written:
            written.write(json.dumps(record))
        try:
            where = ("--category", record["category"], "--target", f".claude/memory/{path}", "--input", pending)
            return self.run("memory_write.py", "--action", action, *where, *version)
        finally:
            Path(pending).unlink(missing_ok=True)

    def retrieved(self, prompt: str) -> str:
        """Return what its hook answers to a prompt."""
        return self.run("memory_retrieve.py", event={"user_prompt": prompt, "cwd": str(self.project)}).stdout


def make(root: Path) -> OldProject:
    """Let the plugin write a store below `root`, with a record of every category and every status."""
    made = OldProject(root)
    for folder in (made.store, made.home):
        folder.mkdir(parents=True)
    write(made.project / old_data.READS, "LIMIT = 90\n")
    made.git("init", "-q", "-b", "main")
    write(made.store / "memory-config.json", json.dumps(config(), indent=2) + "\n")
    plugin = EarlierPlugin(CLONE, made.project)
    for category, fields in (*SIX.items(), ("preference", old_data.RETIRED), ("tech_debt", old_data.ARCHIVED)):
        _create(plugin, category, fields)
    for number in range(2, SESSIONS + 1):
        _create(plugin, "session_summary", {**SIX["session_summary"], "title": f"Ledger, day {number}"})
    record = json.loads((plugin.store / JOBS).read_text(encoding="utf-8"))
    record["content"]["severity"] = "medium"
    record["changes"] = [{"date": "2026-01-05T08:00:00Z", "summary": "the carrier raised it"}]
    _succeed(plugin.write("update", JOBS, record))
    for action, path in (("retire", RETIRED), ("archive", ARCHIVED)):
        where = ("--target", f".claude/memory/{path}", "--reason", "nobody needs it")
        _succeed(plugin.run("memory_write.py", "--action", action, *where))
    plugin.retrieved("how many calls a minute to the carrier?")
    made.git("add", "-A")
    made.git("commit", "-qm", "Remember")
    return made


def config() -> dict[str, Any]:
    """Return its defaults, with three settings that a user has changed; a project may not set the last one here."""
    settings = earlier_config.untouched()
    settings["retrieval"]["max_inject"] = 2
    settings["categories"]["runbook"]["auto_capture"] = False
    settings["categories"]["decision"]["retention_days"] = 36_000
    return settings


def _create(plugin: EarlierPlugin, category: str, fields: Mapping[str, Any]) -> None:
    title = str(fields["title"])
    name = "".join(char if char.isalnum() else " " for char in title.lower().replace("'", "")).split()
    content = {**_REQUIRED.get(category, {}), **fields["content"]}
    known = {key: value for key, value in fields.items() if key != "triggers"}
    record = {**known, "content": content, "category": category, "confidence": 0.9, "schema_version": "1.0"}
    times = {"id": "-".join(name), "created_at": "", "updated_at": ""}
    _succeed(plugin.write("create", f"{_FOLDERS[category]}/{'-'.join(name)}.json", {**record, **times}))


def _succeed(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
