"""Why a record matches a prompt, in words: what `onrecord why` prints. No hook loads this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.record.memory import Memory
from onrecord.search import document, record_vectors, terms, vectors
from onrecord.search.query import ENGLISH, Query, parse
from onrecord.search.rank import Match
from onrecord.store.store import Store

_MIN_MEANING = 0.4
"""The cosine from which on two texts are called close in meaning: unrelated ones seldom reach it."""

_RIVAL = 0.5
"""The share of a record's own weight among the candidates from which on another one competes with it."""

_MAX_WORDS = 6
_MAX_RIVALS = 3
"""Rivals that are counted: with more it does not matter how many."""

_NUMBERS = ("no", "one", "two", "three")


class _Closest(NamedTuple):
    """The text of a record that is closest to a prompt."""

    kind: str
    text: str
    cosine: float


def reasons(match: Match, others: Sequence[Match]) -> list[str]:
    """Return the reasons for and against a match, weightiest first; `others` are the other candidates of its store."""
    try:
        record = Store(match.root).read(match.path).memory
    except OnrecordError as error:
        return [f"its file cannot be read: {error.message}"]
    query = match.query or parse("")
    texts = [_of_via(match), _of_trigger(record, query), _of_words(record, query)]
    if match.is_by_keywords:
        texts.append(_of_points(match))
    else:
        texts += [_of_meaning(record, query), _of_rivals(match, others)]
    return [reason for reason in texts if reason]


def _of_via(match: Match) -> str:
    return f"found by the text of “{match.via[1]}”, which it replaces" if match.via else ""


def _of_trigger(record: Memory, query: Query) -> str:
    """Return the trigger that the query has most of, if it has at least half of it."""
    best, most = "", 0.0
    for trigger in record.triggers:
        topical = set(terms.stream(trigger)).difference(*map(terms.of_word, ENGLISH.intersection(_words(trigger))))
        share = len(topical.intersection(query.terms)) / len(topical) if topical else 0.0
        if share > most:
            best, most = trigger, share
    if most < 0.5:
        return ""
    return f"{'matches' if most == 1 else 'nearly matches'} a trigger: “{best}”"


def _of_words(record: Memory, query: Query) -> str:
    """Return the words of the prompt that the record has, and where; and those that it lacks."""
    fields = document.build(record)
    title = frozenset(fields.title.split())
    rest = frozenset((*fields.tags.split(), *fields.triggers.split(), *fields.body.split()))
    spelled = {word: terms.of_word(word) for word in _words(query.text)}
    topical = {word: parts for word, parts in spelled.items() if set(parts).intersection(query.terms)}
    in_title = [word for word, parts in topical.items() if title.issuperset(parts)]
    elsewhere = [word for word, parts in topical.items() if word not in in_title and rest.issuperset(parts)]
    missing = [word for word in topical if word not in in_title and word not in elsewhere]
    places = (("in its title", in_title), ("in its text", elsewhere), ("not in it", missing))
    return "; ".join(f"{where}: {_joined(present)}" for where, present in places if present)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.lower() for word in terms.words(text)))


def _joined(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MAX_WORDS} more" if len(words) > _MAX_WORDS else ""
    return ", ".join(words[:_MAX_WORDS]) + more


def _of_meaning(record: Memory, query: Query) -> str:
    """Return the text of the record that is close to the prompt in meaning, if one is."""
    try:
        vectorizer = vectors.shared()
    except (OSError, ValueError):
        return ""
    prompt = vectorizer.vector(vectors.words(query.text))
    texts = [("title", record.title), *(("trigger", trigger) for trigger in record.triggers)]
    texts += [("text", part) for part in record_vectors.sentences(record)]
    cosines = (_cosine(prompt, vectorizer.vector(vectors.words(text))) for _, text in texts)
    closest = max((_Closest(*text, cosine) for text, cosine in zip(texts, cosines)), key=lambda text: text.cosine)
    if closest.cosine < _MIN_MEANING:
        return "not close in meaning"
    return f"close in meaning to its {closest.kind}: “{closest.text}”"


def _cosine(first: bytes, second: bytes) -> float:
    products = ((left - 128) * (right - 128) for left, right in zip(first, second))
    return sum(products) / vectors.LENGTH**2


def _of_points(match: Match) -> str:
    """Return the points of the keyword scorer, in words."""
    points, lead = match.features["keywords"], match.features["lead"]
    if not lead:
        return f"{points:g} keyword points, as many as another record"
    compared = f"{lead:g} more than any other record" if lead > 0 else f"{-lead:g} fewer than the best"
    return f"{points:g} keyword points, {compared}"


def _of_rivals(match: Match, others: Iterable[Match]) -> str:
    """Return the number of other records that match about as well, in words."""
    rivals = sum(other.features.get("share", 0.0) >= _RIVAL * match.features.get("share", 1.0) for other in others)
    if not rivals:
        return "no other record competes"
    count = _NUMBERS[rivals] if rivals <= _MAX_RIVALS else "many"
    return f"{count} other record{'s compete' if rivals > 1 else ' competes'}"
