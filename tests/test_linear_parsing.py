"""Whatever an agent or a transcript says is read in time that grows no faster than its length.

The cost is counted in CPU time, against that of plain talk of a twentieth of the length: no clock on the wall.
"""

from __future__ import annotations

import inspect
import json

import pytest

from onrecord import text as text_module
from onrecord.capture import conversation, suggestions, triage
from onrecord.hosts import claude_code, events
from onrecord.hosts.events import Payload
from onrecord.session import correction, ledger, transcript
from onrecord.session.transcript import Ending, Message
from tests import cost
from tests.cost import Yardstick

SIZE = 400_000
PLAIN = "We decided to go with Postgres, because Redis lost sessions. Then run `make check` again.\n"
SMALL = PLAIN * (SIZE // 20 // len(PLAIN))
PIECES = [
    "<memory-context></memory-context>", "<memory-context>", "</memory-context>", "<system-reminder", "<",
    ". ", "? ", "e.g. ", "`", "`a. b` ", '"', '"a. b" ', "“", "„a. b“ ", "```\n", "- ", "\n", " ", "(", "0", "1 ",
    "no, ", "use a ", "we ", "# of # ", "a'", "''", "\u2019", "ß", "\ud800", "\0", "{", '{"', "[", "\\", "onrecord ",
]  # fmt: skip
READERS = {
    "text.sentences": text_module.sentences,
    "text.escape": text_module.escape,
    "text.escape_line": text_module.escape_line,
    "text.first_few": lambda text: text_module.first_few(text.split(" ")),
    "text.flat": text_module.flat,
    "text.escape_for_agent": text_module.escape_for_agent,
    "text.plain_lines": text_module.plain_lines,
    "text.element": lambda text: text_module.element("result", {"title": text}, text),
    "text.fence": lambda text: text_module.fence({"source": text}, text.split("\n")),
    "text.count_tokens": text_module.count_tokens,
    "text.cut": lambda text: text_module.cut(text, 300),
    "text.cut_at_sentence": lambda text: text_module.cut_at_sentence(text, 300),
    "transcript.without_blocks": transcript.without_blocks,
    "transcript.is_machine_turn": transcript.is_machine_turn,
    "transcript.wants_silence": transcript.wants_silence,
    "transcript.parse_line": lambda text: transcript.parse_line(b"{" + text.encode("utf-8", "replace")),
    "correction.strength": correction.strength,
    "correction.is_instruction": correction.is_instruction,
    "correction.may_have_secret": correction.may_have_secret,
    "correction.instructs": correction.instructs,
    "text.join": lambda text: text_module.join(text, text),
    "ledger.text_hash": ledger.text_hash,
    "ledger.exists": ledger.exists,
    "claude_code.mangled": claude_code.mangled,
    "text.remove_elements": lambda text: text_module.remove_elements(text, ["memory-context", "hook_context"]),
    "transcript.text_messages": lambda text: list(transcript.text_messages("user", text)),
    "transcript.content_text": lambda text: transcript.content_text([{"text": text}]),
    "transcript.context_message": transcript.context_message,
    "transcript.tool_results": lambda text: list(transcript.tool_results(f"<memory-context>{text}", has_failed=True)),
    "transcript.tool_result": lambda text: transcript.tool_result(text, has_failed=True),
    "events.patch_files": lambda text: events.patch_files(f"*** Begin Patch\n{text}"),
    "events.failure": lambda text: events.failure(text, "no. "),
    "events.common_event": lambda text: events.common_event("pre_tool_use", _call(text), {"Edit": events.WRITE}),
    "events.absolute_paths": lambda text: events.absolute_paths([text, text[1:]], "/p"),
    "conversation.split": conversation.split,
    "suggestions.keys": lambda text: suggestions.keys([text]),
    "triage.is_repeated_in": lambda text: triage.is_repeated_in(text, [text]),
    "triage.best_candidates": lambda text: triage.best_candidates(_ending(text), lambda category: 0.0),
    "triage.open_tasks": lambda text: triage.open_tasks(_ending(text)),
    "conversation.Conversation": lambda text: conversation.Conversation(_ending(text)),
    "transcript.Ending": lambda text: _ending(text).with_missing("assistant", [text, text[1:], "x" + text]),
}
ELSEWHERE = {
    "text": {"AgentMarkup", "plural", "shown_in"},
    "transcript": {
        *("first_prompt", "last_prompt", "last_turns", "tail_lines", "read_lines", "read_ending"),
        *("read_messages", "Message", "modification_time", "recent_sessions", "read_session"),
        *("Format", "Transcript", "any_entry", "Prompt", "Session", "name_in_path"),
    },
    "ledger": {"Ledger"},
    "events": {
        "HostEvent",
        "HookReply",
        "Payload",
        "block_decision",
        "event_name",
        "shim_event",
        "shim_reply",
        "specific_output",
    },
    "suggestions": {
        "Suggestion",
        "suggest",
        "is_new",
        "note",
        "read",
        "add",
        "any_suggested",
        "count",
        "newest_open",
    },
    "triage": {
        "SaveCandidate",
        "TriageModel",
        "default_threshold",
        "distinct",
        "candidates",
        "is_eligible",
        "speech_features",
        "line_features",
    },
    "conversation": {"SpeechLine", "Speech", "Activity", "Sentence", "Cues", "language_of", "load"},
}
"""Public names that take no text of a stranger, take it from those above, or read a transcript (tested below)."""

MODULES = [events, text_module, transcript, ledger, conversation, suggestions, triage]


def _call(text: str) -> Payload:
    return Payload({"tool_name": "Edit", "tool_input": {"command": f"*** Begin Patch\n{text}", "path": text}})


def _reading(read, text: str):
    return lambda: read(text)


def _ending(text: str) -> Ending:
    messages = [Message("user", "text", text), Message("assistant", "text", text), Message("user", "text", text)]
    return Ending(messages, is_whole=False)


@pytest.mark.parametrize("name", READERS)
def test_hostile_text_costs_what_its_length_does(name):
    # A twentieth of the length; and a text of full stops alone has thirty times as many sentences as plain talk.
    # What is quadratic exceeds this a hundred times.
    read = READERS[name]
    plain = Yardstick(lambda: read(SMALL), least=0.0003)

    slow = {piece: plain.excess(20 * 30, _reading(read, piece * (SIZE // len(piece)))) for piece in PIECES}

    assert not any(slow.values()), slow


@pytest.mark.parametrize(
    "piece", ["<memory-context></memory-context>", ". ", '"a. b" ', "\n", "{\n", "{}\n", "we ", "no. "]
)
def test_a_transcript_of_hostile_lines_costs_a_bounded_amount(tmp_path, piece):
    def read(name: str, text: str):
        path = tmp_path / name
        entry = {"type": "user", "message": {"content": text[:150_000]}}
        path.write_text("\n".join([json.dumps(entry)] * 20 + [text]), encoding="utf-8", errors="replace")
        return lambda: _read_all_of(claude_code.transcript(str(path)), text)

    cost.assert_at_most(30, read("plain", PLAIN * 1_000), read("hostile", piece * (SIZE // len(piece))), least=0.005)


def _read_all_of(session, text: str) -> None:
    end = transcript.read_ending(session, 200).with_missing("user", [text])
    triage.best_candidates(end)
    triage.open_tasks(Ending(transcript.read_messages(session), is_whole=False))
    transcript.first_prompt(session)
    transcript.last_prompt(session)
    transcript.last_turns(session, 20)


def test_every_public_name_is_tried_or_named_as_needless():
    missing = []
    for module in MODULES:
        short = module.__name__.rpartition(".")[2]
        own = {
            name
            for name, value in vars(module).items()
            if not name.startswith("_")
            and (inspect.isfunction(value) or inspect.isclass(value))
            and value.__module__ == module.__name__
        }
        tried = {name.partition(".")[2] for name in READERS if name.startswith(f"{short}.")}
        missing += [f"{short}.{name}" for name in own - tried - ELSEWHERE[short]]

    assert missing == []
