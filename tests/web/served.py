"""A sample project, the real server for it, and a real browser."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from onrecord.project import Project
from onrecord.record import compose
from onrecord.settings import Settings
from onrecord.shared import reconcile, remotes, replicas
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.usage import usage_log
from tests.git_project import GitProject
from tests.shared.machines import accept

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

ROOT = Path(__file__).parents[2]
PATIENCE = 120
"""Seconds after which a test gives up on what never comes. Nothing that works takes so long on any machine."""

_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage"
).split()


def fill(root: Path) -> Project:
    """Create a project with records, one superseded and one with a changed file, drafts and usage."""
    repository = GitProject(root)
    repository.write("src/auth/session.py", "EXPIRY = 14\n")
    repository.write("src/web/page.py", "TITLE = 'Ferry'\n")
    repository.commit()
    project = Project(str(root))
    old = _decision(project, "Sessions live in Redis", "Redis with a replica")
    new = _decision(
        project,
        "Sessions live in Postgres",
        "Rows in auth.sessions, 14 day expiry",
        tags=["auth", "database"],
        triggers=["where do we keep login state?", "users are logged out after a deploy"],
        related_files=["src/auth/session.py"],
    )
    Writer(project.store, project.settings).supersede(old, new)
    _decision(project, "Templates are rendered on the server", "No client-side framework", related_files=["src/web/"])
    rule = {"kind": "limitation", "rule": "Never log a session id", "impact": ["ids are secrets"], "severity": "high"}
    project.save("constraint", {"title": "Never log a session id", "content": rule, "tags": ["auth"]})
    for title in ("Use uv for every install", "Sign release tags"):
        box = Inbox(project.store.root)
        content = {"context": "Asked in a session", "decision": title, "rationale": ["it was agreed"]}
        record = compose.compose("decision", {"title": title, "content": content})
        box.put(inbox.new_draft(record, evidence=(f"let's {title.lower()}",)))
    usage_log.append(project.store.root, [("injected", new)] * 4 + [("opened", new)] * 3)
    repository.write("src/auth/session.py", "EXPIRY = 30\n")
    return project


def _decision(project: Project, title: str, decision: str, **fields: object) -> str:
    content = {"context": "Redis lost sessions on failover", "decision": decision, "rationale": ["one part fewer"]}
    return project.save("decision", {"title": title, "content": content, **fields}).path


def put_draft(project: Project, title: str, **fields: object) -> str:
    content = {"context": "Asked in a session", "decision": title, "rationale": ["it was agreed"]}
    record = compose.compose("decision", {"title": title, "content": content, **fields})
    return Inbox(project.store.root).put(inbox.new_draft(record)).name


def conflict(project: Project) -> Store:
    """Connect a shared store in which both sides changed one record."""
    remotes.add("platform", "/srv/platform.git")
    store = Store(replicas.prepare("platform").store)
    writer = Writer(store, Settings())
    content = {"context": "Two installers", "decision": "uv 0.4", "rationale": ["one tool"]}
    entry = writer.save(compose.compose("decision", {"title": "Install with uv", "content": content}))
    base = Path(store.root, entry.path).read_bytes()
    theirs = writer.update(entry.path, {"content": {"decision": "uv 0.5"}}, entry.hash)
    mine = base.replace(b'"uv 0.4"', b'"uv 0.6"')
    reconciled = reconcile.reconcile(entry.path, base, mine, Path(store.root, theirs.path).read_bytes())
    path = Path(store.root, reconciled.beside[0])
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(reconciled.beside[1])
    accept("platform")
    return store


@contextlib.contextmanager
def serving(root: Path) -> Iterator[str]:
    """Run `onrecord web` and yield the address that it prints."""
    command = [sys.executable, "-m", "onrecord", "web", "--no-open", "--project", str(root)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def chromium(playwright: Playwright, program: str) -> Browser:
    return playwright.chromium.launch(executable_path=program, args=_FLAGS)
