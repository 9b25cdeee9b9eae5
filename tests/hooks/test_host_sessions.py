"""The session files of each host: messages, tool calls, and the project of the session.

The content is made up; the shapes are those of files that the real clients wrote.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord.capture import suggestions, triage
from onrecord.hosts import opencode, session_files, table
from onrecord.project import Project
from onrecord.session import transcript
from onrecord.session.transcript import Message, Transcript
from tests.hooks.hook_process import run_hook

AT = "2026-11-16T02:03:49.213Z"
PROMPT = "which job queue do we take?"
REPLY = "We take NATS."
DECIDED = "We decided to use NATS instead of Kafka for the job queue, because Kafka needs three brokers."
ERROR = "hello\nboom"
BLOCK = '<memory-context source=".claude/memory/">x</memory-context>'
ESCAPED = BLOCK.replace("<", "&lt;").replace(">", "&gt;")


def lines(*entries: dict[str, Any]) -> str:
    return "".join(json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n" for entry in entries)


def claude_code(root: str) -> str:
    def line(role: str, content: Any) -> dict[str, Any]:
        return {"type": role, "timestamp": AT, "uuid": "u", "cwd": root, "message": {"role": role, "content": content}}

    added = {"type": "hook_additional_context", "content": [BLOCK]}
    return lines(
        line("user", PROMPT),
        {"type": "attachment", "attachment": added},
        line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "make"}}]),
        line("user", [{"type": "tool_result", "content": ERROR, "is_error": True}]),
        line("assistant", [{"type": "tool_use", "name": "Edit", "input": {"file_path": "/p/a.py"}}]),
        line("assistant", [{"type": "text", "text": REPLY}]),
    )


def codex(root: str) -> str:
    def item(kind: str, **fields: Any) -> dict[str, Any]:
        payload = {"type": "item_completed", "item": {"type": kind, "id": "u", **fields}}
        return {"timestamp": AT, "type": "event_msg", "payload": payload}

    def beside(role: str, text: str) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
        return {"timestamp": AT, "type": "response_item", "payload": payload}

    return lines(
        {"timestamp": AT, "type": "session_meta", "payload": {"cwd": root, "source": "cli"}},
        beside("user", "<environment_context>x</environment_context>"),
        beside("user", PROMPT),
        item("UserMessage", content=[{"type": "text", "text": PROMPT}]),
        beside("developer", BLOCK),
        beside("developer", "<skills_instructions>x</skills_instructions>"),
        item("CommandExecution", command=["bash", "-lc", "make"], aggregated_output=ERROR, exit_code=3),
        item("FileChange", changes={"/p/a.py": {"type": "update"}}, status="completed"),
        item("AgentMessage", content=[{"type": "Text", "text": REPLY}]),
        beside("assistant", REPLY),
        item("HookPrompt", fragments=[{"text": "save it"}]),
    )


def copilot(root: str) -> str:
    def line(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": "u", "timestamp": AT, "parentId": None}

    return lines(
        line("session.start", context={"cwd": root}),
        line("user.message", content=PROMPT, transformedContent=f"{PROMPT}\n<system_reminder>x</system_reminder>"),
        line("hook.end", hookType="userPromptSubmitted", output={"additionalContext": BLOCK}),
        line("system.message", role="system", content="You are Copilot."),
        line("assistant.message", content="", toolRequests=[{"name": "bash", "arguments": {"command": "make"}}]),
        line("tool.execution_start", toolName="bash", arguments={"command": "make", "description": "x"}),
        line("tool.execution_complete", shellExecution={"exitCode": 3}, success=True, result={"content": ERROR}),
        line("tool.execution_start", toolName="edit", arguments={"path": "/p/a.py", "old_str": "a"}),
        line("assistant.message", content=REPLY, toolRequests=[]),
    )


def qwen(root: str) -> str:
    def line(kind: str, provenance: str, parts: list[Any], **more: Any) -> dict[str, Any]:
        about = {"uuid": "u", "timestamp": AT, "type": kind, "provenance": provenance, "cwd": root}
        return {**about, "message": {"role": "user", "parts": parts}, **more}

    def call(name: str, **args: Any) -> dict[str, Any]:
        return {"functionCall": {"id": "c", "name": name, "args": args}}

    added = f"<qwen:user-prompt-submit-context>\n{ESCAPED}\n</qwen:user-prompt-submit-context>"
    result = {"functionResponse": {"name": "run_shell_command", "response": {"output": ERROR}}}
    outcome, thought = {"status": "success", "resultDisplay": {"exitCode": 3}}, {"text": "hm", "thought": True}
    return lines(
        line("user", "real_user", [{"text": PROMPT}, {"text": added}], systemPayload={"hookContext": ESCAPED}),
        line("system", "system", []),
        line(
            "assistant",
            "assistant_output",
            [thought, call("run_shell_command", command="make")],
        ),
        line("tool_result", "tool_result", [result], toolCallResult=outcome),
        line("assistant", "assistant_output", [call("edit", file_path="/p/a.py")]),
        line("assistant", "assistant_output", [{"text": REPLY}]),
    )


def gemini(root: str) -> str:
    def line(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"id": name, "timestamp": AT, "type": kind, "content": content, **more}

    def call(name: str, output: str, **args: Any) -> dict[str, Any]:
        response = {"functionResponse": {"response": {"output": output}}}
        return {"name": name, "args": args, "result": [response], "status": "success"}

    context = f"<session_context>\n- **Workspace Directories:**\n  - {root}\n- more\n</session_context>"
    shell = call("run_shell_command", f"{ERROR}\nExit Code: 3", command="make")
    prompt = [{"text": PROMPT}, {"text": f"<hook_context>{ESCAPED}</hook_context>"}]
    return lines(
        {"sessionId": "s", "kind": "main"},
        {"$set": {"messages": [line("0", "user", [{"text": context}])]}},
        line("1", "user", prompt, displayContent=[{"text": PROMPT}]),
        {"$set": {"lastUpdated": AT}},
        line("2", "gemini", ""),
        line("2", "gemini", "", toolCalls=[shell]),
        line("3", "user", [{"functionResponse": {"response": {"output": ERROR}}}]),
        line("4", "gemini", "", toolCalls=[call("replace", "ok", file_path="/p/a.py")]),
        line("5", "gemini", REPLY),
    )


def droid(root: str) -> str:
    def line(role: str, content: list[Any], name: str = "u", **more: Any) -> dict[str, Any]:
        return {"type": "message", "id": name, "timestamp": AT, "message": {"role": role, "content": content, **more}}

    printed = json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": BLOCK}})
    hook = {"hookEventName": "UserPromptSubmit", "hookResults": [{"exitCode": 0, "stdout": printed}]}
    return lines(
        {"type": "session_start", "id": "s", "title": PROMPT, "cwd": root},
        line("user", [{"type": "text", "text": "which tools there are"}], "context-1"),
        line("user", [{"type": "text", "text": PROMPT}]),
        line("user", [], visibility="user_only", **hook),
        line("assistant", [{"type": "tool_use", "id": "c", "name": "Execute", "input": {"command": "make"}}]),
        line("user", [{"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": ERROR}]),
        line("assistant", [{"type": "tool_use", "id": "d", "name": "Create", "input": {"file_path": "/p/a.py"}}]),
        line("assistant", [{"type": "text", "text": REPLY}]),
    )


def pi(root: str) -> str:
    def line(role: str, content: list[Any], **more: Any) -> dict[str, Any]:
        return {"type": "message", "id": "u", "timestamp": AT, "message": {"role": role, "content": content, **more}}

    def call(name: str, **arguments: Any) -> list[Any]:
        return [{"type": "toolCall", "id": "c", "name": name, "arguments": arguments}]

    return lines(
        {"type": "session", "version": 3, "id": "s", "timestamp": AT, "cwd": root},
        line("system", []),
        line("user", [{"type": "text", "text": PROMPT}]),
        {"type": "custom_message", "customType": "onrecord", "content": BLOCK, "display": False, "id": "x"},
        line("assistant", call("bash", command="make")),
        line("toolResult", [{"type": "text", "text": ERROR}], isError=True),
        line("assistant", call("edit", path="/p/a.py")),
        line("assistant", [{"type": "text", "text": REPLY}]),
    )


def cline(root: str) -> str:
    def message(role: str, *content: Any, **more: Any) -> dict[str, Any]:
        return {"id": "u", "role": role, "content": list(content), "ts": 1794797096008, **more}

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    added = f'<hook_context source="RunStart">\n{BLOCK}\n</hook_context>'
    session = [
        message("user", text(f'<user_input mode="act">{PROMPT}</user_input>')),
        message("user", text(added), metadata={"displayRole": "system"}),
        message("assistant", {"type": "tool_use", "name": "run_commands", "input": {"commands": ["make"]}}),
        message("user", {"type": "tool_result", "content": ERROR, "is_error": True}),
        message("assistant", {"type": "tool_use", "name": "editor", "input": {"path": "/p/a.py"}}),
        message("assistant", text(REPLY)),
    ]
    about = f"Environment:\n4. Working Directory: {root}\n"
    return json.dumps({"version": 1, "messages": session, "system_prompt": about}, indent=2, ensure_ascii=False)


PLACES: dict[str, tuple[Callable[[str], str], str]] = {
    "claude-code": (claude_code, ".claude/projects/{mangled}/s.jsonl"),
    "codex": (codex, ".codex/sessions/2026/11/16/rollout-2026-11-16T02-03-48-s.jsonl"),
    "copilot": (copilot, ".copilot/session-state/s/events.jsonl"),
    "qwen": (qwen, ".qwen/projects/-p/chats/s.jsonl"),
    "gemini": (gemini, ".gemini/tmp/p/chats/session-2026-s.jsonl"),
    "droid": (droid, ".factory/sessions/-p/s.jsonl"),
    "pi": (pi, ".pi/agent/sessions/--p--/2026_s.jsonl"),
    "cline": (cline, ".cline/data/sessions/s/s.messages.json"),
}
FILES = list(PLACES)


def keep(name: str, home: Path, root: str) -> Transcript:
    """Write a session of a host where the host has it."""
    from onrecord.hosts.claude_code import mangled

    make, path_pattern = PLACES[name]
    path = home / path_pattern.replace("{mangled}", mangled(root))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(make(root), encoding="utf-8")
    return table.transcript(name, str(path))


def database(home: Path, root: str) -> Path:
    """OpenCode's sessions."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    moment = 1794797096008
    tool = {"type": "tool", "tool": "bash"}
    shell = {"status": "completed", "input": {"command": "make"}, "output": ERROR, "metadata": {"exit": 3}}
    edit = {"status": "completed", "input": {"filePath": "/p/a.py"}, "output": "ok"}
    parts = [
        ("user", {"type": "text", "text": f'"{PROMPT}"'}),
        ("user", {"type": "text", "text": BLOCK, "synthetic": True}),
        ("assistant", {**tool, "state": shell}),
        ("assistant", {"type": "tool", "tool": "edit", "state": edit}),
        ("assistant", {"type": "text", "text": REPLY}),
    ]
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE session (id, directory, time_updated, parent_id);"
            "CREATE TABLE message (id, session_id, data);"
            "CREATE TABLE part (id, message_id, session_id, time_created, data);"
        )
        rows = "('s', ?, 1, NULL), ('other', ?, 2, NULL), ('of a subagent', ?, 3, 's')"
        connection.execute(f"INSERT INTO session VALUES {rows}", (root, root + "-two", root))
        for number, (role, part) in enumerate(parts):
            connection.execute("INSERT INTO message VALUES (?, 's', ?)", (number, json.dumps({"role": role})))
            row = (number, number, moment + number, json.dumps(part))
            connection.execute("INSERT INTO part VALUES (?, ?, 's', ?, ?)", row)
    connection.close()
    return path


