"""Records that govern a command, each with the probability that it does: by the command's own words, not by meaning.

A record that names the command as one types it is the strongest sign; its words in other places, what the command does
in English, its options and arguments add to it or take from it.
"""

from __future__ import annotations

from math import exp, log

from onrecord import coldstart
from onrecord.search import candidates, coefficients, indexing, rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onrecord.search.candidates import Filter
    from onrecord.search.command_terms import CommandTerms
    from onrecord.search.index import Index, Row
    from onrecord.search.rank import Match

MAX_COMPARED = 24
"""Records compared with one program call."""

_MAX_OCCURRENCES = 3_000
"""Occurrences visited before the commoner terms are left out: what bounds the work in a large store."""

_TITLED, _ANYWHERE = 2.0, 1.0
_MAX_WITHOUT_WORDS = 1_000
"""Records compared where SQLite has no full-text table."""

_DIRECTIVES = frozenset("never alwai must use run instead befor not onli avoid don forbidden requir".split())
"""Stems of words with which a record says what to do."""

_RULES = ("constraint", "preference", "runbook")

NAMES = tuple(name for name in coefficients.COMMAND_WEIGHTS if name != "base")
"""The features, in order."""


class _Streams(coldstart.NamedTuple):
    """The terms of a record."""

    title: frozenset[str]
    triggers: list[frozenset[str]]
    body: frozenset[str]
    texts: tuple[str, str, str]
    """Title, triggers and body with a space at either end, to look for neighbours."""

    @property
    def named(self) -> frozenset[str]:
        """The terms of title and triggers."""
        return self.title.union(*self.triggers)


class CommandMatch(coldstart.NamedTuple):
    """A record that may govern a command, and the family of the program call that it matches."""

    match: Match
    family: str


def find(index: Index, calls: Sequence[CommandTerms], filter: Filter, limit: int) -> list[CommandMatch]:
    """Return the records that may govern one of the program calls, most probable first."""
    return index.run(_find_unchanged, calls, filter, limit, hook=True)


def _find_unchanged(index: Index, calls: Sequence[CommandTerms], filter: Filter, limit: int) -> list[CommandMatch]:
    """Return matches whose files are as they were indexed; one edited since is indexed and compared again."""
    hits = _find(index, calls, filter)[:limit]
    changed = [hit.match.path for hit in hits if not indexing.is_unchanged(index, hit.match.path)]
    if not changed:
        return hits
    try:
        indexing.reread(index, changed)
        hits = _find(index, calls, filter)[:limit]
    except coldstart.SqliteError:
        pass
    return [hit for hit in hits if indexing.is_unchanged(index, hit.match.path)]


def _find(index: Index, calls: Sequence[CommandTerms], filter: Filter) -> list[CommandMatch]:
    best: dict[str, CommandMatch] = {}
    for call in calls:
        for match in _of_call(index, call, filter):
            if match.path not in best or best[match.path].match.probability < match.probability:
                best[match.path] = CommandMatch(match, call.family)
    return sorted(best.values(), key=lambda hit: (-hit.match.probability, hit.match.path))


def _of_call(index: Index, called: CommandTerms, filter: Filter) -> list[Match]:
    """Return the records that share words with a program call, each with its probability."""
    names = {
        *called.head,
        *called.runner,
        *called.concepts,
        *called.arguments,
        *called.texts,
    }
    names.update(called.sequence)
    term_counts = index.term_counts(sorted(names)[:_MAX_TERMS])
    records = index.totals()[0]
    rarities = {term: candidates.rarity(term_counts.get(term, (0, 0))[0], records) for term in names}
    rows = _compared(index, called, term_counts, rarities)
    measured = [(row, measure(called, streams_of(row), rarities, row)) for row in rows]
    _compare([features for _, features in measured])
    successors = candidates.successors(index, rows) if rows else {}
    matches: list[Match] = []
    for row, features in measured:
        current = successors[row.n]
        if current is None or not filter.accepts(current):
            continue
        probability = probability_of(features)
        scores = {"score": probability, "probability": probability, "features": features}
        matches.append(rank.match(current, index.root, **scores))
    return matches


