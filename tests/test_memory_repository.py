"""The CI job for a memory repository: docs/team/git.md shows the file, and its commands find what it says."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests import pages, records, shell

JOB = (pages.ROOT / "docs/team/memory-repository.yml").read_text(encoding="utf-8")
COMMANDS = [line for line in re.findall(r"- run: (.*)", JOB) if not line.startswith("pip install")]
STORE = "checked/.claude/memory"
GOOD = records.raw(triggers=["where are sessions kept"])
FLAWS = {
    "none": (GOOD, [0, 0]),
    "is replaced and says that it is in force": ({**GOOD, "superseded_by": "sessions-in-postgres"}, [1, 0]),
    "carries a credential": (
        {**GOOD, "content": {**GOOD["content"], "decision": "The token is ghp_" + "a1B2" * 9}},
        [1, 0],
    ),
    "cannot be read": ("{", [1, 0]),
}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def test_the_page_shows_the_file():
    assert f"```yaml\n{JOB}```\n" in pages.read("docs/team/git.md")
    assert re.findall(r"path: (\S+)", JOB) == [STORE]


@pytest.mark.parametrize("flaw", FLAWS)
def test_the_job_fails_for_a_record_that(flaw: str, home: Path, tmp_path: Path) -> None:
    record, codes = FLAWS[flaw]
    file = tmp_path / STORE / "decisions/sessions-in-redis.json"
    file.parent.mkdir(parents=True)
    file.write_text(record if isinstance(record, str) else json.dumps(record))
    (tmp_path / STORE / "README.md").write_text("Our memory\n")

    played = shell.play(COMMANDS, home=home, cwd=tmp_path, programs=tmp_path / "programs")

    assert [run.code for run in played] == codes, played
