"""What somebody typed for a record, compared with the names in a store. No record is read: a store may hold 200,000."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from shlex import quote

from onrecord.coldstart import NamedTuple
from onrecord.errors import Ambiguous, NotFound
from onrecord.record import schema
from onrecord.record.schema import shorten
from onrecord.store import record_names

PREFIX, WORDS = "prefix", "words"
_BREAK = re.compile(r"[^0-9a-z]+")
_TITLE_BREAK = re.compile(r"[\W_]+")
_MOST_LISTED = 10
_MOST_SUGGESTED = 3
_ALIKE = 0.7
"""The least similarity of two words, one of which may be the other misspelt: `sesion` and `sessions` have 0.86."""

_SHORTEST, _LONGEST_BEGINNING = 4, 20
"""Letters of a beginning that stands for a whole name in a list."""

_ENOUGH = 0.5
"""The least share of the typed letters that must be found again in a name that is suggested."""


class NameMatch(NamedTuple):
    """The paths that a typed text fits, and how: by the beginning of their names, or by words of them."""

    how: str
    paths: tuple[str, ...]


def match_names(typed: str, paths: Iterable[str]) -> NameMatch:
    """The paths whose names begin with a text; if there are none, those that have all of its words."""
    folder, name, words = _parts(typed)
    named = [(path, name_of(path).lower()) for path in paths if path.startswith(folder)]
    for beginning in filter(None, (name, "-".join(words))):
        begin = tuple(path for path, name in named if name.startswith(beginning))
        if begin:
            return NameMatch(PREFIX, begin)
    if not words:
        return NameMatch("", ())
    having = [(path, _BREAK.split(name)) for path, name in named if all(word in name for word in words)]
    return _with_words(words, having)


def match_titles(typed: str, titles: Iterable[tuple[str, str]]) -> NameMatch:
    """The same by words of the titles: an id has only the first of a long one, and none in a script it cannot spell."""
    folder, name, _ = _parts(typed)
    words = [word for word in _TITLE_BREAK.split(name) if word]
    having = [(path, title.lower()) for path, title in titles if path.startswith(folder)]
    named = [(path, _TITLE_BREAK.split(title)) for path, title in having if all(word in title for word in words)]
    return _with_words(words, named) if words else NameMatch("", ())


def _with_words(words: Collection[str], named: Collection[tuple[str, list[str]]]) -> NameMatch:
    """The paths whose parts have all of some words; a whole word goes before the beginning of one."""
    whole = tuple(path for path, parts in named if set(words).issubset(parts))
    started = tuple(path for path, parts in named if all(_starts(word, parts) for word in words))
    return NameMatch(WORDS, whole or started) if whole or started else NameMatch("", ())


def _starts(word: str, parts: Iterable[str]) -> bool:
    return any(part.startswith(word) for part in parts)


def _parts(typed: str) -> tuple[str, str, list[str]]:
    """The folder that a text restricts its record to, with a slash; the name in it; the words of that."""
    category, slash, name = typed.strip().lower().rpartition("/")
    folder = schema.FOLDERS.get(category, category.rsplit("/", 1)[-1])
    name = name.removesuffix(".json")
    return (f"{folder}/" if slash else ""), name, [word for word in _BREAK.split(name) if word]


def name_of(path: str) -> str:
    """The id in a record's path, or the name in a draft's."""
    return path.rsplit("/", 1)[-1].removesuffix(".json")


def shortest_names(paths: Iterable[str], among: Iterable[str]) -> dict[str, str]:
    """For each of some paths a beginning of its name that fits no other; where that is long or unusual, its short name.

    A beginning ends with a word where there is room for one.
    """
    from bisect import bisect_left

    names = sorted(name_of(path).lower() for path in among)
    result = {}
    for path in paths:
        name = name_of(path)
        at = bisect_left(names, name.lower())
        beside = [*names[max(at - 1, 0) : at], *names[at + 1 : at + 2]]
        beginning = _beginning(name, max((_in_common(name.lower(), other) for other in beside), default=0) + 1)
        is_own = name.lower() not in beside and not beginning.isdigit() and record_names.is_shell_safe(beginning)
        result[path] = beginning if is_own and len(beginning) <= _LONGEST_BEGINNING else record_names.short_name(path)
    return result


def _beginning(name: str, least: int) -> str:
    """A beginning of a name with at least so many letters, up to the end of a word where that is not too long."""
    least = max(least, _SHORTEST)
    whole = f"{name}-".find("-", least)
    return name[: whole if 0 <= whole <= _LONGEST_BEGINNING else least]


def _in_common(name: str, other: str) -> int:
    """How many letters two names have in common at their beginning."""
    return next((at for at, (left, right) in enumerate(zip(name, other)) if left != right), min(len(name), len(other)))


def similar_paths(typed: str, paths: Collection[str]) -> list[str]:
    """The paths whose names have most of a text in them, misspelt words included; three at most, best first."""
    words = _parts(typed)[2]
    named = [(path, name_of(path).lower().split("-")) for path in paths]
    spellings = _spellings(set(words), {part for _, parts in named for part in parts})
    likely = {part for parts in spellings.values() for part in parts}
    scored = []
    for path, parts in named:
        if likely.isdisjoint(parts):
            continue
        similarity = sum(
            len(word) * max((spellings[word].get(part, 0.0) for part in parts), default=0.0) for word in words
        )
        if similarity and similarity >= _ENOUGH * sum(map(len, words)):
            scored.append((-similarity, len(path), path))
    return [path for _, _, path in sorted(scored)[:_MOST_SUGGESTED]]


def _spellings(words: Collection[str], vocabulary: Collection[str]) -> dict[str, dict[str, float]]:
    """For each word those of a vocabulary that it may be meant to be, and how alike the two are."""
    from difflib import SequenceMatcher

    spellings: dict[str, dict[str, float]] = {}
    for word in words:
        likely = spellings[word] = {}
        matcher = SequenceMatcher(b=word, autojunk=False)
        for other in vocabulary:
            shorter, longer = sorted((len(word), len(other)))
            # Letters that one of them has more can be equal to none: no comparison is needed to see that. And hardly
            # anybody misses both the first letter and the last.
            if 2 * shorter < _ALIKE * (shorter + longer) or (word[0] != other[:1] and word[-1] != other[-1:]):
                continue
            matcher.set_seq1(other)
            if matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE:
                likely[other] = matcher.ratio()
    return spellings


def not_found(root: str, typed: str, paths: Collection[str]) -> NotFound:
    """The failure that no record is called so; it names those whose names are nearest."""
    near = [name_of(path) for path in similar_paths(typed, paths)]
    search = f"onrecord search {quote(shorten(typed.replace('-', ' ')))}"
    fix = f"onrecord show {quote(near[0])}; {search}" if near else search
    return NotFound(f"no memory {shorten(typed)!r} in {root}{did_you_mean(near)}", fix=fix)


def did_you_mean(names: list[str]) -> str:
    """The end of a message that offers some names; empty if there are none."""
    return f"; did you mean {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))}?" if names else ""


def ambiguous(typed: str, paths: Collection[str]) -> Ambiguous:
    """The failure that a text fits several records; it lists ten by names that mean one record each."""
    names = [record_names.short_name(path) for path in sorted(paths)]
    message = ambiguity_message(typed, names, "records")
    return Ambiguous(message, fix=f"onrecord show {quote(names[0])}; or type more of the name you mean")


def ambiguity_message(typed: str, names: Sequence[str], what: str) -> str:
    """The message that lists what a text fits, up to ten."""
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return f"{shorten(typed)!r} fits {len(names):,} {what}: {', '.join(names[:_MOST_LISTED])}{more}"
