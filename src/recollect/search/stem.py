"""English word stems by Porter's algorithm (1980), so that `retries`, `retried` and `retry` are one term."""

from __future__ import annotations

_VOWELS = frozenset("aeiou")

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; short words are their own stem."""
    if len(word) < 3:
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _step_4(_replaced(_replaced(word, _STEP_2), _STEP_3))
    return _step_5(word)


def _shape(word: str) -> str:
    """The word as a string of `v` and `c`; `y` is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _step_1a(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return _mended(base) if "v" in _shape(base) else word
    return word


def _mended(base: str) -> str:
    """The base of an -ed or -ing form, with its lost `e` restored or its doubled consonant undone."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base[-1:] == base[-2:-1] and base[-1:] not in "aeioulsz":
        return base[:-1]
    if _measure(base) == 1 and _ends_cvc(base):
        return base + "e"
    return base


def _step_1c(word: str) -> str:
    if word.endswith("y") and "v" in _shape(word[:-1]):
        return word[:-1] + "i"
    return word


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, better in endings:
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + better if _measure(base) else word
    return word


def _step_4(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            base = word[: -len(ending)]
            if ending == "ion" and base[-1:] not in ("s", "t"):
                return word
            return base if _measure(base) > 1 else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _ends_cvc(base)):
            word = base
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