@pytest.fixture(params=[*FILES, "opencode"])
def session(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Transcript:
    if request.param == "opencode":
        return table.transcript("opencode", f"{database(home, str(tmp_path))}#s")
    return keep(request.param, home, str(tmp_path))


def test_every_host_with_sessions_is_read():
    assert {host.name for host in table.HOSTS} == {*FILES, "opencode"}


def _summary(message: Message) -> tuple[str, str]:
    doing = message.input.get("command") or message.input.get("file_path") or ""
    return message.kind, f"{message.name} {doing}" if message.kind == "tool_use" else message.text


def test_what_was_said_and_done_is_read_in_order(session: Transcript):
    messages = transcript.read_messages(session)
    failure = next(message for message in messages if message.kind == "tool_result")

    assert [_summary(message) for message in messages if message.kind != "tool_result"] == [
        ("text", PROMPT),
        ("tool_use", "Bash make"),
        ("tool_use", "Edit /p/a.py"),
        ("text", REPLY),
    ]
    assert (failure.name, ERROR in failure.text) == ("error", True)


def test_what_a_hook_added_is_known_as_such(session: Transcript):
    added = [message.text for message in transcript.read_messages(session, contexts=True) if message.kind == "context"]

    assert len(added) == 1
    assert BLOCK in added[0]
    assert "memory-context" not in "".join(message.text for message in transcript.read_messages(session))


@pytest.mark.parametrize("block", [BLOCK, ESCAPED, f"<hook_context>{ESCAPED}</hook_context>"])
def test_what_a_hook_added_to_a_result_is_told_apart_from_it(block: str):
    read = list(transcript.tool_results(f"{ERROR}\n\n{block}", has_failed=True))

    assert [(message.kind, message.text) for message in read] == [("tool_result", ERROR), ("context", BLOCK)]
    assert [message.text for message in transcript.tool_results("a <memory-context", has_failed=False)] == [
        "a <memory-context"
    ]


def test_our_own_request_to_save_is_no_prompt():
    finding = triage.best_candidates(transcript.Ending([Message("user", "text", DECIDED)], is_whole=True))[0]
    request = suggestions.note(finding, "memory:save")

    assert list(transcript.text_messages("user", request)) == []
    assert transcript.wants_silence(request)


def test_the_last_turns_and_the_first_prompt_are_those_of_people(session: Transcript):
    assert transcript.last_prompt(session) == PROMPT
    assert transcript.first_prompt(session) == PROMPT
    assert transcript.last_turns(session, 2) == [f"User: {PROMPT}", f"Assistant: {REPLY}"]
    assert transcript.read_ending(session, 50).is_whole


def test_a_session_has_a_name_and_its_prompts_a_time(session: Transcript):
    read = transcript.read_session(session)

    assert read.name.endswith("s")
    assert [(prompt.text, prompt.at[:4]) for prompt in read.prompts] == [(PROMPT, "2026")]


def test_the_id_that_hooks_get_is_known_from_the_file(session: Transcript):
    assert session.session_id == "s"
    assert table.transcript("gemini", "/nowhere/session-2026-s.jsonl").session_id == ""
    assert transcript.NO_SESSION.session_id == ""


@pytest.mark.parametrize("folder", ["ferry", "fähre"])
@pytest.mark.parametrize("name", [*FILES, "opencode"])
def test_the_sessions_of_a_project_are_found_and_no_others(name: str, folder: str, home: Path, tmp_path: Path):
    root = str(tmp_path / folder)
    session = f"{database(home, root)}#s" if name == "opencode" else keep(name, home, root).path

    assert [held.path for held in table.transcripts(root)] == [session]
    assert table.transcripts(str(tmp_path / folder[:3])) == []
    assert [table.recognise({"transcript_path": held.path}, {}).name for held in table.transcripts(root)] == [name]


def test_of_many_sessions_in_one_database_the_newest_are_read(home: Path, tmp_path: Path):
    """The time of the file is that of the last of them."""
    path = database(home, str(tmp_path))
    day = 86_400_000
    with sqlite3.connect(path) as connection:
        for number in range(3):
            milliseconds = 1794797096008 - number * day
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?, NULL)", (f"s{number}", str(tmp_path), milliseconds)
            )
            connection.execute(
                "INSERT INTO message VALUES (?, ?, ?)", (f"m{number}", f"s{number}", json.dumps({"role": "user"}))
            )
            part = json.dumps({"type": "text", "text": f"prompt {number}"})
            row = (f"p{number}", f"m{number}", f"s{number}", milliseconds, part)
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    connection.close()

    newest = transcript.recent_sessions(table.transcripts(str(tmp_path)), 1)

    assert [session.name for session in newest] == ["s0"]


