"""Whether there is reason to show a record when a session starts.

Words alone mislead: the names of changed files match records about the same area that are of no use for the change.
So two things must speak for a record, for example a changed file that it names and the name of the branch. The bars
were chosen on three projects and measured on nine others: `python -m bench digest`, docs/how-it-works.md. They are low
because a list of words is no prompt: the model for prompts is far less sure of it.
"""

from __future__ import annotations

from onrecord import globs
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.search import coefficients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ASKED = 0.2
"""Relevance to what is being done (branch, own commits, feature) that counts beside a changed file."""

ABOUT = 0.2
"""Relevance to all words of the work that must come with it."""

BINDING = 0.2
"""The same for a rule that binds whoever changes its files; nobody need have asked for it."""

LEAST_SHARE = 0.5
"""Share of the changed files that such a rule must be about: what touches one file of many is seldom what matters."""

CERTAIN = 0.9
"""Relevance to all words that needs no changed file beside it."""

LEAST_WORDS = min(ABOUT, BINDING, CERTAIN)
"""Relevance to all words below which nothing is shown, however relevant it is to what is being done."""


class Relevance(NamedTuple):
    """How probably a record is relevant to what is being done, and to all words of the work, file names included."""

    intent: float = 0.0
    words: float = 0.0


def reason(category: str, places: Sequence[str], relevance: Relevance, files: Sequence[str]) -> str:
    """Why an entry of this category, which names these places, is shown; nothing if it is not."""
    if category not in CATEGORIES:
        # Entries of knowledge banks name no files; `lesson_search` has found only those that have most of the words.
        return "most words of the branch are in it" if relevance.intent else ""
    if not files:
        # A new branch: its name is all there is, and is taken for a prompt.
        return "the branch is about it" if relevance.intent >= coefficients.THRESHOLD else ""
    touched = _touched(places, files) if relevance.words >= ABOUT else []
    if touched and relevance.intent >= ASKED:
        return f"the branch is about it, and it names {touched[0]}"
    if CATEGORIES[category].binds_files and relevance.words >= BINDING and len(touched) >= LEAST_SHARE * len(files):
        return f"a rule for {touched[0]}" if touched else ""
    return "all words of the work are about it" if relevance.words >= CERTAIN else ""


def _touched(places: Sequence[str], files: Sequence[str]) -> list[str]:
    return [file for file in files if any(globs.covers(place, file) for place in places)]
