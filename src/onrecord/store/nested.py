"""Nested stores: those in folders of a project, and those above a project in its repository.

A session in a monorepo reads the stores of the folders whose files it touches, or that a prompt names. Records there
speak about their folder. Nothing is walked: the folders above a file take a few calls of the system, and those for
prompts are read from git's index, once for each state of it.

A store counts only if it is part of the same repository: not in a repository within it, nor in a folder with other
people's code, nor behind a link that leads out, nor in a folder of another user.
"""

from __future__ import annotations

import os

from onrecord import files, paths
from onrecord.paths import StoreRef

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onrecord.state_file import StateFile

MAX_STORES = 8
"""Nested stores that one event reads."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@")
_MAX_NAMED = 60
"""Characters of a folder that is named to an agent outside of a data block."""

MAX_KNOWN = 64
"""Folders with a store that are known of a project."""

_MAX_DEPTH = 12
_MAX_INDEX_BYTES = 24_000_000
_MAX_ENTRIES = 20_000
"""Entries of git's index that are looked at."""

_MAX_CACHE_BYTES = 40_000
_OTHERS = frozenset(
    "node_modules bower_components vendor third_party site-packages dist-packages Pods target dist build".split()
)
"""Folders with files of others, or made by programs."""


def of_files(project: str, touched: Iterable[str]) -> list[StoreRef]:
    """Return the stores in the folders between a project and its files, the nearest first."""
    folders: dict[str, None] = {}
    if not project:
        return []
    root = os.path.join(os.path.realpath(project), "")
    for file in touched:
        full = os.path.join(project, file)
        real = os.path.realpath(full) if paths.is_within(project, full) else ""
        if real.startswith(root):
            inner = os.path.dirname(real[len(root) :]).replace(os.sep, "/")
            folders.update(dict.fromkeys(_with_store(project, inner)))
    return [_ref(project, folder) for folder in folders][:MAX_STORES]


def named_in(project: str, text: str) -> list[StoreRef]:
    """Return the stores of the folders that a text names, as in `in packages/web` or `packages/web/src/a.ts`."""
    folders = known(project)
    if not folders:
        return []
    bare = (word.strip("`'\"()[]{}<>*").rstrip(".,;:!?`'\")]}>*") for word in text.split())
    words = [word.removeprefix("./").rstrip("/") + "/" for word in bare]
    folders_in_text = [folder for folder in folders if any(word.startswith(folder + "/") for word in words)]
    return at(project, folders_in_text)


def at(project: str, folder_names: Iterable[str]) -> list[StoreRef]:
    """Return the stores of these folders of a project that have one, the nearest to their files first."""
    present = sorted(_present(project, folder_names), key=len, reverse=True)
    return [_ref(project, folder) for folder in present][:MAX_STORES]


def above(project: str) -> list[StoreRef]:
    """Return the stores of the folders above a project in its repository, the nearest first."""
    store_refs: list[StoreRef] = []
    here, up = project, ""
    home = os.path.realpath(os.path.expanduser("~"))
    for _ in range(_MAX_DEPTH):
        if os.path.lexists(os.path.join(here, ".git")):
            return store_refs[:MAX_STORES]
        parent = os.path.dirname(here)
        # The store in the home folder is the user's.
        if parent in (here, home) or not paths.is_same_owner(project, parent):
            break
        here, up = parent, f"../{up}"
        if _is_store(here):
            store_refs.append(StoreRef(os.path.join(here, paths.STORE), up + paths.PROJECT_PREFIX))
    # Without a repository nothing says that the folders belong together.
    return []


def known(project: str) -> list[str]:
    """Return the folders of a project that are known to have a store, by git's index and by what sessions touched.

    A folder may have changed since it became known: `at` returns the stores that may be read now.
    """
    if not project:
        return []
    cache = _cache(project)
    stamp, *before = cache.lines() or [""]
    index_file, inner = _git_index(project)
    now = _stamp(index_file)
    if stamp == now or (not index_file and not before):
        return before
    folders = [*_tracked(index_file, inner), *before]
    folders = _present(project, dict.fromkeys(folders))[:MAX_KNOWN]
    cache.replace("".join(f"{line}\n" for line in (now, *folders)).encode("utf-8", "replace"))
    return folders


