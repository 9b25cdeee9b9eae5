"""What the index holds of a record, and how it gets in and out. Loaded only when a file has changed."""

from __future__ import annotations

import time
from collections.abc import Iterable

from recollect import coldstart, failure_log, files
from recollect.categories import BY_NAME
from recollect.errors import RecollectError
from recollect.freshness import anchors
from recollect.record import summary_line
from recollect.record.fields import Day, ListOf, Object, Text
from recollect.record.memory import LARGEST_FILE, Memory
from recollect.record.schema import content_fields
from recollect.search import candidates, query, refresh, terms
from recollect.search.index import Index
from recollect.store.store import Store

LONGEST_BODY = 1_500
"""Terms of a body that are indexed; a longer one says what it is about before that."""

HOOK_CPU = 0.25
"""Seconds of computing that a hook may spend here: some 300 records; a whole hook stays below 60 bare interpreters."""

MOST_PATHS = 40
_SNIPPET_WORDS = 28
_MOST_IN_CIRCLES = 1_000
"""Records in circles of supersession that are resolved; nobody has so many but who wants to keep us busy."""

_FIELDS = {
    category: [field.name for field in content_fields(category) if isinstance(field.kind, (Text, ListOf, Object))]
    for category in BY_NAME
}
"""The fields of a body, in the order in which they matter."""

_COLUMNS = (
    "path, mtime, size, hash, id, category, title, tags, status, updated_at, expires, void, essence, anchors, facts,"
    " title_terms, tag_terms, trigger_terms, body_terms"
)
_INSERT = f"INSERT INTO record ({_COLUMNS}) VALUES ({','.join('?' * 19)})"
_COUNT = (
    "INSERT INTO term VALUES (?, ?, ?) ON CONFLICT (term)"
    " DO UPDATE SET records = records + excluded.records, titles = titles + excluded.titles"
)
_TOTAL = "UPDATE total SET records = records + ?, title_terms = title_terms + ?, body_terms = body_terms + ?"


class Document(coldstart.NamedTuple):
    """The four analysed fields of a record, each a stream of terms; triggers are separated by a bar."""

    title: str
    tags: str
    triggers: str
    body: str


def replace(index: Index, paths: Iterable[str], deadline: float | None) -> bool:
    """Index the files at some paths as they are now; whether all were done before the deadline."""
    changes = _Changes(index)
    is_complete = True
    most_cpu = time.process_time() + HOOK_CPU
    for path in paths:
        if deadline is not None and (time.monotonic() > deadline or time.process_time() > most_cpu):
            is_complete = False
            break
        changes.renew(path)
    changes.finish()
    return is_complete


def remove(index: Index, paths: Iterable[str]) -> None:
    """Take records out, whatever files there are."""
    changes = _Changes(index)
    for path in paths:
        changes.remove(path)
    changes.finish()


