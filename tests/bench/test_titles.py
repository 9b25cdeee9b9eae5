"""What the benchmark of titles counts."""

from __future__ import annotations

from bench import figure_tables, titles
from bench.titles import Line

LINES = [
    Line("a", "Database: Use Postgres", was_topic=True),
    Line("b", "Use uv", was_topic=False),
    Line("c", "X", True),
]


def test_a_line_that_was_not_read_is_not_counted_as_one_that_can_be_acted_on() -> None:
    assert titles.counts(LINES, [True, False, None]) == {"lines": 3, "read": 2, "act": 1, "topics": 2}


def test_a_label_is_for_the_line_that_was_read() -> None:
    first = LINES[0]

    assert first.hash == first._replace(place="elsewhere").hash
    assert first.hash != first._replace(text="Database: Use SQLite").hash


def test_the_table_has_a_row_for_each_group() -> None:
    groups = {"records": {"lines": 3, "read": 2, "act": 1, "topics": 2}}

    assert figure_tables.titles({"groups": groups}).splitlines()[2].startswith("| records | 2 | 1 of 2: 50 %")
