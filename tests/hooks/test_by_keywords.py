"""The prompt hook with the keyword scorer: under `title_tags`, and on a Python whose SQLite has no FTS5."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from onrecord import paths, state_file
from onrecord.recall import for_prompt
from onrecord.recall.candidate import NOTHING_ON_FILE
from onrecord.settings import load_settings
from tests.hooks.hook_process import ROOT, HookOutput

ASKS = "where do sessions live, in Postgres or in Redis?"


def hook_without_fts5(project, prompt, session="s1"):
    event = {"session_id": session, "cwd": project.root, "prompt": prompt, "transcript_path": ""}
    process = subprocess.run(
        [sys.executable, "-S", "-E", str(ROOT / "tests" / "without_fts5.py"), "user_prompt_submit"],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    return HookOutput(0, process.stdout, process.stderr)


@pytest.fixture
def by_keywords(project):
    with open(os.path.join(project.store.root, paths.CONFIG), "w") as file:
        json.dump({"retrieval": {"match_strategy": "title_tags"}}, file)
    return project


def preview(project, prompt):
    settings = load_settings(project.store.root)
    return for_prompt.preview(project.stores, prompt, settings, first=False)


def test_without_fts5_a_prompt_gets_the_rule(project):
    answer = hook_without_fts5(project, ASKS)

    assert "rows in auth.sessions" in answer.context


def test_the_warning_comes_once_a_session(project):
    first, second = (hook_without_fts5(project, "write a haiku about the moon") for _ in range(2))
    other = hook_without_fts5(project, "write a haiku about the moon", session="s2")

    assert first.stderr.count(b"\n") == 1 and b"no FTS5" in first.stderr
    assert second.stderr == b""
    assert b"no FTS5" in other.stderr
    assert "no FTS5" in state_file.recent_failures()[-1][2]


def test_title_tags_is_not_warned_of(by_keywords, hook):
    answer = hook("user_prompt_submit", prompt=ASKS)

    assert "rows in auth.sessions" in answer.context
    assert answer.stderr == b""


def test_a_weaker_match_is_pointed_to(by_keywords):
    decision = preview(by_keywords, "put the sessions of the new admin page somewhere")

    assert [(candidate.match.id, candidate.shown_form) for candidate in decision.shown_candidates] == [
        ("sessions-live-in-postgres-not-redis", "pointer")
    ]


@pytest.mark.parametrize("prompt", ["write a haiku about the moon", "thanks, looks good", "rename this variable"])
def test_an_unrelated_prompt_gets_nothing(by_keywords, prompt):
    assert preview(by_keywords, prompt).text == ""


def test_a_question_about_the_past_is_answered(by_keywords):
    assert "rows in auth.sessions" in preview(by_keywords, "why did we put sessions into postgres?").text
    assert preview(by_keywords, "why did we choose kubernetes?").text == NOTHING_ON_FILE
