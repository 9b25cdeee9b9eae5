"""Entries of the session files of each host: which messages each of them has, with every field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onrecord.hosts import codex, opencode, table
from onrecord.session.transcript import Message

AT = "2026-11-16T02:03:49.213Z"
CONTEXT = '<memory-context source="x">rule</memory-context>'
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n same\n-old line\n+new line\n+another"


def text(role: str, words: str, name: str = "", at: str = "", session: str = "") -> Message:
    return Message(role, "text", words, name, {}, at, session)


def call(tool: str, **fields: Any) -> Message:
    return Message("assistant", "tool_use", "", tool, fields)


def result(output: str, name: str = "") -> Message:
    return Message("user", "tool_result", output, name)


def context(words: str) -> Message:
    return Message("system", "context", words)


def claude_code(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    about = {"type": kind, "timestamp": AT, "uuid": "u", "sessionId": "s"}
    return {**about, "message": {"role": kind, "content": content}, **more}


def attached(kind: str, content: Any) -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": kind, "content": content}}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    payload = {"type": "item_completed", "item": {"type": kind, "id": "u", **fields}}
    return {"timestamp": AT, "type": "event_msg", "payload": payload}


def response_item(role: str, words: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": words}]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


def copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "u", "timestamp": AT}


def qwen_entry(kind: str, *parts: Any, provenance: str = "", **more: Any) -> dict[str, Any]:
    about = {"uuid": "u", "timestamp": AT, "type": kind, "provenance": provenance}
    return {**about, "message": {"role": "user", "parts": list(parts)}, **more}


def response(**fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"response": fields}}


def gemini(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": "u", "timestamp": AT, "type": kind, "content": content, **more}


def gemini_call(name: str, *outputs: str, status: str = "success", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "status": status, "result": [response(output=output) for output in outputs]}


def message(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    """Return an entry of Droid or pi."""
    return {"type": "message", "id": "u", "timestamp": AT, "message": {"role": role, "content": list(content), **more}}


def part(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def cline(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"id": "u", "role": role, "content": list(content), "ts": 1_794_797_096_008, **more}


def row(role: str, **fields: Any) -> tuple[str, str, int]:
    """Return a row of OpenCode's database."""
    return json.dumps({"role": role}), json.dumps({"id": "p", **fields}), 1_794_797_096_008


def tool(name: str, **state: Any) -> tuple[str, str, int]:
    return row("assistant", type="tool", tool=name, state=state)


