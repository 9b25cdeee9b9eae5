"""A project that harm is done to, and the files that nobody expects."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from random import Random

from tests.fuzz import values

PRIVATE = "private-words-of-the-user"
"""Written outside the project; never shown, never copied into it."""


class HarmedProject:
    """A project to do harm to, and what the events will say about it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.store = self.project / ".claude" / "memory"
        self.home = folder / "home"
        self.outside = folder / "outside"
        self.state = self.home / ".local" / "state" / "onrecord"
        self.cache = self.home / ".cache" / "onrecord"
        self.transcript = folder / "transcript.jsonl"
        self.cwd = self.project
        self.may_be_silent = False
        """Whether a setting, as written, asks for silence."""
        self.is_large = False
        """Whether the store is too large to be indexed by the first hook."""
        self.changes_state = False
        """Whether the failure log is part of the harm."""
        self.held: list[int] = []

    @property
    def program(self) -> str:
        """A program that leaves a file outside the project if anybody runs it."""
        return str(self.outside / "program")


def odd_file(rng: Random, place: HarmedProject, path: Path) -> None:
    """Put anything but a regular file into the project."""
    if not remove(path):
        return
    kind = rng.choice(
        ("fifo", "folder", "full folder", "link out", "loop", "dangling", "socket", "zero", "self", "empty")
    )
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "full folder":
        (path / "inside.json").mkdir(parents=True)
    elif kind == "socket":
        _socket(path)
    elif kind == "empty":
        path.touch()
    else:
        targets = {
            "link out": place.outside / "private.json",
            "loop": path,
            "zero": Path("/dev/zero"),
            "self": Path("/proc/self"),
        }
        path.symlink_to(targets.get(kind, Path("nowhere")))


def _socket(path: Path) -> None:
    """Make a socket; its path may be too long for the system, and then it is a FIFO."""
    with socket.socket(socket.AF_UNIX) as made:
        try:
            made.bind(str(path))
        except OSError:
            os.mkfifo(path)


def garbage(rng: Random) -> bytes:
    """Return bytes that are no text of any sort, or hardly."""
    return rng.choice(
        (
            b"", b"\0" * 1_000, b"\xff\xfe" + "{}".encode("utf-16"), b"{", b"[" * 20_000, rng.randbytes(5_000), b"null",
            b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> x\n", b'{"title": "\xe9\xff"}', b"[]", b'"x"', b"1" * 100_000,
            b"\n" * 100_000, b"a" * 3_000_000,
            ("- [x](y.json) " + values.text(rng)).encode("utf-8", "surrogatepass"),
        )
    )  # fmt: skip


def write(path: Path, data: bytes) -> None:
    if remove(path):
        path.write_bytes(data)


def remove(path: Path) -> bool:
    """Make room for a file; whether there can be one: another state may have put something else above it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path):
            path.unlink()
        return os.access(path.parent, os.W_OK) and not str(path.parent.resolve()).startswith("/proc")
    except OSError:
        return False
