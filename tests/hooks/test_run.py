"""The entrance of hooks: no input breaks the session."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onrecord import state_file
from onrecord.hooks import EVENTS
from tests.hooks.hook_process import ROOT, run_hook


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00garbage",
        b"[]",
        b"null",
        b'"text"',
        b"{",
        b"[" * 100_000,
        b'{"cwd": 7, "prompt": [], "session_id": {}, "tool_input": "x", "tool_name": null}',
        b'{"cwd": "relative", "prompt": "x"}',
        b'{"cwd": "/nul\\u0000byte", "prompt": "x"}',
        b'{"cwd": "/tmp", "prompt": "\\ud800"}',
    ],
)
def test_any_input_ends_well(event, data):
    answer = run_hook(event, data)

    assert (answer.code, answer.stdout) == (0, b"")


def test_an_unknown_event_is_no_event():
    assert run_hook("os", b"{}").code == 0
    assert run_hook("../../etc", b"{}").stdout == b""


def test_garbage_leaves_a_trace_for_doctor():
    run_hook("user_prompt_submit", b"{broken")

    assert any("hook user_prompt_submit" in str(line) for line in state_file.recent_failures())


def test_nothing_happens_where_there_is_no_store(tmp_path):
    answer = run_hook("user_prompt_submit", {"session_id": "s", "cwd": str(tmp_path), "prompt": "where are sessions?"})

    assert (answer.code, answer.stdout, answer.stderr) == (0, b"", b"")
    assert state_file.recent_failures() == []


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "where do we keep user sessions, postgres or redis? #nomem"},
        {"prompt": "/memory:search user sessions in postgres or redis"},
        {"prompt": "<task-notification>user sessions, postgres or redis</task-notification>"},
        {"prompt": "where do we keep user sessions, postgres or redis?", "source": "system"},
        {"prompt": "where do we keep user sessions, postgres or redis?", "agent_id": "a"},
        {"prompt": " \n"},
    ],
)
def test_who_wants_no_memories_is_answered_with_nothing_at_all(project, fields):
    event = {"session_id": "s", "cwd": project.root}

    assert run_hook("user_prompt_submit", {**event, **fields}).stdout == b""
    assert run_hook(
        "user_prompt_submit", {**event, "prompt": "where do we keep user sessions, postgres or redis?"}
    ).stdout


def test_one_variable_turns_everything_off(project):
    event = {"session_id": "s", "cwd": project.root, "prompt": "where do we keep user sessions, postgres or redis?"}

    assert run_hook("user_prompt_submit", event, ONRECORD_OFF="1").stdout == b""
    assert run_hook("user_prompt_submit", event).stdout != b""


def test_a_reader_that_has_gone_away_is_no_failure(project):
    event = {"session_id": "s", "cwd": project.root, "prompt": "where do we keep user sessions, postgres or redis?"}
    read, write = os.pipe()
    os.close(read)

    process = subprocess.run(
        [sys.executable, "-S", "-E", str(ROOT / "src/onrecord/hooks/run.py"), "user_prompt_submit"],
        input=json.dumps(event).encode(),
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        timeout=120,
    )

    assert (process.returncode, process.stderr) == (0, b"")


@settings(max_examples=40)
@given(event=st.sampled_from(list(EVENTS)), data=st.binary(max_size=300))
def test_any_bytes_end_well(event, data):
    answer = run_hook(event, data)

    assert answer.code == 0
    assert not answer.stdout or isinstance(json.loads(answer.stdout), dict)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(
    event=st.sampled_from(list(EVENTS)),
    fields=st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            ("session_id", "prompt", "transcript_path", "tool_name", "tool_input", "error", "source", "agent_id"),
            values,
        ),
    ),
)
def test_any_event_in_a_real_project_ends_well(tmp_path_factory, event, fields):
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    (folder / ".claude" / "memory" / "decisions").mkdir(parents=True, exist_ok=True)

    answer = run_hook(event, {"cwd": str(folder), **fields})

    assert answer.code == 0
    assert not answer.stdout or len(json.loads(answer.stdout)["hookSpecificOutput"]) <= 3
