"""The two forms in which a record is shown: the rule itself, or a pointer, one line that says where to read it.

A rule is for what is sure enough to act on, a pointer for what is likely: the agent decides whether to read it.
"""

from __future__ import annotations

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.search import coefficients
from onrecord.store import record_names
from onrecord.text import cut, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from onrecord.recall.candidate import Candidate
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

RULE, POINTER = "rule", "pointer"

MOST_POINTERS = 2
_ENOUGH_RULES = 3
"""Rules beside which there is no pointer: the agent has enough to read."""

_LONGEST_POINTER = 25
"""Tokens of the line of a pointer."""

_SHORTEST_TITLE = 16
HEADING = "Possibly relevant; the command shows the whole record:"

_LOWEST_BAR = 0.05
_NEVER = 2.0
"""A bar that no probability reaches."""


class Bars(NamedTuple):
    """The probabilities from which on a record is shown as a rule, and as a pointer."""

    rule: float
    pointer: float = _NEVER

    @property
    def has_pointers(self) -> bool:
        return self.pointer < self.rule

    def form(self, probability: float) -> str:
        """The form for a probability; empty for none."""
        return RULE if probability >= self.rule else POINTER if probability >= self.pointer else ""


def bars(settings: Settings, matches: Iterable[Match], *, is_first: bool, is_past: bool = False) -> Bars:
    """The bars for a prompt, or for a question about the past, and what was found for it."""
    # The probabilities of the keyword scorer are lower, and have bars of their own.
    is_scored = any(match.is_by_keywords for match in matches)
    own = settings.number("retrieval.min_probability")
    if is_past:
        return _bars_of_question(is_scored=is_scored, has_pointers=settings.flag("retrieval.pointers"))
    rule = own or (coefficients.KEYWORD_THRESHOLD if is_scored else coefficients.THRESHOLD)
    if is_first:
        rule = max(rule - settings.number("retrieval.first_prompt_relief"), _LOWEST_BAR)
    pointer = coefficients.KEYWORD_POINTER if is_scored else coefficients.POINTER
    return Bars(rule, pointer if settings.flag("retrieval.pointers") else _NEVER)


def _bars_of_question(*, is_scored: bool, has_pointers: bool) -> Bars:
    """Those of a search: an answer needs the text of a rule, and a weak match is still better than none."""
    from onrecord.search import search_coefficients

    if is_scored:
        return Bars(search_coefficients.KEYWORD_ASKED)
    if has_pointers:
        return Bars(search_coefficients.ASKED, search_coefficients.ASKED_POINTER)
    return Bars(search_coefficients.ASKED_POINTER)


def in_form(candidate: Candidate, form: str, otherwise: str) -> Candidate:
    """The candidate in a form; without one its outcome is `otherwise`."""
    return candidate._replace(form=form, outcome="" if form else otherwise)


def fitting(lines: list[str], room: int, *, rules: int) -> list[str]:
    """The pointers that may stand beside some rules, in a room of tokens."""
    left = room - tokens(HEADING)
    fitted: list[str] = []
    for line in lines[: MOST_POINTERS if rules < _ENOUGH_RULES else 0]:
        left -= tokens(line)
        if left < 0:
            break
        fitted.append(line)
    return fitted


def pointer(candidate: Candidate) -> str:
    """The line that points to a record: category, title, and how to read it."""
    match = candidate.match
    command = f"onrecord show {paths.store_flag(candidate.prefix)}{record_names.short_name(match.path)}"
    # Between quotes of which it has none, a title cannot pose as a command.
    title = match.title.replace("“", '"').replace("”", '"')
    for longest in range(len(title), min(len(title), _SHORTEST_TITLE) - 1, -4):
        line = f"- {match.category} “{cut(title, longest)}”: {command}"
        if tokens(line) <= _LONGEST_POINTER:
            return line
    return f"- {match.category}: {command}"