class _Changes:
    """A run of changes, whose effect on the counts of terms is gathered and written once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._execute = index.connection.execute
        self._store = Store(index.root)
        self._terms: dict[str, list[int]] = {}
        self._totals = [0, 0, 0]

    def remove(self, path: str) -> None:
        for row in self._index.rows("WHERE path = ?", (path,)):
            fields = Document(row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)
            if self._index.has_words and row.status != "broken":
                table = _table(row.status)
                # An external-content table can only forget a row if it is told what the row held.
                self._execute(
                    f"INSERT INTO {table} ({table}, rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                    " VALUES ('delete', ?, ?, ?, ?, ?)",
                    (row.n, *fields),
                )
            if row.status == "active":
                self._count(fields, -1)
            for name in ("record", "succession", "place"):
                self._execute(f"DELETE FROM {name} WHERE n = ?", (row.n,))

    def renew(self, path: str) -> None:
        """Put the file at a path in the place of what is indexed of it; where its content is the same, that stays."""
        # The stamp is taken before reading: an edit in between is seen next time, never lost.
        stamp = refresh.stamp(self._index.root, path)
        if stamp is not None:
            indexed = self._execute("SELECT hash FROM record WHERE path = ?", (path,)).fetchone()
            if indexed and indexed[0] and indexed[0] == self._hash(path):
                self._execute("UPDATE record SET mtime = ?, size = ? WHERE path = ?", (*stamp, path))
                return
        self.remove(path)
        if stamp is not None:
            self.add(path, stamp)

    def _hash(self, path: str) -> str:
        try:
            return coldstart.digest(files.read(files.inside(self._index.root, path), LARGEST_FILE + 1))
        except (OSError, RecollectError):
            return ""

    def add(self, path: str, stamp: tuple[int, int]) -> None:
        try:
            memory, _, content = self._store.read(path)
            text, spots = document(memory), places(memory)
            more = (memory.updated_at, _expiry(memory), _is_void(memory), summary_line.of(memory))
            facts = (*more, anchors.compact(memory), pack_facts(memory))
        except Exception as error:
            # Whatever is wrong with one record, the others must be found: everything that could fail comes before here.
            if not isinstance(error, RecollectError):
                failure_log.leave(f"index {path}", f"{type(error).__name__}: {error}")
            self._execute(_INSERT, (path, *stamp, "", "", "", "", "", "broken", *[""] * 10))
            return
        named = (memory.id, memory.category, memory.title, "\n".join(memory.tags), memory.record_status)
        values = (path, *stamp, content, *named, *facts, *text)
        self._insert(memory, self._execute(_INSERT, values).lastrowid, text, spots)

    def _insert(self, memory: Memory, n: int | None, text: Document, spots: list[tuple[str, str, int]]) -> None:
        if self._index.has_words:
            self._execute(
                f"INSERT INTO {_table(memory.record_status)} (rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                " VALUES (?,?,?,?,?)",
                (n, *text),
            )
        if memory.record_status == "active":
            self._count(text, 1)
        many = self._index.connection.executemany
        many("INSERT INTO place VALUES (?, ?, ?, ?)", [(*spot, n) for spot in spots])
        links = [(memory.id, memory.superseded_by)] if memory.superseded_by else []
        links += [(old, memory.id) for old in memory.supersedes]
        many("INSERT INTO succession VALUES (?, ?, ?)", [(old, new, n) for old, new in links if old != new])

    def _count(self, text: Document, step: int) -> None:
        title, body = text.title.split(), text.body.split()
        counts = (1, len(title), len(body))
        self._totals = [total + step * count for total, count in zip(self._totals, counts)]
        in_title = {*title, *text.triggers.split()} - {"|"}
        for term in in_title.union(text.tags.split(), body):
            self._terms.setdefault(term, [0, 0])[0] += step
        for term in in_title:
            self._terms[term][1] += step

    def finish(self) -> None:
        many = self._index.connection.executemany
        many(_COUNT, [(term, *counts) for term, counts in self._terms.items() if counts != [0, 0]])
        fewer = [(term,) for term, counts in self._terms.items() if counts[0] < 0]
        many("DELETE FROM term WHERE term = ? AND records <= 0", fewer)
        self._execute(_TOTAL, self._totals)
        self._note_circles()

    def _note_circles(self) -> None:
        """Note the newest record of each circle of supersessions: it holds, although another claims to replace it."""
        self._execute("DELETE FROM holding")
        links = self._execute("SELECT old, new FROM succession").fetchall()
        for record_id in sorted(in_circles(links))[:_MOST_IN_CIRCLES]:
            rows = self._index.rows("WHERE id = ?", (record_id,))
            if rows and candidates.successors(self._index, rows[:1])[rows[0].n] in rows:
                self._execute("INSERT OR IGNORE INTO holding VALUES (?)", (record_id,))
                # It says itself that it was superseded, as all of the circle do.
                self._execute("UPDATE record SET void = 0 WHERE id = ?", (record_id,))


def in_circles(links: Iterable[tuple[str, str]]) -> set[str]:
    """The ids that lead into a circle of links from old to new, so that following them never ends."""
    successors: dict[str, set[str]] = {}
    predecessors: dict[str, set[str]] = {}
    for old, new in links:
        successors.setdefault(old, set()).add(new)
        predecessors.setdefault(new, set()).add(old)
    ends = [new for new in predecessors if new not in successors]
    while ends:
        end = ends.pop()
        for old in predecessors.get(end, ()):
            successors[old].discard(end)
            if not successors[old]:
                del successors[old]
                ends.append(old)
    return set(successors)


def _table(status: str) -> str:
    return "word" if status == "active" else "past"


def document(memory: Memory) -> Document:
    """The analysed fields of a record."""
    return Document(
        " ".join(terms.stream(memory.title)),
        " ".join(terms.stream(" ".join(memory.tags))),
        " | ".join(" ".join(_topic_terms(trigger)) for trigger in memory.triggers),
        " ".join(terms.stream("\n".join(passages(memory)))[:LONGEST_BODY]),
    )


def _topic_terms(trigger: str) -> list[str]:
    """The terms of a trigger without the words every question has, so that all the others can be asked for."""
    words = terms.words(trigger)
    stop = query.stop_words([word.lower() for word in words])
    return [term for word in words if word.lower() not in stop for term in terms.of_word(word)] or terms.stream(trigger)


def passages(memory: Memory) -> list[str]:
    """The texts of a record's body, and the files it is about."""
    return [*(text for field in _FIELDS[memory.category] for text in _texts(memory.content.get(field))),
            *memory.related_files]  # fmt: skip


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def _expiry(memory: Memory) -> str:
    days = [field.name for field in content_fields(memory.category) if isinstance(field.kind, Day)]
    return next((memory.text(name) for name in days), "")