HOOKED = json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": CONTEXT}})
ENTRIES: dict[str, list[tuple[Any, list[Message]]]] = {
    "claude-code": [
        (claude_code("user", "hi"), [text("user", "hi", "u", AT, "s")]),
        (claude_code("human", [part("hi"), part("ho")]), [text("user", w, "u", AT, "s") for w in ("hi", "ho")]),
        (claude_code("assistant", "done"), [text("assistant", "done", "u", AT, "s")]),
        (claude_code("user", [part("<ide_opened_file>a.py</ide_opened_file>"), part("hi")]),
         [text("user", "hi", "u", AT, "s")]),
        (claude_code("user", "hi", isMeta=True), []),
        (claude_code("user", "hi", isSidechain=True), []),
        (claude_code("system", "hi"), []),
        (claude_code("assistant", [{"type": "tool_use", "name": "Read", "input": {"file_path": "a"}}]),
         [call("Read", file_path="a")]),
        (claude_code("assistant", [{"type": "tool_use", "name": "", "input": {"file_path": "a"}}]), []),
        (claude_code("assistant", [{"type": "thinking", "name": "Read", "text": "hm"}]), []),
        (claude_code("user", [{"type": "tool_result", "content": [part("a"), part("b")]}]), [result("a\nb")]),
        (claude_code("user", [{"type": "tool_result", "content": "no", "is_error": True}]), [result("no", "error")]),
        (attached("hook_additional_context", [CONTEXT, 7, "b"]), [context(CONTEXT), context("b")]),
        (attached("hook_additional_context", CONTEXT), [context(CONTEXT)]),
        (attached("hook_success", [CONTEXT]), []),
    ],
    "codex": [
        (item("UserMessage", content=[part("hi")]), [text("user", "hi", "u", AT)]),
        (item("AgentMessage", content=[part("done")]), [text("assistant", "done")]),
        (item("Reasoning", content=[part("hm")]), []),
        (item("CommandExecution", command=["bash", "-lc", "make"], aggregated_output="ok", exit_code=0),
         [call("Bash", command="make"), result("ok")]),
        (item("CommandExecution", command=[], aggregated_output="no", exit_code=1),
         [call("Bash", command=""), result("no", "error")]),
        (item("FileChange", status="completed", changes={"/p/a": {"type": "add", "content": "x"}}),
         [call("Edit", file_path="/p/a", content="x"), result("")]),
        (item("FileChange", status="failed", changes={"/p/a.py": {"type": "update", "unified_diff": DIFF}}),
         [call("Edit", file_path="/p/a.py", old_string="old line", new_string="new line\nanother"),
          result("", "error")]),
        (response_item("developer", f"{CONTEXT}"), [context(CONTEXT)]),
        (response_item("developer", "rules of the host"), []),
        (response_item("user", f'{CONTEXT} a "developer"'), []),
        ({**item("UserMessage", content=[part("hi")]), "payload": {"type": "item_started"}}, []),
    ],
    "copilot": [
        (copilot("user.message", content="hi"), [text("user", "hi", "u", AT)]),
        (copilot("assistant.message", content="done"), [text("assistant", "done")]),
        (copilot("system.message", content="You are Copilot."), []),
        *((copilot("tool.execution_start", toolName=own, arguments={"path": "/p/a"}),
           [call(name, path="/p/a", file_path="/p/a", **texts)])
          for own, name, texts in (("view", "Read", {}), *((own, "Edit", {"old_string": "", "new_string": ""})
                                                           for own in ("edit", "create", "str_replace")))),
        *((copilot("tool.execution_start", toolName=own, arguments={"command": "make"}), [call(name, command="make")])
          for own, name in (("bash", "Bash"), ("powershell", "PowerShell"), ("rg", "rg"))),
        (copilot("tool.execution_start", toolName="apply_patch",
                 arguments={"input": "*** Begin Patch\n*** Update File: /p/a\n-x\n+y\n*** End Patch"}),
         [call("Edit", input="*** Begin Patch\n*** Update File: /p/a\n-x\n+y\n*** End Patch", old_string="x",
               new_string="y", file_path="/p/a")]),
        (copilot("tool.execution_complete", shellExecution={"exitCode": 0}, success=True,
                 result={"content": "short", "detailedContent": "long"}), [result("long")]),
        (copilot("tool.execution_complete", shellExecution={"exitCode": 3}, success=True, result={"content": "no"}),
         [result("no", "error")]),
        (copilot("tool.execution_complete", success=False, result={"content": "no"}), [result("no", "error")]),
        (copilot("tool.execution_complete", result={"content": "ok"}), [result("ok")]),
        (copilot("hook.end", output={"additionalContext": CONTEXT}), [context(CONTEXT)]),
        (copilot("hook.end", output={}), []),
        (copilot("hook.start", output={"additionalContext": CONTEXT}), []),
    ],
    "qwen": [
        (qwen_entry("user", part("hi"), part("ho"), provenance="real_user"), [text("user", "hi\nho", "u", AT)]),
        (qwen_entry("user", part("hi ho"), provenance="real_user",
                    systemPayload={"displayText": "hi", "hookContext": CONTEXT}),
         [text("user", "hi", "u", AT), context(CONTEXT)]),
        (qwen_entry("user", part("hi"), provenance="tool"), []),
        (qwen_entry("system", part("hi"), provenance="real_user"), []),
        (qwen_entry("assistant", {"text": "hm", "thought": True}, {"text": "done"}), [text("assistant", "done")]),
        (qwen_entry("assistant", {"functionCall": {"name": "read_file", "args": {"absolute_path": "/p/a"}}}),
         [call("Read", absolute_path="/p/a", file_path="/p/a")]),
        (qwen_entry("assistant", {"functionCall": {"name": "", "args": {"absolute_path": "/p/a"}}}), []),
        (qwen_entry("tool_result", response(output="ok", error="x"), toolCallResult={"status": "success"}),
         [result("ok")]),
        (qwen_entry("tool_result", response(error="no"), toolCallResult={"status": "error"}), [result("no", "error")]),
        (qwen_entry("tool_result", response(output="no"), toolCallResult={"resultDisplay": {"exitCode": 3}}),
         [result("no", "error")]),
        (qwen_entry("tool_result", response(output="ok"), toolCallResult={"resultDisplay": {"exitCode": 0}}),
         [result("ok")]),
        (qwen_entry("tool_result", response()), []),
    ],
    "gemini": [
        (gemini("user", [part("hi"), part(f"<hook_context>{CONTEXT}</hook_context>")]),
         [context(CONTEXT), text("user", "hi", "u", AT)]),
        (gemini("user", [part("hi")]), [text("user", "hi", "u", AT)]),
        (gemini("gemini", "done"), [text("assistant", "done")]),
        (gemini("info", "Update available", toolCalls=[gemini_call("read_file", "x")]), []),
        (gemini("gemini", "", toolCalls=[7, gemini_call("run_shell_command", "a", "Exit Code: 0", command="make")]),
         [call("Bash", command="make"), result("a\nExit Code: 0")]),
        (gemini("gemini", "", toolCalls=[gemini_call("run_shell_command", "Exit Code: 3", command="make")]),
         [call("Bash", command="make"), result("Exit Code: 3", "error")]),
        (gemini("gemini", "", toolCalls=[gemini_call("glob", "no", status="error", pattern="*")]),
         [call("glob", pattern="*"), result("no", "error")]),
    ],
    "droid": [
        (message("user", part("hi")), [text("user", "hi", "u", AT)]),
        (message("assistant", part("done")), [text("assistant", "done", "u", AT)]),
        (message("system", part("You are Droid.")), []),
        ({**message("user", part("hi")), "id": "context-1"}, []),
        ({**message("user", part("hi")), "type": "todo_state"}, []),
        (message("assistant", {"type": "tool_use", "name": "Execute", "input": {"command": "make"}}),
         [call("Bash", command="make")]),
        (message("user", {"type": "tool_result", "content": "ok"}), [result("ok")]),
        (message("user", {"type": "tool_result", "content": "no", "is_error": True}), [result("no", "error")]),
        (message("user", visibility="user_only", hookResults=[7, {"stdout": "no JSON"}, {"stdout": HOOKED}]),
         [context(CONTEXT)]),
        (message("user", part("hi"), visibility="user_only"), []),
    ],
    "pi": [
        (message("user", part("hi")), [text("user", "hi", "u", AT)]),
        (message("assistant", part("done"), {"type": "toolCall", "name": "bash", "arguments": {"command": "make"}}),
         [text("assistant", "done", "u", AT), call("Bash", command="make")]),
        (message("assistant", {"type": "thinking", "name": "bash", "arguments": {"command": "make"}}), []),
        (message("system", part("hi")), []),
        ({**message("user", part("hi")), "type": "compaction"}, []),
        (message("toolResult", part("ok")), [result("ok")]),
        (message("toolResult", part("no"), isError=True), [result("no", "error")]),
        ({**message("toolResult", part("no")), "type": "branch"}, []),
        ({"type": "custom_message", "content": CONTEXT}, [context(CONTEXT)]),
    ],
    "cline": [
        (cline("user", part('<user_input mode="act">hi</user_input>')),
         [text("user", "hi", "u", "2026-11-16T02:44:56Z")]),
        (cline("assistant", part("done")), [text("assistant", "done", "u", "2026-11-16T02:44:56Z")]),
        (cline("system", part("You are Cline.")), []),
        (cline("user", part(CONTEXT), {"type": "image"}, metadata={"displayRole": "system"}), [context(CONTEXT)]),
        (cline("assistant", {"type": "tool_use", "name": "run_commands",
                             "input": {"commands": ["make", {"command": "test"}]}}),
         [call("Bash", commands=["make", {"command": "test"}], command="make\ntest")]),
        (cline("assistant", {"type": "tool_use", "name": "read_files", "input": {"files": ["/p/a", {"path": "/p/b"}]}}),
         [call("Read", files=["/p/a", {"path": "/p/b"}], file_path=file) for file in ("/p/a", "/p/b")]),
        (cline("user", {"type": "tool_result", "content": [part("ok")]}), [result("ok")]),
        (cline("user", {"type": "tool_result", "content": "no", "is_error": True}), [result("no", "error")]),
    ],
    "opencode": [
        (row("user", type="text", text='"hi"'), [text("user", "hi", "p", "2026-11-16T02:44:56Z")]),
        (row("assistant", type="text", text='"done"'), [text("assistant", '"done"', "p", "2026-11-16T02:44:56Z")]),
        (row("system", type="text", text="hi"), []),
        (row("assistant", type="reasoning", text="hm"), []),
        (row("user", type="text", text=CONTEXT, synthetic=True), [context(CONTEXT)]),
        (tool("bash", input={"command": "make"}, status="completed", output="ok", metadata={"exit": 0}),
         [call("Bash", command="make"), result("ok")]),
        (tool("bash", input={"command": "make"}, status="completed", output="no", metadata={"exit": 2}),
         [call("Bash", command="make"), result("no", "error")]),
        (tool("read", input={"filePath": "/p/a"}, status="error", error="no such file"),
         [call("Read", filePath="/p/a", file_path="/p/a"), result("no such file", "error")]),
    ],
}  # fmt: skip
"""Entries as the hosts write them, and the messages in each."""


