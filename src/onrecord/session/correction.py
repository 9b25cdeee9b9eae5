"""Corrections: prompts in which a user says that the agent did something wrong: English, German, Spanish, French.

Everything here is a bounded scan of one text: every prompt passes through it. The cues of `corrections.txt` are wider:
they also find standing instructions, for the Stop hook and the features of triage.
"""

from __future__ import annotations

import os

from onrecord import files
from onrecord.text import sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NONE, FAULT, REPROACH = 0, 1, 2
"""How plainly a prompt corrects the agent: not at all; it says that something is wrong, or that it was said before."""

LONG_WORD = 24
"""A word with at least this many characters may be a key: the shortest API keys have 24."""

MAX_CHARACTERS = 2_000
"""A longer prompt is a document, not a correction: of it only the beginning and the end are read."""

_MAX_END_CHARACTERS = 600
_MAX_SENTENCES = 80
_MAX_SENTENCE_WORDS = 80
_MAX_GAP_WORDS = 5

_MARKS = dict.fromkeys(map(ord, '()[]{}<>*_;."“”„`–—…¿¡|/\\'), " ")
_KEPT_MARKS = (",", ":", "!", "?")
_SECRET_WORDS = (
    "password", "passwort", "kennwort", "passphrase", "passwd", "pwd", "contraseña", "contrasena", "clave", "secret",
    "token", "api key", "apikey", "api-key", "credential", "bearer", "private key", "zugangsdaten",
)  # fmt: skip


_CONTRACTIONS = {
    word.replace("'", ""): word
    for word in (
        "didn't don't doesn't isn't wasn't aren't weren't shouldn't wouldn't couldn't can't haven't hasn't hadn't"
        " that's you're you've i've what's"
    ).split()
}
"""Contractions as people type them in a hurry, each with its spelling in the phrases."""


_EQUALS = ("is", "was", "to", "=", "ist", "war", "lautet", "auf", "es", "era")
_MAX_VALUE_WORDS = 3
"""Words behind a word such as `password` among which its value may be."""


class PhraseTable:
    """Phrases, looked up by their first word; `session.correction_cues` says how they are written."""

    __slots__ = ("_by_first",)

    def __init__(self, text: str) -> None:
        self._by_first: dict[str, list[list[str]]] = {}
        for phrase in text.split("|"):
            words = phrase.split()
            if words:
                self._by_first.setdefault(words[0], []).append(words[1:])

    def occur_in(self, words: Sequence[str]) -> bool:
        """True if one of the phrases occurs in a sentence, given as words with a `^` before them."""
        by_first = self._by_first
        for position, word in enumerate(words):
            for rest in by_first.get(word, ()):
                if _follows(rest, words, position + 1):
                    return True
        return False


def _follows(pattern: Sequence[str], words: Sequence[str], start: int) -> bool:
    """True if the words from `start` on begin with a pattern."""
    for number, part in enumerate(pattern):
        if part == "*":
            rest = pattern[number + 1 :]
            latest = min(start + number + _MAX_GAP_WORDS, len(words) - 1)
            return any(_follows(rest, words, later) for later in range(start + number + 1, latest + 1))
        if start + number >= len(words) or not _is_like(words[start + number], part):
            return False
    return True


def _is_like(word: str, part: str) -> bool:
    if part[0] == "*":
        return word.endswith(part[1:])
    return word.startswith(part[:-1]) if part[-1] == "*" else word == part


_tables: dict[str, PhraseTable] = {}


def _has(words: Sequence[str], name: str) -> bool:
    """True if a sentence has one of the phrases in a table of `session.correction_cues`."""
    if name not in _tables:
        from onrecord.session import correction_cues

        _tables[name] = PhraseTable(getattr(correction_cues, name))
    return _tables[name].occur_in(words)


def strength(prompt: str) -> int:
    """Return how plainly a prompt corrects the agent: `NONE`, `FAULT` or `REPROACH`."""
    return max((_corrects(words) for _, words in _read(prompt)), default=NONE)


def _corrects(words: Sequence[str]) -> int:
    """Return how plainly one sentence corrects the agent."""
    if _has(words, "REPROACHES"):
        level = REPROACH
    elif _has(words, "QUESTIONS") or ("?" not in words and _has(words, "FAULTS")):
        level = FAULT
    else:
        return NONE
    return NONE if _has(words, "HARMLESS") else level


def _read(prompt: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the sentences of a prompt that may be its author's own, each with its words; some marks count as words."""
    if len(prompt) > MAX_CHARACTERS:
        prompt = f"{prompt[: MAX_CHARACTERS - _MAX_END_CHARACTERS]}\n{prompt[-_MAX_END_CHARACTERS:]}"
    count, is_code = 0, False
    for line in prompt.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not line.startswith((">", "\t", "    ", "$ ", "+ ", "- [")):
            for sentence in sentences(line):
                count += 1
                if count > _MAX_SENTENCES:
                    return
                yield sentence, _words(sentence) if count > 1 else ["^^", *_words(sentence)]


def _words(sentence: str) -> list[str]:
    plain = sentence.lower().replace("’", "'").translate(_MARKS)
    plain = " ".join(_CONTRACTIONS.get(word, word) for word in plain.split(" "))
    for mark in _KEPT_MARKS:
        plain = plain.replace(mark, f" {mark} ")
    words = [word.lstrip("-#0123456789") or word for word in plain.replace(" - ", " , ").split()]
    return ["^", *words[:_MAX_SENTENCE_WORDS]]


def may_have_secret(text: str) -> bool:
    """True if a text must not be copied: a long word may be a key, and what follows "password" may be one."""
    if any(len(word) >= LONG_WORD for word in text.split()):
        return True
    lowered = text.lower()
    return any(_names_value(rest) for word in _SECRET_WORDS for rest in lowered.split(word)[1:])


def _names_value(rest: str) -> bool:
    """True if the text behind a word such as `password` begins with a value: `: x`, `is x`, `hunter2`."""
    words = rest.lstrip("s'\"`").split(None, _MAX_VALUE_WORDS)[:_MAX_VALUE_WORDS]
    if not words:
        return False
    if words[0][0] in ":=" or words[0] in _EQUALS:
        return True
    return any(not word.strip(".,;!?()'\"`").isalpha() and any(map(str.isdigit, word)) for word in words)


_CUES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corrections.txt")
_MAX_CUES_BYTES = 100_000
_PLAIN_MARKS = dict.fromkeys(map(ord, '()[]{}<>*_,;:.!"“”„`-–—…'), " ")
_phrases: list[str] = []


def is_instruction(prompt: str) -> bool:
    """True if `prompt` sounds like a correction or a standing instruction, in any language of `corrections.txt`."""
    if len(prompt) > MAX_CHARACTERS:
        return False
    return any(instructs(sentence) for line in prompt.split("\n") for sentence in sentences(line))


def instructs(sentence: str) -> bool:
    """True if `sentence` contains one of the cues in `corrections.txt` and is not a question."""
    if sentence.rstrip().endswith("?"):
        return False
    if not _phrases:
        # Each line is a phrase: `^` means the start of a sentence, and a final `*` any continuation of the word.
        lines = files.read(_CUES, _MAX_CUES_BYTES).decode("utf-8").split("\n")
        _phrases.extend(f" {line}".rstrip("*") + " " * (line[-1] != "*") for line in lines if line)
    plain = f" ^ {' '.join(sentence.lower().replace('’', chr(39)).translate(_PLAIN_MARKS).split())} "
    return any(phrase in plain for phrase in _phrases)
