"""The languages that a team types its prompts in, so that saving can ask for triggers in them.

Of each project a code and a count are kept in the user's state folder, nothing of a prompt. English is not counted: a
team that types English has no file.
"""

from __future__ import annotations

import os

from onrecord import coldstart
from onrecord.search import query, terms
from onrecord.state_file import StateFile, state_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {
    "ar": "Arabic", "de": "German", "es": "Spanish", "fr": "French", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip
"""The languages that are told apart, beside English."""

_SCRIPTS = (
    ("ja", "\u3040", "\u30ff"), ("ko", "\uac00", "\ud7af"), ("zh", "\u4e00", "\u9fff"), ("ru", "\u0400", "\u04ff"),
    ("ar", "\u0600", "\u06ff"),
)  # fmt: skip
"""Ranges of letters that tell a language. Japanese comes before Chinese, whose characters it uses, too."""

_MIN_CHARACTERS, _MIN_STOP_WORDS = 2, 3
"""What tells a language: letters of its script, or different stop words of it."""

_MAX_LETTERS = 8
"""Letters of a text for each that is of the script: an English text may quote a word."""

_MAX_CHARACTERS = 2_000

FOLDER = "languages"
MIN_PROMPTS = 3
"""Prompts in a language after which saving asks for triggers in it: one may be pasted."""

_MAX_BYTES = 4_000
_MAX_COUNT = 9_999


def note(project: str, prompt: str) -> None:
    """Count the language of a prompt, unless it is English or not clear."""
    code = language(prompt)
    if not code:
        return
    with _file(project) as file:
        counts = _counts(file)
        counts[code] = min(counts.get(code, 0) + 1, _MAX_COUNT)
        file.replace("".join(f"{name} {count}\n" for name, count in sorted(counts.items())).encode())


def typed(project: str) -> list[str]:
    """Return the names of the languages that prompts in a project are typed in, the most frequent first."""
    counts = _counts(_file(project))
    codes = sorted((code for code, count in counts.items() if count >= MIN_PROMPTS), key=lambda code: -counts[code])
    return [NAMES[code] for code in codes]


def missing(project: str, triggers: Sequence[str]) -> list[str]:
    """Return the names of the languages that prompts are typed in and no trigger is."""
    codes = {name: code for code, name in NAMES.items()}
    return [name for name in typed(project) if not any(may_be_in(codes[name], trigger) for trigger in triggers)]


def request(languages: list[str]) -> str:
    """Return the request for triggers in `languages`; empty if there are none."""
    names = " and ".join(languages)
    return f"prompts in this project are also typed in {names}: add triggers in {names} too" if languages else ""


def _file(project: str) -> StateFile:
    name = coldstart.content_hash(os.path.realpath(project).encode("utf-8", "surrogatepass"))
    return StateFile(os.path.join(state_path(FOLDER), name), _MAX_BYTES, FOLDER)


def _counts(language_file: StateFile) -> dict[str, int]:
    """Return the count of each language; damaged lines are ignored."""
    counts: dict[str, int] = {}
    for line in language_file.lines():
        code, _, count = line.partition(" ")
        if code in NAMES and count.isdecimal():
            counts[code] = int(count)
    return counts


def language(text: str) -> str:
    """Return the code of a text's language, one of `NAMES`; empty for English and where it is not clear."""
    by_script = _by_script(text[:_MAX_CHARACTERS])
    if by_script:
        return by_script
    distinct, stop_lists = _distinct(text), query.other_stop_words()
    least = max(_MIN_STOP_WORDS, len(distinct & query.ENGLISH) + 1)
    best, most = "", 0.0
    for code, stop_list in zip(query.OTHER_LANGUAGES, stop_lists):
        hits = distinct & stop_list
        # A word that four languages have, such as `la`, counts a quarter for each.
        score = sum(1 / sum(word in other for other in stop_lists) for word in hits)
        if len(hits) >= least and score > most:
            best, most = code, score
    return best


def may_be_in(code: str, text: str) -> bool:
    """True if a short text may be in a language: it has letters or a stop word of it, and no more of English."""
    if code not in query.OTHER_LANGUAGES:
        return _by_script(text) == code
    distinct = _distinct(text)
    own = query.other_stop_words()[query.OTHER_LANGUAGES.index(code)]
    return len(distinct & own - query.ENGLISH) >= max(1, len(distinct & query.ENGLISH - own))


def _by_script(text: str) -> str:
    if text.isascii():
        return ""
    letters = [character for character in text if character.isalpha()]
    least = max(_MIN_CHARACTERS, len(letters) / _MAX_LETTERS)
    for code, first, last in _SCRIPTS:
        if sum(first <= character <= last for character in letters) >= least:
            return code
    return ""


def _distinct(text: str) -> set[str]:
    """Return the words of a text as lists of stop words have them."""
    return {terms.plain_letters(word.lower()).replace("ı", "i") for word in terms.words(text[:_MAX_CHARACTERS])}
