"""A project with a record of each category, and hooks that run in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.project import Project
from tests.hooks.hook_process import HookOutput, run_hook
from tests.known_project import six_records

Hook = Callable[..., HookOutput]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return six_records(tmp_path)


@pytest.fixture
def hook(project: Project) -> Hook:
    """Run an event in the project; fields given by name are added to the event."""

    def run(event: str, *, session: str = "s1", is_patient: bool = True, **fields: Any) -> HookOutput:
        payload = {"session_id": session, "cwd": project.root, "transcript_path": "", **fields}
        return run_hook(event, payload, is_patient=is_patient)

    return run
