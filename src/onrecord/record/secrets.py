"""Credentials that must not be written to a file other people will read.

Beside what is recognised by its own form (`secret_patterns`) there are values that a name or a sentence calls a
password, a key or a token: DB_PASSWORD=…, "the password of the replica is …". Those must look like one.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Container, Iterator, Mapping
from itertools import islice
from operator import ne
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.record import secret_patterns as patterns

_LONGEST = 250  # characters of a value
_REACH = 120  # characters between a name and its value: "password for the staging admin account: …"
_MOST_LINKS = 3  # words tried in a sentence: "the password was changed to …"
_SHORTEST_MADE_UP = 7  # characters: most shorter words with digits are names of machines
_SIGNS = frozenset("!@#$%^&*?~")
# What joins a name to its value: an assignment, the next argument of a call, an attribute of XML or the end of its tag.
_ASSIGNMENT = re.compile(
    r"[\w.-]{0,30}(?:[\"'`\])*]{0,3}\s{0,4}(?:=>|:=|={1,3}|:)\s{0,4}|[\"'],\s?|[\"']\svalue=|>)(?:base64:|pass:)?(?P<quote>[\"'`]?)"
)
_BESIDE = re.compile(r"[\w-]{0,30}\s")
_LINK = re.compile(r"\s(?:is|are|was|to|ist|est|es)\s?:?\s|[:=]\s")
_TO = re.compile(r"\sto\s")
_SENTENCE = re.compile(rf"[^\n()\[\]{{}}\"`;|<>]{{0,{_REACH}}}")
_OPENING = re.compile(r"[\"'`(]{0,3}")
_BARE = re.compile(rf"[^\s\"'`;|<]{{1,{_LONGEST}}}")
_NEXT_PARAMETER = re.compile(r"&\w{1,40}=")


class Leak(NamedTuple):
    """A credential found in a record: in which field, what kind, and enough of it to recognise."""

    where: str
    kind: str
    masked: str
    words: str = ""
    """The words before it."""

    def __str__(self) -> str:
        return f"{self.where} carries {self.kind} ({self.words}{self.masked})"


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


def find_leaks(value: Any, where: str = "", old: Container[str] = ()) -> Iterator[Leak]:
    """Every credential in a JSON value that is not one of the old ones, with the path of the field it stands in."""
    if isinstance(value, str):
        yield from _in_text(value, where, old)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            in_key = list(find_leaks(key, f"a key of {where or 'the record'}", old))
            yield from in_key
            field = f"{where}.{mask(key) if in_key else key}".strip(".")
            kind = _kind_of_field(key, item)
            kind = "" if kind and item in old else kind
            yield from [Leak(field, kind, mask(item))] if kind else find_leaks(item, field, old)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from find_leaks(item, f"{where}[{number}]", old)


def find_credentials(value: Any) -> Iterator[str]:
    """Every credential in a JSON value, as it is."""
    if isinstance(value, str):
        yield from (value[span.start : span.end] for span in _spans(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (item,) if _kind_of_field(key, item) else ()
            yield from find_credentials((key, item))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from find_credentials(item)


def mask(secret: str) -> str:
    """A credential with all but its first characters hidden."""
    first = secret.strip().split("\n")[0]
    return first[:4] + "…" if len(first) > 8 else "…"


def redact(text: str) -> str:
    """A text with every credential in it masked."""
    parts, end = [], 0
    for span in _spans(text):
        parts += [text[end : span.start], mask(text[span.start : span.end])]
        end = span.end
    return "".join([*parts, text[end:]])


def _kind_of_field(key: object, item: object) -> str:
    """What a field of a record must not hold, if its name says so and its value looks like it."""
    name = patterns.NAME.search(key) if isinstance(key, str) and isinstance(item, str) else None
    if not name or not isinstance(item, str):
        return ""
    if name.lastgroup == "password":
        return patterns.PASSWORD if _is_password(item, is_quoted=True) else ""
    return patterns.KEY if name.lastgroup == "key" and _is_key(item, is_quoted=True) else ""


def _in_text(text: str, where: str, old: Container[str]) -> Iterator[Leak]:
    """The first credential of each kind that is not one of the old ones, with the words before it."""
    kinds: set[str] = set()
    end = 0
    for span in _spans(text):
        if span.kind not in kinds and text[span.start : span.end] not in old:
            kinds.add(span.kind)
            before = text[max(span.start - 30, end) : span.start].rpartition("\n")[2]
            words = before if len(before) < 30 else before.partition(" ")[2]
            printable = "".join(char for char in words.lstrip() if char.isprintable())
            yield Leak(where, span.kind, mask(text[span.start : span.end]), printable)
        end = span.end


def _spans(text: str) -> list[_Span]:
    """Where credentials stand, in order and without overlap; of two rules for one place the more particular counts."""
    chosen: list[_Span] = []
    for span in (*_by_pattern(text), *_by_name(text)):
        at = bisect(chosen, span)
        if (at == 0 or chosen[at - 1].end <= span.start) and (at == len(chosen) or span.end <= chosen[at].start):
            chosen.insert(at, span)
    return chosen


def _by_pattern(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    for rules, fits in ((patterns.TOKENS, _is_token), (patterns.PLACES, _fits_place)):
        for rule in rules:
            if not any(hint in lowered for hint in rule.hints.split("|")):
                continue
            for match in re.finditer(rule.pattern, text):
                group = match.lastindex or 0
                if fits(rule.kind, match[group]):
                    yield _Span(*match.span(group), rule.kind)


def _is_token(kind: str, value: str) -> bool:
    # The body of a real private key may have the same letter ten times in a row.
    return kind == patterns.PRIVATE_KEY or not patterns.DUMMY.search(value)


def _fits_place(kind: str, value: str) -> bool:
    """Whether a value that stands in the place of a credential looks like one."""
    if kind == patterns.HEADER:
        return _is_random(value, 12)
    if kind == patterns.PASSWORD:
        return _is_password(value, is_quoted=False)
    return _is_strong(value) if kind == patterns.LOGIN else not patterns.PLACEHOLDER.match(value)


def _by_name(text: str) -> Iterator[_Span]:
    """Values that a name or a sentence calls a password, a key, a token or a session."""
    kinds = {"password": patterns.PASSWORD, "key": patterns.KEY, "session": patterns.SESSION}
    for name in patterns.NAME.finditer(text):
        kind = kinds[name.lastgroup or ""]
        span = _assigned(text, name, kind)
        if not span and kind != patterns.SESSION:
            span = _behind(text, name, kind) or _before(text, name, kind) or _made_up(text, name, kind)
        if span:
            yield _Span(*span, kind)


def _assigned(text: str, name: re.Match[str], kind: str) -> tuple[int, int] | None:
    """The value that is assigned to a name."""
    link = _ASSIGNMENT.match(text, name.end())
    if not link:
        return None
    start, quote = link.end(), link["quote"]
    end = text.find(quote, start, start + _LONGEST) if quote else _end(text, start)
    value = text[start:end] if end > start else ""
    if kind == patterns.SESSION:
        is_secret = "=" in link[0] and _is_random(value, 20)
    elif "," in link[0] or (name[0].lower() == "pass" and link[0] == ": "):
        # The next argument need not belong to the name, and `PASS: TestName2` is the output of a test.
        is_secret = _is_strong(value)
    else:
        is_secret = (_is_password if kind == patterns.PASSWORD else _is_key)(value, is_quoted=bool(quote))
    return (start, end) if is_secret else None


def _behind(text: str, name: re.Match[str], kind: str) -> tuple[int, int] | None:
    """The value that a sentence gives behind a name: "password …", "the token for the sandbox is …"."""
    beside = _BESIDE.match(text, name.end())
    starts = [beside.end()] if beside else []
    sentence = _SENTENCE.match(text, name.end())
    links = _LINK.finditer(text, name.end(), sentence.end() + 1 if sentence else name.end())
    starts += [link.end() for link in islice(links, _MOST_LINKS)]
    for at in starts:
        opening = _OPENING.match(text, at)
        start = opening.end() if opening else at
        end = _end(text, start)
        if _is_told(text[start:end], kind):
            return start, end
    return None


def _made_up(text: str, name: re.Match[str], kind: str) -> tuple[int, int] | None:
    """A word with digits that a sentence says is the password: "the password for staging is …", "we set it to …"."""
    if kind != patterns.PASSWORD or name[0].lower() == "pass":
        return None
    link = patterns.SAYS.match(text, name.end())
    if not link and patterns.SETS.search(text, max(name.start() - _REACH, 0), name.start()):
        link = _TO.match(text, name.end())
    opening = _OPENING.match(text, link.end()) if link else None
    start = opening.end() if opening else 0
    value = text[start : _end(text, start)] if start else ""
    is_secret = len(value) >= _SHORTEST_MADE_UP and patterns.MADE_UP.match(value) and not _is_ordinary(value)
    return (start, start + len(value)) if is_secret else None


def _before(text: str, name: re.Match[str], kind: str) -> tuple[int, int] | None:
    """The value before a name: "use … as the password"."""
    window = text[max(name.start() - _LONGEST, 0) : name.start()]
    head, _, rest = window.rpartition(" as ")
    value = head.rpartition(" ")[2]
    start = name.start() - len(window) + len(head) - len(value)
    return (start, start + len(value)) if len(rest) < 30 and _is_told(value, kind) else None


def _end(text: str, start: int) -> int:
    """Where a value without quotes ends."""
    match = _BARE.match(text, start)
    return start + len(_NEXT_PARAMETER.split(match[0])[0].rstrip(".,:)]}*\\")) if match else start


def _is_password(value: str, *, is_quoted: bool) -> bool:
    """Whether what is assigned to a password is one: two kinds of characters if quoted, letters and digits if not."""
    if len(value) < 6 or " " in value or _is_ordinary(value):
        return False
    if is_quoted and len(value) >= 8:
        return not value.isalpha() and not value.isdigit()
    return (_has_both(value) or len(_SIGNS & set(value)) > 1) and not patterns.WORDS.match(value)


def _is_key(value: str, *, is_quoted: bool) -> bool:
    if len(value) < 8 or " " in value or _is_ordinary(value):
        return False
    is_short_key = is_quoted and _has_both(value) and not patterns.WORDS.match(value)
    return is_short_key or _is_random(value, 16) or _is_strong(value)


def _is_told(value: str, kind: str) -> bool:
    """Whether a word in a sentence is the credential that the sentence is about."""
    if kind == patterns.PASSWORD:
        return _is_strong(value)
    return _is_random(value, 20) and not _is_ordinary(value)


def _is_strong(value: str) -> bool:
    """Whether a word can only be a password: letters, digits, and a sign or many changes between them."""
    if not 6 <= len(value) <= _LONGEST or not _has_both(value) or _is_ordinary(value):
        return False
    if patterns.WORDS.match(value) or patterns.ADDRESS.match(value):
        return False
    is_mixed = value.lower() != value and value.upper() != value and _changes(value) >= 0.25 * len(value)
    return is_mixed or not _SIGNS.isdisjoint(value) or _is_random(value, 16)


def _is_random(value: str, least: int) -> bool:
    """Whether a text is drawn from letters and digits: words and versions change between them less often."""
    digits = sum(map(str.isdigit, value))
    if len(value) < least or not 2 <= digits < len(value) - 2 or not patterns.RANDOM.match(value):
        return False
    return _changes(value) >= 0.2 * len(value)


def _changes(value: str) -> int:
    """How often a text changes between small letters, capitals and digits."""
    kinds = [char.isdigit() + 2 * char.isupper() for char in value if char.isalnum()]
    return sum(map(ne, kinds, kinds[1:]))


def _has_both(value: str) -> bool:
    """Whether a value has a letter and a digit."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_ordinary(value: str) -> bool:
    """Whether a value is a placeholder, a well-known default or a piece of code."""
    # Some tokens have a dot behind their prefix, as an attribute has.
    is_token = value.count(".") == 1 and _is_random(value, 20)
    return bool(patterns.PLACEHOLDER.match(value) or patterns.CODE.match(value)) and not is_token
