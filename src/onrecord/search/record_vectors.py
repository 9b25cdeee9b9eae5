"""The vectors of records, as the index stores them. Loaded only when a record is indexed.

Each record has the vectors of its title, of itself as a whole, of each trigger and of each sentence, and the rows of
its words in the table. The vectors that every prompt is compared with lie together in blocks of records, column by
column, so that a change of one record rewrites one block.
"""

from __future__ import annotations

from array import array

from onrecord import coldstart
from onrecord.record.memory import Memory
from onrecord.search import document, query, vectors
from onrecord.search.semantic import BLOCK, PARTS
from onrecord.search.vectors import DIMENSIONS, Vectorizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from onrecord.search.index import Index

MAX_TRIGGERS, MAX_SENTENCES, MAX_WORDS = 16, 12, 64
_MAX_PARTS = 24
"""Sentences of a record that its whole vector is made of: with its title they have no more tokens than can be added."""

_MIN_SENTENCE_CHARACTERS = 15
"""Characters: what is shorter says nothing alone."""

_MAX_TEXT_CHARACTERS, _MAX_LINE_CHARACTERS = 4_000, 500
"""Characters that are read of one text of the content, and of the title or a trigger."""

_MAX_LOOKUPS = 400
"""Words of a record that are looked up one by one."""

NOTHING = bytes([128]) * DIMENSIONS
"""The vector of a text without words that have one: its product with anything is 0."""


class RecordVectors(coldstart.NamedTuple):
    """The vectors of a record, as the index stores them."""

    triggers: int
    vectors: bytes
    """Of the title, of the whole record, of the triggers, of the sentences."""
    words: bytes
    """The rows of its words in the table, then the lengths of those rows: two bytes each."""
    gist: bytes
    """The mean of the vector of the whole record and that of its title with its triggers."""


def build(memory: Memory, vectorizer: Vectorizer) -> RecordVectors:
    """Return the vectors of a record. Each text is summed once; title with triggers and the whole are sums of sums."""
    lines = (memory.title, *document.specific_triggers(memory)[:MAX_TRIGGERS])
    title, *triggers = (vectorizer.words(text[:_MAX_LINE_CHARACTERS]) for text in lines)
    parts = [vectorizer.words(text) for text in sentences(memory)]
    sums = [vectorizer.sum(words) for words in (title, *triggers, *parts)]
    after = len(triggers) + 1
    whole = _stored(sums[:1] + sums[after:])
    texts = (_stored([text]) for text in sums[: after + MAX_SENTENCES])
    joined = b"".join((next(texts), whole, *texts))
    words = list(dict.fromkeys(word for words in (title, *triggers, *parts) for word in words))
    return RecordVectors(
        len(triggers), joined, _word_rows(words[:_MAX_LOOKUPS], vectorizer), _mean(whole, _stored(sums[:after]))
    )


def sentences(memory: Memory) -> list[str]:
    """Return the sentences of a record's content; short ones are joined to the one before."""
    parts: list[str] = []
    for text in document.content_texts(memory):
        for part in text[:_MAX_TEXT_CHARACTERS].replace("; ", ". ").replace("\n", ". ").split(". "):
            if parts and len(part) < _MIN_SENTENCE_CHARACTERS:
                parts[-1] += f" {part}"
            elif part:
                parts.append(part)
    return parts[:_MAX_PARTS]


def _stored(sums: list[tuple[int, int]]) -> bytes:
    lanes = sum([lanes for lanes, _ in sums])
    return vectors.stored(lanes, sum([weight for _, weight in sums])) or NOTHING


def _mean(one_vector: bytes, other_vector: bytes) -> bytes:
    """Return the mean of each two bytes: the bits of both, and half of the bits of one."""
    left_bits, right_bits = int.from_bytes(one_vector, "little"), int.from_bytes(other_vector, "little")
    return ((left_bits & right_bits) + ((left_bits ^ right_bits) >> 1 & _LOW_BITS)).to_bytes(DIMENSIONS, "little")


_LOW_BITS = int.from_bytes(b"\x7f" * DIMENSIONS, "little")


def _word_rows(words: Iterable[str], vectorizer: Vectorizer) -> bytes:
    """Return table rows and lengths of the non-stop words found in the table."""
    whole = vectorizer.whole([word for word in words if word not in query.ENGLISH])[:MAX_WORDS]
    return array("H", [row for row, _ in whole]).tobytes() + array("H", [length for _, length in whole]).tobytes()


class Blocks:
    """The changes of a run to the vectors in an index."""

    def __init__(self, index: Index) -> None:
        self._execute = index._connection.execute
        self._changed: dict[int, bytes] = {}
        self._is_used = False
        try:
            self._vectorizer: Vectorizer | None = vectors.shared()
            self._vectorizer.table.expect_many()
        except (OSError, ValueError):
            self._vectorizer = None

    def build(self, memory: Memory) -> RecordVectors | None:
        """Return the vectors of a record; None without a table."""
        self._is_used = True
        return build(memory, self._vectorizer) if self._vectorizer else None

    def add(self, n: int, record_vectors: RecordVectors | None, *, is_active: bool) -> None:
        """Put in the vectors of a record."""
        if record_vectors is None:
            return
        self._execute(
            "INSERT INTO vector VALUES (?, ?, ?, ?)",
            (n, record_vectors.triggers, record_vectors.vectors, record_vectors.words),
        )
        if is_active:
            self._changed[n] = record_vectors.gist

    def remove(self, n: int) -> None:
        self._execute("DELETE FROM vector WHERE n = ?", (n,))
        self._changed[n] = NOTHING

    def finish(self) -> None:
        """Write the blocks that have changed, and which table they were made with."""
        for block in sorted({n // BLOCK for n in self._changed}):
            lanes = {n % BLOCK: gist for n, gist in self._changed.items() if n // BLOCK == block}
            for table, start, end in PARTS:
                self._write(table, block, {lane: gist[start:end] for lane, gist in lanes.items()})
        self._changed.clear()
        if self._is_used:
            self._note_table()

    def _write(self, table: str, block_number: int, lanes: dict[int, bytes]) -> None:
        row = self._execute(f"SELECT gists FROM {table} WHERE block = ?", (block_number,)).fetchone()
        gists = bytearray(row[0] if row else bytes([128]) * len(next(iter(lanes.values()))) * BLOCK)
        for lane, gist in lanes.items():
            gists[lane::BLOCK] = gist
        self._execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (block_number, bytes(gists)))

    def _note_table(self) -> None:
        """Note the table that all vectors were made with, or that they were not made with one."""
        identity = self._vectorizer.table.hash if self._vectorizer else ""
        stored_hash = self._execute("SELECT identity FROM vector_source").fetchone()
        if stored_hash is None or stored_hash[0] != identity:
            self._execute(
                "INSERT OR REPLACE INTO vector_source VALUES (1, ?)", (identity if stored_hash is None else "",)
            )
