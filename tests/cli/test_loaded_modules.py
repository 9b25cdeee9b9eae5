"""A command loads the modules that it uses, not the whole house."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import onrecord
from tests.known_project import known_project

SRC = Path(onrecord.__file__).parents[1]
COUNT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from onrecord.cli import main
main(sys.argv[1:])
print(*(name for name in sys.modules if name.startswith("onrecord.")), file=sys.stderr, sep="\\n")
"""
DECISION = {"title": "Use uv", "context": "c", "decision": "d", "rationale": "r"}


@pytest.mark.parametrize(
    ("line", "most", "never"),
    [
        ("show use-uv", 82, "onrecord.recall.for_prompt onrecord.hosts onrecord.capture onrecord.search.semantic"),
        ("list", 88, "onrecord.recall.for_prompt onrecord.hosts onrecord.capture"),
        ("retire use-uv --reason old", 76, "onrecord.recall onrecord.hosts onrecord.search.rank"),
        ("sync", 74, "onrecord.recall onrecord.hosts onrecord.search.rank"),
    ],
)
def test_a_command_loads_what_it_uses(tmp_path, line, most, never):
    known_project(tmp_path, ("decision", DECISION))
    command = [sys.executable, "-c", COUNT, str(SRC), *line.split()]

    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=120
    )

    modules = {name for name in done.stderr.split() if name.startswith("onrecord.")}
    assert "onrecord.project" in modules
    assert len(modules) <= most, sorted(modules)
    assert modules.isdisjoint(never.split())
