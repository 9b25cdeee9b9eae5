"""A Python without sqlite3, a failure log that fails, clocks from 1970 to 2300: errors with a fix, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord import hooks, timestamps
from onrecord.cli.commands import COMMANDS
from tests.faults import commands

ROOT = Path(__file__).parents[2]
_START = f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}]\n"
_MAIN = "from onrecord.cli import main\nsys.exit(main(sys.argv[1:]))"
_HOOK = "from onrecord.hooks import main\nsys.exit(main(sys.argv[1:]))"
WITHOUT_SQLITE = "sys.modules['_sqlite3'] = sys.modules['sqlite3'] = None\n"
FAILING_LOG = """
from onrecord import hooks, state_file
def fail(*words): raise {0}("the log fails, too")
state_file.{1} = fail
hooks.{2} = fail
"""
CLOCK = (
    "import time; now = time.time(); real = time.time; time.time = lambda: real() - now + {}\n"
    "time.time_ns = lambda: int(time.time() * 1e9)\n"
)
CLOCKS = {"1970": 0, "1970, a day later": 86_400, "2038": 2_147_483_648, "2106": 4_294_967_296, "2300": 10_413_792_000}
DATES = {"1901": -2_147_483_648, "2300": CLOCKS["2300"], "2446": 15_032_385_535}
MORE = {
    "feedback": ("use-tea", "helped"),
    "judge": ("test",),
    "hub": ("status",),
    "version": (),
    "demo": (),
    "edit": ("use-tea",),
    "web": ("--static", "site"),
    "mcp": (),
}
"""Arguments of the commands that tests/faults does not run."""

LINES = (*(case.words for case in commands.CASES), *((name, *words) for name, words in MORE.items()))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs/adr").mkdir(parents=True)
    (tmp_path / "docs/adr/0001-tea.md").write_text(
        "# Tea\n\n## Status\n\nAccepted\n\n## Decision\n\nWe will use tea.\n"
    )
    return tmp_path


def _run(folder: Path, program: str, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _START + program, *words],
        cwd=folder, input=text, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def _save(project: Path, prelude: str = "") -> None:
    fields = ("--set", "context=c", "--set", "decision=d", "--set", "rationale=r", "--force")
    outcome = _run(project, prelude + _MAIN, "save", "decision", "Use tea", *fields)
    assert outcome.returncode == 0, outcome.stderr


def test_every_command_is_tried():
    assert {line[0] for line in LINES} == set(COMMANDS)


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_process_without_standard_streams(project, closed):
    """The flaw of 0.3.0-dev: without a standard output every command ended as if it had a bug."""
    _save(project)
    code = f"{_START}{_MAIN}"

    for words in (("list",), ("status",), ("retire", "use-tea", "--reason", "gone"), ("list", "--json")):
        script = f'"$@" {closed}'
        outcome = subprocess.run(
            ["sh", "-c", script, "sh", sys.executable, "-c", code, *words],
            cwd=project, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (outcome.returncode, "Traceback" in outcome.stderr) == (0, False), words
    record = json.loads((project / ".claude/memory/decisions/use-tea.json").read_text())
    assert record["record_status"] == "retired"


def _has_no_traceback(outcome: subprocess.CompletedProcess[str]) -> bool:
    return "Traceback" not in outcome.stderr and outcome.returncode in (0, 1, 2)


def test_a_python_without_sqlite(project):
    _save(project)

    outcomes = {line: _run(project, WITHOUT_SQLITE + _MAIN, *line) for line in LINES}

    assert [(line, outcome.stderr) for line, outcome in outcomes.items() if not _has_no_traceback(outcome)] == []
    errors = outcomes["search", "where do uploads go"].stderr
    assert errors.startswith(f"NO_SQLITE: {sys.executable} has no sqlite3")
    assert "error: " in _run(project, WITHOUT_SQLITE + _MAIN, "doctor").stdout


@pytest.mark.parametrize("event", hooks.EVENTS)
def test_a_hook_without_sqlite_ends_well(project, event):
    _save(project)

    outcome = _run(project, WITHOUT_SQLITE + _HOOK, event, text=_event(project))

    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.mark.parametrize("error", ["OSError", "ValueError", "MemoryError", "KeyboardInterrupt"])
@pytest.mark.parametrize("name", ["log_failure", "log_file", "_log"])
def test_a_hook_whose_failure_log_fails_ends_well(project, name, error):
    outcome = _run(project, FAILING_LOG.format(error, name, "_reply") + _HOOK, "stop", text=_event(project))

    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.mark.parametrize("year", CLOCKS)
def test_a_clock_that_is_wrong(project, year):
    clock = CLOCK.format(CLOCKS[year])
    _save(project, clock)
    lines = [("list",), ("show", "use-tea"), ("recall", "tea"), ("status",), ("doctor",), ("gc",), ("stats",), ("log",)]
    lines += [("update", "use-tea", "--tag", "x"), ("digest",), ("audit",), ("freshness",), ("undo",), ("effect",)]

    outcomes = {line: _run(project, clock + _MAIN, *line) for line in lines}
    replies = [_run(project, clock + _HOOK, event, text=_event(project)) for event in hooks.EVENTS]

    assert [(line, outcome.stderr) for line, outcome in outcomes.items() if not _has_no_traceback(outcome)] == []
    assert [(reply.returncode, reply.stderr) for reply in replies] == [(0, "")] * len(replies)
    assert not Path(os.environ["XDG_STATE_HOME"], "onrecord/failures.log").exists()


@pytest.mark.parametrize("year", DATES)
def test_files_that_are_dated_by_a_clock_that_is_wrong(project, year):
    """The flaw of 0.3.0-dev: a file's time after April 2262 does not fit into SQLite, and all commands ended there."""
    clock = CLOCK.format(DATES[year])
    _save(project)
    for folder, _, names in os.walk(project):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.utime(path, (DATES[year], DATES[year]))
    lines = [("search", "tea"), ("list",), ("status",), ("doctor",), ("audit",), ("effect",), ("digest",)]

    outcomes = {line: _run(project, prelude + _MAIN, *line) for line in lines for prelude in ("", clock)}
    replies = [_run(project, _HOOK, event, text=_event(project)) for event in hooks.EVENTS]

    assert "Use tea" in outcomes["search", "tea"].stdout
    assert [(line, outcome.stderr) for line, outcome in outcomes.items() if not _has_no_traceback(outcome)] == []
    assert [(reply.returncode, reply.stderr) for reply in replies] == [(0, "")] * len(replies)
    assert not Path(os.environ["XDG_STATE_HOME"], "onrecord/failures.log").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize("line", [("list",), ("search", "tea"), ("doctor",), ("inbox",), ("undo",)], ids=" ".join)
def test_too_little_memory(project, line):
    _save(project)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (45_000_000, 45_000_000))\n"

    outcome = _run(project, "from onrecord.cli import main\n" + limit + "sys.exit(main(sys.argv[1:]))", *line)

    assert _has_no_traceback(outcome), outcome.stderr
    assert not outcome.returncode or "UNWRITABLE: there is not enough memory" in outcome.stderr


@pytest.mark.parametrize("seconds", [-1e18, -1.0, 0.0, 1e12, 1e18])
def test_any_number_of_seconds_is_a_moment(seconds):
    assert timestamps.is_instant(timestamps.from_seconds(seconds))


def _event(project: Path) -> str:
    return json.dumps({"session_id": "s", "cwd": str(project), "prompt": "where is the tea?", "source": "startup"})