def test_a_number_sign_in_a_path_is_no_session_in_a_database(tmp_path: Path):
    path = database(tmp_path / "a#b", "/p")
    session = opencode.transcript(f"{path}#s")

    assert transcript.last_prompt(session) == PROMPT
    assert [session_file.path for session_file, _ in transcript._newest_first([session])] == [session.path]


@pytest.mark.parametrize("name", FILES)
def test_a_link_a_pipe_and_a_folder_are_no_session(name: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    os.symlink("nowhere", tmp_path / "link")
    for path in ("pipe", "link", "", "none", "nul\0"):
        assert transcript.read_messages(table.transcript(name, str(tmp_path / path))) == []


@pytest.mark.parametrize("name", FILES)
def test_of_a_long_session_the_end_is_read(name: str, home: Path, tmp_path: Path):
    session = keep(name, home, str(tmp_path))
    if name == "cline":
        Path(session.path).write_text(json.dumps({"messages": [], "x": "x" * 5_000_000}))
        assert transcript.read_messages(session) == []
        return
    with open(session.path, "r+", encoding="utf-8") as file:
        text = file.read()
        file.seek(0)
        file.write("".join(lines({"type": "noise", "x": "x" * 1_000}) for _ in range(3_000)) + text)

    assert transcript.last_prompt(session) == PROMPT
    assert not transcript.read_ending(session, 50).is_whole


shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type message content role text name input payload item data id toolCalls args result parts"
                " functionCall functionResponse response state metadata $set messages command changes hookResults"
                " stdout ts".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


KINDS = [
    "user",
    "gemini",
    "message",
    "event_msg",
    "user.message",
    "tool.execution_start",
    "custom_message",
    "attachment",
]


@settings(max_examples=60)
@given(kind=st.sampled_from(KINDS), inner=shapes, fields=st.dictionaries(st.text(max_size=4), shapes, max_size=2))
def test_no_shape_makes_reading_a_session_raise(kind: str, inner: object, fields: dict[str, Any]):
    keys = ("message", "payload", "data", "messages", "content", "toolCalls", "attachment")
    entry = {**fields, "type": kind, **dict.fromkeys(keys, inner)}
    for name in FILES:
        reads = table.transcript(name, "x").format.messages
        messages = reads(entry) if name in ("gemini", "cline") else reads(json.dumps(entry).encode())

        assert all(isinstance(message.text, str) for message in messages)
    row = (json.dumps(entry), json.dumps(inner), inner)
    assert all(isinstance(message.text, str) for message in opencode.messages(row))


def test_a_database_that_is_none_or_lacks_a_table_holds_nothing(tmp_path: Path):
    (tmp_path / "opencode.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    sqlite3.connect(tmp_path / "empty.db").close()

    for name in ("opencode.db", "empty.db", "none.db"):
        assert transcript.read_messages(opencode.transcript(f"{tmp_path / name}#s")) == []
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("name", ["codex", "droid", "opencode"])
def test_a_decision_is_suggested_from_the_session_of_another_host(name, project: Project, home: Path, monkeypatch):
    """With what was typed and said read from the host's own file, and only where a person reads along."""
    monkeypatch.setitem(globals(), "PROMPT", "yes, let's go with NATS")
    monkeypatch.setitem(globals(), "REPLY", DECIDED)
    path = "" if name == "opencode" else keep(name, home, project.root).path
    if name == "opencode":
        database(home, project.root)

    event = {"session_id": "s", "cwd": project.root, "transcript_path": path, "attended": True}
    if name != "codex":
        assert run_hook("stop", {**event, "attended": False, "stop_hook_active": False}, host=name).stdout == b""
    monkeypatch.setenv("FACTORY_UPSTREAM_CLIENT_TYPE", "cli")
    answer = json.loads(run_hook("stop", {**event, "stop_hook_active": False}, host=name).stdout)

    assert "NATS" in answer.get("reason", "") + answer.get("continue", "")
    assert run_hook("stop", {**event, "stop_hook_active": True}, host=name).stdout == b""


def test_a_session_of_which_the_file_is_gone_belongs_to_no_project(tmp_path: Path):
    assert not session_files.names_project(str(tmp_path / "gone.jsonl"), "/p", '"cwd":"')


@pytest.mark.parametrize(
    "start", ['{"cwd":"/p"', '{"cwd": "/p"', '{"cwd":"/p/sub"', '{"cwd":"\\u002fq","cwd":"/p\\\\x"']
)
def test_a_session_belongs_to_the_project_that_its_first_bytes_name(tmp_path: Path, start: str):
    file = tmp_path / "s.jsonl"

    for noise, is_named in ((0, True), (99_900, True), (100_000, False)):
        file.write_text(" " * noise + start)
        assert session_files.names_project(str(file), "/p", '"cwd":"') is is_named
    assert not session_files.names_project(str(file), "/pp", '"cwd":"')


def test_the_newest_files_come_first_down_to_a_depth_and_up_to_a_limit(tmp_path: Path):
    for seconds, name in enumerate(("a.jsonl", "one/b.jsonl", "one/two/c.jsonl", "one/x.txt"), 1_000):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (seconds, seconds))
    (tmp_path / "link").symlink_to(tmp_path / "one", target_is_directory=True)

    def newest(depth: int, limit: int = 200) -> list[str]:
        found = session_files.newest(str(tmp_path), ".jsonl", depth=depth, limit=limit)
        return [os.path.relpath(path, tmp_path) for path in found]

    assert [newest(depth) for depth in range(3)] == [
        ["a.jsonl"], ["one/b.jsonl", "a.jsonl"], ["one/two/c.jsonl", "one/b.jsonl", "a.jsonl"]
    ]  # fmt: skip
    assert newest(2, limit=1) == ["one/two/c.jsonl"]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (1_794_797_096_008, "2026-11-16T02:44:56Z"),
        (1, "1970-01-01T00:00:00Z"),
        (3_999_999_999_999, "2096-10-02T07:06:39Z"),
        (4_000_000_000_000, ""),
        (0, ""),
        (-1, ""),
        ("1794797096008", ""),
        (None, ""),
    ],
)
def test_a_moment_in_milliseconds_is_read_if_it_can_be_one(milliseconds: object, text: str):
    assert session_files.timestamp(milliseconds) == text


