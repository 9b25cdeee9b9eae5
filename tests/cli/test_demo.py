from __future__ import annotations

import json
import os
import tempfile

import pytest

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


def test_it_makes_its_point_in_forty_lines_of_eighty_columns(project, home):
    outcome = in_own_process("demo", cwd=project)

    lines = outcome.out.splitlines()
    assert (outcome.code, outcome.err) == (0, "")
    assert len(lines) <= 40
    assert [line for line in lines if len(line) > 80] == []


def test_a_conversation_without_and_with_the_memory(onrecord, temporary):
    """The rule, nothing for another prompt, and of two decisions the one that holds."""
    before, told, silent, replaced = json.loads(onrecord("demo", "--json").out)["turns"]

    assert before["added"] is None and before["prompt"] == told["prompt"] and before["answer"] != told["answer"]
    assert told["added"].startswith("Sessions live in Postgres, not Redis. Sessions are rows in auth.sessions")
    assert silent["added"] == ""
    assert "at most 2 KB" in replaced["added"] and "auth.sessions" not in replaced["added"]


def test_what_is_kept_is_a_sound_project(onrecord, temporary):
    project = json.loads(onrecord("demo", "--keep", "--json").out)["project"]

    listed = json.loads(onrecord("list", "--json", "--project", project).out)["records"]
    assert len({record["category"] for record in listed}) == 6
    assert onrecord("doctor", "--project", project).code == 0


def test_the_users_own_folders_are_not_touched(onrecord, temporary, home):
    before = {name: os.environ.get(name) for name in ("CLAUDE_CONFIG_DIR", "ONRECORD_CACHE_DIR")}

    onrecord("demo")

    assert {name: os.environ.get(name) for name in before} == before
    assert list(home.rglob("*.json")) == []
