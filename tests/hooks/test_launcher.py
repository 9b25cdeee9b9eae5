"""hooks/launch: whatever `python3` is on a machine, the hook runs with a real Python or says why it does not."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import onrecord
from tests.powerless import powerless

ROOT = Path(__file__).parents[2]
PROMPT = "where do we keep user sessions, postgres or redis?"
REAL = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")


class Machine:
    """A user's machine: what is on the PATH, where home is, and a project with one memory."""

    def __init__(self, root: Path, name: str = "machine") -> None:
        self.root = root / name
        self.bin, self.home, self.project = (self.root / part for part in ("bin", "home", "project"))
        for folder in (self.bin, self.home, self.project / ".git"):
            folder.mkdir(parents=True)
        for tool in ("mkdir", "mv", "rm", "cat"):
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        onrecord.open(str(self.project)).save(
            "decision",
            {
                "title": "Sessions live in Postgres, not Redis",
                "content": {"context": "c", "decision": "User sessions are rows in Postgres.", "rationale": ["r"]},
            },
        )

    @property
    def memo(self) -> Path:
        return self.home / ".cache" / "onrecord" / "python"

    def has(self, name: str, script: str) -> None:
        """Put a program on the PATH."""
        program = self.bin / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def launch(self, session: str = "s", plugin: Path = ROOT, prefix: Sequence[str] = (), **env: str) -> Told:
        with self.started(plugin, prefix, **env) as process:
            out, err = process.communicate(self.event(session), timeout=120)
        return Told(process.returncode, out.decode(), err.decode())

    def started(self, plugin: Path = ROOT, prefix: Sequence[str] = (), **env: str) -> subprocess.Popen[bytes]:
        whole = {"HOME": str(self.home), "PATH": str(self.bin), **env}
        return subprocess.Popen(
            [*prefix, "/bin/sh", str(plugin / "src/onrecord/hooks/launch"), "user_prompt_submit"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            env={name: value for name, value in whole.items() if value},
        )

    def event(self, session: str) -> bytes:
        return json.dumps({"session_id": session, "cwd": str(self.project), "prompt": PROMPT}).encode()


class Told(NamedTuple):
    """The output of the launcher."""

    code: int
    stdout: str
    stderr: str

    @property
    def is_injection(self) -> bool:
        return self.code == 0 and not self.stderr and "User sessions are rows" in self.stdout


SILENT_OFF = Told(0, "", "onrecord: no Python 3.9 or later found; memory is off\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_interpreter_found_is_remembered(machine: Machine):
    (machine.bin / "python3").symlink_to(REAL)

    assert machine.launch().is_injection
    assert os.path.samefile(machine.memo.read_text().rstrip("\n"), REAL)


def test_a_shim_is_stepped_past_the_second_time(machine: Machine):
    machine.has("python3", f'echo run >>"{machine.root}/shim.log"\nexec "{REAL}" "$@"')

    launches = [machine.launch("one"), machine.launch("two"), machine.launch("three")]

    assert [launch.is_injection for launch in launches] == [True, True, True]
    assert (machine.root / "shim.log").read_text() == "run\n"


def test_the_store_stub_is_passed_over(machine: Machine):
    machine.has("python3", 'echo "Python was not found; run without arguments to install from the Store" >&2; exit 49')
    machine.has("python", "exit 9")
    (machine.bin / "python3.11").symlink_to(REAL)

    assert machine.launch().is_injection


def test_a_stub_that_claims_success_is_passed_over(machine: Machine):
    machine.has("python3", "echo /no/such/python")
    machine.has("python", f'exec "{REAL}" "$@"')

    assert machine.launch().is_injection


def test_an_old_python_is_passed_over(machine: Machine):
    """An interpreter answers the probe as Python 3.8 would: with an exit code."""
    old = "import sys; sys.version_info = (3, 8, 0); exec(sys.argv.pop(1))"
    machine.has("python3", f'exec "{REAL}" -c \'{old}\' "$4"')

    assert machine.launch() == SILENT_OFF


def test_the_windows_launcher_with_its_own_option_is_tried(machine: Machine):
    machine.has("py", f'[ "$1" = -3 ] || exit 1; shift; exec "{REAL}" "$@"')

    assert machine.launch().is_injection


def test_without_any_python_the_session_goes_on_and_is_told_why(machine: Machine):
    assert machine.launch() == SILENT_OFF
    assert not machine.memo.exists()


def test_a_stub_cannot_swallow_the_event(machine: Machine):
    machine.has("python3", "cat >/dev/null; exit 1")
    machine.has("python", f'exec "{REAL}" "$@"')

    assert machine.launch().is_injection


def test_an_interpreter_that_has_gone_is_looked_for_again(machine: Machine):
    machine.memo.parent.mkdir(parents=True)
    machine.memo.write_text("/opt/python-3.8/bin/python3\n")
    (machine.bin / "python3").symlink_to(REAL)

    assert machine.launch().is_injection
    assert os.path.samefile(machine.memo.read_text().rstrip("\n"), REAL)


def test_an_interpreter_that_no_longer_runs_is_forgotten_and_found_again(machine: Machine):
    machine.has("broken", "exit 127")
    machine.memo.parent.mkdir(parents=True)
    machine.memo.write_text(f"{machine.bin}/broken\n")
    (machine.bin / "python3").symlink_to(REAL)

    first, second = machine.launch("one"), machine.launch("two")

    assert (first.code, first.stdout, second.is_injection) == (0, "", True)


@pytest.mark.parametrize("note", ["", "\n", "python3\n", "./python3\n", "\0\0\0", "-c\n"])
def test_a_garbled_note_is_not_run(machine: Machine, note: str):
    machine.memo.parent.mkdir(parents=True)
    machine.memo.write_text(note)
    (machine.bin / "python3").symlink_to(REAL)

    assert machine.launch().is_injection


def test_a_user_without_a_home_is_served_and_nothing_is_remembered_where_others_could_write(machine: Machine):
    machine.has("python3", f'echo run >>"{machine.root}/shim.log"\nexec "{REAL}" "$@"')

    launches = [machine.launch(HOME="", ONRECORD_OFF="1") for _ in range(2)]

    assert launches == [Told(0, "", "")] * 2
    assert (machine.root / "shim.log").read_text() == "run\n" * 2


def test_a_cache_folder_of_the_users_choice_holds_the_note(machine: Machine):
    (machine.bin / "python3").symlink_to(REAL)

    machine.launch("one", ONRECORD_CACHE_DIR=str(machine.root / "own cache"))
    machine.launch("two", XDG_CACHE_HOME=str(machine.root / "xdg"))
    machine.launch("three", XDG_CACHE_HOME="relative")

    assert (machine.root / "own cache" / "python").exists()
    assert (machine.root / "xdg" / "onrecord" / "python").exists()
    assert machine.memo.exists()
    assert not (machine.root / "relative").exists()


def test_spaces_and_quotes_in_every_path(tmp_path: Path):
    machine = Machine(tmp_path, "a machine's “home” $HOME & more")
    plugin = machine.root / "the plug in"
    for part in ("hooks", "src"):
        shutil.copytree(ROOT / part, plugin / part, ignore=shutil.ignore_patterns("__pycache__"))
    interpreter = machine.root / "my python"
    interpreter.mkdir()
    machine.has("python3", f'exec "{machine.root}/my python/python3" "$@"'.replace("$HOME", r"\$HOME"))
    (interpreter / "python3").write_text(f'#!/bin/sh\nexec "{REAL}" "$@"\n')
    (interpreter / "python3").chmod(0o755)

    launches = [machine.launch("one", plugin), machine.launch("two", plugin)]

    assert [launch.is_injection for launch in launches] == [True, True]


def test_a_home_that_cannot_be_written_costs_only_the_note(machine: Machine):
    (machine.bin / "python3").symlink_to(REAL)
    (machine.home / ".cache").write_text("a file where the folder should be")

    launches = machine.launch(ONRECORD_STATE_DIR=str(machine.root / "state"))

    assert launches.is_injection
    assert (machine.home / ".cache").read_text() == "a file where the folder should be"


def test_a_read_only_home_costs_only_the_note(machine: Machine):
    (machine.bin / "python3").symlink_to(REAL)
    cache = machine.home / ".cache" / "onrecord"
    cache.mkdir(parents=True)
    for folder in (cache, cache.parent, machine.home):
        folder.chmod(0o555)

    launches = machine.launch(prefix=powerless())

    assert launches.is_injection
    assert os.listdir(cache) == []


def test_two_first_runs_at_once_leave_one_whole_note(machine: Machine):
    machine.has("python3", f'exec "{REAL}" "$@"')

    running = [machine.started() for _ in range(6)]
    answers = [process.communicate(machine.event(f"s{n}"), timeout=120) for n, process in enumerate(running)]

    assert all(b"User sessions are rows" in out and not err for out, err in answers)
    assert [entry.name for entry in machine.memo.parent.iterdir() if "python" in entry.name] == ["python"]
    assert os.path.samefile(machine.memo.read_text().rstrip("\n"), REAL)


def test_the_launcher_can_be_run_by_any_shell():
    mode = (ROOT / "src/onrecord/hooks/launch").stat().st_mode

    assert mode & stat.S_IXUSR
    assert b"\r" not in (ROOT / "src/onrecord/hooks/launch").read_bytes()
