"""Text as search terms: the one analysis that index, query and ranking share, so that they cannot disagree.

A text becomes a stream of terms in reading order. `userId`, `user_id`, `user-id` and `user.id` all become the
adjacent terms `user id`. English words become their stems, so that `retries`, `retried` and `retry` are one term.
Scripts written without spaces become overlapping pairs of characters.

A name in several parts is also indexed as the one word that others write: `MySQL` as `mysql`, `Node.js` as `nodejs`.
In a field of the index that word follows its parts, with an underscore for each of them (`mi sql __mysql`), and takes
no place of its own: `respelled` reads a field as a query spells its names.
"""

from __future__ import annotations

from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MAX_WORD_CHARACTERS = 40
"""Characters of a term: what is longer is a hash or encoded data, and its beginning tells it from others."""

JOINED = "_"
"""What begins a joined word in a field of the index, once for each of its parts. No term has it."""

_MAX_PARTS = 5
_MAX_JOINED_CHARACTERS = 24
"""Of a name: what is longer is an identifier, which nobody writes as one lower-case word."""

_HYPHENS = "-_./\u2010\u2011"
"""What may stand between the two words of a name: `front-end`, `user_id`, `Node.js`, `CI/CD`."""

_SIGNS = (
    ("C++", "cpp"), ("c++", "cpp"), ("C#", "csharp"), ("c#", "csharp"), ("F#", "fsharp"), ("f#", "fsharp"),
)  # fmt: skip
"""Names of languages that are told apart by a sign alone."""

_NO_PLURALS = frozenset("aks aws cms cors dns ecs eks gcs gps iis ios nas nats ops pos rds sms sns sqs tls vps".split())
"""Names that end in s: without it they would be other words, or too short to count."""

_NO_NAMES: Mapping[str, str] = {}

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
    text_words = words(text)
    cached = list(map(_cache.get, text_words))
    return list(chain.from_iterable(map(of_word, text_words) if None in cached else cached))  # type: ignore[arg-type]


def field(text: str, left_out: frozenset[str] = frozenset()) -> list[str]:
    """Return all terms of a text with the joined words of its names, without the words that are `left_out`."""
    stream: list[str] = []
    for chunk in text.split():
        chunk_words = [chunk] if chunk.isalnum() else words(chunk)
        remaining = [word for word in chunk_words if word.lower() not in left_out] if left_out else chunk_words
        for word in remaining:
            parts = of_word(word)
            stream += parts
            joined = joined_word(word) if len(parts) > 1 else ""
            if joined:
                stream.append(JOINED * len(parts) + joined)
        joined = joined_words(chunk, chunk_words) if len(chunk_words) == 2 and remaining else ""
        if joined:
            stream.append(JOINED * len(remaining) + joined)
    return stream


def names(chunk: str, chunk_words: list[str]) -> dict[str, str]:
    """Return the joined words of a text without spaces, given its words, each with its parts."""
    pairs = {joined_word(word): " ".join(of_word(word)) for word in chunk_words if not word[1:].islower()}
    if len(chunk_words) == 2:
        pairs[joined_words(chunk, chunk_words)] = " ".join([term for word in chunk_words for term in of_word(word)])
    pairs.pop("", None)
    return pairs


def joined_word(word: str) -> str:
    """Return a word of several parts as one term: `MySQL` as `mysql`; empty if it is no name."""
    is_name = word.isascii() and 1 < len(cased_parts(word)) <= _MAX_PARTS and len(word) <= _MAX_JOINED_CHARACTERS
    return _term(word.lower()) if is_name else ""


def joined_words(chunk: str, chunk_words: list[str]) -> str:
    """Return the two words of a text without spaces as one term: `Node.js` as `nodejs`; empty if it is no name."""
    first, second = chunk_words
    joined = first + second
    place = chunk.find(first) + len(first)
    if (
        chunk[place : place + 1] not in _HYPHENS
        or chunk[place + 1 : place + 1 + len(second)] != second
        or len(joined) > _MAX_JOINED_CHARACTERS
        or not joined.isascii()
        or not first[0].isalpha()
        or len(of_word(first)) + len(of_word(second)) > 2
    ):
        return ""
    return _term(joined.lower())


def respelled(text: str, query_terms: Collection[str] = (), query_names: Mapping[str, str] = _NO_NAMES) -> str:
    """Return a field of the index as a query spells its names: joined words for their parts, or parts for a word.

    `query_names` has the parts of the query's joined words. All other joined words are left out.
    """
    if JOINED in text:
        text = _without_joined(text, query_terms, query_names)
    if any(name in text for name in query_names):
        return " ".join([query_names.get(term, term) for term in text.split()])
    return text


