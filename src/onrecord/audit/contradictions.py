"""Contradictions: two records in force about one subject that cannot both be followed.

Found by words alone: one says always and the other never, they name different values for the same thing, or one chose
what the other rejected. A finding is shown to a person, never acted on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from onrecord.audit import audit_item
from onrecord.audit.audit_item import AuditItem
from onrecord.categories import BY_NAME
from onrecord.coldstart import NamedTuple
from onrecord.search import query, terms

CATEGORIES = (*(category.name for category in BY_NAME.values() if category.is_rule), "")
# Share of the words of two subjects in common from which they are one subject.
_SAME_SUBJECT = 0.75
# Two choices that share less than this have nothing in common but a filler word.
_DIFFERENT = 0.2
_AGAINST = frozenset(
    "never not no dont doesnt cannot cant avoid without stop forbid forbidden prohibit ban banned disallow disable"
    " disabled deny reject remove skip refuse off instead against isnt wont mustnt shouldnt".split()
)
_FOR = frozenset(
    "always must should use using prefer choose adopt pick allow allowed permit enable enabled accept require required"
    " keep do on every only want with we our shall will".split()
)
_OPPOSITES = {"space": "tab", "async": "sync", "asynchronous": "sync", "synchronous": "sync", "monorepo": "polyrepo"}
_CHOICE = ("use", "adopt", "choose", "prefer", "pick")
_PLACING = ("keep", "run", "store", "deploy", "host", "put")
"""Verbs whose choice comes last: store sessions in Postgres."""

_PURPOSE = ("for", "as", "when", "in", "with", "on", "to")
_MOST_WORDS = 6
"""Words of a subject that a finding repeats."""


class Conflict(NamedTuple):
    """Two items that contradict each other, older first, and in what."""

    older: AuditItem
    newer: AuditItem
    reason: str


class _Claim(NamedTuple):
    """What an item, by number, says of a subject."""

    number: int
    subject: frozenset[str]
    value: frozenset[str] = frozenset()
    is_against: bool = False


def conflicts(items: Sequence[AuditItem]) -> list[Conflict]:
    """Every pair of items in force that seem to contradict each other, each pair once."""
    current = [item for item in items if item.is_current and item.category in CATEGORIES]
    reasons: dict[tuple[int, int], str] = {}
    for check in (_opposed, _chosen_differently, _different_amounts, _rejected):
        for first, second, reason in check(current):
            pair = (min(first, second), max(first, second))
            if first != second and not _are_linked(current[first], current[second]):
                reasons.setdefault(pair, reason)
    ordered = sorted(reasons.items())
    pairs = (
        sorted((current[number] for number in pair), key=lambda item: (item.updated, item.id)) for pair, _ in ordered
    )
    return [Conflict(older, newer, reason) for (older, newer), (_, reason) in zip(pairs, ordered)]


def _are_linked(first: AuditItem, second: AuditItem) -> bool:
    links = {first.superseded_by, second.superseded_by, *first.supersedes, *second.supersedes}
    return bool({first.id, second.id} & links)


def _opposed(items: Sequence[AuditItem]) -> Iterator[tuple[int, int, str]]:
    """Titles that say the same, one for it and one against it."""
    claims = []
    for number, item in enumerate(items):
        words = _words(item.title)
        subject = _terms(word for word in words if word not in _AGAINST and word not in _FOR)
        flips = any(word in _AGAINST for word in words) + sum(term in _OPPOSITES for term in subject)
        same = frozenset(_OPPOSITES.get(term, term) for term in subject)
        claims.append(_Claim(number, same, is_against=flips % 2 == 1))
    for left, right in _about_one_subject(claims):
        if left.is_against != right.is_against and len(left.subject | right.subject) > 1:
            yield left.number, right.number, "one says the opposite of the other"


def _chosen_differently(items: Sequence[AuditItem]) -> Iterator[tuple[int, int, str]]:
    """The same topic, or "use … for" the same purpose, and nothing in common in what is chosen."""
    choices = ((number, *_choice(item)) for number, item in enumerate(items))
    claims = [_Claim(number, subject, value) for number, subject, value in choices if value]
    for left, right in _about_one_subject(claims):
        common = left.subject & right.subject
        is_same_subject = len(common) > 1 or bool(items[left.number].topic)
        if is_same_subject and audit_item.similarity(left.value, right.value) < _DIFFERENT:
            item = items[left.number]
            subject = _as_written(common, item.topic or item.title)
            yield left.number, right.number, f"different choices for the same thing: {subject}"


def _choice(item: AuditItem) -> tuple[frozenset[str], frozenset[str]]:
    """What something is for, and what was chosen for it."""
    if item.topic:
        return _terms(_words(item.topic)), _terms(_words(item.statement))
    words = _words(item.title)
    at = next((n for n, word in enumerate(words) if n > 1 and word in _PURPOSE), 0)
    before, after = _terms(words[1:at]), _terms(words[at + 1 :])
    if at and words[0] in _PLACING:
        return before, after
    return (after, before) if at and words[0] in _CHOICE else (frozenset(), frozenset())


def _different_amounts(items: Sequence[AuditItem]) -> Iterator[tuple[int, int, str]]:
    """The same sentence with other numbers in it."""
    claims = []
    for number, item in enumerate(items):
        for text in {item.title, item.statement.split("\n")[0].split(". ")[0][:300]}:
            words = _words(text)
            amounts = frozenset(word for word in words if any(c.isdigit() for c in word))
            subject = _terms(word for word in words if word not in amounts)
            if amounts and len(subject) > 1:
                claims.append(_Claim(number, subject, amounts))
    for left, right in _about_one_subject(claims):
        if not left.value & right.value:
            sides = f"{' '.join(sorted(left.value))} against {' '.join(sorted(right.value))}"
            yield left.number, right.number, f"different amounts: {sides}"


def _rejected(items: Sequence[AuditItem]) -> Iterator[tuple[int, int, str]]:
    """One chose what the other rejected, and both are about the same thing."""
    claims = []
    for number, item in enumerate(items):
        claims.append(_Claim(number, _choice(item)[1]))
        claims += [_Claim(number, _terms(_words(option)), is_against=True) for option in item.rejected]
    for left, right in _about_one_subject(claims, 1.0):
        titles = [_terms(_words(items[claim.number].title)) - left.subject for claim in (left, right)]
        if left.is_against != right.is_against and len(titles[0] & titles[1]) > 1:
            chosen = _as_written(left.subject, items[(right if left.is_against else left).number].title)
            yield left.number, right.number, f"one chose {chosen}, the other rejected it"


def _about_one_subject(claims: Sequence[_Claim], alike: float = _SAME_SUBJECT) -> Iterator[tuple[_Claim, _Claim]]:
    """Pairs of claims of different items whose subjects are so much alike."""
    for first, second in audit_item.pairs([claim.subject for claim in claims], alike):
        if claims[first].number != claims[second].number:
            yield claims[first], claims[second]


def _as_written(stems: frozenset[str], text: str) -> str:
    """The words of a text that have some stems, as they stand there."""
    words = [word for word in terms.words(text) if stems.intersection(terms.of_word(word.lower()))]
    return " ".join(list(dict.fromkeys(words))[:_MOST_WORDS])


def _words(text: str) -> list[str]:
    return [word.lower() for word in terms.words(text.replace("'", "").replace("’", ""))]


def _terms(words: Iterable[str]) -> frozenset[str]:
    """The words that are no stop words, stemmed."""
    return frozenset(term for word in words if word not in query.ENGLISH for term in terms.of_word(word))
