"""Facts of a record that a session's start weighs, packed into one text so that the index can carry them."""

from __future__ import annotations

from recollect import coldstart
from recollect.categories import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.record.memory import Memory

MOST_PATHS = 40


def pack(memory: Memory) -> str:
    """The facts of a memory as a text."""
    files = [*memory.related_files, *memory.scope.paths][:MOST_PATHS]
    lists = ",".join(
        "[" + ",".join(map(coldstart.dumps, texts)) + "]" for texts in (files, memory.scope.branches[:MOST_PATHS])
    )
    # A record without a confidence stands in the middle of a knowledge bank's scale from 1 to 3.
    confidence = 2.0 if memory.confidence is None else memory.confidence * 3
    state = coldstart.dumps(BY_NAME[memory.category].state(memory))
    return f"[{memory.times_updated + 1},{confidence:.3f},{lists},{state}]"


def unpack(text: str) -> tuple[int, float, list[str], list[str], str]:
    """The facts in a text that `pack` made: observations, confidence from 0 to 3, files, branches, and the state."""
    observations, confidence, files, branches, state = coldstart.loads(text)
    return observations, confidence, files, branches, state
