"""The bare repository that mirrors a shared one. Only here does git reach a network.

The repository and its config are our own. What it fetches may be hostile: nothing is checked out, no hook runs, no
submodule is followed, and time, output and disk space are limited. A remote that is a folder is reached through
`local_repository`; git itself may open no other path.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import IO

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.git import process, repository
from onrecord.git.repository import NO_GIT, is_commit
from onrecord.shared import local_repository

PROTOCOLS = "git:http:https:ssh"
"""Without `file`: git would run the programs that a local repository names, wherever an address leads it."""

_LOCAL_PROTOCOL = "file"
REMOTE = "REMOTE"
"""Stands for the address among the words of a git command."""

MAX_OUTPUT_BYTES = 64_000_000
"""Output of one git command: a listing of 400,000 files."""

_PARTS = ("HEAD", "refs", "objects")
"""What makes a folder a repository for git; a killed `git init` leaves only some of them."""

_MAX_MESSAGE_BYTES = 20_000
_MAX_MIRROR_BYTES = 4_000_000_000
"""Size of a mirror: a project's own repository can be a remote, with all its history."""

_CHECK_SECONDS = 0.5
_JOIN_SECONDS = 1.0
"""Wait for output after git has ended: a program that it left running, as SSH does, may keep the pipe open."""

_RAISING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGPROF")
"""From Ctrl-C, a service manager, a closed terminal, and the two timers of `budget`."""

_PINNED = (
    *("-c", "push.followTags=false", "-c", "push.gpgSign=false", "-c", "push.recurseSubmodules=no"),
    *("-c", "fetch.recurseSubmodules=no", "-c", "fetch.writeCommitGraph=false", "-c", "gc.autoDetach=false"),
    # The size limit counts packs only, not loose objects.
    *("-c", "fetch.unpackLimit=1"),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30", "-c", "core.logAllRefUpdates=false"),
)
_USER_VARIABLES = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
"""Variables of the user's environment that tell git how to reach hosts."""


class GitResult(NamedTuple):
    """The result of a git command: `status` is None if git was killed or did not start."""

    status: int | None
    output: bytes
    message: str

    @property
    def is_good(self) -> bool:
        return self.status == 0

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")


