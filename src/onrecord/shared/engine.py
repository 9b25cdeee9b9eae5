"""A sync: what changed in a shared store comes into its replica, and what changed in the replica goes there.

Each round pulls, reconciles file by file, writes the records as one change of the store, notes what is agreed on, and
pushes what differs from that. A push that came too late is answered by another round. Killed at any moment, the next
sync ends with the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from onrecord import files, timestamps
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import BadInput, Offline, OnrecordError
from onrecord.record import memory
from onrecord.shared import incoming, reconcile, sync_base
from onrecord.shared.incoming import Spool
from onrecord.shared.reconcile import Conflict, Reconciled
from onrecord.shared.replicas import Replica, SyncState
from onrecord.shared.sync_base import SyncBase
from onrecord.shared.transport import Push, Pushed, Transport, Version, version_hash
from onrecord.store import history
from onrecord.store.store import Batch, Store

_ROUNDS = 6
"""Times that a push which came too late is tried again; with fifty writers at once two are the rule."""

_TOGETHER = 1_000
"""Files that are written as one change: other writers wait for the lock so long."""

_MOST_GONE = 10
"""Records that may be gone from a replica without a question, or half of all: more were lost rather than deleted."""

_MOST_NOTED = 1_000
"""Files that were not pushed, of which the state keeps the reason."""

_SET_ASIDE = "set-aside"


class SyncResult(NamedTuple):
    """What a sync did, or would do."""

    pulled: tuple[str, ...] = ()
    pushed: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    revived: tuple[str, ...] = ()
    """Deleted on one side and edited on the other: they stay."""
    waiting: tuple[str, ...] = ()
    """Written where somebody has to merge them."""
    outdated: tuple[str, ...] = ()
    """Not pushed, as others kept writing the same records: the next sync tries again."""
    refused: Mapping[str, str] = {}
    """Files that the remote did not take, that we did not take, or that must not leave this machine, and why."""
    note: str = ""
    is_reset: bool = False
    """Whether the remote had lost the state that was last agreed on, so that every file was compared anew."""
    renamed: tuple[RenamedPair, ...] = ()
    """Renamed on one side, and renamed or changed on the other: two records stay."""


class _Decision(NamedTuple):
    """What becomes of one file: the replica's version before and after, and the agreed one before and after."""

    before: bytes
    local: bytes
    agreed: bytes
    base: bytes

    @property
    def is_change(self) -> bool:
        return self.local != self.before or self.base != self.agreed


def sync(replica: Replica, transport: Transport, *, missing: str = "", patience: float | None = None) -> SyncResult:
    """Bring a replica and its remote to the same files; Offline if the remote cannot be reached.

    Where most of the files are gone from the replica, `missing` says what that means: `restore` or `delete`.
    """
    with replica.lock(patience):
        try:
            run = _Run(replica, transport)
            run.recover(missing)
            done = run.sync()
        except OnrecordError as error:
            replica.write_state(_failed(replica.state, error))
            raise
        refused = tuple(sorted((path, why) for path, why in done.refused.items() if path not in run.unreadable))
        state = replica.state._replace(last_sync=timestamps.now(), last_error="", offline_since="")
        replica.write_state(state._replace(note=done.note, refused=refused[:_MOST_NOTED]))
        return done


def preview(replica: Replica, transport: Transport) -> SyncResult:
    """What a sync would do, as far as can be known without doing it; no record is written."""
    with replica.lock():
        run = _Run(replica, transport)
        run.recover()
        return run.preview()


def _failed(state: SyncState, error: OnrecordError) -> SyncState:
    since = (state.offline_since or timestamps.now()) if isinstance(error, Offline) else state.offline_since
    return state._replace(last_error=error.message, offline_since=since)


