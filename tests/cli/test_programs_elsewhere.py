"""No command runs a program that lies in the folder it is started in, whatever PATH says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_project import GitProject
from tests.hooks.hook_process import ROOT

PROGRAMS = ("claude", "codex", "git", "less", "more", "vi", "uv", "xdg-open", "ssh", "psql", "env", "sh")
LINES = (
    ("doctor",),
    ("status",),
    ("list",),
    ("show", "first"),
    ("check",),
    ("connect", "claude-code", "--yes"),
    ("connect", "--list"),
    ("connect", "claude-code", "--remove", "--yes"),
    ("log",),
)


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
@pytest.mark.parametrize("entry", [".", "", "bin"])
def test_no_program_of_the_project_is_run(tmp_path: Path, entry: str) -> None:
    project = GitProject(tmp_path / "project")
    ran = tmp_path / "ran"
    for program in PROGRAMS:
        file = project.root / (entry or ".") / program
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n: > {ran}-$(basename $0)\n")
        file.chmod(0o755)
    project.write("a.txt", "x")
    project.commit()
    environment = {**os.environ, "PATH": os.pathsep.join((entry, os.environ["PATH"], entry)), "COLUMNS": "80"}

    for words in (("save", "preference", "Tabs", "--draft", "--force"), *LINES):
        command = [sys.executable, str(ROOT / "bin" / "onrecord"), *words]
        subprocess.run(
            command, cwd=project.root, env=environment, input=b"", capture_output=True, timeout=120, check=False
        )

    assert sorted(path.name for path in tmp_path.glob("ran-*")) == []
