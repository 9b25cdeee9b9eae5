"""Every host: how it is recognised, what reaches its model, and the exact form of its answers.

The events are those of `host_events`. What the real clients do with the answers is tested in tests/hosts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths, state_file
from onrecord.hooks import EVENTS, handle, render, with_notice
from onrecord.hooks.event_stores import EventStores, find_event_stores
from onrecord.hosts import table
from onrecord.hosts.events import ADD, CONTINUE, DENY, HookReply, HostEvent, Payload, failure, patch_files
from onrecord.project import Project
from onrecord.settings import load_settings
from onrecord.shared import background, remotes
from onrecord.text import AgentMarkup, remove_elements
from tests.hooks.hook_process import ROOT, run_hook
from tests.hooks.host_events import ASKS, FILE, FILE_RULE, HOSTS, PATCH, RECORD, RULE, RUNBOOK, filled
from tests.known_project import six_records

NAMES = [host.name for host in table.HOSTS]
DECIDED = "We decided to use NATS instead of Kafka for the job queue, because Kafka needs three brokers."
SETS = sorted({name for host in HOSTS.values() for name in host.env})


class Session:
    """A session in a host, whose events are handled in this process."""

    def __init__(self, host: str, project: Project, home: Path, name: str = "s") -> None:
        self.name, self.root, self.home, self.id = host, project.root, str(home), name
        self.store = project.store.root
        self.events = HOSTS[host]

    def raw(self, name: str, fields: dict[str, Any]) -> str:
        common = {"session_id": self.id, "cwd": self.root, **self.events.common}
        payload = filled({**common, **fields}, self.root, self.home)
        host = table.module(self.name)
        event = host.read(name, Payload(payload))
        if event is None:
            return ""
        return render(host, event, handle(event._replace(host=self.name), EventStores(self.root, self.store, "")))

    def __call__(self, event: str, **fields: Any) -> dict[str, Any]:
        answer = self.raw(event, fields)
        return json.loads(answer) if answer else {}

    def prompt(self, **fields: Any) -> dict[str, Any]:
        return self("user_prompt_submit", **{**self.events.prompt, **fields})

    def write(self, event: str, file: str) -> dict[str, Any]:
        return self(event, **filled(self.events.write, self.root, self.home, file=file))

    def shell(self, event: str, command: str, **fields: Any) -> dict[str, Any]:
        return self(event, **filled(self.events.shell, self.root, self.home, command=command), **fields)


def reply_text(answer: Any) -> str:
    """Return all texts in a reply."""
    if isinstance(answer, dict):
        return "\n".join(map(reply_text, answer.values()))
    return str(answer)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One project for all: no test here changes a record."""
    return six_records(tmp_path_factory.mktemp("hosts"))


@pytest.fixture(params=NAMES)
def session(request: pytest.FixtureRequest, project: Project, home: Path) -> Session:
    return Session(request.param, project, home)


@pytest.fixture
def hook_session(project: Project, home: Path) -> Callable[[str], Session]:
    """Make a session in Claude Code."""
    return lambda name: Session("claude-code", project, home, name)


def start(name: str, project: Project, home: Path) -> Session:
    return Session(name, project, home)


def test_a_session_that_begins_starts_a_sync_in_every_host(session, monkeypatch):
    started = []
    monkeypatch.setattr(background, "start", lambda project: started.append(project))
    remotes.add("platform", "/srv/memory.git", auto=True)

    if table.BY_NAME[session.name].digest == table.AT_START:
        session("session_start", source="startup")
    else:
        session.prompt()

    assert started == [session.root]


ROLLOUT = "/h/.codex/sessions/2026/11/16/rollout-2026-11-16T01-48-59-01a1.jsonl"


