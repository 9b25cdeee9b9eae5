"""Hooks log what they have shown, at which moment, and what became of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onrecord.project import Project
from onrecord.usage import event_log
from tests.hooks.hook_process import run_hook

PNPM = {
    "title": "Packages are added with pnpm, never npm",
    "triggers": ["install a package", "npm install"],
    "content": {"topic": "packages", "value": "pnpm add", "reason": "one lockfile", "strength": "strong"},
    "related_files": ["package.json"],
}
PATH = "preferences/packages-are-added-with-pnpm-never-npm.json"
TASK, WRONG = "install a package for dates", "no, I told you: packages are added with pnpm, not npm"


@pytest.fixture
def project(project: Project) -> Project:
    project.save("preference", PNPM)
    return project


def _moments(project: Project) -> list[tuple[str, str, str, str]]:
    """The showings of the rule, oldest first: moment, form, outcome, agent."""
    showings = reversed(event_log.newest(project.store.root, 100, PATH))
    return [(each.moment, each.form, each.outcome, each.host) for each in showings]


def test_a_prompt_a_file_and_a_command_are_moments_of_their_own(hook, project):
    Path(project.root, "package.json").write_text("{}")
    hook("user_prompt_submit", session="a", prompt=TASK)
    edit = {"file_path": os.path.join(project.root, "package.json"), "old_string": "{}", "new_string": "{ }"}
    hook("pre_tool_use", session="b", tool_name="Edit", tool_input=edit)
    hook("pre_tool_use", session="c", tool_name="Bash", tool_input={"command": "npm install dayjs"})

    assert _moments(project) == [
        ("prompt", "rule", "", "claude-code"),
        ("file", "rule", "", "claude-code"),
        ("command", "rule", "", "claude-code"),
    ]


def test_a_correction_marks_what_was_shown_before_in_that_session(hook, project):
    hook("user_prompt_submit", prompt=TASK)
    hook("user_prompt_submit", session="another", prompt=TASK)

    hook("user_prompt_submit", prompt=WRONG)

    assert _moments(project) == [
        ("prompt", "rule", "corrected", "claude-code"),
        ("prompt", "rule", "", "claude-code"),
        ("correction", "rule", "", "claude-code"),
    ]


def test_the_start_of_a_session_is_one_line_for_the_whole_map(project):
    run_hook("session_start", {"session_id": "s", "cwd": project.root, "source": "startup"})

    whole, unfinished = event_log.newest(project.store.root)

    assert (whole.moment, whole.form, whole.lines, whole.path) == ("start", "map", 6, "")
    assert (unfinished.moment, unfinished.path) == ("start", "sessions/move-invoices-to-the-new-ledger.json")


@pytest.mark.parametrize("where", ["project", "user"])
def test_it_can_be_switched_off(hook, project, where):
    root = Path(project.store.root if where == "project" else os.environ["CLAUDE_CONFIG_DIR"] + "/memory")
    root.mkdir(parents=True, exist_ok=True)
    (root / "memory-config.json").write_text(json.dumps({"usage": {"events": False}}))

    assert "pnpm" in hook("user_prompt_submit", prompt=TASK).context

    assert not os.path.exists(event_log.folder())


def test_a_project_cannot_switch_it_on_against_the_user(hook, project):
    user = Path(os.environ["CLAUDE_CONFIG_DIR"], "memory")
    user.mkdir(parents=True, exist_ok=True)
    (user / "memory-config.json").write_text(json.dumps({"usage": {"events": False}}))
    Path(project.store.root, "memory-config.json").write_text(json.dumps({"usage": {"events": True}}))

    hook("user_prompt_submit", prompt=TASK)

    assert not os.path.exists(event_log.folder())


def test_a_hook_that_shows_nothing_writes_nothing(hook, project):
    hook("user_prompt_submit", prompt="what is the weather in Lisbon like?")
    hook("pre_tool_use", tool_name="Bash", tool_input={"command": "ls -la"})

    assert not os.path.exists(event_log.folder())


def test_a_log_that_cannot_be_written_costs_the_session_nothing(hook, project):
    os.makedirs(os.path.dirname(event_log.folder()), exist_ok=True)
    Path(event_log.folder()).write_text("in the way")

    assert "pnpm add" in hook("user_prompt_submit", prompt=TASK).context
