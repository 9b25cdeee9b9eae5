"""Lexicon: the phrases of one language that tell a decision from chatter, read from `cues/<language>.json`.

A phrase is a row of words. `*` stands for up to five words, `word*` for any word that begins so, `#` for a number,
`^` for the start of a sentence and `$` for its end. A language is added by a file of phrases and a line of its
commonest words in `cues/languages.json`.
"""

from __future__ import annotations

import os

from recollect import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues")
_WIDEST_GAP = 5
_STEM = 3


class Lexicon:
    """One language's phrases, each under a tag such as `decision.strong` or `reason`."""

    __slots__ = ("_by_pair", "_by_start", "_by_word", "_single", "spelling")

    def __init__(self, data: dict[str, Any], vocabulary: set[str] | None = None) -> None:
        """With a vocabulary, only the phrases that begin with one of its words: no others can be met."""
        self.spelling: dict[str, str] = data["spelling"]
        self._single: dict[str, list[str]] = {}
        self._by_pair: dict[tuple[str, str], list[tuple[list[str], str]]] = {}
        self._by_word: dict[str, list[tuple[list[str], str]]] = {}
        self._by_start: dict[str, list[tuple[list[str], str]]] = {}
        met = None
        if vocabulary is not None:
            met = {"^", "$", *vocabulary, *(self.spelling.get(word, "") for word in vocabulary)}
        for tag, phrases in data["phrases"].items():
            for phrase in phrases if met is None else _that_begin(phrases, met):
                self._add(phrase, tag)

    def _add(self, phrase: str, tag: str) -> None:
        """File a phrase under as much of its beginning as is plain words: a sentence is looked up word by word."""
        if " " not in phrase and phrase[-1] != "*" and phrase != "#":
            self._single.setdefault(phrase, []).append(tag)
            return
        words = phrase.split()
        first = words[0]
        if first[-1] == "*":
            self._by_start.setdefault(first[:_STEM], []).append((words, tag))
        elif words[1][-1] in "*#":
            self._by_word.setdefault(first, []).append((words, tag))
        else:
            self._by_pair.setdefault((first, words[1]), []).append((words, tag))

    def tags(self, words: list[str]) -> dict[str, int]:
        """Which tags a sentence's words carry, and by how many phrases each."""
        spelling = self.spelling
        spelt = ["^", *(spelling.get(word, word) for word in words), "$"]
        found: dict[str, int] = {}
        single, by_pair, by_word, by_start = self._single, self._by_pair, self._by_word, self._by_start
        for at, word in enumerate(spelt):
            for tag in single.get(word, ()):
                found[tag] = found.get(tag, 0) + 1
            longer = list(by_pair.get((word, spelt[at + 1]), ())) if at + 1 < len(spelt) else []
            if word in by_word:
                longer += by_word[word]
            if word[:_STEM] in by_start:
                longer += by_start[word[:_STEM]]
            if word.isdigit():
                longer += by_word.get("#", ())
                longer += by_pair.get(("#", spelt[at + 1]), ())
            for phrase, tag in longer:
                if _fits(phrase, spelt, at):
                    found[tag] = found.get(tag, 0) + 1
        return found


class Lexicons:
    """All languages there are, each loaded when a text first needs it."""

    __slots__ = ("_common", "_folder", "_loaded")

    def __init__(self, folder: str = _FOLDER) -> None:
        self._folder = folder
        self._loaded: dict[str, dict[str, Any]] = {}
        common = _read(os.path.join(folder, "languages.json"))
        self._common = {name: frozenset(words.split()) for name, words in common.items()}

    def language(self, words: list[str], otherwise: str = "en") -> str:
        """The language whose commonest words a text uses most; the other one where that is no clear thing."""
        counts = {name: sum(word in common for word in words) for name, common in self._common.items()}
        best = max(counts, key=lambda name: counts[name])
        return best if counts[best] > counts.get(otherwise, 0) else otherwise

    def of(self, language: str, vocabulary: set[str] | None = None) -> Lexicon:
        """The phrases of a language, or those of them that texts of some vocabulary can contain."""
        if language not in self._loaded:
            self._loaded[language] = _read(os.path.join(self._folder, f"{language}.json"))
        return Lexicon(self._loaded[language], vocabulary)


def _read(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        data: dict[str, Any] = coldstart.loads(file.read())
    return data


def _that_begin(phrases: list[str], met: set[str]) -> Iterator[str]:
    """The phrases whose first two words are met, or may be."""
    yield from met.intersection(phrases)
    for phrase in phrases:
        if "*" in phrase or "#" in phrase:
            yield phrase
        elif " " in phrase:
            first, second = phrase.split(" ", 2)[:2]
            if first in met and second in met:
                yield phrase


def _fits(phrase: list[str], words: list[str], at: int) -> bool:
    """Whether a phrase stands at a place in a row of words."""
    for number, wanted in enumerate(phrase):
        if wanted == "*":
            rest = phrase[number + 1 :]
            return any(_fits(rest, words, at + gap) for gap in range(_WIDEST_GAP + 1))
        if at >= len(words) or not _is(wanted, words[at]):
            return False
        at += 1
    return True


def _is(wanted: str, word: str) -> bool:
    if wanted == "#":
        return word.isdigit()
    return word.startswith(wanted[:-1]) if wanted[-1] == "*" else word == wanted