@pytest.mark.parametrize(
    ("fields", "environment", "name"),
    [
        ({}, {}, "claude-code"),
        ({"transcript_path": 7}, {}, "claude-code"),
        ({"transcript_path": ROLLOUT}, {}, "codex"),
        ({"transcript_path": ROLLOUT.replace("/", "\\")}, {}, "codex"),
        ({"turn_id": "01a1", "transcript_path": None}, {}, "codex"),
        ({"transcript_path": ROLLOUT}, {"CLAUDECODE": "1"}, "codex"),
        ({"transcript_path": "/home/rollout-team/.claude/projects/-p/a.jsonl"}, {}, "claude-code"),
        ({"transcript_path": "/h/.claude/projects/-p/a.jsonl"}, {"CLAUDECODE": "1", "COPILOT_CLI": "1"}, "claude-code"),
        ({}, {"CLAUDECODE": "1", "COPILOT_CLI": "1"}, "copilot"),
        ({}, {"QWEN_PROJECT_DIR": "/p", "GEMINI_SESSION_ID": "s"}, "qwen"),
    ],
)
def test_a_host_is_recognised_even_where_another_one_started_it(fields, environment, name):
    assert table.recognise(fields, environment).name == name


@pytest.mark.parametrize("name", [host.name for host in table.HOSTS if host.name not in ("opencode", "pi", "cline")])
def test_a_host_is_recognised_by_what_it_sends_and_sets(name):
    events = HOSTS[name]

    assert table.recognise(filled({**events.common, **events.prompt}, "/p", "/h"), events.env).name == name


def test_a_host_of_no_known_name_gets_no_answer_and_leaves_a_trace(project: Project):
    answer = run_hook("user_prompt_submit", {"session_id": "s", "cwd": project.root, "prompt": ASKS}, host="emacs")

    assert (answer.code, answer.stdout, answer.stderr) == (0, b"", b"")
    assert [line for line in state_file.recent_failures() if "no host is named 'emacs'" in str(line)]


def test_every_host_has_events_to_be_tested_with():
    assert sorted(HOSTS) == sorted(NAMES)


def test_a_prompt_brings_its_rule_once(session: Session):
    first, second = session.prompt(), session.prompt()

    assert RULE in reply_text(first)
    assert RULE not in reply_text(second)


def test_a_prompt_about_something_else_brings_nothing_but_the_digest(session: Session):
    session.prompt(prompt="hello there, which day is it?", submitted_prompt="hello there, which day is it?")

    assert session.prompt(prompt="thanks, that is all", submitted_prompt="thanks, that is all") == {}


def test_a_write_to_a_record_is_denied_and_any_other_is_not(session: Session):
    by_tool = session.write("pre_tool_use", RECORD)
    by_shell = session.shell("pre_tool_use", f"echo hi > {RECORD}")

    assert "onrecord save" in reply_text(by_tool)
    assert by_tool == by_shell
    assert session.shell("pre_tool_use", "echo hi > notes.txt") == {}


def test_a_file_brings_its_rule_at_the_event_that_reaches_the_model(session: Session):
    other = {"pre_tool_use": "post_tool_use", "post_tool_use": "pre_tool_use"}[session.events.files_event]

    assert session.write(other, FILE) == {}
    assert FILE_RULE in reply_text(session.write(session.events.files_event, FILE))


@pytest.mark.parametrize("name", [host.name for host in table.HOSTS if host.failures])
def test_a_failed_command_brings_its_runbook(name: str, project: Project, home: Path):
    session = start(name, project, home)
    rollout = home / ".codex" / "sessions" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_text(line("event_msg", {"item": {"type": "CommandExecution", "id": "call_1", "exit_code": 3}}))

    answer = session.shell(session.events.failure_event, "make lag", **session.events.failed)

    assert RUNBOOK in reply_text(answer)
    if "hookSpecificOutput" in answer and session.name != "gemini":
        name = "".join(word.capitalize() for word in session.events.failure_event.split("_"))
        assert answer["hookSpecificOutput"]["hookEventName"] == name


def test_a_subagent_gets_no_memories_but_may_not_write_records_either(session: Session):
    assert session.prompt(agent_id="a") == {}
    assert session("session_start", source="startup", agent_id="a") == {}
    assert session.write("pre_tool_use", RECORD)