def _compare(measured: Sequence[dict[str, float]]) -> None:
    """Add the features that compare a record with the others: how many name the command, and by how much it leads."""
    overlaps = [sum(features[name] for name in _OVERLAPS) for features in measured]
    naming = [any(features[name] for name in _FAMILY) for features in measured]
    for place, features in enumerate(measured):
        others = max((overlap for other, overlap in enumerate(overlaps) if other != place), default=0.0)
        features["rivals"] = log(1 + sum(naming))
        features["alone"] = naming[place] / sum(naming) if naming[place] else 0.0
        features["lead"] = max(min(overlaps[place] - others, _MAX_LEAD), -_MAX_LEAD)


_FAMILY = ("family_in_trigger", "family_in_title", "family_in_body")
_RUNS = ("run_in_trigger", "run_in_title", "run_in_body")
_OVERLAPS = (*_FAMILY, *_RUNS, "head_named", "trigger_cover", "title_cover", "option")
_MAX_LEAD = 3.0
_MAX_TERMS = 120
"""Terms of one call that are looked up."""


def _compared(
    index: Index, called: CommandTerms, term_counts: Mapping[str, tuple[int, int]], rarities: Mapping[str, float]
) -> list[Row]:
    """Return the records with the heaviest share of what a call names: program, subcommands, concepts, options."""
    if not index.has_words:
        return [row.respelled(term_counts) for row in index.not_replaced()[:_MAX_WITHOUT_WORDS]]
    options = [term for option in called.options for term in option]
    names = [term for term in dict.fromkeys((*called.head, *called.concepts, *options)) if term_counts.get(term)]
    scores: dict[str, float] = {}
    occurrences = 0
    for term in sorted(names, key=lambda term: term_counts[term]):
        occurrences += term_counts[term][0]
        if occurrences > _MAX_OCCURRENCES and scores:
            break
        for n in index.records_with(term):
            scores[n] = scores.get(n, 0.0) + _ANYWHERE * rarities[term]
        for n in index.records_with(term, in_title=True) if term_counts[term][1] else ():
            scores[n] = scores.get(n, 0.0) + _TITLED * rarities[term]
    best = sorted(scores, key=lambda n: (-scores[n], int(n)))[:MAX_COMPARED]
    return [row.respelled(term_counts) for row in index.rows(map(int, best))]


def streams_of(row: Row) -> _Streams:
    """Return the terms of a record of the index."""
    triggers = row.trigger_terms.split(" | ")
    return _Streams(
        frozenset(row.title_terms.split()),
        [frozenset(trigger.split()) for trigger in triggers if trigger],
        frozenset(row.body_terms.split()),
        (f" {row.title_terms} ", f" {row.trigger_terms} ", f" {row.body_terms} "),
    )


def measure(called: CommandTerms, streams: _Streams, rarities: Mapping[str, float], row: Row) -> dict[str, float]:
    """Return the features of a record for a program call, without those that compare it with other records."""
    head, title_terms = called.head, streams.named
    title, triggers, body = streams.texts
    covering = frozenset((*head, *called.runner, *called.concepts, *called.sequence))
    covers = [_cover(trigger, covering, rarities) for trigger in streams.triggers]
    phrases, whole = row.trigger_terms.split(" | "), " ".join(head)
    in_triggers = [1.0 if phrase == whole else _family(called, f" {phrase} ") for phrase in phrases]
    options = [f" {' '.join(option)} " for option in called.options]
    # A title about another option names another command: `git commit --no-verify` is not `git commit`.
    has_other_option = _has_other_option(called, row)
    own_title = "" if has_other_option else title
    features = {
        "family_in_trigger": max((part * cover for part, cover in zip(in_triggers, covers)), default=0.0),
        "family_in_title": _family(called, own_title),
        "family_in_body": _family(called, body),
        "other_option": float(has_other_option),
        "run_in_trigger": _longest_run(called, triggers, rarities),
        "run_in_title": _longest_run(called, own_title, rarities),
        "run_in_body": _longest_run(called, body, rarities),
        "head_named": _mass(head, title_terms, rarities),
        "head_in_body": _mass(head, streams.body, rarities),
        "concept_named": _mass(called.concepts, title_terms, rarities),
        "concept_in_body": _mass(called.concepts, streams.body, rarities),
        "trigger_cover": max(covers, default=0.0),
        "title_cover": _cover(streams.title, covering, rarities),
        "option": float(any(option in text for option in options for text in streams.texts)),
        "arguments": _mass(called.arguments, title_terms, rarities),
        "arguments_in_body": _mass(called.arguments, streams.body, rarities),
        "texts": _mass(called.texts, title_terms, rarities),
        "lead": 0.0,
        "alone": 0.0,
        "rivals": 0.0,
        "ordinary": float(called.is_ordinary),
        "inspection": float(called.is_inspection),
        "delivery": float(called.is_delivery),
        "directive": float(not _DIRECTIVES.isdisjoint((*title_terms, *streams.body))),
        "is_rule": float(row.category in _RULES),
        "is_decision": float(row.category == "decision"),
    }
    features["unnamed"] = float(not any(features[name] for name in _FAMILY))
    return features