def line(project: str) -> str:
    """Return the line that tells an agent of the nested stores of a project; empty if there is none."""
    from onrecord.store import record_names
    from onrecord.text import plural

    parts: list[str] = []
    for folder in _present(project, known(project))[:MAX_STORES]:
        records = sum(1 for _ in record_names.paths(_ref(project, folder).root))
        # The line is no data block, so a name that could be a sentence is not in it.
        is_plain = len(folder) <= _MAX_NAMED and _PLAIN.issuperset(folder)
        name = folder if is_plain else "a folder of this repository"
        parts.append(f"{name}{'' if parts else ' has its own memory'}: {plural(records, 'record')}")
    return "; ".join(parts)


def note(project: str, store_refs: Sequence[StoreRef]) -> None:
    """Make the stores known that a session has touched: git's index has only those that were added to it."""
    folders = known(project)
    new = [folder_of(ref.prefix) for ref in store_refs if folder_of(ref.prefix) not in folders]
    if new:
        stamp = _stamp(_git_index(project)[0])
        lines = (stamp, *[*folders, *new][:MAX_KNOWN])
        _cache(project).replace("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def folder_of(prefix: str) -> str:
    """Return the folder of a nested store by its prefix, such as `packages/web`."""
    return prefix[: -len(paths.PROJECT_PREFIX)].rstrip("/")


def _ref(project: str, folder: str) -> StoreRef:
    return StoreRef(os.path.join(project, *folder.split("/"), paths.STORE), f"{folder}/{paths.PROJECT_PREFIX}")


def _present(project: str, folder_names: Iterable[str]) -> list[str]:
    """Return those of the folders that have a store of the project's repository now."""
    return [folder for folder in folder_names if folder in _with_store(project, folder)]


def _with_store(project: str, inner: str) -> list[str]:
    """Return the folders on the way from a project to `inner` that have a store, the nearest to `inner` first."""
    with_store: list[str] = []
    here, folder = project, ""
    for name in inner.split("/")[:_MAX_DEPTH] if inner else ():
        here, folder = os.path.join(here, name), f"{folder}/{name}".lstrip("/")
        if not _is_plain(name) or os.path.lexists(os.path.join(here, ".git")):
            break
        if _is_store(here) and paths.is_within(project, here) and paths.is_same_owner(project, here):
            with_store.append(folder)
    return with_store[::-1]


def _is_plain(name: str) -> bool:
    """True for the name of a folder that is the project's own, and that can be put into a command as it is."""
    if not name or name[0] in "-." or name in _OTHERS:
        return False
    return all(char.isalnum() or char in "._-+@" for char in name)


def _is_store(folder: str) -> bool:
    store = os.path.join(folder, paths.STORE)
    return os.path.isdir(store) and paths.is_within(folder, store)


def _cache(project: str) -> StateFile:
    from onrecord.state_file import StateFile

    return StateFile(paths.nested_file(project), _MAX_CACHE_BYTES, "nested stores")


def _git_index(project: str) -> tuple[str, str]:
    """Return the file of git's index, and the path of the project in its repository; empty without git."""
    index_file = os.path.join(project, ".git", "index")
    if os.path.exists(index_file):
        return index_file, ""
    from onrecord.git import repository

    repo = repository.find(project)
    return (os.path.join(repo.git_dir, "index"), repo.inner(project)) if repo else ("", "")


def _stamp(index_file: str) -> str:
    try:
        status = os.stat(index_file)
    except OSError:
        return "-"
    return f"{status.st_mtime_ns}.{status.st_size}"


def _tracked(index_file: str, inner: str) -> Iterator[str]:
    """Yield the folders that may have a store, by the paths in git's index; what is not there is sorted out later."""
    try:
        data = files.read(index_file, _MAX_INDEX_BYTES)
    except OSError:
        return
    mark = f"/{paths.PROJECT_PREFIX}".encode()
    seen: set[str] = set()
    place = data.find(mark)
    for _ in range(_MAX_ENTRIES):
        if place < 0 or len(seen) >= MAX_KNOWN:
            return
        # A path follows two bytes of flags, the first of which is nearly always 0; an index with compressed paths
        # has no such place, and gives nothing.
        start = data.rfind(b"\0", 0, place)
        for begin in (start + 2, start + 1):
            folder = data[begin:place].decode("utf-8", "replace")
            if folder.startswith(inner) and folder not in seen:
                seen.add(folder)
                yield folder[len(inner) :]
        place = data.find(mark, place + len(mark))
