"""The harness itself, proved with throw-away plugins: what a hook says must be found where the model would read it.

Facts about the client (2.1.325) met on the way, beyond or against agent-surfaces.md:

- On current models (default Opus 5.5) hook context is not wrapped in <system-reminder>. All additions of a turn (hooks,
  environment, skill listing, date) are joined by blank lines into one role "system" message, with nothing to mark
  where a hook's text ends: so our text should itself say where it begins and ends. Older models (Haiku 4.5) get one
  <system-reminder> per hook in the user message; after a tool call it sits inside the tool_result.
- On resume, a SessionStart text that the history already has, word for word, is not added again (after /compact it
  is). UserPromptSubmit texts are never compared: the same one on every prompt is there as many times.
- Several SessionStart hooks give one note, their texts joined by a line feed; UserPromptSubmit hooks give one each.
- Hooks of one event run in parallel and their texts arrive in the order in which they finish.
- A tool event's context names its tool: "PostToolUseFailure:Bash hook additional context: …".
- PostToolUseFailure is as documented: `error` is "Exit code 3", a line feed and the output; `is_interrupt` and
  `duration_ms` are sent.
- /compact also fires SubagentStop, with an empty `agent_type`, between PreCompact and SessionStart(compact).
- /clear works under -p: SessionEnd(clear), then SessionStart(clear) with a new session_id.
- Neither /compact nor /clear fires UserPromptSubmit.
- A subagent's requests carry the header x-claude-code-agent-id; in -p the client makes no title or quota requests.
- `--input-format stream-json` keeps one client for several prompts: one SessionStart, 0.2 s a turn.
- bypassPermissions is refused for root, which `unshare -r` makes of everybody, unless IS_SANDBOX=1 is set.
- Without TMPDIR and CLAUDE_CODE_TMPDIR the client writes to /tmp/claude-<uid>, whatever HOME says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Optional, Union

import client_package
import pytest
from api_request import Note, Request
from sandbox import Client

from tests.hosts import npm
from tests.hosts.clients.claude_code import ClaudeCode
from tests.hosts.model_request import Tool

OLDER_MODEL = "claude-haiku-4-5"

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the one reason is that it is not Linux")

HOOK = """
import json, os, sys
event = json.load(sys.stdin)
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "events.jsonl"), "a") as log:
    log.write(json.dumps(event) + "\\n")
answer = json.load(open(os.path.join(here, "answers.json")))[int(sys.argv[1])]
print(answer.replace("SOURCE", event.get("source", "")))
"""

SKILL = """---
name: search
description: Finds what was remembered.
---
Look for: $ARGUMENTS
"""


class Plugin:
    """A plugin called `memory` whose hooks write down what they are told and print what the test says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._hooks: dict[str, list[Any]] = {}
        self._answers: list[str] = []
        author = {"name": "Test"}
        manifest = {"name": "memory", "version": "1.0.0", "description": "Test.", "author": author}
        entry = {"name": "memory", "source": "./", "description": "Test."}
        market = {"name": "testmarket", "description": "Test.", "owner": author, "plugins": [entry]}
        self._write(".claude-plugin/plugin.json", manifest)
        self._write(".claude-plugin/marketplace.json", market)
        self._write("skills/search/SKILL.md", SKILL)
        self._write("hooks/hook.py", HOOK)

    def on(self, event: str, output: Union[str, dict[str, Any]] = "", matcher: Optional[str] = None) -> Plugin:
        args = ["${CLAUDE_PLUGIN_ROOT}/hooks/hook.py", str(len(self._answers))]
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": "python3", "args": args}]}
        self._hooks.setdefault(event, []).append({**group, "matcher": matcher} if matcher else group)
        self._answers.append(output if isinstance(output, str) else json.dumps(output))
        self._write("hooks/hooks.json", {"hooks": self._hooks})
        self._write("hooks/answers.json", self._answers)
        return self

    def adds(self, event: str, text: str) -> Plugin:
        return self.on(event, {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})

    def heard(self, event: str) -> list[dict[str, Any]]:
        events = map(json.loads, (self.root / "hooks/events.jsonl").read_text().splitlines())
        return [heard for heard in events if heard["hook_event_name"] == event]

    def _write(self, name: str, content: object) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path / "a plugin")


