"""Resolves the text that a user types for a record, by comparing it with the names in a store.

No record is read: a store may have 200,000.
"""

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
_MAX_LISTED = 10
_MAX_SUGGESTED = 3
_MIN_SIMILARITY = 0.7
"""Similarity at which one word may be a misspelling of the other: that of `sesion` and `sessions` is 0.86."""

_MIN_BEGINNING, _MAX_BEGINNING = 4, 20
"""Characters of a shortened name: the beginning that is shown in place of the whole name."""

_MIN_SHARE = 0.5
"""Share of the typed letters that a suggested name must contain."""


class NameMatch(NamedTuple):
    """The paths that match a text, and how: by the beginning of their names (`PREFIX`) or by words (`WORDS`)."""

    how: str
    paths: tuple[str, ...]


def match_names(text: str, paths: Iterable[str]) -> NameMatch:
    """Return the paths whose names begin with `text`, or else those that have all of its words."""
    folder, name, words = _parts(text)
    names = [(path, name_of(path).lower()) for path in paths if path.startswith(folder)]
    for prefix in filter(None, (name, "-".join(words))):
        matches = tuple(path for path, name in names if name.startswith(prefix))
        if matches:
            return NameMatch(PREFIX, matches)
    if not words:
        return NameMatch("", ())
    split_names = [(path, _BREAK.split(name)) for path, name in names if all(word in name for word in words)]
    return _match_words(words, split_names)


def match_titles(text: str, titles: Iterable[tuple[str, str]]) -> NameMatch:
    """Return the paths whose titles have all words of `text`.

    Titles find more than ids do: an id lacks the last words of a long title, and all words that are not in ASCII.
    """
    folder, name, _ = _parts(text)
    words = [word for word in _TITLE_BREAK.split(name) if word]
    in_folder = [(path, title.lower()) for path, title in titles if path.startswith(folder)]
    split_titles = [
        (path, _TITLE_BREAK.split(title)) for path, title in in_folder if all(word in title for word in words)
    ]
    return _match_words(words, split_titles) if words else NameMatch("", ())


def _match_words(words: Collection[str], split_names: Collection[tuple[str, list[str]]]) -> NameMatch:
    """Return the paths whose names have all `words` as whole words, or else as beginnings of words."""
    whole = tuple(path for path, parts in split_names if set(words).issubset(parts))
    begun = tuple(path for path, parts in split_names if all(_starts_part(word, parts) for word in words))
    return NameMatch(WORDS, whole or begun) if whole or begun else NameMatch("", ())


def _starts_part(word: str, parts: Iterable[str]) -> bool:
    return any(part.startswith(word) for part in parts)


def _parts(text: str) -> tuple[str, str, list[str]]:
    """Split `text` into the folder with its slash, which may be empty, the name, and the words of the name."""
    category, slash, name = text.strip().lower().rpartition("/")
    folder = schema.FOLDERS.get(category, category.rsplit("/", 1)[-1])
    name = name.removesuffix(".json")
    return (f"{folder}/" if slash else ""), name, [word for word in _BREAK.split(name) if word]


def name_of(path: str) -> str:
    """Return the id in a record's path, or the name in a draft's."""
    return path.rsplit("/", 1)[-1].removesuffix(".json")


def shortest_names(paths: Iterable[str], among: Iterable[str]) -> dict[str, str]:
    """Return for each path the shortest beginning of its name that is unique `among` all paths.

    A beginning ends with a whole word if possible. If it would be long or unsafe in a shell, the record's short name is
    returned instead.
    """
    from bisect import bisect_left

    names = sorted(name_of(path).lower() for path in among)
    result = {}
    for path in paths:
        name = name_of(path)
        position = bisect_left(names, name.lower())
        neighbours = [*names[max(position - 1, 0) : position], *names[position + 1 : position + 2]]
        beginning = _beginning(name, max((_common_length(name.lower(), other) for other in neighbours), default=0) + 1)
        is_usable = name.lower() not in neighbours and not beginning.isdigit() and record_names.is_shell_safe(beginning)
        result[path] = beginning if is_usable and len(beginning) <= _MAX_BEGINNING else record_names.short_name(path)
    return result


