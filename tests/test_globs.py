"""Patterns of paths and branches."""

from __future__ import annotations

import pytest

from recollect import globs


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/auth.py", "src/auth.py", True),
        ("src/auth.py", "src/auth.pyc", False),
        ("src/auth", "src/auth/login.py", True),
        ("src/auth/", "src/auth/login.py", True),
        ("./src/auth", "src/auth/login.py", True),
        ("src/au", "src/auth/login.py", False),
        ("src/*.py", "src/auth.py", True),
        ("src/*.py", "src/auth/login.py", False),
        ("src/**/*.py", "src/auth.py", True),
        ("src/**/*.py", "src/a/b/login.py", True),
        ("src/**", "src/a/b", True),
        ("**/login.py", "login.py", True),
        ("*.sql", "db/migrations/7.sql", True),
        ("?.sql", "db/17.sql", False),
        ("release/*", "release/2.1", True),
        ("release/*", "release", False),
    ],
)
def test_what_a_pattern_covers(pattern: str, path: str, expected: bool) -> None:
    assert globs.covers(pattern, path) is expected


@pytest.mark.parametrize(
    ("patterns", "first"),
    [
        (["docs/a.md", "src/auth.py"], "src/auth.py"),
        (["src"], "src"),
        (["new/deep/file.py"], "new/deep/file.py"),
        (["*.toml"], "*.toml"),
        (["sr", "other.py"], ""),
        ([], ""),
    ],
)
def test_the_first_pattern_that_touches_a_set_of_paths(patterns: list[str], first: str) -> None:
    changed = globs.Paths(["src/auth.py", "new/", "pyproject.toml"])

    assert changed.first_under(patterns) == first


def test_a_pattern_made_to_be_slow_is_not() -> None:
    pattern = "/".join(["**", "*a*a*a*a*b"] * 40)

    assert not globs.covers(pattern, "/".join(["a" * 60] * 60))
