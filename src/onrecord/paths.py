"""Where things live on disk: a project's store, the user's store, the cache, the state, the data.

Paths are plain strings: `pathlib` costs a cold hook several milliseconds.
"""

from __future__ import annotations

import os
import sys

from onrecord.coldstart import NamedTuple, content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

STORE = os.path.join(".claude", "memory")
PROJECT_PREFIX = ".claude/memory/"
USER_PREFIX = "~/.claude/memory/"
"""How a store is called where a path of one of its records is shown."""

_SHARED_MARK = ":"
"""What stands between the name of a shared store and a path in it: `platform:decisions/use-uv.json`."""

CONFIG = "memory-config.json"
INDEX_MD = "index.md"
INBOX = "inbox"
_STANDARD = {
    "cache": ("XDG_CACHE_HOME", (".cache",), ("Library", "Caches")),
    "state": ("XDG_STATE_HOME", (".local", "state"), ("Library", "Application Support")),
    "data": ("XDG_DATA_HOME", (".local", "share"), ("Library", "Application Support")),
}
"""The variable that names the folder for a kind of file, and the folder below the home on Unix and macOS."""


class StoreRef(NamedTuple):
    """A store: its folder, and how it is called where a path of one of its records is shown."""

    root: str
    prefix: str


def store_refs(store: str, user_store: str = "", shared: Iterable[StoreRef] = ()) -> list[StoreRef]:
    """The stores in play in the order of their precedence: the project's, the user's, then shared ones."""
    own = (StoreRef(store, PROJECT_PREFIX), StoreRef(user_store, USER_PREFIX))
    return [store_ref for store_ref in (*own, *shared) if store_ref.root]


def store_name(prefix: str) -> str:
    """The store that paths with this beginning are in: `project`, `user`, or the name of a shared store."""
    return {PROJECT_PREFIX: "project", USER_PREFIX: "user"}.get(prefix) or prefix[: -len(_SHARED_MARK)]


def store_flag(prefix: str) -> str:
    """What a command needs to act on that store, with a space behind it; nothing for the project's."""
    name = store_name(prefix)
    return {"project": "", "user": "--user "}.get(name, f"--remote {name} ")


def is_shared(prefix: str) -> bool:
    """Whether paths with this beginning are in a shared store."""
    return prefix.endswith(_SHARED_MARK)


def project_root(start: str) -> str:
    """The directory a project's memory belongs to.

    The nearest directory with a store, looking up to the git root; otherwise the git root; otherwise `start`.
    The search ends at the home directory, whose store is the user's and no project's, at the border of a file system,
    and at a folder that belongs to somebody else: whoever may write to a shared folder could put a store there.
    """
    start = os.path.realpath(start)
    home = os.path.realpath(os.path.expanduser("~"))
    here = start
    while here != home:
        if os.path.isdir(os.path.join(here, STORE)) or os.path.exists(os.path.join(here, ".git")):
            return here
        parent = os.path.dirname(here)
        if parent == here or not _is_same_ground(start, parent):
            break
        here = parent
    return start


def _is_same_ground(start: str, folder: str) -> bool:
    """Whether a folder is on the file system of another, and belongs to its owner or to us."""
    try:
        first, other = os.stat(start), os.stat(folder)
    except OSError:
        return False
    owners = (first.st_uid, os.getuid()) if hasattr(os, "getuid") else (first.st_uid,)
    return first.st_dev == other.st_dev and other.st_uid in owners


def project_store(project_dir: str) -> str:
    """The store of the project that `project_dir` lies in; it may not exist yet."""
    return os.path.join(project_root(project_dir), STORE)


def is_within(root: str, path: str) -> bool:
    """Whether a path, links followed, lies in a directory; one that no file can have lies in none."""
    try:
        # Python 3.9 resolves a path that it could not open: it is refused here, as later versions do.
        if b"\0" in os.fsencode(path):
            return False
        root, path = os.path.normcase(os.path.realpath(root)), os.path.normcase(os.path.realpath(path))
    except ValueError:
        return False
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def user_store() -> str:
    """The store for what is true in every project of this user."""
    return os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or _home(".claude"), "memory")


def remotes_file() -> str:
    """The list of the shared stores that the user has connected."""
    return os.path.join(user_store(), "remotes.json")


def replica(name: str) -> StoreRef:
    """The copy of a shared store on this machine."""
    return StoreRef(os.path.join(replicas(), name, "store"), f"{name}{_SHARED_MARK}")


def replicas() -> str:
    """The folder of all these copies."""
    return os.path.join(data_dir(), "remotes")


def prefix_of(root: str) -> str:
    """How the store in a folder is called where a path of one of its records is shown."""
    if root == user_store():
        return USER_PREFIX
    name = os.path.basename(os.path.dirname(root))
    shared = replica(name)
    return shared.prefix if name and root == shared.root else PROJECT_PREFIX


def is_private(path: str) -> bool:
    """Whether a file is the user's alone: all that we write outside of repositories."""
    bases = (user_store(), cache_dir(), state_dir(), data_dir())
    return any(path == base or path.startswith(base + os.sep) for base in bases)


def knowledge_banks(project: str) -> tuple[str, str, str]:
    """The folders where Markdown knowledge banks may lie: the project's, the user's, and those of an older plugin."""
    user = user_store()
    theirs = os.path.join(os.path.dirname(user), "iflow", "memory")
    return os.path.join(project, "docs", "knowledge-bank"), os.path.join(user, "knowledge-bank"), theirs


def clone() -> str:
    """The folder that holds `src/onrecord`: the clone, or the plugin, that this program runs from."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def launcher() -> str:
    """The script that a coding agent starts for each event: it lies in the package, however that was installed."""
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), "hooks", "launch")


def cache_dir() -> str:
    """Where derived files go: everything in it can be deleted at any time."""
    return os.environ.get("ONRECORD_CACHE_DIR") or standard_dir("cache")


def state_dir() -> str:
    """Where ledgers, counters and traces go: losing them loses no memory."""
    return os.environ.get("ONRECORD_STATE_DIR") or standard_dir("state")


def data_dir() -> str:
    """Where copies of shared stores go: they may hold changes that are nowhere else yet."""
    return os.environ.get("ONRECORD_DATA_DIR") or standard_dir("data")


def index_file(store_root: str) -> str:
    """The search index of one store, named after the store's real path."""
    name = content_hash(os.path.realpath(store_root).encode("utf-8", "surrogatepass"))
    return os.path.join(cache_dir(), f"{name}.sqlite")


def standard_dir(kind: str, program: str = "onrecord") -> str:
    """Return the folder that this system has for files of a `kind` (cache, state or data) of a program."""
    variable, unix, mac = _STANDARD[kind]
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or _home("AppData", "Local"), program, kind)
    root = os.environ.get(variable, "")
    if not os.path.isabs(root):
        root = _home(*mac) if sys.platform == "darwin" else _home(*unix)
    return os.path.join(root, program)


def _home(*parts: str) -> str:
    return os.path.join(os.path.expanduser("~"), *parts)


class override:  # noqa: N801
    """Environment variables that say where things live, set inside a `with` and put back as they were."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._before = {name: os.environ.get(name) for name in variables}

    def __enter__(self) -> None:
        os.environ.update(self._variables)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
