"""docs/reference/hooks.md says what the hooks are wired to, read, obey and answer: all of it, and nothing else."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path
from typing import Any

import pytest

from onrecord import hooks, paths
from onrecord.hooks import EVENTS, handle
from onrecord.hooks.event_stores import EventStores
from onrecord.hosts import table
from onrecord.hosts.events import ADD, CONTINUE, DENY, HostEvent, Payload
from onrecord.project import Project
from onrecord.settings import Settings
from tests.hooks.hook_process import ROOT

PAGE = (ROOT / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")
WIRING = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
ASKS = "users lose their login state after a deploy, where do we keep sessions?"
DECIDES = "We decided to use NATS instead of Kafka for the job queue, because Kafka needs three brokers."
ERROR = "Exit code 1\nCommitFailedError: the coordinator is not aware of this member"

SAMPLES: dict[str, list[dict[str, Any]]] = {
    "UserPromptSubmit": [{"prompt": ASKS}, {"prompt": "no, never use Kafka here, always NATS"}],
    "SessionStart": [{"source": source} for source in ("startup", "resume", "clear", "compact")],
    "PreToolUse": [
        {"tool_name": "Read", "tool_input": {"file_path": "{root}/src/carrier/client.py"}},
        {"tool_name": "Write", "tool_input": {"file_path": "{root}/.claude/memory/decisions/x.json", "content": "{}"}},
        {"tool_name": "Write", "tool_input": {"file_path": "{root}/src/a.py", "content": "x = 1"}},
        {"tool_name": "Bash", "tool_input": {"command": "kafka-consumer lag --after rebalance"}},
        {"tool_name": "Task", "tool_input": {"prompt": ASKS}},
    ],
    "PostToolUse": [
        {"tool_name": "Bash", "tool_input": {"command": "echo {{ >.claude/memory/decisions/broken.json"}},
        {"host": "qwen", "tool_name": "read_file", "tool_input": {"file_path": "{root}/src/carrier/client.py"}},
        {"host": "pi", "tool_name": "bash", "tool_input": {"command": "x"}, "is_error": True, "tool_response": ERROR},
    ],
    "PostToolUseFailure": [{"tool_name": "Bash", "tool_input": {"command": "make"}, "error": ERROR}],
    "Stop": [{"last_assistant_message": DECIDES, "transcript_path": "{root}/transcript.jsonl"}],
    "PreCompact": [{"trigger": "auto", "transcript_path": "{root}/transcript.jsonl"}],
    "SessionEnd": [{"reason": "other", "transcript_path": "{root}/transcript.jsonl"}],
}
"""Events of each kind, of Claude Code if no host is named, that together make a handler read all it ever reads."""


class Behaviour:
    """The fields, settings and replies of the handler of one event, seen with its samples."""

    def __init__(self, name: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: set[str] = set()
        self.settings: set[str] = set()
        self.answers: set[str] = set()
        self._name, self._event_stores = name, EventStores(project.root, project.store.root, "")
        self._watch(monkeypatch)
        for sample in SAMPLES[name]:
            self._run({"session_id": "s1", "cwd": project.root, "hook_event_name": name, **sample})

    def _watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note each setting that is asked for, by whichever function."""
        monkeypatch.setattr(Settings, "value", _noting(Settings.value, self.settings))

    def _run(self, fields: dict[str, Any]) -> None:
        payload = json.loads(json.dumps(fields).replace("{root}", self._event_stores.project))
        host = table.BY_NAME[payload.pop("host", "claude-code")]
        event = table.module(host.name).read(_event(self._name), Payload(payload))._replace(host=host.name)
        reply = handle(_Watched(event, self.reads), self._event_stores)  # type: ignore[arg-type]
        self.answers |= {reply.kind} if reply.text else set()


class _Watched:
    """An event that notes which of its fields are read."""

    def __init__(self, event: HostEvent, names: set[str]) -> None:
        self._event_read, self._names = event, names

    def __getattr__(self, name: str) -> Any:
        # What is left out are methods, of a host's name and of the session.
        self._names |= {name} - {"name", "host", "skill", "is_held_out"}
        return getattr(self._event_read, name)


