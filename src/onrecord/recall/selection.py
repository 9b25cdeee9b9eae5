"""The selection of what a prompt shows: by thresholds, each record once a session, with a caution, in limited room.

A record that is sure enough to act on is shown as a rule. One that is only likely is shown as a pointer, a line that
says where to read it: the agent decides if it does. After a compaction a session is shown what it was shown before.
"""

from __future__ import annotations

import os

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.recall.candidate import POINTER, RULE, SHOWN, Candidate, Cautions, fitting_items, render_block
from onrecord.recall.stores import SearchedStore, Stores, distinct
from onrecord.search import coefficients, rank, relevance
from onrecord.session.ledger import Ledger
from onrecord.text import count_tokens, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.search.rank import Match
    from onrecord.settings import Settings

REPEATED, POINTED = "shown before in this session", "pointed to before in this session"
NO_ROOM, FILE_MISSING = "no room", "file missing"

_MIN_THRESHOLD = 0.05
_UNREACHABLE = 2.0
"""A threshold that no probability reaches."""

_TOKENS_PER_RULE = 100
"""About the tokens of one rule. If the user allows more records, more tokens are allowed, too."""

_MISSING_FILE_LOGITS = -1.0
"""Logits added to the probability of a record if a file it is about no longer exists."""

MAX_POINTERS = 2
_MAX_RULES_BESIDE_POINTERS = 3
"""With as many rules there is no pointer: the agent has enough to read."""

_MAX_POINTER_TOKENS = 25
"""Tokens of the line of a pointer."""

_MIN_TITLE_CHARACTERS = 16
HEADING = "Possibly relevant; the command shows the whole record:"

_MAX_AGAIN_TOKENS = 900
"""Tokens for all of it."""

_MAX_AGAIN = 20
"""Records, the latest shown: no more have room in as many tokens, so the files of no more are checked."""


class Thresholds(NamedTuple):
    """The lowest probabilities at which a record is shown as a rule, and as a pointer."""

    rule: float
    pointer: float = _UNREACHABLE

    @property
    def has_pointers(self) -> bool:
        return self.pointer < self.rule

    @property
    def without_rules(self) -> Thresholds:
        """The same, with pointers only."""
        return Thresholds(_UNREACHABLE, self.pointer)

    def form(self, probability: float) -> str:
        """Return the form for a probability; empty if it is not shown."""
        return RULE if probability >= self.rule else POINTER if probability >= self.pointer else ""


class Room(NamedTuple):
    """The most rules and tokens that one prompt may show."""

    rules: int
    tokens: int


def thresholds_for(settings: Settings, matches: Iterable[Match], *, is_first: bool) -> Thresholds:
    """Return the thresholds for the matches of a prompt."""
    # The probabilities of the keyword scorer are lower, and have thresholds of their own.
    is_by_keywords = any(match.is_by_keywords for match in matches)
    default = coefficients.KEYWORD_THRESHOLD if is_by_keywords else coefficients.THRESHOLD
    rule = settings.number("retrieval.min_probability") or default
    if settings.is_from_project("retrieval.min_probability"):
        # A project may ask for more certainty, never for less than was measured.
        rule = max(rule, default)
    if is_first:
        rule = max(rule - settings.number("retrieval.first_prompt_relief"), _MIN_THRESHOLD)
    pointer = coefficients.KEYWORD_POINTER if is_by_keywords else coefficients.POINTER
    return Thresholds(rule, pointer if settings.flag("retrieval.pointers") else _UNREACHABLE)


def room(settings: Settings, *, is_first: bool) -> Room:
    """Return the room of a prompt; the first of a session gets more, except for a number of records that was set."""
    factor = settings.number("retrieval.first_prompt_budget") if is_first else 1.0
    rules, tokens = settings.count("retrieval.max_inject"), settings.number("retrieval.max_tokens")
    if not settings.is_set("retrieval.max_tokens"):
        tokens = max(tokens, rules * _TOKENS_PER_RULE)
    if not settings.is_set("retrieval.max_inject"):
        rules = int(rules * factor)
    return Room(rules, int(tokens * factor))


def show(
    candidates: list[Candidate], thresholds: Thresholds, room: Room, ledger: Ledger
) -> tuple[str, list[Candidate]]:
    """Return the block, and all candidates with their outcome; what is shown is noted in `ledger`."""
    text, results = _rendered(_checked([_if_accepted(one) for one in candidates], ledger, thresholds), room)
    for candidate in results:
        if candidate.shown_form == RULE:
            ledger.add_shown(candidate.record, candidate.text_hash)
        elif candidate.shown_form == POINTER:
            ledger.add_pointer(candidate.record)
    return text, results


def in_form(candidate: Candidate, form: str, otherwise: str) -> Candidate:
    """Return the candidate with `form`, or if that is empty, with `otherwise` as its outcome."""
    return candidate._replace(form=form, outcome="" if form else otherwise)