@pytest.mark.parametrize("event", ["pre_compact", "session_end"])
def test_nothing_is_said_before_compaction_and_at_the_end(session: Session, event: str):
    assert session(event, trigger="manual", reason="other") == {}


def test_the_digest_comes_with_the_first_prompt_where_the_start_would_do_harm(session: Session):
    at_start = session("session_start", source="startup", initial_prompt=ASKS)
    first = session.prompt()

    is_late = table.BY_NAME[session.name].digest == table.WITH_FIRST
    assert ("Move invoices to the new ledger" in reply_text(at_start)) is not is_late
    assert ("Move invoices to the new ledger" in reply_text(first)) is is_late
    assert "Move invoices" not in reply_text(session.prompt(prompt="and where are the invoices?"))


def test_the_digest_waits_for_a_prompt_that_wants_memories(project: Project, home: Path):
    session = start("opencode", project, home)

    assert session.prompt(prompt=f"{ASKS} #nomem") == {}
    assert "Move invoices" in reply_text(session.prompt())


@pytest.mark.parametrize("call", ["/memory:search", "/memory-search", "$memory:search", "/skill:memory-search"])
def test_a_call_of_our_own_skill_brings_no_memories(project: Project, home: Path, call: str):
    assert start("codex", project, home).prompt(prompt=f"{call} {ASKS}") == {}


@pytest.mark.parametrize(
    ("name", "event", "fields"),
    [
        ("copilot", "pre_compact", {"trigger": "auto"}),
        ("gemini", "pre_compact", {"trigger": "manual"}),
        ("opencode", "session_start", {"source": "compact"}),
        ("pi", "session_start", {"source": "compact"}),
    ],
)
def test_after_a_compaction_the_next_prompt_brings_what_was_in_use(project, home, name, event, fields):
    session = start(name, project, home)
    session.prompt()

    before = session.prompt(prompt="go on with that")
    session(event, **fields)
    after = session.prompt(prompt="go on with that")

    assert RULE not in reply_text(before)
    assert RULE in reply_text(after)
    assert session.prompt(prompt="go on with that") == {}


def test_gemini_says_that_it_compresses_before_every_request(project: Project, home: Path):
    session = start("gemini", project, home)
    session.prompt()
    session("pre_compact", trigger="auto")

    assert session.prompt(prompt="go on with that") == {}


def test_qwen_sends_results_of_tools_as_prompts(project: Project, home: Path):
    session = start("qwen", project, home)

    assert session("user_prompt_submit", prompt="") == {}
    assert session("user_prompt_submit", prompt=ASKS) == {}
    assert RULE in reply_text(session.prompt())


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("gemini", f"<hook_context>User sessions, {RULE}</hook_context>\n\n{ASKS}"),
        ("cline", f'<user_input mode="act">{ASKS}</user_input>'),
        ("opencode", f'"{ASKS}"'),
    ],
)
def test_a_prompt_is_what_a_person_typed(name: str, typed: str):
    event = table.module(name).read("user_prompt_submit", Payload({"prompt": typed}))

    assert event.prompt == ASKS


def test_a_prompt_in_quotation_marks_of_its_own_stays_as_it_is():
    read = table.module("opencode").read

    assert read("user_prompt_submit", Payload({"prompt": '"a" and "b"'})).prompt == '"a" and "b"'


FORMS: dict[str, dict[str, Any]] = {
    "claude-code": {
        ADD: {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}},
        DENY: {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "x",
            }
        },
        CONTINUE: {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "x"}},
    },
    "copilot": {
        ADD: {"additionalContext": "x"},
        DENY: {"permissionDecision": "deny", "permissionDecisionReason": "x"},
        CONTINUE: {"decision": "block", "reason": "x"},
    },
    "gemini": {
        ADD: {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "x"}},
        DENY: {"decision": "deny", "reason": "x"},
        CONTINUE: {"decision": "deny", "reason": "x"},
    },
    "opencode": {ADD: {"add": "x"}, DENY: {"deny": "x"}, CONTINUE: {"continue": "x"}},
}
"""The replies that a host understands, key by key; Codex refuses a reply with any other key."""
for _name in ("codex", "qwen", "droid"):
    FORMS[_name] = {**FORMS["claude-code"], CONTINUE: {"decision": "block", "reason": "x"}}