def _noting(method: Any, names: set[str]) -> Any:
    def noting(self: object, name: str) -> Any:
        names.add(name)
        return method(self, name)

    return noting


def _event(name: str) -> str:
    return str(WIRING[name][0]["hooks"][0]["command"].split()[2])


@pytest.fixture
def behaviour(request: pytest.FixtureRequest, project: Project, monkeypatch: pytest.MonkeyPatch) -> Behaviour:
    messages = [("user", "which job queue do we take?"), ("assistant", DECIDES), ("user", "yes, let's go with NATS")]
    lines = [json.dumps({"type": role, "message": {"role": role, "content": text}}) for role, text in messages]
    Path(project.root, "transcript.jsonl").write_text("\n".join(lines) + "\n")
    Path(project.root, paths.STORE, "decisions", "broken.json").write_text("{")
    return Behaviour(request.param, project, monkeypatch)


@pytest.mark.parametrize("behaviour", list(WIRING), indirect=True)
def test_each_section_says_what_its_handler_reads_obeys_and_answers(
    behaviour: Behaviour, request: pytest.FixtureRequest
) -> None:
    section = _section(request.node.callspec.params["behaviour"])
    answers = {"a text": ADD, "a refusal": DENY, "a request": CONTINUE}
    patterns = set(re.findall("`(.+?)`", section["Obeys"]))

    assert set(re.findall("`(.+?)`", section["Reads"])) == behaviour.reads
    assert {key for key in behaviour.settings if not any(_covers(pattern, key) for pattern in patterns)} == set()
    assert {pattern for pattern in patterns if not any(_covers(pattern, key) for key in behaviour.settings)} == set()
    assert {answers[word] for word in section["Answers"].split(", ") if word != "nothing"} == behaviour.answers


def _section(name: str) -> dict[str, str]:
    """Return the lines of one event by their first word."""
    text = PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    return {word: " ".join(line.split()) for word, line in re.findall(r"^- (\w+): (.+(?:\n  .+)*)", text, re.MULTILINE)}


def _covers(pattern: str, key: str) -> bool:
    return fnmatch.fnmatchcase(key, pattern)


def test_the_table_is_the_wiring() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(#(\w+)\) \| (.*?) ?\| (\d+) s \|$", PAGE, re.MULTILINE)
    wired = [
        (name, name.lower(), group.get("matcher", "").replace("|", ", "), str(hook["timeout"]))
        for name, groups in WIRING.items()
        for group in groups
        for hook in group["hooks"]
    ]

    assert rows == wired
    assert sorted(_event(name) for name in WIRING) == sorted(EVENTS)
    assert set(re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)) == {*WIRING, "Events"}


def test_the_page_names_every_field_of_an_event() -> None:
    table = PAGE.partition("| field of an event |")[2].partition("\n\n")[0]
    names = {name for row in table.splitlines()[2:] for name in re.findall("`(.+?)`", row.split("|")[1])}

    assert names == set(HostEvent._fields) - {"name", "host"}


def test_the_limits_are_those_of_the_source() -> None:
    assert f"never longer than {hooks.MAX_CONTEXT_CHARS:,} characters" in PAGE
    page = " ".join(PAGE.split())
    assert f"ends by itself after {hooks.WALL_SECONDS:g} seconds ({hooks.SESSION_END_SECONDS:g} at SessionEnd)" in page
    assert f"after {hooks.CPU_SECONDS:g} seconds of computing" in page
    assert f"larger than {hooks.MAX_EVENT_BYTES // 1_000_000} MB is ignored" in page


def test_the_page_says_what_reaches_the_model_in_each_host() -> None:
    rows = [
        [host.title, host.version, *(ability or "–" for ability in _abilities(host))]
        for host in sorted(table.HOSTS, key=lambda host: host.title.lower())
    ]
    lines = PAGE.partition("| host | run with |")[2].partition("\n\n")[0].splitlines()[2:]

    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] == rows


def _abilities(host: table.Host) -> tuple[str, ...]:
    return host.digest, host.prompt, host.files, host.failures, host.suggestion, host.compaction
