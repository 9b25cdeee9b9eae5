"""A manipulated index file: nothing in it runs, and every hook replies as with a new one."""

from __future__ import annotations

import sqlite3

import pytest

from onrecord import state_file
from onrecord.search import index
from tests import searching
from tests.hooks.test_modules import ASKS

ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t"
POISONS = {
    "trigger": ["CREATE TRIGGER t AFTER UPDATE ON total BEGIN DELETE FROM record; END"],
    "endless trigger": [
        f"CREATE TRIGGER t BEFORE INSERT ON record BEGIN INSERT INTO folder VALUES ('x', ({ENDLESS})); END"
    ],
    "endless view": ["ALTER TABLE record RENAME TO hidden", f"CREATE VIEW record AS {ENDLESS}"],
    "view over a table": [
        "ALTER TABLE total RENAME TO hidden",
        "CREATE VIEW total AS SELECT 1 AS id, 9 AS records, 1 AS title_terms, 1 AS body_terms",
    ],
    "another table": ["CREATE TABLE mine (x)"],
    "table without columns": ["DROP TABLE term", "CREATE TABLE term (term TEXT)"],
    "missing table": ["DROP TABLE record_file"],
    "index over an expression": ["CREATE INDEX mine ON record (length(title))"],
    "no text": ["UPDATE record SET title_terms = NULL, tags = 7, body_terms = x'00ff', facts = 3"],
    "no numbers": ["UPDATE total SET records = 'many', title_terms = NULL", "UPDATE term SET records = 'some'"],
    "no category": ["UPDATE record SET category = 'nonsense', expires = 7"],
    "no facts": ["UPDATE record SET facts = '[1]'"],
    "no date": ["UPDATE record SET updated_at = NULL"],
    "no totals": ["DELETE FROM total", "DELETE FROM term"],
    "full text of other records": ["INSERT INTO active_text (active_text) VALUES ('delete-all')"],
    "huge numbers": ["UPDATE term SET records = 1000000000000, titles = -5", "UPDATE record SET mtime = -1, size = -1"],
}


@pytest.fixture
def poisoned(project, hook):
    """Poison the index of the sample project; what the hooks said before it."""

    def poison(statements):
        index.open(project.store.root).close()
        connection = sqlite3.connect(index.file_of(project.store.root))
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return poison


@pytest.mark.parametrize("name", POISONS)
def test_every_hook_answers_as_from_a_new_index(poisoned, project, hook, name):
    events = [
        ("user_prompt_submit", {"prompt": ASKS}),
        ("session_start", {"source": "startup"}),
        ("pre_tool_use", {"tool_name": "Read", "tool_input": {"file_path": "src/auth/session.py"}}),
    ]
    expected = [hook(event, session=f"before-{event}", **fields).stdout for event, fields in events]

    for number, (event, fields) in enumerate(events):
        poisoned(POISONS[name])
        answer = hook(event, session=f"after-{event}", **fields)
        assert (answer.code, answer.stdout) == (0, expected[number]), (event, state_file.recent_failures())


@pytest.mark.parametrize("name", POISONS)
def test_a_search_is_answered_as_from_a_new_index(poisoned, project, name):
    expected = [match.id for match in searching.find(index.open(project.store.root), ASKS)]
    poisoned(POISONS[name])

    assert expected
    assert [match.id for match in searching.find(index.open(project.store.root), ASKS)] == expected
