"""Contradictions: two memories that are both in force, speak of one subject, and cannot both be followed.

Found by words alone: one says always and the other never, they name different values for the same thing, or one chose
what the other rejected. What is found is offered to a person, never acted on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.audit import similarity
from recollect.audit.audit_item import Item
from recollect.categories import BY_NAME
from recollect.search import stopwords, terms

CATEGORIES = (*(category.name for category in BY_NAME.values() if category.is_rule), "")
_AGAINST = frozenset(
    "never not no dont doesnt cannot cant avoid without stop forbid forbidden prohibit ban banned disallow disable"
    " disabled deny reject remove skip refuse off instead against isnt wont mustnt shouldnt".split()
)
_FOR = frozenset(
    "always must should use using prefer choose adopt pick allow allowed permit enable enabled accept require required"
    " keep do on every only want with we our shall will".split()
)
_OPPOSITES = {"space": "tab", "async": "sync", "asynchronous": "sync", "synchronous": "sync", "monorepo": "polyrepo"}
_CHOICE = ("use", "adopt", "choose", "prefer", "pick", "keep", "run", "store", "deploy")
_FOR_WHAT = ("for", "as", "when", "in", "with", "on", "to")


class Conflict(NamedTuple):
    """Two items that contradict each other, older first, and in what."""

    older: Item
    newer: Item
    reason: str


class _Claim(NamedTuple):
    """One thing an item says of a subject."""

    number: int
    subject: frozenset[str]
    value: frozenset[str]
    sign: int = 1


def conflicts(items: Sequence[Item]) -> list[Conflict]:
    """Every pair of items in force that seem to contradict each other, each pair once."""
    kept = [item for item in items if item.is_current and item.category in CATEGORIES]
    found: dict[tuple[int, int], str] = {}
    for one, other, reason in (
        *_opposed(kept),
        *_chosen_differently(kept),
        *_different_amounts(kept),
        *_rejected(kept),
    ):
        pair = (min(one, other), max(one, other))
        if one != other and not _are_linked(kept[one], kept[other]):
            found.setdefault(pair, reason)
    return [_conflict(kept[one], kept[other], reason) for (one, other), reason in sorted(found.items())]


def _conflict(one: Item, other: Item, reason: str) -> Conflict:
    older, newer = sorted((one, other), key=lambda item: (item.updated, item.id))
    return Conflict(older, newer, reason)


def _are_linked(one: Item, other: Item) -> bool:
    return bool({one.id, other.id} & {one.superseded_by, other.superseded_by, *one.supersedes, *other.supersedes})


def _opposed(items: Sequence[Item]) -> Iterator[tuple[int, int, str]]:
    """Titles that say the same with the opposite sign."""
    claims = []
    for number, item in enumerate(items):
        words = _words(item.title)
        subject = frozenset(_terms(word for word in words if word not in _AGAINST and word not in _FOR))
        flipped = frozenset(_OPPOSITES.get(term, term) for term in subject)
        sign = -1 if (any(w in _AGAINST for w in words) + sum(term in _OPPOSITES for term in subject)) % 2 else 1
        claims += [_Claim(number, flipped, frozenset(), sign)] if flipped else []
    for one, other in _meeting(claims, 0.75):
        if one.sign != other.sign and (len(one.subject | other.subject) > 1):
            yield one.number, other.number, "one says the opposite of the other"


def _chosen_differently(items: Sequence[Item]) -> Iterator[tuple[int, int, str]]:
    """The same topic, or "use … for" the same purpose, and nothing in common in what is chosen."""
    claims = []
    for number, item in enumerate(items):
        subject, value = _choice(item)
        if subject and value:
            claims.append(_Claim(number, subject, value))
    for one, other in _meeting(claims, 0.75):
        shared_tags = set(items[one.number].tags) & set(items[other.number].tags)
        is_same_subject = len(one.subject & other.subject) > 1 or len(shared_tags) > 1 or bool(items[one.number].topic)
        if is_same_subject and similarity.likeness(one.value, other.value) < 0.2:
            yield one.number, other.number, f"different choices for {' '.join(sorted(one.subject & other.subject))}"


def _choice(item: Item) -> tuple[frozenset[str], frozenset[str]]:
    """What something is for, and what was chosen for it."""
    if item.topic:
        return frozenset(_terms(_words(item.topic))), frozenset(_terms(_words(item.statement)))
    words = _words(item.title)
    if not words or words[0] not in _CHOICE:
        return frozenset(), frozenset()
    at = next((n for n, word in enumerate(words) if n > 1 and word in _FOR_WHAT), 0)
    return (frozenset(_terms(words[at + 1 :])), frozenset(_terms(words[1:at]))) if at else (frozenset(), frozenset())


def _different_amounts(items: Sequence[Item]) -> Iterator[tuple[int, int, str]]:
    """The same sentence with other numbers in it."""
    claims = []
    for number, item in enumerate(items):
        for text in {item.title, item.statement.split("\n")[0].split(". ")[0][:300]}:
            words = _words(text)
            amounts = frozenset(word for word in words if any(c.isdigit() for c in word))
            subject = frozenset(_terms(word for word in words if word not in amounts))
            if amounts and len(subject) > 1:
                claims.append(_Claim(number, subject, amounts))
    for one, other in _meeting(claims, 0.75):
        if one.value != other.value and not one.value & other.value:
            said = f"{' '.join(sorted(one.value))} against {' '.join(sorted(other.value))}"
            yield one.number, other.number, f"different amounts: {said}"


def _rejected(items: Sequence[Item]) -> Iterator[tuple[int, int, str]]:
    """One chose what the other rejected, and both speak of the same thing."""
    claims = []
    for number, item in enumerate(items):
        _, chosen = _choice(item)
        claims += [_Claim(number, chosen, frozenset())] if chosen else []
        for option in item.rejected:
            subject = frozenset(_terms(_words(option)))
            claims += [_Claim(number, subject, frozenset(), -1)] if subject else []
    for one, other in _meeting(claims, 1.0):
        titles = [frozenset(_terms(_words(items[claim.number].title))) - one.subject for claim in (one, other)]
        if one.sign != other.sign and len(titles[0] & titles[1]) > 1:
            yield one.number, other.number, f"one chose {' '.join(sorted(one.subject))}, the other rejected it"


def _meeting(claims: Sequence[_Claim], alike: float) -> Iterator[tuple[_Claim, _Claim]]:
    """Pairs of claims of different items about one subject."""
    for one, other in similarity.pairs([claim.subject for claim in claims], alike):
        if claims[one].number != claims[other].number:
            yield claims[one], claims[other]


def _words(text: str) -> list[str]:
    return [word.lower() for word in terms.words(text.replace("'", "").replace("’", ""))]


def _terms(words: Sequence[str] | Iterator[str]) -> list[str]:
    """The meaning words among some, stemmed."""
    return [term for word in words if word not in stopwords.ENGLISH for term in terms.of_word(word)]
