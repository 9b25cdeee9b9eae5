"""Corrections: prompts in which the user puts the agent right, noticed when they are typed.

A turn can be long: by its end the prompt that began it may have left the part of the transcript that triage reads, or
not be in it yet. So the prompt hook notes it in the session's ledger, and the Stop hook has it whatever happened since.

Every prompt is looked at: one small file, `cues/corrections.txt`, and no other module. A line of it is a row of words;
`^` stands for the start of a sentence, and what ends in `*` may go on.
"""

from __future__ import annotations

import os

from recollect import files
from recollect.text import sentences

LONGEST = 2_000
"""Characters of a prompt above which it is a document, not a word to the agent."""

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues", "corrections.txt")
_LARGEST = 100_000
_MARKS = dict.fromkeys(map(ord, '()[]{}<>*_,;:.!"“”„`-–—…'), " ")
_cues: list[str] = []


def is_one(prompt: str) -> bool:
    """Whether a prompt sounds like a correction or a standing instruction, in any of the languages."""
    if len(prompt) > LONGEST:
        return False
    return any(corrects(sentence) for line in prompt.split("\n") for sentence in sentences(line))


def corrects(sentence: str) -> bool:
    """Whether one sentence does; a question does not."""
    if sentence.rstrip().endswith("?"):
        return False
    if not _cues:
        lines = files.read(_FILE, _LARGEST).decode("utf-8").split("\n")
        _cues.extend(f" {line}".rstrip("*") + " " * (line[-1] != "*") for line in lines if line)
    plain = f" ^ {' '.join(sentence.lower().replace('’', chr(39)).translate(_MARKS).split())} "
    return any(cue in plain for cue in _cues)
