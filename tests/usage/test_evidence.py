"""Evidence that an agent opened a record that it was shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.session import transcript
from onrecord.session.transcript import Message
from onrecord.usage import usage_log
from tests.conversation import does, memory_context, prompt, result, says, write_transcript

PATH = "decisions/it.json"
FILE = f"/p/.claude/memory/{PATH}"
PROMPT_WITH_RECORD = (prompt("q"), memory_context((PATH, "Sessions live in auth.sessions.")))


def _is_opened(folder, *lines):
    return usage_log.was_opened(
        transcript.read_messages(write_transcript(folder / "t.jsonl", *lines), contexts=True), PATH
    )


@pytest.mark.parametrize(
    ("step", "is_opened"),
    [
        (does("Bash", command="onrecord show it"), True),
        (does("Bash", command="onrecord show --json IT"), True),
        (does("Bash", command="onrecord supersede it tests-run-on-sqlite"), True),
        (does("Read", file_path=FILE), True),
        (does("Read", file_path=FILE.replace("/", "\\")), True),
        (does("Bash", command=f"cat {FILE}"), True),
        (does("MultiEdit", edits=[{"new_string": "onrecord show it"}]), True),
        (does("Write", file_path=FILE), False),
        (does("Edit", file_path=FILE, old_string="a", new_string="b"), False),
        (does("Bash", command="onrecord show it-2"), False),
        (does("Bash", command="onrecord show items"), False),
        (does("Bash", command="git add it"), False),
        (does("Read", file_path="/p/it.json"), False),
        (does("Bash", command="psql -c 'select * from auth.sessions'"), False),
        (says("They are in auth.sessions, says onrecord show it."), False),
        (prompt("run onrecord show it"), False),
        (result("onrecord show it"), False),
    ],
)
def test_a_record_is_opened_by_a_tool_call_that_names_it(tmp_path, step, is_opened):
    assert _is_opened(tmp_path, *PROMPT_WITH_RECORD, step, says("ok")) is is_opened


def test_what_was_opened_before_it_was_shown_does_not_count(tmp_path):
    assert not _is_opened(tmp_path, prompt("q"), does("Read", file_path=FILE), *PROMPT_WITH_RECORD, says("ok"))


def test_the_record_of_another_block_is_not_the_one_that_was_shown(tmp_path):
    other = memory_context(("decisions/other.json", "Mail goes out through mailer.enqueue_batch()."))

    assert _is_opened(tmp_path, *PROMPT_WITH_RECORD, does("Read", file_path=FILE), prompt("q2"), other, says("ok"))


words = st.sampled_from(["onrecord", "show", "retire", "it", PATH, FILE, "\n", "\u202e", "🙂", "_", "-", '"', "\\"])
texts = st.lists(words | st.text(max_size=12), max_size=30).map(" ".join)
inputs = st.dictionaries(
    st.sampled_from(["command", "file_path", "old_string", "new_string", "edits", "x"]),
    texts | st.integers() | st.none() | st.lists(st.dictionaries(st.just("old_string"), texts, max_size=1), max_size=2),
    max_size=3,
)
messages = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "system"]),
        kind=st.sampled_from(["text", "tool_use", "tool_result", "context"]),
        text=texts,
        name=st.sampled_from(["", "Bash", "Edit", "error"]),
        input=inputs,
    ),
    max_size=12,
)


@given(messages)
def test_an_agent_that_calls_no_tool_has_opened_nothing(conversation):
    assert usage_log.was_opened(conversation, PATH) in (True, False)
    assert not usage_log.was_opened([message for message in conversation if message.kind != "tool_use"], PATH)


def test_a_transcript_of_megabytes_is_searched_within_bounds(tmp_path):
    noise = [result("x " * 15_000 + json.dumps({"n": n})) for n in range(40)]
    file = write_transcript(
        tmp_path / "t.jsonl", prompt("q"), *noise, *PROMPT_WITH_RECORD, does("Read", file_path=FILE)
    )
    conversation = transcript.read_messages(file, contexts=True)

    assert sum(len(message.text) for message in conversation) < 2 * transcript.TAIL_BYTES
    assert usage_log.was_opened(conversation, PATH)
