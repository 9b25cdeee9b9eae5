"""Quantities: a number with its unit, recognised however it is written: 14 days, 14d, `days=14`, 1209600."""

from __future__ import annotations

_UNITS = {
    "ms": "ms msec millis millisecond milliseconds millisekunden",
    "s": "s sec secs second seconds sekunde sekunden",
    "min": "m min mins minute minutes minuten",
    "h": "h hr hrs hour hours stunde stunden",
    "d": "d day days tag tage tagen",
    "week": "w week weeks woche wochen",
    "month": "month months monat monate monaten",
    "year": "y year years jahr jahre jahren",
    "kb": "kb kib",
    "mb": "mb mib",
    "gb": "gb gib",
    "tb": "tb tib",
    "%": "% percent prozent",
}
_CANONICAL = {alias: unit for unit, aliases in _UNITS.items() for alias in aliases.split()}
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "week": 604_800}
_EVERYDAY = frozenset(
    "1 2 3 4 5 7 8 10 12 15 16 20 24 30 32 50 60 64 80 90 100 120 128 200 250 256 500 512 1000 1024".split()
)
"""Numbers anybody may come up with alone."""

_ROUND = frozenset("1000 1024 2000 3000 4000 5000 8000 8080 10000 100000 1000000".split())
LOOKS = 40
"""Occurrences looked at in one text: what bounds the work where a file is nothing but numbers."""

_REACH = 14
"""Characters around a number in which its unit counts as its own: `days=14`, `14 * DAY`, `14-day`."""


class Quantity:
    """A number and what it counts; the unit is empty for a number that is telling by itself."""

    __slots__ = ("_hints", "_names", "_spellings", "number", "unit")

    def __init__(self, number: str, unit: str) -> None:
        self.number = number
        self.unit = unit
        self._names = [name for name in _UNITS.get(unit, unit.rstrip("s")).split() if len(name) > 1]
        self._hints = [*self._names, *(f"{number}{gap}{unit[:1]}" for gap in ("", " ") if unit)]
        self._spellings = [form for one in _alone(number, unit) for form in {one, f"{int(one):_}", f"{int(one):,}"}]

    @property
    def text(self) -> str:
        return f"{self.number} {self.unit}".strip()

    @property
    def weight(self) -> float:
        if not self.unit:
            return 0.5 if self.number in _ROUND else 1.0
        return 1.0 if self.unit in _UNITS and self.number not in _EVERYDAY else 0.5

    def occurs(self, text: str) -> bool:
        """Whether a lower-case text has this number with this unit beside it, or the same time in smaller units."""
        if any(_standing(text, spelling) for spelling in self._spellings):
            return True
        at = text.find(self.number) if any(hint in text for hint in self._hints) else -1
        for _ in range(LOOKS):
            end = at + len(self.number)
            if at < 0 or (_is_alone(text, at, end) and self._has_unit(text, at, end)):
                return at >= 0
            at = text.find(self.number, end)
        return False

    def _has_unit(self, text: str, start: int, end: int) -> bool:
        around = text[max(start - _REACH, 0) : start] + " " + text[end : end + _REACH]
        if self.unit == "%":
            return text[end : end + 2].strip()[:1] == "%" or any(name in around for name in self._names)
        if _touching(text, end, self.unit):
            return True
        if not any(name in around for name in self._names):
            return False
        words = "".join(char if char.isalpha() else " " for char in around).split()
        return any(name in words or f"{name}s" in words for name in self._names)


def parse(word: str, following: str) -> Quantity | None:
    """The quantity that a word begins, alone (`14d`, `95%`) or with the word after it (`14 days`, `60 calls`)."""
    end = 0
    while end < len(word) and (word[end].isdigit() or (word[end] in ".,_" and word[end + 1 : end + 2].isdigit())):
        end += 1
    number = word[:end].replace(",", "").replace("_", "")
    if not number.isascii() or not number[:1].isdigit() or len(number) > 18:
        return None
    suffix = word[end:].lower().lstrip("-")
    if suffix:
        unit = _CANONICAL.get(suffix, "")
        return Quantity(number, unit) if unit else None
    unit = _CANONICAL.get(following.lower(), "") if len(following) > 1 or following in ("s", "h", "%") else ""
    if unit:
        return Quantity(number, unit)
    if number.isdigit() and len(number) >= 4 and not ("," not in word and 1900 <= int(number) <= 2100):
        return Quantity(number, "")
    noun = following.lower()
    if noun.isalpha() and noun.isascii() and noun.endswith("s") and len(noun) >= 5 and number not in ("1", "2", "3"):
        return Quantity(number, noun)
    return None


def _alone(number: str, unit: str) -> tuple[str, ...]:
    """The numbers that need no unit: a telling one, or a time in seconds and milliseconds that is no accident."""
    if not unit:
        return (number,)
    if unit not in _SECONDS or not number.isdigit():
        return ()
    seconds = int(number) * _SECONDS[unit]
    wanted = (str(seconds),) if unit != "s" else ()
    return tuple(one for one in (*wanted, str(seconds * 1_000)) if len(one) >= 4 and one not in _ROUND)


def _standing(text: str, number: str) -> bool:
    at = text.find(number)
    for _ in range(LOOKS):
        if at < 0 or _is_alone(text, at, at + len(number)):
            return at >= 0
        at = text.find(number, at + 1)
    return False


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is not a part of a longer one, of a version or of a name."""
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if before.isdigit() or after.isdigit():
        return False
    if before in (".", ",", "_") and text[max(start - 2, 0) : start - 1].isdigit():
        return False
    return not (after in (".", ",", "_") and text[end + 1 : end + 2].isdigit())


def _touching(text: str, end: int, unit: str) -> bool:
    """Whether the unit follows as one letter: `14d`, `30 s`."""
    rest = text[end : end + 3].lstrip(" ")
    letter, after = rest[:1], rest[1:2]
    return bool(letter) and _CANONICAL.get(letter) == unit and not after.isalnum()
