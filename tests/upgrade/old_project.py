"""The stores of a project and of its user, as an earlier version leaves them.

`make` lets the program of an earlier checkout, then called recollect, write them. `pack` turns the folder into one JSON
object that says nothing about the machine, `unpack` turns it into a folder again; 0.1.0.json and 0.2.0.json are kept
here. Caches and states are left out: this version reads none of theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.upgrade import old_data
from tests.upgrade.old_data import READS

ROOT = Path(__file__).parents[2]
UNDERSTOOD = "config.json"
"""What the earlier version answers to `recollect config --json`."""

OLD_CLONE = "recollect"
NEW_PROGRAM = ROOT / "bin" / "onrecord"
_ROOT = "{root}"
Packed = dict[str, str]


class OldVersion(NamedTuple):
    """An earlier version: its number and its last commit."""

    number: str
    commit: str
    max_suggestions: str
    """Its name of the setting for the most suggestions in a session."""

    @property
    def kept(self) -> Path:
        """The file of the stores that it wrote."""
        return Path(__file__).with_name(f"{self.number}.json")

    def is_in_history(self) -> bool:
        """True if this clone has the commit; a shallow one, or an archive, has not."""
        return _git_of_clone("cat-file", "-e", f"{self.commit}^{{commit}}").returncode == 0

    def check_out(self, folder: Path) -> None:
        """Put the files that its users get into a folder."""
        parts = (".claude-plugin", "bin", "hooks", "skills", "src")
        archive = _git_of_clone("archive", "--format=tar", self.commit, *parts)
        folder.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True, timeout=120)


AGENTS = Path(__file__).with_name("0.2.0-agents.json")
"""A home folder with the agents that 0.2.0 has connected."""

VERSIONS = (OldVersion("0.1.0", "e07d194", "max_offers"), OldVersion("0.2.0", "9d02e7de", "max_suggestions"))


class OldProject(NamedTuple):
    """Where the parts are."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def store(self) -> Path:
        return self.project / ".claude" / "memory"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def old_program(self) -> Path:
        return self.root / OLD_CLONE / "bin" / "recollect"

    def environment(self) -> dict[str, str]:
        """Return the environment of a user who has set nothing."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }

    def git(self, *words: str) -> str:
        return self._run("git", "-C", str(self.project), *words)

    def command(self, *words: str, given: str = "") -> str:
        """Run a command of this version."""
        return self._run(sys.executable, str(NEW_PROGRAM), *words, given=given)

    def old_command(self, *words: str, given: str = "") -> str:
        """Run a command of the earlier version."""
        return self._run(sys.executable, str(self.old_program), *words, given=given)

    def connect(self, *words: str) -> str:
        """Run `connect` of this version where no program of an agent is found."""
        return self._run(sys.executable, str(NEW_PROGRAM), "connect", *words, programs="")

    def old_connect(self, *words: str) -> str:
        """Run `connect` of the earlier version where no program of an agent is found."""
        return self._run(sys.executable, str(self.old_program), "connect", *words, programs="")

    def shell(self, line: str) -> str:
        """Run a line that a person pastes."""
        return self._run("sh", "-c", line)

    def _run(self, *command: str, given: str = "", programs: str = os.environ["PATH"]) -> str:
        done = self._start(command, given, {**self.environment(), "PATH": programs})
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def _start(self, command: Sequence[str], given: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        streams: Any = {"capture_output": True, "text": True, "check": False}
        return subprocess.run(command, input=given, cwd=self.project, env=env, timeout=60, **streams)


def _git_of_clone(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False, timeout=120)


def make(root: Path, version: OldVersion) -> OldProject:
    """Let the checkout of an earlier version below `root` write the stores."""
    made = OldProject(root)
    for folder in (made.project / "src" / "carrier", made.home):
        folder.mkdir(parents=True)
    (made.project / READS).write_text("LIMIT = 90\n", encoding="utf-8")
    made.git("init", "-q", "-b", "main")
    made.old_command("init")
    _save_records(made)
    _write_settings(made, version)
    made.git("add", "-A")
    made.git("commit", "-qm", "Remember")
    return made


def _save_records(made: OldProject) -> None:
    for category, record in old_data.RECORDS:
        made.old_command("save", category, "--file", "-", "--force", given=json.dumps(record))
    made.old_command("supersede", "sessions-live-in-redis", "sessions-live-in-postgres-not-redis")
    made.old_command("retire", "tabs-for-indentation", "--reason", "the formatter decides")
    made.old_command("archive", "labels-are-printed-twice", "--reason", "the printer is gone")
    change = ("--tag", "postal", "--summary", "found a third place")
    made.old_command("update", "address-parsing-is-written-twice", *change)
    made.old_command("save", "preference", "--user", "--file", "-", given=json.dumps(old_data.OWN_RECORD))
    made.old_command("save", "decision", "--draft", "--file", "-", given=json.dumps(old_data.DRAFT))


def _write_settings(made: OldProject, version: OldVersion) -> None:
    """Write every setting of 0.1.0, as its users do; what the earlier version makes of them is noted."""
    capture = {"mode": "propose", version.max_suggestions: 5}
    for store, values in (
        (made.store, {**old_data.PROJECT_SETTINGS, "capture": capture}),
        (made.home / ".claude" / "memory", old_data.OWN_SETTINGS),
    ):
        (store / "memory-config.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    (made.home / UNDERSTOOD).write_text(made.old_command("config", "--json"), encoding="utf-8")


def make_agents(root: Path) -> OldProject:
    """Let the checkout of 0.2.0 below `root` connect all agents of a user who had files of their own."""
    made = OldProject(root)
    made.project.mkdir(parents=True)
    for path, text in old_data.AGENT_FILES.items():
        write(made.home / path, text)
    made.old_connect("--mcp", "--yes")
    return made


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8"))


def pack(made: OldProject) -> Packed:
    """Return the files of the stores and of the project, without anything that only this machine has."""
    packed = {}
    for file in sorted(path for path in made.root.rglob("*") if path.is_file()):
        path = file.relative_to(made.root).as_posix()
        if not path.startswith((f"{OLD_CLONE}/", "project/.git/", "home/.cache/", "home/.local/")):
            packed[path] = file.read_text(encoding="utf-8").replace(str(made.root.resolve()), _ROOT)
    return packed


def unpack(packed: Packed, root: Path) -> OldProject:
    """Unpack the same folder in a place of its own; the project is one commit, as it was."""
    made = OldProject(root)
    made.project.mkdir(parents=True)
    made.git("init", "-q", "-b", "main")
    for path, text in packed.items():
        write(root / path, text.replace(_ROOT, str(root.resolve())))
    made.git("add", "-A")
    made.git("commit", "--allow-empty", "-qm", "Remember")
    return made
