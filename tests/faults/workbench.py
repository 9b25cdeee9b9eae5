"""A command with a fault at one of its file calls, in a process of its own, and whether it was done and said so.

Each run begins with the same files at the same place, so that a change ends in one of two known states.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from onrecord import cli, files, timestamps
from onrecord.store import journal
from onrecord.store.store import Store
from tests.faults import injection
from tests.faults.injection import FAULTS, LASTING, Fault

NOW = "2026-05-01T12:00:00Z"
_IGNORED = (
    "/.git/",
    "/.cache/",
    "/.local/state/",
    "/index.md",
    "/.lock",
    "/.tmp-",
    "/mirror/",
    "/remotes/team/repository/",
    "/remotes/team/folder-",
    "/server.git/",
    "/other.git/",
)
"""Parts of the paths of files that hold no state of their own: git's, derived ones, locks, logs and leftovers."""

_COMMIT = re.compile(rb'(?<="cursor":")[0-9a-f]{40}(?=")')
"""The id of a commit, which depends on its date."""

_BUILDER_SECONDS = 20
_SLOWER = 20
_ERRNOS = ("EIO", "EMFILE", "ENOSPC", "EROFS", "ENOLCK")
State = dict[str, bytes]


class Case(NamedTuple):
    """A command by its words, and the time at which it is run."""

    name: str
    words: tuple[str, ...]
    now: str = NOW
    says: str = ""
    """What it only says if it was done, or found, in whatever form: an anchor without git's id, another confidence."""
    is_report: bool = False
    """True if its exit code says what it found, not whether something was done."""
    is_repeatable: bool = False
    """True if it changes files outside of a store one by one: after a kill, the same command completes it."""
    is_resumed: bool = False
    """True if it exchanges changes with a server: after any fault, the next run completes it."""
    prepared_by: tuple[str, ...] = ()
    """The words of a command that is run first, without a fault."""


class Outcome(NamedTuple):
    """How a command ended: its exit code (-9 if it was killed), what it printed, and its file calls."""

    status: int
    printed: str
    errors: str
    kinds: tuple[str, ...] = ()


class Tried(NamedTuple):
    """A fault in a command, what became of it, and what was wrong with that; empty if nothing was."""

    command: str
    fault: Fault
    kind: str
    flaw: str


