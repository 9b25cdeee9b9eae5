"""A bare repository of our own that mirrors a shared one: the only place from which git may reach a network.

The repository belongs to us, so its config is ours. What it fetches is hostile: nothing is ever checked out of it,
no hook runs, no submodule is followed, and time, output and disk are bounded.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from typing import IO

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.git import process, repository
from onrecord.git.repository import NO_GIT, is_commit

PROTOCOLS = "file:git:http:https:ssh"
MAX_OUTPUT_BYTES = 64_000_000
"""Bytes of an answer: a listing of 400,000 files."""

_PARTS = ("HEAD", "refs", "objects")
"""What git needs to see a repository; one that was killed while it made them leaves some."""

_LARGEST_MESSAGE = 20_000
_MOST_ON_DISK = 4_000_000_000
"""Bytes of the mirror: a project's own repository may be a remote, and brings its history."""

_LOOK_EVERY = 0.5
_LAST_WORDS = 1.0
"""Seconds for what is said after git has ended: a program that it left behind, as SSH does, may hold the pipe."""

_PINNED = (
    *("-c", "push.followTags=false", "-c", "push.gpgSign=false", "-c", "push.recurseSubmodules=no"),
    *("-c", "fetch.recurseSubmodules=no", "-c", "fetch.writeCommitGraph=false", "-c", "gc.autoDetach=false"),
    # Loose objects would not count as part of what is on the disk.
    *("-c", "fetch.unpackLimit=1"),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30", "-c", "core.logAllRefUpdates=false"),
)
_KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
"""Of the user's own environment: how this user reaches hosts."""


class GitResult(NamedTuple):
    """What git said: `status` is None if it was killed, or never started."""

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
    """The bare repository in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def create(self) -> GitResult:
        """Make the repository if it, or a part, is not there, and take away the locks that a killed git left in it."""
        if not all(os.path.exists(os.path.join(self.folder, part)) for part in _PARTS):
            files.make_folder(self.folder, is_private=True)
            return self._run("init", "-q", "--bare", "--template=", self.folder, is_there=False)
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name.endswith(".lock"):
                    files.remove(os.path.join(folder, name))
        return GitResult(0, b"", "")

    def remove(self) -> None:
        """Delete it: everything in it can be fetched again."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_local(self, *words: str, stdin: bytes = b"", seconds: float = 60) -> GitResult:
        """What git answers from the mirror alone."""
        return self._run(*words, stdin=stdin, seconds=seconds)

    def run_remote(self, *words: str, seconds: float) -> GitResult:
        """What git answers after it has asked the other side."""
        return self._run(*words, seconds=seconds, reaches=True)

    def commit_of(self, ref: str) -> str:
        """The commit that a ref names; empty for none."""
        answer = self.run_local("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        commit = answer.text.strip() if answer.is_good else ""
        return commit if is_commit(commit) else ""

    def _run(
        self, *words: str, stdin: bytes = b"", seconds: float = 60, reaches: bool = False, is_there: bool = True
    ) -> GitResult:
        program = process.find("git", outside=self.folder)
        if not program:
            return GitResult(None, b"", NO_GIT)
        place = (f"--git-dir={self.folder}",) if is_there else ()
        command = (program, *place, *repository.PINNED, *_PINNED, *words)
        try:
            child = _Git(command, self._environment(reaches))
        except OSError as error:
            return GitResult(None, b"", f"git could not be started: {error}")
        return _Conversation(child, self.folder if reaches else "").answer(stdin, seconds)

    def _environment(self, reaches: bool) -> dict[str, str]:
        environment = repository.environment()
        if reaches:
            own = {key: os.environ[key] for key in _KEPT if key in os.environ}
            # Neither git nor ssh may ask: nobody may be there to answer. They have no terminal either.
            silent = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}
            # A project's repository may hold large files; nothing here reads them, but git does when it fetches.
            environment = {**environment, **own, **silent, "GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_ALLOC_LIMIT": "1g"}
        return environment


class _Git(subprocess.Popen[bytes]):
    """Git in a group of its own, so that what it starts ends with it; an interrupted start leaves none behind."""

    def __init__(self, command: tuple[str, ...], environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        try:
            super().__init__(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except BaseException:
            if self.pid:
                self.end()
            raise

    def end(self) -> None:
        """Kill it, and what it has started."""
        if self.poll() is not None:
            return
        try:
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # Interrupted so early, it has no group of its own yet.
            pass
        self.kill()


class _Conversation:
    """One run of git: what it reads, what it says, and when it is killed."""

    def __init__(self, child: _Git, grows: str) -> None:
        self._child = child
        self._grows = grows
        """A folder that may not grow without end while it runs."""
        self._message = b""
        self._reason = ""
        self._over = threading.Event()

    def answer(self, stdin: bytes, seconds: float) -> GitResult:
        child = self._child
        assert child.stdin and child.stdout and child.stderr
        threads = [
            threading.Thread(target=_feed, args=(child.stdin, stdin), daemon=True),
            threading.Thread(target=self._listen, args=(child.stderr,), daemon=True),
            threading.Thread(target=self._guard, args=(time.monotonic() + seconds,), daemon=True),
        ]
        try:
            for thread in threads:
                thread.start()
            output = child.stdout.read(MAX_OUTPUT_BYTES + 1)
            if len(output) > MAX_OUTPUT_BYTES:
                self._kill(f"answered more than {MAX_OUTPUT_BYTES:,} bytes")
            status = child.wait()
        finally:
            self._over.set()
            self._kill("")
            for thread in threads:
                if thread.ident:
                    thread.join(_LAST_WORDS)
            child.stdout.close()
        message = self._reason or self._message.decode("utf-8", "replace").strip()
        return GitResult(None if self._reason else status, output[:MAX_OUTPUT_BYTES], message)

    def _listen(self, stream: IO[bytes]) -> None:
        with stream:
            while part := stream.read1(65_536):  # type: ignore[attr-defined]
                self._message = (self._message + part)[:_LARGEST_MESSAGE]

    def _guard(self, deadline: float) -> None:
        while not self._over.wait(_LOOK_EVERY):
            if time.monotonic() > deadline:
                self._kill("did not answer in time")
            elif self._grows and _size(self._grows) > _MOST_ON_DISK:
                self._kill(f"the repository is larger than {_MOST_ON_DISK:,} bytes")

    def _kill(self, reason: str) -> None:
        if self._child.poll() is None:
            self._reason = self._reason or reason
            self._child.end()


def _feed(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.close()
    except OSError:
        # It ended before it had read everything; its status says why.
        pass


def _size(folder: str) -> int:
    """The bytes of what git has fetched so far."""
    packs = os.path.join(folder, "objects", "pack")
    try:
        with os.scandir(packs) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0
