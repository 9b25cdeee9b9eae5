"""The command of a program that goes on when a hook has ended, and how it is started where nothing can fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from onrecord import detached

SRC = str(Path(detached.__file__).parents[1])


def test_the_command_runs_a_line_of_python_with_this_package_and_arguments(tmp_path):
    line = "import onrecord, os; print(os.path.dirname(onrecord.__path__[0]), sys.argv[1:], sys.flags.no_site)"

    printed = [
        subprocess.run(
            detached.python_command(line, "a", "b c", needs_packages=needs_packages),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for needs_packages in (False, True)
    ]

    assert printed == [f"{SRC} ['a', 'b c'] 1\n", f"{SRC} ['a', 'b c'] 0\n"]


@pytest.mark.parametrize(("python", "first"), [("", sys.executable), ("/opt/python", "/opt/python")])
def test_the_python_of_the_command(python, first):
    assert detached.python_command("pass", python=python)[0] == first
    assert detached.python_command("pass", python=python)[1:4] == ["-S", "-E", "-c"]


def test_without_a_fork_the_program_is_detached_by_its_flags(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(detached, "CAN_INHERIT_LOCK", False)
    monkeypatch.setattr(subprocess, "DETACHED_PROCESS", 8, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: started.append((command, options)))

    detached.start(["python", "-c", "pass"], str(tmp_path))

    nothing = subprocess.DEVNULL
    streams = {"stdin": nothing, "stdout": nothing, "stderr": nothing}
    assert started == [(["python", "-c", "pass"], {"cwd": str(tmp_path), "creationflags": 520, **streams})]
