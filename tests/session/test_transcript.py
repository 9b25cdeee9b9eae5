"""Reading the end of a session, whatever it contains."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.hosts import claude_code
from onrecord.session import transcript


def write(path, *entries):
    path.write_text("".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in entries))
    return claude_code.transcript(str(path))


def user(content, **more):
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(*blocks):
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}}


def test_the_last_prompt_is_the_one_before_the_current_one(tmp_path):
    path = write(tmp_path / "t.jsonl", *(user(f"prompt {n}") for n in range(5)))

    assert transcript.last_prompt(path) == "prompt 4"
    assert transcript.last_prompt(path, " prompt 4\n") == "prompt 3"


@pytest.mark.parametrize("role", ["user", "human"])
def test_a_turn_of_a_human_is_one_of_the_user(tmp_path, role):
    prompts = ("where are sessions kept?", "and for how long?")
    turns = [{"type": "human", "message": {"role": role, "content": words}} for words in prompts]
    path = write(tmp_path / "t.jsonl", turns[0], assistant(text("In rows.")), turns[1])

    assert transcript.last_prompt(path, "and for how long?") == "where are sessions kept?"
    assert [turn.split(":")[0] for turn in transcript.last_turns(path, 3)] == ["User", "Assistant", "User"]


def text(words):
    return {"type": "text", "text": words}


def test_the_last_turns_are_of_both_sides_without_tools_and_without_what_hooks_put_in(tmp_path):
    path = write(
        tmp_path / "t.jsonl",
        user("too long ago"),
        user("where are sessions kept?"),
        assistant(text("I look. <system-reminder>not this</system-reminder>")),
        assistant({"type": "tool_use", "name": "Read", "input": {"file_path": "a.py"}}),
        user([{"type": "tool_result", "tool_use_id": "t", "content": "rows"}]),
        assistant(text("In auth.sessions.")),
        user("<memory-context>a record</memory-context>and for how long?"),
    )

    assert transcript.last_turns(path, 3) == [
        "User: where are sessions kept?",
        "Assistant: I look.\nIn auth.sessions.",
        "User: and for how long?",
    ]
    assert transcript.last_turns(path, 2)[0] == "Assistant: I look.\nIn auth.sessions."
    assert transcript.last_turns(claude_code.transcript(str(tmp_path / "none")), 3) == []


@pytest.mark.parametrize(
    "entry",
    [
        user([{"type": "tool_result", "tool_use_id": "t", "content": "a file about kafka"}]),
        user("a meta message", isMeta=True),
        user("from a subagent", isSidechain=True),
        user("<command-name>/memory:search</command-name>"),
        user("<task-notification>done</task-notification>"),
        user("<local-command-stdout>x</local-command-stdout>"),
        user("This session is being continued from a previous conversation that ran out of context."),
        user("<system-reminder>\nremember kafka\n</system-reminder>"),
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["kafka"]}},
        {"type": "api-request-blob", "prompt_snapshot": {"type": "user", "message": {"content": "kafka"}}},
        {"type": "summary", "summary": "kafka"},
        {"type": "user"},
        {"type": "user", "message": "not an object"},
        {"type": "user", "message": {"content": [None, 3, {"type": "text"}, {"type": "image"}]}},
        "{broken",
        "[]",
        "",
        "null",
    ],
)
def test_only_what_a_person_typed_counts(tmp_path, entry):
    path = write(tmp_path / "t.jsonl", user("the real one"), entry)

    assert transcript.last_prompt(path) == "the real one"


def test_our_own_blocks_are_cut_out_of_a_prompt(tmp_path):
    path = write(
        tmp_path / "t.jsonl",
        user('fix it <memory-context source="x"><result>use kafka</result></memory-context> please'),
        user([{"type": "text", "text": "and this <memory-context never closed"}]),
    )

    assert transcript.last_prompt(path) == "and this"
    assert transcript.last_prompt(path, "and this") == "fix it  please"


def test_messages_tell_texts_tools_and_results_apart(tmp_path):
    path = write(
        tmp_path / "t.jsonl",
        user("do it"),
        assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "on it"}),
        assistant({"type": "tool_use", "name": "Bash", "input": {"command": "make"}}),
        user([{"type": "tool_result", "is_error": True, "content": [{"type": "text", "text": "Exit code 2"}]}]),
    )

    messages = [(m.role, m.kind, m.text, m.name, dict(m.input)) for m in transcript.read_messages(path)]

    assert messages == [
        ("user", "text", "do it", "", {}),
        ("assistant", "text", "on it", "", {}),
        ("assistant", "tool_use", "", "Bash", {"command": "make"}),
        ("user", "tool_result", "Exit code 2", "error", {}),
    ]


def test_only_the_tail_of_a_huge_transcript_is_read(tmp_path):
    path = tmp_path / "t.jsonl"
    with open(path, "wb") as file:
        file.truncate(1_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + json.dumps(user("the last one")).encode() + b"\n")

    assert transcript.last_prompt(claude_code.transcript(str(path))) == "the last one"


@pytest.mark.parametrize("path", ["", "/nowhere/at/all.jsonl", "/", "with\0nul"])
def test_a_transcript_that_cannot_be_read_has_no_prompts(path):
    assert transcript.last_prompt(claude_code.transcript(path)) == ""


def test_a_fifo_in_place_of_a_transcript_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "t.jsonl")

    assert transcript.last_prompt(claude_code.transcript(str(tmp_path / "t.jsonl"))) == ""


@given(st.binary(max_size=400))
def test_any_bytes_are_a_transcript(data):
    assert isinstance([m.text for line in data.split(b"\n") for m in claude_code.messages(line)], list)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "message", "content", "role", "text", "name", "input"]), inner, max_size=4
    ),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_any_json_is_a_transcript_line(value):
    line = json.dumps({"type": "user", "message": value}).encode()

    assert isinstance(list(claude_code.messages(line)), list)


def tool_call(name):
    return assistant({"type": "tool_use", "id": "t", "name": name, "input": {}})


def texts(end):
    return [message.text or message.name for message in end.messages]


def test_the_ending_of_a_session_has_the_prompt_that_began_the_turn(tmp_path):
    path = write(tmp_path / "t.jsonl", user("first"), user("second"), *(tool_call(str(n)) for n in range(20)))

    assert texts(transcript.read_ending(path, 3)) == ["second", "17", "18", "19"]
    assert not transcript.read_ending(path, 3).is_whole
    assert texts(transcript.read_ending(path, 21)) == ["second", *map(str, range(20))]
    assert transcript.read_ending(path, 22).is_whole


def test_an_ending_without_a_prompt(tmp_path):
    path = write(tmp_path / "t.jsonl", *(tool_call(str(n)) for n in range(3)))

    assert texts(transcript.read_ending(path, 2)) == ["1", "2"]
    assert texts(transcript.read_ending(claude_code.transcript(str(tmp_path / "none.jsonl")), 2)) == []


def test_what_the_transcript_does_not_have_yet_is_put_in(tmp_path):
    path = write(tmp_path / "t.jsonl", user("the login should be hardened"), tool_call("Read"))
    end = transcript.read_ending(path, 10).with_missing("user", ["no", "the login should be hardened", ""])
    end = end.with_missing("assistant", ["Done."])

    assert texts(end) == ["the login should be hardened", "Read", "no", "Done."]


def test_what_lies_before_a_part_of_a_session_is_put_before_it(tmp_path):
    path = write(tmp_path / "t.jsonl", user("old"), *(tool_call(str(n)) for n in range(5)), user("new"))
    end = transcript.read_ending(path, 2).with_missing("user", ["no, not like that", "new"])

    assert texts(end) == ["no, not like that", "4", "new"]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<memory-context>use kafka</memory-context> fix it", "fix it"),
        ("a <memory-context>x</memory-context>b <memory-context>y</memory-context>c", "a b c"),
        ("<memory-context>x</memory-context><memory-context>y</memory-context>", ""),
        ("go <system-reminder>x</system-reminder>on <memory-context>y</memory-context>now", "go on now"),
        ("</memory-context> alone", "</memory-context> alone"),
        ("fix it [project memory, from x]\n- use kafka (decision)\n[end of project memory] now", "fix it  now"),
        ("&lt;memory-context a&gt;use kafka&lt;/memory-context&gt; fix it", "fix it"),
        ("<memory-context never closed", ""),
        ("nothing of ours", "nothing of ours"),
    ],
)
def test_every_block_of_a_hook_is_cut_out_wherever_it_stands(text, rest):
    assert transcript.without_blocks(text) == rest


@pytest.mark.parametrize("newer", ["a", "b"])
def test_of_two_sessions_in_the_same_second_the_later_one_is_the_last(tmp_path, newer):
    sessions = [write(tmp_path / f"{name}.jsonl", user("hello")) for name in ("a", "b")]
    for session in sessions:
        is_newer = session.path.endswith(f"{newer}.jsonl")
        os.utime(session.path, ns=(0, 1_800_000_000_000_000_000 + (900_000_000 if is_newer else 100_000_000)))

    assert transcript.recent_sessions(sessions, 1)[0].name == newer
