"""The commands in hooks/hooks.json, run the way each host runs them: they reply, and nothing in an event is executed.

Codex, Copilot, Qwen Code and Droid install the same package as Claude Code and ignore `args`. A bare `sh` would then
read the event itself as its script.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onrecord.hooks import EVENTS
from onrecord.hosts import table
from onrecord.project import Project
from tests.hooks.hook_process import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="hooks are started by a POSIX shell")

ASKS = "where do we keep user sessions, postgres or redis?"
SCRIPT = "$(touch PWNED) `touch PWNED` '; touch PWNED; ' \"; touch PWNED; \" | touch PWNED & \ntouch PWNED\n# ${HOME}"
NAMES = ["with spaces", "plain", "it's"]


def _hooks() -> Iterator[tuple[str, dict[str, Any]]]:
    wiring = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    for event, groups in wiring.items():
        for group in groups:
            for hook in group["hooks"]:
                yield event, hook


HOOKS = list(_hooks())


def _substituted(hook: dict[str, Any], root: str) -> list[str]:
    """Claude Code, Droid: the variable's text is replaced before a shell sees the command."""
    command = hook["command"].replace("${CLAUDE_PLUGIN_ROOT}", root)
    args = [arg.replace("${CLAUDE_PLUGIN_ROOT}", root) for arg in hook.get("args", ())]
    return [command, *args] if args else ["sh", "-c", command]


def _args_ignored(hook: dict[str, Any], root: str) -> list[str]:
    """Codex, Copilot, Qwen Code: the command alone, through a shell that has the variable."""
    return ["sh", "-c", hook["command"]]


@pytest.fixture(params=NAMES)
def plugin(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Copy the plugin to a folder with an unusual name."""
    root = tmp_path / request.param
    for part in ("hooks", "src"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def _event(event: str, project: Project) -> dict[str, Any]:
    """Return an event with shell syntax in every text."""
    return {
        "session_id": f"{event} {SCRIPT}",
        "transcript_path": SCRIPT,
        "cwd": project.root,
        "hook_event_name": event,
        "prompt": f"{ASKS} {SCRIPT}",
        "source": SCRIPT if event == "SessionStart" else "",
        "tool_name": "Bash",
        "tool_input": {"command": SCRIPT, "file_path": SCRIPT},
        "tool_response": SCRIPT,
        "error": SCRIPT,
        "last_assistant_message": SCRIPT,
        SCRIPT: SCRIPT,
    }


@pytest.mark.parametrize("host", [_substituted, _args_ignored])
def test_no_host_executes_what_an_event_says(host: Any, plugin: Path, project: Project, tmp_path: Path):
    root = "/PLUGIN_ROOT_NOT_EXPANDED_ERROR" if host is _substituted else str(plugin)
    for event, hook in HOOKS:
        process = subprocess.run(
            host(hook, str(plugin)),
            input=json.dumps(_event(event, project)).encode(),
            capture_output=True,
            cwd=project.root,
            env={**os.environ, "CLAUDE_PLUGIN_ROOT": root},
            timeout=120,
            check=False,
        )

        assert (process.returncode, process.stderr) == (0, b""), event
        assert list(tmp_path.rglob("PWNED")) == [], event
        if event == "UserPromptSubmit":
            assert b"User sessions are rows in auth.sessions" in process.stdout


@pytest.mark.parametrize("host", [host.name for host in table.HOSTS])
def test_no_named_host_executes_what_a_prompt_says(host: str, project: Project, tmp_path: Path):
    launch = shlex.quote(str(ROOT / "src/onrecord/hooks/launch"))
    fields = {**_event("UserPromptSubmit", project), "conversation_id": SCRIPT, "submitted_prompt": f"{ASKS} {SCRIPT}"}

    process = subprocess.run(
        ["sh", "-c", f"sh {launch} user_prompt_submit {host}"],
        input=json.dumps(fields).encode(),
        capture_output=True,
        cwd=project.root,
        timeout=120,
        check=False,
    )

    assert (process.returncode, process.stderr) == (0, b"")
    assert list(tmp_path.rglob("PWNED")) == []
    assert b"User sessions are rows in auth.sessions" in process.stdout


def test_every_event_is_wired_in_the_form_that_no_host_misreads():
    commands = {event: hook["command"] for event, hook in HOOKS}

    assert [hook for _, hook in HOOKS if set(hook) - {"type", "command", "timeout"}] == []
    assert sorted(command.split()[2] for command in commands.values()) == sorted(EVENTS)
    assert {command.rpartition(" || ")[0].rpartition(" ")[0] for command in commands.values()} == {
        'sh "${CLAUDE_PLUGIN_ROOT}/src/onrecord/hooks/launch"'
    }


@pytest.mark.parametrize("host", [_substituted, _args_ignored])
def test_a_plugin_that_is_gone_vetoes_nothing(host: Any, tmp_path: Path):
    """Without its script, dash exits with 2. Hosts take that for a veto; Copilot takes any code so before a tool."""
    gone = str(tmp_path / "gone")
    env = {**os.environ, "CLAUDE_PLUGIN_ROOT": gone}
    codes = {
        event: subprocess.run(
            host(hook, gone), input=b"{}", capture_output=True, env=env, check=False, timeout=120
        ).returncode
        for event, hook in HOOKS
    }

    assert codes == {event: 0 if event == "PreToolUse" else 1 for event, _ in HOOKS}


def test_the_form_with_args_would_be_executed(project: Project):
    """What made this a hole: a host that ignores `args` runs a bare `sh`, and that runs the event."""
    subprocess.run(
        ["sh"], input=b'{"prompt": "$(touch PWNED)"}', cwd=project.root, capture_output=True, check=False, timeout=120
    )

    assert Path(project.root, "PWNED").exists()
