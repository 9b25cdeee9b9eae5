"""A project to run commands in, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from onrecord import timestamps
from onrecord.cli import main
from tests.cli import sample_project

NOW = "2026-03-02T09:30:00Z"
BIN = Path(__file__).parents[2] / "bin" / "onrecord"

DECISION = (
    "--set=context=Imports must survive a restart.",
    "--set=decision=Jobs are rows of the table jobs, 4 at a time.",
    "--set=rationale=One thing less to run.",
)


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "ferry"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return folder


@pytest.fixture
def onrecord(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run a command in this process, with `stdin` as its standard input."""

    def run(*words: str, stdin: str = "") -> Outcome:
        import io

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8"))))
        capfd.readouterr()
        code = main(words)
        return Outcome(code, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def sample_pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pattern") / "project"


@pytest.fixture
def sample(project: Path, onrecord: Callable[..., Outcome], sample_pattern: Path) -> Path:
    """Return the project of the examples; it is created once and copied after that."""
    if not sample_pattern.exists():
        sample_project.make(project, onrecord)
        shutil.copytree(project, sample_pattern)
    else:
        shutil.copytree(sample_pattern, project, dirs_exist_ok=True)
    return project


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Plan the changes of an editor, one for each time it is opened: (old, new) pairs, or an exit code.

    The text that it found in the file is in `tmp_path / "opened-N"`.
    """
    script = tmp_path / "editor.py"
    script.write_text(EDITOR, encoding="utf-8")
    monkeypatch.setenv("VISUAL", f"{shlex.quote(sys.executable)} -S {shlex.quote(str(script))}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def plan(*changes: list[tuple[str, str]] | int) -> None:
        (tmp_path / "changes.json").write_text(json.dumps(changes), encoding="utf-8")

    return plan


EDITOR = """
import json, os, sys
here = os.path.dirname(__file__)
with open(os.path.join(here, "changes.json"), encoding="utf-8") as file:
    changes = json.load(file)
change = changes.pop(0) if changes else sys.exit("the editor was opened once more than expected")
with open(os.path.join(here, "changes.json"), "w", encoding="utf-8") as file:
    json.dump(changes, file)
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
number = 1
while os.path.exists(os.path.join(here, f"opened-{number}")):
    number += 1
with open(os.path.join(here, f"opened-{number}"), "w", encoding="utf-8") as file:
    file.write(text)
if isinstance(change, int):
    sys.exit(change)
for old, new in change:
    if old not in text:
        sys.exit(f"{old!r} is not in the form:\\n{text}")
    text = text.replace(old, new, 1) if old else new
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(text)
"""


def in_own_process(*words: str, cwd: Path, stdin: bytes = b"", options: Sequence[str] = ()) -> Outcome:
    """Run `bin/onrecord` as a shell would, with nothing installed."""
    done = subprocess.run(
        (sys.executable, *options, str(BIN), *words),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=dict(os.environ),
        timeout=120,
    )
    return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