for _name in ("pi", "cline"):
    FORMS[_name] = FORMS["opencode"]
AT = {ADD: "user_prompt_submit", DENY: "pre_tool_use", CONTINUE: "stop"}


@pytest.mark.parametrize("kind", list(AT))
@pytest.mark.parametrize("name", NAMES)
def test_an_answer_has_exactly_the_keys_that_the_host_knows(name: str, kind: str):
    host = table.module(name)

    assert json.loads(render(host, HostEvent(AT[kind]), HookReply(kind, "x"))) == FORMS[name][kind]


NOTICED = {**dict.fromkeys(("claude-code", "codex", "qwen", "gemini", "droid"), "systemMessage"), "copilot": ""}
"""The key of the line for the person; Copilot has none, and our shims have their own."""


@pytest.mark.parametrize("name", NAMES)
def test_the_line_for_the_person_is_where_the_host_has_a_place_for_it(name: str):
    answer = json.loads(render(table.module(name), HostEvent("user_prompt_submit"), HookReply(ADD, "x", "memory: y")))

    key = NOTICED.get(name, "notice")
    assert answer == {**FORMS[name][ADD], **({key: "memory: y"} if key else {})}


@pytest.mark.parametrize("switch", ["user", "project"])
def test_the_person_sees_what_the_agent_is_shown_unless_the_user_turns_that_off(project, home, hook_session, switch):
    first, second = hook_session("a").prompt(), hook_session("a").prompt()
    assert first["systemMessage"] == "memory: Sessions live in Postgres, not Redis"
    assert second == {}

    config = Path(paths.user_store() if switch == "user" else project.store.root, paths.CONFIG)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps({"retrieval": {"notice": False}}))
    try:
        silent = hook_session("b").prompt()
    finally:
        config.unlink()

    assert RULE in reply_text(silent)
    assert ("systemMessage" in silent) is (switch == "project")


def test_a_project_cannot_turn_the_line_on_that_the_user_has_turned_off(project):
    for folder, value in ((paths.user_store(), False), (project.store.root, True)):
        os.makedirs(folder, exist_ok=True)
        Path(folder, paths.CONFIG).write_text(json.dumps({"retrieval": {"notice": value}}))
    try:
        assert not load_settings(project.store.root).flag("retrieval.notice")
    finally:
        Path(project.store.root, paths.CONFIG).unlink()


