"""A command fails: its runbook is shown, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from onrecord.cli import main
from tests.hooks.hook_process import run_hook

RUNBOOKS = [
    (
        "E0382 in the generated visitor",
        "cargo build fails after a change of the grammar",
        "E0382",
        "Mark the node by_ref",
    ),
    (
        "Tests cannot reach the database",
        "tests fail on a fresh machine",
        "connect ECONNREFUSED 127.0.0.1:5433",
        "docker compose up -d db",
    ),
    (
        "Playwright has no browser",
        "end-to-end tests fail before the first page",
        "browserType.launch: Executable doesn't exist at /home/anna/.cache/ms-playwright/chromium-1117/chrome",
        "playwright install chromium",
    ),
    (
        "Kein Platz auf dem Runner",
        "Ein Job bricht beim Schreiben ab",
        "Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        "docker system prune",
    ),
    (
        "Ledger job loses a conflict",
        "the nightly job ends",
        "could not serialize access due to concurrent update (SQLSTATE 40001)",
        "Run the job again",
    ),
]
BUILD = "\n".join(f"   Compiling crate{n} v0.{n}.1" for n in range(300))
WARNINGS = "\n".join(f"warning: unused variable: `v{n}`\n  --> src/a.rs:{n}:5" for n in range(60))


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project whose runbooks were saved from a terminal."""
    (tmp_path / ".git").mkdir()
    for title, trigger, symptom, step in RUNBOOKS:
        fields = [f"trigger={trigger}", f"symptoms={symptom}", f"steps={step}", "verification=it passes"]
        options = [word for field in fields for word in ("--set", field)]
        assert main(["save", "runbook", title, *options, "--project", str(tmp_path)]) == 0
    capsys.readouterr()
    return tmp_path


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        pytest.param(
            f"{BUILD}\nerror[E0382]: use of moved value: `ctx`\n{WARNINGS}\nerror: could not compile `grind`",
            "Mark the node by_ref",
            id="a code in a long output",
        ),
        pytest.param(f"{BUILD}\nerror[E0502]: cannot borrow `*self`\n{WARNINGS}", "", id="another code"),
        pytest.param(
            " FAIL  day.test.ts\nAggregateError:\nCaused by: Error: connect ECONNREFUSED ::1:5433\n Tests  no tests",
            "docker compose up",
            id="a service that does not answer",
        ),
        pytest.param("[ioredis] Error: connect ECONNREFUSED 127.0.0.1:6379", "", id="another service"),
        pytest.param(
            "  1) cart.spec.ts:4:1\n    Error: browserType.launch: Executable doesn't exist at"
            " /Users/ines/Library/Caches/ms-playwright/chromium_headless_shell-1155/headless_shell\n  42 failed",
            "playwright install",
            id="other paths and numbers",
        ),
        pytest.param(
            "tar: a/b: Kann nicht schreiben: Auf dem Gerät ist kein Speicherplatz mehr verfügbar\n"
            "tar: Beende mit Fehlerstatus aufgrund vorheriger Fehler",
            "docker system prune",
            id="German",
        ),
        pytest.param("cp: '/srv/a' kann nicht angelegt werden: Keine Berechtigung", "", id="other German"),
        pytest.param(
            "error: could not serialize access due to concurrent update\n    at Parser (/srv/parser.js:285:98) {\n"
            "  severity: 'ERROR',\n  code: '40001',\n  line: '2743'\n}",
            "Run the job again",
            id="an SQLSTATE",
        ),
    ],
)
def test_the_runbook_of_a_failure_is_shown_or_nothing(folder: Path, printed: str, shown: str):
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": f"Exit code 1\n{printed}"}

    answer = run_hook("post_tool_use_failure", {"session_id": "s", "cwd": str(folder), **fields})

    assert (answer.code, answer.stderr) == (0, b"")
    assert (shown in answer.context, answer.context.count("<result ")) == (True, bool(shown))
