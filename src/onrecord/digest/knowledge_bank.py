"""Knowledge banks: what people wrote in Markdown about patterns, anti-patterns and heuristics. Read, never rewritten.

An entry is a `###` heading, prose, and bullets of which some are metadata:

    ### Reading a file while it is written
    The parser saw half a line. Write to a temporary file and rename it.
    - Observation count: 4
    - Confidence: high
    - Last observed: 2026-03-02

No index has the entries: they are searched anew.

What is known about the work is scored apart: the feature, its phase, its first paragraph, the branch, the files. Each
gives every entry a BM25 score, in parts of the best one, and the scores add up without ever taking from each other. So
a longer description brings more lessons, not fewer.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, markdown, paths, state_file
from onrecord.digest.selection import DigestCandidate, Unavailable
from onrecord.search import query, terms
from onrecord.text import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onrecord.digest.work_context import WorkContext

BANKS = {"anti-patterns.md": "anti_pattern", "patterns.md": "pattern", "heuristics.md": "heuristic"}
MAX_BYTES = 1_000_000
MAX_ENTRIES = 2_000
MAX_TEXT_CHARACTERS = 600
_KINDS = ("anti-pattern:", "pattern:", "heuristic:")
_CONFIDENCE = {"high": 3.0, "medium": 2.0, "low": 1.0}
_COUNTS = ("observation count", "observations", "observed", "times observed", "count")
_DATES = ("last observed", "last seen")

MAX_WORDS = 48
"""Words of one signal that are searched for: the time FTS5 takes grows with each."""

TITLE_WEIGHT = 2.0
"""A word in the title of an entry counts as often as this many in its text."""

_LEAST = 1e-9
"""The score of an entry whose words are in every other entry too: it matches, though it says little."""

SIGNALS = {"feature": 0.4, "paragraph": 0.6, "phase": 0.1, "branch": 0.4, "subjects": 0.4, "files": 0.15}
"""How much the best entry for each signal gains by it: `python -m bench banks` compares."""


def folders(project: str) -> list[tuple[str, str, str]]:
    """Return the folders of banks: path, name for the agent and, for the project's, the folder no link may leave."""
    local, shared, older = paths.knowledge_banks(project)
    return [
        *([(local, "docs/knowledge-bank/", project)] if project else []),
        (shared, f"{paths.USER_PREFIX}knowledge-bank/", ""),
        (older, "~/.claude/iflow/memory/", ""),
    ]


def entries(project: str) -> list[DigestCandidate]:
    """Return the entries of the banks of a project and its user; of duplicates, the one observed more often."""
    best: dict[str, DigestCandidate] = {}
    # The banks of a project cannot crowd out those of its user.
    room = {True: MAX_ENTRIES, False: MAX_ENTRIES}
    for folder, source, within in folders(project):
        for name, category in BANKS.items():
            is_local = bool(within)
            text = _read(os.path.join(folder, name), within) if room[is_local] else ""
            bank_entries = parse(text, category, source + name, is_local=is_local)[: room[is_local]] if text else []
            room[is_local] -= len(bank_entries)
            for entry in bank_entries:
                rival = best.get(entry.key)
                if rival is None or entry.observations > rival.observations:
                    best[entry.key] = entry
    return list(best.values())


def parse(text: str, category: str, path: str, *, is_local: bool) -> list[DigestCandidate]:
    """Return the entries of one Markdown text; headings in code and in comments are no entries."""
    sections: list[tuple[str, list[list[str]]]] = []
    is_entry = False
    for line in markdown.prose_lines(text):
        if line.startswith("#") and not line.startswith("####"):
            # Lines under any other heading of this level or above belong to no entry.
            name = _name(line) if line.startswith("### ") else ""
            is_entry = bool(name)
            sections += [(name, [[]])] if name else []
            if len(sections) > MAX_ENTRIES:
                break
        elif is_entry and line.startswith("#"):
            sections[-1][1].append([])
        elif is_entry:
            sections[-1][1][-1].append(line.strip())
    if len(sections) > MAX_ENTRIES:
        state_file.log_failure("knowledge bank", f"{path}: only the first {MAX_ENTRIES} entries are used")
    return [
        _entry(DigestCandidate("", category, name, "", path, is_local, updated=_undated(place)), body)
        for place, (name, body) in enumerate(sections[:MAX_ENTRIES])
    ]


def _undated(place: int) -> str:
    """Return a sort key for an entry without a date: below all dates, later in its file is more recent."""
    return f"0000-{place:09d}"


def _entry(entry: DigestCandidate, sections: list[list[str]]) -> DigestCandidate:
    """Return an entry with what follows its heading: prose, or bullets where there is none yet, and metadata."""
    parts: list[str] = []
    for lines in sections:
        bullets = [(line[2:], _metadata(line[2:])) for line in lines if line[:2] in ("- ", "* ")]
        for _, fields in bullets:
            entry = entry._replace(**fields) if fields else entry
        prose = [line for line in lines if line and line[:2] not in ("- ", "* ")]
        parts += prose or [text.replace("**", "") for text, fields in bullets if fields is None and not parts]
    text = cut(" ".join(" ".join(parts).split()), MAX_TEXT_CHARACTERS)
    # Duplicates are recognised by their description, whatever their case and punctuation.
    plain = " ".join(terms.words((text or entry.title).lower()))
    key = f"bank:{coldstart.content_hash(plain.encode('utf-8', 'replace'))}"
    return entry._replace(key=key, text=f"{entry.title}: {text}" if text else entry.title)


