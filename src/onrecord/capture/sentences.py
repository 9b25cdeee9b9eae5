"""What somebody said, sentence by sentence, and the cue phrases in each that tell a decision from chatter.

Cue phrases are read from `cues/<language>.json`. A phrase is a row of words: `*` stands for up to five words, `word*`
for any word that begins so, `#` for a number, `^` for the start of a sentence and `$` for its end. A language is added
by a file of phrases and a line of its commonest words in `cues/languages.json`.

The Stop hook reads it after every turn: no regular expressions here.
"""

from __future__ import annotations

import os

from onrecord import coldstart, text
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_MESSAGE_CHARS = 8_000
"""Characters of one message that are read; what is longer is pasted, not said."""

CODE = "§"
"""Stands where a piece of code or a quotation was."""

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues")
_WIDEST_GAP = 5
_STEM = 3
_CODE_MARKS = ("/", "_", "(", "::", "=")
_FENCES = ("```", "~~~")
_LEVELS = ("ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE", "Traceback", "Caused by:", "Exception in")
_SEPARATORS = dict.fromkeys(map(ord, '()[]{}<>|*_~=+/\\,;!?."“”„«»…¿¡#@—–-'), " ")
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_PASSAGE = 40
"""Characters from which a quotation is somebody's speech, not a name."""


class Sentence(NamedTuple):
    """One sentence: as it was written, its words in lower case, and what sort it is."""

    raw: str
    words: list[str]
    is_item: bool
    is_question: bool
    has_code: bool
    has_command: bool


def split(message: str) -> list[Sentence]:
    """The sentences of a message that are its author's own words: no code, quotations, logs or tables."""
    result: list[Sentence] = []
    fence = ""
    for line in _without_passages(message[:MAX_MESSAGE_CHARS]).split("\n"):
        start = line.strip()[:3]
        if start in _FENCES:
            fence = "" if start == fence else fence or start
        elif not fence and _is_spoken(line):
            is_item, body = _unmarked(line.strip())
            result += [_sentence(raw, is_item) for raw in text.sentences(body)]
    return [sentence for sentence in result if sentence.words]


def _sentence(raw: str, is_item: bool) -> Sentence:
    spoken = _without_quotes(raw)
    if any(mark in spoken.rstrip(".") for mark in (*_CODE_MARKS, ".")):
        spoken = " ".join(CODE if _is_code(word) else word for word in spoken.split())
    plain = spoken.lower().replace("’", "'").replace(":", " : ").translate(_SEPARATORS)
    words = [word for word in (word.strip("'") for word in plain.split()) if word]
    has_command = "`" in raw and any(" " in code.strip() or "=" in code for code in raw.split("`")[1::2])
    return Sentence(raw, words, is_item, raw.rstrip(" )\"'”*_").endswith("?"), CODE in spoken, has_command)


def _without_passages(message: str) -> str:
    """A message without what somebody else says in it: quotations of more than one sentence."""
    for opening, closing in _QUOTES:
        start = message.find(opening)
        while start >= 0:
            end = message.find(closing, start + 1)
            if end < 0:
                break
            inside = message[start + 1 : end]
            is_passage = len(inside) > _PASSAGE and (". " in inside or "\n" in inside) and "```" not in inside
            if is_passage and message[start - 1 : start] in ("", " ", "\n", "(", ":"):
                message = f"{message[:start]}\n{message[end + 1 :]}"
                end = start
            start = message.find(opening, end + 1)
    return message


def _without_quotes(raw: str) -> str:
    for opening, closing in (("`", "`"), *_QUOTES):
        start = raw.find(opening)
        while start >= 0:
            end = raw.find(closing, start + 1)
            if end < 0:
                break
            raw = f"{raw[:start]} {CODE} {raw[end + 1 :]}"
            start = raw.find(opening, start + 3)
    return raw


def _is_spoken(line: str) -> bool:
    """Whether a line is speech: neither code nor a quotation, a log line, a table row or a stack frame."""
    body = line.strip()
    if not body or body[0] in ">|$%" or line.startswith("\t") or (line.startswith("    ") and body[0] not in "-*"):
        return False
    head = body[:24]
    if head[:2].isdigit() and head.count(":") >= 2 and (head[2:3] == ":" or head[4:5] in "-/"):
        return False
    return not body.startswith(("at ", 'File "', "+++", "---", "@@")) and not any(
        body.startswith((level, f"[{level}")) and not body[len(level) :].startswith(" is") for level in _LEVELS
    )


