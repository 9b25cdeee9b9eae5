"""The commands that faults are tried on, in a project that has something for each of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from onrecord.coldstart import content_hash
from tests.faults.workbench import Case, Workbench

HASH = "{hash}"
"""Stands for the hash of the record that is renamed."""

_FIELDS = ("--set", "context=c", "--set", "decision=d of it", "--set", "rationale=r")
_TABS = ("--set", "topic=indent", "--set", "value=tabs", "--set", "reason=the linter")

_SHARE = ("share", "uploads-in-s3", "--to", "team", "--yes", "--force")

CASES = (
    Case("save", ("save", "decision", "Queue jobs in Postgres", *_FIELDS, "--force")),
    Case("save an existing id", ("save", "decision", "Sessions in Redis", *_FIELDS, "--force")),
    Case("save --draft", ("save", "preference", "Spaces", *_TABS, "--draft")),
    Case("save --user", ("save", "preference", "Tabs", *_TABS, "--user", "--force")),
    Case("update", ("update", "uploads-in-s3", "--tag", "storage")),
    Case("rename", ("update", "sessions-in-postgres", "--set", "title=Sessions in the database", "--hash", HASH)),
    Case("retire", ("retire", "uploads-in-s3", "--reason", "gone")),
    Case("restore", ("restore", "use-travis")),
    Case("archive", ("archive", "uploads-in-s3", "--reason", "old")),
    Case("unarchive", ("unarchive", "use-subversion")),
    Case("supersede", ("supersede", "uploads-in-s3", "mail-by-queue")),
    Case("review --accept", ("review", "--accept", "mail-from-a-worker")),
    Case("review --reject", ("review", "--reject", "mail-from-a-worker")),
    Case("review --merge", ("review", "--merge", "mail-from-a-worker", "--into", "mail-by-queue")),
    Case("undo", ("undo",)),
    Case("gc", ("gc",), now="2028-05-01T12:00:00Z"),
    Case("reanchor", ("reanchor", "uploads-in-s3"), says="anchored to 1 file"),
    Case("import", ("import", "docs/adr")),
    Case("export --file", ("export", "--file", "MEMORY.md")),
    Case("export --into", ("export", "--into", "AGENTS.md")),
    Case("config set", ("config", "set", "capture.mode", "off")),
    Case("config set --user", ("config", "set", "--user", "capture.mode", "off")),
    Case("config unset", ("config", "unset", "retrieval.max_inject")),
    Case("index rebuild", ("index", "rebuild")),
    Case("doctor --fix", ("doctor", "--fix"), is_report=True, is_repeatable=True, says="repaired: rebuilt index.md"),
    Case("init --user", ("init", "--user"), is_repeatable=True),
    Case("remote add", ("remote", "add", "--offline", "platform", "../other.git")),
    Case("remote remove", ("remote", "remove", "team"), is_repeatable=True),
    Case("connect", ("connect", "gemini", "codex", "--mcp", "--yes"), is_repeatable=True),
    Case("connect --remove", ("connect", "qwen", "--remove", "--yes"), is_repeatable=True),
    Case("merge-driver", ("merge-driver", "base.json", "ours.json", "theirs.json")),
    Case("list", ("list",)),
    Case("show", ("show", "uploads-in-s3")),
    Case("search", ("search", "where do uploads go"), says="uploads-in-s3.json"),
    Case("inbox", ("inbox",)),
    Case("export", ("export",)),
    Case("log", ("log",)),
    Case("recall", ("recall", "where do uploads go"), says="Uploads in S3"),
    Case("freshness", ("freshness",)),
    Case("audit", ("audit",)),
    Case("remote status", ("remote", "status")),
    Case("config", ("config",)),
    Case("index check", ("index", "check")),
    Case("status", ("status",)),
    Case("stats", ("stats",)),
    Case("digest", ("digest",)),
    Case("why", ("why", "where do uploads go"), says="Uploads in S3"),
    Case("improve", ("improve",)),
    Case("effect", ("effect",)),
    Case("try", ("try", "where do uploads go"), says="Uploads in S3"),
    Case("feedback", ("feedback", "uploads-in-s3", "helped")),
    Case("trust", ("trust",), is_repeatable=True),
    Case("clean", ("clean",), is_repeatable=True),
    Case("check", ("check", "upload.py")),
    Case("share", _SHARE),
    Case("sync", ("sync",), prepared_by=_SHARE, is_resumed=True),
    Case("completion", ("completion", "bash")),
    Case("docs", ("docs", "errors")),
)


_ADR = """# Use {0}

## Status

Accepted

## Context

We like it.

## Decision

We will use {0}.

## Consequences

More {0}.
"""


def prepare(folder: Path) -> Workbench:
    """Return a workbench with a project that has records of every status, drafts, documents and a shared store."""
    bench = Workbench(folder)
    project = bench.project
    (project / "docs/adr").mkdir(parents=True)
    for number, word in enumerate(("tea", "soup"), 1):
        (project / f"docs/adr/000{number}-use-{word}.md").write_text(_ADR.format(word))
    (project / "upload.py").write_text("bucket = 1\n")
    (project / "AGENTS.md").write_text("# Agents\n")
    for name in ("base", "ours", "theirs"):
        (project / f"{name}.json").write_text(_version(name))
    git = ["git", "-c", "init.templateDir=", "init", "-q"]
    subprocess.run([*git, str(project)], check=True, env={**os.environ, "HOME": str(bench.home)}, timeout=60)
    for name in ("server.git", "other.git"):
        subprocess.run([*git, "--bare", str(bench.work / name)], check=True, timeout=60)
    # The repository of another project was accepted before.
    for line in (*_SETUP, ("trust", "--project", str(bench.work))):
        outcome = bench.run(line)
        assert outcome.status == 0, f"{line}: {outcome.errors}{outcome.printed}"
    bench.names[HASH] = content_hash((project / ".claude/memory/decisions/sessions-in-postgres.json").read_bytes())
    bench.keep()
    return bench


def _decision(title: str, *more: str) -> tuple[str, ...]:
    return (
        "save",
        "decision",
        title,
        "--set",
        "context=c",
        "--set",
        f"decision={title}",
        "--set",
        "rationale=r",
        *more,
    )


_SETUP = (
    ("init",),
    _decision("Sessions in Redis", "--force"),
    _decision("Sessions in Postgres", "--force"),
    ("supersede", "sessions-in-redis", "sessions-in-postgres"),
    _decision("Uploads in S3", "--related", "upload.py", "--trigger", "where do uploads go", "--force"),
    _decision("Mail by queue", "--force"),
    _decision("Mail from a worker", "--force", "--draft"),
    _decision("Use Travis", "--force"),
    ("retire", "use-travis", "--reason", "gone"),
    _decision("Use Subversion", "--force"),
    ("archive", "use-subversion", "--reason", "old"),
    ("config", "set", "retrieval.max_inject", "2"),
    ("remote", "add", "--offline", "team", "../server.git"),
    ("connect", "qwen", "--mcp", "--yes"),
    ("update", "mail-by-queue", "--tag", "mail"),
)


def _version(name: str) -> str:
    fields = {"context": "c", "decision": f"d of {name}", "rationale": ["r"]}
    fields["decision"] = "d" if name != "theirs" else "another d"
    return json.dumps({"id": "x", "category": "decision", "title": "X", "content": fields})
