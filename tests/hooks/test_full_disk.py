"""Hooks answer the same when their state cannot be written: no space, no permission, no folder."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from onrecord.project import Project
from tests.hooks.hook_process import HookOutput, command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits of a process are POSIX")

ASKS = "where do we keep user sessions, postgres or redis?"
DECIDED = (
    "ok let's go with argon2id instead of bcrypt for the password hashes, because bcrypt silently cuts"
    " everything after 72 bytes."
)
EVENTS = {
    "user_prompt_submit": {"prompt": ASKS},
    "session_start": {"source": "startup"},
    "pre_tool_use": {"tool_name": "Write", "tool_input": {"file_path": "{store}/decisions/x.json"}},
    "post_tool_use_failure": {
        "tool_name": "Bash",
        "tool_input": {"command": "make consume"},
        "error": "Exit code 1\nCommitFailedError: the coordinator is not aware of this member",
    },
    "stop": {},
}


def _fill(path: Path) -> None:
    def line(role: str, *blocks: dict) -> str:
        return json.dumps({"type": role, "message": {"role": role, "content": list(blocks)}})

    edit = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/p/auth.py"}}
    lines = [
        line("user", {"type": "text", "text": "the login should be hardened"}),
        line("assistant", {"type": "text", "text": "Passwords are hashed with bcrypt."}),
        line("user", {"type": "text", "text": DECIDED}),
        line("assistant", edit),
        line("assistant", {"type": "text", "text": "Done."}),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _run(
    event: str, project: Project, transcript: Path, *, session: str, no_space: bool = False, **env: str
) -> HookOutput:
    fields = json.dumps(EVENTS[event]).replace("{store}", project.store.root)
    payload = {"session_id": session, "cwd": project.root, "transcript_path": str(transcript), **json.loads(fields)}
    process = subprocess.run(
        command(event),
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={**os.environ, **env},
        # Every write to a file fails, as on a disk without space.
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))) if no_space else None,
        timeout=120,
        check=False,
    )
    return HookOutput(process.returncode, process.stdout, process.stderr)


@pytest.mark.parametrize("obstacle", ["no space", "a file", "/proc/state", "/dev/full/state", "/dev/null"])
@pytest.mark.parametrize("event", EVENTS)
def test_the_answer_is_the_same_without_state(project, tmp_path, event, obstacle):
    transcript = tmp_path / "t.jsonl"
    _fill(transcript)
    expected = _run(event, project, transcript, session="before", ONRECORD_STATE_DIR=str(tmp_path / "own"))
    (tmp_path / "file").write_text("")
    env = {} if obstacle == "no space" else {"ONRECORD_STATE_DIR": obstacle}
    if obstacle == "a file":
        env = {"ONRECORD_STATE_DIR": str(tmp_path / "file" / "below")}

    answer = _run(event, project, transcript, session="now", no_space=obstacle == "no space", **env)

    assert answer == expected
    assert expected.stdout