@pytest.mark.parametrize("host", list(ENTRIES))
def test_each_entry_of_a_session_has_its_messages(host: str):
    read = table.transcript(host, "x").format.messages
    is_line = host not in ("gemini", "cline", "opencode")

    for entry, messages in ENTRIES[host]:
        raw_entry = json.dumps(entry, separators=(",", ":")).encode() if is_line else entry
        assert list(read(raw_entry)) == messages, entry


def test_every_host_has_entries_to_be_tested_with():
    assert sorted(ENTRIES) == sorted(table.BY_NAME)


def test_fifty_files_of_a_change_in_codex_are_read():
    changes = {f"/p/{number}": {"type": "add", "content": "x"} for number in range(51)}
    line = json.dumps(item("FileChange", changes=changes), separators=(",", ":")).encode()

    calls = [message for message in codex.messages(line) if message.kind == "tool_use"]

    assert [call.input["file_path"] for call in calls] == [f"/p/{number}" for number in range(50)]


def test_a_hundred_commands_of_one_call_in_cline_are_read():
    commands = [f"run {number}" for number in range(101)]
    entry = cline("assistant", {"type": "tool_use", "name": "run_commands", "input": {"commands": commands}})

    (shell,) = table.transcript("cline", "x").format.messages(entry)

    assert shell.input["command"].split("\n") == commands[:100]