def _metadata(bullet: str) -> dict[str, Any] | None:
    """Return the fields that a bullet sets; None if it is no metadata."""
    key, colon, value = bullet.replace("**", "").replace("__", "").partition(":")
    key, value = " ".join(key.lower().split()), value.strip()
    if colon and key in _COUNTS:
        digits = value.split()[0] if value else ""
        if digits.isascii() and digits.isdigit() and len(digits) < 9:
            return {"observations": max(int(digits), 1)}
        return {} if key == "observation count" else None
    if colon and key == "confidence":
        confidence = _CONFIDENCE.get(value.lower().strip(".*_` "))
        return {"confidence": confidence} if confidence else {}
    if not colon or key not in _DATES:
        return None
    moment = _sortable(value)
    return {"updated": moment} if moment else {}


def _sortable(text: str) -> str:
    """Return a date as it is; a number such as that of `Feature #12` below all dates, in its order."""
    for word in text.replace("(", " ").replace(")", " ").replace(",", " ").split():
        if len(word) >= 10 and word[4:5] == word[7:8] == "-" and word[:4].isdigit() and word[8:10].isdigit():
            return word[:10]
    digits = "".join(char if char.isascii() and char.isdigit() else " " for char in text).split()
    return f"0000-{int(digits[-1][:9]):09d}" if digits else ""


def _name(line: str) -> str:
    name = " ".join(line.lstrip("#").split()).rstrip("# ")
    for kind in _KINDS:
        if name.lower().startswith(kind):
            name = name[len(kind) :].strip()
    return cut(name, 120)


def _read(path: str, within: str) -> str:
    """Return the text of a bank; empty if there is none, or none that may be read."""
    if not os.path.lexists(path):
        return ""
    try:
        if within and not paths.is_within(within, path):
            raise ValueError("leads out of the project")
        data = files.read(path, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES:,} bytes")
        return data.decode("utf-8", "replace").removeprefix("\ufeff")
    except (OSError, ValueError) as error:
        state_file.log_failure("knowledge bank", f"{path}: {error}")
        return ""


def line(entry: DigestCandidate) -> str:
    """Return an entry in one line: its title, or the beginning of what it says where the title is only a topic."""
    from onrecord.record import rule_title

    return rule_title.line(entry.title, entry.text[len(entry.title) :].lstrip(": "))


def relevance(lessons: Sequence[DigestCandidate], work: WorkContext) -> dict[str, float]:
    """Return how relevant entries are to the work, by key, from 0 to 1; those that share no word with it are left out.

    Raises Unavailable. One more signal, or more words in one, never makes the list shorter.
    """
    signals = [(SIGNALS[name], _words(text)) for name, text in work.signals]
    signals = [(weight, words) for weight, words in signals if words]
    if not signals or not lessons:
        return {}
    irrelevance: dict[str, float] = {}
    connection = coldstart.connect(":memory:", isolation_level=None)
    try:
        _fill(connection, lessons)
        for weight, words in signals:
            scores = _scores(connection, words)
            best = max((score for _, score in scores), default=0.0)
            for place, score in scores:
                key = lessons[place].key
                irrelevance[key] = irrelevance.get(key, 1.0) * (1.0 - weight * score / best)
    finally:
        connection.close()
    # The root keeps the order, and lets the best entry for one signal stand beside the best record.
    return {key: (1.0 - value) ** 0.5 for key, value in irrelevance.items()}


def _scores(connection: coldstart.Connection, query_words: Sequence[str]) -> list[tuple[int, float]]:
    """Return the place and the BM25 score of each entry that has one of the words."""
    # Every word is quoted, so that none can be FTS5 syntax.
    any_word = " OR ".join(f'"{word}"' for word in query_words)
    statement = f"SELECT rowid, -bm25(entry, {TITLE_WEIGHT}, 1.0) FROM entry WHERE entry MATCH ?"
    return [(place, max(score, _LEAST)) for place, score in connection.execute(statement, (any_word,))]


def _fill(connection: coldstart.Connection, lessons: Sequence[DigestCandidate]) -> None:
    columns = "title, body, content='', tokenize='porter unicode61'"
    try:
        connection.execute(f"CREATE VIRTUAL TABLE entry USING fts5({columns})")
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise
        raise Unavailable from error
    connection.execute("BEGIN")
    rows = [
        (place, _searchable(lesson.title), _searchable(lesson.text[len(lesson.title) :]))
        for place, lesson in enumerate(lessons)
    ]
    connection.executemany("INSERT INTO entry (rowid, title, body) VALUES (?, ?, ?)", rows)


def _searchable(text: str) -> str:
    """Return text for FTS5, which splits and stems plain text itself; scripts without spaces need our own analysis."""
    return text.replace("\0", " ") if text.isascii() else " ".join(terms.stream(text))


def _words(text: str) -> list[str]:
    words = [word.lower() for word in terms.words(text)]
    stop = query.stop_words(words)
    distinctive = [word for word in dict.fromkeys(words) if word not in stop and query.carries_meaning(word)]
    return [term for word in distinctive for term in ((word,) if word.isascii() else terms.of_word(word))][:MAX_WORDS]
