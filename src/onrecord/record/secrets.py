"""Detection of credentials, which must not be written to a file that other people will read.

Some are recognised by their form (`secret_patterns`). Others are values that a name or a sentence calls a password, a
key or a token, and that look like one: DB_PASSWORD=…, "the password of the replica is …". Both are looked for in the
plain form of a text: what a reader takes it for, without what hides a word from a pattern.
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

_MAX_CHARACTERS = 250  # of a value
_MAX_DISTANCE = 120  # characters between a name and its value: "password for the staging admin account: …"
_MAX_LINKS = 3  # words tried in a sentence: "the password was changed to …"
_MIN_MADE_UP = 7  # characters: most shorter words with digits are names of machines
_SIGNS = frozenset("!@#$%^&*?~")
# Between a name and its value: an assignment, the next argument of a call, an attribute of XML or the end of its tag.
# In YAML the value may begin on the next line.
_ASSIGNMENT = re.compile(
    r"[\w.-]{0,30}(?:[\"'`\])*]{0,3}\s{0,20}(?:=>|:=|={1,3}|:)\s{0,4}(?:[>|][+-]?\s{0,4}\n\s{0,20})?|[\"']\svalue=|>"
    r"|(?P<loose>[\"'],\s?|\((?=[\"'`])|[*`]{0,2}\s(?:\||->|→)\s))(?:base64:|pass:)?(?P<quote>[\"'`]?)"
)
_BESIDE = re.compile(r"[\w-]{0,30}\]?\s{1,12}")
_LINK = re.compile(r"\s(?:is|are|was|to|ist|war|lautet|est|es|è|é|jest|är)\s?:?\s|[:=]\s")
_TO = re.compile(r"\sto\s")
_SENTENCE = re.compile(rf"[^\n()\[\]{{}}\"`;|<>]{{0,{_MAX_DISTANCE}}}")
_OPENING = re.compile(r"[\"'`(]{0,3}")
# A separator is part of a value if only a word follows it, and no other name with a value or closing tag.
_BARE = re.compile(rf"(?:[^\s\"'`;|<]|(?<=\w)[;|<](?=[\w!@#$%^&*-]{{1,40}}(?:[\s\"'`,.]|$))){{1,{_MAX_CHARACTERS}}}")
_NEXT_PARAMETER = re.compile(r"&\w{1,40}=")


_HintedRules = list[tuple[patterns.Rule, list[str]]]
_RULES: _HintedRules = [(rule, rule.hints.split("|")) for rule in (*patterns.TOKENS, *patterns.CONTEXTS)]
_OF_SESSIONS = ("=", "sess", "sid=")
_HINTS = sorted({*(hint for _, hints in _RULES for hint in hints), *patterns.NAME_HINTS, *_OF_SESSIONS})
_HINTS_OF_TWO_WORDS = [hint for hint in _HINTS if " " in hint]
_MAX_PLAIN_WORDS, _MAX_WORD_CHARACTERS = 100_000, 60

_plain_words: set[str] = set()
"""Words in which no hint was found: a store repeats its words, and looks for nearly 200 hints in each but once."""


class Leak(NamedTuple):
    """A credential in a record: its field, its kind, and its first characters."""

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


def find_leaks(value: Any, where: str = "", ignore: Container[str] = ()) -> Iterator[Leak]:
    """Yield the credentials in a JSON value, except those to ignore, with the paths of their fields."""
    # Nearly all records have none: to see that, one look at all texts together is enough.
    text = _plain("\n".join(_texts(value))).text
    hints = _hints_in(text.lower())
    rules = [hinted for hinted in _fitting_rules(hints, _RULES) if re.search(hinted[0].pattern, text)]
    if rules or _may_name(hints):
        yield from _find_leaks(value, where, ignore, rules)


def _find_leaks(value: Any, where: str, ignore: Container[str], hinted_rules: _HintedRules) -> Iterator[Leak]:
    if isinstance(value, str):
        if hinted_rules or not value.isascii() or _may_name(_hints_in(value.lower())):
            yield from _in_text(value, where, ignore, hinted_rules)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            in_key = list(_find_leaks(key, f"a key of {where or 'the record'}", ignore, hinted_rules))
            yield from in_key
            field = f"{where}.{mask(key) if in_key else key}".strip(".")
            kind = _kind_of_field(key, item)
            kind = "" if kind and item in ignore else kind
            yield from [Leak(field, kind, mask(item))] if kind else _find_leaks(item, field, ignore, hinted_rules)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _find_leaks(item, f"{where}[{number}]", ignore, hinted_rules)


def find_credentials(value: Any) -> Iterator[str]:
    """Yield the text of each credential in a JSON value."""
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
    """Return a credential with all but its first characters hidden."""
    first = secret.strip().split("\n")[0]
    return first[:4] + "…" if len(first) > 8 else "…"


def redact(text: str) -> str:
    """Return `text` with every credential masked."""
    parts, end = [], 0
    for span in _spans(text):
        parts += [text[end : span.start], mask(text[span.start : span.end])]
        end = span.end
    return "".join([*parts, text[end:]])


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, and its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _hints_in(lowered_text: str) -> set[str]:
    """Return the hints in a text, looking only at words that are not known to have none."""
    words = set(lowered_text.split()) - _plain_words
    text = "\n".join(words)
    hints = {hint for hint in _HINTS if hint in text} if words else set()
    if len(_plain_words) > _MAX_PLAIN_WORDS:
        _plain_words.clear()
    _plain_words.update(
        [word for word in words if len(word) <= _MAX_WORD_CHARACTERS and not any(hint in word for hint in hints)]
    )
    hints.update([hint for hint in _HINTS_OF_TWO_WORDS if hint in lowered_text])
    return hints


def _fitting_rules(hints: set[str], hinted_rules: _HintedRules) -> _HintedRules:
    """Return those of the rules that have one of these hints."""
    return [rule for rule in hinted_rules if not hints.isdisjoint(rule[1])] if hints else []


def _may_name(hints: set[str]) -> bool:
    """True if a text with these hints may have the name of a credential."""
    # A session counts only where something is assigned to it.
    return not hints.isdisjoint(patterns.NAME_HINTS) or ("=" in hints and ("sess" in hints or "sid=" in hints))


def _kind_of_field(field_name: object, value: Any) -> str:
    """Return the kind of credential in a field, if its name and its value look like one."""
    is_named = isinstance(field_name, str) and isinstance(value, str) and _may_name(_hints_in(field_name.lower()))
    match = patterns.NAME.search(str(field_name)) if is_named else None
    if not match or not isinstance(value, str):
        return ""
    if match.lastgroup == "password":
        return patterns.PASSWORD if _is_password(value, is_quoted=True) else ""
    return patterns.KEY if match.lastgroup == "key" and _is_key(value, is_quoted=True) else ""


def _in_text(text: str, where: str, ignore: Container[str], hinted_rules: _HintedRules) -> Iterator[Leak]:
    """Yield the first credential of each kind, except those to ignore, with the words before it."""
    kinds: set[str] = set()
    end = 0
    for span in _spans(text, hinted_rules):
        if span.kind not in kinds and text[span.start : span.end] not in ignore:
            kinds.add(span.kind)
            before = text[max(span.start - 30, end) : span.start].rpartition("\n")[2]
            words = before if len(before) < 30 else before.partition(" ")[2]
            printable = "".join(char for char in words.lstrip() if char.isprintable())
            yield Leak(where, span.kind, mask(text[span.start : span.end]), printable)
        end = span.end


def _spans(text: str, hinted_rules: _HintedRules | None = None) -> list[_Span]:
    """Return the positions of credentials, in order; where two overlap, the one with the more specific rule."""
    plain = _plain(text)
    hints = _hints_in(plain.text.lower())
    fitting = _fitting_rules(hints, _RULES if hinted_rules is None else hinted_rules)
    by_name = _by_name(plain.text) if _may_name(hints) else ()
    spans: list[_Span] = []
    for start, end, kind in (*_by_pattern(plain.text, fitting), *by_name):
        span = _Span(plain.at(start), plain.at(end), kind)
        n = bisect(spans, span)
        if (n == 0 or spans[n - 1].end <= span.start) and (n == len(spans) or span.end <= spans[n].start):
            spans.insert(n, span)
    return spans


def _by_pattern(text: str, hinted_rules: _HintedRules) -> Iterator[_Span]:
    for rule, _ in hinted_rules:
        fits = _is_token if rule in patterns.TOKENS else _fits_context
        for match in re.finditer(rule.pattern, text):
            group = match.lastindex or 0
            if fits(rule.kind, match[group]):
                yield _Span(*match.span(group), rule.kind)


def _is_token(kind: str, word: str) -> bool:
    # The body of a real private key may have the same letter ten times in a row.
    return kind == patterns.PRIVATE_KEY or not patterns.DUMMY.search(word)


def _fits_context(kind: str, word: str) -> bool:
    """True if `word` looks like a credential, in the context of a rule for `kind`."""
    if kind == patterns.HEADER:
        return _is_random(word, 12)
    if kind == patterns.PASSWORD:
        return _is_password(word, is_quoted=False)
    if kind == patterns.USER:
        return _is_generated(word)
    return _is_strong(word) if kind == patterns.LOGIN else not patterns.PLACEHOLDER.match(word)


def _by_name(text: str) -> Iterator[_Span]:
    """Yield the values that a name or a sentence calls a password, a key, a token or a session."""
    kinds = {"password": patterns.PASSWORD, "key": patterns.KEY, "session": patterns.SESSION}
    for name in patterns.NAME.finditer(text):
        kind = kinds[name.lastgroup or ""]
        span = _assigned(text, name, kind)
        if not span and kind != patterns.SESSION:
            span = _behind(text, name, kind) or _before(text, name, kind) or _made_up(text, name, kind)
        if span:
            yield _Span(*span, kind)


def _assigned(text: str, name_match: re.Match[str], kind: str) -> tuple[int, int] | None:
    """Return the position of a credential that is assigned to a name."""
    link = _ASSIGNMENT.match(text, name_match.end())
    if not link:
        return None
    start, quote = link.end(), link["quote"]
    end = text.find(quote, start, start + _MAX_CHARACTERS) if quote else _end(text, start)
    value = text[start:end] if end > start else ""
    if kind == patterns.SESSION:
        is_secret = "=" in link[0] and _is_random(value, 20)
    elif link["loose"] or (name_match[0].lower() == "pass" and link[0] == ": "):
        # The next argument of a call may be unrelated to the name, and `PASS: TestName2` is the output of a test.
        is_secret = _is_strong(value)
    else:
        is_secret = (_is_password if kind == patterns.PASSWORD else _is_key)(value, is_quoted=bool(quote))
    return (start, end) if is_secret else None


def _behind(text: str, name_match: re.Match[str], kind: str) -> tuple[int, int] | None:
    """Return the position of a credential after its name: "password …", "the token for the sandbox is …"."""
    beside = _BESIDE.match(text, name_match.end())
    starts = [beside.end()] if beside else []
    sentence = _SENTENCE.match(text, name_match.end())
    links = _LINK.finditer(text, name_match.end(), sentence.end() + 1 if sentence else name_match.end())
    starts += [link.end() for link in islice(links, _MAX_LINKS)]
    for position in starts:
        opening = _OPENING.match(text, position)
        start = opening.end() if opening else position
        end = _end(text, start)
        if _is_mentioned(text[start:end], kind):
            return start, end
    return None


def _made_up(text: str, name_match: re.Match[str], kind: str) -> tuple[int, int] | None:
    """Return the position of a word with digits that a sentence calls the password: "the password is …"."""
    if kind != patterns.PASSWORD or name_match[0].lower() == "pass":
        return None
    link = patterns.SAYS.match(text, name_match.end())
    if not link and patterns.SETS.search(text, max(name_match.start() - _MAX_DISTANCE, 0), name_match.start()):
        link = _TO.match(text, name_match.end())
    opening = _OPENING.match(text, link.end()) if link else None
    start = opening.end() if opening else 0
    value = text[start : _end(text, start)] if start else ""
    is_secret = len(value) >= _MIN_MADE_UP and patterns.MADE_UP.match(value) and not _is_ordinary(value)
    return (start, start + len(value)) if is_secret else None


def _before(text: str, name_match: re.Match[str], kind: str) -> tuple[int, int] | None:
    """Return the position of a credential before its name: "use … as the password"."""
    window = text[max(name_match.start() - _MAX_CHARACTERS, 0) : name_match.start()]
    head, _, rest = window.rpartition(" as ")
    value = head.rpartition(" ")[2]
    start = name_match.start() - len(window) + len(head) - len(value)
    return (start, start + len(value)) if len(rest) < 30 and _is_mentioned(value, kind) else None


def _end(text: str, start: int) -> int:
    """Return the end of a value without quotes."""
    match = _BARE.match(text, start)
    return start + len(_NEXT_PARAMETER.split(match[0])[0].rstrip(".,:)]}*\\")) if match else start


def _is_password(word: str, *, is_quoted: bool) -> bool:
    """True if a word looks like a password: two kinds of characters if quoted, else letters and digits."""
    if len(word) < 6 or " " in word or _is_ordinary(word):
        return False
    if is_quoted and len(word) >= 8:
        return not word.isalpha() and not word.isdigit()
    return (_has_both(word) or len(_SIGNS & set(word)) > 1) and not patterns.WORDS.match(word)


def _is_key(word: str, *, is_quoted: bool) -> bool:
    if len(word) < 8 or " " in word or _is_ordinary(word):
        return False
    is_short_key = is_quoted and _has_both(word) and not patterns.WORDS.match(word)
    return is_short_key or _is_random(word, 16) or _is_strong(word)


def _is_mentioned(word: str, kind: str) -> bool:
    """True if a word in a sentence about a credential looks like one."""
    if kind == patterns.PASSWORD:
        return _is_strong(word)
    return (_is_random(word, 20) or _is_generated(word)) and not _is_ordinary(word)


def _is_generated(word: str) -> bool:
    """True if a word can only be a generated password: a sign among letters of both cases and digits that alternate."""
    return _is_strong(word) and _is_mixed(word) and not _SIGNS.isdisjoint(word)


def _is_mixed(word: str) -> bool:
    """True if a word has both cases, and changes often between them and digits."""
    return word.lower() != word and word.upper() != word and _changes(word) >= 0.25 * len(word)


def _is_strong(word: str) -> bool:
    """True if a word can only be a password: letters, digits, and a sign or many changes between them."""
    if not 6 <= len(word) <= _MAX_CHARACTERS or not _has_both(word) or _is_ordinary(word):
        return False
    if patterns.WORDS.match(word) or patterns.ADDRESS.match(word):
        return False
    return _is_mixed(word) or not _SIGNS.isdisjoint(word) or _is_random(word, 16)


def _is_random(word: str, min_length: int) -> bool:
    """True if a word looks random: normal words and versions change less often between letters and digits."""
    digits = sum(map(str.isdigit, word))
    if len(word) < min_length or not 2 <= digits < len(word) - 2 or not patterns.RANDOM.match(word):
        return False
    return _changes(word) >= 0.2 * len(word)


def _changes(word: str) -> int:
    """Count the changes between lower case, upper case and digits."""
    kinds = [char.isdigit() + 2 * char.isupper() for char in word if char.isalnum()]
    return sum(map(ne, kinds, kinds[1:]))


def _has_both(word: str) -> bool:
    """True if a word has a letter and a digit."""
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _is_ordinary(word: str) -> bool:
    """True for a placeholder, a well-known default or a piece of code."""
    # Some tokens have a dot after their prefix, like an attribute.
    is_token = word.count(".") == 1 and _is_random(word, 20)
    return bool(patterns.PLACEHOLDER.match(word) or patterns.CODE.match(word)) and not is_token


# Zero-width and joining characters, soft hyphens, marks of direction, tags, variation selectors.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff"
)
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_DOUBLE, _SINGLE = "\u00ab\u00bb\u201c-\u201f\u2033\u300c\u300d\u300e\u300f", "\u2018-\u201b\u2032\u2039\u203a"
# Letters that look like Latin ones, where they stand beside such.
_CYRILLIC, _LATIN = "АВЕКМНОРСТХаеорсухіјѕ", "ABEKMHOPCTXaeopcyxijs"
_ESCAPED = {
    "quot": '"', "#34": '"', "apos": "'", "#39": "'", "#x27": "'", "amp": "&", "lt": "<", "gt": ">", "3d": "=",
    "3a": ":", "22": '"', "27": "'",
}  # fmt: skip
_DISGUISED = re.compile(
    rf"(?P<invisible>[{_INVISIBLE}]+)|(?P<space>[{_SPACES}])|(?P<double>[{_DOUBLE}])|(?P<single>[{_SINGLE}])"
    rf"|(?P<cyrillic>(?<=[A-Za-z])[{_CYRILLIC}]|[{_CYRILLIC}](?=[{_CYRILLIC}]{{0,9}}[A-Za-z]))"
    r"|(?P<wide>[\uff01-\uff5e])|\\{1,7}(?P<quote>[\"'=])|&(?P<entity>quot|apos|amp|lt|gt|#34|#39|#x27);"
    r"|%(?P<percent>3[DdAa]|2[27])"
)


def plain(text: str) -> str:
    """Return the plain form of a text: what a person takes it for."""
    return _plain(text).text


class _PlainText(NamedTuple):
    """The plain form of a text, and where each of its characters begins in the text, and its end."""

    text: str
    positions: list[int]
    """Empty if the text is plain already."""

    def at(self, position: int) -> int:
        """Return the position in the text of a position in the plain form."""
        return self.positions[position] if self.positions else position


def _plain(text: str) -> _PlainText:
    """Return the plain form of a text."""
    if text.isascii() and not any(mark in text for mark in ("\\", "&", "%")):
        return _PlainText(text, [])
    parts: list[str] = []
    positions: list[int] = []
    end = 0
    for match in _DISGUISED.finditer(text):
        shown = _shown(match)
        parts += (text[end : match.start()], shown)
        positions += range(end, match.start())
        positions += [match.start()] * len(shown)
        end = match.end()
    if not end:
        return _PlainText(text, [])
    return _PlainText("".join([*parts, text[end:]]), [*positions, *range(end, len(text) + 1)])


def _shown(match: re.Match[str]) -> str:
    """Return what a disguised character looks like."""
    kind = match.lastgroup or ""
    if kind == "wide":
        return chr(ord(match[0]) - 0xFEE0)
    if kind == "cyrillic":
        return _LATIN[_CYRILLIC.index(match[0])]
    if kind in ("entity", "percent"):
        return _ESCAPED[match[kind].lower()]
    return {"space": " ", "double": '"', "single": "'", "quote": match["quote"]}.get(kind, "")