class _Run:
    """One sync while it goes on."""

    def __init__(self, replica: Replica, transport: Transport) -> None:
        self._replica = replica
        self._transport = transport
        self._store = Store(replica.store)
        self._base = SyncBase(replica.root, replica.base)
        state = replica.state
        self._cursor = state.cursor
        self.unreadable = dict(state.unreadable)
        self._held: dict[str, str] = {}
        self._pulled: dict[str, None] = {}
        self._pushed: dict[str, None] = {}
        self._conflicts: dict[str, Conflict] = {}
        self._revived: dict[str, None] = {}
        self._new_here: dict[str, None] = {}
        """Files that the replica did not have."""
        self._new_there: dict[str, None] = {}
        """Files that the remote did not have."""
        self._is_reset = False

    def recover(self, missing: str = "") -> None:
        """Finish what a killed sync began, and bring a replica back whose folder is gone."""
        files.make_folder(self._replica.root, is_private=True)
        self._store.recover()
        self._base.recover(self._replica.store)
        if missing != "delete":
            self._look_for_lost(is_restored=missing == "restore" or not self._store.exists)

    def _look_for_lost(self, is_restored: bool) -> None:
        """Bring back what is gone; or BadInput if most of the records are: that would delete them for everybody."""
        paths = self._base.paths()
        gone = sorted(paths.difference(sync_base.file_paths(self._replica.store)))
        records, of = (sum(not incoming.is_draft(path) for path in each) for each in (gone, paths))
        if gone and is_restored:
            with self._store.writing(history.SYNC) as batch:
                for path in gone:
                    batch.restore(path, self._base.read(path).decode("utf-8"))
        elif records > max(_MOST_GONE, of // 2):
            raise self._lost(records, of)

    def _lost(self, gone: int, of: int) -> BadInput:
        name = self._replica.name
        return BadInput(
            f"{gone:,} of {of:,} records are gone from the replica of {name}; nothing was synced",
            fix=f"to bring them back: onrecord sync {name} --missing restore; to delete them for everybody: "
            f"onrecord sync {name} --missing delete",
        )

    def sync(self) -> SyncResult:
        last = Pushed()
        for _ in range(_ROUNDS):
            self._pull(last.outdated)
            last = self._push()
            if not last.outdated:
                break
        if self._pushed:
            # The cursor must be past our own changes: a remote that loses them is noticed by that.
            self._pull()
        return self._result(last)

    def preview(self) -> SyncResult:
        with Spool(self._replica.root) as received:
            self._receive(received, self._cursor)
            decided = self._decided(received, is_trial=True)
        ahead = [path for path, each in decided.items() if each.local != each.base]
        changed = [change.path for change in self._outgoing() if change.path not in decided]
        return self._result(Pushed(accepted=tuple(sorted((*ahead, *changed)))))

    def _result(self, last: Pushed) -> SyncResult:
        pushed = tuple(sorted({*self._pushed, *last.accepted}))
        refused = {**self.unreadable, **self._held, **last.refused}
        conflicts = tuple(self._conflicts.values())
        changed = (tuple(self._pulled), pushed, conflicts, tuple(self._revived))
        read = partial(sync_base.read_file, self._replica.store)
        pairs = find_renamed_pairs(self._new_here, self._new_there, self._revived, read)
        return SyncResult(*changed, last.waiting, last.outdated, refused, last.note, self._is_reset, pairs)

    def _pull(self, late: Sequence[str] = ()) -> None:
        """Take what changed; all of it, if what came too late is not in what the cursor leads to."""
        is_first = not self._cursor
        with Spool(self._replica.root) as received:
            self._receive(received, self._cursor)
            is_enough = set(late) <= received.paths
            if is_enough:
                self._take(received, is_first)
        if not is_enough:
            with Spool(self._replica.root) as received:
                self._receive(received, "", late)
                self._take(received, is_first)

    def _receive(self, received: Spool, cursor: str, late: Sequence[str] = ()) -> None:
        """Get what changed since a cursor, and check it; a file that came too late and is not there was deleted."""
        pulled = self._transport.pull(cursor)
        received.fill(pulled.versions)
        seen = received.paths.union(received.refused)
        received.fill(Version(path, b"") for path in late if path not in seen)
        if received.paths and len(received.paths | self._base.paths()) > incoming.MAX_FILES:
            raise incoming.too_large()
        received.is_reset, received.asks_for_review = pulled.is_reset, pulled.asks_for_review
        self._is_reset = self._is_reset or pulled.is_reset
        still = {} if pulled.is_reset or not cursor else self.unreadable
        still = {path: why for path, why in still.items() if path not in received.paths}
        self.unreadable = {**still, **received.refused}
        self._cursor = pulled.cursor

    def _take(self, received: Spool, is_first: bool) -> None:
        """Bring what was received into the replica, and note how far the remote was read."""
        if received.is_reset:
            self._base.forget()
        elif is_first:
            # After the state was lost: what the remote has no more is pushed again.
            self._base.write(dict.fromkeys(self._base.paths() - received.paths, b""))
        versions = iter(received)
        while chunk := list(islice(versions, _TOGETHER)):
            self._write(chunk)
        before = self._replica.state
        state = before._replace(cursor=self._cursor, unreadable=tuple(sorted(self.unreadable.items())))
        state = state._replace(asks_for_review=received.asks_for_review)
        if state != before:
            self._replica.write_state(state)

    def _write(self, versions: Sequence[Version]) -> None:
        """Write what becomes of some files as one change of the store, then what is agreed on."""
        with self._store.writing(history.SYNC) as batch:
            decided = self._decided(versions)
            for path, each in decided.items():
                if each.local != each.before:
                    _put(batch, path, each.local)
            changed = {path: each for path, each in decided.items() if each.is_change}
            steps = [sync_base.make_step(path, each.before, each.local, each.base) for path, each in changed.items()]
            if steps:
                self._base.plan(steps)
        if steps:
            self._base.carry_out(steps)

    def _decided(self, versions: Iterable[Version], *, is_trial: bool = False) -> dict[str, _Decision]:
        """What becomes of each file that the remote has another version of."""
        decided: dict[str, _Decision] = {}
        sent = self._base.read_sent()
        for path, remote, _ in versions:
            now = decided.get(path) or self._now(path, is_trial)
            base = remote if sent.get(path) == remote else now.base
            local = now.local
            if local not in (base, remote) and (flaw := incoming.file_flaw(path, local)):
                # No record and no draft can be made of it, so the remote's version takes its place.
                self._set_aside(path, local, flaw, is_trial)
                local = base
            outcome = reconcile.reconcile(path, base, local, remote)
            decided[path] = now._replace(local=outcome.local, base=outcome.base)
            self._note(path, outcome, now.before)
            if outcome.beside:
                beside, data = outcome.beside
                decided[beside] = (decided.get(beside) or self._now(beside, is_trial))._replace(local=data)
        return decided

    def _now(self, path: str, is_trial: bool) -> _Decision:
        local = sync_base.read_file(self._replica.store, path)
        base = b"" if self._is_reset and is_trial else self._base.read(path)
        return _Decision(local, local, base, base)

    def _note(self, path: str, outcome: Reconciled, before: bytes) -> None:
        if outcome.local != before:
            self._pulled[path] = None
            if not before:
                self._new_here[path] = None
        if outcome.conflict:
            self._conflicts[outcome.conflict.draft] = outcome.conflict
        if outcome.is_revived:
            self._revived[path] = None

    def _set_aside(self, path: str, data: bytes, flaw: str, is_trial: bool) -> None:
        """Keep what was in the replica and can be no record, where nothing reads it."""
        name = os.path.join(self._replica.root, _SET_ASIDE, f"{incoming.stem(path)}-{content_hash(data)[:8]}.json")
        if not is_trial:
            files.write(name, data)
        self._held[path] = f"{flaw}; the remote's version took its place, and this one is in {name}"

    def _push(self) -> Pushed:
        changes = list(self._outgoing())
        if not changes:
            return Pushed()
        self._new_there.update((change.path, None) for change in changes if not change.expected)
        self._base.note_sent({change.path: change.data for change in changes})
        pushed = self._transport.push(changes)
        data = {change.path: change.data for change in changes}
        self._base.write({path: data[path] for path in pushed.accepted})
        self._pushed.update(dict.fromkeys(pushed.accepted))
        self._base.note_answer({path: data[path] for path in pushed.waiting})
        return pushed

    def _outgoing(self) -> Iterator[Push]:
        """What differs from what the remote has, without what must not leave this machine."""
        for path, local, base in self._base.differences(self._replica.store):
            flaw = incoming.file_flaw(path, local)
            if path in self.unreadable:
                flaw = f"the remote's version cannot be used: {self.unreadable[path]}"
            elif not flaw and (leak := incoming.new_secret(local, base)):
                flaw = f"held back: it {leak}"
            if flaw:
                self._held[path] = flaw
            else:
                yield Push(path, local, version_hash(base))


def _put(batch: Batch, path: str, data: bytes) -> None:
    if data:
        batch.restore(path, data.decode("utf-8"))
    else:
        batch.drop(path)


class RenamedPair(NamedTuple):
    """A record that is there twice since it was renamed: its id before, and the paths of both."""

    old: str
    theirs: str
    ours: str


def find_renamed_pairs(
    theirs: Collection[str], ours: Collection[str], revived: Collection[str], read: Callable[[str], bytes]
) -> tuple[RenamedPair, ...]:
    """The records that had the same id before, of the files that are new on a side or that only one side deleted."""
    if not (theirs or revived) or not (ours or revived):
        return ()
    stayed = {incoming.stem(path): path for path in revived}
    our_names = {**stayed, **{old: path for path in ours for old in _earlier(path, read)}}
    their_names = [*((old, path) for path in theirs for old in _earlier(path, read)), *stayed.items()]
    return tuple(
        RenamedPair(old, path, our_names[old]) for old, path in their_names if our_names.get(old, path) != path
    )


def _earlier(path: str, read: Callable[[str], bytes]) -> set[str]:
    """The ids that a record had before; none for a draft, or for a file that is gone or no record by now."""
    data = b"" if incoming.is_draft(path) else read(path)
    if not data or incoming.file_flaw(path, data):
        return set()
    changes = memory.from_json(memory.decode(data, path)).changes
    ids = {change.old for change in changes if change.field == "id" and isinstance(change.old, str)}
    # Others wrote this history, and it is shown to people: only what can be an id counts.
    return {old for old in ids if not incoming.path_flaw(f"{path.rpartition('/')[0]}/{old}.json")}
