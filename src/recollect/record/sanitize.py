"""Text made safe to stand in one line: no control characters, no invisible look-alikes, none of our own markup.

Accents survive (NFC), and so do the marks and joiners that Indic, Arabic and other scripts are written with.
"""

from __future__ import annotations

import re
import unicodedata

_NAMES = r"\s*/?\s*(?:memory-context|result|system-reminder|memory)"
_OURS = re.compile(rf"<{_NAMES}\b[^>]*>?", re.IGNORECASE)
_OPENING = re.compile(rf"<(?={_NAMES})", re.IGNORECASE)
_JOINERS = "\u200c\u200d"
_PLAIN_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "DIGIT")
LONGEST_TITLE = 120
LONGEST_TAG = 60


def title(text: str) -> str:
    """A title as it may stand in a record."""
    return " ".join(_unmarked(one_line(text)).split())[:LONGEST_TITLE].rstrip()


def tag(text: str) -> str:
    """A tag as it may stand in a record: lower case, no spaces, none of the delimiters of `index.md`."""
    clean = visible(_unmarked(one_line(text)).lower())
    plain = "".join("-" if char.isspace() else char for char in clean if char not in ",#<>\"'`")
    return re.sub(r"-{2,}", "-", plain).strip("-:")[:LONGEST_TAG].rstrip("-:")


def tags(texts: list[str]) -> tuple[str, ...]:
    """Tags lower-cased, cleaned, sorted, each once."""
    return tuple(sorted({clean for clean in map(tag, texts) if clean}))


def one_line(text: str) -> str:
    """Text on one line without anything invisible, and without the delimiters of `index.md`."""
    return " ".join(visible(text).replace("->", "→").replace("#tags:", "# tags:").split())


def visible(text: str) -> str:
    """Text without control characters, format characters and stray combining marks."""
    if text.isascii() and text.isprintable():
        return text
    characters: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        characters.append(_keep(char, characters[-1] if characters else ""))
    return unicodedata.normalize("NFC", "".join(characters))


def _unmarked(text: str) -> str:
    """Text without our markup; where removing some would leave more, the bracket that opens it is replaced."""
    return _OPENING.sub("‹", _OURS.sub(" ", text))


def _keep(char: str, before: str) -> str:
    category = unicodedata.category(char)
    if category in ("Cc", "Zl", "Zp", "Zs"):
        return " "
    if category in ("Cs", "Co", "Cn"):
        return ""
    if category == "Cf":
        return char if char in _JOINERS and _is_complex(before) else ""
    if category in ("Mn", "Me"):
        return char if _is_complex(before) else ""
    return char


def _is_complex(char: str) -> bool:
    """Whether a character belongs to a script that is written with marks and joiners."""
    if not char or char.isascii():
        return False
    if unicodedata.category(char[-1])[0] == "M" or char[-1] in _JOINERS:
        return True
    name = unicodedata.name(char[-1], "")
    return char[-1].isalpha() and not name.startswith(_PLAIN_SCRIPTS)
