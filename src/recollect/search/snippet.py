"""The passage of a record that answers a query best, with the words that were asked for marked."""

from __future__ import annotations

from recollect.errors import RecollectError
from recollect.search import document, terms
from recollect.search.rank import Match
from recollect.store.store import Store

WORDS = 28


def of(match: Match, mark: tuple[str, str]) -> str:
    """A snippet of the record behind a match; its essence if the file cannot be read or nothing in it was asked for."""
    try:
        memory = Store(match.root).read(match.path).memory
    except RecollectError:
        return match.essence
    asked = frozenset(match.query.terms) if match.query else frozenset()
    passage = best(document.passages(memory), asked)
    return marked(passage, asked, mark) if passage else match.essence


def best(passages: list[str], asked: frozenset[str]) -> str:
    """The stretch of words with the most different terms asked for; empty if there is none."""
    found, most = "", (0, 0)
    for passage in passages:
        words = passage.split()
        hits = [asked.intersection(terms.stream(word)) for word in words]
        for start in range(0, max(1, len(words) - WORDS // 2), WORDS // 4):
            inside = hits[start : start + WORDS]
            count = (len(frozenset().union(*inside)), sum(map(len, inside)))
            if count > most:
                most, found = count, _cut(words, start)
    return found


def marked(text: str, asked: frozenset[str], mark: tuple[str, str]) -> str:
    """A text with every word marked whose terms were asked for."""
    return " ".join(
        f"{mark[0]}{word}{mark[1]}" if asked.intersection(terms.stream(word)) else word for word in text.split()
    )


def _cut(words: list[str], start: int) -> str:
    end = start + WORDS
    return ("… " if start else "") + " ".join(words[start:end]) + (" …" if end < len(words) else "")
