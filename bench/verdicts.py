"""Verdicts written down, so that a judge can be measured again without a model.

A file of JSON lines, one for each request: the model, the prompt and the notes it was shown as fingerprints, which of
them it kept, its tokens and its seconds. No text of a prompt or a record is in it. A request that was made before is
answered as it was then; one that shows the same notes in other company is put together from what was said of each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from onrecord import coldstart
from onrecord.errors import BadInput, ModelFailed
from onrecord.recall.judge import Ruling
from onrecord.search.rank import Match

if TYPE_CHECKING:
    from onrecord.recall.judge import BatchJudge


class Meter:
    """Passes questions on, and notes what each request took."""

    def __init__(self, ask: BatchJudge) -> None:
        self._ask = ask
        self.rulings: list[Ruling] = []

    def __call__(self, prompt: str, batch: Sequence[Match], turns: Sequence[str], deadline: float) -> Ruling:
        ruling = self._ask(prompt, batch, turns, deadline)
        self.rulings.append(ruling)
        return ruling


class Recorder:
    """Passes questions on and writes each verdict down."""

    def __init__(self, ask: BatchJudge, path: Path, model: str) -> None:
        self._ask = ask
        self._model = model
        self._lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    def __call__(self, prompt: str, batch: Sequence[Match], turns: Sequence[str], deadline: float) -> Ruling:
        ruling = self._ask(prompt, batch, turns, deadline)
        shown = [_note(candidate) for candidate in batch]
        line = {
            "model": self._model,
            "prompt": _prompt(prompt, turns),
            "shown": shown,
            "kept": [shown[at] for at in ruling.positions],
            "tokens_in": ruling.tokens_in,
            "tokens_out": ruling.tokens_out,
            "seconds": round(ruling.seconds, 3),
        }
        with self._lock:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        return ruling

    def close(self) -> None:
        self._file.close()


class Line(NamedTuple):
    """One request of a recorded file."""

    model: str
    prompt: str
    shown: list[str]
    kept: list[str]
    tokens_in: int
    tokens_out: int
    seconds: float


class Replay:
    """Answers as a model once did. What it was never asked is a failure, and is counted as one."""

    def __init__(self, path: Path) -> None:
        lines = [_line(path, number, text) for number, text in enumerate(path.read_text("utf-8").splitlines(), 1)]
        if not lines:
            raise BadInput(f"{path} holds no verdicts", fix="make it with --record")
        self.model = lines[0].model
        self._exact = {(line.prompt, *line.shown): line for line in lines}
        self._kept = {(line.prompt, note): note in line.kept for line in lines for note in line.shown}
        notes = sum(len(line.shown) for line in lines)
        self._tokens_in = sum(line.tokens_in for line in lines) / notes
        self._tokens_out = sum(line.tokens_out for line in lines) / notes
        self._seconds = {line.prompt: line.seconds for line in lines}

    def __call__(self, prompt: str, batch: Sequence[Match], turns: Sequence[str], deadline: float) -> Ruling:
        asked, shown = _prompt(prompt, turns), [_note(candidate) for candidate in batch]
        line = self._exact.get((asked, *shown))
        if line:
            return Ruling([shown.index(note) for note in line.kept], line.tokens_in, line.tokens_out, line.seconds)
        marks = [self._kept.get((asked, note)) for note in shown]
        if None in marks:
            raise ModelFailed("not recorded")
        return Ruling(
            [at for at, mark in enumerate(marks) if mark],
            round(self._tokens_in * len(batch)),
            round(self._tokens_out * len(batch)),
            self._seconds[asked],
        )


def _line(path: Path, number: int, text: str) -> Line:
    try:
        raw = json.loads(text)
        return Line(*(raw[name] for name in Line._fields))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}, line {number}, is not a verdict: {error!r}", fix="make it with --record") from error


def _prompt(prompt: str, turns: Sequence[str]) -> str:
    return coldstart.content_hash("\0".join((prompt, *turns)).encode())


def _note(candidate: Match) -> str:
    return coldstart.content_hash("\0".join((candidate.id, candidate.title, candidate.summary_line)).encode())
