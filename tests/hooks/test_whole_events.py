"""Events of each host, read into a HostEvent that is compared as a whole: no field more, none less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onrecord.hosts import table
from onrecord.hosts.events import READ, SHELL, TASK, WRITE, HookReply, HostEvent, Payload, specific_output
from onrecord.session.action import FileEdit

COMMON = {"session_id": "s", "cwd": "/p", "transcript_path": "/t"}
PROMPT = {**COMMON, "prompt": "hi", "source": "user"}
STOP = {**COMMON, "stop_hook_active": True, "last_assistant_message": "done", "background_tasks": [1], "agent_id": "a"}


def tool(name: str, fields: dict[str, Any] = COMMON, **tool_input: Any) -> dict[str, Any]:
    return {**fields, "tool_name": name, "tool_input": tool_input}


def event(name: str, **fields: Any) -> HostEvent:
    return HostEvent(**{"name": name, "session": "s", "cwd": "/p", "transcript": "/t", **fields})


CLAUDE_CODE = [
    ("session_start", {**COMMON, "source": "startup"}, event("session_start", source="startup", is_typed=False)),
    ("user_prompt_submit", PROMPT, event("user_prompt_submit", prompt="hi")),
    ("user_prompt_submit", {**PROMPT, "source": "sdk"}, event("user_prompt_submit", prompt="hi")),
    ("user_prompt_submit", {**COMMON, "prompt": "hi"}, event("user_prompt_submit", prompt="hi")),
    ("user_prompt_submit", {**PROMPT, "source": "hook"}, event("user_prompt_submit", prompt="hi", is_typed=False)),
    ("pre_tool_use", tool("Read", file_path="a.py"),
     event("pre_tool_use", tool=READ, files=("/p/a.py",), shows_files=True)),
    ("post_tool_use", tool("Write", file_path="/p/a.py", content="x"),
     event("post_tool_use", tool=WRITE, files=("/p/a.py",), edits=(FileEdit("", "x", ""),), is_whole_file=True)),
    ("pre_tool_use", tool("Task", prompt="look", command="x"),
     event("pre_tool_use", tool=TASK, task="look", shows_files=True)),
    ("post_tool_use_failure", {**tool("Bash", command="make", prompt="x", content="y"), "error": "no"},
     event("post_tool_use_failure", tool=SHELL, command="make", error="no")),
    ("post_tool_use_failure", {**tool("Bash", command="make"), "error": "no", "is_interrupt": True},
     event("post_tool_use_failure", tool=SHELL, command="make")),
    ("stop", STOP, event("stop", last_message="done", is_continued=True, is_busy=True, subagent="a")),
]  # fmt: skip
OTHERS = {
    "codex": [
        ("session_start", {**COMMON, "source": "startup"}, event("session_start", source="startup")),
        ("user_prompt_submit", {**COMMON, "prompt": "hi"}, event("user_prompt_submit", prompt="hi")),
        ("pre_tool_use", tool("Bash", command="make"),
         event("pre_tool_use", tool=SHELL, command="make", shows_files=True)),
        ("stop", STOP, event("stop", last_message="done", is_continued=True, is_busy=True, subagent="a")),
    ],
    "copilot": [
        ("session_start", {**COMMON, "source": "new"}, event("session_start", source="startup")),
        ("session_start", {**COMMON, "source": "resume"}, event("session_start", source="resume")),
        ("user_prompt_submit", {**COMMON, "prompt": "hi"},
         event("user_prompt_submit", prompt="hi", late="compaction")),
        ("pre_compact", COMMON, event("pre_compact", late="compaction")),
        ("post_tool_use",
         {**tool("PowerShell", command="make"), "tool_result": {"text_result_for_llm": "x completed with exit code 3"}},
         event("post_tool_use", tool="powershell", command="make", error="Exit code 3\nx completed with exit code 3")),
        ("post_tool_use",
         {**tool("Read", path="a"), "tool_result": {"text_result_for_llm": "completed with exit code 3"}},
         event("post_tool_use", tool=READ, files=("/p/a",))),
        ("pre_tool_use", tool("Bash", command="make"),
         event("pre_tool_use", tool=SHELL, command="make", shows_files=True)),
    ],
    "qwen": [
        ("user_prompt_submit", {**COMMON, "prompt": "hi all", "submitted_prompt": "hi"},
         event("user_prompt_submit", prompt="hi")),
        ("user_prompt_submit", {**COMMON, "prompt": "hi"}, event("user_prompt_submit", is_typed=False)),
        ("post_tool_use", tool("edit", file_path="a", old_string="x", new_string="y", replace_all=True),
         event("post_tool_use", tool=WRITE, files=("/p/a",), edits=(FileEdit("x", "y", "", True),), is_typed=False,
               shows_files=True)),
        ("post_tool_use_failure", {**tool("run_shell_command", command="make"), "error": "no", "is_interrupt": True},
         event("post_tool_use_failure", tool=SHELL, command="make", is_typed=False)),
    ],
    "gemini": [
        ("session_start", {**COMMON, "source": "startup"}, event("session_start", source="startup", late="start")),
        ("user_prompt_submit", {**COMMON, "prompt": "<hook_context>x</hook_context>hi"},
         event("user_prompt_submit", prompt="hi", late="start")),
        ("pre_compact", {**COMMON, "trigger": "manual"}, event("pre_compact", late="compaction")),
        ("pre_compact", {**COMMON, "trigger": "auto"}, None),
        ("pre_tool_use", tool("read_file", absolute_path="a"), event("pre_tool_use", tool=READ, files=("/p/a",))),
        ("post_tool_use", {**tool("read_file", file_path="a"), "tool_response": {"llmContent": "Exit Code: 3"}},
         event("post_tool_use", tool=READ, files=("/p/a",), shows_files=True)),
        ("post_tool_use",
         {**tool("run_shell_command", command="make"), "tool_response": {"llmContent": "Output: no\nExit Code: 0"}},
         event("post_tool_use", tool=SHELL, command="make", shows_files=True)),
        ("stop", {**COMMON, "prompt_response": "done"}, event("stop", last_message="done")),
    ],
    "droid": [
        ("user_prompt_submit", {**COMMON, "prompt": "hi"}, event("user_prompt_submit", prompt="hi")),
        ("pre_tool_use", tool("Create", file_path="a", content="x"),
         event("pre_tool_use", tool=WRITE, files=("/p/a",), edits=(FileEdit("", "x", ""),), is_whole_file=True)),
        ("post_tool_use", tool("Execute", command="make"),
         event("post_tool_use", tool=SHELL, command="make", shows_files=True)),
    ],
    "opencode": [
        ("user_prompt_submit", {**COMMON, "prompt": "hi", "attended": True},
         event("user_prompt_submit", prompt="hi", is_attended=True, late="start")),
        ("session_start", {**COMMON, "source": "compact"}, event("session_start", source="compact", late="start")),
        ("pre_tool_use", tool("read", filePath="a"), event("pre_tool_use", tool=READ, files=("/p/a",))),
        ("post_tool_use", {**tool("bash", command="make"), "tool_response": {"output": "no", "metadata": {"exit": 2}}},
         event("post_tool_use", tool=SHELL, command="make", error="Exit code 2\nno", shows_files=True)),
        ("post_tool_use", {**tool("bash", command="make"), "tool_response": {"output": "x", "metadata": {"exit": 0}}},
         event("post_tool_use", tool=SHELL, command="make", shows_files=True)),
        ("post_tool_use", {**tool("read", filePath="a"), "tool_response": {"metadata": {"exit": 2}}},
         event("post_tool_use", tool=READ, files=("/p/a",), shows_files=True)),
    ],
    "pi": [
        ("user_prompt_submit", {**COMMON, "prompt": "hi", "attended": True},
         event("user_prompt_submit", prompt="hi", is_attended=True, late="start")),
        ("stop", {**COMMON, "attended": True}, event("stop")),
        ("post_tool_use", {**tool("bash", command="make"), "tool_response": "no", "is_error": True},
         event("post_tool_use", tool=SHELL, command="make", error="Exit code 1\nno", shows_files=True)),
        ("post_tool_use", {**tool("bash", command="make"), "tool_response": "ok"},
         event("post_tool_use", tool=SHELL, command="make", shows_files=True)),
        ("post_tool_use", {**tool("read", path="a"), "tool_response": "no", "is_error": True},
         event("post_tool_use", tool=READ, files=("/p/a",), shows_files=True)),
    ],
    "cline": [
        ("user_prompt_submit", {**COMMON, "prompt": "<user_input>\nhi\n</user_input>"},
         event("user_prompt_submit", prompt="hi", transcript="", late="start")),
        ("user_prompt_submit", {**COMMON, "prompt": "a </user_input> <user_input> b"},
         event("user_prompt_submit", prompt="a </user_input> <user_input> b", transcript="", late="start")),
        ("pre_tool_use", tool("run_commands", command="first", commands=["make", 7, {"command": "test"}]),
         event("pre_tool_use", tool=SHELL, command="first\nmake\ntest", transcript="", shows_files=True)),
        ("pre_tool_use", tool("read_files", paths=["a", "/q/b"]),
         event("pre_tool_use", tool=READ, files=("/p/a", "/q/b"), transcript="", shows_files=True)),
        ("pre_tool_use", tool("editor", path="a", file_paths=["b"], old_str="x", new_str="y"),
         event("pre_tool_use", tool=WRITE, files=("/p/a",), edits=(FileEdit("x", "y", ""),), transcript="",
               shows_files=True)),
        ("post_tool_use",
         {**tool("run_commands", commands=["make"]),
          "tool_response": [{"success": True, "result": "fine"},
                            {"success": False, "error": "Command exited with code 3", "result": "no"}]},
         event("post_tool_use", tool=SHELL, command="make", error="Exit code 3\nno", transcript="")),
        ("post_tool_use", {**tool("read_files", files=["a"]), "tool_response": [{"success": False, "error": "no"}]},
         event("post_tool_use", tool=READ, files=("/p/a",), transcript="")),
    ],
}  # fmt: skip
CASES = [("claude-code", *case) for case in CLAUDE_CODE]
CASES += [(host, *case) for host, cases in OTHERS.items() for case in cases]


@pytest.mark.parametrize(("host", "name", "fields", "expected"), CASES)
def test_an_event_is_read_with_all_of_its_fields(host, name, fields, expected, monkeypatch):
    for variable, value in (("CLAUDE_CODE_SESSION_ATTENDED", "0"), ("FACTORY_UPSTREAM_CLIENT_TYPE", "")):
        monkeypatch.setenv(variable, value)

    assert table.module(host).read(name, Payload(fields)) == expected


@pytest.mark.parametrize(
    ("host", "variables", "is_attended"),
    [
        ("claude-code", {}, True),
        ("claude-code", {"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}, True),
        ("claude-code", {"CLAUDE_CODE_SESSION_ATTENDED": "0"}, False),
        ("claude-code", {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}, False),
        ("droid", {}, False),
        ("droid", {"FACTORY_UPSTREAM_CLIENT_TYPE": "cli"}, True),
        ("droid", {"FACTORY_UPSTREAM_CLIENT_TYPE": "ide"}, False),
        ("droid", {"FACTORY_UPSTREAM_CLIENT_TYPE": "cli", "FACTORY_EXEC_TARGET_AUTONOMY": "high"}, False),
    ],
)
def test_the_environment_says_whether_a_person_reads_along(host, variables, is_attended, monkeypatch):
    for name in ("CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_ENTRYPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("FACTORY_UPSTREAM_CLIENT_TYPE", "FACTORY_EXEC_TARGET_AUTONOMY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    for name in ("session_start", "user_prompt_submit", "stop"):
        assert table.module(host).read(name, Payload({})).is_attended is is_attended


@pytest.mark.parametrize("source", ["cli", "vscode", "exec"])
def test_in_codex_a_session_start_and_a_stop_may_be_attended(tmp_path: Path, source: str):
    rollout = tmp_path / "rollout-1.jsonl"
    rollout.write_text(f'{{"payload":{{"source":"{source}"}}}}\n')
    fields = {"transcript_path": str(rollout)}

    attended = {
        name: table.module("codex").read(name, Payload(fields)).is_attended
        for name in ("stop", "session_start", "user_prompt_submit", "pre_tool_use")
    }

    is_on_screen = source != "exec"
    assert attended == {
        "stop": is_on_screen, "session_start": is_on_screen, "user_prompt_submit": False, "pre_tool_use": False
    }  # fmt: skip


def test_only_the_first_8_000_bytes_of_a_codex_session_say_who_reads_along(tmp_path: Path):
    rollout, sign = tmp_path / "rollout-1.jsonl", '"source":"cli"'
    attended = []
    for size in (8_000, 8_001):
        rollout.write_text(" " * (size - len(sign)) + sign)
        attended.append(table.module("codex").read("stop", Payload({"transcript_path": str(rollout)})).is_attended)

    assert attended == [True, False]


def test_a_question_has_the_form_of_a_denial():
    reply = specific_output("PreToolUse", HookReply("ask", "sure?", "memory: a rule"))

    assert reply == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": "sure?",
        },
        "systemMessage": "memory: a rule",
    }


@pytest.mark.parametrize(
    ("name", "key"),
    [("user_prompt_submit", "BeforeAgent"), ("post_tool_use", "AfterTool"), ("session_start", ""), ("stop", "")],
)
def test_gemini_gets_a_context_under_its_own_names_of_events(name: str, key: str):
    reply = table.module("gemini").write(HostEvent(name), HookReply("add", "x"))

    assert reply == ({"hookSpecificOutput": {"hookEventName": key, "additionalContext": "x"}} if key else {})


@pytest.mark.parametrize(("host", "root", "name"), [
    ("claude-code", "/plugin", "memory:save"),
    ("claude-code", "", "memory-save"),
    ("codex", "/plugin", "memory-save"),
])  # fmt: skip
def test_a_skill_has_the_name_of_the_plugin_before_it_in_claude_code_only(monkeypatch, host, root, name):
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", root)

    assert HostEvent("stop", host).skill("save") == name


def test_the_ledger_tells_a_subagent_from_its_session():
    readers = [HostEvent("stop", session=session, subagent=name).reader for session in ("s", "") for name in ("a", "")]

    assert readers == ["s/a", "s", "", ""]


def test_the_recorded_session_is_named_by_its_file():
    path = "/h/.codex/sessions/rollout-2026-11-16T02-03-48-from-the-file.jsonl"
    recorded = [
        HostEvent("stop", "codex", "of the event", transcript=path),
        HostEvent("stop", "codex", "of the event", transcript=path, subagent="a"),
        HostEvent("stop", "codex", "of the event"),
        HostEvent("stop", "gemini", "of the event", transcript="/nowhere.jsonl"),
    ]

    assert [event.recorded_session for event in recorded] == ["from-the-file", *["of the event"] * 3]
