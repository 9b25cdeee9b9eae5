"""Events as each host sends them, with made-up content: the shapes were seen in the real clients.

`{root}` stands for the project, `{home}` for the folder in which the host keeps its sessions.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

ASKS = "where do we keep user sessions, postgres or redis?"
RULE = "User sessions are rows in auth.sessions"
FILE = "src/carrier/client.py"
FILE_RULE = "90 calls a minute"
RECORD = ".claude/memory/decisions/x.json"
ERROR = "CommitFailedError: the coordinator is not aware of this member"
RUNBOOK = "Kafka consumer lag"
PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"


class Events(NamedTuple):
    """The fields of a host's events; empty where it sends nothing of use."""

    common: dict[str, Any]
    prompt: dict[str, Any]
    write: dict[str, Any]
    """A file tool's input, in which `{file}` is the file."""
    shell: dict[str, Any]
    """A shell tool's input, in which `{command}` is the command."""
    failed: dict[str, Any]
    """The fields that a failed command adds."""
    failure_event: str = "post_tool_use"
    files_event: str = "pre_tool_use"
    env: dict[str, str] = {}


def _tool_call(tool: str, **tool_input: Any) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": tool_input}


CLAUDE = {"transcript_path": "{home}/.claude/projects/-p/s.jsonl", "permission_mode": "default"}
HOSTS = {
    "claude-code": Events(
        common=CLAUDE,
        prompt={"prompt": ASKS},
        write=_tool_call("Edit", file_path="{root}/{file}", old_string="a", new_string="b"),
        shell=_tool_call("Bash", command="{command}"),
        failed={"error": f"Exit code 1\n{ERROR}"},
        failure_event="post_tool_use_failure",
        env={"CLAUDECODE": "1"},
    ),
    "codex": Events(
        common={"turn_id": "t", "transcript_path": "{home}/.codex/sessions/rollout-1.jsonl", "model": "m"},
        prompt={"prompt": ASKS},
        write=_tool_call("apply_patch", command=PATCH.format("{file}")),
        shell=_tool_call("Bash", command="{command}"),
        failed={"tool_response": ERROR, "tool_use_id": "call_1"},
    ),
    "copilot": Events(
        common={"timestamp": "2026-11-16T02:15:00.697Z"},
        prompt={"prompt": ASKS},
        write=_tool_call("Edit", path="{root}/{file}", old_str="a", new_str="b"),
        shell=_tool_call("Bash", command="{command}", description="x"),
        failed={
            "tool_result": {
                "result_type": "success",
                "text_result_for_llm": f"{ERROR}\n<shellId: 0 completed with exit code 3>",
            }
        },
        env={"COPILOT_CLI": "1"},
    ),
    "qwen": Events(
        common={"transcript_path": "{home}/.qwen/projects/-p/chats/s.jsonl", "permission_mode": "yolo"},
        prompt={"prompt": ASKS, "submitted_prompt": ASKS},
        write=_tool_call("edit", file_path="{root}/{file}"),
        shell=_tool_call("run_shell_command", command="{command}", is_background=False),
        failed={"error": f"Command: x\nOutput: {ERROR}\nError: (none)\nExit Code: 3\n", "is_interrupt": False},
        failure_event="post_tool_use_failure",
        files_event="post_tool_use",
        env={"QWEN_PROJECT_DIR": "/p", "GEMINI_PROJECT_DIR": "/p"},
    ),
    "gemini": Events(
        common={"transcript_path": "{home}/.gemini/tmp/p/chats/session-1.jsonl", "timestamp": "2026-11-16T02:15:00Z"},
        prompt={"prompt": ASKS},
        write=_tool_call("replace", file_path="{root}/{file}"),
        shell=_tool_call("run_shell_command", command="{command}", description="x"),
        failed={"tool_response": {"llmContent": f"<untrusted_context>\nOutput: {ERROR}\nExit Code: 3\n"}},
        files_event="post_tool_use",
        env={"GEMINI_SESSION_ID": "s"},
    ),
    "droid": Events(
        common={"transcript_path": "{home}/.factory/sessions/-p/s.jsonl", "permission_mode": "auto-high"},
        prompt={"prompt": ASKS, "message_id": "m", "has_images": False},
        write=_tool_call("Create", file_path="{root}/{file}", content="x"),
        shell=_tool_call("Execute", command="{command}", riskLevel="low"),
        failed={},
        files_event="post_tool_use",
        env={"FACTORY_PROJECT_DIR": "/p"},
    ),
    "opencode": Events(
        common={"transcript_path": "", "attended": True},
        prompt={"prompt": f'"{ASKS}"'},
        write=_tool_call("edit", filePath="{root}/{file}"),
        shell=_tool_call("bash", command="{command}", description="x"),
        failed={"tool_response": {"title": "x", "output": ERROR, "metadata": {"exit": 3}}},
        files_event="post_tool_use",
    ),
    "pi": Events(
        common={"transcript_path": "{home}/.pi/agent/sessions/--p--/s.jsonl", "attended": False},
        prompt={"prompt": ASKS},
        write=_tool_call("write", path="{file}", content="x"),
        shell=_tool_call("bash", command="{command}"),
        failed={
            "tool_response": [{"type": "text", "text": f"{ERROR}\n\nCommand exited with code 3"}],
            "is_error": True,
        },
        files_event="post_tool_use",
    ),
    "cline": Events(
        common={"session_file": "s", "attended": False},
        prompt={"prompt": f'<user_input mode="act">{ASKS}</user_input>'},
        write=_tool_call("editor", path="{root}/{file}"),
        shell=_tool_call("run_commands", commands=["true", "{command}"]),
        failed={
            "tool_response": [
                {"query": "x", "result": f"{ERROR}\n[Command exited with code 3]", "success": False, "error": "x"}
            ]
        },
    ),
}


def tools(host: str) -> list[str]:
    """Return the names of a host's tools that write files and run commands."""
    return [HOSTS[host].shell["tool_name"], HOSTS[host].write["tool_name"]]


def filled(fields: dict[str, Any], root: str, home: str, file: str = "", command: str = "") -> dict[str, Any]:
    """Return fields with what the names in braces stand for."""
    text = json.dumps(fields)
    for name, value in (("root", root), ("home", home), ("file", file), ("command", command)):
        text = text.replace("{" + name + "}", json.dumps(value)[1:-1])
    result: dict[str, Any] = json.loads(text)
    return result
