"""From a title to an id: a readable ASCII slug, whatever script the title is written in."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from recollect.coldstart import digest

LONGEST = 80

_CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґў",
        "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch . y . e yu ya yo i yi ye g u".split(),
    )
)
_GREEK = dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", "a v g d e z i th i k l m n x o p r s s t y f ch ps o".split()))
_OTHER = {"ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "'": "", "’": ""}
_LETTERS = {**_CYRILLIC, **_GREEK, **_OTHER}


def of(title: str, hints: Sequence[str] = ()) -> str:
    """The slug of a title; for ideographs, which have no Latin spelling, hints and a short hash stand in."""
    words, lost = _spell(title)
    if not lost:
        return _join(words)[:LONGEST].strip("-") or f"memory-{_hash(title)}"
    parts = [word for hint in hints for word in [_join(_spell(hint)[0])] if word and word not in words]
    stem = _join([_join(words), *parts[:3]])[: LONGEST - 7].strip("-")
    return f"{stem or 'memory'}-{_hash(title)}"


def numbered(slug: str, number: int) -> str:
    """The slug with a number behind it, still within the limit."""
    tail = f"-{number}"
    return slug[: LONGEST - len(tail)].rstrip("-") + tail


def _spell(text: str) -> tuple[list[str], bool]:
    spelt, lost = [], False
    for char in unicodedata.normalize("NFC", text).lower():
        letters = _latin(char)
        spelt.append(letters if letters is not None else " ")
        lost = lost or letters is None
    return "".join(spelt).split(), lost


def _latin(char: str) -> str | None:
    """ASCII for one character; a space for what separates words; None for a letter that cannot be spelt."""
    if char.isascii():
        return char if char.isalnum() else _OTHER.get(char, " ")
    if char in _LETTERS:
        return _LETTERS[char].strip(".")
    parts = (_LETTERS.get(part, part) for part in unicodedata.normalize("NFKD", char))
    base = "".join(parts).encode("ascii", "ignore").decode().lower()
    if base.isalnum():
        return base
    category = unicodedata.category(char)
    if category[0] == "M" or char in "\u200c\u200d":
        return ""
    if category[0] not in "LN":
        return " "
    if category == "Lm":
        return ""
    return _by_name(unicodedata.name(char, ""))


def _by_name(name: str) -> str | None:
    """Unicode names of kana, Hangul and most alphabets end in the sound: HANGUL SYLLABLE GYEOL, HIRAGANA LETTER KA."""
    if "LETTER" not in name and "SYLLABLE" not in name:
        return None
    sound = name.split(" WITH ")[0].split()[-1].lower()
    if name.startswith(("ARABIC", "HEBREW")):
        return sound[0]
    return sound if sound.isascii() and sound.isalnum() and len(sound) <= 6 else None


def _join(words: Sequence[str]) -> str:
    return "-".join(word for word in words if word)


def _hash(title: str) -> str:
    return digest(unicodedata.normalize("NFC", title).encode("utf-8", "surrogatepass"))[:6]
