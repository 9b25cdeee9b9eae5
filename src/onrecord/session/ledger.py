"""The ledger of a session: the records it was shown, so that none is shown twice, and the corrections its user typed.

A record that was only mentioned, as a pointer, may still be shown in full later. Each session has one small file in the
user's state folder, with one line for each record. Parallel prompts of a session wait for each other.
"""

from __future__ import annotations

import os

from onrecord import coldstart, paths, timestamps
from onrecord.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

_MAX_BYTES = 1_000_000
"""Enough for about 8,000 records shown to one session."""

_MAX_CORRECTIONS = 8


class Ledger:
    """The ledger of one session. Use it in a `with` statement, which locks it."""

    __slots__ = (
        "_file", "broken", "corrections", "folders", "has_started", "is_quiet", "map", "map_lines", "map_moment",
        "owed", "pointed", "prompts", "recent", "shown", "warnings",
    )  # fmt: skip

    def __init__(self, session: str) -> None:
        """Open the ledger of `session`. If that is empty, nothing is read or written."""
        self.shown: dict[str, str] = {}
        self.pointed: dict[str, None] = {}
        """Keys of the records shown as pointers, in order."""
        self.warnings: set[str] = set()
        """Names of the warnings that the user has seen."""
        self.corrections: list[str] = []
        """The newest corrections that the user typed."""
        self.folders: dict[str, None] = {}
        """Folders of the project with a store of their own, whose files the session has touched."""
        self.prompts = 0
        self.broken: dict[str, int] = {}
        """Keys of the records that the user corrected the agent with, each with the number of prompts before."""
        self.recent: dict[str, None] = {}
        """Keys of the records shown since the last prompt, and with it."""
        self.is_quiet = False
        """True if the last prompt asks for no memory: then no record is shown at commands until the next one."""
        self.has_started = False
        """True if the digest was shown with a prompt, in hosts without an earlier event for it."""
        self.owed = ""
        """The event (such as `startup` or `resume`) whose digest the next prompt must deliver; empty if none."""
        self.map = ""
        """`whole` if the session has a map with all records, `part` for one with some of them; empty if it has none."""
        self.map_moment = ""
        """When the map was shown."""
        self.map_lines: set[str] = set()
        """Hashes of the lines of the map."""
        self._file = StateFile(_path(session), _MAX_BYTES, "ledger") if session else None

    def __enter__(self) -> Ledger:
        if self._file:
            self._file.__enter__()
            for line in self._file.lines():
                self._read(line)
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file:
            self._file.__exit__(error_type, error, traceback)

    @property
    def is_first_prompt(self) -> bool:
        return self.prompts == 0

    def has_shown(self, key: str, text_hash: str) -> bool:
        """True if the session was shown this record with this text."""
        return self.shown.get(key) == text_hash

    def has_named(self, key: str) -> bool:
        """True if the session was shown this record with any text, or in its digest."""
        return key in self.shown or f"digest:{key}" in self.shown

    def add_shown(self, key: str, text_hash: str) -> None:
        self._append(f"shown\t{key}\t{text_hash}")

    def add_broken(self, key: str) -> None:
        """Record that the user corrected the agent with this record."""
        self._append(f"broken\t{key}")

    def add_pointer(self, key: str) -> None:
        self._append(f"pointed\t{key}")

    def add_warning(self, name: str) -> None:
        self._append(f"warned\t{name}")

    def add_folders(self, folder_names: list[str]) -> None:
        for folder in folder_names:
            if folder not in self.folders:
                self._append(f"folder\t{folder}")

    def add_correction(self, prompt: str) -> None:
        self._append(_correction(prompt))

    def quiet(self) -> None:
        """Record that the prompt asks for no memory."""
        self._append("quiet")

    def count_prompt(self) -> None:
        self._append("prompt")

    def owe(self, source: str) -> None:
        self._append(f"owed\t{source.split()[0] if source.split() else 'startup'}")

    def start(self) -> None:
        """Record that the digest was delivered."""
        if self.owed or not self.has_started:
            self._append("started")

    @property
    def map_is_whole(self) -> bool:
        """True if the session has a map with all records."""
        return self.map == "whole"

    def add_map(self, line_hashes: Iterable[str], *, is_whole: bool) -> None:
        """Record that the session has the map. A line in it is no showing: the rule may still come."""
        self._append(f"map\t{'whole' if is_whole else 'part'}\t{timestamps.now()}\t{' '.join(line_hashes)}")

    def reset(self) -> None:
        """Forget what was shown, after the conversation was compacted or cleared."""
        self.map = self.map_moment = ""
        self.map_lines = set()
        self.shown = {}
        self.pointed = {}
        self.recent = {}
        self.broken = {}
        self.prompts = 0
        lines = [*map(_correction, self.corrections), *(f"warned\t{name}" for name in sorted(self.warnings))]
        lines += [f"folder\t{folder}" for folder in self.folders]
        lines += ["started"] * self.has_started
        # The prompt that asked for silence may go on after a compaction.
        lines += ["quiet"] * self.is_quiet
        if self._file:
            self._file.replace("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

    def _append(self, line: str) -> None:
        self._read(line)
        if self._file:
            self._file.append(line + "\n")

    def _read(self, line: str) -> None:
        kind, _, rest = line.partition("\t")
        if kind == "shown":
            key, _, text_hash = rest.partition("\t")
            self.shown.pop(key, None)
            self.shown[key] = text_hash
            if os.path.isabs(key):
                self.recent[key] = None
        elif kind == "broken":
            self.broken[rest] = self.prompts
        elif kind == "pointed":
            self.pointed[rest] = None
        elif kind == "folder":
            self.folders[rest] = None
        elif kind == "warned":
            self.warnings.add(rest)
        elif kind == "prompt":
            self.prompts += 1
            self.recent = {}
            self.is_quiet = False
        elif kind == "quiet":
            self.is_quiet = True
        elif kind == "owed":
            self.owed = rest
        elif kind == "started":
            self.has_started, self.owed = True, ""
        elif kind == "map":
            self.map, self.map_moment, line_hashes = [*rest.split("\t"), "", ""][:3]
            self.map_lines.update(line_hashes.split())
        elif kind == "heard":
            try:
                self.corrections = [*self.corrections, str(coldstart.loads(rest))][-_MAX_CORRECTIONS:]
            except ValueError:
                pass


def _correction(prompt: str) -> str:
    return f"heard\t{coldstart.dumps(prompt)}"


def text_hash(text: str) -> str:
    """Return a short hash of a record's text as a session was shown it."""
    return coldstart.content_hash(text.encode("utf-8", "replace"))[:12]


def exists(session: str) -> bool:
    """True if a hook has run in this session and the ledger has not been deleted since."""
    return os.path.exists(_path(session))


def _folder() -> str:
    return os.path.join(paths.state_dir(), "sessions")


def _path(session: str) -> str:
    plain = len(session) <= 64 and all(char.isalnum() or char == "-" for char in session) and session.isascii()
    return os.path.join(_folder(), session if plain else coldstart.content_hash(session.encode("utf-8", "replace")))
