"""Messages split into sentences, and the cue phrases that tell a decision from chatter.

Cue phrases are read from `cues/<language>.json`. A phrase is a list of words: `*` matches up to five words, `word*` any
word with that prefix, `#` a number, `^` the start of a sentence and `$` its end. To add a language, add a file of
phrases and a line of its most common words in `cues/languages.json`.

The Stop hook runs this after every turn: no regular expressions here.
"""

from __future__ import annotations

import os

from onrecord import coldstart
from onrecord import text as texts
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_MESSAGE_CHARS = 8_000
"""Characters that are read of one message; longer ones are mostly pasted."""

CODE = "§"
"""Placeholder for a piece of code or a quotation."""

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues")
_MAX_GAP_WORDS = 5
_STEM_CHARS = 3
_CODE_MARKS = ("/", "_", "(", "::", "=")
_FENCES = ("```", "~~~")
_LOG_STARTS = ("ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE", "Traceback", "Caused by:", "Exception in")
_SEPARATORS = dict.fromkeys(map(ord, '()[]{}<>|*_~=+/\\,;!?."“”„«»…¿¡#@—–-'), " ")
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_MIN_PASSAGE_CHARS = 40
"""A shorter quotation is a name, not speech."""


class Sentence(NamedTuple):
    """One sentence: its original text, its words in lower case, and its kind."""

    raw: str
    words: list[str]
    is_item: bool
    is_question: bool
    has_code: bool
    has_command: bool


def split(message: str) -> list[Sentence]:
    """Return the sentences in the author's own words: no code, quotations, logs or tables."""
    result: list[Sentence] = []
    fence = ""
    for line in _without_passages(message[:MAX_MESSAGE_CHARS]).split("\n"):
        start = line.strip()[:3]
        if start in _FENCES:
            fence = "" if start == fence else fence or start
        elif not fence and _is_speech(line):
            is_item, body = _split_marker(line.strip())
            result += [_sentence(text, is_item) for text in texts.sentences(body)]
    return [sentence for sentence in result if sentence.words]


def _sentence(text: str, is_item: bool) -> Sentence:
    spoken = _without_quotes(text)
    if any(mark in spoken.rstrip(".") for mark in (*_CODE_MARKS, ".")):
        spoken = " ".join(CODE if _is_code(word) else word for word in spoken.split())
    plain = spoken.lower().replace("’", "'").replace(":", " : ").translate(_SEPARATORS)
    words = [word for word in (word.strip("'") for word in plain.split()) if word]
    has_command = "`" in text and any(" " in code.strip() or "=" in code for code in text.split("`")[1::2])
    return Sentence(text, words, is_item, text.rstrip(" )\"'”*_").endswith("?"), CODE in spoken, has_command)


def _without_passages(message: str) -> str:
    """Return `message` without quotations of more than one sentence."""
    for opening, closing in _QUOTES:
        start = message.find(opening)
        while start >= 0:
            end = message.find(closing, start + 1)
            if end < 0:
                break
            inside = message[start + 1 : end]
            is_passage = len(inside) > _MIN_PASSAGE_CHARS and (". " in inside or "\n" in inside) and "```" not in inside
            if is_passage and message[start - 1 : start] in ("", " ", "\n", "(", ":"):
                message = f"{message[:start]}\n{message[end + 1 :]}"
                end = start
            start = message.find(opening, end + 1)
    return message


def _without_quotes(text: str) -> str:
    for opening, closing in (("`", "`"), *_QUOTES):
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start + 1)
            if end < 0:
                break
            text = f"{text[:start]} {CODE} {text[end + 1 :]}"
            start = text.find(opening, start + 3)
    return text


def _is_speech(line: str) -> bool:
    """True if `line` is speech: no code, quotation, log line, table row or stack frame."""
    body = line.strip()
    if not body or body[0] in ">|$%" or line.startswith("\t") or (line.startswith("    ") and body[0] not in "-*"):
        return False
    head = body[:24]
    if head[:2].isdigit() and head.count(":") >= 2 and (head[2:3] == ":" or head[4:5] in "-/"):
        return False
    return not body.startswith(("at ", 'File "', "+++", "---", "@@")) and not any(
        body.startswith((level, f"[{level}")) and not body[len(level) :].startswith(" is") for level in _LOG_STARTS
    )


