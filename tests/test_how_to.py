"""The how-to pages and the README are true: their commands are run, page by page, in a project they could be about."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from onrecord.search import relevance
from tests import pages, shell

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
_ELSEWHERE = re.compile(r"\s*(?:claude |scripts/test|pip install )")
"""tests/client drives the real client, tests/test_package.py installs, and the tests do not start themselves."""

_ADR = """# 1. Use NATS for jobs

## Status

Accepted

## Context

Cron was late.

## Decision

Jobs go through NATS.

## Consequences

One more service.
"""
_OF_THE_EARLIER_PLUGIN = {
    "schema_version": "1.0",
    "category": "decision",
    "id": "use-jwt-for-sessions",
    "title": "Use JWT for sessions",
    "record_status": "active",
    "created_at": "2025-01-01T10:00:00Z",
    "updated_at": "2025-01-01T10:00:00Z",
    "tags": ["auth"],
    "content": {"status": "accepted", "context": "Many clients.", "decision": "JWT.", "rationale": ["No table."]},
}
_BEGUN = [
    "onrecord init",
    'onrecord save decision "Sessions live in Postgres, not Redis"'
    ' --set context="Failovers." --set decision="Rows in auth.sessions." --set rationale="One part less."',
]
_INSTALLED = ["onrecord init --user", "onrecord init --merge-driver", "git add . && git commit -q -m 'A memory'"]

_TYPED, _LISTED = "\n> ", "\n- "
_SAVED_BY_HAND = (
    ("Press its key: ", "d"),
    (_TYPED, "Sessions live in Postgres\n"),
    (_TYPED, "Sessions are rows in auth.sessions, 14 day expiry\n"),
    (_TYPED, "Redis lost sessions on failover\n"),
    *((_LISTED, line) for line in ("one fewer moving part\n", "\n", "where do we keep login state?\n", "\n", "\n")),
    ("[?]: ", "y"),
)
"""What somebody types who is asked by `onrecord save`."""

PAGES = {
    "docs/how-to/start-in-an-existing-project.md": [],
    "docs/how-to/check-changes.md": ["onrecord init", "git add . && git commit -q -m 'A memory'"],
    "docs/how-to/import.md": [],
    "docs/how-to/see-the-effect.md": ["onrecord init"],
    "docs/how-to/find-and-list.md": _BEGUN,
    "docs/how-to/monorepos.md": _BEGUN,
    "docs/how-to/review-in-a-pull-request.md": _BEGUN,
    "docs/how-to/tune-silence.md": _BEGUN,
    "docs/how-to/write-records-that-are-found.md": ["onrecord init"],
    "docs/how-to/upgrade-and-remove.md#move-from-the-earlier-plugin": [],
    "docs/how-to/upgrade-and-remove.md#turn-it-off": _BEGUN,
    "docs/how-to/upgrade-and-remove.md#remove": [*_BEGUN, *_INSTALLED],
    "docs/team/git.md": [],
}
"""Each page or section of a page, and the commands that were run in the project before."""

pytestmark = pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="needs a POSIX shell and git")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_works_as_printed(page: str, home: Path, tmp_path: Path) -> None:
    project = _project(home, of_the_earlier_plugin="earlier" in page)
    before = ["git init -q -b main", "git add . && git commit -q -m Begin", *PAGES[page]]
    commands = _commands(pages.read(page))

    played = _play([*before, *commands], home=home, project=project, programs=tmp_path / "programs")

    assert [one for one in played if one.code] == []
    assert len(played) == len(before) + len(commands) and len(commands) >= 3
    assert [one.command for one in played if one.command.startswith("onrecord recall") and _is_silent(one)] == []


def test_the_commands_of_the_readme_work_and_find_what_they_save(home: Path, tmp_path: Path) -> None:
    """Typed in order in a new project, the search lists the record that was saved, and the prompt for `why` gets it."""
    project = _project(home, of_the_earlier_plugin=False)
    page = pages.read("README.md")
    commands = ["git init -q -b main", f"ln -s {ROOT}/bin bin", *_commands(page)]

    played = _play(commands, home=home, project=project, programs=tmp_path / "programs")
    outputs = {one.command: one.output for one in played}
    searched, explained = (
        next(text for command, text in outputs.items() if command.startswith(f"onrecord {name} "))
        for name in ("search", "why")
    )

    assert [one for one in played if one.code] == []
    assert "1  Sessions live in Postgres\n" in searched
    score = re.search(r"1  Sessions live in Postgres\n.* (\d\.\d\d) shown as a rule\n", explained)
    assert score and float(score[1]) >= relevance.THRESHOLD


def test_a_command_that_fails_is_noticed(home: Path, tmp_path: Path) -> None:
    commands = _commands(
        "```\nonrecord version\nonrecord show \\\n    nothing   # a remark\n```\n```diff\nno command\n```\n"
    )

    played = shell.play(commands, home=home, cwd=home, programs=tmp_path / "programs")

    assert [(one.command, one.code) for one in played] == [
        ("onrecord version", 0),
        ("onrecord show nothing   # a remark", 1),
    ]


def _play(commands: list[str], *, home: Path, project: Path, programs: Path) -> list[shell.CommandRun]:
    asking = {r"onrecord save +#": _SAVED_BY_HAND, r"onrecord connect +#": (("Write this?", "y"),)}
    answers = {each: typed for each in commands for asks, typed in asking.items() if re.match(asks, each)}
    return shell.play(commands, home=home, cwd=project, programs=programs, answers=answers)


def _is_silent(run: shell.CommandRun) -> bool:
    return "<memory-context" not in run.output


def _project(home: Path, of_the_earlier_plugin: bool) -> Path:
    """A project with code, a decision on paper, a session of Claude Code; perhaps a record of the earlier plugin."""
    project = home / "project"
    _write(project / "src" / "session.py", "LIFETIME_DAYS = 14\n")
    _write(project / "src" / "billing.py", "CALLS_A_MINUTE = 60\n")
    _write(project / "docs" / "adr" / "0001-use-nats-for-jobs.md", _ADR)
    if of_the_earlier_plugin:
        _write(project / ".claude/memory/decisions/use-jwt-for-sessions.json", json.dumps(_OF_THE_EARLIER_PLUGIN))
    prompt = {"type": "user", "message": {"role": "user", "content": "why are jobs late?"}, "sessionId": "s"}
    stamped = {**prompt, "timestamp": "2026-03-02T09:30:00Z", "cwd": str(project), "uuid": "1"}
    folder = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project))
    _write(home / ".claude" / "projects" / folder / "s.jsonl", json.dumps(stamped) + "\n")
    return project


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _commands(page: str) -> list[str]:
    """The command lines of a page's blocks, each whole."""
    blocks = [block for _, language, block in _BLOCK.findall(page) if language in ("", "sh")]
    lines = [line.strip() for block in blocks for line in re.sub(r" \\\n\s*", " ", block).splitlines()]
    return [line for line in lines if line and not _ELSEWHERE.match(line)]
