"""The content of a record for the index: its analysed text, the files it is about, and the facts a digest weighs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence

from onrecord import coldstart, globs, scopes
from onrecord.categories import CATEGORIES
from onrecord.errors import OnrecordError
from onrecord.record import check, naming, rule_title, summary_line
from onrecord.record.memory import Memory
from onrecord.record.schema import ListOf, Object, Text, content_fields, max_items
from onrecord.search import query, terms
from onrecord.store.store import Store

MAX_BODY_TERMS = 1_500
"""Terms of a body that are indexed; a longer one says what it is about before that."""

MAX_EVERYDAY_TRIGGERS = 1
"""Triggers of everyday words, none of them its own, that a record with other triggers may have: people write one."""

MAX_STRANGE_TRIGGERS = 5
"""Triggers that may share no word with each other or with the rest of the record."""

MAX_SEPARATE_TRIGGERS = 8
"""Triggers that may share no word with each other, whatever the record says: its text may be written for them."""

_DIGITS_OF_A_CODE = 3
"""A shorter number is a count or the name of a task; `429` and `504` are what an error says."""

_MAX_OWN_CHARACTERS = 4_000
"""Characters of a record's own text that are compared with its triggers."""

MAX_PATHS = 40
MAX_CHANGES = max_items("changes")
"""Updates that count for prominence: as many as a record can show."""

_SNIPPET_WORDS = 28
_MAX_AREAS = 6

_FIELDS = {
    category: [field.name for field in content_fields(category) if isinstance(field.kind, (Text, ListOf, Object))]
    for category in CATEGORIES
}
"""The fields of a body, in the order in which they matter."""


class Document(coldstart.NamedTuple):
    """The four analysed fields of a record, each a stream of terms; triggers are separated by a bar."""

    title: str
    tags: str
    triggers: str
    body: str


def build(memory: Memory) -> Document:
    """Return the analysed fields of a record."""
    specific = specific_triggers(memory)
    others = [trigger for trigger in memory.triggers if trigger not in specific]
    return Document(
        " ".join(terms.field(memory.title)),
        " ".join(terms.field(" ".join(memory.tags))),
        " | ".join(" ".join(_topic_terms(trigger)) for trigger in specific),
        # Of a trigger that fits any prompt, the words count no more than those of the body.
        " ".join(terms.field("\n".join((*passages(memory), *others)))[:MAX_BODY_TERMS]),
    )


def specific_triggers(memory: Memory) -> tuple[str, ...]:
    """Return the triggers that say what the record is about; the others count no more than the rest of its text.

    A prompt that is a trigger word for word is sure to show the record. So a trigger of everyday words, which people
    type about anything, counts only where the record's own words say one of them, or where it is the only such trigger
    among others. And triggers about many different things say of none of them that the record is about it.
    """
    words_by_trigger = {trigger: _content(trigger) for trigger in memory.triggers if not naming.is_generic(trigger)}
    own = _own_words(memory) if words_by_trigger else frozenset()
    if are_about_anything(list(words_by_trigger.values()), own):
        return ()
    everyday = _everyday()
    guessed = [
        trigger for trigger, words in words_by_trigger.items() if everyday.issuperset(words) and words.isdisjoint(own)
    ]
    if len(guessed) <= MAX_EVERYDAY_TRIGGERS and len(words_by_trigger) > len(guessed):
        return tuple(words_by_trigger)
    return tuple(trigger for trigger in words_by_trigger if trigger not in guessed)


def trigger_note(memory: Memory) -> str:
    """Return the note on triggers that count no more than the rest of the record; empty if all count."""
    specific = specific_triggers(memory)
    triggers = [trigger for trigger in memory.triggers if not naming.is_generic(trigger)]
    if triggers and not specific and are_about_anything(list(map(_content, triggers)), _own_words(memory)):
        return "its triggers are about many different things, so none is matched as such: keep those about its title"
    return naming.note_on_generic([trigger for trigger in memory.triggers if trigger not in specific])


