"""The files of a shared store in a commit: where they lie, which there are, which changed, and what they hold."""

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

BELOW = paths.PROJECT_PREFIX
"""Where a project keeps its records: its own repository can be a remote, too."""

_FOLDERS = (*schema.FOLDERS.values(), paths.INBOX)
_QUIET = (
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
"""How names begin that a repository made only for records may have at its root."""

_TOGETHER = 16_000_000
"""Bytes of files that are read at once."""

_FILES = (b"100644", b"100755")


class Blob(NamedTuple):
    """A file in a commit by its path in the store; no id stands for a deleted one."""

    path: str
    id: str
    flaw: str = ""


def store_prefix(mirror: Mirror, commit: str) -> str:
    """Where in a repository its records lie, or should: at the root, or below `.claude/memory/`."""
    if any(_is_record(path) for _, path in _listed(mirror, commit, _FOLDERS)):
        return ""
    names = _names(mirror, commit)
    if paths.PROJECT_PREFIX.split("/")[0] in names and _listed(mirror, commit, (BELOW,)):
        return BELOW
    return "" if all(name.lower().startswith((*_QUIET, *_FOLDERS)) for name in names) else BELOW


def store_files(mirror: Mirror, commit: str, below: str) -> list[Blob]:
    """The files of the store in a commit."""
    listed = _listed(mirror, commit, [below + folder for folder in _FOLDERS])
    return _blobs(((mode, blob, path) for (mode, blob), path in listed), below)


def changed_files(mirror: Mirror, old: str, new: str, below: str) -> list[Blob]:
    """The files of the store that differ between two commits, as the second has them."""
    if (before := store_prefix(mirror, old)) != below:
        return _moved(store_files(mirror, old, before), store_files(mirror, new, below))
    words = ("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--raw", old, new, "--")
    parts = _ask(mirror, *words, *(below + folder for folder in _FOLDERS)).split(b"\0")
    rows = []
    for about, path in zip(parts[::2], parts[1::2]):
        _, mode, _, blob, _ = about.split(b" ")
        rows.append((mode, b"" if mode == b"000000" else blob, path))
    return _blobs(rows, below)


def _moved(before: Sequence[Blob], after: Sequence[Blob]) -> list[Blob]:
    """All files, where records lie in another place than before, and those that are gone."""
    present = {blob.path for blob in after}
    return [*(Blob(blob.path, "") for blob in before if blob.path not in present), *after]


def _blobs(rows: Iterable[tuple[bytes, bytes, bytes]], below: str) -> list[Blob]:
    blobs = []
    for mode, blob, raw in rows:
        path = raw.decode("utf-8", "replace")[len(below) :]
        if _is_record(path):
            flaw = "" if mode in _FILES or not blob else "not a file: a link or a repository in a repository"
            blobs.append(Blob(path, blob.decode("ascii"), flaw))
    if len(blobs) > MAX_FILES:
        raise incoming.too_large()
    return blobs


def _is_record(path: str | bytes) -> bool:
    """Whether a path may be meant as one of a record or a draft: other files are not ours to look at."""
    text = path if isinstance(path, str) else path.decode("utf-8", "replace")
    return text.endswith(".json") and text.partition("/")[0] in _FOLDERS


def read_versions(mirror: Mirror, blobs: Sequence[Blob]) -> Iterator[Version]:
    """What the files hold, as many at a time as fit into memory."""
    sizes = _sizes(mirror, {blob.id for blob in blobs if blob.id and not blob.flaw})
    together: list[Blob] = []
    left = _TOGETHER
    for blob in blobs:
        size = sizes.get(blob.id, 0)
        if size > MAX_FILE_BYTES:
            yield Version(blob.path, b"", f"larger than {MAX_FILE_BYTES:,} bytes")
            continue
        if left < size:
            yield from _read(mirror, together)
            together, left = [], _TOGETHER
        together.append(blob)
        left -= size
    yield from _read(mirror, together)


def _sizes(mirror: Mirror, ids: Iterable[str]) -> dict[str, int]:
    sizes = {}
    for line in _batch(mirror, "--batch-check", ids).decode("ascii", "replace").splitlines():
        words = line.split(" ")
        if len(words) != 3 or words[1] != "blob":
            raise broken_mirror(line)
        sizes[words[0]] = int(words[2])
    return sizes


def _read(mirror: Mirror, blobs: Sequence[Blob]) -> Iterator[Version]:
    contents: dict[str, bytes] = {}
    answer = _batch(mirror, "--batch", {blob.id for blob in blobs if blob.id and not blob.flaw})
    at = 0
    while at < len(answer):
        head, _, _ = answer[at : at + 200].partition(b"\n")
        name, _, size = head.decode("ascii", "replace").split(" ")
        start = at + len(head) + 1
        contents[name] = answer[start : start + int(size)]
        at = start + int(size) + 1
    for blob in blobs:
        # An empty file is a broken one: to the engine no bytes mean that it was deleted.
        data = (contents[blob.id] or b"\n") if blob.id and not blob.flaw else b""
        yield Version(blob.path, data, blob.flaw)


def _batch(mirror: Mirror, how: str, ids: Iterable[str]) -> bytes:
    names = "".join(f"{each}\n" for each in ids).encode("ascii")
    return _ask(mirror, "cat-file", how, stdin=names) if names else b""


def _names(mirror: Mirror, commit: str) -> list[str]:
    listed = _ask(mirror, "ls-tree", "-z", "--name-only", commit).split(b"\0")
    return [name.decode("utf-8", "replace") for name in listed if name]


def _listed(mirror: Mirror, commit: str, folders: Iterable[str]) -> list[tuple[tuple[bytes, bytes], bytes]]:
    """Mode, id and path of every file in some folders of a commit."""
    inside = [folder if folder.endswith("/") else f"{folder}/" for folder in folders]
    rows = _ask(mirror, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *inside).split(b"\0")
    listed = []
    for row in filter(None, rows):
        about, _, path = row.partition(b"\t")
        mode, _, blob = about.split(b" ")
        listed.append(((mode, blob), path))
    return listed


def _ask(mirror: Mirror, *words: str, stdin: bytes = b"") -> bytes:
    answer = mirror.run_local(*words, stdin=stdin)
    if answer.status is None and "answered more" in answer.message:
        raise incoming.too_large()
    if not answer.is_good:
        raise broken_mirror(answer.message)
    return answer.output


class BrokenMirror(BadRemote):
    """Our own copy of a repository cannot be read; it can be fetched again."""


def broken_mirror(reason: str) -> BrokenMirror:
    return BrokenMirror(f"the fetched repository cannot be read: {reason[:200]}", fix="fetch it again: onrecord sync")


NEXT = "refs/onrecord/next"
"""The commit that is about to be pushed."""

_MOST_NAMED = 3


class Author(NamedTuple):
    """Who writes commits on this machine."""

    name: str
    email: str


def author(mirror: Mirror) -> Author:
    """The user as git knows them, or else as the system does."""
    listed = mirror.run_local("config", "--null", "--get-regexp", r"^user\.(name|email)$").text.split("\0")
    values = dict(entry.split("\n", 1) for entry in listed if "\n" in entry)
    user = _plain(_user())
    name, email = (_plain(values.get(key, "")) for key in ("user.name", "user.email"))
    return Author(name or user, email or f"{user}@{_plain(platform.node()) or 'localhost'}")


def own_branch(mirror: Mirror) -> str:
    """The branch for what the main one does not take: this user's, on this machine, for this remote."""
    user = naming.slug(_user())[:30] or "user"
    return f"onrecord/{user}-{content_hash(f'{platform.node()}{os.path.realpath(mirror.folder)}'.encode())[:6]}"


def make_commit(mirror: Mirror, parent: str, below: str, changes: Sequence[Push]) -> str:
    """Commit changes on top of a commit, or as the first one; the id of the new commit."""
    who = author(mirror)
    message = _message(changes).encode("utf-8")
    head = f"reset {NEXT}\n\ncommit {NEXT}\ncommitter {who.name} <{who.email}> {int(time.time())} +0000\n"
    parts = [head.encode("utf-8"), b"data %d\n%s\n" % (len(message), message)]
    if parent:
        parts.append(f"from {parent}\n".encode("ascii"))
    for path, data, _ in changes:
        place = f"{below}{path}".encode("ascii")
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (place, len(data), data) if data else b"D %s\n" % place)
    answer = mirror.run_local("fast-import", "--quiet", "--done", "--force", stdin=b"".join((*parts, b"\ndone\n")))
    commit = mirror.commit_of(NEXT) if answer.is_good else ""
    if not commit:
        raise broken_mirror(answer.message)
    return commit


def _message(changes: Sequence[Push]) -> str:
    names = [incoming.stem(change.path) for change in changes]
    listed = "".join(f"\n{'delete' if not change.data else 'write'} {change.path}" for change in changes[:100])
    subject = f"Sync {plural(len(names), 'file')}: {first_few(names, _MOST_NAMED)}"
    return f"{subject}\n\nWritten by `onrecord sync`.\n{listed}\n"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _plain(text: str) -> str:
    """A name as it may stand in the line of a commit."""
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip()