def _split_marker(line: str) -> tuple[bool, str]:
    """Return whether `line` is a list item, and its text without bullet, number or heading marks."""
    if line[:2] in ("- ", "* ", "• ") or (line[:2] == "**" and "**" in line[2:5]):
        return True, line[2:].lstrip()
    number, dot, rest = line.partition(" ")
    if dot and number[-1:] in (".", ")") and (number[:-1].isdigit() or (len(number) == 2 and number[0].isalpha())):
        return True, rest.lstrip()
    return False, line.lstrip("# ")


def _is_code(word: str) -> bool:
    """True if `word` is a path, a file, a call or other code without backticks."""
    bare = word.strip("()[]{}.,;:!?*")
    has_mark = any(mark in bare for mark in _CODE_MARKS) or "." in bare.strip("0123456789")
    return has_mark or word.rstrip(".,;:!?").endswith("()")


class Cues:
    """The cue phrases of one language, by tag, such as `decision.strong` or `reason`."""

    __slots__ = ("_phrases", "_spelling")

    def __init__(self, data: dict[str, Any], vocabulary: set[str]) -> None:
        """Keep only the phrases that can occur with this vocabulary: few of thousands."""
        self._spelling: dict[str, str] = data["spelling"]
        self._phrases: dict[str, list[tuple[list[str], str]]] = {}
        words = {"^", "$", *vocabulary, *(self._spelling.get(word, "") for word in vocabulary)}
        for tag, phrases in data["phrases"].items():
            for phrase in _possible_phrases(phrases, words):
                row = phrase.split()
                first = row[0] if row[0][-1] != "*" else row[0][:_STEM_CHARS] + "*"
                self._phrases.setdefault(first, []).append((row, tag))

    def tags(self, words: list[str]) -> dict[str, int]:
        """Return the tags of a sentence, each with its number of matching phrases."""
        row = ["^", *(self._spelling.get(word, word) for word in words), "$"]
        counts: dict[str, int] = {}
        phrases = self._phrases
        for position, word in enumerate(row):
            for first in (word, word[:_STEM_CHARS] + "*", "#") if word.isdigit() else (word, word[:_STEM_CHARS] + "*"):
                for phrase, tag in phrases.get(first, ()):
                    if _matches(phrase, row, position):
                        counts[tag] = counts.get(tag, 0) + 1
        return counts


def language_of(words: list[str]) -> str:
    """Return the language whose common words occur most often in `words`; English unless another is ahead."""
    common = {name: frozenset(line.split()) for name, line in load("languages").items()}
    counts = {name: sum(word in common[name] for word in words) for name in common}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["en"] else "en"


_cache: dict[str, dict[str, Any]] = {}


def load(name: str) -> dict[str, Any]:
    """Load the phrases of a language; or, for `languages`, the common words of each language."""
    if name not in _cache:
        with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
            _cache[name] = coldstart.loads(file.read())
    return _cache[name]


def _possible_phrases(phrases: list[str], words: set[str]) -> Iterator[str]:
    """Yield the phrases whose first two words are in `words`, and those with wildcards."""
    yield from words.intersection(phrases)
    for phrase in phrases:
        if "*" in phrase or "#" in phrase:
            yield phrase
        elif " " in phrase:
            first, second = phrase.split(" ", 2)[:2]
            if first in words and second in words:
                yield phrase


def _matches(phrase: list[str], words: list[str], start: int) -> bool:
    """True if `phrase` matches `words` from `start`."""
    position = start
    for number, pattern in enumerate(phrase):
        if pattern == "*":
            rest = phrase[number + 1 :]
            return any(_matches(rest, words, position + gap) for gap in range(_MAX_GAP_WORDS + 1))
        if position >= len(words) or not _is_word(pattern, words[position]):
            return False
        position += 1
    return True


def _is_word(pattern: str, word: str) -> bool:
    if pattern == "#":
        return word.isdigit()
    return word.startswith(pattern[:-1]) if pattern[-1] == "*" else word == pattern
