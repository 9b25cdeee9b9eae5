"""The sync of a replica with its remote: pull what changed there, push what changed here.

Each round pulls, reconciles file by file, writes the records as one change of the store, updates the sync base, and
pushes what differs from it. If others pushed first, another round follows. A sync may be killed at any moment: the
next one ends with the same files.
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
from onrecord.store.store import Store

_ROUNDS = 6
"""Rounds of one sync; with fifty writers at once most need two."""

_FILES_PER_CHANGE = 1_000
"""Files that are written as one change: other writers wait for the lock meanwhile."""

_MAX_MISSING_RECORDS = 10
"""Records, or half of all, that may be missing from a replica. If more are missing, they were lost, not deleted."""

_MAX_REFUSED_FILES = 1_000
"""Files that were not pushed whose reason is kept in the state."""

_SET_ASIDE = "set-aside"


class SyncResult(NamedTuple):
    """The result of a sync, or of its preview."""

    pulled: tuple[str, ...] = ()
    pushed: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    revived: tuple[str, ...] = ()
    """Deleted on one side and edited on the other: kept."""
    waiting: tuple[str, ...] = ()
    """Written where a person has to merge them."""
    outdated: tuple[str, ...] = ()
    """Not pushed because others kept writing the same records: the next sync tries again."""
    refused: Mapping[str, str] = {}
    """Files that the remote refused, that we refused, or that must not leave this machine, with the reason."""
    note: str = ""
    is_reset: bool = False
    """True if the remote had lost the last synced state, so that every file was compared again."""
    renamed: tuple[RenamedPair, ...] = ()
    """Renamed on one side, and renamed or changed on the other: both records are kept."""


class _Decision(NamedTuple):
    """The change to one file: the replica's version before and after, and the base version before and after."""

    old_local: bytes
    local: bytes
    old_base: bytes
    base: bytes

    @property
    def is_change(self) -> bool:
        return self.local != self.old_local or self.base != self.old_base


def sync(replica: Replica, transport: Transport, *, missing: str = "", patience: float | None = None) -> SyncResult:
    """Bring a replica and its remote to the same files. Raises Offline if the remote cannot be reached.

    If most files are missing from the replica, `missing` says what to do: `restore` or `delete`.
    """
    with replica.lock(patience):
        try:
            run = _Run(replica, transport)
            run.recover(missing)
            result = run.sync()
        except OnrecordError as error:
            replica.write_state(_failed(replica.state, error))
            raise
        refused = tuple(sorted((path, reason) for path, reason in result.refused.items() if path not in run.unreadable))
        state = replica.state._replace(last_sync=timestamps.now(), last_error="", offline_since="")
        replica.write_state(state._replace(note=result.note, refused=refused[:_MAX_REFUSED_FILES]))
        return result


def preview(replica: Replica, transport: Transport) -> SyncResult:
    """Return what a sync would do, as far as that is known in advance; write no record."""
    with replica.lock():
        run = _Run(replica, transport)
        run.recover()
        return run.preview()


def _failed(sync_state: SyncState, error: OnrecordError) -> SyncState:
    since = sync_state.offline_since
    if isinstance(error, Offline):
        since = since or timestamps.now()
    return sync_state._replace(last_error=error.message, offline_since=since)


