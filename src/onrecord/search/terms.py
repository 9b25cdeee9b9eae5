"""Text as search terms: the one analysis that index, query and ranking share, so that they cannot disagree.

A text becomes a stream of terms in reading order. `userId`, `user_id`, `user-id` and `user.id` all become the
adjacent terms `user id`. English words become their stems, so that `retries`, `retried` and `retry` are one term.
Scripts written without spaces become overlapping pairs of characters.
"""

from __future__ import annotations

_MAX_WORD_CHARACTERS = 40
"""Characters of a term: what is longer is a hash or encoded data, and its beginning tells it from others."""

_MAX_CACHE = 50_000
_cache: dict[str, tuple[str, ...]] = {}

# Thai and Lao, Burmese, Khmer, kana, Chinese characters, Korean syllables, and the rarer Chinese characters.
_UNSPACED = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"),
    ("\uac00", "\ud7af"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip


class _Separators(dict):  # type: ignore[type-arg]
    """A translation table, filled as characters occur, that maps all but letters, digits and marks to a space."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        is_part = character.isalnum() or (code > 127 and _is_mark(character))
        self[code] = answer = code if is_part else 32
        return answer


_separators = _Separators()


def _is_mark(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character)[0] == "M"


def stream(text: str) -> list[str]:
    """Return all terms of a text, in order."""
    return [term for word in words(text) for term in of_word(word)]


def words(text: str) -> list[str]:
    """Return the words of a text as they are written, split at punctuation and space."""
    if "+" in text or "#" in text:
        text = text.replace("C++", "cpp").replace("c++", "cpp").replace("C#", "csharp").replace("c#", "csharp")
    return text.translate(_separators).split()


def of_word(word: str) -> tuple[str, ...]:
    """Return the terms of one word: several if it is a compound or of an unspaced script."""
    cached = _cache.get(word)
    if cached is not None:
        return cached
    if len(_cache) >= _MAX_CACHE:
        _cache.clear()
    plain = [word] if word.isascii() else _plain(word).translate(_separators).split()
    terms = tuple(
        term for plain_word in plain for part in cased_parts(plain_word) for term in _terms_of_part(part.lower())
    )
    _cache[word] = terms
    return terms


def cased_parts(word: str) -> list[str]:
    """Split at changes of case: `userId` into user, Id; `HTTPServer` into HTTP, Server."""
    if word.islower() or word.isupper() or word[1:].islower() or not word.isalnum():
        return [word]
    parts, start = [], 0
    for i in range(1, len(word)):
        here, before = word[i].isupper(), word[i - 1]
        rises = here and (before.islower() or before.isdigit())
        falls = here and before.isupper() and word[i + 1 : i + 2].islower() and word[i + 1 :] != "s"
        if rises or falls:
            parts.append(word[start:i])
            start = i
    return [*parts, word[start:]]


def _terms_of_part(part: str) -> list[str]:
    if part.isascii():
        return [_term(part)]
    terms: list[str] = []
    for unspaced, run in _runs(part):
        terms += ([run[i : i + 2] for i in range(len(run) - 1)] or [run]) if unspaced else [_term(run)]
    return terms


def _term(text: str) -> str:
    if text.isascii() and text.isalpha() and len(text) <= _MAX_WORD_CHARACTERS:
        return stem(text)
    return text[:_MAX_WORD_CHARACTERS]


def _runs(part: str) -> list[tuple[bool, str]]:
    """Return the stretches of a word that are, or are not, of an unspaced script."""
    runs: list[tuple[bool, str]] = []
    for character in part:
        unspaced = is_unspaced(character)
        if runs and runs[-1][0] == unspaced:
            runs[-1] = (unspaced, runs[-1][1] + character)
        else:
            runs.append((unspaced, character))
    return runs


def is_unspaced(character: str) -> bool:
    """True if a character is of a script in which a run of letters is not one word (Korean included)."""
    return any(first <= character <= last for first, last in _UNSPACED)


def _plain(text: str) -> str:
    """Unify compatibility forms and remove accents of Latin letters; other scripts keep their marks."""
    import unicodedata

    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return text
    characters: list[str] = []
    latin = False
    for character in unicodedata.normalize("NFD", text):
        if "\u0300" <= character <= "\u036f":
            if latin:
                continue
        else:
            latin = character < "\u0250" or "\u1e00" <= character <= "\u1eff"
        characters.append(character)
    return unicodedata.normalize("NFC", "".join(characters)).replace("ß", "ss").replace("ø", "o").replace("ł", "l")


_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = tuple(
    (ending, "") for ending in "ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou".split()
)


def stem(word: str) -> str:
    """Return the stem of a lower-case ASCII word by Porter's algorithm (1980); short words are their own stem."""
    if len(word) < 3:
        return word
    word = _without_participle(_without_plural(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(_replaced(word, _STEP_2, 1), _STEP_3, 1), _STEP_4, 2)
    return _without_final_e(word)


def _shape(word: str) -> str:
    """Return the word as a string of `v` and `c`; `y` is a vowel after a consonant."""
    shape = ""
    for letter in word:
        shape += "v" if letter in "aeiou" or (letter == "y" and shape[-1:] == "c") else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_participle(word: str) -> str:
    """Return the base of an -ed or -ing form, with its lost `e` restored or its doubled consonant undone."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    base = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if "v" not in _shape(base):
        return word
    if base[-1:] == base[-2:-1] and base[-1:] not in "aeioulsz":
        return base[:-1]
    lost_e = base.endswith(("at", "bl", "iz")) or (_measure(base) == 1 and _ends_cvc(base))
    return base + "e" if lost_e else base


def _replaced(word: str, endings: tuple[tuple[str, str], ...], least: int) -> str:
    """Replace the first of the endings that the word has, if the rest has this measure."""
    for ending, better in endings:
        if word.endswith(ending):
            base = word[: -len(ending)]
            is_long_enough = _measure(base) >= least and (ending != "ion" or base[-1:] in ("s", "t"))
            return base + better if is_long_enough else word
    return word


def _without_final_e(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
