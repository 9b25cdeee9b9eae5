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
    ],
)
def test_checks_that_everything_breaks(one, is_broad):
    parsed = check.parse(one)

    assert breadth.breaks_nearly_everything(parsed) is is_broad
    assert any("ordinary" in problem.message for problem in check.problems(parsed)) is is_broad
