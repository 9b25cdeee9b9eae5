"""Replicas: local copies of shared stores, each with its records, sync base and sync state; and which are read."""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.errors import Unwritable
from onrecord.shared import remotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from onrecord.paths import StoreRef
    from onrecord.settings import Settings

_MAX_STATE_BYTES = 4_000_000


class SyncState(coldstart.NamedTuple):
    """The state of the sync of one replica."""

    cursor: str = ""
    """How far the remote was read, in the format of its transport; empty before the first sync."""
    last_sync: str = ""
    """Time of the last successful sync."""
    last_error: str = ""
    offline_since: str = ""
    """Time of the first failed attempt since the last success; empty if there was none."""
    note: str = ""
    """What a person must do at the remote, such as merge a branch."""
    refused: tuple[tuple[str, str], ...] = ()
    """Paths that the remote refused or that must not leave this machine, with the reason."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """Paths of the remote that we refused, with the reason."""
    asks_for_review: bool = False
    """True if the remote accepted only drafts from us at the last sync."""
    is_read_only: bool = False
    """True if the remote accepted nothing from us at the last sync. `store.rights` reads both."""


_LISTS = ("refused", "unreadable")
_FLAGS = ("asks_for_review", "is_read_only")
_TEXTS = tuple(field for field in SyncState._fields if field not in (*_LISTS, *_FLAGS))


class Replica:
    """A replica, named after its remote. Its folder may not exist yet."""

    __slots__ = ("name", "root")

    def __init__(self, name: str) -> None:
        remotes.refuse_name(name)
        self.name = name
        self.root = os.path.join(paths.replicas(), name)

    def __repr__(self) -> str:
        return f"Replica({self.name!r})"

    @property
    def store(self) -> str:
        """The folder of its records, an ordinary store."""
        return paths.replica(self.name).root

    @property
    def base(self) -> str:
        """The folder of the sync base: the last synced version of each file, under the same paths."""
        return os.path.join(self.root, "base")

    @property
    def repository(self) -> str:
        """The bare repository of a git remote."""
        return os.path.join(self.root, "repository")

    def lock(self, patience: float | None = None) -> files.locked:
        """Return the lock that allows one sync at a time. Raises Locked after `patience` seconds."""
        return files.locked(os.path.join(self.root, ".lock"), patience)

    @property
    def state(self) -> SyncState:
        """The saved state of the sync; empty if the file is missing or broken, and the next sync starts over.

        Raises Unwritable if the disk does not give it: it says what the remote accepts from us.
        """
        data = files.read_if_there(self._state_file, _MAX_STATE_BYTES + 1)
        try:
            fields = coldstart.loads(data.decode("utf-8"))
        except ValueError:
            return SyncState()
        return _state(fields) if isinstance(fields, dict) else SyncState()

    def write_state(self, sync_state: SyncState) -> None:
        files.write(self._state_file, coldstart.dumps(sync_state._asdict()).encode("ascii"))

    @property
    def _state_file(self) -> str:
        return os.path.join(self.root, "state.json")


def opened(name: str) -> Replica:
    """Return the replica of a connected remote; if there is none yet, that of 0.2.0 becomes it. Raises Unwritable.

    It may have changes that were not pushed. Its files are those of this version, but for the names of refs.
    """
    replica, old_root = Replica(name), old_replica(name)
    if files.is_there(replica.root) or not files.is_there(old_root):
        return replica
    with files.locked(os.path.join(old_root, ".lock")):
        _rename_refs(os.path.join(old_root, "repository"))
    try:
        files.make_folder(os.path.dirname(replica.root), is_private=True)
        os.rename(old_root, replica.root)
    except FileNotFoundError:
        # Another process has moved it.
        return replica
    except OSError as error:
        fix = f"move {old_root} to {replica.root}"
        raise Unwritable(f"cannot move the replica of 0.2.0: {error.strerror or error}", fix=fix) from error
    _remove_if_empty(os.path.dirname(old_root))
    _remove_if_empty(os.path.dirname(os.path.dirname(old_root)))
    return replica


def old_replica(name: str) -> str:
    """Return the folder of a replica of 0.2.0, whether or not there is one."""
    return os.path.join(paths.standard_dir("data", paths.OLD_NAME), "remotes", name)


def _rename_refs(mirror_folder: str) -> None:
    """Give the refs of a mirror of 0.2.0 our name. Without them the next sync fetches all again."""
    old = os.path.join(mirror_folder, "refs", paths.OLD_NAME)
    try:
        os.rename(old, os.path.join(mirror_folder, "refs", "onrecord"))
    except FileNotFoundError:
        # It was no git remote, was never synced, or its refs were packed.
        pass


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        # There are other replicas, or it is gone: an empty folder does no harm.
        pass


def prepare(name: str) -> Replica:
    """Return the replica of a connected remote; create its store if needed. Raises NotFound."""
    replica = opened(remotes.get(name).name)
    for folder in (replica.store, replica.base):
        files.make_folder(folder, is_private=True)
    return replica


def delete(replica: Replica) -> None:
    """Delete a replica, its search index and the history of its changes. Raises Unwritable."""
    import shutil

    from onrecord.store import history

    history.forget(replica.store)
    for folder in (replica.store, replica.base):
        for file in paths.index_files(folder):
            files.remove(file)
    try:
        shutil.rmtree(replica.root)
    except OSError as error:
        fix = f"delete {replica.root} by hand"
        raise Unwritable(f"cannot delete {replica.root}: {error.strerror or error}", fix=fix) from error


def _state(fields: Mapping[str, Any]) -> SyncState:
    texts = {key: value for key, value in fields.items() if key in _TEXTS and isinstance(value, str)}
    refused, unreadable = (_pairs(fields.get(key)) for key in _LISTS)
    state = SyncState()._replace(**texts, refused=refused, unreadable=unreadable)  # type: ignore[arg-type]
    asks_for_review, is_read_only = (fields.get(key) is True for key in _FLAGS)
    return state._replace(asks_for_review=asks_for_review, is_read_only=is_read_only)


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    pairs = [pair for pair in value if _is_pair(pair)] if isinstance(value, list) else []
    return tuple((path, reason) for path, reason in pairs)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def replicas(project: str) -> list[StoreRef]:
    """Return what the connected shared stores have, sorted by name. Hooks call this, so it raises nothing.

    A change that a shared store has refused, or not accepted yet, is in its replica only, and is not shown as its own.
    """
    if not _is_there(paths.remotes_file()) or remotes.is_planted(project):
        return []
    store_refs = [paths.accepted(remote.name) for remote in remotes.usable()]
    return [store_ref for store_ref in store_refs if _is_there(store_ref.root)]


def _is_there(path: str) -> bool:
    """True if there is such a file or folder; if the disk does not tell, False, and a note of that for the user."""
    try:
        return files.status(path) is not None
    except Unwritable as error:
        from onrecord import state_file

        state_file.go_without("remotes", error.message)
        return False


def select(store_refs: Sequence[StoreRef], settings: Settings) -> list[StoreRef]:
    """Return the stores that the setting `remotes` names; all if it names none."""
    names = settings.names("remotes")
    return [store_ref for store_ref in store_refs if not names or paths.store_name(store_ref.prefix) in names]


def takes_drafts(store_root: str) -> bool:
    """True if `store_root` is a replica whose remote accepts only drafts from us, as of the last sync."""
    prefix = paths.prefix_of(store_root)
    return paths.is_shared(prefix) and Replica(paths.store_name(prefix)).state.asks_for_review


def missing_names(settings: Settings) -> list[str]:
    """Return the names in the setting `remotes` that are not connected."""
    names = {remote.name for remote in remotes.connected()}
    return [name for name in settings.names("remotes") if remotes.is_name(name) and name not in names]


def missing_note(name: str) -> str:
    """Return the note about a remote that the project asks for and that is not connected."""
    return f"this project asks for {name}, which you have not connected: `onrecord remote add {name} URL`"