def test_a_prompt_in_one_pair_of_quotation_marks_was_quoted_by_the_host():
    prompts = ('"two words"', '""', '"', "", '"a" b "c"', '"open', "plain")

    assert [opencode._unquoted(prompt) for prompt in prompts] == [
        "two words",
        "",
        '"',
        "",
        '"a" b "c"',
        '"open',
        "plain",
    ]


def test_of_a_session_in_a_database_four_hundred_parts_are_read(home: Path, tmp_path: Path):
    path = database(home, str(tmp_path))
    with sqlite3.connect(path) as connection:
        for number in range(10, 406):
            part = json.dumps({"type": "text", "text": f"prompt {number}"})
            connection.execute("INSERT INTO message VALUES (?, 's', ?)", (number, json.dumps({"role": "user"})))
            connection.execute(
                "INSERT INTO part VALUES (?, ?, 's', ?, ?)", (number, number, 1794797096008 + number, part)
            )
    connection.close()
    session = table.transcript("opencode", f"{path}#s")

    entries, is_whole = session.tail()

    assert (len(entries), is_whole) == (400, False)
    assert transcript.last_prompt(session) == "prompt 405"
    assert transcript.first_prompt(session) == PROMPT


def test_a_session_that_the_database_does_not_have_is_from_no_time(home: Path, tmp_path: Path):
    path = database(home, str(tmp_path))

    assert opencode._modified_at(f"{path}#s") == 0.001
    assert opencode._modified_at(f"{path}#none") == 0.0
    assert opencode.sessions(str(tmp_path).replace("_", "x")) == []
