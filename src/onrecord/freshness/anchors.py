"""Anchors: the state of a record's files when it was saved, so that later changes are noticed.

`related_files` refers to whole files or to parts: `src/auth.py`, `src/auth.py#login`, `src/auth.py#L10-L20`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from onrecord import files, paths
from onrecord.coldstart import content_hash, dumps
from onrecord.errors import UnsafePath
from onrecord.freshness import project_files
from onrecord.freshness.check import IndexedAnchor
from onrecord.git import repository, work_tree
from onrecord.record.memory import Anchor, Memory

MAX_ANCHORS = 100


def project_root(store_root: str) -> str:
    """Return the root of the project that a store belongs to; empty for the user's own store."""
    real = os.path.realpath(store_root)
    root, tail = real[: -len(paths.STORE)], real[-len(paths.STORE) :]
    is_project = tail == paths.STORE and real != os.path.realpath(paths.user_store())
    return root.rstrip(os.sep) or os.sep if is_project else ""


def add_missing(record: Memory, root: str, now: str) -> Memory:
    """Return `record` with an anchor for each of its files that has none yet and can be read."""
    if not root or not (record.related_files or record.anchors):
        return record
    references = dict.fromkeys(split_reference(root, text) for text in record.related_files)
    head = _head(root)
    anchors = [anchor if anchor.blob or anchor.hash else _retake(anchor, root, head, now) for anchor in record.anchors]
    covered = {(anchor.path, anchor.symbol) for anchor in anchors}
    paths_covered = {anchor.path for anchor in anchors}
    for path, symbol in references:
        if (path, symbol) not in covered and (symbol or path not in paths_covered):
            anchor = take(root, path, symbol, head, now)
            anchors += [anchor] if anchor else []
    files = tuple(dict.fromkeys(path for path, _ in references))
    return record._replace(related_files=files, anchors=tuple(anchors)[:MAX_ANCHORS])


def renew(before: Memory, after: Memory, root: str, now: str) -> Memory:
    """Return the updated record `after` with anchors for its files; new ones if the record's content changed."""
    if root and after.content != before.content and after.anchors == before.anchors:
        head = _head(root)
        after = after._replace(anchors=tuple(_retake(anchor, root, head, now) for anchor in after.anchors))
    dropped = set(before.related_files).difference(after.related_files)
    remaining = tuple(anchor for anchor in after.anchors if anchor.path not in dropped)
    return add_missing(after._replace(anchors=remaining), root, now)


def confirm(record: Memory, root: str, now: str, moved: Mapping[str, str]) -> Memory:
    """Return `record` with new anchors for its current files, without missing ones. `moved` maps old to new paths."""
    files = tuple(dict.fromkeys(moved.get(file, file) for file in record.related_files))
    bare = tuple(Anchor(moved.get(a.path, a.path), symbol=a.symbol, unknown=a.unknown) for a in record.anchors)
    record = add_missing(record._replace(related_files=files, anchors=bare), root, now)
    return record._replace(anchors=tuple(anchor for anchor in record.anchors if anchor.blob or anchor.hash))


def take(root: str, path: str, symbol: str, head: str | None, now: str) -> Anchor | None:
    """Return the anchor of a file as it is now; None if it is not a file of the project, or too large.

    Raises Unwritable if the disk does not give it: that must not count as a file that is gone.

    `head` is the current commit: empty before the first one, None without git.
    """
    try:
        data = project_files.read(root, path)
    except UnsafePath as error:
        if isinstance(error.__cause__, OSError) and files.is_fault(error.__cause__):
            raise files.unreadable(os.path.join(root, path), error.__cause__) from error
        return None
    if data is None or len(data) > project_files.MAX_FILE_BYTES:
        return None
    block = project_files.block_id(data, symbol) if symbol else ""
    if head is None:
        return Anchor(path, hash=content_hash(data), symbol=symbol, block=block, date=now)
    return Anchor(path, blob=work_tree.blob_id(data, len(head)), commit=head, symbol=symbol, block=block, date=now)


def to_indexed(record: Memory) -> list[IndexedAnchor]:
    """Return the anchors of `record` that can be checked: those with a hash of the file."""
    return [
        IndexedAnchor(a.path, a.blob or a.hash, a.commit, (a.date or record.updated_at)[:10], a.symbol, a.block)
        for a in record.anchors
        if a.path and (a.blob or a.hash)
    ]


def dump(record: Memory) -> str:
    """Return the anchors of `record` as JSON for the search index; empty if there are none."""
    anchors = to_indexed(record)
    return dumps(anchors) if anchors else ""


def split_reference(root: str, text: str) -> tuple[str, str]:
    """Split an entry of `related_files` into a path relative to the project and a symbol, which may be empty."""
    path = text
    if os.path.isabs(path) and paths.is_within(root, path):
        path = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    file, _, symbol = path.partition("#")
    if symbol and not _is_file(root, path) and _is_file(root, file):
        return file, symbol
    return path or text, ""


def _is_file(root: str, path: str) -> bool:
    return project_files.is_lexically_inside(path) and os.path.isfile(os.path.join(root, path))


def _retake(anchor: Anchor, root: str, head: str | None, now: str) -> Anchor:
    """Return a new anchor of the same file, or `anchor` itself if the file cannot be anchored."""
    new = take(root, anchor.path, anchor.symbol, head, now)
    return new._replace(unknown=anchor.unknown) if new else anchor


def _head(root: str) -> str | None:
    repo = repository.find(root)
    return repo.head if repo else None