def _without_joined(text: str, query_terms: Collection[str], query_names: Mapping[str, str]) -> str:
    first, *rest = f" {text}".split(" " + JOINED)
    pieces = [first]
    for piece in rest:
        joined, space, after = piece.partition(" ")
        word = joined.lstrip(JOINED)
        if word in query_terms or word in query_names:
            # The parts before it are what it stands for.
            parts = 1 + len(joined) - len(word)
            pieces = [" ".join(pieces).rsplit(" ", parts)[0], query_names.get(word, word)]
        if space:
            pieces.append(after)
    return " ".join(pieces).strip()


def words(text: str) -> list[str]:
    """Return the words of a text as they are written, split at punctuation and space."""
    if "+" in text or "#" in text:
        for sign, name in _SIGNS:
            text = text.replace(sign, name)
    return text.translate(_separators).split()


def of_word(word: str) -> tuple[str, ...]:
    """Return the terms of one word: several if it is a compound or of an unspaced script."""
    cached = _cache.get(word)
    if cached is not None:
        return cached
    if len(_cache) >= _MAX_CACHE:
        _cache.clear()
    plain = [word] if word.isascii() else plain_letters(word).translate(_separators).split()
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
    for unspaced, run in script_runs(part):
        terms += ([run[i : i + 2] for i in range(len(run) - 1)] or [run]) if unspaced else [_term(run)]
    return terms


def _term(text: str) -> str:
    if text.isascii() and text.isalpha() and len(text) <= _MAX_WORD_CHARACTERS:
        return stem(text)
    return text[:_MAX_WORD_CHARACTERS]


def script_runs(part: str) -> list[tuple[bool, str]]:
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


def by_script(word: str) -> list[str]:
    """Return the stretches of a word that are of one script, without punctuation."""
    runs: list[str] = []
    before = ""
    for character in word.replace("ı", "i"):
        here = script_of(character)
        if here and here == before:
            runs[-1] += character
        elif here:
            runs.append(character)
        before = here
    sizes = [2 if script_of(run[0]) == "han" else len(run) for run in runs]
    return [run[i : i + size] for run, size in zip(runs, sizes) for i in range(max(len(run) - size + 1, 1))]


def script_of(character: str) -> str:
    """Return the script of a character, as far as words are cut by it; empty if it is no part of a word."""
    if character.isascii():
        return "ascii" if character.isalnum() else ""
    if "\u3040" <= character <= "\u309f" or not (character.isalnum() or character == "ー"):
        return ""
    if "\uac00" <= character <= "\ud7af":
        return "hangul"
    if "\u30a0" <= character <= "\u30ff":
        return "katakana"
    return "han" if is_unspaced(character) else "other"


def plain_letters(text: str) -> str:
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
    if len(word) < 3 or word in _NO_PLURALS:
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


_ABBREVIATIONS = (
    "admin administr", "app applic", "arg argument", "async asynchron", "attr attribut", "auth authent author",
    "cert certif", "cfg config configur", "cmd command", "config configur", "conf config configur", "ctx context",
    "db databas", "dep depend", "dir directori", "doc document", "env environ", "exec execut", "fn function",
    "func function", "i18n internation", "infra infrastructur", "js javascript", "k8s kubernet", "lib librari",
    "mgmt manag", "mongo mongodb", "msg messag", "otel opentelemetri", "param paramet", "perf perform", "perm permiss",
    "pg postgresql postgr", "pkg packag", "postgr postgresql", "py python", "repo repositori", "spec specif",
    "sync synchron", "tf terraform", "tmp temporari", "ts typescript", "txn transact", "var variabl",
)  # fmt: skip
"""Abbreviations that developers write, and the stems that each stands for. Any other word of a sentence that begins
like a longer one is a word of its own: `form` is no beginning of `format`."""

_variants: dict[str, list[str]] = {}


def variants(term: str) -> list[str]:
    """Return the terms that an abbreviation stands for, or the abbreviations of a longer word."""
    if not _variants:
        for line in _ABBREVIATIONS:
            short, *stems = line.split()
            _variants.setdefault(short, []).extend(stems)
            for stem in stems:
                _variants.setdefault(stem, []).append(short)
    return _variants.get(term, [])
