"""Precedent: the verdicts of a session, so that the same question is not paid for twice."""

from __future__ import annotations

import os

from recollect import coldstart, files
from recollect.judge import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.judge.hearing import Candidate

_LARGEST = 200_000


def key(prompt: str, candidates: Sequence[Candidate], asked: str) -> str:
    """What makes two questions the same: the model, the prompt, and the candidates as they are worded now."""
    parts = [asked, prompt]
    for candidate in candidates:
        parts += [candidate.id, candidate.category, candidate.title, candidate.essence]
    return coldstart.digest("\0".join(parts).encode("utf-8", "surrogatepass"))


def find(session: str, question: str) -> list[bool] | None:
    """The verdicts given on a question earlier in this session."""
    if not session:
        return None
    try:
        text = files.read(_file(session), _LARGEST).decode("ascii", "replace")
    except OSError:
        return None
    for line in text.split("\n"):
        asked, _, marks = line.partition(" ")
        if asked == question and marks and not marks.strip("01"):
            return [mark == "1" for mark in marks]
    return None


def note(session: str, question: str, marks: Sequence[bool]) -> None:
    """Keep the verdicts on a question. Losing them costs one more request."""
    if not session:
        return
    line = f"{question} {''.join('1' if mark else '0' for mark in marks)}\n"
    try:
        os.makedirs(limits.folder(), mode=0o700, exist_ok=True)
        handle = os.open(_file(session), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    try:
        os.write(handle, line.encode("ascii"))
    finally:
        os.close(handle)


def _file(session: str) -> str:
    return os.path.join(limits.folder(), f"verdicts-{coldstart.digest(session.encode('utf-8', 'surrogatepass'))}")