def _unmarked(line: str) -> tuple[bool, str]:
    """Whether a line is a list item, and the line without its bullet, number or heading marks."""
    if line[:2] in ("- ", "* ", "• ") or (line[:2] == "**" and "**" in line[2:5]):
        return True, line[2:].lstrip()
    number, dot, rest = line.partition(" ")
    if dot and number[-1:] in (".", ")") and (number[:-1].isdigit() or (len(number) == 2 and number[0].isalpha())):
        return True, rest.lstrip()
    return False, line.lstrip("# ")


def _is_code(word: str) -> bool:
    """Whether a word is a path, a file, a call or another piece of code that was not marked as one."""
    bare = word.strip("()[]{}.,;:!?*")
    has_mark = any(mark in bare for mark in _CODE_MARKS) or "." in bare.strip("0123456789")
    return has_mark or word.rstrip(".,;:!?").endswith("()")


class Cues:
    """One language's cue phrases, each under a tag such as `decision.strong` or `reason`."""

    __slots__ = ("_phrases", "_spelling")

    def __init__(self, data: dict[str, Any], vocabulary: set[str]) -> None:
        """Only the phrases that may occur in texts of a vocabulary are kept: they are few of thousands."""
        self._spelling: dict[str, str] = data["spelling"]
        self._phrases: dict[str, list[tuple[list[str], str]]] = {}
        words = {"^", "$", *vocabulary, *(self._spelling.get(word, "") for word in vocabulary)}
        for tag, phrases in data["phrases"].items():
            for phrase in _that_may_occur(phrases, words):
                row = phrase.split()
                first = row[0] if row[0][-1] != "*" else row[0][:_STEM] + "*"
                self._phrases.setdefault(first, []).append((row, tag))

    def tags(self, words: list[str]) -> dict[str, int]:
        """Which tags a sentence's words carry, and by how many phrases each."""
        row = ["^", *(self._spelling.get(word, word) for word in words), "$"]
        counts: dict[str, int] = {}
        phrases = self._phrases
        for at, word in enumerate(row):
            for first in (word, word[:_STEM] + "*", "#") if word.isdigit() else (word, word[:_STEM] + "*"):
                for phrase, tag in phrases.get(first, ()):
                    if _fits(phrase, row, at):
                        counts[tag] = counts.get(tag, 0) + 1
        return counts


def language_of(words: list[str]) -> str:
    """The language whose commonest words a text uses most; English where no other is clearly ahead."""
    common = {name: frozenset(listed.split()) for name, listed in load("languages").items()}
    counts = {name: sum(word in common[name] for word in words) for name in common}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["en"] else "en"


_loaded: dict[str, dict[str, Any]] = {}


def load(name: str) -> dict[str, Any]:
    """The word list of a language, or `languages`: the commonest words of each."""
    if name not in _loaded:
        with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
            _loaded[name] = coldstart.loads(file.read())
    return _loaded[name]


def _that_may_occur(phrases: list[str], words: set[str]) -> Iterator[str]:
    """The phrases whose first two words are among some words, or may be."""
    yield from words.intersection(phrases)
    for phrase in phrases:
        if "*" in phrase or "#" in phrase:
            yield phrase
        elif " " in phrase:
            first, second = phrase.split(" ", 2)[:2]
            if first in words and second in words:
                yield phrase


def _fits(phrase: list[str], words: list[str], at: int) -> bool:
    """Whether a phrase stands at a place in a row of words."""
    for number, wanted in enumerate(phrase):
        if wanted == "*":
            rest = phrase[number + 1 :]
            return any(_fits(rest, words, at + gap) for gap in range(_WIDEST_GAP + 1))
        if at >= len(words) or not _is(wanted, words[at]):
            return False
        at += 1
    return True


def _is(wanted: str, word: str) -> bool:
    if wanted == "#":
        return word.isdigit()
    return word.startswith(wanted[:-1]) if wanted[-1] == "*" else word == wanted
