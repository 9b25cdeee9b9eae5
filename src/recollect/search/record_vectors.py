"""The vectors of records, as the index stores them. Loaded only when a record is indexed.

Each record has the vectors of its title, of itself as a whole, of each trigger and of each sentence, and the rows of
its words in the table. The vectors that every prompt is compared with lie together in blocks of records, column by
column, so that a change of one record rewrites one block.
"""

from __future__ import annotations

from array import array

from recollect import coldstart
from recollect.record.memory import Memory
from recollect.search import document, query, vectors
from recollect.search.vector_blocks import BLOCK, PARTS
from recollect.search.vectors import Vectors
from recollect.search.word_table import DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.search.index import Index

MOST_TRIGGERS, MOST_SENTENCES, MOST_WORDS = 16, 12, 160
_SHORTEST_SENTENCE = 15
"""Characters: what is shorter says nothing alone."""

NOTHING = bytes([128]) * DIMENSIONS
"""The vector of a text without words that have one: its product with anything is 0."""


class RecordVectors(coldstart.NamedTuple):
    """What the index stores of a record's meaning."""

    triggers: int
    vectors: bytes
    """Of the title, of the whole record, of the triggers, of the sentences."""
    words: bytes
    """The rows of its words in the table, then the lengths of those rows: two bytes each."""
    topic: bytes
    """The vector of the title and all triggers together."""


def sentences(memory: Memory) -> list[str]:
    """The sentences of a record's content, or its texts where they have none worth a vector."""
    texts = document.content_texts(memory)
    split = [part.strip() for text in texts for part in text.replace("; ", ". ").replace("\n", ". ").split(". ")]
    return [part for part in split if len(part) > _SHORTEST_SENTENCE][:MOST_SENTENCES]


def of(memory: Memory, made: Vectors) -> RecordVectors:
    """The vectors of a record."""
    triggers = memory.triggers[:MOST_TRIGGERS]
    content = " ".join(document.content_texts(memory))
    whole = vectors.words(f"{memory.title} {content}"[:_LONGEST])
    topic = vectors.words(" ".join((memory.title, *triggers))[:_LONGEST])
    texts = (memory.title, *triggers, *sentences(memory))
    title, *rest = (made.of(text[:_LONGEST]) or NOTHING for text in texts)
    joined = b"".join((title, made.of_words(whole) or NOTHING, *rest))
    return RecordVectors(len(triggers), joined, _word_rows(topic + whole, made), made.of_words(topic) or NOTHING)


_LONGEST = 4_000
"""Characters of a text that are made a vector: four times as many as 160 tokens have."""


def _word_rows(words: list[str], made: Vectors) -> bytes:
    """The rows and row lengths of the different words with a topic that the table has as they are."""
    rows = array("H")
    lengths = array("H")
    for word in dict.fromkeys(words):
        if word in query.ENGLISH:
            continue
        row, length = made.row(word)
        if length and len(rows) < MOST_WORDS:
            rows.append(row)
            lengths.append(length)
    return rows.tobytes() + lengths.tobytes()


class Blocks:
    """The changes of a run to the vectors in an index."""

    def __init__(self, index: Index) -> None:
        self._execute = index.connection.execute
        self._changed: dict[int, tuple[bytes, bytes]] = {}
        self._is_used = False
        try:
            self._made: Vectors | None = vectors.shared()
        except (OSError, ValueError):
            self._made = None

    def of(self, memory: Memory) -> RecordVectors | None:
        """The vectors of a record; None where there is no table to make them with."""
        self._is_used = True
        return of(memory, self._made) if self._made else None

    def add(self, n: int, made: RecordVectors | None, *, is_active: bool) -> None:
        """Put in the vectors of a record."""
        if made is None:
            return
        self._execute("INSERT INTO vector VALUES (?, ?, ?, ?)", (n, made.triggers, made.vectors, made.words))
        if is_active:
            self._changed[n] = (made.vectors[DIMENSIONS : 2 * DIMENSIONS], made.topic)

    def remove(self, n: int) -> None:
        self._execute("DELETE FROM vector WHERE n = ?", (n,))
        self._changed[n] = (NOTHING, NOTHING)

    def finish(self) -> None:
        """Write the blocks that have changed, and which table they were made with."""
        for block in sorted({n // BLOCK for n in self._changed}):
            lanes = {n % BLOCK: pair for n, pair in self._changed.items() if n // BLOCK == block}
            for table, start, end in PARTS:
                self._write(table, block, {lane: [v[start:end] for v in pair] for lane, pair in lanes.items()})
        self._changed.clear()
        if self._is_used:
            self._note_table()

    def _write(self, table: str, block: int, lanes: dict[int, list[bytes]]) -> None:
        size = len(next(iter(lanes.values()))[0]) * BLOCK
        row = self._execute(f"SELECT whole, topic FROM {table} WHERE block = ?", (block,)).fetchone()
        whole, topic = map(bytearray, row or (bytes([128]) * size, bytes([128]) * size))
        for lane, (of_whole, of_topic) in lanes.items():
            whole[lane::BLOCK] = of_whole
            topic[lane::BLOCK] = of_topic
        self._execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", (block, bytes(whole), bytes(topic)))

    def _note_table(self) -> None:
        """Note the table that all vectors were made with, or that they were not made with one."""
        identity = self._made.table.identity if self._made else ""
        noted = self._execute("SELECT identity FROM vector_source").fetchone()
        if noted is None or noted[0] != identity:
            self._execute("INSERT OR REPLACE INTO vector_source VALUES (1, ?)", (identity if noted is None else "",))