def test_the_line_for_the_person_is_short_and_has_no_control_characters():
    shows = [f"{name} \x1b[31m{'word ' * 40}" for name in "abcde"]
    markup = AgentMarkup("x", tuple(shows))

    line = with_notice(HookReply(ADD, markup), "").notice

    assert line.isprintable()
    assert line.startswith("memory: a")
    assert line.endswith("… and 2 more")
    assert len(line) < 220


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_a_host_that_escapes_tags_gets_plain_lines(project, home, name):
    text = reply_text(start(name, project, home).prompt())

    assert RULE in text
    assert "\n- Sessions live in Postgres, not Redis" in text
    assert [sign for sign in ("<", "memory-context", "&lt;", "&amp;") if sign in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_has_a_tag_or_is_longer_than_its_host_shows(name: str):
    host = table.module(name)
    for event in EVENTS:
        for kind in (ADD, DENY, CONTINUE):
            answer = render(host, HostEvent(event), HookReply(kind, "<system-reminder>\x1b[2J\u202e €" * 2_000))

            assert [sign for sign in ("<", ">", "\\u001b", "\\u202e") if sign in answer] == []
            assert len(reply_text(json.loads(answer) if answer else "").encode()) < 40_000
            if name == "codex" and kind != CONTINUE:
                assert len(reply_text(json.loads(answer)).encode()) <= 10_000


def line(kind: str, payload: dict[str, Any]) -> str:
    """Return a line of a session's file as Codex writes it: without spaces."""
    entry = {"timestamp": "2026-11-16T02:03:49Z", "type": kind, "payload": payload}
    return json.dumps(entry, separators=(",", ":")) + "\n"


def test_a_command_that_printed_much_and_failed_in_codex_brings_its_runbook(project: Project, home: Path):
    """The session's file has all of the output in the line that says how the command ended."""
    session = start("codex", project, home)
    rollout = home / ".codex" / "sessions" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    output = {"aggregated_output": "compiling\n" * 100_000}
    item = {"type": "CommandExecution", "id": "call_1", **output, "exit_code": 3, "status": "failed"}
    rollout.write_text(line("event_msg", {"item": item}) + line("event_msg", {"type": "token_count"}))

    assert RUNBOOK in reply_text(session.shell("post_tool_use", "make lag", **session.events.failed))


def test_a_command_that_succeeded_in_codex_brings_nothing(project: Project, home: Path):
    session = start("codex", project, home)
    rollout = home / ".codex" / "sessions" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_text(
        line("event_msg", {"item": {"type": "CommandExecution", "id": "call_2", "exit_code": 3}})
        + line("event_msg", {"item": {"type": "CommandExecution", "id": "call_1", "exit_code": 0}})
    )

    assert session.shell("post_tool_use", "make lag", **session.events.failed) == {}


def test_a_patch_in_a_command_counts_as_a_write(project: Project, home: Path):
    session = start("codex", project, home)
    command = {"command": f"apply_patch <<'X'\n{PATCH.format(RECORD)}X"}

    assert "onrecord save" in reply_text(session("pre_tool_use", tool_name="Bash", tool_input=command))


def test_a_patch_of_copilots_own_tool_is_refused_in_the_store(project: Project, home: Path):
    session = start("copilot", project, home)

    refused = session("pre_tool_use", tool_name="apply_patch", tool_input={"input": PATCH.format(RECORD)})

    assert "onrecord save" in reply_text(refused)


def test_the_files_of_a_patch_are_those_that_its_headers_name():
    patch = (
        "*** Begin Patch\n*** Add File: a.py\n+*** Update File: no.py\n*** Update File: b c.py\n*** Move to: d.py\n"
        "@@\n-x\n+y\n*** Delete File: e.py\n*** End Patch"
    )

    assert patch_files(patch) == ["a.py", "b c.py", "d.py", "e.py"]
    assert patch_files("*** Add File: a.py") == []


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        ("out\nExit Code: 3\nSignal: none", "Exit code 3\nout\nExit Code: 3\nSignal: none"),
        ("Exit Code: 3\nExit Code: 0", ""),
        ("Exit Code: none", ""),
        ("Exit Code: 000", ""),
        ("", ""),
    ],
)
def test_a_command_has_failed_if_the_last_status_says_so(printed: str, error: str):
    assert failure(printed, "Exit Code: ") == error


@pytest.mark.parametrize(
    ("name", "fields", "error"),
    [
        (
            "qwen",
            {"error": "Command: x\nOutput: a\nError: b\nError: (none)\nExit Code: 3\nSignal: (none)"},
            "Exit code 3\na\nError: b",
        ),
        ("qwen", {"error": "Output: a\nError: spawn failed\nExit Code: 1\nSignal: x"}, "Exit code 1\na\nspawn failed"),
        ("qwen", {"error": "it broke"}, "it broke"),
        (
            "gemini",
            {"tool_response": {"llmContent": "<untrusted_context>\nOutput: a\nb\nExit Code: 3\nProcess Group PGID: 1"}},
            "Exit code 3\na\nb",
        ),
    ],
)
def test_an_error_is_what_the_command_printed_without_the_hosts_report(name, fields, error):
    event = "post_tool_use_failure" if name == "qwen" else "post_tool_use"
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}}

    assert table.module(name).read(event, Payload({**call, **fields})).error == error


