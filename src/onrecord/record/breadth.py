"""Patterns and checks that fit everything: they say nothing about any one thing, so they count as fitting nothing.

Both are tried on samples of what ordinary projects have. A pattern is refused at a share of the samples that no
pattern with a meaning reaches, so that `*.*`, or one pattern for each letter, is no way around it.
"""

from __future__ import annotations

from onrecord import globs
from onrecord.record.check import COMMAND, EDIT, WRITE, Check, breaks_command, breaks_example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PATHS = (
    "README.md",
    "Makefile",
    "package.json",
    ".github/workflows/ci.yml",
    "src/app/main.py",
    "packages/web/src/index.tsx",
    "docs/guide/intro.md",
    "cmd/server/router.go",
    "lib/billing/util.rb",
    "tests/test_login.py",
    "db/migrations/0001_init.sql",
    "infra/network/vpc.tf",
    "assets/logo.svg",
    "crates/core/src/lib.rs",
    "app/models/User.java",
    "zeta/Quark.kt",
)
_MAX_PATH_SHARE = 0.75

_COMMANDS = (
    "git status",
    "git diff HEAD~1",
    "git commit -m 'Fix the login form'",
    "ls -la src",
    "cd packages/web && npm test",
    "npm run build",
    "pytest -q tests/test_login.py",
    "python3 scripts/report.py --month 3",
    "make",
    "cargo build --release",
    "go test ./...",
    "docker compose up -d",
    "cat README.md | head -20",
    "rg 'retry' src",
    "sed -i s/a/b/ config.yml",
    "mkdir -p out",
    "terraform plan",
    "curl -s http://localhost:8080/health",
    "psql -c 'select 1'",
    "rm out/report.csv",
)
_LINES = (
    "def total(items):",
    "    return sum(item.price for item in items)",
    "import os",
    "const router = useRouter();",
    'export function App() { return <main className="page" />; }',
    "if err != nil {",
    "\treturn nil, err",
    "}",
    "CREATE TABLE invoice (id INTEGER PRIMARY KEY);",
    "## Getting started",
    "Run the tests before you push.",
    "- name: Install",
    "  uses: actions/checkout@v4",
    "let mut total = 0;",
    'public static void main(String[] args) { System.out.println("hi"); }',
    "color: #333;",
    '"version": "2.1.0",',
    "# Retry twice, then give up.",
    "FROM python:3.12-slim",
    "assert total([]) == 0",
)
_MAX_CHECK_SHARE = 0.4


def broad_patterns(patterns: Sequence[str]) -> list[str]:
    """Return those of `patterns` that fit nearly every file, alone or together."""
    wild = [pattern for pattern in patterns if "*" in pattern or "?" in pattern]
    if not wild:
        return []
    fitting = {pattern: [path for path in _PATHS if globs.matches(pattern, path)] for pattern in wild}
    limit = _MAX_PATH_SHARE * len(_PATHS)
    alone = [pattern for pattern in wild if len(fitting[pattern]) > limit]
    others = [pattern for pattern in wild if pattern not in alone]
    together = {path for pattern in others for path in fitting[pattern]}
    return wild if len(together) > limit else alone


def break_nearly_everything(checks: Sequence[Check]) -> bool:
    """True if ordinary commands or changes break these checks of a record, one or another, whatever they are about."""
    by_command = [one for one in checks if COMMAND in one.on]
    by_change = [one for one in checks if EDIT in one.on or WRITE in one.on]
    by_line = [one for one in by_change if one.texts]
    by_path = [pattern for one in by_change if not one.texts for pattern in one.paths]
    return (
        _share(_COMMANDS, by_command, breaks_command) > _MAX_CHECK_SHARE
        or _share(_LINES, _everywhere(by_line), _breaks_line) > _MAX_CHECK_SHARE
        or bool(broad_patterns(by_path))
    )


def _share(samples: Sequence[str], checks: Sequence[Check], breaks: Callable[[Check, str], bool]) -> float:
    return sum(any(breaks(one, sample) for one in checks) for sample in samples) / len(samples)


def _everywhere(checks: Sequence[Check]) -> Sequence[Check]:
    """Return the checks that are about nearly every file, alone or together with others."""
    if broad_patterns([pattern for one in checks for pattern in one.paths]):
        return checks
    return [one for one in checks if not one.paths]


def _breaks_line(check: Check, line: str) -> bool:
    return breaks_example(check._replace(on=(WRITE,)), line)
