"""docs/team/postgres.md is true: its SQL and its commands are run in the order in which they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import shell
from tests.postgres import Server

pytestmark = pytest.mark.debian("postgresql")
PAGE = (Path(__file__).parents[2] / "docs" / "team" / "postgres.md").read_text(encoding="utf-8")
# Other tests on the same server have logins of these names.
OWN_NAMES = re.sub(r"\b(ann|ben|carl|hub_owner)(?=\b|_)", r"\1_of_the_page", PAGE)
LOGINS = [f"{name}_of_the_page" for name in ("ann", "ben", "carl", "hub_owner")]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", OWN_NAMES, re.M | re.S)
ELSEWHERE = ("pip install ", "recollect remote ", "recollect sync ")
"""Installing is tested by tests/test_package.py, syncing by test_sync.py."""


def test_everything_on_the_page_works_in_its_order(
    postgres: Server, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PGHOST", str(postgres.log.parent))
    (tmp_path / "carl_of_the_page_password.txt").write_text("a long sentence\n")
    database, shown = "postgres", ""
    for number, (language, text) in enumerate(BLOCKS):
        if language == "sql":
            results = [postgres.execute(statement, database=database) for statement in text.split(";\n") if statement]
            database = "memory"
        elif language == "bash":
            commands = [line for line in text.replace("@localhost", "@").splitlines() if not line.startswith(ELSEWHERE)]
            for command in [line for line in commands if line.startswith("export ")]:
                name, _, value = command.removeprefix("export ").partition("=")
                monkeypatch.setenv(name, value)
            played = shell.play(commands, home=home, cwd=tmp_path, programs=tmp_path / f"programs-{number}")
            assert [each for each in played if each.code] == []
            shown += "".join(each.output for each in played)

    assert "platform: 0 records" in shown
    assert "carl_of_the_page is a reader of the team platform" in shown
    assert results == [[]]
    for login in LOGINS:
        postgres.execute(f"DROP OWNED BY {login} CASCADE", database="memory")
    postgres.execute("DROP DATABASE memory WITH (FORCE)")
    for login in LOGINS:
        postgres.execute(f"DROP ROLE {login}")
