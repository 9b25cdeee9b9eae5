"""Read the files of a shared store from commits, and write changes to them as a commit.

Git's own plumbing does both: no working tree, no index.
"""

from __future__ import annotations

import getpass
import os
import platform
import time
from collections.abc import Iterable, Iterator, Sequence

from onrecord import paths
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import BadRemote
from onrecord.record import naming, schema
from onrecord.record.memory import MAX_FILE_BYTES
from onrecord.shared import incoming
from onrecord.shared.git_mirror import Mirror
from onrecord.shared.incoming import MAX_FILES
from onrecord.shared.transport import Push, Version
from onrecord.text import first_few, plural

_FOLDERS = (*schema.FOLDERS.values(), paths.INBOX)
_COMMON_NAMES = (
    "readme",
    "license",
    "licence",
    "copying",
    "codeowners",
    "contributing",
    "security",
    "notice",
    "index.md",
    ".",
)
"""Beginnings of the names that may also be at the root of a repository that is only for records."""

_BATCH_BYTES = 16_000_000
"""Bytes of files that are read at once."""

_FILE_MODES = (b"100644", b"100755")
NEXT = "refs/onrecord/next"
"""The commit that is about to be pushed."""

_MAX_NAMES_IN_SUBJECT = 3


class Blob(NamedTuple):
    """A file in a commit, by its path in the store; an empty id means deleted."""

    path: str
    id: str
    flaw: str = ""


class Author(NamedTuple):
    """The author of commits on this machine."""

    name: str
    email: str


def store_prefix(mirror: Mirror, commit: str) -> str:
    """Return the folder of the records in a repository: empty for its root, or `.claude/memory/` as in a project."""
    if any(_is_record(path.decode("utf-8", "replace")) for _, path in _list_tree(mirror, commit, _FOLDERS)):
        return ""
    names = _names(mirror, commit)
    if paths.PROJECT_PREFIX.split("/")[0] in names and _list_tree(mirror, commit, (paths.PROJECT_PREFIX,)):
        return paths.PROJECT_PREFIX
    return "" if all(name.lower().startswith((*_COMMON_NAMES, *_FOLDERS)) for name in names) else paths.PROJECT_PREFIX


def store_files(mirror: Mirror, commit: str, prefix: str) -> list[Blob]:
    """Return the files of the store in a commit."""
    entries = _list_tree(mirror, commit, [prefix + folder for folder in _FOLDERS])
    return _blobs(((mode, blob, path) for (mode, blob), path in entries), prefix)


def changed_files(mirror: Mirror, old: str, new: str, prefix: str) -> list[Blob]:
    """Return the files of the store that differ between two commits, as in the second."""
    if (old_prefix := store_prefix(mirror, old)) != prefix:
        return _moved(store_files(mirror, old, old_prefix), store_files(mirror, new, prefix))
    words = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--raw", old, new, "--")
    parts = _run(mirror, *words, *(prefix + folder for folder in _FOLDERS)).split(b"\0")
    entries = []
    for about, path in zip(parts[::2], parts[1::2]):
        _, mode, _, blob, _ = about.split(b" ")
        entries.append((mode, b"" if mode == b"000000" else blob, path))
    return _blobs(entries, prefix)


def _moved(old_blobs: Sequence[Blob], new_blobs: Sequence[Blob]) -> list[Blob]:
    """Return all files, and those that are gone, after the records moved to another folder."""
    present = {blob.path for blob in new_blobs}
    return [*(Blob(blob.path, "") for blob in old_blobs if blob.path not in present), *new_blobs]


def _blobs(tree_entries: Iterable[tuple[bytes, bytes, bytes]], prefix: str) -> list[Blob]:
    blobs = []
    for mode, blob, raw in tree_entries:
        path = raw.decode("utf-8", "replace")[len(prefix) :]
        if _is_record(path):
            flaw = "" if mode in _FILE_MODES or not blob else "not a file: a link or a submodule"
            blobs.append(Blob(path, blob.decode("ascii"), flaw))
    if len(blobs) > MAX_FILES:
        raise incoming.too_large()
    return blobs


def _is_record(path: str) -> bool:
    """True if the path can be that of a record or a draft: other files are not ours to read."""
    return path.endswith(".json") and path.partition("/")[0] in _FOLDERS


def read_versions(mirror: Mirror, blobs: Sequence[Blob]) -> Iterator[Version]:
    """Yield the versions of the files, read in batches that fit into memory."""
    sizes = _sizes(mirror, {blob.id for blob in blobs if blob.id and not blob.flaw})
    batch: list[Blob] = []
    room = _BATCH_BYTES
    for blob in blobs:
        size = sizes.get(blob.id, 0)
        if size > MAX_FILE_BYTES:
            yield Version(blob.path, b"", f"larger than {MAX_FILE_BYTES:,} bytes")
            continue
        if room < size:
            yield from _read(mirror, batch)
            batch, room = [], _BATCH_BYTES
        batch.append(blob)
        room -= size
    yield from _read(mirror, batch)


