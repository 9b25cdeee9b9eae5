"""Every hook ends within its budget, whatever its steps do; it answers with what it has, and the log says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import onrecord
from onrecord import budget, hooks, paths, state_file
from onrecord.doctor import machine
from onrecord.hooks import EVENTS
from onrecord.project import Project
from tests import cost
from tests.cost import Yardstick
from tests.hooks.hook_process import ROOT, HookOutput
from tests.known_project import SIX

resource = pytest.importorskip("resource")

ASKS = "where do we keep user sessions, postgres or redis?"
ENOUGH_WALL = "hooks.WALL_SECONDS = 100.0\n"
"""For a machine on which many other tests run: only computing is limited."""

SPIN = "exec('while True: pass')"
STUBBORN = "exec('while True:\\n try: 1 / 0\\n except Exception: pass')"
SLEEP = "__import__('time').sleep(600)"


def run(event: str, project: Project, setup: str, **fields: Any) -> HookOutput:
    """Run a hook in a process that runs the code `setup` first."""
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\nfrom onrecord import hooks\n{setup}\n"
    payload = {"session_id": "s1", "cwd": project.root, "prompt": ASKS, "transcript_path": "", **fields}
    process = subprocess.run(
        [sys.executable, "-S", "-E", "-c", f"{program}sys.exit(hooks.main([{event!r}]))"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return HookOutput(process.returncode, process.stdout, process.stderr)


def handler_that(event: str, does: str) -> str:
    return f"import onrecord.hooks.{EVENTS[event]} as module\nmodule.{event} = lambda event, event_stores: {does}\n"


NEVER_END = [(event, does) for event in EVENTS for does in (SPIN, SLEEP)] + [("stop", STUBBORN)]


@pytest.mark.parametrize(("event", "does"), NEVER_END)
def test_a_handler_that_never_ends_is_ended(event: str, does: str, project: Project):
    wall = 0.6 if does == SLEEP else 100.0
    limits = f"hooks.CPU_SECONDS = 0.3\nhooks.WALL_SECONDS = hooks.SESSION_END_SECONDS = {wall}\n"

    answer = run(event, project, limits + handler_that(event, does))

    assert (answer.code, answer.stdout, answer.stderr) == (0, b"", b"")
    assert [(what, error) for _, what, error in state_file.recent_failures()] == [
        (f"hook {event}", "OutOfTime: took too long")
    ]


def test_the_doctor_shows_a_hook_that_took_too_long(project: Project):
    run("stop", project, f"hooks.CPU_SECONDS = 0.3\n{ENOUGH_WALL}" + handler_that("stop", SPIN))

    assert [
        finding.what.endswith("hook stop: OutOfTime: took too long")
        for finding in machine.examine()
        if finding.check == "failures"
    ] == [True]


def test_a_record_is_shown_though_its_files_cannot_be_checked_in_time(project: Project):
    Path(project.root, "ferry.py").write_text("x = 1\n")
    content = {"topic": "Ferry timetable", "value": "The ferry timetable is sorted by harbour.", "reason": "r"}
    project.save(
        "preference", {"title": "Ferry timetable by harbour", "related_files": ["ferry.py"], "content": content}
    )
    setup = f"from onrecord.freshness.check import Freshness\nFreshness.note = lambda self, anchors: {SPIN}\n"

    answer = run("user_prompt_submit", project, ENOUGH_WALL + setup, prompt="how is the ferry timetable sorted?")

    assert "sorted by harbour" in answer.context
    assert "could not be checked in time" in answer.context
    assert ("check files", "took too long and was left out") in [row[1:] for row in state_file.recent_failures()]


@pytest.mark.parametrize("does", [SPIN, "1 / 0"])
def test_a_store_that_cannot_be_searched_does_not_silence_the_other(does: str, project: Project):
    os.makedirs(paths.user_store())
    own = onrecord.open(str(Path(paths.user_store()).parents[1]))
    assert own.store.root == paths.user_store()
    own.save("decision", {**SIX["decision"], "title": "Sessions in my projects live in Postgres"})
    setup = (
        "from onrecord.search import rank\nfind = rank.find\n"
        f"rank.find = lambda opened, *rest, **named: "
        f"{does} if opened.root == {project.store.root!r} else find(opened, *rest, **named)\n"
    )

    answer = run("user_prompt_submit", project, ENOUGH_WALL + setup)

    assert "Sessions in my projects live in Postgres" in answer.context
    assert [what for _, what, _ in state_file.recent_failures()] == [f"search {project.store.root}"]


def test_a_slow_look_for_evidence_costs_no_suggestion(project: Project):
    messages = [("user", "which job queue do we take?"), ("assistant", "We decided to use NATS instead of Kafka.")]
    messages.append(("user", "yes, let's go with NATS instead of Kafka, because Kafka needs three brokers."))
    lines = [json.dumps({"type": role, "message": {"role": role, "content": text}}) for role, text in messages]
    transcript = Path(project.root, "transcript.jsonl")
    transcript.write_text("\n".join(lines) + "\n")
    fields = {"transcript_path": str(transcript), "last_assistant_message": "Decided: NATS instead of Kafka."}

    setup = f"from onrecord import usage\nusage.observe = lambda *turn: {SPIN}\n"

    answer = run("stop", project, ENOUGH_WALL + setup, **fields)

    assert "(a decision)" in answer.context


def test_without_timers_a_thread_ends_the_hook(project: Project):
    setup = "import _signal\ndel _signal.setitimer\nhooks.WALL_SECONDS = 0.5\n"

    answer = run("stop", project, setup + handler_that("stop", SLEEP))

    assert (answer.code, answer.stdout, answer.stderr) == (0, b"", b"")
    assert [row[1:] for row in state_file.recent_failures()] == [("hook", "took too long and was ended")]


LARGE = [(event, hooks.MAX_EVENT_BYTES - 1_000, "한") for event in EVENTS] + [
    ("user_prompt_submit", hooks.MAX_EVENT_BYTES - 1_000, "x"),
    ("pre_tool_use", 32_000_000, "x"),
]


@pytest.mark.heavy
@pytest.mark.parametrize(("event", "size", "letter"), LARGE)
def test_a_huge_event_costs_no_more_than_the_bound(event: str, size: int, letter: str, project: Project):
    text = letter * (size // len(letter.encode()))
    fields = {"session_id": "s1", "cwd": project.root, "tool_name": "Bash", "error": "Exit code 1"}
    fields |= {"prompt": text} if event == "user_prompt_submit" else {"tool_input": {"command": text}}
    data = json.dumps(fields, ensure_ascii=False).encode()
    bare = Yardstick(lambda: ["-c", "pass"], seconds=lambda words: _ended(words(), data).seconds)
    command = [str(ROOT / "src/onrecord/hooks/run.py"), event]

    assert bare.excess(60, lambda: command) == ""
    assert _ended(command, data).kilobytes < 150_000


def _ended(command: list[str], data: bytes) -> cost.ProgramRun:
    ended = cost.run([sys.executable, "-S", "-E", *command], data)
    assert (ended.code, ended.err) == (0, "")
    return ended


def test_a_step_without_a_budget_may_fail_and_take_its_time():
    with pytest.raises(ZeroDivisionError):
        budget.attempt("divide", 0, lambda: 1 // 0)
    assert budget.attempt("add", 0, lambda a, b: a + b, 1, 2) == 3
    assert budget.remaining() == float("inf")


def test_what_is_left_shrinks_and_is_given_back():
    budget.start(wall=100.0, cpu=time.process_time() + 50.0)
    try:
        inner = budget.attempt("look", 0.0, budget.remaining, seconds=5.0)
        assert 4.0 < inner < 5.1
        assert 40.0 < budget.remaining() < 50.1
        assert budget.attempt("fail", "default", lambda: 1 // 0) == "default"
        assert [row[1:] for row in state_file.recent_failures()][-1] == (
            "fail",
            "ZeroDivisionError: integer division or modulo by zero",
        )
    finally:
        budget.stop()
    assert budget.remaining() == float("inf")
