"""The hook that .pre-commit-hooks.yaml offers, run by pre-commit as docs/how-to/look-after-records.md shows it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_project import GitProject

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "look-after-records.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```yaml\n(repos:\n.*?)^```$", PAGE, re.M | re.S)

pytest.importorskip("pre_commit", reason="pre-commit is not installed")


@pytest.fixture
def onrecord(tmp_path: Path) -> GitProject:
    """What pre-commit clones: the files that make the package, and the offer."""
    clone = GitProject(tmp_path / "onrecord")
    for name in (".pre-commit-hooks.yaml", "LICENSE", "NOTICE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, clone.root)
    shutil.copytree(ROOT / "src", clone.root / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    clone.commit()
    return clone


@pytest.mark.heavy
def test_a_commit_with_a_record_that_was_replaced_is_refused_and_one_without_is_not(
    tmp_path: Path, onrecord: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    project = GitProject(tmp_path / "project")
    commit = onrecord.git("rev-parse", "HEAD").strip()
    project.write(".pre-commit-config.yaml", EXAMPLE.replace("ADDRESS", str(onrecord.root)).replace("COMMIT", commit))
    project.commit()

    unrelated = _pre_commit(project)
    _save(project, "Use Postgres for session storage")
    good = _pre_commit(project)
    (record,) = (project.root / ".claude" / "memory" / "decisions").glob("*.json")
    data = json.loads(record.read_text())
    data["content"]["status"] = "superseded"
    record.write_text(json.dumps(data))
    bad = _pre_commit(project)

    assert (unrelated.returncode, good.returncode, bad.returncode) == (0, 0, 1), good.stdout + bad.stdout
    assert "(no files to check)Skipped" in unrelated.stdout
    assert "Passed" in good.stdout
    assert "refused by --strict: superseded" in bad.stdout


def _save(project: GitProject, title: str) -> None:
    words = ["decision", title, "--set", f"decision={title}", "--set", "context=c", "--set", "rationale=r", "--force"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "onrecord", "save", *words]
    subprocess.run(command, cwd=project.root, env=environment, check=True, capture_output=True, timeout=600)


def _pre_commit(project: GitProject) -> subprocess.CompletedProcess[str]:
    project.git("add", "-A")
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--verbose"],
        cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=600,
    )  # fmt: skip
