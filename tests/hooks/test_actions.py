"""Actions in every host, through the hook's own process: a command, its files, a commit, a task, a subagent."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onrecord import state_file
from onrecord.hosts import table
from onrecord.project import Project
from onrecord.search import index
from tests.hooks.hook_process import HookOutput, run_hook
from tests.hooks.host_events import ASKS, FILE, FILE_RULE, HOSTS, RULE, filled

NAMES = [host.name for host in table.HOSTS]
PNPM = {
    "title": "Packages are added with pnpm, never npm",
    "triggers": ["npm install"],
    "content": {"topic": "packages", "value": "pnpm add", "reason": "one lockfile", "strength": "strong"},
}


@pytest.fixture
def project(project: Project) -> Project:
    project.save("preference", PNPM)
    (Path(project.root) / FILE).parent.mkdir(parents=True)
    (Path(project.root) / FILE).write_text("limit = 90\n")
    for folder in Path(project.store.root).iterdir():
        # Folders that were not changed a moment ago: only then does the filter rule a command out.
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    index.open(project.store.root).close()
    return project


def run(host: str, project: Project, tool: dict[str, Any], event: str = "", **fields: Any) -> HookOutput:
    events = HOSTS[host]
    common = {"session_id": "s", "cwd": project.root, **events.common}
    payload = filled({**common, **tool, **fields}, project.root, project.root)
    output = run_hook(event or events.files_event, payload, host)
    assert (output.code, output.stderr) == (0, b"")
    return output


def shell(host: str, project: Project, command: str, event: str = "", **fields: Any) -> str:
    tool = filled(HOSTS[host].shell, project.root, project.root, command=command)
    return run(host, project, tool, event, **fields).stdout.decode()


@pytest.mark.parametrize("host", NAMES)
def test_every_host_is_shown_the_rule_for_a_command(project, host):
    assert "pnpm" in shell(host, project, "cd web && npm install lodash")


@pytest.mark.parametrize("host", NAMES)
def test_every_host_is_shown_the_records_about_a_file_that_a_command_names(project, host):
    assert FILE_RULE in shell(host, project, f"sed -n 1,20p {FILE}")


@pytest.mark.parametrize("host", NAMES)
@pytest.mark.parametrize("command", ["ls -la", "npm test", "git status", "npm install x # #nomem", "\0", "'"])
def test_an_ordinary_command_is_left_alone(project, host, command):
    assert shell(host, project, command) == ""


@pytest.mark.parametrize("command", ["cd app && \\\n  deployctl push prod", "A=1 \\\n  deployctl push prod"])
def test_the_rule_comes_at_a_command_after_a_continued_line(project, command):
    content = {"kind": "technical", "rule": "Ask first", "impact": "x", "severity": "high"}
    project.save("constraint", {"title": "Deploy by release", "triggers": ["deployctl push"], "content": content})

    assert "Ask first" in shell("claude-code", project, command)


def test_an_ordinary_command_leaves_no_trace(project):
    shell("claude-code", project, "ls -la")

    assert not os.path.exists(os.path.join(state_file.paths.state_dir(), "sessions"))


def test_a_family_is_shown_its_rule_once_a_session(project):
    texts = [shell("codex", project, f"npm install {name}") for name in ("a", "b")]

    assert ["pnpm" in text for text in texts] == [True, False]


def test_a_prompt_with_nomem_silences_the_commands_of_its_turn(project):
    run_hook("user_prompt_submit", {"session_id": "s", "cwd": project.root, "prompt": "add lodash #nomem"})

    assert shell("claude-code", project, "npm install lodash") == ""


@pytest.mark.parametrize("max_inject", [0, 3])
def test_the_next_prompt_ends_the_silence_whatever_prompts_show(project, max_inject):
    Path(project.store.root, "memory-config.json").write_text(json.dumps({"retrieval": {"max_inject": max_inject}}))
    for prompt in ("add lodash #nomem", "now build the page"):
        run_hook("user_prompt_submit", {"session_id": "s", "cwd": project.root, "prompt": prompt})

    assert "pnpm" in shell("claude-code", project, "npm install lodash")


@pytest.mark.parametrize("max_inject", [0, 3])
def test_a_compaction_does_not_end_the_silence_of_a_turn(project, max_inject):
    Path(project.store.root, "memory-config.json").write_text(json.dumps({"retrieval": {"max_inject": max_inject}}))
    run_hook("user_prompt_submit", {"session_id": "s", "cwd": project.root, "prompt": "add lodash #nomem"})
    run_hook("session_start", {"session_id": "s", "cwd": project.root, "source": "compact"})

    assert shell("claude-code", project, "npm install lodash") == ""


def test_a_rule_comes_again_after_a_compaction_even_if_prompts_show_nothing(project):
    Path(project.store.root, "memory-config.json").write_text(json.dumps({"retrieval": {"max_inject": 0}}))
    texts = [shell("claude-code", project, "npm install a")]
    run_hook("session_start", {"session_id": "s", "cwd": project.root, "source": "compact"})
    texts.append(shell("claude-code", project, "npm install b"))

    assert ["pnpm" in text for text in texts] == [True, True]


def test_a_subagent_is_shown_the_rule_that_its_session_has_seen(project):
    texts = [shell("claude-code", project, "npm install a", **fields) for fields in ({}, {"agent_id": "a1"})]

    assert all("pnpm" in text for text in texts)


def test_a_task_is_asked_like_a_prompt(project):
    for tool in ("Task", "Agent"):
        fields = {"tool_name": tool, "tool_input": {"prompt": ASKS, "description": "look"}, "session_id": tool}
        assert RULE in run("claude-code", project, fields).context


def test_a_commit_is_shown_the_gravest_rule_about_its_files(project):
    git = ("git", "-C", project.root, "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "start"), ("add", FILE)):
        subprocess.run([*git, *words], check=True, timeout=60)

    texts = [shell("claude-code", project, "git commit -m 'raise the limit'") for _ in range(2)]

    assert [FILE_RULE in text for text in texts] == [True, False]


def test_a_command_of_a_megabyte_is_answered(project):
    line = "npm install " + "x" * 1_000_000

    assert "pnpm" in shell("claude-code", project, line)


def test_a_setting_turns_it_off(project):
    config = Path(project.store.root, "memory-config.json")
    config.write_text(json.dumps({"retrieval": {"actions": False}}), encoding="utf-8")

    assert shell("claude-code", project, "npm install lodash") == ""
