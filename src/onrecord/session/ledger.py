"""What a session was shown already, so that nothing is shown twice, and the corrections its user typed.

A pointer to a record is not the record: the rule itself may still be shown later.

One small file per session in the user's state folder, a line per record. Parallel prompts of a session take turns.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.state_file import StateFile
from onrecord.text import sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_LARGEST = 1_000_000
"""Bytes: some 8,000 records shown to one session."""

_MOST_CORRECTIONS = 8
_LONGEST_CORRECTION = 2_000
"""Characters of a prompt above which it is a document, not a word to the agent."""

_CUES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corrections.txt")
_LARGEST_CUES = 100_000
_MARKS = dict.fromkeys(map(ord, '()[]{}<>*_,;:.!"“”„`-–—…'), " ")


class Ledger:
    """The open ledger of one session: use it in a `with`, which holds the lock."""

    __slots__ = ("_file", "corrections", "has_started", "owed", "pointed", "prompts", "shown", "warnings")

    def __init__(self, session: str) -> None:
        """Without a session nothing is read or written."""
        self.shown: dict[str, str] = {}
        self.pointed: dict[str, None] = {}
        """The records that a pointer has named, in order."""
        self.warnings: set[str] = set()
        """What the user was warned of."""
        self.corrections: list[str] = []
        """The user's corrections, as typed, the newest few."""
        self.prompts = 0
        self.has_started = False
        """Whether the digest was shown with a prompt, in a host that delivers it nowhere else."""
        self.owed = ""
        """How the session started, or went on, which the next prompt has to tell."""
        self._file = StateFile(_path(session), _LARGEST, "ledger") if session else None

    def __enter__(self) -> Ledger:
        if self._file:
            self._file.__enter__()
            for line in self._file.lines():
                self._read(line)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file:
            self._file.__exit__(kind, error, at)

    @property
    def is_first_prompt(self) -> bool:
        return self.prompts == 0

    def has_shown(self, record: str, text_hash: str) -> bool:
        """Whether the session was shown this record as it is now."""
        return self.shown.get(record) == text_hash

    def has_named(self, record: str) -> bool:
        """Whether the session was shown this record in any wording, or in its digest."""
        return record in self.shown or f"digest:{record}" in self.shown

    def add_shown(self, record: str, text_hash: str) -> None:
        self._append(f"shown\t{record}\t{text_hash}")

    def add_pointer(self, record: str) -> None:
        self._append(f"pointed\t{record}")

    def add_warning(self, name: str) -> None:
        self._append(f"warned\t{name}")

    def add_correction(self, prompt: str) -> None:
        self._append(_correction(prompt))

    def count_prompt(self) -> None:
        self._append("prompt")

    def owe(self, source: str) -> None:
        self._append(f"owed\t{source.split()[0] if source.split() else 'startup'}")

    def start(self) -> None:
        """Note that nothing is owed any more."""
        if self.owed or not self.has_started:
            self._append("started")

    def reset(self) -> None:
        """Forget what was shown: the conversation was compacted or cleared, and that went with it."""
        self.shown = {}
        self.pointed = {}
        self.prompts = 0
        lines = [*map(_correction, self.corrections), *(f"warned\t{name}" for name in sorted(self.warnings))]
        lines += ["started"] * self.has_started
        if self._file:
            self._file.replace("".join(f"{line}\n" for line in lines).encode("ascii"))

    def _append(self, line: str) -> None:
        self._read(line)
        if self._file:
            self._file.append(line + "\n")

    def _read(self, line: str) -> None:
        kind, _, rest = line.partition("\t")
        if kind == "shown":
            record, _, text_hash = rest.partition("\t")
            self.shown.pop(record, None)
            self.shown[record] = text_hash
        elif kind == "pointed":
            self.pointed[rest] = None
        elif kind == "warned":
            self.warnings.add(rest)
        elif kind == "prompt":
            self.prompts += 1
        elif kind == "owed":
            self.owed = rest
        elif kind == "started":
            self.has_started, self.owed = True, ""
        elif kind == "heard":
            try:
                self.corrections = [*self.corrections, str(coldstart.loads(rest))][-_MOST_CORRECTIONS:]
            except ValueError:
                pass


def _correction(prompt: str) -> str:
    return f"heard\t{coldstart.dumps(prompt)}"


def is_correction(prompt: str) -> bool:
    """Whether a prompt sounds like a correction or a standing instruction, in any of the languages."""
    if len(prompt) > _LONGEST_CORRECTION:
        return False
    return any(corrects(sentence) for line in prompt.split("\n") for sentence in sentences(line))


_cues: list[str] = []


def corrects(sentence: str) -> bool:
    """Whether a sentence has one of the cues in `corrections.txt`; a question does not correct."""
    if sentence.rstrip().endswith("?"):
        return False
    if not _cues:
        # A line of the file is a row of words: `^` stands for the start of a sentence, and what ends in `*` may go on.
        lines = files.read(_CUES, _LARGEST_CUES).decode("utf-8").split("\n")
        _cues.extend(f" {line}".rstrip("*") + " " * (line[-1] != "*") for line in lines if line)
    plain = f" ^ {' '.join(sentence.lower().replace('’', chr(39)).translate(_MARKS).split())} "
    return any(cue in plain for cue in _cues)


def text_hash(text: str) -> str:
    """What tells one wording of a record from another."""
    return coldstart.content_hash(text.encode("utf-8", "replace"))[:12]


def exists(session: str) -> bool:
    """Whether any hook has run in a session, not too long ago."""
    return os.path.exists(_path(session))


def _folder() -> str:
    return os.path.join(paths.state_dir(), "sessions")


def _path(session: str) -> str:
    plain = len(session) <= 64 and all(char.isalnum() or char == "-" for char in session) and session.isascii()
    return os.path.join(_folder(), session if plain else coldstart.content_hash(session.encode("utf-8", "replace")))
