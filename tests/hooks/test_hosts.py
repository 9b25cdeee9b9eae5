"""Every host: how it is recognised, what is read from its events, and the form of its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import failure_log
from recollect.hosts import table
from recollect.project import Project
from tests.hooks.conftest import run_hook

ASKS = "where do we keep user sessions, postgres or redis?"
RULE = "User sessions are rows in auth.sessions"
ROLLOUT = "/h/.codex/sessions/2026/11/16/rollout-2026-11-16T01-48-59-01a1.jsonl"


@pytest.mark.parametrize(
    ("fields", "environment", "name"),
    [
        ({}, {}, "claude-code"),
        ({}, {"CLAUDECODE": "1"}, "claude-code"),
        ({"transcript_path": ROLLOUT}, {}, "codex"),
        ({"transcript_path": ROLLOUT.replace("/", "\\")}, {}, "codex"),
        ({"turn_id": "01a1", "transcript_path": None}, {}, "codex"),
        ({"transcript_path": ROLLOUT}, {"CLAUDECODE": "1"}, "codex"),
        ({"transcript_path": "/h/.claude/projects/-p/a.jsonl"}, {"CLAUDECODE": "1"}, "claude-code"),
        ({"transcript_path": 7}, {}, "claude-code"),
    ],
)
def test_a_host_is_recognised_even_where_another_one_started_it(fields, environment, name):
    assert table.recognised(fields, environment).name == name


def test_a_host_of_no_known_name_gets_no_answer_and_leaves_a_trace(project: Project):
    answer = run_hook("user_prompt_submit", {"session_id": "s", "cwd": project.root, "prompt": ASKS}, host="emacs")

    assert (answer.code, answer.stdout, answer.stderr) == (0, b"", b"")
    assert [line for line in failure_log.recent() if "no host is named 'emacs'" in str(line)]


class Codex:
    """A session in Codex, with the file it keeps."""

    def __init__(self, project: Project, folder: Path, source: str = "cli") -> None:
        self.root = project.root
        self.file = folder / "rollout-2026-11-16.jsonl"
        self.file.write_text(_line("session_meta", {"cwd": project.root, "originator": "codex", "source": source}))

    def add(self, item: dict[str, Any]) -> None:
        with self.file.open("a") as file:
            file.write(_line("event_msg", {"type": "item_completed", "item": item}))

    def __call__(self, event: str, **fields: Any) -> dict[str, Any]:
        common = {"session_id": "s", "turn_id": "t", "cwd": self.root, "transcript_path": str(self.file)}
        answer = run_hook(event, {**common, "permission_mode": "default", "model": "m", **fields})
        assert (answer.code, answer.stderr) == (0, b"")
        return json.loads(answer.stdout) if answer.stdout else {}


def _line(kind: str, payload: dict[str, Any]) -> str:
    """A line of a session's file, in the spelling of Codex: without spaces."""
    entry = {"timestamp": "2026-11-16T02:03:49Z", "type": kind, "payload": payload}
    return json.dumps(entry, separators=(",", ":")) + "\n"


@pytest.fixture
def codex(project: Project, tmp_path: Path) -> Codex:
    return Codex(project, tmp_path)


def test_codex_gets_no_key_that_it_does_not_know(codex: Codex):
    answer = codex("user_prompt_submit", prompt=ASKS)

    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert RULE in answer["hookSpecificOutput"]["additionalContext"]


def test_codex_is_refused_a_patch_of_a_record_and_shown_what_belongs_to_a_patched_file(codex: Codex):
    patch = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"
    record = {"command": patch.format(".claude/memory/decisions/x.json")}
    client = {"command": patch.format("src/carrier/client.py")}

    denied = codex("pre_tool_use", tool_name="apply_patch", tool_input=record)["hookSpecificOutput"]
    shell = codex("pre_tool_use", tool_name="Bash", tool_input={"command": f"apply_patch <<'X'\n{record['command']}X"})
    shown = codex("pre_tool_use", tool_name="apply_patch", tool_input=client)["hookSpecificOutput"]

    assert denied["permissionDecision"] == shell["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "90 calls a minute" in shown["additionalContext"]


@pytest.mark.parametrize(("status", "is_shown"), [(1, True), (0, False)])
def test_a_command_that_failed_in_codex_is_known_from_its_session(codex: Codex, status: int, is_shown: bool):
    error = "CommitFailedError: the coordinator is not aware of this member"
    codex.add({"type": "CommandExecution", "id": "call_1", "exit_code": status, "aggregated_output": error})
    call = {"tool_name": "Bash", "tool_input": {"command": "make lag"}, "tool_use_id": "call_1"}

    answer = codex("post_tool_use", **call, tool_response=error)

    assert bool(answer) is is_shown
    if answer:
        assert answer["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
        assert "Kafka consumer lag" in answer["hookSpecificOutput"]["additionalContext"]


DECIDES = "We decided to use NATS instead of Kafka for the job queue, because Kafka needs three brokers."


@pytest.mark.parametrize(
    ("source", "fields", "is_asked"),
    [("exec", {}, False), ("cli", {"stop_hook_active": True}, False)],
)
def test_codex_is_asked_to_go_on_only_on_its_screen_and_once(
    project: Project, tmp_path: Path, source: str, fields: dict[str, Any], is_asked: bool
):
    codex = Codex(project, tmp_path, source)

    answer = codex("stop", last_assistant_message=DECIDES, **fields)

    assert answer.keys() == ({"decision", "reason"} if is_asked else set())
    assert not is_asked or (answer["decision"], "NATS" in answer["reason"]) == ("block", True)


def test_a_text_for_codex_fits_into_what_it_shows():
    from recollect.hosts import codex as host
    from recollect.hosts.answer import ADD, Answer
    from recollect.hosts.question import Question

    answer = host.write(Question("user_prompt_submit"), Answer(ADD, "€" * 9_900))

    assert len(answer["hookSpecificOutput"]["additionalContext"].encode()) <= 9_900
