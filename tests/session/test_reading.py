"""Reading parts of session files: whole lines, the end of a turn, the newest sessions, and texts without blocks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onrecord.hosts import claude_code
from onrecord.session import transcript
from onrecord.session.transcript import Ending, Message, Prompt, Session, Transcript

LINE = b"x" * 20
SHORT = b"y" * 19


def write(path: Path, *entries: dict[str, Any]) -> Transcript:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return claude_code.transcript(str(path))


def said(role: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": text}, **more}


def text(role: str, words: str) -> Message:
    return Message(role, "text", words)


@pytest.mark.parametrize(
    ("data", "size", "is_head", "expected"),
    [
        (LINE + b"\n" + LINE, 100, False, ([LINE, LINE], True)),
        (LINE + b"\n" + LINE, 41, False, ([LINE, LINE], True)),
        (LINE + b"\n" + LINE, 40, False, ([LINE], False)),
        (LINE + b"\n" + LINE, 40, True, ([LINE], False)),
        (LINE + b"\n" + LINE, 41, True, ([LINE, LINE], True)),
        (b"a" * 30 + b"\n" + LINE, 25, False, ([LINE], False)),
        (b"a" * 30 + b"\n" + LINE, 35, True, ([b"a" * 30], False)),
        (SHORT + b"\n" + LINE, 100, False, ([LINE], True)),
        (b"", 100, False, ([], True)),
    ],
)
def test_whole_lines_of_an_end_or_a_beginning_are_read(tmp_path: Path, data: bytes, size: int, is_head: bool, expected):
    (tmp_path / "s.jsonl").write_bytes(data)

    assert transcript.read_lines(str(tmp_path / "s.jsonl"), size, is_head) == expected
    if not is_head:
        assert transcript.tail_lines(str(tmp_path / "s.jsonl"), size) == expected


@pytest.mark.parametrize("path", ["", "none", "a\0b", "."])
def test_a_file_that_cannot_be_read_has_no_lines(path: str):
    assert transcript.tail_lines(path) == ([], True)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/h/.claude/projects/-p/abc.jsonl", "abc"),
        ("/h/.copilot/session-state/abc/events.jsonl", "abc"),
        ("/h/sessions/abc/abc.messages.json", "abc"),
        ("/h/opencode.db#abc", "abc"),
        ("/h/a#b/c.jsonl", "c"),
        ("", ""),
    ],
)
def test_a_session_is_named_by_its_file_its_folder_or_its_entry(path: str, name: str):
    assert transcript.name_in_path(path) == name


def test_a_session_without_a_name_is_called_by_its_path():
    assert Transcript("/h/.jsonl", transcript.NO_SESSION.format).name == "/h/.jsonl"
    assert (transcript.NO_SESSION.tail(), transcript.NO_SESSION.head()) == (([], True), [])


@pytest.mark.parametrize(
    "prompt",
    [
        "/memory:save x", "/memory-save x", "$memory:save x", "$memory-save x", "/skill:memory-save x",
        "  /memory:save", "x #nomem", "#nomem", "<task-notification>x", "<system-reminder>x",
    ],
)  # fmt: skip
def test_some_prompts_want_no_memory(prompt: str):
    assert transcript.wants_silence(prompt)


@pytest.mark.parametrize("prompt", ["memory:save", "use /memory:save", "x nomem", "memory-save", "/skill:other", ""])
def test_other_prompts_do(prompt: str):
    assert not transcript.wants_silence(prompt)


@pytest.mark.parametrize(
    "name",
    [
        "memory-context", "system-reminder", "system_reminder", "hook_context", "hook_prompt",
        "qwen:user-prompt-submit-context", "qwen:session-start-context",
    ],
)  # fmt: skip
def test_every_element_that_hosts_add_is_cut_out(name: str):
    assert transcript.without_blocks(f"a <{name} x='1'>b</{name}> c") == "a  c"
    assert transcript.without_blocks(f"a <my-{name}>b</my-{name}> c") == f"a <my-{name}>b</my-{name}> c"


def test_our_block_is_known_with_escaped_tags_and_as_plain_lines():
    escaped = "a &lt;memory-context x&gt;b &lt;b&gt;&lt;/memory-context&gt; c"
    plain = "a [project memory, from x]\n- b\n[end of project memory] c"

    assert (transcript.without_blocks(escaped), transcript.without_blocks(plain)) == ("a  c", "a  c")
    assert transcript.without_blocks("a &lt;b&gt; c") == "a &lt;b&gt; c"


@pytest.mark.parametrize(
    ("role", "words", "kept"),
    [
        ("user", "hi", ["hi"]),
        ("user", "<command-name>/x</command-name>", []),
        ("assistant", "<command-name>/x</command-name>", ["<command-name>/x</command-name>"]),
        ("user", "<memory-context>x</memory-context>", []),
        ("user", "", []),
    ],
)
def test_a_text_of_a_program_is_no_message_of_the_user(role: str, words: str, kept: list[str]):
    messages = list(transcript.text_messages(role, words, "at", "name", "session"))

    assert messages == [Message(role, "text", each, "name", {}, "at", "session") for each in kept]


@pytest.mark.parametrize(
    ("content", "plain"),
    [
        ("a", "a"),
        ([{"text": "a"}, {"text": 7}, "b", {"x": 1}, {"text": "c"}], "a\nc"),
        (None, ""),
        ({"text": "a"}, ""),
        ([], ""),
    ],
)
def test_the_text_of_a_content_is_that_of_its_parts(content: Any, plain: str):
    assert transcript.content_text(content) == plain


def test_a_result_is_told_from_the_context_behind_it():
    block = "<memory-context>x</memory-context>"

    assert list(transcript.tool_results(f"ok {block}", has_failed=False)) == [
        Message("user", "tool_result", "ok"), Message("system", "context", block)
    ]  # fmt: skip
    assert list(transcript.tool_results("no", has_failed=True)) == [Message("user", "tool_result", "no", "error")]
    odd = "</memory-context> <memory-context"
    assert list(transcript.tool_results(odd, has_failed=False)) == [Message("user", "tool_result", odd)]


def test_turns_of_both_sides_are_newest_last(tmp_path: Path):
    session = write(
        tmp_path / "s.jsonl",
        said("user", "one"),
        said("assistant", "1a"),
        said("assistant", "1b"),
        said("user", "two"),
        said("user", "three"),
        said("assistant", "3"),
    )
    turns = ["User: one", "Assistant: 1a\n1b", "User: two", "User: three", "Assistant: 3"]

    assert [transcript.last_turns(session, limit) for limit in (1, 2, 4, 5, 9)] == [
        turns[-1:], turns[-2:], turns[-4:], turns, turns
    ]  # fmt: skip


def test_the_first_and_the_last_prompt_are_not_the_current_one(tmp_path: Path):
    session = write(tmp_path / "s.jsonl", said("user", "one"), said("assistant", "1"), said("user", " two "))

    assert transcript.first_prompt(session) == "one"
    assert [transcript.last_prompt(session, current) for current in ("", "two", "other")] == ["two", "one", "two"]
    assert transcript.last_prompt(write(tmp_path / "t.jsonl", said("user", "one")), "one") == ""
    assert transcript.first_prompt(write(tmp_path / "t.jsonl", said("assistant", "1"))) == ""


def test_what_an_ending_lacks_is_put_before_it_or_behind_it():
    ending = Ending([text("user", "do it"), text("assistant", "done")], is_whole=True)
    part = ending._replace(is_whole=False)

    assert ending.with_missing("user", ["do it", "no"]).messages == [*ending.messages, text("user", "no")]
    assert part.with_missing("user", ["no", "do it"]).messages == [text("user", "no"), *ending.messages]
    assert ending.with_missing("assistant", [""]).messages == ending.messages


def test_a_session_has_its_prompts_with_time_and_id(tmp_path: Path):
    at = "2026-11-16T02:03:49.213Z"
    parts = [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    session = write(
        tmp_path / "s.jsonl",
        said("user", "a", timestamp=at, uuid="u"),
        said("user", parts, timestamp="yesterday", uuid="v"),
        said("assistant", "d"),
        said("user", [{"type": "tool_result", "content": "e"}]),
    )

    assert transcript.read_session(session) == Session("s", (Prompt(at, "a", "u"), Prompt("", "b\nc", "v")), True)


def test_sessions_are_read_until_there_are_enough_new_prompts(tmp_path: Path):
    sessions = []
    for number in range(4):
        at = f"2026-01-0{number + 1}T00:00:00Z"
        session = write(tmp_path / f"s{number}.jsonl", *[said("user", f"{number}", timestamp=at)] * 2)
        os.utime(session.path, (1_767_225_600 + number * 86_400 + 60,) * 2)
        sessions.append(session)
    empty = write(tmp_path / "empty.jsonl", said("assistant", "no prompt"))
    gone = claude_code.transcript(str(tmp_path / "gone.jsonl"))

    def recent(last: int) -> list[str]:
        return [session.name for session in transcript.recent_sessions([*sessions, empty, gone], last)]

    assert [recent(last) for last in (1, 2, 3, 5, 99)] == [
        ["s3"], ["s3"], ["s3", "s2"], ["s3", "s2", "s1"], ["s3", "s2", "s1", "s0"]
    ]  # fmt: skip


def test_the_newest_two_hundred_sessions_are_looked_at(tmp_path: Path):
    sessions = [write(tmp_path / f"s{number:03}.jsonl", said("user", "x")) for number in range(201)]
    for number, session in enumerate(sessions):
        os.utime(session.path, (1_000_000 + number,) * 2)

    names = [session.name for session in transcript.recent_sessions(sessions, 1_000)]

    assert (len(names), names[0], names[-1]) == (200, "s200", "s001")
