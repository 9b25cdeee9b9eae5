"""Characters that nobody sees, such as marks of direction: shown as codes in forms, and read back from them.

A code is the character's number in braces after a backslash and the letter u. Backslashes before what looks like a code
are doubled.
"""

from __future__ import annotations

import re
import sys
import unicodedata

_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
"""Characters in Persian and Indic words and in many emoji."""

_CODE = re.compile(r"(?<!\\)(\\+)u\{([0-9a-f]{1,6})\}")
_BEFORE_CODE = re.compile(r"(\\*)(\W)")


def show(text: str) -> str:
    """Return `text` with codes for invisible characters; backslashes before what looks like a code are doubled."""
    text = _CODE.sub(lambda match: match[1] + match[0], text)
    return text if text.isprintable() else _BEFORE_CODE.sub(_coded, text)


def read(text: str) -> str:
    """Return the text that `show` made `text` of."""
    return _CODE.sub(_meant, text)


def _coded(match: re.Match[str]) -> str:
    char = match[2]
    is_hidden = unicodedata.category(char) in _INVISIBLE and char not in _JOINERS and char != "\t"
    return f"{match[1]}{match[1]}\\u{{{ord(char):x}}}" if is_hidden else match[0]


def _meant(match: re.Match[str]) -> str:
    count, code = len(match[1]), int(match[2], 16)
    if count % 2 == 0:
        return match[0][count // 2 :]
    return match[1][: count // 2] + chr(code) if code <= sys.maxunicode else match[0]