def _is_void(memory: Memory) -> bool:
    """Whether the record itself says that it no longer holds."""
    field, values = BY_NAME[memory.category].void
    return memory.content.get(field) in values


def pack_facts(memory: Memory) -> str:
    """What a session's start weighs, as one text that `index.unpack_facts` reads."""
    files = [*memory.related_files, *memory.scope.paths][:MOST_PATHS]
    # A record without a confidence stands in the middle of a knowledge bank's scale from 1 to 3.
    confidence = 2.0 if memory.confidence is None else round(min(max(memory.confidence, 0), 1) * 3, 3)
    branches = memory.scope.branches[:MOST_PATHS]
    return coldstart.dumps(
        [memory.times_updated + 1, confidence, files, branches, BY_NAME[memory.category].state(memory)]
    )


def places(memory: Memory) -> list[tuple[str, str, int]]:
    """The files a record is about: a path, folder or glob, the file's bare name, and how grave ignoring it is."""
    category = BY_NAME[memory.category]
    gravity = category.gravity.get(memory.text(category.grade) if category.grade else "")
    if gravity is None or category.state(memory) == "closed":
        return []
    named = (*memory.related_files, *memory.scope.paths, *(anchor.path for anchor in memory.anchors))
    patterns = dict.fromkeys(path.strip().removeprefix("./").rstrip("/") for path in named)
    return [(each, "" if _is_glob(each) else each.rpartition("/")[2], gravity) for each in patterns if each]


def _is_glob(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def snippet(root: str, path: str, asked: frozenset[str], mark: tuple[str, str]) -> str:
    """The passage of a record with the most different terms asked for, each marked; empty if there is none."""
    try:
        memory = Store(root).read(path).memory
    except RecollectError:
        return ""
    best = best_passage(passages(memory), asked)
    return " ".join(
        f"{mark[0]}{word}{mark[1]}" if asked.intersection(terms.stream(word)) else word for word in best.split()
    )


def best_passage(texts: Iterable[str], asked: frozenset[str]) -> str:
    """The stretch of words with the most different terms asked for; empty if none has any."""
    best, most = "", (0, 0)
    for text in texts:
        words = text.split()
        hits = [asked.intersection(terms.stream(word)) for word in words]
        for start in range(0, max(1, len(words) - _SNIPPET_WORDS // 2), _SNIPPET_WORDS // 4):
            inside = hits[start : start + _SNIPPET_WORDS]
            count = (len(frozenset().union(*inside)), sum(map(len, inside)))
            if count > most:
                end = start + _SNIPPET_WORDS
                more = " …" if end < len(words) else ""
                most, best = count, ("… " if start else "") + " ".join(words[start:end]) + more
    return best
