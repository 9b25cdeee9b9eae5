"""The rule at the action: the record that governs a command, at most one, once for a family of commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onrecord.project import Project
from onrecord.recall import for_action
from onrecord.session import action
from onrecord.session.ledger import Ledger
from tests.known_project import known_project


def preference(title: str, value: str, *triggers: str) -> tuple[str, dict[str, object]]:
    content = {"topic": "work", "value": value, "reason": "agreed in March", "strength": "strong"}
    return "preference", {"title": title, "triggers": list(triggers), "content": content}


RECORDS = (
    preference("Packages are added with pnpm, never npm", "Use `pnpm add`.", "npm install", "yarn add"),
    preference("Commit subjects begin with feat: or fix:", "Conventional commits.", "git commit", "write a commit"),
    preference("Images are built with make SUBTARGET=x", "`make SUBTARGET=arm`", "make SUBTARGET"),
    preference("git commit --no-verify only with permission", "Fix the hook.", "git commit --no-verify"),
    preference("Migrations are written by hand", "Never `alembic revision --autogenerate`.", "alembic revision"),
    preference("Tests are table-driven", "One table a behaviour.", "write tests for this", "add unit tests"),
    preference("Charts use the house palette", "Eight colours, in that order.", "colours of a chart"),
)
CENTS = {
    "title": "Money is counted in cents",
    "related_files": ["src/bill.py"],
    "content": {"rule": "Money is counted in cents.", "impact": ["wrong bills"], "severity": "high", "kind": "policy"},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return known_project(tmp_path_factory.mktemp("action") / "project", *RECORDS)


def shown(project: Project, line: str) -> list[str]:
    found = action.of_command(line, project.root, project.root)
    decision = for_action.preview(project.stores, found, project.settings)
    return [candidate.match.title.split()[0] for candidate in decision.shown_candidates]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("npm install lodash", "Packages"),
        ("cd web && sudo npm i -D vitest", "Packages"),
        ("git commit -m 'add a page'", "Commit"),
        ("git add -A && git commit -m 'add a page'", "Commit"),
        ("git commit --no-verify -m x", "git"),
        ("make SUBTARGET=arm image", "Images"),
        ("alembic revision --autogenerate -m 'add users'", "Migrations"),
        ("uv run alembic revision -m x", "Migrations"),
    ],
)
def test_a_command_brings_the_record_that_governs_it(project, line, expected):
    assert shown(project, line) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "pwd",
        "npm test",
        "npm run build",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1",
        "cat package.json",
        "rg 'npm install' docs",
        "go test ./...",
        "pytest -q tests/test_charts.py",
        "echo 'git commit'",
        "python - <<'E'\nimport os\nprint('npm install')\nE",
        "grep -rn colours src | head -5",
        "docker ps",
    ],
)
def test_an_ordinary_command_brings_nothing(project, line):
    assert shown(project, line) == []


def test_a_python_caller_is_told_what_governs_a_command(project):
    assert [hit.shown for hit in project.recall(command="npm install lodash")] == ["rule"]


def block(project: Project, line: str, session: str) -> str:
    found = action.of_command(line, project.root, project.root)
    return for_action.block(project.stores, found, project.settings, session)


def test_the_hook_shows_a_record_once_for_a_family(project):
    texts = [block(project, line, "s1") for line in ("npm install a", "npm install b", "sudo npm i c")]

    assert ["pnpm" in text for text in texts] == [True, False, False]


def test_another_session_is_shown_it_again(project):
    texts = [block(project, "npm install a", session) for session in ("s2", "s3")]

    assert all("pnpm" in text for text in texts)


def test_a_prompt_that_asks_for_no_memory_silences_the_actions_of_its_turn(project):
    with Ledger("s4") as ledger:
        ledger.quiet()
    first = block(project, "npm install a", "s4")
    with Ledger("s4") as ledger:
        ledger.count_prompt()

    assert (first, "pnpm" in block(project, "npm install a", "s4")) == ("", True)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(alphabet="npm install git\"'$(){}<>|&;\n#=-/\\é", max_size=200))
def test_any_command_is_answered(project, line):
    decision = for_action.preview(project.stores, action.of_command(line, project.root, project.root), project.settings)

    assert len(decision.shown_candidates) <= 1


def test_a_task_is_asked_like_a_prompt(project):
    text = for_action.for_task(project.stores, "add a dependency with npm install to web", project.settings, "s5")

    assert "pnpm" in text


def test_a_commit_brings_the_gravest_records_about_its_files(tmp_path: Path):
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org")
    (root / "src" / "bill.py").write_text("cents = 1\n")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "start"), ("add", "src/bill.py")):
        subprocess.run([*git, *words], check=True, timeout=60)
    project = known_project(root, ("constraint", CENTS))
    line = action.of_command("git commit -m x", project.root, project.root)

    texts = [for_action.at_commit(project.stores, line, project.root, project.settings, "s6") for _ in range(2)]

    assert ["cents" in text for text in texts] == [True, False]