@pytest.fixture
def client(tmp_path: Path, plugin: Plugin, _client_can_run: None) -> Client:
    return Client(tmp_path / "home", tmp_path / "project", plugin.root)


@pytest.mark.client
@pytest.mark.parametrize("model", [None, OLDER_MODEL])
def test_only_context_in_the_right_place_reaches_the_model(
    plugin: Plugin, client: Client, model: Optional[str]
) -> None:
    plugin.adds("SessionStart", "Digest, SOURCE.\n\nIts second paragraph.")
    plugin.adds("UserPromptSubmit", "Essence.")
    plugin.on("UserPromptSubmit", {"additionalContext": "Stray."})

    turn = client.prompt("hello", replies=["Hi."], model=model)

    assert (turn.exit_code, turn.answer, turn.last.prompt) == (0, "Hi.", "hello")
    assert turn.notes == [
        Note("SessionStart", "Digest, startup.\n\nIts second paragraph."),
        Note("UserPromptSubmit", "Essence."),
    ]
    assert len(plugin.heard("UserPromptSubmit")) == 2
    assert "Stray." not in turn.last.text
    assert "UserPromptSubmit" in turn.debug


@pytest.mark.client
def test_a_denied_write_comes_back_as_an_error(plugin: Plugin, client: Client) -> None:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "not by hand"}
    plugin.on("PreToolUse", {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}, matcher="Write")
    target = client.project / "note.md"

    turn = client.prompt(
        "write it",
        replies=[Tool("Write", {"file_path": str(target), "content": "x"})],
        permission_mode="acceptEdits",
    )

    ((is_error, text),) = turn.tool_results
    assert is_error and "not by hand" in text
    assert not target.exists()


@pytest.mark.client
@pytest.mark.parametrize("model", [None, OLDER_MODEL])
def test_a_failing_command_is_told_to_the_hook_and_there_is_no_network(
    plugin: Plugin, client: Client, model: Optional[str]
) -> None:
    plugin.adds("PostToolUseFailure", "Seen before.")
    connect = "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 5)\""

    turn = client.prompt("go", replies=[Tool("Bash", {"command": connect})], allowed_tools=["Bash"], model=model)

    (failure,) = plugin.heard("PostToolUseFailure")
    assert failure["error"].startswith("Exit code 1\n") and "Network is unreachable" in failure["error"]
    assert turn.notes == [Note("PostToolUseFailure:Bash", "Seen before.")]
    assert turn.tool_results == [(True, failure["error"])]


@pytest.mark.client
def test_compaction_drops_what_was_added_and_starts_again(plugin: Plugin, client: Client) -> None:
    plugin.adds("SessionStart", "Digest, SOURCE.").adds("SessionStart", "Constant.")
    plugin.on("PostCompact").on("UserPromptSubmit")

    with client.session() as session:
        first = session.prompt("one", replies=["First."])
        compaction = session.prompt("/compact")
        second = session.prompt("two")
        session.prompt("/clear")
        third = session.prompt("three")

    assert sorted(first.injected) == ["Constant.", "Digest, startup."]
    assert [request.kind for request in compaction.requests] == ["compact"]
    assert sorted(second.injected) == ["Constant.", "Digest, compact."]
    assert sorted(third.injected) == ["Constant.", "Digest, clear."]
    assert second.session_id != third.session_id
    assert len(plugin.heard("PostCompact")) == 1
    assert [event["prompt"] for event in plugin.heard("UserPromptSubmit")] == ["one", "two", "three"]