def test_elements_of_a_host_are_taken_out_whole():
    text = "a <hook_context x='1'>b</hook_context> c <hook_context>d</hook_context>e <hook_context>f"

    assert remove_elements(text, ["hook_context"]) == "a  c e"


def test_a_turn_that_a_hook_asked_for_is_not_prolonged():
    """Codex, Droid and Gemini would go on for ever."""
    for name in NAMES:
        event = table.module(name).read("stop", Payload({"stop_hook_active": True}))

        assert event.is_continued, name


TRAPS = {
    "any host: a bare `sh` would run the event": "test_no_named_host_executes_what_a_prompt_says",
    "any host: it inherits the variables of the host that started it": (
        "test_a_host_is_recognised_even_where_another_one_started_it"
    ),
    "Codex: an answer with an unknown key is refused whole": (
        "test_an_answer_has_exactly_the_keys_that_the_host_knows"
    ),
    "Codex: above 10,000 bytes the middle is cut": "test_no_answer_has_a_tag_or_is_longer_than_its_host_shows",
    "Codex: the exit status is only in the session's file": "test_a_command_that_succeeded_in_codex_brings_nothing",
    "Codex: files are written by a patch": "test_the_files_of_a_patch_are_those_that_its_headers_name",
    "Codex: a patch may stand in a command": "test_a_patch_in_a_command_counts_as_a_write",
    "Codex, Droid, Gemini: a turn can be prolonged for ever": "test_a_turn_that_a_hook_asked_for_is_not_prolonged",
    "Copilot: `-p` has nobody who reads along": "test_copilot_tells_its_model_whether_a_person_reads_along",
    "Qwen: `-p` has nobody who reads along": "test_qwen_keeps_snapshots_for_prompts_that_were_typed_on_its_screen",
    "Codex: `exec` has nobody who reads along": "test_codex_says_in_its_session_whether_a_person_reads_along",
    "Copilot: answers stand at the top level": "test_an_answer_has_exactly_the_keys_that_the_host_knows",
    "Copilot: a failing hook before a tool refuses it": "test_copilot_would_take_a_failing_hook_for_a_refusal",
    "Copilot: a command that fails is a success": "test_a_failed_command_brings_its_runbook",
    "Copilot: most events do not name the session's file": (
        "test_copilot_says_neither_where_its_session_is_nor_how_it_began_as_others_do"
    ),
    "Copilot: no event after a compaction": "test_after_a_compaction_the_next_prompt_brings_what_was_in_use",
    "Copilot: a plugin's hook runs in the plugin's folder": "test_the_project_is_the_one_that_the_event_names",
    "Qwen: results of tools pass as prompts": "test_qwen_sends_results_of_tools_as_prompts",
    "Qwen, Gemini: the report hides what a command printed": (
        "test_an_error_is_what_the_command_printed_without_the_hosts_report"
    ),
    "Qwen, Gemini, Droid, OpenCode, pi: nothing is delivered before a tool": (
        "test_a_file_brings_its_rule_at_the_event_that_reaches_the_model"
    ),
    "Gemini: an answer at the start breaks the session": (
        "test_the_digest_comes_with_the_first_prompt_where_the_start_would_do_harm"
    ),
    "Gemini: it says before every request that it compresses": (
        "test_gemini_says_that_it_compresses_before_every_request"
    ),
    "Gemini: a prompt holds what hooks added before it": "test_a_prompt_is_what_a_person_typed",
    "Gemini: a message in the session is replaced by a later one": "test_what_was_said_and_done_is_read_in_order",
    "OpenCode: `run` puts quotation marks around a prompt": "test_a_prompt_is_what_a_person_typed",
    "OpenCode: prompts of subagents pass the same event": (
        "test_a_subagent_gets_no_memories_but_may_not_write_records_either"
    ),
    "Droid, Copilot: the end of a turn lacks the agent's message": (
        "test_a_decision_is_suggested_from_the_session_of_another_host"
    ),
}
"""Surprises when the real clients were run, and the test of each."""


