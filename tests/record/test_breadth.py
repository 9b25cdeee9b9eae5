from __future__ import annotations

import pytest

from onrecord.record import breadth, check


@pytest.mark.parametrize(
    ("patterns", "broad"),
    [
        ([], []),
        (["src/auth.py", "docs/"], []),
        (["*.py", "src/**", "**/test_*", "*.sql", "packages/*/src/**"], []),
        (["**/*.ts", "**/*.tsx", "**/*.js", "**/*.css"], []),
        (["**"], ["**"]),
        (["./**/*", "src/a.py"], ["./**/*"]),
        (["*.py", "*"], ["*"]),
        (["?*"], ["?*"]),
        (["*.*"], ["*.*"]),
    ],
)
def test_patterns_that_fit_every_file(patterns, broad):
    assert breadth.broad_patterns(patterns) == broad


@pytest.mark.parametrize(
    ("one", "is_broad"),
    [
        ({"on": "command", "starts": ["git push"]}, False),
        ({"on": "command", "has": ["--force"]}, False),
        ({"on": "edit", "has": ["TODO"]}, False),
        ({"on": "edit", "has": ["—"]}, False),
        ({"on": "edit", "paths": ["*.sql"], "has": [";", "("]}, False),
        ({"on": "edit", "paths": ["*"], "has": [";", "(", ":", "=", ".", "-"]}, True),
        ({"on": "command", "has": ["-", ".", "/", "test", "git"]}, True),
        ({"on": "edit", "paths": ["*.lock", "dist/"]}, False),
        ({"on": "edit", "paths": ["*.*"]}, True),
    ],
)
def test_checks_that_everything_breaks(one, is_broad):
    parsed = check.parse(one)

    assert breadth.break_nearly_everything([parsed]) is is_broad
    assert any("ordinary" in problem.message for problem in check.problems(parsed)) is is_broad


_COMMANDS = [{"on": "command", "starts": [program]} for program in ("git", "npm", "cat", "rm")]
_ENDINGS = ("md", "json", "yml", "py", "tsx", "go", "rb", "sql", "tf", "svg", "rs", "java", "kt")


@pytest.mark.parametrize(
    ("several", "are_broad"),
    [
        ([], False),
        (_COMMANDS, False),
        ([*_COMMANDS, {"on": "command", "has": ["test", "build", "-c", "up", "plan"]}], True),
        ([{"on": "edit", "has": ["TODO"]}, {"on": "edit", "paths": ["*.sql"], "has": [";", "(", ":", "="]}], False),
        ([{"on": "edit", "has": [text]} for text in ("(", "=", ":", ".")], True),
        ([{"on": "edit", "paths": ["*.lock"]}, {"on": "edit", "paths": ["*.min.js"]}], False),
        ([{"on": "edit", "paths": [f"*.{ending}"]} for ending in _ENDINGS], True),
        ([{"on": "edit", "paths": [f"*.{ending}"], "has": ["(", ":", ".", "=", "-"]} for ending in _ENDINGS], True),
    ],
)
def test_checks_that_everything_breaks_together(several, are_broad):
    parsed = [check.parse(one) for one in several]

    assert breadth.break_nearly_everything(parsed) is are_broad
    assert bool(check.problem_together(parsed)) is are_broad
    assert not any(problem for one in parsed for problem in check.problems(one))


def test_no_check_is_carried_out_of_several_that_everything_breaks_together():
    several = [check.parse({"on": "edit", "has": [text]}) for text in ("(", "=", ":", ".")]

    assert check.sound(several) == []
    assert check.sound(several[:1]) == several[:1]
