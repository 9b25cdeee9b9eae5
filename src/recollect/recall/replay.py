"""Trial: what would have been told for prompts that were typed before there was a memory. Nothing is written.

The prompts are played through recall as its hook would have: the first of a session with its lower bar, each memory
once a session, a prompt that points back with the words of earlier ones. No model is asked: the prompts are private.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from recollect import paths
from recollect.recall import for_prompt
from recollect.recall.for_prompt import Found, Stores
from recollect.record import memory
from recollect.record.memory import Memory
from recollect.search import index, query
from recollect.search.index import Index
from recollect.session import transcript
from recollect.session.ledger import Ledger
from recollect.session.sessions import Prompt, Session
from recollect.settings import Settings
from recollect.text import tokens

MOST_PROMPTS = 300
"""Prompts of one session that are played through; of a longer one the last."""

_LENDING = 3
_OWN = {"RECOLLECT_CACHE_DIR": "cache", "RECOLLECT_STATE_DIR": "state"}

TOLD, KNOWN, HINT, SILENT, SKIPPED = "told", "known", "hint", "silent", "skipped"


class Turn(NamedTuple):
    """A prompt, and what would have come of it."""

    session: str
    prompt: Prompt
    is_first: bool
    outcome: str
    """`told`; `known`: the session was told it before; `hint`; `silent`; `skipped`: nobody wanted memories for it."""

    context: str = ""
    found: tuple[Found, ...] = ()
    borrowed: bool = False
    nearest: Found | None = None
    """What came nearest to being told, where nothing was."""

    @property
    def tokens(self) -> int:
        return tokens(self.context)


class _InMemory(Stores):
    """Stores whose indexes are nowhere on disk, each made once."""

    def __init__(self, project_store: str, user_store: str) -> None:
        super().__init__(project_store, user_store)
        self._indexes = {root: index.in_memory(root) for root, _ in self.places}

    def open(self, root: str, *, hook: bool) -> Index:
        return self._indexes[root]

    def close(self, opened: Index) -> None:
        """They stay open: the next prompt asks them too."""

    def done(self) -> None:
        for opened in self._indexes.values():
            opened.close()


def play(sessions: Sequence[Session], last: int, settings: Settings, *, store: str, user_store: str) -> list[Turn]:
    """What the last prompts of some sessions would have brought up, oldest first."""
    with apart():
        stores = _InMemory(store, user_store)
        try:
            turns = [turn for session in sessions for turn in _Sitting(session, stores, settings).turns()]
        finally:
            stores.done()
    return _last(turns, last)


@contextmanager
def laid_out(records: Iterable[Memory]) -> Iterator[str]:
    """A store that holds some records for as long as it is looked at, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="recollect-try-") as folder:
        root = os.path.join(folder, "memory")
        os.mkdir(root)
        for record in records:
            path = os.path.join(root, *record.path.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(memory.render(record))
        yield root


@contextmanager
def apart() -> Iterator[None]:
    """The user's cache and state stay out of it."""
    with tempfile.TemporaryDirectory(prefix="recollect-try-") as folder:
        variables = {name: os.path.join(folder, below) for name, below in _OWN.items()}
        with paths.override(variables):
            yield


class _Sitting:
    """One session being played: each prompt knows what those before it brought up."""

    def __init__(self, session: Session, stores: Stores, settings: Settings) -> None:
        self._session = session
        self._stores = stores
        self._settings = settings
        self._told = Ledger("")
        self._earlier: list[str] = []

    def turns(self) -> Iterator[Turn]:
        prompts = self._session.prompts[-MOST_PROMPTS:]
        if not self._session.is_whole or len(prompts) < len(self._session.prompts):
            self._told.count_prompt()
        for prompt in prompts:
            yield self._turn(prompt)
            self._earlier.append(prompt.text)

    def _turn(self, prompt: Prompt) -> Turn:
        if transcript.wants_silence(prompt.text):
            return Turn(self._session.name, prompt, self._told.is_first_prompt, SKIPPED)
        settings = self._settings
        first = self._told.is_first_prompt
        self._told.count_prompt()
        borrowed = for_prompt.lent(self._earlier[-_LENDING:]) if query.is_referring(prompt.text) else ""
        found = self._stores.find(prompt.text, settings, borrowed)
        passed = for_prompt.passing(found, settings, first=first)
        is_known = bool(passed) and all(self._told.has_shown(one.record, one.stamp) for one in passed)
        text, shown = for_prompt.tell(passed, self._told, settings, first=first)
        outcome = TOLD if shown else KNOWN if is_known else SILENT
        if not passed and (text := for_prompt.hint(prompt.text)):
            outcome = HINT
        nearest = None if passed else max(found, key=lambda one: one.match.probability, default=None)
        return Turn(self._session.name, prompt, first, outcome, text, tuple(shown), bool(borrowed), nearest)


def _last(turns: Iterable[Turn], most: int) -> list[Turn]:
    """The newest turns, oldest first; a prompt that a resumed session has copied counts where it was first."""
    seen: set[str] = set()
    own: list[Turn] = []
    for turn in sorted(turns, key=lambda turn: turn.prompt.at):
        if not turn.prompt.uuid or turn.prompt.uuid not in seen:
            own.append(turn)
        seen.add(turn.prompt.uuid)
    return own[-most:]
