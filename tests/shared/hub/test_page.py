"""docs/team/postgres.md is true: its SQL and its commands are run in the order in which they stand there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, onrecord, project
from tests.postgres import Server

pytestmark = pytest.mark.debian("postgresql")
__all__ = ["onrecord", "project"]
PAGE = (Path(__file__).parents[3] / "docs" / "team" / "postgres.md").read_text(encoding="utf-8")
# Other tests on the same server have logins of these names.
OWN_NAMES = re.sub(r"\b(ann|ben|carl|hub_owner)(?=\b|_)", r"\1_of_the_page", PAGE)
LOGINS = [f"{name}_of_the_page" for name in ("ann", "ben", "carl", "hub_owner")]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", OWN_NAMES, re.M | re.S)
ELSEWHERE = "pip install "
"""Installing is tested by tests/test_package.py."""


def test_everything_on_the_page_works_in_its_order(postgres: Server, onrecord, project, monkeypatch):
    monkeypatch.setenv("PGHOST", str(postgres.log.parent))
    (project / "carl_of_the_page_password.txt").write_text("a long sentence\n")
    database, output = "postgres", ""
    for language, text in BLOCKS:
        if language == "sql":
            results = [postgres.execute(statement, database=database) for statement in text.split(";\n") if statement]
            database = "memory"
        elif language == "bash":
            for line in text.replace("@localhost", "@").splitlines():
                output += _typed(line, onrecord, monkeypatch)

    assert "platform: 0 records" in output
    assert "carl_of_the_page is a reader of the team platform" in output
    assert "acme: up to date" in output
    assert results == [[]]
    for login in LOGINS:
        postgres.execute(f"DROP OWNED BY {login} CASCADE", database="memory")
    postgres.execute("DROP DATABASE memory WITH (FORCE)")
    for login in LOGINS:
        postgres.execute(f"DROP ROLE {login}")


def _typed(line: str, onrecord: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a line of the page; return its output."""
    line, _, file = line.partition(" < ")
    program, *words = shlex.split(line)
    if program == "export":
        monkeypatch.setenv(*words[0].split("=", 1))
    elif not line.startswith(ELSEWHERE):
        outcome = onrecord(*words, stdin=Path(file).read_text() if file else "")
        assert (program, outcome.code) == ("onrecord", 0), outcome
        return outcome.out
    return ""