def test_every_trap_has_its_test():
    names = {
        name
        for file in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text())
    }

    assert set(TRAPS.values()) - names == set()


GARBAGE: list[dict[str, Any]] = [
    {},
    {"prompt": 7, "tool_name": [], "tool_input": "x", "session_id": {}, "transcript_path": 1, "source": None},
    {"prompt": ["x"], "tool_name": "Bash", "tool_input": {"command": 7, "commands": "x"}, "error": {}},
    {"tool_name": "run_commands", "tool_input": {"commands": [None, 3, {"command": 4}, ["x"]]}, "tool_response": [1]},
    {"tool_name": "apply_patch", "tool_input": {"command": PATCH.format("\0") * 50}, "tool_use_id": ""},
    {"tool_response": {"llmContent": 1, "metadata": {"exit": "3"}}, "tool_result": [], "is_error": "yes"},
    {"transcript_path": "/dev/zero", "session_id": "../../../etc", "workspace_roots": [1, None], "loop_count": "x"},
    {"prompt": "\ud800 x", "source": "\ud800", "trigger": "\ud800", "last_assistant_message": "\ud800"},
    {"prompt": "<hook_context>" * 20_000, "submitted_prompt": "<user_input" * 20_000, "error": "x" * 300_000},
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("event", list(EVENTS))
def test_whatever_a_host_sends_the_answer_is_valid(name: str, event: str, project: Project, home: Path):
    session = start(name, project, home)
    for fields in GARBAGE:
        for tool in (session.events.shell, session.events.write, {}):
            answer = session.raw(event, {**tool, **fields})

            assert not answer or isinstance(json.loads(answer), dict)
    assert state_file.recent_failures() == []


def test_copilot_says_neither_where_its_session_is_nor_how_it_began_as_others_do(home: Path):
    read = table.module("copilot").read
    event = read("session_start", Payload({"session_id": "ba2b-1", "source": "new", "initial_prompt": "x"}))

    assert event.source == "startup"
    assert event.transcript == str(home / ".copilot/session-state/ba2b-1/events.jsonl")
    assert read("user_prompt_submit", Payload({"session_id": "../../etc"})).transcript == ""


def test_cline_tells_its_plugins_a_name_of_the_session_that_is_in_the_name_of_its_file(home: Path, monkeypatch):
    read = table.module("cline").read
    places = {
        "HOME": f"{home}/.cline/data/sessions",
        "CLINE_DIR": "/x/data/sessions",
        "CLINE_DATA_DIR": "/x/sessions",
        "CLINE_SESSION_DATA_DIR": "/x",
    }
    for name, folder in places.items():
        monkeypatch.setenv(name, str(home) if name == "HOME" else "/x")
        assert read("stop", Payload({"session_file": "17_a"})).transcript == f"{folder}/17_a/17_a.messages.json"
    for odd in ("", ".", "..", "../x", "/etc/passwd", 7):
        assert read("stop", Payload({"session_file": odd})).transcript == ""


def test_copilot_would_take_a_failing_hook_for_a_refusal(tmp_path: Path):
    """Before a tool, any exit code but 0 keeps it from running: so there is none, whatever is broken."""
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "python").symlink_to("python3")
    launch = str(ROOT / "src/onrecord/hooks/launch")
    env = {"PATH": f"{tmp_path}:/bin", "HOME": str(tmp_path)}

    for folder in (str(tmp_path), "/"):
        command = ["sh", launch, "pre_tool_use", "copilot"]
        process = subprocess.run(
            command, input=b"{broken", capture_output=True, cwd=folder, env=env, check=False, timeout=120
        )

        assert (process.returncode, process.stdout) == (0, b"")