def are_about_anything(trigger_words: Sequence[frozenset[str]], own_words: frozenset[str]) -> bool:
    """True if so many triggers share no word, with each other or with the record itself, that they guess prompts.

    Of 1,655 records of 31 sets, with three to ten triggers each, none comes to either limit.
    """
    strange = [words for words in trigger_words if words.isdisjoint(own_words)]
    return _apart(strange) > MAX_STRANGE_TRIGGERS or _apart(trigger_words) > MAX_SEPARATE_TRIGGERS


def _apart(trigger_words: Iterable[frozenset[str]]) -> int:
    """Return how many of the triggers share no word with one another, taking the shortest first."""
    seen: set[str] = set()
    number = 0
    for words in sorted(trigger_words, key=len):
        if words and seen.isdisjoint(words):
            seen |= words
            number += 1
    return number


def _content(trigger: str) -> frozenset[str]:
    return frozenset(
        term
        for term in _topic_terms(trigger)
        if not (term.isdigit() and len(term) < _DIGITS_OF_A_CODE) and terms.JOINED not in term
    )


def _own_words(memory: Memory) -> frozenset[str]:
    """Return the words of a record besides its triggers."""
    text = "\n".join((memory.title, *memory.tags, *passages(memory)))
    return frozenset(terms.stream(text[:_MAX_OWN_CHARACTERS]))


@functools.cache
def _everyday() -> frozenset[str]:
    return frozenset(terms.stream(" ".join((*naming.GENERIC, *naming.EVERYDAY))))


def _topic_terms(trigger: str) -> list[str]:
    """Return the terms of a trigger without the words that every question has."""
    stop = query.stop_words([word.lower() for word in terms.words(trigger)])
    return terms.field(trigger, stop) or terms.field(trigger)


def passages(memory: Memory) -> list[str]:
    """Return the texts of a record's body, and the files it is about."""
    return [*content_texts(memory), *memory.related_files]


def content_texts(memory: Memory) -> list[str]:
    """Return the texts of a record's body."""
    return [text for field in _FIELDS[memory.category] for text in _texts(memory.content.get(field))]


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


class InMap(coldstart.NamedTuple):
    """The line of a record in the map at session start, and the facts by which it is chosen."""

    rule_line: str
    mark: str
    """What is not plain about it: that it is only proposed, or how severe it is."""
    areas: str
    """Its tags, or the folder of its first file if it has none, a line each."""
    standing: int
    """How much it counts by itself, from 0 to 3."""


def in_map(memory: Memory) -> InMap:
    """Return what the map says of a record."""
    marks = summary_line.marks(memory)
    folders = [path.partition("/")[0] for path in memory.related_files if "/" in path]
    areas = "\n".join(memory.tags[:_MAX_AREAS] or folders[:1])
    return InMap(rule_title.of_record(memory), ", ".join(marks), areas, round(_confidence(memory)))


def _confidence(memory: Memory) -> float:
    """Return how much a record counts, from 0 to 3: by its severity or strength, or else by its own confidence."""
    category = CATEGORIES[memory.category]
    severity = category.standing.get(memory.text(category.severity_field)) if category.severity_field else None
    if severity is not None:
        return float(severity)
    # A record without a confidence is in the middle of a knowledge bank's scale from 1 to 3.
    return 2.0 if memory.confidence is None else round(min(max(memory.confidence, 0), 1) * 3, 3)


def pack_facts(memory: Memory) -> str:
    """Return the facts that a digest weighs, as one text that `index.unpack_facts` reads."""
    files = [*memory.related_files, *memory.scope.paths][:MAX_PATHS]
    confidence = _confidence(memory)
    branches = memory.scope.branches[:MAX_PATHS]
    return coldstart.dumps(
        [
            min(memory.times_updated, MAX_CHANGES) + 1,
            confidence,
            files,
            branches,
            CATEGORIES[memory.category].open_state(memory),
        ]
    )


