"""How much of sessions and replies is read for each host: each limit at its border, and what odd files give."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from onrecord.hosts import claude_code, codex, copilot, gemini, opencode, session_files, table
from onrecord.hosts.claude_code import mangled
from onrecord.hosts.events import HookReply, HostEvent, Payload, failure

MARK = b'{"type":"hook.start","timestamp":"2026-11-16T19:46:33.340Z"}\n'
SHELL = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "no", "tool_use_id": "call_1"}


def ended(exit_code: Any, name: str = "call_1", kind: str = "CommandExecution") -> bytes:
    item = {"type": kind, "id": name, "exit_code": exit_code}
    return json.dumps({"payload": {"item": item}}, separators=(",", ":")).encode() + b"\n"


def codex_error(path: Path, *parts: bytes, **fields: Any) -> str:
    path.write_bytes(b"".join(parts))
    payload = Payload({**SHELL, "transcript_path": str(path), **fields})
    event: HostEvent = codex.read("post_tool_use", payload)
    return event.error


def test_the_exit_status_of_a_command_in_codex_is_the_last_that_its_session_has(tmp_path: Path):
    path = tmp_path / "rollout-1.jsonl"
    errors = [
        codex_error(path, ended(3)),
        codex_error(path, ended(3), ended(0)),
        codex_error(path, ended(0), ended(4), ended(5, "call_2")),
        codex_error(path, ended(3, kind="FileChange")),
        codex_error(path, ended("3")),
        codex_error(path, ended(None)),
        codex_error(path, ended(3), tool_use_id=""),
        codex_error(path, ended(3), tool_name="Read"),
        codex_error(path, b'{"CommandExecution" "call_1" broken\n'),
        codex_error(path),
    ]

    assert errors == ["Exit code 3\nno", "", "Exit code 4\nno", *[""] * 7]


def test_before_a_command_its_exit_status_is_not_looked_for(tmp_path: Path):
    path = tmp_path / "rollout-1.jsonl"
    path.write_bytes(ended(3))

    assert codex.read("pre_tool_use", Payload({**SHELL, "transcript_path": str(path)})).error == ""


def test_the_last_eight_megabytes_of_a_codex_session_have_the_exit_status(tmp_path: Path):
    path, line = tmp_path / "rollout-1.jsonl", ended(3)

    def error(size: int) -> str:
        """Return the error if the last `size` bytes of the session begin with the line."""
        return codex_error(path, b"x" * 100 + b"\n", line, b"y" * (size - len(line) - 1) + b"\n")

    assert [error(size) for size in (199_999, 200_001, 7_999_999, 8_000_001)] == [*["Exit code 3\nno"] * 3, ""]


def test_a_reply_to_codex_has_9_900_bytes_and_no_half_character():
    reply = codex.write(HostEvent("user_prompt_submit"), HookReply("add", "x" + "€" * 4_000))

    text = reply["hookSpecificOutput"]["additionalContext"]
    assert text == "x" + "€" * 3_299
    assert len(text.encode()) == 9_898


def test_the_last_50_000_bytes_of_a_copilot_session_say_that_the_turn_has_ended(tmp_path: Path, monkeypatch):
    path, pauses = tmp_path / "events.jsonl", []
    clock = iter(range(100))
    monkeypatch.setattr("time.sleep", pauses.append)
    monkeypatch.setattr("time.monotonic", lambda: next(clock) / 10)

    def waits(size: int, started: str = "2026-11-16T19:46:33.340Z") -> int:
        pauses.clear()
        path.write_bytes(b"x" * 100 + b"\n" + MARK + b"y" * (size - len(MARK) - 1) + b"\n")
        copilot.read("stop", Payload({"transcript_path": str(path), "timestamp": started}))
        return len(pauses)

    assert [waits(49_999), waits(50_001), waits(49_999, ""), waits(49_999, "2026-11-16T19:46:34.000Z")] == [0, 4, 0, 4]
    assert set(pauses) == {0.02}


def test_the_last_four_megabytes_of_a_copilot_session_have_its_system_message(tmp_path: Path):
    path = tmp_path / "events.jsonl"
    line = b'{"type":"system.message","data":{"content":"You are an interactive tool"}}\n'
    attended = []
    for size in (3_999_999, 4_000_001):
        path.write_bytes(b"x" * 100 + b"\n" + line + b"y" * (size - len(line) - 1) + b"\n")
        attended.append(copilot.read("stop", Payload({"transcript_path": str(path)})).is_attended)

    assert attended == [True, False]
    assert not copilot.read("pre_compact", Payload({"transcript_path": str(path)})).is_attended


@pytest.mark.parametrize(
    ("session", "is_file"), [("ba2b-1", True), ("", False), ("--", False), ("a/b", False), ("..", False), ("ä1", True)]
)
def test_copilots_session_is_in_a_folder_of_its_name(home: Path, monkeypatch, session: str, is_file: bool):
    def transcript() -> str:
        return copilot.read("session_start", Payload({"session_id": session})).transcript

    assert transcript() == (f"{home}/.copilot/session-state/{session}/events.jsonl" if is_file else "")
    monkeypatch.setenv("COPILOT_HOME", "/x")
    assert transcript() == (f"/x/session-state/{session}/events.jsonl" if is_file else "")


def test_the_id_of_a_gemini_session_is_in_its_first_8_000_bytes(tmp_path: Path):
    path, names = tmp_path / "session-1.jsonl", []
    for size in (8_000, 8_001):
        first = '{"kind":"main","x":"","sessionId":"s"}'
        first = first.replace('"x":""', '"x":"' + "y" * (size - len(first) - 1) + '"')
        path.write_text(f"{first}\n" + "z" * 100)
        names.append(gemini.transcript(str(path)).session_id)

    assert names == ["s", ""]


def test_in_a_gemini_session_later_lines_replace_earlier_ones(tmp_path: Path):
    path = tmp_path / "session-1.jsonl"
    entries = [
        {"id": "0", "type": "user", "content": "gone"},
        {"$set": {"messages": [{"id": "1", "type": "user", "content": "one"}, 7, {"type": "no id"}]}},
        {"id": "2", "type": "gemini", "content": "draft"},
        {"$set": {"lastUpdated": "x"}},
        {"id": "2", "type": "gemini", "content": "two"},
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))

    kept, is_whole = gemini.transcript(str(path)).tail()

    assert [(entry["id"], entry["content"]) for entry in kept] == [("1", "one"), ("2", "two")]
    assert is_whole


@pytest.mark.parametrize(("length", "count"), [(199_999, 2), (200_000, 1), (200_001, 1)])
def test_behind_200_000_characters_no_other_edit_is_read(length: int, count: int):
    edits = [{"new_string": "n" * length}, {"new_string": "beyond"}]
    call = {"tool_name": "MultiEdit", "tool_input": {"edits": edits}}

    read = claude_code.read("pre_tool_use", Payload(call)).edits

    assert [len(edit.new_text) for edit in read] == [min(length, 200_000), 1][:count]


def test_a_cline_session_of_four_megabytes_is_read_and_a_larger_one_is_not(tmp_path: Path):
    path = tmp_path / "s.messages.json"
    start, end = '{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "x": "', '"}'
    counts = []
    for size in (4_000_000, 4_000_001):
        path.write_text(start + "y" * (size - len(start) - len(end)) + end)
        counts.append(len(table.transcript("cline", str(path)).tail()[0]))

    assert counts == [1, 0]
    assert table.transcript("cline", str(path)).tail()[1]


def opencode_database(home: Path) -> Path:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE session (id, directory, time_updated, parent_id);"
            "CREATE TABLE message (id, session_id, data);"
            "CREATE TABLE part (id, message_id, session_id, time_created, data);"
        )
    connection.close()
    return path


def fill(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    with sqlite3.connect(path) as connection:
        for statement, values in statements:
            connection.execute(statement, values)
    connection.close()


def test_a_part_of_an_opencode_session_is_shorter_than_200_000_characters(home: Path):
    path = opencode_database(home)
    part = "INSERT INTO part VALUES (?, 'm', 's', 1, ?)"
    parts = {}
    for length in (199_999, 200_000):
        empty = json.dumps({"type": "text", "text": ""})
        parts[length] = empty.replace('""', '"' + "x" * (length - len(empty)) + '"')
    message = ("INSERT INTO message VALUES ('m', 's', ?)", ('{"role": "assistant"}',))
    fill(path, message, *((part, (str(length), text)) for length, text in parts.items()))

    entries, is_whole = table.transcript("opencode", f"{path}#s").tail()

    assert [len(entry[1]) for entry in entries] == [199_999]
    assert is_whole


def test_the_sessions_of_an_opencode_project_are_those_of_its_folder_the_latest_first(home: Path):
    path = opencode_database(home)
    rows = {"a": ("/p_1%!", 1), "b": ("/p_1%!/sub", 3), "c": ("/p_1%!", 2), "d": ("/px1%!/sub", 4), "e": ("/p_1y/z", 5)}
    session = "INSERT INTO session VALUES (?, ?, ?, NULL)"
    fill(path, *((session, (name, folder, seconds)) for name, (folder, seconds) in rows.items()))

    assert [name.partition("#")[2] for name in opencode.sessions("/p_1%!")] == ["b", "c", "a"]
    assert [name.partition("#")[2] for name in opencode.sessions("/p_1%!", limit=2)] == ["b", "c"]


def test_opencodes_database_is_where_its_variable_says(home: Path, monkeypatch):
    monkeypatch.delenv("XDG_DATA_HOME")
    usual = opencode._database()
    monkeypatch.setenv("XDG_DATA_HOME", "/x")

    assert (usual, opencode._database()) == (f"{home}/.local/share/opencode/opencode.db", "/x/opencode/opencode.db")


@pytest.mark.parametrize("name", ["a%41.db", "a?b.db"])
def test_a_sign_of_an_address_in_the_name_of_a_database_is_a_letter(tmp_path: Path, name: str):
    with sqlite3.connect(tmp_path / name) as connection:
        connection.execute("CREATE TABLE session (time_updated, id)")
        connection.execute("INSERT INTO session VALUES (2000, 's')")
    connection.close()

    assert opencode._modified_at(f"{tmp_path / name}#s") == 2.0


def test_a_query_that_takes_too_many_steps_is_ended(tmp_path: Path):
    path = tmp_path / "opencode.db"
    sqlite3.connect(path).close()
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT max(i) FROM n"

    assert opencode._rows(str(path), sql, (5_000,)) == [(5_000,)]
    assert opencode._rows(str(path), sql, (5_000_000,)) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [("/p/a_b", "-p-a-b"), ("/ü", "--"), ("/\U0001f600", "---"), ("/A9", "-A9"), ("/\uffff", "--")],
)
def test_the_folder_of_a_claude_code_session_has_a_hyphen_for_each_unit_that_is_no_letter(path: str, name: str):
    assert mangled(path) == name


def claude_folder(home: Path, name: str, *cwds: str) -> None:
    folder = home / ".claude" / "projects" / name
    folder.mkdir(parents=True)
    for number, cwd in enumerate(cwds):
        (folder / f"{number}.jsonl").write_text(json.dumps({"cwd": cwd}))


def test_claude_code_has_sessions_of_a_project_in_its_folder_and_in_those_below_it(home: Path):
    claude_folder(home, "-p-one", "elsewhere")
    claude_folder(home, "-p-one-sub", "/p/one/sub", "/p/one-sub")
    claude_folder(home, "-p-onetwo", "/p/onetwo")

    names = [os.path.relpath(path, home / ".claude" / "projects") for path in claude_code.sessions("/p/one")]

    assert names == ["-p-one/0.jsonl", "-p-one-sub/0.jsonl"]
    assert [os.path.basename(folder) for folder in claude_code.folders("/p/one")] == ["-p-one", "-p-one-sub"]
    assert claude_code.folders("/q") == []


@pytest.mark.parametrize("length", [200, 201])
def test_claude_code_cuts_the_name_of_a_folder_at_200_characters(home: Path, length: int):
    project = "/" + "a" * (length - 1)
    claude_folder(home, f"-{'a' * 199}", project)
    claude_folder(home, f"-{'a' * 199}-1x2y", project)
    claude_folder(home, f"-{'a' * 198}-1x2y", project)

    names = [os.path.basename(folder) for folder in claude_code.folders(project)]

    below = f"-{'a' * 199}-1x2y"
    assert names == ([f"-{'a' * 199}", below] if length == 200 else [below])


def test_a_home_without_sessions_of_claude_code_has_none():
    assert claude_code.folders("/p") == []


def test_after_too_many_entries_no_other_folder_is_listed(tmp_path: Path, monkeypatch):
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.jsonl").touch()
    monkeypatch.setattr(session_files, "_MAX_ENTRIES", 4)

    names = [os.path.relpath(path, tmp_path) for path in session_files.newest(str(tmp_path), ".jsonl", depth=1)]

    assert names == ["c/s.jsonl"]


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        ("Exit Code: 3", "3"),
        ("Exit Code: 003 x", "3"),
        ("Exit Code: 30", "30"),
        ("Exit Code: 0", ""),
        ("Exit Code: ", ""),
        ("Exit Code: x3", ""),
        ("3", ""),
    ],
)
def test_a_status_is_the_number_right_after_its_sign(printed: str, status: str):
    assert failure(printed, "Exit Code: ") == (f"Exit code {status}\n{printed}" if status else "")


@pytest.mark.parametrize("name", ["emacs", "x" * 50])
def test_a_host_of_no_known_name_is_refused_with_those_that_are(name: str):
    with pytest.raises(ValueError, match="no host is named") as refused:
        table.find_host(name, {})

    names = "claude-code, codex, copilot, qwen, gemini, opencode, pi, cline, droid"
    assert str(refused.value) == f"no host is named {name[:40]!r}; hosts: {names}"


def test_a_host_is_found_by_its_name_before_its_event(monkeypatch):
    monkeypatch.setenv("FACTORY_PROJECT_DIR", "/p")

    assert table.find_host("pi", {"turn_id": "t"}).name == "pi"
    assert table.find_host("", {"turn_id": "t"}).name == "codex"
    assert table.find_host("", {}).name == "droid"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/h/.claude/projects/-p/s.jsonl", "claude-code"),
        ("/h/.codex/sessions/2026/11/16/rollout-1.jsonl", "codex"),
        ("/h/.copilot/session-state/s/events.jsonl", "copilot"),
        ("/h/.qwen/projects/-p/chats/s.jsonl", "qwen"),
        ("/h/.gemini/tmp/p/chats/session-1.jsonl", "gemini"),
        ("/h/.local/share/opencode/opencode.db#s", "opencode"),
        ("/h/.pi/agent/sessions/--p--/1_s.jsonl", "pi"),
        ("/h/.cline/data/sessions/s/s.messages.json", "cline"),
        ("/h/.factory/sessions/-p/s.jsonl", "droid"),
        ("/h/opencode.db/s.jsonl", "claude-code"),
        ("", "claude-code"),
    ],
)
def test_the_host_of_a_session_is_known_by_its_path(path: str, name: str):
    assert table.recognise({"transcript_path": path}, {}).name == name
    transcript = table.transcript_at(path)
    assert (transcript.path, transcript.format.messages) == (path, table.module(name).messages)


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("CLAUDECODE", "claude-code"),
        ("COPILOT_CLI", "copilot"),
        ("QWEN_PROJECT_DIR", "qwen"),
        ("GEMINI_SESSION_ID", "gemini"),
        ("FACTORY_PROJECT_DIR", "droid"),
        ("EDITOR", "claude-code"),
    ],
)
def test_the_host_of_an_event_without_a_session_is_known_by_its_variable(variable: str, name: str):
    assert table.recognise({}, {variable: "1"}).name == name
    assert table.recognise({}, {variable: ""}).name == "claude-code"


def test_the_sessions_of_one_host_are_limited(home: Path):
    claude_folder(home, "-p", *["/p"] * 3)

    assert len(table.transcripts_of("claude-code", "/p")) == 3
    assert len(table.transcripts_of("claude-code", "/p", limit=2)) == 2