def test_the_project_is_the_one_that_the_event_names(project: Project):
    """A plugin's hook of Copilot runs in the plugin's folder."""
    fields = filled({"cwd": "{root}/.claude"}, project.root, "")

    assert find_event_stores(fields, has_digest=False) == EventStores(project.root, project.store.root, "")
    assert find_event_stores({}, has_digest=False) is None


SCREEN = {"type": "system.message", "data": {"content": "You are Copilot. You are an interactive tool that helps."}}
HEADLESS = {"type": "system.message", "data": {"content": "You are Copilot. You are running in non-interactive mode."}}
QUOTED = {"type": "user.message", "data": {"content": json.dumps(SCREEN)}}


@pytest.mark.parametrize(
    ("entries", "is_attended"),
    [
        ([SCREEN, QUOTED], True),
        ([SCREEN, HEADLESS], False),
        ([HEADLESS, SCREEN], True),
        ([HEADLESS, QUOTED], False),
        ([], False),
    ],
)
def test_copilot_tells_its_model_whether_a_person_reads_along(tmp_path: Path, entries: list[Any], is_attended: bool):
    events = tmp_path / "events.jsonl"
    events.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))

    event = table.module("copilot").read("stop", Payload({"transcript_path": str(events)}))

    assert event.is_attended is is_attended


def test_copilot_writes_the_end_of_a_turn_while_the_hook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    events, moment = tmp_path / "events.jsonl", "2026-11-16T19:46:33.340Z"
    lines = [SCREEN, {"type": "hook.start", "data": {"hookType": "agentStop"}, "timestamp": moment}]
    events.write_text("")

    def write(seconds: float) -> None:
        events.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in lines))

    monkeypatch.setattr("time.sleep", write)
    copilot = table.module("copilot")
    event = copilot.read("stop", Payload({"transcript_path": str(events), "timestamp": moment}))

    assert event.is_attended


@pytest.mark.parametrize(("prompt", "is_attended"), [("s########1", True), ("s########2", False), ("", False)])
def test_qwen_keeps_snapshots_for_prompts_that_were_typed_on_its_screen(tmp_path: Path, prompt: str, is_attended: bool):
    snapshot = {"snapshots": [{"promptId": "s########1", "files": []}]}
    entry = {"subtype": "file_history_snapshot", "systemPayload": snapshot}
    chat = tmp_path / "s.jsonl"
    chat.write_text(json.dumps(entry, separators=(",", ":")) + "\n")
    event = {"transcript_path": str(chat), "prompt_id": prompt}

    assert table.module("qwen").read("stop", Payload(event)).is_attended is is_attended


def test_pi_is_suggested_nothing_that_it_could_not_act_on():
    assert not table.module("pi").read("stop", Payload({"attended": True})).is_attended


@pytest.mark.parametrize("source", ["cli", "exec"])
def test_codex_says_in_its_session_whether_a_person_reads_along(tmp_path: Path, source: str):
    rollout = tmp_path / "rollout-1.jsonl"
    rollout.write_text(line("session_meta", {"cwd": '/p","source":"cli', "source": source}))

    event = table.module("codex").read("stop", Payload({"transcript_path": str(rollout)}))

    assert event.is_attended is (source == "cli")


@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_asked_to_go_on_where_nobody_may_read_along(name, project, home, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ATTENDED", "0")
    session, host = start(name, project, home), table.module(name)
    correction = "No, that is wrong. Never use Kafka for the job queue, always use NATS."
    session.prompt(prompt=correction, submitted_prompt=correction)
    read, turn = host.read, {"attended": False, "last_assistant_message": DECIDED}

    alone = session("stop", **turn)
    monkeypatch.setattr(host, "read", lambda event, payload: read(event, payload)._replace(is_attended=True))
    with_a_person = session("stop", **turn)

    assert alone == {}
    assert "NATS" in reply_text(with_a_person)


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_has_9_900_characters_at_most(name: str):
    rendered = render(table.module(name), HostEvent("user_prompt_submit"), HookReply(ADD, "x" * 10_000))

    assert max(map(len, re.findall("x+", rendered))) == 9_900
