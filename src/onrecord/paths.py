"""Paths on disk: the project's store, the user's store, shared stores, cache, state and data.

Paths are plain strings: `pathlib` costs a cold hook several milliseconds.
"""

from __future__ import annotations

import os
import sys

from onrecord import __version__
from onrecord.coldstart import NamedTuple, content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

STORE = os.path.join(".claude", "memory")
PROJECT_PREFIX = ".claude/memory/"
USER_PREFIX = "~/.claude/memory/"
"""The prefixes under which record paths of the project's and the user's store are shown."""

_SHARED_MARK = ":"
"""Separates the name of a shared store from a path in it: `platform:decisions/use-uv.json`."""

OLD_NAME = "recollect"
"""The name of this program up to 0.2.0."""

CONFIG = "memory-config.json"
INDEX_MD = "index.md"
INBOX = "inbox"
JOURNAL = ".journal"
_STANDARD = {
    "cache": ("XDG_CACHE_HOME", (".cache",), ("Library", "Caches")),
    "state": ("XDG_STATE_HOME", (".local", "state"), ("Library", "Application Support")),
    "data": ("XDG_DATA_HOME", (".local", "share"), ("Library", "Application Support")),
}
"""For each kind of folder: its environment variable, and its default in the home folder on Unix and on macOS."""


class StoreRef(NamedTuple):
    """A store: its folder, and the prefix under which its record paths are shown."""

    root: str
    prefix: str
    is_trusted: bool = True
    """False for a store of a repository that the user has yet to accept (`recall.trust`)."""


def store_refs(
    store: str,
    user_store: str = "",
    shared: Iterable[StoreRef] = (),
    *,
    below_refs: Iterable[StoreRef] = (),
    above_refs: Iterable[StoreRef] = (),
) -> list[StoreRef]:
    """Return the stores that have a folder, in order of precedence: the project's, the user's, then shared ones.

    Those below the project, in folders of it, come before its own, and those above it in its repository after it.
    """
    local = (*below_refs, StoreRef(store, PROJECT_PREFIX), *above_refs, StoreRef(user_store, USER_PREFIX))
    return [store_ref for store_ref in (*local, *shared) if store_ref.root]


def store_name(prefix: str) -> str:
    """Return the name of the store with `prefix`: `project`, `user`, a shared store's, or a nested store's folder."""
    if is_project(prefix):
        return prefix[: -len(PROJECT_PREFIX)].rstrip("/") or "project"
    return "user" if prefix == USER_PREFIX else prefix[: -len(_SHARED_MARK)]


def store_flag(prefix: str) -> str:
    """Return the option that selects the store with `prefix` in a command, with a space after it."""
    if prefix in (PROJECT_PREFIX, USER_PREFIX):
        return "" if prefix == PROJECT_PREFIX else "--user "
    return f"{'--project' if is_project(prefix) else '--remote'} {_shell_word(store_name(prefix))} "


def _shell_word(name: str) -> str:
    """Return a name as one word of a shell: a folder of a repository may be called anything."""
    if name and all(char.isalnum() or char in "/-_.@+~" for char in name) and name.isascii():
        return name
    return "'" + name.replace("'", "'\"'\"'") + "'"


def is_shared(prefix: str) -> bool:
    """True if `prefix` is that of a shared store."""
    return prefix.endswith(_SHARED_MARK)


def is_project(prefix: str) -> bool:
    """True if `prefix` is that of a store in a repository: the project's, one in a folder of it, or one above it."""
    return prefix.endswith(PROJECT_PREFIX) and prefix != USER_PREFIX


def project_of(store_root: str) -> str:
    """Return the folder that a project's store belongs to, and that paths in its records are relative to."""
    return os.path.dirname(os.path.dirname(store_root))


def project_root(start: str) -> str:
    """Return the root folder of the project that contains `start`.

    It is the nearest folder with a store, up to the git root; else the git root; else `start`. The search stops at the
    home folder, because the store there is the user's. It also stops before a folder on another file system or of
    another user: anyone with write access to a shared folder could put a store there.
    """
    start = os.path.realpath(start)
    home = os.path.realpath(os.path.expanduser("~"))
    here = start
    while here != home:
        if os.path.isdir(os.path.join(here, STORE)) or os.path.exists(os.path.join(here, ".git")):
            return here
        parent = os.path.dirname(here)
        if parent == here or not is_same_owner(start, parent):
            break
        here = parent
    return start


def is_same_owner(start: str, folder: str) -> bool:
    """True if `folder` is on the file system of `start`, and belongs to its owner or to us."""
    try:
        first, other = os.stat(start), os.stat(folder)
    except OSError:
        return False
    owners = (first.st_uid, os.getuid()) if hasattr(os, "getuid") else (first.st_uid,)
    return first.st_dev == other.st_dev and other.st_uid in owners


def project_store(project_dir: str) -> str:
    """Return the store of the project that contains `project_dir`; it may not exist yet."""
    return os.path.join(project_root(project_dir), STORE)


