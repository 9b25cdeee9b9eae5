"""Patterns of paths and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onrecord import globs
from tests import cost


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
        ("**/*/?b/**", "b/ab/b", True),
        ("a/**/**", "a", True),
        ("*/a/**", "a/ab", False),
        ("*/**", "b/b", True),
        ("a/?b", "a/ab", True),
        ("/src/auth/", "src/auth/login.py", True),
        ("X.pyX", "X.pyX", True),
        ("X*X", "dir/XaX", True),
        ("XX/*", "XX/a", True),
        ("**", "a/b/c", True),
    ],
)
def test_what_a_pattern_covers(pattern: str, path: str, expected: bool) -> None:
    assert globs.matches(pattern, path) is expected


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
    changed = globs.PathSet(["src/auth.py", "new/", "pyproject.toml"])

    assert changed.first_under(patterns) == first


def test_a_set_of_paths_is_compared_with_patterns_however_they_are_written() -> None:
    changed = globs.PathSet(["XX/aX", "new/"])

    patterns = ["XX/aX", "/XX/aX/", "./XX", "XX/", "new/a/b", "X/aX", "news"]
    assert [changed.first_under([pattern]) for pattern in patterns] == [*patterns[:5], "", ""]


def test_a_walk_ends_at_a_folder_in_which_nothing_can_match() -> None:
    walk, anywhere = globs.walk("/src/*.py"), globs.walk("*.py")

    assert walk.enter(walk.start(), "other") == 0
    assert walk.enter(walk.start(), "src") != 0
    assert walk.has(walk.enter(walk.start(), "src"), "a.py") and not walk.has(0, "a.py")
    assert anywhere.has(0, "a.py") and not anywhere.has(0, "a.sql")
    assert globs.walk("X*").has(globs.walk("X*").start(), "Xa") and not globs.walk("X*").has(0, "a")
    assert (globs.walk("**").is_of_name, globs.walk("*").is_of_name) == (False, True)


def _fits(items: Sequence[str], pattern: Sequence[str], star: str, same: Callable[[str, str], bool]) -> bool:
    """What a pattern means, tried out in every way there is."""
    if not pattern:
        return not items
    if pattern[0] == star:
        return any(_fits(items[skipped:], pattern[1:], star, same) for skipped in range(len(items) + 1))
    return bool(items) and same(items[0], pattern[0]) and _fits(items[1:], pattern[1:], star, same)


def _part_fits(part: str, pattern: str) -> bool:
    return _fits(part, pattern, "*", lambda letter, wanted: wanted in ("?", letter))


@given(
    parts=st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4),
    pattern=st.lists(st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=4)), min_size=2, max_size=5),
)
def test_a_pattern_covers_what_it_covers_when_tried_out_in_every_way(parts: list[str], pattern: list[str]) -> None:
    assume("*" in "".join(pattern) or "?" in "".join(pattern))

    assert globs.matches("/".join(pattern), "/".join(parts)) is _fits(parts, pattern, "**", _part_fits)


@given(name=st.text("ab/", min_size=1, max_size=6), pattern=st.text("ab*?", max_size=5))
def test_a_pattern_without_a_slash_is_compared_with_the_name_and_the_whole(name: str, pattern: str) -> None:
    pattern += "*"
    assume(pattern != "**")

    expected = _part_fits(name.rpartition("/")[2], pattern) or _part_fits(name, pattern)
    assert globs.matches(pattern, name) is expected


@given(
    parts=st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4),
    pattern=st.lists(st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=4)), min_size=1, max_size=5),
)
def test_a_walk_through_folders_finds_what_a_comparison_finds(parts: list[str], pattern: list[str]) -> None:
    text = "/".join(pattern)
    assume(globs.is_pattern(text))

    walk = globs.walk(text)
    state = walk.start()
    for folder in parts[:-1]:
        state = walk.enter(state, folder)

    assert walk.has(state, parts[-1]) is globs.matches(text, "/".join(parts))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*" + "a" * 300 + "b", "a" * 600),
        ("*" + "a?" * 150 + "b", "a" * 600),
        ("**/" + "a/" * 100 + "b", "a/" * 300 + "a"),
        ("/".join(["**", "*aaaaaaaaaaaaaaaaaaab"] * 20), "/".join(["a" * 60] * 10)),
    ],
)
def test_a_pattern_made_to_be_slow_is_not(pattern: str, path: str) -> None:
    def compare(pattern: str) -> Callable[[], None]:
        return lambda: [globs.matches(pattern, path) for _ in range(10)].clear()

    assert not globs.matches(pattern, path)
    cost.assert_at_most(25, compare("**/*z"), compare(pattern))
