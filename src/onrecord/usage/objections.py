"""Where a person says that something no longer holds. Questions, conditions and wishes are no objections."""

from __future__ import annotations

from itertools import islice

from onrecord.coldstart import NamedTuple
from onrecord.text import sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 8_000  # characters: behind them a prompt is a pasted document
_MOST_SENTENCES = 30
_POINTING_LENGTH = 12  # words: a longer sentence names what it is about
_OPENERS = frozenset("no nope nah nein non actually wait wrong stop falsch".split())

# Said of "that", they are about whatever was said last.
_POINTING = (
    "outdated", "out of date", "obsolete", "stale", "no longer true", "no longer the case", "no longer valid",
    "no longer applies", "no longer holds", "not true anymore", "not true any more", "not the case anymore",
    "not valid anymore", "isn't true anymore", "isn't the case anymore", "doesn't apply anymore",
    "doesn't hold anymore", "we changed that", "we've changed that", "we have changed that", "that has changed",
    "that's changed", "that changed", "we changed it", "we've changed it", "we dropped that", "we dropped it",
    "don't do that anymore", "don't do it anymore", "don't do that any more", "stopped doing that",
    "not how we do", "not anymore", "not any more", "memory is wrong", "note is wrong", "memory is old",
    "that's old information", "that's the old", "that was the old", "veraltet", "stimmt nicht mehr",
    "gilt nicht mehr", "nicht mehr aktuell", "haben wir geändert", "nicht mehr so",
)  # fmt: skip

# These need the thing itself beside them.
_NAMING = (
    "we no longer", "we don't use", "is no longer", "are no longer", "no longer use", "we used to", "we dropped",
    "we stopped", "we removed", "we got rid of", "we moved away from", "we moved off", "we switched away from",
    "we switched from", "we migrated off", "we migrated away from", "we abandoned", "was replaced by",
    "were replaced by", "has been replaced", "have been replaced", "is gone", "are gone", "we replaced",
    "wir nutzen", "wir verwenden", "wir haben",
)  # fmt: skip
_NAMING_NEEDS = {
    "we don't use": ("anymore", "any more"),
    "is no longer": ("true", "used", "valid", "the case", "supported", "in use", "right", "current", "how", "there"),
    "are no longer": ("true", "used", "valid", "the case", "supported", "in use", "right", "current", "there"),
    "wir nutzen": ("nicht mehr", "kein"),
    "wir verwenden": ("nicht mehr", "kein"),
    "wir haben": ("abgeschafft", "ersetzt", "entfernt"),
}
_VALUE_IS_WRONG = ("is wrong", "isn't right", "is not right", "that's wrong", "not true", "isn't true", "is incorrect")
_MOVED = ("we moved to", "we switched to", "we migrated to", "we're on", "we are on", "it's now", "we use", "now it's")
_NEGATIONS = ("not", "no", "never", "nicht", "kein", "keine")
_UNREAL = frozenset("if should must would could might once until unless whether wenn sollte falls make ensure".split())


class Objection(NamedTuple):
    """A sentence that takes something back, and what it needs beside it to be about a record."""

    sentence: str
    points_back: bool = False  # it may be about what was said last without naming it
    needs_literal: bool = False  # two words in common are not enough: a value of the record must be in it


def find(text: str) -> list[Objection]:
    """The objections in what a person wrote."""
    objections: list[Objection] = []
    is_opened = False
    for sentence in islice(_sentences(text[:_LONGEST]), _MOST_SENTENCES):
        words = sentence.split()
        is_opened = is_opened or words[0].strip(",.!") in _OPENERS
        objection = _objection(sentence, words, is_opened)
        objections += [objection] if objection else []
    return objections


def _objection(sentence: str, words: list[str], is_opened: bool) -> Objection | None:
    if sentence.endswith("?") or not _UNREAL.isdisjoint(words):
        return None
    if _has(sentence, _POINTING):
        return Objection(sentence, points_back=len(words) <= _POINTING_LENGTH)
    needs = {phrase: _NAMING_NEEDS.get(phrase, ("",)) for phrase in _NAMING if _has(sentence, (phrase,))}
    if any(word in sentence for needed in needs.values() for word in needed):
        return Objection(sentence)
    is_negated = any(word in _NEGATIONS or word.endswith("n't") for word in words)
    if is_negated and _has(sentence, ("anymore", "any more", "nicht mehr")):
        return Objection(sentence)
    if _has(sentence, _VALUE_IS_WRONG) or (is_opened and (_has(sentence, _MOVED) or "not" in words)):
        return Objection(sentence, needs_literal=True)
    return None


def _has(sentence: str, phrases: tuple[str, ...]) -> bool:
    """Whether a sentence says one of the phrases, and does not say the opposite of it."""
    for phrase in phrases:
        at = sentence.find(phrase)
        if at < 0 or sentence[at - 1 : at].isalnum() or sentence[at + len(phrase) :][:1].isalnum():
            continue
        before = sentence[max(at - 14, 0) : at].split()[-2:]
        if not any(word in ("not", "never", "nicht") or word.endswith("n't") for word in before):
            return True
    return False


def _sentences(text: str) -> Iterator[str]:
    """Sentences in lower case with plain apostrophes, without code blocks and quotations."""
    for number, piece in enumerate(text.lower().replace("’", "'").split("```")):
        for line in piece.split("\n") if number % 2 == 0 else ():
            if not line.lstrip().startswith((">", "|")):
                yield from filter(None, (part.rstrip(" .!;") for part in sentences(line.replace("; ", ". "))))