def is_within(root: str, path: str) -> bool:
    """True if `path` is inside `root` after all links are followed; False for a path that no file can have."""
    try:
        # Python 3.9 resolves a path with a NUL byte; later versions raise ValueError.
        if b"\0" in os.fsencode(path):
            return False
        root, path = os.path.normcase(os.path.realpath(root)), os.path.normcase(os.path.realpath(path))
    except ValueError:
        return False
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def user_store() -> str:
    """Return the user's own store, for records that apply to all projects."""
    return os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or _home(".claude"), "memory")


def remotes_file() -> str:
    """Return the file with the list of shared stores that the user has connected."""
    return os.path.join(user_store(), "remotes.json")


def replica(name: str) -> StoreRef:
    """Return the local copy of the shared store `name`, with the changes that are not in it yet."""
    return StoreRef(os.path.join(replicas(), name, "store"), f"{name}{_SHARED_MARK}")


def accepted(name: str) -> StoreRef:
    """Return what the shared store `name` had at the last sync: the only records that are shown as its own."""
    return StoreRef(os.path.join(replicas(), name, "base"), f"{name}{_SHARED_MARK}")


def working_root(root: str) -> str:
    """Return the folder where changes to the store in `root` are made: for what a shared store has, its replica."""
    name = os.path.basename(os.path.dirname(root))
    return replica(name).root if name and root == accepted(name).root else root


def replicas() -> str:
    """Return the folder of all replicas."""
    return os.path.join(data_dir(), "remotes")


def prefix_of(root: str) -> str:
    """Return the prefix under which record paths of the store in `root` are shown."""
    if root == user_store():
        return USER_PREFIX
    name = os.path.basename(os.path.dirname(root))
    shared = replica(name)
    return shared.prefix if name and root in (shared.root, accepted(name).root) else PROJECT_PREFIX


def is_private(path: str) -> bool:
    """True if only the user may read `path`: all that we write outside of repositories, and drafts and journals there.

    A draft may quote what the user typed; git ignores it, and nobody else is to read it before it is accepted. The
    journal has the text of every file that is being written.
    """
    folder, name = os.path.split(path)
    is_draft = os.path.basename(folder) == INBOX and name.endswith(".json") and name[0] != "."
    if is_draft or name == JOURNAL:
        return True
    bases = (user_store(), cache_dir(), state_dir(), data_dir())
    return any(path == base or path.startswith(base + os.sep) for base in bases)


def knowledge_banks(project: str) -> tuple[str, str, str]:
    """Return the folders of Markdown knowledge banks: the project's, the user's, and that of an older plugin."""
    user = user_store()
    older = os.path.join(os.path.dirname(user), "iflow", "memory")
    return os.path.join(project, "docs", "knowledge-bank"), os.path.join(user, "knowledge-bank"), older


def clone() -> str:
    """Return the folder above `src/onrecord`: the clone, or the plugin, that this program runs from."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def launcher() -> str:
    """Return the script that a coding agent starts for each event; it is part of the package."""
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), "hooks", "launch")


def cache_dir() -> str:
    """Return the folder for derived files; all of it can be deleted at any time."""
    return os.environ.get("ONRECORD_CACHE_DIR") or standard_dir("cache")


def state_dir() -> str:
    """Return the folder for ledgers, counters and logs; deleting it loses no record."""
    return os.environ.get("ONRECORD_STATE_DIR") or standard_dir("state")


def data_dir() -> str:
    """Return the folder for replicas of shared stores, which may have changes that are not synced yet."""
    return os.environ.get("ONRECORD_DATA_DIR") or standard_dir("data")


def index_file(store_root: str, table_version: int, suffix: str) -> str:
    """Return a file of a store's search index: named after the store's real path, its format and this program.

    An older and a newer Onrecord may read the same store in turn; each has files of its own.
    """
    return f"{_index_stem(store_root)}{table_version}-{__version__}{suffix}"


def index_files(store_root: str) -> list[str]:
    """Return all files of a store's search index, of every version of Onrecord."""
    folder, stem = os.path.split(_index_stem(store_root))
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith(stem)]
    except OSError:
        return []


def _index_stem(store_root: str) -> str:
    name = content_hash(os.path.realpath(store_root).encode("utf-8", "surrogatepass"))
    return os.path.join(cache_dir(), f"{name}.")


def nested_file(project: str) -> str:
    """Return the file that lists the folders of a project which are known to have a store of their own."""
    return os.path.join(cache_dir(), f"{content_hash(project.encode('utf-8', 'surrogatepass'))}.nested")


def standard_dir(kind: str, program: str = "onrecord") -> str:
    """Return the folder of this system for files of `kind` (cache, state or data) of `program`."""
    variable, unix, mac = _STANDARD[kind]
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or _home("AppData", "Local"), program, kind)
    root = os.environ.get(variable, "")
    if not os.path.isabs(root):
        root = _home(*mac) if sys.platform == "darwin" else _home(*unix)
    return os.path.join(root, program)


def _home(*parts: str) -> str:
    home = os.path.expanduser("~")
    # Without HOME, a user whom the system does not know has no home: nothing can be read or written below this path.
    return os.path.join(home if os.path.isabs(home) else os.path.abspath(os.devnull), *parts)


class override:  # noqa: N801
    """Environment variables for these folders, set inside a `with` and restored after it."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._before = {name: os.environ.get(name) for name in variables}

    def __enter__(self) -> None:
        os.environ.update(self._variables)

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
