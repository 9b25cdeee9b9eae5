"""Corrections: prompts in which the user puts the agent right, noticed when they are typed.

A turn can be long: by its end the prompt that began it may have left the part of the transcript that triage reads, or
not be in it yet. So the prompt hook notes it in the session's ledger, and the Stop hook has it whatever happened since.
"""

from __future__ import annotations

from recollect.capturing import prose
from recollect.capturing.lexicon import CORRECTIONS, Lexicon

LONGEST = 2_000
"""Characters of a prompt above which it is a document, not a word to the agent."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.capturing.prose import Sentence

_lexicon: list[Lexicon] = []


def is_one(prompt: str) -> bool:
    """Whether a prompt sounds like a correction or a standing instruction, in any of the languages."""
    return len(prompt) <= LONGEST and any(corrects(sentence) for sentence in prose.sentences(prompt))


def corrects(sentence: Sentence) -> bool:
    """Whether one sentence does."""
    if not _lexicon:
        _lexicon.append(Lexicon.read(CORRECTIONS))
    return not sentence.is_question and bool(_lexicon[0].tags(sentence.words))