def _beginning(name: str, minimum: int) -> str:
    """Return at least the first `minimum` characters of `name`, and the rest of the word if that is not too long."""
    minimum = max(minimum, _MIN_BEGINNING)
    word_end = f"{name}-".find("-", minimum)
    return name[: word_end if 0 <= word_end <= _MAX_BEGINNING else minimum]


def _common_length(name: str, other: str) -> int:
    """Return the length of the common beginning of two names."""
    differing = (position for position, (a, b) in enumerate(zip(name, other)) if a != b)
    return next(differing, min(len(name), len(other)))


def similar_paths(text: str, paths: Collection[str]) -> list[str]:
    """Return up to three paths whose names contain most of `text`, best first; words may be misspelt."""
    words = _parts(text)[2]
    names = [(path, name_of(path).lower().split("-")) for path in paths]
    spellings = _spellings(set(words), {part for _, parts in names for part in parts})
    likely = {part for parts in spellings.values() for part in parts}
    scores = []
    for path, parts in names:
        if likely.isdisjoint(parts):
            continue
        similarity = sum(
            len(word) * max((spellings[word].get(part, 0.0) for part in parts), default=0.0) for word in words
        )
        if similarity and similarity >= _MIN_SHARE * sum(map(len, words)):
            scores.append((-similarity, len(path), path))
    return [path for _, _, path in sorted(scores)[:_MAX_SUGGESTED]]


def _spellings(words: Collection[str], vocabulary: Collection[str]) -> dict[str, dict[str, float]]:
    """Return for each word the words of `vocabulary` that it may be a misspelling of, with their similarity."""
    from difflib import SequenceMatcher

    spellings: dict[str, dict[str, float]] = {}
    for word in words:
        likely = spellings[word] = {}
        matcher = SequenceMatcher(b=word, autojunk=False)
        for other in vocabulary:
            shorter, longer = sorted((len(word), len(other)))
            # Skips the comparison if the lengths alone rule it out, or if both the first and the last letter differ,
            # which is rare in a misspelling.
            if 2 * shorter < _MIN_SIMILARITY * (shorter + longer) or (word[0] != other[:1] and word[-1] != other[-1:]):
                continue
            matcher.set_seq1(other)
            if matcher.quick_ratio() >= _MIN_SIMILARITY and matcher.ratio() >= _MIN_SIMILARITY:
                likely[other] = matcher.ratio()
    return spellings


def not_found(root: str, text: str, paths: Collection[str]) -> NotFound:
    """Return the error for a `text` that matches no record; it suggests records with similar names."""
    names = [name_of(path) for path in similar_paths(text, paths)]
    search = f"onrecord search {quote(shorten(text.replace('-', ' ')))}"
    fix = f"onrecord show {quote(names[0])}; {search}" if names else search
    return NotFound(f"no record {shorten(text)!r} in {root}{did_you_mean(names)}", fix=fix)


def did_you_mean(names: list[str]) -> str:
    """Return the end of a message that suggests `names`; empty if there are none."""
    return f"; did you mean {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))}?" if names else ""


def ambiguous(text: str, paths: Collection[str]) -> Ambiguous:
    """Return the error for a `text` that matches several records; it lists up to ten by their short names."""
    names = [record_names.short_name(path) for path in sorted(paths)]
    message = ambiguity_message(text, names, "records")
    return Ambiguous(message, fix=f"onrecord show {quote(names[0])}; or type more of the name you mean")


def ambiguity_message(text: str, names: Sequence[str], what: str) -> str:
    """Return the message that lists up to ten of the names that `text` matches."""
    rest = f" and {len(names) - _MAX_LISTED:,} more" if len(names) > _MAX_LISTED else ""
    return f"{shorten(text)!r} matches {len(names):,} {what}: {', '.join(names[:_MAX_LISTED])}{rest}"