def _sizes(mirror: Mirror, ids: Iterable[str]) -> dict[str, int]:
    sizes = {}
    for line in _cat_files(mirror, "--batch-check", ids).decode("ascii", "replace").splitlines():
        words = line.split(" ")
        if len(words) != 3 or words[1] != "blob":
            raise broken_mirror(line)
        sizes[words[0]] = int(words[2])
    return sizes


def _read(mirror: Mirror, blobs: Sequence[Blob]) -> Iterator[Version]:
    contents: dict[str, bytes] = {}
    output = _cat_files(mirror, "--batch", {blob.id for blob in blobs if blob.id and not blob.flaw})
    offset = 0
    while offset < len(output):
        head, _, _ = output[offset : offset + 200].partition(b"\n")
        name, _, size = head.decode("ascii", "replace").split(" ")
        start = offset + len(head) + 1
        contents[name] = output[start : start + int(size)]
        offset = start + int(size) + 1
    for blob in blobs:
        # An empty file is broken, not deleted; for the engine no bytes mean deleted.
        data = (contents[blob.id] or b"\n") if blob.id and not blob.flaw else b""
        yield Version(blob.path, data, blob.flaw)


def _cat_files(mirror: Mirror, mode: str, ids: Iterable[str]) -> bytes:
    lines = "".join(f"{blob_id}\n" for blob_id in ids).encode("ascii")
    return _run(mirror, "cat-file", mode, stdin=lines) if lines else b""


def _names(mirror: Mirror, commit: str) -> list[str]:
    names = _run(mirror, "ls-tree", "-z", "--name-only", commit).split(b"\0")
    return [name.decode("utf-8", "replace") for name in names if name]


def _list_tree(mirror: Mirror, commit: str, folder_names: Iterable[str]) -> list[tuple[tuple[bytes, bytes], bytes]]:
    """Return mode, id and path of every file in `folder_names` of a commit."""
    inside = [folder if folder.endswith("/") else f"{folder}/" for folder in folder_names]
    rows = _run(mirror, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *inside).split(b"\0")
    entries = []
    for row in filter(None, rows):
        about, _, path = row.partition(b"\t")
        mode, _, blob = about.split(b" ")
        entries.append(((mode, blob), path))
    return entries


def _run(mirror: Mirror, *words: str, stdin: bytes = b"") -> bytes:
    result = mirror.run_local(*words, stdin=stdin)
    if result.status is None and "answered more" in result.message:
        raise incoming.too_large()
    if not result.is_good:
        raise broken_mirror(result.message)
    return result.output


class BrokenMirror(BadRemote):
    """The mirror cannot be read; it can be fetched again."""


def broken_mirror(reason: str) -> BrokenMirror:
    return BrokenMirror(f"the fetched repository cannot be read: {reason[:200]}", fix="fetch it again: onrecord sync")


def author(mirror: Mirror) -> Author:
    """Return the user name and email of git's config, or else those of the system."""
    lines = mirror.run_local("config", "--null", "--get-regexp", r"^user\.(name|email)$").text.split("\0")
    values = dict(line.split("\n", 1) for line in lines if "\n" in line)
    user = _plain(_user())
    name, email = (_plain(values.get(key, "")) for key in ("user.name", "user.email"))
    return Author(name or user, email or f"{user}@{_plain(platform.node()) or 'localhost'}")


def own_branch(mirror: Mirror) -> str:
    """Return the branch for changes that the main branch refuses: of this user, machine and remote."""
    user = naming.slug(_user())[:30]
    return f"onrecord/{user}-{content_hash(f'{platform.node()}{os.path.realpath(mirror.folder)}'.encode())[:6]}"


def make_commit(mirror: Mirror, parent: str, prefix: str, changes: Sequence[Push]) -> str:
    """Commit `changes` on top of `parent`, or as the first commit if it is empty; return the id of the new commit."""
    committer = author(mirror)
    message = _message(changes).encode("utf-8")
    head = f"reset {NEXT}\n\ncommit {NEXT}\ncommitter {committer.name} <{committer.email}> {int(time.time())} +0000\n"
    parts = [head.encode("utf-8"), b"data %d\n%s\n" % (len(message), message)]
    if parent:
        parts.append(f"from {parent}\n".encode("ascii"))
    for path, data, _ in changes:
        full_path = f"{prefix}{path}".encode("ascii")
        if data:
            parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (full_path, len(data), data))
        else:
            parts.append(b"D %s\n" % full_path)
    result = mirror.run_local("fast-import", "--quiet", "--done", "--force", stdin=b"".join((*parts, b"\ndone\n")))
    commit = mirror.commit_of(NEXT) if result.is_good else ""
    if not commit:
        raise broken_mirror(result.message)
    return commit


def _message(changes: Sequence[Push]) -> str:
    names = [incoming.stem(change.path) for change in changes]
    lines = "".join(f"\n{'delete' if not change.data else 'write'} {change.path}" for change in changes[:100])
    subject = f"Sync {plural(len(names), 'file')}: {first_few(names, _MAX_NAMES_IN_SUBJECT)}"
    return f"{subject}\n\nWritten by `onrecord sync`.\n{lines}\n"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _plain(text: str) -> str:
    """Return a name without characters that a commit's author line cannot have."""
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip()
