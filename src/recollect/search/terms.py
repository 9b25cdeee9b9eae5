"""Text as search terms: the one analysis that index, query and ranking share, so that they cannot disagree.

A text becomes a stream of terms in reading order. `userId`, `user_id`, `user-id` and `user.id` all become the
adjacent terms `user id`, and scripts written without spaces become overlapping pairs of characters.
"""

from __future__ import annotations

from recollect.search.stem import stem

_LONGEST = 40
_known: dict[str, tuple[str, ...]] = {}
_MOST_KNOWN = 50_000


class _Separators(dict):  # type: ignore[type-arg]
    """A translation table that turns everything but letters, digits and marks into a space, learnt as met."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        kept = character.isalnum() or (code > 127 and _is_mark(character))
        self[code] = answer = code if kept else 32
        return answer


_separators = _Separators()


def _is_mark(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character)[0] == "M"


def stream(text: str) -> list[str]:
    """All terms of a text, in order."""
    found: list[str] = []
    for word in words(text):
        found += of_word(word)
    return found


def words(text: str) -> list[str]:
    """The words of a text as they stand there, split at punctuation and space."""
    if "+" in text or "#" in text:
        text = text.replace("C++", "cpp").replace("c++", "cpp").replace("C#", "csharp").replace("c#", "csharp")
    return text.translate(_separators).split()


def of_word(word: str) -> tuple[str, ...]:
    """The terms of one word: several if it is a compound or of an unspaced script."""
    known = _known.get(word)
    return _learn(word) if known is None else known


def _learn(word: str) -> tuple[str, ...]:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    plain = [word] if word.isascii() else _plain(word).translate(_separators).split()
    terms = [term for one in plain for part in cased_parts(one) for term in _terms_of_part(part)]
    _known[word] = answer = tuple(terms)
    return answer


def cased_parts(word: str) -> list[str]:
    """`userId` as user, Id; `HTTPServer` as HTTP, Server; a word without a case change as itself."""
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
    part = part.lower()
    if part.isascii():
        return [stem(part) if part.isalpha() else part[:_LONGEST]] if len(part) <= _LONGEST else [part[:_LONGEST]]
    found: list[str] = []
    for unspaced, run in _runs(part):
        if unspaced:
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            found.append(stem(run) if run.isascii() and run.isalpha() and len(run) <= _LONGEST else run[:_LONGEST])
    return found


def _runs(part: str) -> list[tuple[bool, str]]:
    runs: list[tuple[bool, str]] = []
    for character in part:
        unspaced = is_unspaced(character)
        if runs and runs[-1][0] == unspaced:
            runs[-1] = (unspaced, runs[-1][1] + character)
        else:
            runs.append((unspaced, character))
    return runs


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script in which a run of letters is not one word (Korean included)."""
    return (
        "\u0e00" <= character <= "\u0eff"
        or "\u1000" <= character <= "\u109f"
        or (
            "\u1780" <= character <= "\u17ff"
            or "\u3040" <= character <= "\u30ff"
            or "\u3400" <= character <= "\u9fff"
            or "\uac00" <= character <= "\ud7af"
            or "\U00020000" <= character <= "\U0003ffff"
        )
    )


def _plain(text: str) -> str:
    """Compatibility forms unified and accents of Latin letters removed; other scripts keep their marks."""
    import unicodedata

    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return text
    kept: list[str] = []
    latin = False
    for character in unicodedata.normalize("NFD", text):
        if "\u0300" <= character <= "\u036f":
            if latin:
                continue
        else:
            latin = character < "\u0250" or "\u1e00" <= character <= "\u1eff"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept)).replace("ß", "ss").replace("ø", "o").replace("ł", "l")
