"""The two forms in which a record is shown: the rule itself, or a pointer, one line that says where to read it.

A rule is for what is sure enough to act on, a pointer for what is likely: the agent decides if it reads it.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.search import coefficients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from onrecord.recall.candidate import Candidate
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

RULE, POINTER = "rule", "pointer"

_MIN_THRESHOLD = 0.05
_NEVER = 2.0
"""A threshold that no probability reaches."""


class Thresholds(NamedTuple):
    """The lowest probabilities at which a record is shown as a rule, and as a pointer."""

    rule: float
    pointer: float = _NEVER

    @property
    def has_pointers(self) -> bool:
        return self.pointer < self.rule

    def form(self, probability: float) -> str:
        """Return the form for a probability; empty if it is not shown."""
        return RULE if probability >= self.rule else POINTER if probability >= self.pointer else ""


def for_prompt(settings: Settings, matches: Iterable[Match], *, is_first: bool, is_past: bool = False) -> Thresholds:
    """Return the thresholds for a prompt, or for a question about the past, and its matches."""
    # The probabilities of the keyword scorer are lower, and have thresholds of their own.
    is_scored = any(match.is_by_keywords for match in matches)
    own = settings.number("retrieval.min_probability")
    if is_past:
        return _for_past_question(is_scored=is_scored, has_pointers=settings.flag("retrieval.pointers"))
    rule = own or (coefficients.KEYWORD_THRESHOLD if is_scored else coefficients.THRESHOLD)
    if is_first:
        rule = max(rule - settings.number("retrieval.first_prompt_relief"), _MIN_THRESHOLD)
    pointer = coefficients.KEYWORD_POINTER if is_scored else coefficients.POINTER
    return Thresholds(rule, pointer if settings.flag("retrieval.pointers") else _NEVER)


def _for_past_question(*, is_scored: bool, has_pointers: bool) -> Thresholds:
    """Return the thresholds of a search: an answer needs the text of a rule, and a weak match is better than none."""
    from onrecord.search import search_coefficients

    if is_scored:
        return Thresholds(search_coefficients.KEYWORD_ASKED)
    if has_pointers:
        return Thresholds(search_coefficients.ASKED, search_coefficients.ASKED_POINTER)
    return Thresholds(search_coefficients.ASKED_POINTER)


def in_form(candidate: Candidate, form: str, otherwise: str) -> Candidate:
    """Return the candidate in a form; without one its outcome is `otherwise`."""
    return candidate._replace(form=form, outcome="" if form else otherwise)