def _family(called: CommandTerms, text: str) -> float:
    """Return how far a text has program and subcommands side by side: 1 for all, 0 for less than two words."""
    if any(f" {' '.join(spelling)} " in text for spelling in called.spellings):
        return 1.0
    head = called.head
    if len(head) == 1:
        return float(not called.is_ordinary and f" {head[0]} " in text)
    run, count = f" {head[0]} ", 1 if head and f" {head[0]} " in text else 0
    while 0 < count < len(head) and f"{run}{head[count]} " in text:
        run = f"{run}{head[count]} "
        count += 1
    return float(((count - 1) / (len(head) - 1)) ** 3) if count > 1 else 0.0


def _has_other_option(called: CommandTerms, row: Row) -> bool:
    """True if the title is about an option that the call does not have: `git commit --no-verify`."""
    options = (word.strip("`'\",.;:()") for word in row.title.split() if "--" in word)
    return any(option not in called.flags for option in options if option.startswith("--") and len(option) > 2)


def _longest_run(called: CommandTerms, text: str, rarities: Mapping[str, float]) -> float:
    """Return the rarity of the heaviest run of a command's words that a text has, from 0 to about 3.

    One word is a run only if it is the name of a program that is no English word.
    """
    sequence, best = called.sequence, 0.0
    for start, first in enumerate(sequence):
        run = f" {first} "
        if run not in text:
            continue
        weight, end = rarities.get(first, _UNKNOWN_WEIGHT), start + 1
        while end < len(sequence) and f"{run}{sequence[end]} " in text:
            run = f"{run}{sequence[end]} "
            weight += rarities.get(sequence[end], _UNKNOWN_WEIGHT)
            end += 1
        if end - start > 1 or (start == 0 and not called.is_ordinary):
            best = max(best, weight)
    return log(1 + best)


def _cover(terms: frozenset[str], covering: frozenset[str], rarities: Mapping[str, float]) -> float:
    """Return the share of a phrase that a command has, its terms counted by their rarity where that is known."""
    weights = {term: _GENERIC_WEIGHT if term in _GENERIC else rarities.get(term, _UNKNOWN_WEIGHT) for term in terms}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in covering) / total if total else 0.0


_GENERIC = frozenset(
    "add app build chang check code creat file fix get make new open project run start test updat use".split()
)
"""Stems that say little about which command is meant."""

_GENERIC_WEIGHT = 1.0
_UNKNOWN_WEIGHT = 4.0
"""The weight of a term that the command does not have: about that of a word in one record of fifty."""


def _mass(terms: Iterable[str], present: frozenset[str], rarities: Mapping[str, float]) -> float:
    """Return how much of a command's terms a record has, from 0 to about 2."""
    return log(1 + sum(rarities.get(term, _UNKNOWN_WEIGHT) for term in terms if term in present))


def probability_of(measured: Mapping[str, float]) -> float:
    """Return the probability that a record governs a command."""
    weights = coefficients.COMMAND_WEIGHTS
    logit = weights["base"] + sum(weights[name] * measured[name] for name in NAMES)
    return 1 / (1 + exp(-max(min(logit, 50.0), -50.0)))