@pytest.mark.parametrize(
    ("host", "entry", "is_typed"),
    [
        ("claude-code", claude_code("user", "hi"), True),
        ("claude-code", claude_code("human", "hi"), True),
        ("claude-code", claude_code("assistant", "hi"), False),
        ("claude-code", claude_code("user", [{"type": "tool_result", "content": "x"}]), False),
        ("codex", item("UserMessage", content=[part("hi")]), True),
        ("codex", item("AgentMessage", content=[part("hi")]), False),
        ("copilot", copilot("user.message", content="hi"), True),
        ("copilot", copilot("assistant.message", content="hi"), False),
        ("qwen", qwen_entry("user", part("hi"), provenance="real_user"), True),
        ("qwen", qwen_entry("user", part("hi"), provenance="tool"), False),
        ("droid", message("user", part("hi")), True),
        ("droid", message("user", {"type": "tool_result", "content": "x"}), False),
        ("droid", message("assistant", part("hi")), False),
        ("pi", message("user", part("hi")), True),
        ("pi", message("assistant", part("hi")), False),
    ],
)
def test_a_line_that_no_person_typed_is_known_before_it_is_parsed(host: str, entry: Any, is_typed: bool):
    line = json.dumps(entry, separators=(",", ":")).encode()

    assert table.transcript(host, "x").format.may_be_typed(line) is is_typed


def test_the_session_of_an_id_with_a_number_sign_is_in_no_database():
    assert opencode._session("a#b") == ""
    assert opencode._session("") == ""
    assert opencode._session("a").endswith("/opencode.db#a")
