"""What somebody typed, as a bounded set of search terms. Pure: it knows nothing of any index."""

from __future__ import annotations

from recollect.categories import BY_NAME
from recollect.search import stopwords, terms

HEAD, TAIL = 2_400, 1_200
"""Characters looked at from the beginning and from the end of a long prompt: it asks at either."""

MOST_TERMS = 64
_HEAD_TERMS = 40
_MOST_WORDS = 320
_FEW = 3

_INTENTS = [
    (category.name, frozenset(category.intent[1].split()))
    for category in sorted(BY_NAME.values(), key=lambda category: category.intent[0])
]

_REFERRING = frozenset(
    "it its that this these those them they same above again there other one ones like so das dies diese dasselbe"
    " eso esto ça cela isso".split()
)
_GENERIC = frozenset(
    "add also appli chang check clean close commit continu do done els explain fine finish fix go good great implement"
    " keep know let look make merg move need next nice now ok okai open pleas proce push put readi remov renam retri"
    " revert review right run save see sens start step stop sure test thank thing tri undo updat use wait want work"
    " write ye yep mach weiter bitt sigu vale oui non".split()
)
"""Stems that say what to do without saying to what."""


class Query:
    """The terms of a prompt: distinct ones, all in order, which neighbours form one compound, and the intent."""

    __slots__ = ("compounds", "intent", "sequence", "terms")

    def __init__(self, sequence: list[str], distinct: list[str], compounds: set[tuple[str, str]], intent: str) -> None:
        self.sequence = sequence
        self.terms = distinct
        self.compounds = compounds
        self.intent = intent

    def __bool__(self) -> bool:
        return bool(self.terms)

    def borrow(self, other: Query) -> None:
        """Take in the terms of an earlier turn, after our own."""
        for term in other.terms:
            if term not in self.terms and len(self.terms) < MOST_TERMS:
                self.terms.append(term)
        self.sequence += ["", *other.sequence]
        self.compounds |= other.compounds


def parse(text: str, borrowed: str = "") -> Query:
    """The query in a text, with the terms of earlier turns if the text alone does not say what it is about."""
    query = _parse(text)
    if borrowed:
        query.borrow(_parse(borrowed))
    return query


def is_referring(text: str) -> bool:
    """Whether a prompt points back, or names nothing, so that by itself it does not say what it is about."""
    if len(text) > 400:
        return False
    telling = [term for term in _parse(text).terms if term not in _GENERIC]
    points_back = not _REFERRING.isdisjoint(word.lower() for word in terms.words(text))
    return not telling or (points_back and len(telling) <= _FEW)


def _parse(text: str) -> Query:
    pieces = [[terms.words(chunk) for chunk in piece.split()[:_MOST_WORDS]] for piece in _pieces(text)]
    lowered = [word.lower() for piece in pieces for words in piece for word in words]
    stop = stopwords.of(lowered)
    sequence: list[str] = []
    distinct: dict[str, None] = {}
    compounds: set[tuple[str, str]] = set()
    for piece in pieces:
        for words in piece:
            found = [term for word in words for term in terms.of_word(word)]
            sequence += found
            compounds.update(zip(found, found[1:]))
            if len(distinct) < (_HEAD_TERMS if piece is not pieces[-1] else MOST_TERMS):
                distinct.update((term, None) for term in _telling(words, stop))
    return Query(sequence, list(distinct)[:MOST_TERMS], compounds, _intent(lowered))


def _telling(words: list[str], stop: frozenset[str]) -> list[str]:
    return [term for word in words if word.lower() not in stop for term in terms.of_word(word) if carries_meaning(term)]


def _pieces(text: str) -> list[str]:
    """The parts of a text that are looked at, without the halves of words where it was cut."""
    if len(text) <= HEAD + TAIL:
        return [text]
    head, tail = text[:HEAD], text[-TAIL:]
    return [head[: head.rfind(" ")] if " " in head else head, tail[tail.find(" ") + 1 :]]


def carries_meaning(term: str) -> bool:
    """Whether a term is worth looking for: not a single Latin letter or digit."""
    return len(term) > 1 or not term.isascii()


def _intent(words: list[str]) -> str:
    found = set(words)
    for category, cues in _INTENTS:
        if not cues.isdisjoint(found):
            return category
    return ""
