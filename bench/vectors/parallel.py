"""Texts in other languages with their English original: the translations that public repositories carry.

The student learns to give the foreign text the teacher's vector of the English one, so that a prompt in these languages
is near the English record it is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_SHORTEST, _LONGEST = 6, 400
_PO = re.compile(r'^(msgid|msgstr) ((?:".*"\n)+)', re.M)
_NOISE = re.compile(r"<[^>]{1,80}>|%\(\w+\)[sd]|%[sd]|\{[^}]{0,60}\}|\[/?[a-z]+\]|`{1,2}|\\[nt]|:\w+:|[&_*|]")

_STEP = "\0"
"""Between the keys of nested texts."""

Show = Callable[[str], str]


FIRST_CODES = ("de", "es", "de-DE", "es-ES")
"""The languages that the first training of the table read, as files name them."""


def pairs(
    names: list[str], show: Show, *, is_translation: bool, codes: tuple[str, ...] = FIRST_CODES
) -> Iterator[tuple[str, str]]:
    """Yield (foreign, English) texts of a repository, given the names of its files and how to read one.

    Of a repository that is a translation all files count, otherwise those whose name has one of the `codes`.
    """
    present = set(names)
    foreign_name = re.compile(rf"(?P<before>.*?[/_.-])(?P<language>{'|'.join(codes)})(?P<after>[/.].*)")
    for name in names:
        match = foreign_name.fullmatch(name)
        if name.endswith(".po") and (match or is_translation):
            yield from map(_plain, _po(show(name)))
        elif match and name.endswith((".json", ".properties")) and not name.startswith("."):
            read = _json if name.endswith(".json") else _properties
            foreign = read(show(name))
            english = next((path for path in _originals(match) if path in present), "")
            original = read(show(english)) if english else {key: key.rpartition(_STEP)[2] for key in foreign}
            yield from (_plain((text, original[key])) for key, text in foreign.items() if key in original)


def is_useful(pair: tuple[str, str]) -> bool:
    foreign, english = pair
    has_words = " " in english or len(english) > 3
    return foreign != english and has_words and all(_SHORTEST <= len(text) <= _LONGEST for text in pair)


def _originals(match: re.Match[str]) -> list[str]:
    """Return where the English text may be. Without such a file the keys are the English text."""
    before, after = match["before"], match["after"]
    english = [f"{before}{language}{after}" for language in ("en", "en-US")]
    without = before.rstrip("_.-") + after
    return [*english, *(path.replace("maven-resources-community", "maven-resources") for path in english), without]


def _po(text: str) -> Iterator[tuple[str, str]]:
    original = ""
    for kind, quoted in _PO.findall(text.replace("\r", "")):
        value = "".join(_unquoted(line) for line in quoted.splitlines())
        if kind == "msgid":
            original = value
        elif original and value:
            yield value, original


def _unquoted(line: str) -> str:
    try:
        return str(json.loads(line))
    except ValueError:
        return line[1:-1]


def _json(text: str) -> dict[str, str]:
    out: dict[str, str] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, path + _STEP + key)
        elif isinstance(value, str):
            out[path] = value

    walk(json.loads(text or "{}"), "")
    return out


def _properties(text: str) -> dict[str, str]:
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    parts = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): _unescaped(value.strip()) for key, _, value in parts}


def _unescaped(value: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)


def _plain(pair: tuple[str, str]) -> tuple[str, str]:
    foreign, english = (" ".join(_NOISE.sub(" ", text).split()) for text in pair)
    return foreign, english
