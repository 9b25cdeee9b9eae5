"""A number with its unit, recognised however it is written: 14 days, 14d, `days=14`, 1209600."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_UNITS = {
    "ms": "ms msec millis millisecond milliseconds millisekunden",
    "s": "s sec secs second seconds sekunde sekunden",
    "min": "m min mins minute minutes minuten",
    "h": "h hr hrs hour hours stunde stunden",
    "d": "d day days tag tage tagen",
    "week": "w week weeks woche wochen",
    "month": "month months monat monate monaten",
    "year": "y year years jahr jahre jahren",
    **{size: f"{size} {size[0]}ib" for size in ("kb", "mb", "gb", "tb")},
    "%": "% percent prozent",
}
_CANONICAL = {alias: unit for unit, aliases in _UNITS.items() for alias in aliases.split()}
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "week": 604_800}
# Numbers that anybody may come up with.
_EVERYDAY = frozenset(
    "1 2 3 4 5 7 8 10 12 15 16 20 24 30 32 50 60 64 80 90 100 120 128 200 250 256 500 512 1000 1024".split()
)
_ROUND = frozenset("1000 1024 2000 3000 4000 5000 8000 8080 10000 100000 1000000".split())
_MOST_LOOKS = 40  # occurrences looked at in one text: what bounds the work where a file is nothing but numbers
_REACH = 14  # characters around a number in which a unit counts as its own: `days=14`, `14 * DAY`, `14-day`


class Quantity:
    """A number and what it counts; the unit is empty for a number that is distinctive by itself."""

    def __init__(self, number: str, unit: str) -> None:
        self.number = number
        self.unit = unit
        self.text = f"{number} {unit}".strip()
        self._names = [name for name in _UNITS.get(unit, unit.rstrip("s")).split() if len(name) > 1]
        self._hints = [*self._names, *(f"{number}{gap}{unit[:1]}" for gap in ("", " ") if unit)]
        bare = _bare(number, unit)
        self._spellings = [form for each in bare for form in {each, f"{int(each):_}", f"{int(each):,}"}]

    @property
    def weight(self) -> float:
        if not self.unit:
            return 0.5 if self.number in _ROUND else 1.0
        return 1.0 if self.unit in _UNITS and self.number not in _EVERYDAY else 0.5

    def occurs(self, text: str) -> bool:
        """Whether a lower-case text has this number with this unit beside it, or the same time in smaller units."""
        if any(_is_whole(text, at, form) for form in self._spellings for at in occurrences(text, form)):
            return True
        places = occurrences(text, self.number) if any(hint in text for hint in self._hints) else ()
        return any(_is_whole(text, at, self.number) and self._has_unit(text, at) for at in places)

    def _has_unit(self, text: str, start: int) -> bool:
        end = start + len(self.number)
        around = text[max(start - _REACH, 0) : start] + " " + text[end : end + _REACH]
        rest = text[end : end + 3].lstrip(" ")
        if self.unit == "%":
            return text[end : end + 2].strip()[:1] == "%" or any(name in around for name in self._names)
        # One letter behind the number: `14d`, `30 s`.
        if _CANONICAL.get(rest[:1]) == self.unit and not rest[1:2].isalnum():
            return True
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
    suffix, noun = word[end:].lower().lstrip("-"), following.lower()
    if suffix:
        return Quantity(number, _CANONICAL[suffix]) if suffix in _CANONICAL else None
    if noun in _CANONICAL and (len(noun) > 1 or following in ("s", "h", "%")):
        return Quantity(number, _CANONICAL[noun])
    is_year = "," not in word and number.isdigit() and 1900 <= int(number) <= 2100
    if number.isdigit() and len(number) >= 4 and not is_year:
        return Quantity(number, "")
    is_plural = noun.isalpha() and noun.isascii() and noun.endswith("s") and len(noun) >= 5
    return Quantity(number, noun) if is_plural and number not in ("1", "2", "3") else None


def occurrences(text: str, wanted: str) -> Iterator[int]:
    """Where a text has another, the first places only."""
    at = text.find(wanted)
    for _ in range(_MOST_LOOKS):
        if at < 0:
            return
        yield at
        at = text.find(wanted, at + 1)


def _bare(number: str, unit: str) -> list[str]:
    """The numbers that need no unit: a distinctive one, or a time in seconds and milliseconds that is no accident."""
    if not unit:
        return [number]
    if unit not in _SECONDS or not number.isdigit():
        return []
    seconds = int(number) * _SECONDS[unit]
    forms = [str(seconds * 1_000)] if unit == "s" else [str(seconds), str(seconds * 1_000)]
    return [form for form in forms if len(form) >= 4 and form not in _ROUND]


def _is_whole(text: str, start: int, number: str) -> bool:
    """Whether a number is not a part of a longer one, of a version or of a name."""
    end = start + len(number)
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    if before[-1:].isdigit() or after[:1].isdigit():
        return False
    # A dot, a comma or an underscore joins it to a digit behind it.
    return not any(pair[:1] in (".", ",", "_") and pair[1:].isdigit() for pair in (before[::-1], after))