def pack_scope(memory: Memory) -> str:
    """Return the scope of a record as one text that `scopes.unpack` reads."""
    return scopes.pack(memory.scope)


def places(memory: Memory) -> list[tuple[str, str, int]]:
    """Return the files a record is about: a path, folder or glob, the bare file name, and how grave ignoring it is."""
    category = CATEGORIES[memory.category]
    gravity = category.severity_rank.get(memory.text(category.severity_field) if category.severity_field else "")
    if gravity is None or category.open_state(memory) == "closed":
        return []
    paths = (*memory.related_files, *memory.scope.paths, *(anchor.path for anchor in memory.anchors))
    patterns = dict.fromkeys(path.strip().removeprefix("./").rstrip("/") for path in paths)
    return [(path, "" if globs.is_pattern(path) else path.rpartition("/")[2], gravity) for path in patterns if path]


def checks(memory: Memory) -> list[tuple[str, int, str]]:
    """Return the sound checks of an active record: a word of which an action must have one, 1 if firm, and the check.

    One that could never be broken, always is, or disagrees with its examples is left out: a hand may have written it.
    """
    if memory.record_status != "active":
        return []
    is_firm = int(memory.content.get("status") != "proposed")
    return [(word, is_firm, check.pack(one)) for one in check.sound(memory.checks) for word in check.key_words(one)]


def snippet(root: str, path: str, query_terms: frozenset[str], mark: tuple[str, str]) -> str:
    """Return the passage of a record with the most query terms, each marked; empty if there is none."""
    try:
        memory = Store(root).read(path).memory
    except OnrecordError:
        return ""
    return marked(memory, query_terms, mark)


def marked(memory: Memory, query_terms: frozenset[str], mark: tuple[str, str]) -> str:
    """Return the same for a record that is in no file."""
    best = best_passage(passages(memory), query_terms)
    return " ".join(_marked_word(word, query_terms, mark) for word in best.split())


def _marked_word(word: str, query_terms: frozenset[str], mark: tuple[str, str]) -> str:
    """Return a word marked if it has a query term; of a script without spaces, mark the characters of the terms."""
    if not query_terms.intersection(_spellings(word)):
        return word
    if not any(map(terms.is_unspaced, word)):
        return f"{mark[0]}{word}{mark[1]}"
    parts = []
    for is_unspaced, run in terms.script_runs(word):
        starts = [at for at in range(len(run) - 1) if is_unspaced and run[at : at + 2] in query_terms]
        is_hit = not is_unspaced and query_terms.intersection(_spellings(run))
        hits = {at + step for at in starts for step in (0, 1)} or (range(len(run)) if is_hit else ())
        for is_marked, characters in itertools.groupby(range(len(run)), lambda at, hits=hits: at in hits):  # type: ignore[misc]
            text = "".join(run[at] for at in characters)
            parts.append(f"{mark[0]}{text}{mark[1]}" if is_marked else text)
    # A form that only the index unifies, such as katakana of half width, is marked as a whole.
    return "".join(parts) if any(part.startswith(mark[0]) for part in parts) else f"{mark[0]}{word}{mark[1]}"


def _spellings(word: str) -> list[str]:
    """Return the terms of a word, and the joined words of its names."""
    return [term.lstrip(terms.JOINED) for term in terms.field(word)]


def best_passage(texts: Iterable[str], query_terms: frozenset[str]) -> str:
    """Return the stretch of words with the most query terms; empty if none has any."""
    best, most = "", (0, 0)
    for text in texts:
        words = text.split()
        hits = [query_terms.intersection(_spellings(word)) for word in words]
        for start in range(0, max(1, len(words) - _SNIPPET_WORDS // 2), _SNIPPET_WORDS // 4):
            inside = hits[start : start + _SNIPPET_WORDS]
            count = (len(frozenset().union(*inside)), sum(map(len, inside)))
            if count > most:
                end = start + _SNIPPET_WORDS
                more = " …" if end < len(words) else ""
                most, best = count, ("… " if start else "") + " ".join(words[start:end]) + more
    return best
