from __future__ import annotations

import json
import os
import subprocess
import tempfile

import pytest

from onrecord.cli import demo

from .conftest import in_own_process


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_it_runs_from_a_bare_clone_and_leaves_nothing_behind(project, home, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = sorted(tmp_path.iterdir())

    outcome = in_own_process("demo", cwd=project, options=["-S", "-E"])

    assert (outcome.code, outcome.err) == (0, "")
    assert "Sessions live in Postgres, not Redis. Sessions are rows in" in outcome.out
    assert sorted(tmp_path.iterdir()) == before
    assert list(project.iterdir()) == [] and not (home / ".claude").exists()


def test_it_makes_its_point_in_fifty_lines_of_eighty_columns(project, home):
    outcome = in_own_process("demo", cwd=project)

    lines = outcome.out.splitlines()
    assert (outcome.code, outcome.err) == (0, "")
    assert len(lines) <= 50
    assert [line for line in lines if len(line) > 80] == []


def test_a_machine_that_stalls_does_not_end_it(onrecord, temporary, monkeypatch):
    """Ten seconds pass between two looks of a hook at the clock, three times its limit."""
    stall = "import time; clock = time.monotonic; looks = []; "
    stall += "time.monotonic = lambda: clock() + (10 if looks or looks.append(1) else 0); "
    really_run = subprocess.run

    def run(words, **options):
        *interpreter, program = words
        return really_run((*interpreter, stall + program if "-c" in interpreter else program), **options)

    monkeypatch.setattr(demo.subprocess, "run", run)

    outcome = onrecord("demo")

    assert (outcome.code, outcome.err) == (0, "")
    assert "packages-are: Packages are added with uv" in outcome.out


def test_every_moment_of_a_session(onrecord, temporary):
    """The map, the rule at a prompt and at a command, the correction that becomes a check, and what that stops."""
    moments = json.loads(onrecord("demo", "--json").out)["moments"]
    mapped, prompt, command, corrected, checked = (
        [line["text"] for line in moment["lines"] if line["speaker"] in ("memory", "CI")] for moment in moments
    )

    assert len(mapped[0].split("\n")) == 5 and "sessions-live: Sessions live in Postgres, not Redis" in mapped[0]
    assert prompt[0].startswith("Sessions live in Postgres, not Redis. Sessions are rows in auth.sessions")
    assert prompt[1:] == ["(nothing: no record is about it)"]
    assert "uv add NAME, never pip install" in command[0]
    assert "A fare is an int of cents" in corrected[0] and "corrected by the user 2 times" in corrected[0]
    assert "ferry/fares.py:6: return float(fare) / 2" in checked[0] and "1 broken check" in checked[0]


def test_the_check_that_was_learnt_is_on_record(onrecord, temporary):
    project = json.loads(onrecord("demo", "--keep", "--json").out)["project"]

    record = json.loads(onrecord("show", "fares-are-cents", "--json", "--project", project).out)["record"]
    assert [check["adds"] for check in record["checks"]] == [["float("]]
    assert json.loads(onrecord("inbox", "--json", "--project", project).out)["drafts"] == []


def test_what_is_kept_is_a_sound_project(onrecord, temporary):
    project = json.loads(onrecord("demo", "--keep", "--json").out)["project"]

    listed = json.loads(onrecord("list", "--json", "--project", project).out)["records"]
    assert len({record["category"] for record in listed}) == 5
    assert onrecord("doctor", "--project", project).code == 0


def test_the_users_own_folders_are_not_touched(onrecord, temporary, home):
    before = {name: os.environ.get(name) for name in ("CLAUDE_CONFIG_DIR", "ONRECORD_CACHE_DIR")}

    onrecord("demo")

    assert {name: os.environ.get(name) for name in before} == before
    assert list(home.rglob("*.json")) == []