class _Run:
    """One sync in progress."""

    def __init__(self, replica: Replica, transport: Transport) -> None:
        self._replica = replica
        self._transport = transport
        self._store = Store(replica.store)
        self._base = SyncBase(replica)
        state = replica.state
        self._cursor = state.cursor
        self.unreadable = dict(state.unreadable)
        self._refused_here: dict[str, str] = {}
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
        """Finish what a killed sync began, and restore a replica whose folder is gone."""
        for folder in (self._replica.root, self._replica.base):
            files.make_folder(folder, is_private=True)
        self._store.recover()
        self._base.recover(self._replica.store)
        if missing != "delete":
            self._handle_missing(should_restore=missing == "restore" or not self._store.exists)

    def _handle_missing(self, should_restore: bool) -> None:
        """Restore missing files. Raises BadInput if most records are missing: a sync would delete them for everyone."""
        paths = self._base.paths()
        missing = sorted(paths.difference(sync_base.file_paths(self._replica.store)))
        count, total = (sum(not incoming.is_draft(path) for path in group) for group in (missing, paths))
        if missing and should_restore:
            with self._store.writing(history.SYNC) as batch:
                for path in missing:
                    batch.restore(path, self._base.read(path).decode("utf-8"))
        elif count > max(_MAX_MISSING_RECORDS, total // 2):
            raise self._most_missing(count, total)

    def _most_missing(self, count: int, total: int) -> BadInput:
        name = self._replica.name
        return BadInput(
            f"{count:,} of {total:,} records are missing from the replica of {name}; nothing was synced",
            fix=f"to restore them: onrecord sync {name} --missing restore; to delete them for everyone: "
            f"onrecord sync {name} --missing delete",
        )

    def sync(self) -> SyncResult:
        pushed = Pushed()
        for _ in range(_ROUNDS):
            self._pull(pushed.outdated)
            pushed = self._push()
            if not pushed.outdated:
                break
        if self._pushed:
            # The cursor must be past our own changes, so that a remote that loses them is noticed.
            self._pull()
        return self._result(pushed)

    def preview(self) -> SyncResult:
        with Spool(self._replica.root) as received:
            self._receive(received, self._cursor)
            decisions = self._decide(received, is_trial=True)
        ahead = [path for path, decision in decisions.items() if decision.local != decision.base]
        unpulled = [change.path for change in self._outgoing() if change.path not in decisions]
        return self._result(Pushed(accepted=tuple(sorted((*ahead, *unpulled)))))

    def _result(self, pushed: Pushed) -> SyncResult:
        refused = {**self.unreadable, **self._refused_here, **pushed.refused}
        read = partial(sync_base.read_file, self._replica.store)
        pairs = find_renamed_pairs(self._new_here, self._new_there, self._revived, read)
        return SyncResult(
            pulled=tuple(self._pulled),
            pushed=tuple(sorted({*self._pushed, *pushed.accepted})),
            conflicts=tuple(self._conflicts.values()),
            revived=tuple(self._revived),
            waiting=pushed.waiting,
            outdated=pushed.outdated,
            refused=refused,
            note=pushed.note,
            is_reset=self._is_reset,
            renamed=pairs,
        )

    def _pull(self, outdated: Sequence[str] = ()) -> None:
        """Pull what changed; pull everything if the `outdated` paths are not among the changes."""
        is_first = not self._cursor
        with Spool(self._replica.root) as received:
            self._receive(received, self._cursor)
            is_enough = set(outdated) <= received.paths
            if is_enough:
                self._take(received, is_first)
        if not is_enough:
            with Spool(self._replica.root) as received:
                self._receive(received, "", outdated)
                self._take(received, is_first)

    def _receive(self, received: Spool, cursor: str, outdated: Sequence[str] = ()) -> None:
        """Pull and check what changed since `cursor`; an `outdated` file that is not there was deleted."""
        pulled = self._transport.pull(cursor)
        received.fill(pulled.versions)
        present = received.paths.union(received.refused)
        received.fill(Version(path, b"") for path in outdated if path not in present)
        if received.paths and len(received.paths | self._base.paths()) > incoming.MAX_FILES:
            raise incoming.too_large()
        received.is_reset, received.asks_for_review = pulled.is_reset, pulled.asks_for_review
        received.is_read_only = pulled.is_read_only
        self._is_reset = self._is_reset or pulled.is_reset
        unreadable = {} if pulled.is_reset or not cursor else self.unreadable
        unreadable = {path: reason for path, reason in unreadable.items() if path not in received.paths}
        self.unreadable = {**unreadable, **received.refused}
        self._cursor = pulled.cursor

    def _take(self, received: Spool, is_first: bool) -> None:
        """Write what was received into the replica, then save the cursor."""
        if received.is_reset:
            self._base.forget()
        elif is_first:
            # The cursor may be lost while the base is not. Then files that the remote no longer has are pushed again.
            self._base.write(dict.fromkeys(self._base.paths() - received.paths, b""))
        versions = iter(received)
        while chunk := list(islice(versions, _FILES_PER_CHANGE)):
            self._write(chunk)
        old_state = self._replica.state
        state = old_state._replace(cursor=self._cursor, unreadable=tuple(sorted(self.unreadable.items())))
        state = state._replace(asks_for_review=received.asks_for_review, is_read_only=received.is_read_only)
        if state != old_state:
            self._replica.write_state(state)

    def _write(self, versions: Sequence[Version]) -> None:
        """Merge `versions` into the replica as one change of the store, then update the sync base."""
        with self._store.writing(history.SYNC) as batch:
            decisions = self._decide(versions)
            for path, decision in decisions.items():
                if decision.local != decision.old_local:
                    sync_base.put(batch, path, decision.local)
            steps = [
                sync_base.make_step(path, decision.old_local, decision.local, decision.base)
                for path, decision in decisions.items()
                if decision.is_change
            ]
            if steps:
                self._base.plan(steps)
        if steps:
            self._base.carry_out(steps)

    def _decide(self, versions: Iterable[Version], *, is_trial: bool = False) -> dict[str, _Decision]:
        """Reconcile each of the remote's `versions` with the replica's file; return the decisions by path."""
        decisions: dict[str, _Decision] = {}
        pending = self._base.read_sent()
        for path, remote, _ in versions:
            current = decisions.get(path) or self._current(path, is_trial)
            base = remote if pending.get(path) == remote else current.base
            local = current.local
            if local not in (base, remote) and (flaw := incoming.file_flaw(path, local)):
                # It is neither a record nor a draft, so the remote's version replaces it.
                self._set_aside(path, local, flaw, is_trial)
                local = base
            reconciled = reconcile.reconcile(path, base, local, remote)
            decisions[path] = current._replace(local=reconciled.local, base=reconciled.base)
            self._note(path, reconciled, current.old_local)
            if reconciled.beside:
                draft_path, data = reconciled.beside
                draft = decisions.get(draft_path) or self._current(draft_path, is_trial)
                decisions[draft_path] = draft._replace(local=data)
        return decisions

    def _current(self, path: str, is_trial: bool) -> _Decision:
        local = sync_base.read_file(self._replica.store, path)
        base = b"" if self._is_reset and is_trial else self._base.read(path)
        return _Decision(local, local, base, base)

    def _note(self, path: str, reconciled: Reconciled, old_local: bytes) -> None:
        if reconciled.local != old_local:
            self._pulled[path] = None
            if not old_local:
                self._new_here[path] = None
        if reconciled.conflict:
            self._conflicts[reconciled.conflict.draft] = reconciled.conflict
        if reconciled.is_revived:
            self._revived[path] = None

    def _set_aside(self, path: str, data: bytes, flaw: str, is_trial: bool) -> None:
        """Move a local file that cannot be a record to a folder that nothing reads."""
        name = os.path.join(self._replica.root, _SET_ASIDE, f"{incoming.stem(path)}-{content_hash(data)[:8]}.json")
        if not is_trial:
            files.write(name, data)
        self._refused_here[path] = f"{flaw}; the remote's version replaced it, and this one is in {name}"

    def _push(self) -> Pushed:
        changes = list(self._outgoing())
        if not changes:
            # Nothing is on its way: what a sync that was killed had sent is no base for what others write later.
            self._base.note_answer({})
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
        """Yield the local changes, except those that must not leave this machine."""
        for path, local, base in self._base.differences(self._replica.store):
            flaw = incoming.file_flaw(path, local)
            if path in self.unreadable:
                flaw = f"the remote's version cannot be used: {self.unreadable[path]}"
            elif not flaw and (secret := incoming.new_secret(local, base)):
                flaw = f"held back: it {secret}"
            if flaw:
                self._refused_here[path] = flaw
            else:
                yield Push(path, local, version_hash(base))


class RenamedPair(NamedTuple):
    """A record that exists twice after a rename: its old id, and the paths of both copies."""

    old: str
    theirs: str
    ours: str


def find_renamed_pairs(
    pulled: Collection[str], pushed: Collection[str], revived: Collection[str], read: Callable[[str], bytes]
) -> tuple[RenamedPair, ...]:
    """Return pairs of records that had the same id before.

    `pulled` and `pushed` are the paths that are new here and at the remote, `revived` those that one side deleted.
    """
    if not (pulled or revived) or not (pushed or revived):
        return ()
    kept_ids = {incoming.stem(path): path for path in revived}
    our_names = {**kept_ids, **{old: path for path in pushed for old in _old_ids(path, read)}}
    their_names = [*((old, path) for path in pulled for old in _old_ids(path, read)), *kept_ids.items()]
    return tuple(
        RenamedPair(old, path, our_names[old]) for old, path in their_names if our_names.get(old, path) != path
    )


def _old_ids(path: str, read: Callable[[str], bytes]) -> set[str]:
    """Return the ids that a record had before; none for a draft or a file that is not a record."""
    data = b"" if incoming.is_draft(path) else read(path)
    if not data or incoming.file_flaw(path, data):
        return set()
    changes = memory.from_json(memory.decode(data, path)).changes
    ids = {change.old for change in changes if change.field == "id" and isinstance(change.old, str)}
    # Others wrote this history, and it is printed: only valid ids count.
    return {old for old in ids if not incoming.path_flaw(f"{path.rpartition('/')[0]}/{old}.json")}
