"""A hook as a host runs it: a cold process that reads an event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from onrecord.project import Project

ROOT = Path(__file__).parents[2]


class HookOutput(NamedTuple):
    """The exit code of a hook and what it printed."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def context(self) -> str:
        return str(self.specific.get("additionalContext", ""))

    @property
    def specific(self) -> dict[str, Any]:
        return json.loads(self.stdout)["hookSpecificOutput"] if self.stdout else {}


def command(event: str, *, is_patient: bool = True) -> list[str]:
    """Return the words that start a hook; a patient one is not ended by the clock while the machine stalls."""
    patience = [str(ROOT / "tests/hooks/patient.py")] if is_patient else []
    return [sys.executable, "-S", "-E", *patience, str(ROOT / "src/onrecord/hooks/run.py"), event]


def run_hook(
    event: str, payload: bytes | dict[str, Any], host: str = "", *, is_patient: bool = True, **env: str
) -> HookOutput:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    process = subprocess.run(
        [*command(event, is_patient=is_patient), *[host][: bool(host)]],
        input=data,
        capture_output=True,
        env={**os.environ, **env},
        timeout=120,
        check=False,
    )
    return HookOutput(process.returncode, process.stdout, process.stderr)


def hook_context(project: Project, prompt: str) -> str:
    """Return the context for `prompt`. Fails if the hook does, or prints a warning."""
    output = run_hook("user_prompt_submit", {"session_id": "s", "cwd": project.root, "prompt": prompt})
    assert (output.code, output.stderr) == (0, b"")
    return output.context
