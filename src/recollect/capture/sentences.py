"""Prose: what somebody said, sentence by sentence, without code, quotations, logs and tables.

The Stop hook reads it after every turn: no regular expressions here.
"""

from __future__ import annotations

from recollect.text import sentences

LONGEST = 8_000
"""Characters of one message that are read; what is longer is pasted, not said."""

_CODE_MARKS = ("/", "_", "(", "::", "=", ".")
CODE = "§"
"""Stands where a piece of code or a quotation was."""

_FENCES = ("```", "~~~")
_LEVELS = ("ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE", "Traceback", "Caused by:", "Exception in")
_SEPARATORS = dict.fromkeys(map(ord, '()[]{}<>|*_~=+/\\,;!?."“”„«»…¿¡#@—–-'), " ")
_PASSAGES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_PASSAGE = 40
"""Characters from which a quotation is somebody's speech, not a name."""

_QUOTES = (("`", "`"), *_PASSAGES)


class Sentence:
    """One sentence: as it was written, its words in lower case, and what sort it is."""

    __slots__ = ("has_code", "has_command", "is_item", "is_question", "raw", "words")

    def __init__(self, raw: str, *, is_item: bool = False) -> None:
        self.raw = raw
        self.is_item = is_item
        self.is_question = raw.rstrip(" )\"'”*_").endswith("?")
        spoken = _without_quotes(raw)
        inner = spoken.rstrip(".")
        if any(mark in inner for mark in _CODE_MARKS):
            spoken = " ".join(CODE if _is_name(word) else word for word in spoken.split())
        self.has_code = CODE in spoken
        self.has_command = "`" in raw and any(" " in code.strip() or "=" in code for code in raw.split("`")[1::2])
        plain = spoken.lower().replace("’", "'").replace(":", " : ").translate(_SEPARATORS)
        self.words = plain.split() if "'" not in plain else [word for word in _unquoted(plain) if word]


def _unquoted(plain: str) -> list[str]:
    return [word.strip("'") for word in plain.split()]


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a message that are its author's own words."""
    found: list[Sentence] = []
    fence = ""
    for line in _without_passages(text[:LONGEST]).split("\n"):
        start = line.strip()[:3]
        if start in _FENCES:
            fence = "" if start == fence else fence or start
        elif not fence and _is_said(line):
            is_item, body = _unmarked(line.strip())
            found += [Sentence(raw, is_item=is_item) for raw in sentences(body)]
    return [sentence for sentence in found if sentence.words]


def _without_passages(text: str) -> str:
    """A text without what somebody else says in it: quotations of more than one sentence."""
    for opening, closing in _PASSAGES:
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start + 1)
            inside = text[start + 1 : end]
            is_passage = len(inside) > _PASSAGE and (". " in inside or "\n" in inside) and "```" not in inside
            if end < 0:
                break
            if is_passage and text[start - 1 : start] in ("", " ", "\n", "(", ":"):
                text = f"{text[:start]}\n{text[end + 1 :]}"
                end = start
            start = text.find(opening, end + 1)
    return text


def _is_said(line: str) -> bool:
    """Whether a line is speech: neither code nor a quotation, a log line, a table row or a stack frame."""
    body = line.strip()
    if not body or body[0] in ">|$%" or line.startswith("\t") or (line.startswith("    ") and body[0] not in "-*"):
        return False
    return not _is_log(body)


def _is_log(body: str) -> bool:
    head = body[:24]
    if head[:2].isdigit() and head.count(":") >= 2 and (head[2:3] == ":" or head[4:5] in "-/"):
        return True
    return body.startswith(("at ", 'File "', "+++", "---", "@@")) or any(
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


def _is_name(word: str) -> bool:
    """Whether a word is a path, a file, a call or another piece of code that was not marked as one."""
    bare = word.strip("()[]{}.,;:!?*")
    inner = any(mark in bare for mark in ("/", "_", "(", "::", "=")) or "." in bare.strip("0123456789")
    return inner or word.rstrip(".,;:!?").endswith("()")


def _without_quotes(text: str) -> str:
    for opening, closing in _QUOTES:
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start + 1)
            if end < 0:
                break
            text = f"{text[:start]} {CODE} {text[end + 1 :]}"
            start = text.find(opening, start + 3)
    return text
