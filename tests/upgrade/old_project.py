"""A project, its user's home and a session in the middle, as Onrecord 0.1.0 leaves them on a machine.

`make` lets the programs of a 0.1.0 checkout write them. `pack` turns the folder into one JSON object that says nothing
about the machine, `unpack` turns it into a folder again, and 0.1.0.json is one that is kept here.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from tests.upgrade import old_data
from tests.upgrade.old_data import ASKS, FAILS, READS, SETTLED

COMMIT = "e07d194"
"""The last commit of 0.1.0."""

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_name("0.1.0.json")
SESSION = "in-the-middle"
STARTED = "just-started"
"""Two sessions that were open at the upgrade: one had prompts, the other only a digest."""

UNDERSTOOD = "config.json"
"""What 0.1.0 answers to `onrecord config --json`."""

PLUGIN = "onrecord"
"""The folder of the clone that the plugin is installed from, beside the project."""

DRIVER = "project/.git/config"
_INTERPRETER = "home/.cache/onrecord/python"
_BINARY = "zlib, base64: "
_NAMED_AFTER = ("project/.claude/memory", "home/.claude/memory", "project")
"""The folders after whose paths Onrecord names files: an index, a log."""

Packed = dict[str, str]


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
    def plugin(self) -> Path:
        return self.root / PLUGIN

    @property
    def transcript(self) -> Path:
        return self.home / "transcript.jsonl"

    def environment(self) -> dict[str, str]:
        """That of a user who has set nothing."""
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
        """Run a command of the Onrecord that is at the plugin's path now."""
        return self._run(sys.executable, str(self.plugin / "bin" / "onrecord"), *words, given=given)

    def hook(self, launcher: str, event: str, **fields: Any) -> dict[str, Any]:
        """Run a hook as the plugin does; what it answers."""
        given = {"session_id": SESSION, "cwd": str(self.project), "transcript_path": str(self.transcript), **fields}
        answer = self._run("sh", str(self.plugin / launcher), event, given=json.dumps(given))
        return dict(json.loads(answer).get("hookSpecificOutput", {})) if answer else {}

    def refused(self, *words: str) -> str:
        """What a command says that fails."""
        done = self._start((sys.executable, str(self.plugin / "bin" / "onrecord"), *words), "")
        assert done.returncode, done.stdout
        return done.stdout + done.stderr

    def _run(self, *command: str, given: str = "") -> str:
        done = self._start(command, given)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def _start(self, command: Sequence[str], given: str) -> subprocess.CompletedProcess[str]:
        streams: Any = {"capture_output": True, "text": True, "timeout": 60, "check": False}
        return subprocess.run(command, input=given, cwd=self.project, env=self.environment(), **streams)


def is_in_history() -> bool:
    """Whether this clone has the commit; a shallow one, or an archive, has not."""
    return _git_of_clone("cat-file", "-e", f"{COMMIT}^{{commit}}").returncode == 0


def check_out(folder: Path) -> None:
    """Put the files of 0.1.0 that its users get into a folder."""
    archive = _git_of_clone("archive", "--format=tar", COMMIT, ".claude-plugin", "bin", "hooks", "skills", "src")
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)


def _git_of_clone(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)


def make(root: Path) -> OldProject:
    """Let the checkout of 0.1.0 in `root/onrecord` make everything that it leaves behind."""
    made = OldProject(root)
    for folder in (made.project / "src" / "carrier", made.home):
        folder.mkdir(parents=True)
    (made.project / READS).write_text("LIMIT = 90\n", encoding="utf-8")
    made.git("init", "-q", "-b", "main")
    made.command("init", "--merge-driver")
    _save_records(made)
    _write_settings(made)
    made.git("add", "-A")
    made.git("commit", "-qm", "Remember")
    _hold_sessions(made)
    return made