class Mirror:
    """The bare repository in `folder`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def create(self) -> GitResult:
        """Create the repository if it is missing or incomplete; else remove the locks that a killed git left."""
        if not all(os.path.exists(os.path.join(self.folder, part)) for part in _PARTS):
            files.make_folder(self.folder, is_private=True)
            return self._run("init", "-q", "--bare", "--template=", self.folder, exists=False)
        for folder, _, names in files.walk(self.folder):
            for name in names:
                if name.endswith(".lock"):
                    files.remove(os.path.join(folder, name))
        return GitResult(0, b"", "")

    def remove(self) -> None:
        """Delete the repository: everything in it can be fetched again."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_local(self, *words: str, stdin: bytes = b"", seconds: float = 60) -> GitResult:
        """Run a git command that needs no network."""
        return self._run(*words, stdin=stdin, seconds=seconds)

    def run_remote(self, url: str, *words: str, seconds: float) -> GitResult:
        """Run a git command that may reach the remote; `REMOTE` among its words stands for the address."""
        path = local_repository.local_path(url)
        if not path:
            return self._run(*_addressed(words, url), seconds=seconds, protocols=PROTOCOLS)
        with local_repository.opened(path, os.path.dirname(self.folder)) as folder:
            return self._run(*_addressed(words, folder), seconds=seconds, protocols=_LOCAL_PROTOCOL)

    def commit_of(self, ref: str) -> str:
        """Return the id of the commit that `ref` names; empty for none."""
        result = self.run_local("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        commit = result.text.strip() if result.is_good else ""
        return commit if is_commit(commit) else ""

    def _run(
        self, *words: str, stdin: bytes = b"", seconds: float = 60, protocols: str = "", exists: bool = True
    ) -> GitResult:
        program = process.find("git", outside=self.folder)
        if not program:
            return GitResult(None, b"", NO_GIT)
        git_dir = (f"--git-dir={self.folder}",) if exists else ()
        command = (program, *git_dir, *repository.PINNED, *_PINNED, *words)
        with _HeldSignals() as signals:
            try:
                child = _Git(command, _environment(protocols))
            except OSError as error:
                return GitResult(None, b"", f"git could not be started: {error}")
            return _Run(child, self.folder if protocols else "").finish(stdin, seconds, signals)


def _addressed(words: Sequence[str], address: str) -> list[str]:
    return [address if word == REMOTE else word for word in words]


def _environment(protocols: str) -> dict[str, str]:
    """Return the variables for a git command that may use `protocols`; for none if that is empty."""
    environment = repository.environment()
    if not protocols:
        return environment
    # Neither git nor ssh may ask for input: there may be no user, and there is no terminal.
    # A project's repository may contain large files: nothing here reads them, but git does while it fetches.
    limits = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GIT_ALLOC_LIMIT": "1g"}
    environment = {**environment, **limits, "GIT_ALLOW_PROTOCOL": protocols}
    if protocols == _LOCAL_PROTOCOL:
        # No credentials are needed, and the user's config could lead git to another path.
        return {**environment, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {**environment, **{key: os.environ[key] for key in _USER_VARIABLES if key in os.environ}}


class _HeldSignals:
    """Holds back signals that raise an exception, until git has started and can be ended. Use it with `with`.

    While git starts, its process is not known yet: an exception at that time would leave git running.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._arrived: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> _HeldSignals:
        if threading.current_thread() is threading.main_thread():
            for number in filter(None, (getattr(signal, name, None) for name in _RAISING)):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._hold)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _hold(self, number: int, frame: FrameType | None) -> None:
        self._arrived.append((number, frame))

    def release(self) -> None:
        """Let signals through again, those first that have arrived."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        while self._arrived:
            number, frame = self._arrived.pop(0)
            self._handlers[number](number, frame)


class _Git(subprocess.Popen[bytes]):
    """A git process in its own process group, so that its children end with it, even if its start is interrupted."""

    def __init__(self, command: tuple[str, ...], environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        try:
            super().__init__(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except BaseException:
            if self.pid:
                self.end()
            raise

    def end(self) -> None:
        """Kill git and the processes that it has started."""
        if self.poll() is not None:
            return
        try:
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # Interrupted so early that it has no process group yet.
            pass
        self.kill()
        try:
            self.wait(_JOIN_SECONDS)
        except subprocess.TimeoutExpired:
            # It waits for a disk or a network file system, and ends after that.
            pass


class _Run:
    """One run of git: feeds its input, collects its output, and kills it at a limit."""

    def __init__(self, child: _Git, growing_folder: str) -> None:
        self._child = child
        self._growing_folder = growing_folder
        """A folder whose size is limited while git runs."""
        self._message = b""
        self._reason = ""
        self._ended = threading.Event()

    def finish(self, stdin: bytes, seconds: float, signals: _HeldSignals) -> GitResult:
        child = self._child
        assert child.stdin and child.stdout and child.stderr
        threads = [
            threading.Thread(target=_feed, args=(child.stdin, stdin), daemon=True),
            threading.Thread(target=self._collect_message, args=(child.stderr,), daemon=True),
            threading.Thread(target=self._enforce_limits, args=(time.monotonic() + seconds,), daemon=True),
        ]
        try:
            for thread in threads:
                thread.start()
            signals.release()
            output = child.stdout.read(MAX_OUTPUT_BYTES + 1)
            if len(output) > MAX_OUTPUT_BYTES:
                # Also if git has ended meanwhile: what was read is not the whole.
                self._reason = self._reason or f"answered more than {MAX_OUTPUT_BYTES:,} bytes"
                child.end()
            status = child.wait()
        finally:
            self._ended.set()
            self._kill("")
            for thread in threads:
                if thread.ident:
                    thread.join(_JOIN_SECONDS)
            child.stdout.close()
        message = self._reason or self._message.decode("utf-8", "replace").strip()
        return GitResult(None if self._reason else status, output[:MAX_OUTPUT_BYTES], message)

    def _collect_message(self, stream: IO[bytes]) -> None:
        with stream:
            while part := stream.read1(65_536):  # type: ignore[attr-defined]
                self._message = (self._message + part)[:_MAX_MESSAGE_BYTES]

    def _enforce_limits(self, deadline: float) -> None:
        while not self._ended.wait(_CHECK_SECONDS):
            if time.monotonic() > deadline:
                self._kill("did not answer in time")
            elif self._growing_folder and _pack_bytes(self._growing_folder) > _MAX_MIRROR_BYTES:
                self._kill(f"the repository is larger than {_MAX_MIRROR_BYTES:,} bytes")

    def _kill(self, reason: str) -> None:
        if self._child.poll() is None:
            self._reason = self._reason or reason
            self._child.end()


def _feed(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.close()
    except OSError:
        # Git ended before it had read everything; its status says why.
        pass


def _pack_bytes(folder: str) -> int:
    """Return the bytes that git has fetched so far."""
    packs = os.path.join(folder, "objects", "pack")
    try:
        with os.scandir(packs) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0
