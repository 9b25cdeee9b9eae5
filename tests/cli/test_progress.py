"""The line that shows how far long work has come."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.cli import terminal
from onrecord.project import Project
from tests.terminal_session import TerminalSession

SLOWLY = """
import sys
from onrecord.cli import terminal

terminal.AFTER_SECONDS, terminal._INTERVAL_SECONDS = 0.0, 0.01
"""
"""A program whose work counts as long from its start."""

COUNTED = (
    SLOWLY
    + """
seen = []
for item in terminal.watched(["a", "b", "c"], "reading records"):
    if item == "c":
        sys.stdin.readline()
    seen.append(item)
print(*seen)
"""
)

NESTED = (
    SLOWLY
    + """
with terminal.Progress("outer"):
    with terminal.Progress("inner"):
        sys.stdin.readline()
    sys.stdin.readline()
raise SystemExit(3)
"""
)

FAILING = (
    SLOWLY
    + """
with terminal.Progress("working"):
    sys.stdin.readline()
    raise KeyError("a bug")
"""
)


def _session(code: str, cwd: Path, **env: str) -> TerminalSession:
    path = str(Path(__file__).parents[2] / "src")
    return TerminalSession(cwd=cwd, env={"PYTHONPATH": path, **env}, program=(sys.executable, "-c", code))


def test_it_counts_and_is_gone_at_the_end(tmp_path):
    with _session(COUNTED, tmp_path) as session:
        session.expect("reading records: 3 of 3, 0 s …")
        session.line("")
        assert session.end() == 0

    assert session.raw.replace("\r\n", "\n").endswith("\r\x1b[Ka b c\n")


def test_of_several_the_innermost_is_shown(tmp_path):
    with _session(NESTED, tmp_path) as session:
        session.expect("inner, 0 s …")
        assert "outer" not in session.expect("inner, 0 s …")
        session.line("")
        session.expect("outer, 0 s …")
        session.line("")
        assert session.end() == 3

    assert session.raw.endswith("\r\x1b[K")


def test_a_failure_stands_on_a_line_of_its_own(tmp_path):
    with _session(FAILING, tmp_path) as session:
        session.expect("working, 0 s …")
        session.line("")
        assert session.end() == 1

    assert "\r\x1b[KTraceback" in session.raw


def test_quick_work_shows_nothing_and_neither_does_a_pipe_or_a_dumb_terminal(tmp_path):
    quick = "from onrecord.cli import terminal\nprint(*terminal.watched('ab', 'reading'))"
    with _session(quick, tmp_path) as session:
        assert session.end() == 0
    assert session.text == "a b\n"

    path = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", COUNTED],
        input="\n",
        capture_output=True,
        text=True,
        env={"PYTHONPATH": path},
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("a b c\n", "")

    with _session(COUNTED, tmp_path, TERM="dumb") as session:
        session.line("")
        assert session.end() == 0
    assert "reading" not in session.text


def test_a_line_never_fills_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    line = terminal.Progress("x" * 100)._line(2.0)

    assert line == "x" * 19


def test_items_are_closed_when_their_reader_stops(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    items = terminal.watched(iter("abc"), "reading")

    assert next(items) == "a"
    items.close()

    assert terminal.Progress._open == []


@pytest.mark.parametrize("command", ["list", "audit", "status", "export", "improve", "search x", "freshness", "doctor"])
def test_commands_show_it_where_they_take_long(command, tmp_path):
    words = command.split()
    slow = (
        SLOWLY
        + f"""
from onrecord.cli import main
from onrecord.store.store import Store
main(["save", "preference", "Tabs", "--set=topic=t", "--set=value=v", "--set=reason=r"])
ours, draw = [], terminal.Progress.__enter__
terminal.Progress.__enter__ = lambda self: ours.append(self._what) or draw(self)
assert main({words!r}) in (0, 1)
assert ours, "no progress"
"""
    )
    with _session(slow, tmp_path, PAGER="cat") as session:
        assert session.end() == 0, session.text


INDEXING = (
    SLOWLY
    + """
from onrecord.cli import main
from onrecord.search import refresh

batches = []
read = refresh._index_batch


def slowly(index, paths, **options):
    batches.append(paths)
    if len(batches) == 3:
        sys.stdin.readline()
    return read(index, paths, **options)


refresh.BATCH = 1
refresh._index_batch = slowly
raise SystemExit(main(sys.argv[1:]))
"""
)


@pytest.mark.parametrize("words", [["search", "gateway"], ["list"], ["status"], ["recall", "gateway"]], ids=" ".join)
def test_indexing_is_counted_whatever_command_needs_the_index(project, words):
    for number in range(5):
        content = {"context": "c", "decision": f"gateway {number}", "rationale": "r"}
        Project(str(project)).save("decision", {"title": f"Gateway number {number}", "content": content})
    shutil.rmtree(paths.cache_dir(), ignore_errors=True)
    env = {name: value for name, value in os.environ.items() if name.startswith("ONRECORD_") or name == "HOME"}
    program = (sys.executable, "-c", INDEXING, *words)
    env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")

    with TerminalSession(cwd=project, env=env, program=program) as session:
        session.expect("indexing records: 3 of 5, 0 s …")
        session.line("")
        session.end()
