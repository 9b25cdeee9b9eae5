"""The holdout in hooks: its sessions get no records, whatever the event; what the user denies stays denied."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import paths, state_file
from onrecord.hosts import table
from onrecord.project import Project
from onrecord.session import holdout
from tests import sessions
from tests.hooks.hook_process import HookOutput, run_hook
from tests.known_project import SIX, known_project
from tests.sessions import say

HELD, OTHER = "one", "s"
"""A session that is in a holdout of one half, and one that is not."""

PNPM = {
    "title": "Add packages with pnpm",
    "id": "use-pnpm",
    "content": {"decision": "pnpm add, never npm.", "context": "One lock file.", "rationale": ["npm writes its own"]},
    "checks": [{"on": "command", "starts": ["npm install"], "say": "run pnpm add"}],
}
ASKS = "where do we keep user sessions, postgres or redis?"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = known_project(tmp_path / "project", *SIX.items(), ("decision", PNPM))
    (tmp_path / "project/src/carrier").mkdir(parents=True)
    (tmp_path / "project/src/carrier/client.py").write_text("LIMIT = 90\n")
    return project


@pytest.fixture
def hook(project: Project) -> Callable[..., HookOutput]:
    def run(event: str, session: str, host: str = "", **fields: Any) -> HookOutput:
        payload = {"session_id": session, "cwd": project.root, "transcript_path": "", **fields}
        output = run_hook(event, payload, host)
        assert (output.code, output.stderr) == (0, b"")
        return output

    return run


def configure(root: str, **values: Any) -> None:
    os.makedirs(root, exist_ok=True)
    Path(root, "memory-config.json").write_text(json.dumps(values), encoding="utf-8")


def events(project: Project) -> list[tuple[str, dict[str, Any]]]:
    """One event of each kind that shows something."""
    client = os.path.join(project.root, "src/carrier/client.py")
    return [
        ("session_start", {"source": "startup"}),
        ("user_prompt_submit", {"prompt": ASKS}),
        ("pre_tool_use", {"tool_name": "Read", "tool_input": {"file_path": client}}),
        ("pre_tool_use", {"tool_name": "Bash", "tool_input": {"command": "npm install left-pad"}}),
        ("session_start", {"source": "compact"}),
    ]


def test_a_session_of_the_holdout_is_shown_nothing_and_the_others_as_ever(project, hook):
    configure(paths.user_store(), retrieval={"holdout": 0.5})

    held = [hook(event, HELD, **fields).stdout for event, fields in events(project)]
    others = [bool(hook(event, OTHER, **fields).context) for event, fields in events(project)]

    assert held == [b""] * len(held)
    assert others == [True] * len(others)


def test_a_host_that_shows_the_start_with_the_first_prompt_holds_it_back_too(project, hook):
    configure(paths.user_store(), retrieval={"holdout": 0.5})
    shell = {"tool_name": "run_shell_command", "tool_input": {"command": "npm install left-pad"}}

    for name, is_shown in ((HELD, False), (OTHER, True)):
        outputs = [
            hook("session_start", name, "gemini", source="startup"),
            hook("user_prompt_submit", name, "gemini", prompt=ASKS),
            hook("post_tool_use", name, "gemini", **shell),
        ]
        assert any(output.stdout for output in outputs) == is_shown


def test_the_guard_and_what_the_user_denies_still_work(project, hook):
    configure(paths.user_store(), retrieval={"holdout": 0.5}, checks={"enforce": "deny"})
    record = os.path.join(project.store.root, "decisions", "use-pnpm.json")

    denied = hook("pre_tool_use", HELD, tool_name="Bash", tool_input={"command": "npm install x"})
    guarded = hook("pre_tool_use", HELD, tool_name="Write", tool_input={"file_path": record, "content": "{}"})
    fine = hook("pre_tool_use", HELD, tool_name="Bash", tool_input={"command": "pnpm add x"})

    assert [output.specific["permissionDecision"] for output in (denied, guarded)] == ["deny", "deny"]
    assert fine.stdout == b""


def test_a_subagent_is_held_out_with_its_session(project, hook):
    configure(paths.user_store(), retrieval={"holdout": 0.5})
    call = {"tool_name": "Bash", "tool_input": {"command": "npm install x"}, "agent_id": "a1"}

    assert [bool(hook("pre_tool_use", name, **call).stdout) for name in (HELD, OTHER)] == [False, True]


def test_a_session_is_known_by_the_id_in_the_name_of_its_file(project, hook):
    """Codex names its file after date and id; what decides is what `onrecord effect` reads later."""
    configure(paths.user_store(), retrieval={"holdout": 0.5})
    file = f"/h/.codex/sessions/2026/11/16/rollout-2026-11-16T02-03-48-{HELD}.jsonl"

    output = hook("user_prompt_submit", HELD, "codex", prompt=ASKS, transcript_path=file, turn_id="t")

    assert output.stdout == b""


@pytest.mark.parametrize("host", sessions.HOSTS)
def test_the_hooks_and_the_files_of_sessions_agree_on_who_is_in_it(project, hook, home, host):
    configure(paths.user_store(), retrieval={"holdout": 0.5})
    files = [sessions.HOSTS[host](home, project.root, f"2026-01-0{day}T10:00:00Z", say("a")) for day in range(1, 9)]
    ids = [table.transcript(host, str(file)).session_id for file in files]

    silent = [
        hook("user_prompt_submit", name, host, prompt=ASKS, transcript_path=str(file)).stdout == b""
        for name, file in zip(ids, files)
    ]

    assert len(set(ids)) == 8 and all(len(name) == 36 for name in ids)
    assert silent == [holdout.is_held_out(name, 0.5) for name in ids]


@pytest.mark.parametrize("value", [0, 0.0, 20, -1, 0.6, "0.5", True, None, [0.5]])
def test_a_holdout_of_none_or_a_bad_value_holds_nothing_out(project, hook, value):
    configure(paths.user_store(), retrieval={"holdout": value})

    assert hook("user_prompt_submit", HELD, prompt=ASKS).context
    assert not Path(state_file.state_path("holdout")).exists()


def test_a_project_can_not_set_a_holdout(project, hook):
    configure(project.store.root, retrieval={"holdout": 0.5})

    assert hook("user_prompt_submit", HELD, prompt=ASKS).context
    (problem,) = Project(project.root).settings.problems
    assert problem.key == "retrieval.holdout"
    assert "may be set in your own config only" in problem.message


def test_a_project_can_not_end_a_holdout_either(project, hook):
    configure(paths.user_store(), retrieval={"holdout": 0.5})
    configure(project.store.root, retrieval={"holdout": 0})

    assert hook("user_prompt_submit", HELD, prompt=ASKS).stdout == b""


def test_hooks_note_when_it_was_switched_on_and_off(project, hook):
    hook("user_prompt_submit", OTHER, prompt=ASKS)
    assert holdout.periods() == []
    configure(paths.user_store(), retrieval={"holdout": 0.2})
    hook("session_start", OTHER, source="startup")
    hook("user_prompt_submit", OTHER, prompt=ASKS)
    (on,) = holdout.periods()
    configure(paths.user_store())
    hook("user_prompt_submit", OTHER, prompt=ASKS)
    (off,) = holdout.periods()

    assert (on.share, on.end, off.start) == (0.2, "9999", on.start)
    assert off.end < "9999"


def test_a_correction_is_still_noted_for_a_suggestion(project, hook):
    configure(paths.user_store(), retrieval={"holdout": 0.5})

    hook("user_prompt_submit", HELD, prompt="no, don't use npm here")

    assert "heard" in Path(state_file.state_path(f"sessions/{HELD}")).read_text(encoding="utf-8")
