"""Literals: what a text says that is not ordinary language. Names from code, paths, flags, values with units.

Two texts that share an English word have nothing to do with each other; two that share `max.poll.interval.ms`
or 14 days do. Imported at every Stop that has something to judge: no regular expressions here.
"""

from __future__ import annotations

from recollect.usage import identifiers
from recollect.usage.quantities import LOOKS, Quantity, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 12
_LONGEST_TEXT = 4_000
_LONGEST_CODE = 100
_SHORTEST_RESPELT = 8
_OPENING = "([{<\"'“‘«*"
_CLOSING = ".,;:!?)]}>\"'”’»*…"
_NEGATIONS = frozenset("not never avoid without don't doesn't can't cannot isn't no nicht nie kein keine ohne".split())
_LIMITS = frozenset("more longer less later fewer larger exceed only just mehr nur".split())
_SEPARATORS = str.maketrans("=,;()[]{}<>:|`&", " " * 15, "\"'")


class Literal:
    """One such thing: 1 if finding it elsewhere proves something, 0.5 if it takes another one beside it."""

    __slots__ = ("quantity", "text", "weight")

    def __init__(self, text: str, weight: float, quantity: Quantity | None = None) -> None:
        self.text = text
        self.weight = weight
        self.quantity = quantity

    def occurs(self, text: str) -> bool:
        """Whether a lower-case text has it as it is written here."""
        return self.quantity.occurs(text) if self.quantity else position(text, self.text) >= 0

    def respelt(self, text: str, spellings: dict[str, str]) -> str:
        """How a lower-case text of code spells it otherwise: `maxPollIntervalMs`, `"auth"."sessions"`."""
        module, _, name = self.text.rpartition(".")
        if module and f"{module} import" in text and position(text, name) >= 0:
            return name
        bare = _squashed(self.text)
        return "" if self.quantity or len(bare) < _SHORTEST_RESPELT else spellings.get(bare, "")


def of(text: str) -> list[Literal]:
    """The literals a text stands for; not those it warns against, which nobody uses who obeys it."""
    found: dict[str, Literal] = {}
    for one in _all(text[:_LONGEST_TEXT]):
        known = found.get(one.text)
        if known is None or known.weight < one.weight:
            found[one.text] = one
    return sorted(found.values(), key=lambda one: -one.weight)[:MOST]


def spellings(text: str) -> dict[str, str]:
    """The longer names in a lower-case text of code, by their letters and digits alone."""
    found = (token for token in text.translate(_SEPARATORS).split() if len(token) >= _SHORTEST_RESPELT)
    return {_squashed(token): token for token in found if len(token) <= _LONGEST_CODE}


def position(text: str, wanted: str) -> int:
    """Where a text has another as a whole word; -1 if nowhere."""
    at = text.find(wanted)
    for _ in range(LOOKS):
        end = at + len(wanted)
        if at < 0 or not (_continues(text[at - 1 : at], wanted[0]) or _continues(text[end : end + 1], wanted[-1])):
            return at
        at = text.find(wanted, at + 1)
    return -1


def _continues(neighbour: str, edge: str) -> bool:
    if edge == "-":
        return neighbour.isalnum() or neighbour == "-"
    return (edge.isalnum() or edge == "_") and (neighbour.isalnum() or neighbour == "_")


def _all(text: str) -> Iterator[Literal]:
    """Every literal, prose and code in turn, with the scope of a negation followed through both."""
    pieces = text.split("`")
    mood = _Mood()
    for number, piece in enumerate(pieces):
        if number % 2 and number < len(pieces) - 1:
            if not mood.negative:
                yield from _in_code(piece)
        else:
            yield from _in_prose(piece, mood)


def _in_code(code: str) -> Iterator[Literal]:
    """A command as far as it is fixed, and the names in it; a name that is all there is counts as one."""
    words = code.split()
    phrase = " ".join(words).split(" <")[0].split(" |")[0].lower()
    if " " in phrase and len(phrase) <= _LONGEST_CODE:
        # `npm test` may be anybody's idea.
        yield Literal(phrase, 0.5 if phrase.replace(" ", "").isalpha() and phrase.count(" ") == 1 else 1.0)
    for word in words:
        core = _core(word)
        weight = identifiers.weight(core, in_code=len(words) == 1)
        if weight:
            yield Literal(core.lower(), weight)


def _in_prose(text: str, mood: _Mood) -> Iterator[Literal]:
    words = text.split()
    for at, word in enumerate(words):
        core = _core(word)
        following = _core(words[at + 1]) if at + 1 < len(words) else ""
        mood.meet(core.lower(), following.lower())
        if not mood.negative:
            amount = parse(core, following)
            weight = amount.weight if amount else identifiers.weight(core)
            if weight:
                yield Literal(amount.text if amount else core.lower(), weight, amount)
        mood.leave(word)


class _Mood:
    """Whether what is being said is what to do or what to avoid."""

    __slots__ = ("_avoiding", "negative")

    def __init__(self) -> None:
        self.negative = False
        self._avoiding = False

    def meet(self, word: str, following: str) -> None:
        if (
            (word in _NEGATIONS and following not in _LIMITS)
            or (word in ("instead", "statt", "anstatt") and following == "of")
            or (word == "rather" and following == "than")
            or word in ("replaces", "statt", "anstatt", "formerly")
        ):
            self.negative = True

    def leave(self, word: str) -> None:
        """A clause ends a negation; a list headed `Avoid:` lasts as long as its sentence."""
        if word == "Avoid:":
            self._avoiding = True
        elif word[-1:] in ".!?:…":
            self._avoiding = False
        if word[-1:] in ".!?:…,;)":
            self.negative = self._avoiding


def _core(word: str) -> str:
    """A word without the punctuation around it; brackets that belong to it stay."""
    core = word.lstrip(_OPENING)
    while core and core[-1] in _CLOSING and not core.endswith("()"):
        core = core[:-1]
    return core


def _squashed(text: str) -> str:
    return "".join(char for char in text if char.isalnum())