def with_siblings_pointed_to(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates; of rules on one subject, those after the first as pointers.

    Nothing tells which of them is meant. A second rule is for other words of the prompt.
    """
    subjects: set[object] = set()
    results: list[Candidate] = []
    for candidate in candidates:
        is_rule, subject = candidate.form == RULE, (candidate.prefix, candidate.match.subject)
        results.append(candidate._replace(form=POINTER) if is_rule and subject in subjects else candidate)
        if is_rule:
            subjects.add(subject)
    return results


def _checked(candidates: list[Candidate], ledger: Ledger, thresholds: Thresholds) -> list[Candidate]:
    """Mark candidates that the session was shown before, and add cautions for records whose files have changed.

    A record whose file is missing becomes less probable: it may be dropped, or be shown as a pointer.
    """
    cautions = Cautions()

    def check(candidate: Candidate) -> Candidate:
        match = candidate.match
        caution, is_missing = cautions.check(match.root, candidate.prefix, match.anchors)
        candidate = candidate._replace(caution=caution)
        if not is_missing:
            return candidate
        form = thresholds.form(relevance.shifted(match.probability, _MISSING_FILE_LOGITS))
        return in_form(candidate, form, FILE_MISSING)

    new = [_if_new(candidate, ledger) for candidate in candidates]
    checked = [candidate if candidate.outcome else check(candidate) for candidate in new]
    # A rule may have become a pointer.
    return [_if_new(candidate, ledger) for candidate in checked]


def _if_accepted(candidate: Candidate) -> Candidate:
    """Return the candidate as a pointer if the user has yet to accept its repository."""
    return candidate._replace(form=POINTER) if candidate.form == RULE and not candidate.is_accepted else candidate


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
    # Rules are not cut for pointers, which get the remaining tokens.
    tokens = room.tokens - count_tokens(render_block(items, paths.PROJECT_PREFIX))
    pointers = fitting_pointers(lines, tokens, rules=len(items)) if room.rules else []
    is_shown = set(map(id, (*rules[: len(items)], *pointed[: len(pointers)])))
    results = [
        candidate if candidate.outcome else candidate._replace(outcome=SHOWN if id(candidate) in is_shown else NO_ROOM)
        for candidate in candidates
    ]
    heading = [HEADING] if pointers else []
    return render_block(items, paths.PROJECT_PREFIX, [*heading, *pointers]), results


def fitting_pointers(lines: list[str], tokens: int, *, rules: int) -> list[str]:
    """Return the first `lines` that fit into `tokens`, as pointers next to a number of `rules`."""
    tokens -= count_tokens(HEADING)
    pointers: list[str] = []
    for line in lines[: MAX_POINTERS if rules < _MAX_RULES_BESIDE_POINTERS else 0]:
        tokens -= count_tokens(line)
        if tokens < 0:
            break
        pointers.append(line)
    return pointers


def pointer(candidate: Candidate) -> str:
    """Return the line that points to a record: category, title, and the command that shows it."""
    from onrecord.store import record_names

    match = candidate.match
    command = f"onrecord show {paths.store_flag(candidate.prefix)}{record_names.short_name(match.path)}"
    # A title that has no such quotes itself cannot pose as a command between them.
    title = match.title.replace("“", '"').replace("”", '"')
    mark = f"({match.mark}) " if match.mark else ""
    for max_characters in range(len(title), min(len(title), _MIN_TITLE_CHARACTERS) - 1, -4):
        line = f"- {mark}{match.category} “{cut(title, max_characters)}”: {command}"
        if count_tokens(line) <= _MAX_POINTER_TOKENS:
            return line
    return f"- {mark}{match.category}: {command}"


def after_compaction(stores: Stores, session: str) -> str:
    """Return the block of the records in use, as they are now, the latest first; the ledger starts anew with them."""
    with Ledger(session) as ledger:
        record_names, is_quiet = list(reversed(ledger.shown)), ledger.is_quiet
        ledger.reset()
        candidates = as_they_are(record_names, stores)[:_MAX_AGAIN]
        cautions = Cautions()
        items = fitting_items([cautions.beside(candidate).item for candidate in candidates], _MAX_AGAIN_TOKENS)
        for candidate in candidates[: len(items)]:
            ledger.add_shown(candidate.record, candidate.text_hash)
        ledger.count_prompt()
        if is_quiet:
            ledger.quiet()
    return render_block(items, paths.PROJECT_PREFIX)


def as_they_are(record_names: Sequence[str], stores: Stores) -> list[Candidate]:
    """Return the records named in a ledger as they are now, or what has replaced them, without hidden ones."""
    candidates: list[Candidate] = []
    order: dict[str, int] = {}
    for store in stores.in_turn(is_last=False):
        for number, candidate in store.attempt(_as_they_are_in, record_names):
            candidates.append(candidate)
            order[candidate.record] = number
    return sorted(distinct(candidates), key=lambda candidate: order[candidate.record])


def _as_they_are_in(searched_store: SearchedStore, record_names: Sequence[str]) -> list[tuple[int, Candidate]]:
    """Return the same for one store, each with its place in the ledger."""
    index, start = searched_store.open(), searched_store.store_ref.root + os.sep
    applies = searched_store.applies()
    current: dict[str, tuple[int, Match]] = {}
    for number, record_name in enumerate(record_names):
        match = rank.current(index, record_name[len(start) :]) if record_name.startswith(start) else None
        if match and applies(match.scope):
            current.setdefault(match.path, (number, match))
    candidates = searched_store.visible(match for _, match in current.values())
    return [(current[candidate.match.path][0], candidate) for candidate in candidates]