@pytest.mark.client
def test_a_resumed_conversation_keeps_its_history(plugin: Plugin, client: Client) -> None:
    plugin.adds("SessionStart", "Digest, SOURCE.").adds("SessionStart", "Constant.")
    plugin.adds("UserPromptSubmit", "Essence.")

    first = client.prompt("remember apples", replies=["Noted."])
    second = client.prompt("what fruit?", resume=True)
    third = client.prompt("and now?", resume=first.session_id)

    assert "remember apples" in second.last.text and "Noted." in second.last.text
    # The client leaves out a SessionStart text that the history has already.
    assert sorted(third.injected) == ["Constant.", "Digest, resume.", "Digest, startup.", *["Essence."] * 3]
    assert first.session_id == second.session_id == third.session_id
    assert first.transcript.is_file()


@pytest.mark.client
def test_a_skill_is_listed_and_can_be_invoked(plugin: Plugin, client: Client) -> None:
    plugin.on("UserPromptExpansion")

    turn = client.prompt("/memory:search green threads")

    assert "- memory:search: Finds what was remembered." in turn.last.text
    assert "Look for: green threads" in turn.last.text
    (expansion,) = plugin.heard("UserPromptExpansion")
    assert (expansion["command_name"], expansion["command_args"]) == ("memory:search", "green threads")


@pytest.mark.client
def test_a_subagents_requests_are_kept_apart(client: Client) -> None:
    def reply(request: Request) -> Union[str, Tool, None]:
        if request.kind == "agent":
            return "Found."
        if request.tool_results:
            return "Done."
        task = {"description": "look", "prompt": "look around", "subagent_type": "Explore", "run_in_background": False}
        return Tool("Agent", task)

    turn = client.prompt("go", replies=reply)

    assert [request.kind for request in turn.requests] == ["main", "agent", "main"]
    assert turn.answer == "Done."


@pytest.mark.client
def test_a_plugin_is_validated(plugin: Plugin, client: Client) -> None:
    plugin.on("Stop")

    good = client.run("plugin", "validate", "--strict", str(plugin.root))
    (plugin.root / ".claude-plugin/marketplace.json").unlink()
    (plugin.root / ".claude-plugin/plugin.json").write_text('{"name": 1}')
    bad = client.run("plugin", "validate", "--strict", str(plugin.root))

    assert good.exit_code == 0, good.stdout + good.stderr
    assert bad.exit_code != 0


@pytest.mark.client
def test_a_plugin_is_installed_from_a_local_marketplace(plugin: Plugin, client: Client) -> None:
    plugin.adds("UserPromptSubmit", "Essence.")
    user = Client(client.home, client.project)

    added = user.run("plugin", "marketplace", "add", str(plugin.root))
    installed = user.run("plugin", "install", "memory@testmarket")
    turn = user.prompt("hello")

    assert (added.exit_code, installed.exit_code) == (0, 0), added.stderr + installed.stderr
    assert turn.injected == ["Essence."]


@pytest.mark.client
def test_a_client_that_takes_too_long_is_stopped(client: Client) -> None:
    client.timeout = 0.05

    with pytest.raises(TimeoutError, match=r"more than 0\.05 s"):
        client.prompt("hello")


@pytest.mark.client
def test_a_script_that_fails_fails_the_test(client: Client) -> None:
    def reply(request: Request) -> str:
        raise KeyError("from the script")

    with pytest.raises(KeyError, match="from the script"):
        client.prompt("hello", replies=reply)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (None, "{} is not in the cache, and there is no npm to fetch it with"),
        ("#!/bin/sh\necho 'E403 refused' >&2; exit 1\n", "npm would not deliver {}@latest: E403 refused"),
    ],
)
@only_linux
def test_why_the_client_is_not_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Optional[str], reason: str
) -> None:
    tools = {"unshare": "#!/bin/sh\nexit 0\n", **({"npm": script} if script else {})}
    for name, text in tools.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(npm, "CACHE", tmp_path / "cache")

    assert client_package.unavailable.__wrapped__() == reason.format(ClaudeCode.package.name)


@only_linux
def test_namespaces_that_are_refused_are_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unshare").write_text("#!/bin/sh\necho 'Operation not permitted' >&2; exit 1\n")
    (tmp_path / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert client_package.unavailable.__wrapped__() == "no network namespaces for this user: Operation not permitted"
