"""A project to run commands in, in this process or in one of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect import timestamps
from recollect.cli import main
from tests.cli import sample_project

NOW = "2026-03-02T09:30:00Z"
BIN = Path(__file__).parents[2] / "bin" / "recollect"

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
def recollect(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run a command in this process; text given as `stdin` is what it finds there."""

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
def sample(project: Path, recollect: Callable[..., Outcome], sample_pattern: Path) -> Path:
    """The project of the examples; it is made once and copied afterwards."""
    if not sample_pattern.exists():
        sample_project.make(project, recollect)
        shutil.copytree(project, sample_pattern)
    else:
        shutil.copytree(sample_pattern, project, dirs_exist_ok=True)
    return project


def in_own_process(*words: str, cwd: Path, stdin: bytes = b"", options: Sequence[str] = ()) -> Outcome:
    """Run `bin/recollect` as a shell would, with nothing installed."""
    done = subprocess.run(
        (sys.executable, *options, str(BIN), *words), cwd=cwd, input=stdin, capture_output=True, env=dict(os.environ)
    )
    return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
