"""Databases that a stranger made: reading them ends soon, runs nothing of theirs, and takes little memory."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from onrecord.importers import memories

NOW = "2026-03-02T09:30:00Z"
COLUMNS = "id, title, subtitle, narrative, facts, files_modified, created_at, type, project"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
REST = (
    "'s' subtitle, 'n' narrative, '[]' facts, '[]' files_modified, '2026' created_at, 'decision' type, 'ferry' project"
)
ROW = ("T", "s", "We decided", '["f"]', "[]", "2026-01-01T00:00:00Z", "decision", "ferry")

HOSTILE = {
    "an endless view": f"CREATE VIEW observations AS {ENDLESS} SELECT x id, 't' || x title, {REST} FROM c",
    "an endless view of nothing": f"CREATE VIEW observations AS {ENDLESS}"
    f" SELECT x id, 't' title, {REST} FROM c WHERE x < 0",
    "huge values": f"CREATE VIEW observations AS SELECT 1 id, hex(zeroblob(400000000)) title, {REST}",
    "an extension": f"CREATE VIEW observations AS SELECT 1 id, load_extension('/tmp/x') title, {REST}",
    "a generated column": "CREATE TABLE observations (id, title GENERATED ALWAYS AS (hex(zeroblob(400000000))),"
    " subtitle, narrative, facts, files_modified, created_at, type, project)",
    "no table": "CREATE TABLE others (id)",
}


def _database(folder: Path, *statements: str) -> str:
    file = str(folder / "claude-mem.db")
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return file


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_database_that_is_a_program_is_left_out_at_once(tmp_path, kind):
    file = _database(tmp_path, HOSTILE[kind])

    content = memories.read_claude_mem(file, "x.db", "/ferry", NOW)

    assert (content.records, content.left_out) == (
        (),
        "cannot be read as a database of claude-mem: it has no plain table called observations",
    )


def test_a_table_that_takes_too_long_is_left_out(tmp_path, monkeypatch):
    file = _database(tmp_path, f"CREATE TABLE observations ({COLUMNS})")
    connection = sqlite3.connect(file)
    connection.executemany(
        f"INSERT INTO observations VALUES ({', '.join('?' * 9)})", [(n, *ROW) for n in range(50_000)]
    )
    connection.commit()
    connection.close()
    monkeypatch.setattr(memories, "_DATABASE_SECONDS", -1.0)

    assert "interrupted" in memories.read_claude_mem(file, "x.db", "/ferry", NOW).left_out


def test_long_values_are_cut(tmp_path):
    file = _database(tmp_path, f"CREATE TABLE observations ({COLUMNS})")
    connection = sqlite3.connect(file)
    title, subtitle, _, _, *rest = ROW
    facts = json.dumps(["y" * 5_000_000])
    connection.execute(
        f"INSERT INTO observations VALUES ({', '.join('?' * 9)})",
        (1, title, subtitle, "x" * 30_000_000, facts, *rest),
    )
    connection.commit()
    connection.close()

    (record,) = memories.read_claude_mem(file, "x.db", "/ferry", NOW).records

    assert len(str(record.content["decision"])) <= memories._MAX_NARRATIVE_LENGTH
