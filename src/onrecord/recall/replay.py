"""Replay: what would have been shown for prompts that were typed before there was a memory. Nothing is written.

The prompts go through recall as its hook would have sent them: the first of a session with its lower threshold, each
record once a session, a prompt that points back with the words of earlier ones. No model is asked: the prompts are
private.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.paths import StoreRef
from onrecord.recall import for_prompt, selection
from onrecord.recall.candidate import Candidate
from onrecord.recall.for_prompt import Decision, Request
from onrecord.recall.stores import Stores
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.search import index
from onrecord.search.index import Index
from onrecord.session import transcript
from onrecord.session.ledger import Ledger
from onrecord.session.transcript import Prompt, Session
from onrecord.settings import Settings
from onrecord.text import count_tokens

MAX_PROMPTS = 300
"""Prompts of one session that are replayed; of a longer one the last."""


class ReplayTurn(NamedTuple):
    """A prompt, and what would have been decided for it; nothing for a prompt that asks for no records."""

    session: str
    prompt: Prompt
    is_first: bool
    decision: Decision | None = None

    @property
    def outcome(self) -> str:
        """`shown`; `pointed`: only pointers; `denied`: a note in place of records; `repeated`; `silent`; `skipped`.

        Repeated is what the session was shown or pointed to before.
        """
        if self.decision is None:
            return "skipped"
        if self.decision.text:
            return "shown" if self.decision.rules else "pointed" if self.decision.pointers else "denied"
        outcomes = [
            candidate.outcome
            for candidate in self.decision.candidates
            if candidate.outcome != for_prompt.BELOW_THRESHOLD
        ]
        return "repeated" if outcomes and set(outcomes) <= {selection.REPEATED, selection.POINTED} else "silent"

    @property
    def tokens(self) -> int:
        return count_tokens(self.decision.text) if self.decision else 0

    @property
    def nearest(self) -> Candidate | None:
        """The best candidate, if all are below the threshold."""
        candidates = self.decision.candidates if self.decision else ()
        if any(candidate.outcome != for_prompt.BELOW_THRESHOLD for candidate in candidates):
            return None
        return max(candidates, key=lambda candidate: candidate.match.probability, default=None)


class InMemory(Stores):
    """Stores whose indexes are nowhere on disk, each made once."""

    def __init__(self, store_refs: Sequence[StoreRef], project: str, only: str) -> None:
        super().__init__(store_refs, project, only=only)
        self._indexes = {store_ref.root: index.in_memory(store_ref.root) for store_ref in store_refs}

    def open(self, root: str) -> Index:
        return self._indexes[root]

    def close(self, index: Index) -> None:
        """Keep the index open: the next prompt is searched in it, too."""

    def done(self) -> None:
        for store_index in self._indexes.values():
            store_index.close()


def play(
    sessions: Sequence[Session],
    last: int,
    settings: Settings,
    store_refs: Sequence[StoreRef],
    project: str = "",
    *,
    only: str = "",
) -> list[ReplayTurn]:
    """Return what would have been shown for the last prompts of `sessions`; with `only`, of that store alone."""
    with private_folders():
        stores = InMemory(store_refs, project, only)
        try:
            turns = [turn for session in sessions for turn in _turns(session, stores, settings)]
        finally:
            stores.done()
    return _last(turns, last)


@contextmanager
def laid_out(records: Iterable[Memory]) -> Iterator[str]:
    """Yield the root of a temporary store with `records`, for as long as the `with` lasts."""
    with files.temporary_folder("onrecord-try-") as folder:
        root = os.path.join(folder, "memory")
        os.mkdir(root)
        for record in records:
            path = os.path.join(root, *record.path.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(memory.render(record))
        yield root


@contextmanager
def private_folders() -> Iterator[None]:
    """Put temporary folders in place of the user's cache and state, which stay as they are."""
    with files.temporary_folder("onrecord-try-") as folder:
        names = {"ONRECORD_CACHE_DIR": "cache", "ONRECORD_STATE_DIR": "state"}
        with paths.override({name: os.path.join(folder, below) for name, below in names.items()}):
            yield


def _turns(old_session: Session, stores: Stores, settings: Settings) -> Iterator[ReplayTurn]:
    """Yield the prompts of one session, each decided with what those before it were shown."""
    ledger = Ledger("")
    last = ""
    prompts = old_session.prompts[-MAX_PROMPTS:]
    if not old_session.is_whole or len(prompts) < len(old_session.prompts):
        ledger.count_prompt()
    for prompt in prompts:
        turn = ReplayTurn(old_session.name, prompt, ledger.is_first_prompt)
        if not transcript.wants_silence(prompt.text):
            request = Request(prompt.text, ledger.is_first_prompt, last if for_prompt.may_refer(prompt.text) else "")
            ledger.count_prompt()
            decision = for_prompt.decide(stores, request, settings, ledger=ledger, even_if_off=True)
            turn = turn._replace(decision=decision)
        yield turn
        last = prompt.text


def _last(turns: Iterable[ReplayTurn], limit: int) -> list[ReplayTurn]:
    """Return the newest turns, oldest first; a prompt that a resumed session has copied counts where it was first."""
    uuids: set[str] = set()
    distinct_turns: list[ReplayTurn] = []
    for turn in sorted(turns, key=lambda turn: turn.prompt.at):
        if not turn.prompt.uuid or turn.prompt.uuid not in uuids:
            distinct_turns.append(turn)
        uuids.add(turn.prompt.uuid)
    return distinct_turns[-limit:]
