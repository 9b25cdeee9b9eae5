"""The selection of what a prompt shows: each record once a session, with a caution, within the room there is.

Beside rules there may be pointers, lines that say where to read a record.
"""

from __future__ import annotations

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.recall import thresholds
from onrecord.recall.candidate import SHOWN, Candidate, Cautions, fitting_items, render_block
from onrecord.recall.thresholds import POINTER, RULE, Thresholds
from onrecord.search import relevance
from onrecord.text import count_tokens, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.session.ledger import Ledger
    from onrecord.settings import Settings

REPEATED, POINTED = "shown before in this session", "pointed to before in this session"
NO_ROOM, FILE_MISSING = "no room", "file missing"

_TOKENS_PER_RULE = 100
"""Tokens of a record that is shown whole, about: a higher number of records raises that of tokens, too."""

_MISSING_FILE_LOGITS = -1.0
"""Logits added to a record if a file it is about no longer exists."""

MAX_POINTERS = 2
_MAX_RULES_BESIDE_POINTERS = 3
"""Rules beside which there is no pointer: the agent has enough to read."""

_MAX_POINTER_TOKENS = 25
"""Tokens of the line of a pointer."""

_MIN_TITLE_CHARACTERS = 16
HEADING = "Possibly relevant; the command shows the whole record:"


class Room(NamedTuple):
    """The most that one prompt may show."""

    rules: int
    tokens: int


def room(settings: Settings, *, is_first: bool) -> Room:
    """Return the room of a prompt: the first of a session gets more, unless the number of records was set."""
    generosity = settings.number("retrieval.first_prompt_budget") if is_first else 1.0
    rules, tokens = settings.count("retrieval.max_inject"), settings.number("retrieval.max_tokens")
    if not settings.is_set("retrieval.max_tokens"):
        tokens = max(tokens, rules * _TOKENS_PER_RULE)
    if not settings.is_set("retrieval.max_inject"):
        rules = int(rules * generosity)
    return Room(rules, int(tokens * generosity))


def show(candidates: list[Candidate], limits: Thresholds, room: Room, ledger: Ledger) -> tuple[str, list[Candidate]]:
    """Return the block, and all candidates with their outcome; what is shown is noted in `ledger`."""
    text, results = _rendered(_checked(candidates, ledger, limits), room)
    for candidate in results:
        if candidate.shown == RULE:
            ledger.add_shown(candidate.record, candidate.text_hash)
        elif candidate.shown == POINTER:
            ledger.add_pointer(candidate.record)
    return text, results


def _checked(candidates: list[Candidate], ledger: Ledger, limits: Thresholds) -> list[Candidate]:
    """Mark candidates that the session was shown before; add a caution where files of a record have changed.

    A missing file counts against a record, which may then be dropped, or be shown as a pointer.
    """
    cautions = Cautions()

    def check(candidate: Candidate) -> Candidate:
        match = candidate.match
        caution, is_missing = cautions.check(match.root, candidate.prefix, match.anchors)
        candidate = candidate._replace(caution=caution)
        if not is_missing:
            return candidate
        form = limits.form(relevance.shifted(match.probability, _MISSING_FILE_LOGITS))
        return thresholds.in_form(candidate, form, FILE_MISSING)

    new = [_if_new(candidate, ledger) for candidate in candidates]
    checked = [candidate if candidate.outcome else check(candidate) for candidate in new]
    # A rule may have become a pointer.
    return [_if_new(candidate, ledger) for candidate in checked]


def _if_new(candidate: Candidate, ledger: Ledger) -> Candidate:
    """Mark the candidate if the session was shown it before."""
    if candidate.outcome:
        return candidate
    if ledger.has_shown(candidate.record, candidate.text_hash):
        return candidate._replace(outcome=REPEATED)
    if candidate.form == POINTER and ledger.has_named(candidate.record):
        return candidate._replace(outcome=REPEATED)
    if candidate.form == POINTER and candidate.record in ledger.pointed:
        return candidate._replace(outcome=POINTED)
    return candidate


def _rendered(candidates: list[Candidate], room: Room) -> tuple[str, list[Candidate]]:
    """Return the block for the agent, and all candidates with their outcome."""
    waiting = [candidate for candidate in candidates if not candidate.outcome]
    rules = [candidate for candidate in waiting if candidate.form == RULE]
    items = fitting_items([candidate.item for candidate in rules[: room.rules]], room.tokens)
    pointed = [candidate for candidate in waiting if candidate.form == POINTER]
    lines = [pointer(candidate) for candidate in pointed]
    # Rules are not cut for pointers: these have what is left.
    left = room.tokens - count_tokens(render_block(items, paths.PROJECT_PREFIX))
    pointers = fitting_pointers(lines, left, rules=len(items)) if room.rules else []
    is_shown = set(map(id, (*rules[: len(items)], *pointed[: len(pointers)])))
    results = [
        candidate if candidate.outcome else candidate._replace(outcome=SHOWN if id(candidate) in is_shown else NO_ROOM)
        for candidate in candidates
    ]
    heading = [HEADING] if pointers else []
    return render_block(items, paths.PROJECT_PREFIX, [*heading, *pointers]), results


def fitting_pointers(lines: list[str], room: int, *, rules: int) -> list[str]:
    """Return the pointers that fit the remaining token budget next to `rules` rules."""
    left = room - count_tokens(HEADING)
    fitted: list[str] = []
    for line in lines[: MAX_POINTERS if rules < _MAX_RULES_BESIDE_POINTERS else 0]:
        left -= count_tokens(line)
        if left < 0:
            break
        fitted.append(line)
    return fitted


def pointer(candidate: Candidate) -> str:
    """Return the line that points to a record: category, title, and the command that shows it."""
    from onrecord.store import record_names

    match = candidate.match
    command = f"onrecord show {paths.store_flag(candidate.prefix)}{record_names.short_name(match.path)}"
    # Between quotes of which it has none, a title cannot pose as a command.
    title = match.title.replace("“", '"').replace("”", '"')
    for longest in range(len(title), min(len(title), _MIN_TITLE_CHARACTERS) - 1, -4):
        line = f"- {match.category} “{cut(title, longest)}”: {command}"
        if count_tokens(line) <= _MAX_POINTER_TOKENS:
            return line
    return f"- {match.category}: {command}"
