"""The copy of a shared store on this machine: its record files, what the remote has of them, how the sync stands."""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.errors import Unwritable
from onrecord.shared import remotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from onrecord.paths import StoreRef
    from onrecord.settings import Settings

_LARGEST_STATE = 4_000_000


class SyncState(coldstart.NamedTuple):
    """How the sync of one replica stands."""

    cursor: str = ""
    """How far the remote was read, in the words of its transport; empty is not at all."""
    last_sync: str = ""
    """When a sync last reached the remote and finished."""
    last_error: str = ""
    offline_since: str = ""
    """When the remote was first not reached; empty once it is reached again."""
    note: str = ""
    """What somebody must do at the remote, such as merging a branch."""
    refused: tuple[tuple[str, str], ...] = ()
    """Paths that the remote did not take, or that must not leave this machine, each with the reason."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """Paths of the remote that we did not take, each with the reason."""
    asks_for_review: bool = False
    """Whether the remote takes only drafts from us, as it said at the last sync."""


_LISTS = ("refused", "unreadable")
_TEXTS = tuple(field for field in SyncState._fields if field not in (*_LISTS, "asks_for_review"))


class Replica:
    """One replica, named after its remote. Its folder may not exist yet."""

    __slots__ = ("name", "root")

    def __init__(self, name: str) -> None:
        remotes.refuse_name(name)
        self.name = name
        self.root = os.path.join(paths.replicas(), name)

    def __repr__(self) -> str:
        return f"Replica({self.name!r})"

    @property
    def store(self) -> str:
        """The folder of its records: an ordinary store."""
        return paths.replica(self.name).root

    @property
    def base(self) -> str:
        """The folder with what this machine and the remote last agreed on, under the same paths."""
        return os.path.join(self.root, "base")

    @property
    def repository(self) -> str:
        """The bare repository, where the remote is one of git."""
        return os.path.join(self.root, "repository")

    def lock(self, patience: float | None = None) -> files.locked:
        """One sync at a time; Locked if another one goes on for longer than that."""
        return files.locked(os.path.join(self.root, ".lock"), patience)

    @property
    def state(self) -> SyncState:
        """How the sync stands; nothing is known where the file is missing or broken, and the next sync starts anew."""
        try:
            data = files.read(self._state_file, _LARGEST_STATE + 1)
            fields = coldstart.loads(data.decode("utf-8"))
        except (OSError, ValueError):
            return SyncState()
        return _state(fields) if isinstance(fields, dict) else SyncState()

    def write_state(self, state: SyncState) -> None:
        files.write(self._state_file, coldstart.dumps(state._asdict()).encode("ascii"))

    @property
    def _state_file(self) -> str:
        return os.path.join(self.root, "state.json")


def prepare(name: str) -> Replica:
    """The replica of a connected remote, its store made if it is not there yet; NotFound for any other name."""
    made = Replica(remotes.get(name).name)
    files.make_folder(made.store, is_private=True)
    return made


def delete(replica: Replica) -> None:
    """Delete a replica with all that is in it, its search index and the history of its changes."""
    import shutil

    from onrecord.store import history

    history.forget(replica.store)
    files.remove(paths.index_file(replica.store))
    try:
        shutil.rmtree(replica.root)
    except OSError as error:
        fix = f"delete {replica.root} by hand"
        raise Unwritable(f"cannot delete {replica.root}: {error.strerror or error}", fix=fix) from error


def _state(fields: dict[str, Any]) -> SyncState:
    texts = {key: value for key, value in fields.items() if key in _TEXTS and isinstance(value, str)}
    refused, unreadable = (_pairs(fields.get(key)) for key in _LISTS)
    asks = fields.get("asks_for_review") is True
    return SyncState()._replace(**texts, refused=refused, unreadable=unreadable, asks_for_review=asks)


def _pairs(values: object) -> tuple[tuple[str, str], ...]:
    pairs = [pair for pair in values if _is_pair(pair)] if isinstance(values, list) else []
    return tuple((path, why) for path, why in pairs)


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def replicas(project: str) -> list[StoreRef]:
    """The replicas of the connected shared stores, by name; for hooks, so that nothing raises here."""
    if not os.path.exists(paths.remotes_file()) or remotes.is_planted(project):
        return []
    store_refs = [paths.replica(each.name) for each in remotes.usable()]
    return [store_ref for store_ref in store_refs if os.path.isdir(store_ref.root)]


def select(store_refs: Sequence[StoreRef], settings: Settings) -> list[StoreRef]:
    """Those of them that the settings want here: all unless some are named."""
    names = settings.names("remotes")
    return [store_ref for store_ref in store_refs if not names or paths.store_name(store_ref.prefix) in names]


def missing_names(settings: Settings) -> list[str]:
    """The names in the settings that could be remotes and are not connected."""
    names = {each.name for each in remotes.connected()}
    return [name for name in settings.names("remotes") if remotes.is_name(name) and name not in names]


def missing_note(name: str) -> str:
    """What to say of a remote that a project asks for and that is not connected."""
    return f"this project asks for {name}, which you have not connected: `onrecord remote add {name} URL`"
