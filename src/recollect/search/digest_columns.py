"""Facts of a record that a session's start weighs, packed into one text so that the index can carry them."""

from __future__ import annotations

from recollect import coldstart

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
    return f"[{memory.times_updated + 1},{confidence:.3f},{lists},{coldstart.dumps(_state(memory))}]"


def unpack(text: str) -> tuple[int, float, list[str], list[str], str]:
    """The facts in a text that `pack` made: observations, confidence from 0 to 3, files, branches, and the state."""
    observations, confidence, files, branches, state = coldstart.loads(text)
    return observations, confidence, files, branches, state


def _state(memory: Memory) -> str:
    """`open` for a session that left something to do, the priority of open debt, `closed` for what is settled."""
    if memory.category == "session_summary":
        left = memory.text("next_actions") or memory.text("in_progress") or memory.text("blockers")
        unfinished = memory.text("outcome") in ("partial", "blocked") or bool(left)
        return "open" if unfinished and memory.text("outcome") != "abandoned" else ""
    if memory.category == "tech_debt":
        return memory.text("priority") if memory.text("status") in ("open", "in_progress") else "closed"
    is_deprecated = memory.category == "decision" and memory.text("status") == "deprecated"
    return "closed" if is_deprecated else ""
