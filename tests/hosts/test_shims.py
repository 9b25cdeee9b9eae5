"""Our plugins for OpenCode, pi and Cline, run by Node against a launcher that records and answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths
from onrecord.hosts import host_files

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(not NODE or sys.platform == "win32", reason="needs Node")

LAUNCHER = """#!/bin/sh
cat > "$RECORDS/$$.json"
printf '{"event":"%s","host":"%s","input":%s}\\n' "$1" "$2" "$(cat "$RECORDS/$$.json")" >> "$RECORDS/events"
rm "$RECORDS/$$.json"
cat "$RECORDS/$1" 2>/dev/null
"""
"""Writes down what it is asked, and answers with a file named after the event."""

OPENCODE = """
const { Onrecord } = await import(process.argv[2])
const sent = []
const client = { session: {
  get: async ({ path }) => ({ data: { parentID: path.id === "child" ? "parent" : undefined } }),
  promptAsync: async (message) => sent.push(message),
} }
const hooks = await Onrecord({ directory: "/p", client })
const typed = { type: "text", text: "typed" }
const output = { message: { id: "m" }, parts: [typed, { ...typed, text: "not typed", synthetic: true }] }
await hooks["chat.message"]({ sessionID: "s" }, output)
await hooks["chat.message"]({ sessionID: "child" }, { message: { id: "n" }, parts: [] })
let denied = ""
const call = { tool: "write", sessionID: "s" }
await hooks["tool.execute.before"](call, { args: { filePath: "/p/x" } }).catch((e) => (denied = e.message))
const result = { title: "t", output: "printed", metadata: { exit: 3 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", args: { command: "make" } }, result)
await hooks["experimental.session.compacting"]({ sessionID: "s" })
for (const type of ["session.compacted", "session.idle", "session.idle", "other"])
  await hooks.event({ event: { type, properties: { sessionID: "s" } } })
const { text: added, synthetic } = output.parts[2] ?? {}
const broken = await Onrecord({ directory: "/p", client: undefined })
for (const name of Object.keys(broken)) await broken[name](undefined, undefined)
console.log(JSON.stringify({ added, synthetic, denied, output: result.output, sent }))
"""
PI = """
const { default: extension } = await import(process.argv[2])
const handlers = {}
extension({ on: (event, handle) => (handlers[event] = handle) })
const sessionManager = { getSessionId: () => "s", getSessionFile: () => "/f.jsonl" }
const context = { cwd: "/p", hasUI: true, sessionManager }
const start = await handlers.before_agent_start({ prompt: "typed" }, context)
const call = await handlers.tool_call({ toolName: "write", input: { path: "x" } }, context)
const content = [{ type: "text", text: "printed" }]
const done = { toolName: "bash", input: { command: "make" }, content, isError: true }
const result = await handlers.tool_result(done, context)
const circle = {}; circle.self = circle
const odd = await handlers.tool_call({ toolName: "write", input: circle }, context)
const none = await handlers.tool_call(undefined, undefined)
for (const event of ["agent_end", "session_before_compact", "session_compact", "session_shutdown"])
  await handlers[event]({}, context)
for (const reason of ["startup", "new"]) await handlers.session_start({ reason }, context)
console.log(JSON.stringify({ start, call, result, odd: odd ?? null, none: none ?? null }))
"""
CLINE = """
const { default: plugin } = await import(process.argv[2])
plugin.setup({}, { workspaceInfo: { rootPath: "/p" }, session: { sessionId: "17_a" } })
const typed = { type: "text", text: "<user_input mode=\\"act\\">typed</user_input>" }
const messages = [{ role: "user", content: [typed] }, { role: "assistant", content: [] }]
const snapshot = { conversationId: "s", messages }
const run = await plugin.hooks.beforeRun({ snapshot })
const before = await plugin.hooks.beforeTool({ snapshot, tool: { name: "editor" }, input: { path: "x" } })
const call = { snapshot, tool: { name: "run_commands" }, input: { commands: ["make"] } }
const after = await plugin.hooks.afterTool({ ...call, result: { output: [{ success: false }] } })
const odd = await plugin.hooks.beforeTool({})
await plugin.hooks.afterRun({ snapshot })
console.log(JSON.stringify({ run, before, after, odd: odd ?? null }))
"""


class Host:
    """A host that has one of our plugins, and a launcher in place of ours."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, shim: str, script: str) -> None:
        self.folder, self.script = folder, script
        self.records = folder / "records"
        self.records.mkdir()
        self.launcher = folder / 'it\'s a "place"' / "launch"
        self.launcher.parent.mkdir()
        self.launcher.write_text(LAUNCHER)
        monkeypatch.setattr(paths, "launcher", lambda: str(self.launcher))
        # Node 20 reads no TypeScript; ours is JavaScript that any reader of TypeScript takes.
        self.plugin = folder / f"{Path(shim).stem}.mjs"
        self.plugin.write_text(host_files.shim_text(shim))

    def answers(self, event: str, **answer: str) -> None:
        (self.records / event).write_text(json.dumps(answer))

    def run(self) -> Any:
        (self.folder / "host.mjs").write_text(self.script)
        env = {"RECORDS": str(self.records), "PATH": os.environ["PATH"]}
        command = [str(NODE), str(self.folder / "host.mjs"), str(self.plugin)]
        process = subprocess.run(command, env=env, capture_output=True, timeout=60, check=False)
        assert (process.returncode, process.stderr) == (0, b"")
        return json.loads(process.stdout)

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        lines = (self.records / "events").read_text().splitlines()
        return [(entry["event"], entry["input"]) for entry in map(json.loads, lines)]


def test_opencode(tmp_path, monkeypatch):
    host = Host(tmp_path, monkeypatch, "opencode.js", OPENCODE)
    host.answers("user_prompt_submit", add="RULE")
    host.answers("pre_tool_use", deny="not by hand")
    host.answers("post_tool_use", add="RUNBOOK")
    host.answers("stop", **{"continue": "save it?"})

    outcome = host.run()

    assert (outcome["added"], outcome["synthetic"], outcome["denied"]) == ("RULE", True, "not by hand")
    assert outcome["output"] == "printed\n\nRUNBOOK"
    assert outcome["sent"][0] == {"path": {"id": "s"}, "body": {"parts": [{"type": "text", "text": "save it?"}]}}
    common = {"session_id": "s", "cwd": "/p", "transcript_path": "", "attended": True}
    assert host.events == [
        ("user_prompt_submit", {**common, "prompt": "typed"}),
        ("user_prompt_submit", {**common, "session_id": "child", "agent_id": "child", "prompt": ""}),
        ("pre_tool_use", {**common, "tool_name": "write", "tool_input": {"filePath": "/p/x"}}),
        ("post_tool_use", {**common, "tool_name": "bash", "tool_input": {"command": "make"},
                           "tool_response": {"title": "t", "output": "printed", "metadata": {"exit": 3}}}),
        ("pre_compact", common),
        ("session_start", {**common, "source": "compact"}),
        ("stop", {**common, "stop_hook_active": False}),
        ("stop", {**common, "stop_hook_active": True}),
    ]  # fmt: skip
    assert set(outcome) == {"added", "synthetic", "denied", "output", "sent"}


def test_pi(tmp_path, monkeypatch):
    host = Host(tmp_path, monkeypatch, "pi.ts", PI)
    host.answers("user_prompt_submit", add="RULE")
    host.answers("pre_tool_use", deny="not by hand")
    host.answers("post_tool_use", add="RUNBOOK")

    outcome = host.run()

    assert outcome["start"] == {"message": {"customType": "onrecord", "content": "RULE", "display": False}}
    assert outcome["call"] == {"block": True, "reason": "not by hand"}
    assert outcome["result"]["content"] == [{"type": "text", "text": text} for text in ("printed", "RUNBOOK")]
    assert (outcome["odd"], outcome["none"]) == (None, None)
    assert [event for event, _ in host.events] == [
        "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "pre_compact", "session_start", "session_end",
        "session_start",
    ]  # fmt: skip
    assert [fields["source"] for event, fields in host.events if event == "session_start"] == ["compact", "clear"]
    assert host.events[2][1] == {
        "session_id": "s", "cwd": "/p", "transcript_path": "/f.jsonl", "attended": True, "tool_name": "bash",
        "tool_input": {"command": "make"}, "is_error": True, "tool_response": [{"type": "text", "text": "printed"}],
    }  # fmt: skip


def test_cline(tmp_path, monkeypatch):
    host = Host(tmp_path, monkeypatch, "cline.js", CLINE)
    host.answers("user_prompt_submit", add="RULE")
    host.answers("pre_tool_use", deny="not by hand")
    host.answers("post_tool_use", add="RUNBOOK")

    outcome = host.run()

    assert outcome == {
        "run": {"appendContext": "RULE"},
        "before": {"skip": True, "reason": "not by hand"},
        "after": {"appendContext": "RUNBOOK"},
        "odd": None,
    }
    assert [event for event, _ in host.events] == ["user_prompt_submit", "pre_tool_use", "post_tool_use", "stop"]
    assert host.events[0][1]["prompt"] == '<user_input mode="act">typed</user_input>'
    assert host.events[2][1]["tool_response"] == [{"success": False}]
    assert {sent["session_file"] for _, sent in host.events} == {"17_a"}


BROKEN = {
    "it is gone": None,
    "it fails": "exit 3\n",
    "it prints no JSON": "echo '{broken'\n",
    "it prints null": "echo null\n",
    "it does not read its input": "exec <&-\nexit 0\n",
    "it prints without end": "yes '{'\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_whatever_the_hook_does_the_session_goes_on(name, tmp_path, monkeypatch):
    host = Host(tmp_path, monkeypatch, "pi.ts", PI)
    script = BROKEN[name]
    if script is None:
        host.launcher.unlink()
    else:
        host.launcher.write_text(script)

    assert host.run() == {"odd": None, "none": None}


def test_a_hook_that_hangs_costs_a_limited_time(tmp_path, monkeypatch):
    host = Host(tmp_path, monkeypatch, "cline.js", CLINE)
    host.launcher.write_text("sleep 60 &\nwait\n")
    host.plugin.write_text(host.plugin.read_text().replace("LIMIT = 5000", "LIMIT = 20"))

    assert host.run() == {"odd": None}


@pytest.mark.parametrize("shim", ["opencode.js", "pi.ts", "cline.js"])
def test_a_plugin_is_short(shim):
    text = host_files.shim_text(shim)
    shared = (Path(host_files.__file__).parent / "shims" / "ask.js").read_text()

    assert len(text.splitlines()) - len(shared.splitlines()) <= 65
    assert shared in text
    assert "{{" not in text
