"""A project under git, for tests: real files, real commits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from onrecord.git import process

_WHO = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


class GitProject:
    """A repository whose files a test writes, moves and commits."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.day = 0
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        environment = {**os.environ, **_WHO}
        if arguments[0] in ("commit", "merge"):
            self.day += 1
            moment = f"2026-{3 + self.day // 28:02}-{1 + self.day % 28:02}T12:00:00Z"
            environment |= {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        command = ("git", "-C", str(self.root), *arguments)
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=120
        ).stdout.strip()

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


class GitCalls:
    """Counts how often git is started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self._run = process.run_all
        monkeypatch.setattr(process, "run_all", self)

    def __call__(self, *arguments: object) -> list[process.ProcessResult]:
        self.times += 1
        return self._run(*arguments)  # type: ignore[arg-type]
