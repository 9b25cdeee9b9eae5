"""What other tools remember: what says itself what it is becomes a record, the rest is named to an agent.

The readers were tried by hand on files that the tools themselves wrote: claude-mem 13.25.3 (its worker, through its own
import), mem0ai 2.2.1 (`get_all`), basic-memory 0.15.2 (its file writer; its command did not start). The forms here are
written after those. Claude Code's auto memory, Obsidian and Serena are here in their documented form alone.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from onrecord.importers import memories, proposals
from onrecord.importers.sources import Source

NOW = "2026-03-02T09:30:00Z"

FEEDBACK = """\
---
name: feedback_testing
description: How tests are run here
metadata:
  type: feedback
modified: 2026-01-05T10:00:00Z
---
Tests use a real database.

**Why:** mocks hid a broken migration

**How to apply:** start it with `make db`.
"""

NOTE = """\
---
title: Authentication design
type: note
tags: [auth]
permalink: authentication-design
---
# Authentication design

How the API knows who is calling, since the move to two regions.

## Observations
- [decision] Sessions are JWT tokens #security (both regions can check them)
- [preference] Refresh tokens live in HTTP-only cookies
- [status] Deployed to staging

## Relations
- implements [[API security]]
"""


def test_feedback_with_its_why_is_a_preference():
    (record,) = memories.read("memory/feedback_testing.md", FEEDBACK, NOW).records

    assert (record.category, record.title, record.updated_at) == (
        "preference", "How tests are run here", "2026-01-05T10:00:00Z",
    )  # fmt: skip
    assert record.content["value"] == "Tests use a real database. start it with `make db`."
    assert record.content["reason"] == "mocks hid a broken migration"


@pytest.mark.parametrize("text", [FEEDBACK.replace("**Why:**", "So:"), FEEDBACK.replace("feedback\n", "project\n")])
def test_any_other_note_is_left_to_an_agent(text):
    content = memories.read("memory/a.md", text, NOW)

    assert content.records == ()
    assert content.passages[0].reason == memories.PROSE


def test_an_index_of_notes_holds_nothing():
    assert memories.read("memory/MEMORY.md", "- [Testing](feedback_testing.md) how tests run\n", NOW) == ((), ())


def test_observations_with_a_reason_are_records_and_the_others_are_named():
    content = memories.read("notes/auth.md", NOTE, NOW)

    assert [(record.category, record.title, record.source) for record in content.records] == [
        ("decision", "Sessions are JWT tokens", "notes/auth.md:12"),
        ("preference", "Refresh tokens live in HTTP-only cookies", "notes/auth.md:13"),
    ]
    assert content.records[0].content["rationale"] == ["both regions can check them"]
    assert content.records[0].tags == ("security",)
    assert [(passage.first, passage.heading) for passage in content.passages] == [(14, "[status] Deployed to staging")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"results": [{"id": "a", "memory": "Prefers tabs"}, {"id": "b", "memory": "Deploys on Mondays"}]}),
        json.dumps([{"memory": "Prefers tabs"}, {"memory": "Deploys on Mondays"}]),
        '{"memory": "Prefers tabs"}\n{"memory": "Deploys on Mondays"}\n',
    ],
)
def test_each_memory_of_an_export_is_named_to_an_agent(text):
    content = memories.read("mem0.json", text, NOW)

    assert [(passage.first, passage.heading) for passage in content.passages] == [
        (1, "Prefers tabs"), (2, "Deploys on Mondays"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "{", "[1, null]", "[" * 5_000, '{"results": {"a": 1}}'])
def test_an_export_of_another_shape_gives_nothing(text):
    assert memories.read("mem0.json", text, NOW) == ((), ())


COLUMNS = (
    "id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT,"
)
COLUMNS += " facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, created_at TEXT"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    file = tmp_path / "claude-mem.db"
    connection = sqlite3.connect(file)
    connection.execute(f"CREATE TABLE observations ({COLUMNS})")
    insert = "INSERT INTO observations (project, type, title, subtitle, facts, narrative, files_modified, created_at)"
    for project, kind, title in (
        ("ferry", "decision", "Queue in Postgres"),
        ("ferry", "bugfix", "Fix a crash"),
        ("other", "decision", "Elsewhere"),
    ):
        row = (project, kind, title, "One thing less to run", '["SKIP LOCKED is enough"]', "Jobs are rows of a table.",
               '["jobs.py", "../x"]', "2026-01-05T10:00:00.123Z")  # fmt: skip
        connection.execute(f"{insert} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    return file


def test_the_decisions_of_a_project_in_claude_mems_database(tmp_path, database):
    project = tmp_path / "ferry"
    project.mkdir()
    (project / "jobs.py").write_text("x = 1\n")

    result = proposals.read_source(str(project), Source(str(database), "memory"), NOW)

    (record,) = result.records
    assert (record.category, record.title, record.created_at) == (
        "decision", "Queue in Postgres", "2026-01-05T10:00:00Z",
    )  # fmt: skip
    assert record.content["decision"] == "Jobs are rows of a table."
    assert record.content["rationale"] == ["SKIP LOCKED is enough"]
    assert (record.related_files, record.source) == (("jobs.py",), f"{database}:1")
    assert result.left_out == "1 observation that is not a decision"


def test_another_database_is_no_memory(tmp_path):
    file = tmp_path / "x?%20.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()

    assert "no plain table" in memories.read_claude_mem(str(file), "x.db", "/ferry", NOW).left_out