def _save_records(made: OldProject) -> None:
    for category, record in old_data.RECORDS:
        made.command("save", category, "--file", "-", "--force", given=json.dumps(record))
    made.command("supersede", "sessions-live-in-redis", "sessions-live-in-postgres-not-redis")
    made.command("retire", "tabs-for-indentation", "--reason", "the formatter decides")
    made.command("archive", "labels-are-printed-twice", "--reason", "the printer is gone")
    made.command("update", "address-parsing-is-written-twice", "--tag", "postal", "--summary", "found a third place")
    made.command("save", "preference", "--user", "--file", "-", given=json.dumps(old_data.OWN_RECORD))
    made.command("save", "decision", "--draft", "--file", "-", given=json.dumps(old_data.DRAFT))


def _write_settings(made: OldProject) -> None:
    """Every setting of 0.1.0, as its users write them; what 0.1.0 makes of them is noted."""
    for store, values in (
        (made.store, old_data.PROJECT_SETTINGS),
        (made.home / ".claude" / "memory", old_data.OWN_SETTINGS),
    ):
        (store / "memory-config.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    (made.home / UNDERSTOOD).write_text(made.command("config", "--json"), encoding="utf-8")


def _hold_sessions(made: OldProject) -> None:
    """One session gets a digest; the other a record at a prompt, for a file and for an error, and a suggestion."""
    launcher = "hooks/launch"
    digest = made.hook(launcher, "session_start", source="startup", session_id=STARTED)
    assert "auth.sessions" in digest["additionalContext"]
    assert "auth.sessions" in made.hook(launcher, "user_prompt_submit", prompt=ASKS)["additionalContext"]
    reads = {"tool_name": "Read", "tool_input": {"file_path": str(made.project / READS)}}
    assert "90 calls" in made.hook(launcher, "pre_tool_use", **reads)["additionalContext"]
    runs = {"tool_name": "Bash", "tool_input": {"command": "make run"}, "error": FAILS}
    assert "12 replicas" in made.hook(launcher, "post_tool_use_failure", **runs)["additionalContext"]
    made.transcript.write_text("".join(json.dumps(line) + "\n" for line in old_data.TURN), encoding="utf-8")
    ends = {"last_assistant_message": "Done.", "stop_hook_active": False, "background_tasks": []}
    assert SETTLED in made.hook(launcher, "stop", **ends)["additionalContext"]


def pack(made: OldProject) -> Packed:
    """What is in the folder but for the checkout and git's objects, without anything that only this machine has."""
    names = {old: new for new, old in _names(made.root).items()}
    packed = {}
    for file in sorted(path for path in made.root.rglob("*") if path.is_file()):
        path = file.relative_to(made.root).as_posix()
        if path.startswith(f"{PLUGIN}/") or (".git/" in path and path != DRIVER) or path == _INTERPRETER:
            continue
        for old, new in names.items():
            path = path.replace(old, new)
        packed[path] = _as_text(file.read_bytes(), names)
    return packed


def unpack(packed: Packed, root: Path) -> OldProject:
    """The same folder again, in a place of its own; the project is one commit, as it was."""
    made = OldProject(root)
    names = _names(root)
    made.project.mkdir(parents=True)
    made.git("init", "-q", "-b", "main")
    for path, text in packed.items():
        for new, old in names.items():
            path = path.replace(new, old)
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_as_bytes(text, names))
    made.git("add", "-A")
    made.git("commit", "-qm", "Remember")
    return made


def _names(root: Path) -> dict[str, str]:
    """What stands in a packed folder for what differs from machine to machine."""
    real = root.resolve()
    named = {f"{{{folder}}}": fingerprint(real / folder) for folder in _NAMED_AFTER}
    return {**named, "{root}": str(real), "{python}": sys.executable}


def fingerprint(folder: Path) -> str:
    """The name that 0.1.0 gives to a file about a folder."""
    return blake2b(str(folder).encode(), digest_size=16).hexdigest()


def _as_text(data: bytes, names: dict[str, str]) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _BINARY + base64.b64encode(zlib.compress(data, 9)).decode("ascii")
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def _as_bytes(text: str, names: dict[str, str]) -> bytes:
    if text.startswith(_BINARY):
        return zlib.decompress(base64.b64decode(text[len(_BINARY) :]))
    for new, old in names.items():
        text = text.replace(new, old)
    return text.encode("utf-8")