class Workbench:
    """A folder with a home and a project, which a run changes and which is put back for the next one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.home = self.work / "home"
        self.project = self.work / "project"
        self.server = self.work / "server.git"
        self._template = folder / "template"
        self.names: dict[str, str] = {}
        """What stands in a command for something that only this folder has."""
        self.project.mkdir(parents=True)
        self.home.mkdir()

    def keep(self) -> None:
        """Make the present files those that each run begins with."""
        shutil.copytree(self.work, self._template, symlinks=True)

    def reset(self) -> None:
        """Put the files back. A builder of the index may outlive its command, and still write into a folder."""
        deadline = time.monotonic() + _BUILDER_SECONDS
        while os.path.lexists(self.work):
            shutil.rmtree(self.work, ignore_errors=time.monotonic() < deadline)
        shutil.copytree(self._template, self.work, symlinks=True, dirs_exist_ok=True)

    def prepare(self, command: Case) -> None:
        """Put the files back, and run the command that goes before this one."""
        self.reset()
        if command.prepared_by:
            outcome = self.run(command.prepared_by, now=command.now)
            assert outcome.status == 0, f"{command.prepared_by}: {outcome.errors}"

    def run(self, words: Sequence[str], fault: Fault | None = None, now: str = NOW) -> Outcome:
        """Run a command in a child process."""
        streams = [self.folder / name for name in ("printed", "errors", "kinds")]
        for stream in streams:
            stream.write_text("")
        child = os.fork()
        if child == 0:
            timestamps.now = lambda: now
            # A machine that stalls leaves out nothing for want of time, which would be another answer.
            clock = time.monotonic
            time.monotonic = lambda: clock() / _SLOWER
            self._be_child(words, fault, *map(str, streams))
        status = os.waitpid(child, 0)[1]
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        printed, errors, kinds = (stream.read_text(errors="replace") for stream in streams)
        return Outcome(code, printed, errors, tuple(kinds.splitlines()))

    def _be_child(self, words: Sequence[str], fault: Fault | None, printed: str, errors: str, kinds: str) -> None:
        status = 99
        try:
            os.chdir(self.project)
            # As in a process of its own, which has not looked for a folder for temporary files yet.
            tempfile.tempdir = None
            self._set_environment()
            for handle, name in ((1, printed), (2, errors)):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), handle)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.stdin, sys.stdout, sys.stderr = (os.fdopen(handle, mode) for handle, mode in enumerate("rww"))
            kinds_handle = os.open(kinds, os.O_WRONLY)
            real_write = os.write
            calls = injection.inject(fault)
            status = cli.main([self.names.get(word, word) for word in words])
            calls.is_on = False
            real_write(kinds_handle, "\n".join(calls.kinds).encode())
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def _set_environment(self) -> None:
        for name in [name for name in os.environ if name.startswith(("XDG_", "ONRECORD_", "CLAUDE"))]:
            del os.environ[name]
        os.environ["HOME"] = str(self.home)
        os.environ["GIT_CONFIG_GLOBAL"] = os.devnull

    def recover(self) -> None:
        """Do what the next change to each store does first."""
        for root in (self.project / ".claude/memory", self.home / ".claude/memory", *self._replicas()):
            if root.is_dir():
                Store(str(root)).recover()

    def _replicas(self) -> Iterator[Path]:
        data = self.home / ".local/share/onrecord"
        yield from data.glob("**/store") if data.exists() else ()

    def state(self) -> State:
        """Return the content of every file that counts, by its path."""
        state = {}
        for folder, _, names in os.walk(self.work):
            for name in names:
                path = os.path.join(folder, name)
                if not any(part in path for part in _IGNORED):
                    with open(path, "rb") as file:
                        state[path[len(str(self.work)) :]] = _COMMIT.sub(b"(a commit)", file.read())
        if os.listdir(self.server / "refs/heads"):
            words = ["git", "--git-dir", str(self.server), "log", "--branches", "-1", "--format=%T"]
            state["/server.git"] = subprocess.run(words, capture_output=True, check=True, timeout=60).stdout
        return state

    def attempt(self, command: Case, fault: Fault, known: Known) -> Tried:
        """Run a command with a fault, and judge what became of it."""
        self.prepare(command)
        outcome = self.run(command.words, fault, command.now)
        with contextlib.redirect_stderr(None):
            self.recover()
        kind = known.kinds[fault.number - 1]
        return Tried(command.name, fault, kind, self._flaw(command, fault, outcome, known))

    def _flaw(self, command: Case, fault: Fault, outcome: Outcome, known: Known) -> str:
        state = self.state()
        text = " ".join((outcome.printed + outcome.errors).split())
        if outcome.status not in (0, 1, 2, -9) or "Traceback" in text:
            return f"exit code {outcome.status}: {text[-400:]}"
        if command.says and not outcome.status and command.says in text:
            return ""
        if command.is_resumed and outcome.status:
            again = self.run(command.words, now=command.now)
            state = self.state()
            return "" if state == known.after else f"half done: {_difference(state, known)}; {again.errors[-300:]}"
        if state not in (known.before, known.after):
            if outcome.status == -9 and command.is_repeatable:
                again = self.run(command.words, now=command.now)
                return "" if self.state() == known.after else f"half done, and stays so: {again.errors[-300:]}"
            if fault.stays and files.LEFT in text:
                return ""
            return f"half done: {_difference(state, known)}; {text[-300:]}"
        if outcome.status == -9:
            return ""
        if known.before == known.after:
            return (
                ""
                if (outcome.status and not known.outcome.status) or _is_same(outcome, known)
                else f"another answer: {text[-300:]}"
            )
        is_done = state == known.after
        if outcome.status == 0 or command.is_report:
            return "" if is_done or command.is_report else f"said done, was not: {text[-300:]}"
        says_done = cli.MADE in text or journal.UNFINISHED in text
        return "" if is_done is says_done else f"said {'done' if says_done else 'not done'}, but: {text[-300:]}"


class Known(NamedTuple):
    """A command without a fault: the state before and after it, its file calls, and what it printed."""

    before: State
    after: State
    kinds: tuple[str, ...]
    outcome: Outcome

    def faults(self) -> Iterator[Fault]:
        """Yield every fault at every file call."""
        for number, kind in enumerate(self.kinds, 1):
            for name in FAULTS[kind]:
                yield Fault(name, number)
                if name in LASTING:
                    yield Fault(name, number, stays=True)


def learn(bench: Workbench, command: Case) -> Known:
    """Run a command without a fault."""
    bench.prepare(command)
    before = bench.state()
    outcome = bench.run(command.words, now=command.now)
    assert outcome.status in (0, 1), f"{command.name}: {outcome.errors}"
    return Known(before, bench.state(), outcome.kinds, outcome)


def _is_same(outcome: Outcome, known: Known) -> bool:
    """True if a command that only reads gave its full answer, or a warning that something is missing."""
    if outcome.status != known.outcome.status:
        return False
    reasons = [
        "cannot be read",
        "cannot be written",
        "not checked",
        "not be compared",
        *(os.strerror(getattr(errno, name)) for name in _ERRNOS),
    ]
    is_told = any(reason in outcome.printed for reason in reasons)
    return is_told or outcome.printed == known.outcome.printed or outcome.errors != known.outcome.errors


def _difference(state: State, known: Known) -> str:
    """Return the files that differ between the states, and which of them each has."""
    paths = sorted({*state, *known.before, *known.after})
    changed = [path for path in paths if not state.get(path) == known.before.get(path) == known.after.get(path)]
    return ", ".join(f"{path} {_which(path, state, known)}" for path in changed)


def _which(path: str, state: State, known: Known) -> str:
    if state.get(path) == known.before.get(path):
        return "as before"
    return "new" if state.get(path) == known.after.get(path) else "neither"


def load_modules() -> None:
    """Import all commands, so that a child does not."""
    import onrecord

    for module in pkgutil.walk_packages(onrecord.__path__, "onrecord."):
        if not module.name.startswith(("onrecord.web", "onrecord.hooks.run", "onrecord.__main__")):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
