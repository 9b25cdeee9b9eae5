"""Anchors: the state of a record's files when it was saved, so that later changes are noticed.

A file is named in `related_files`, whole or with the part that is meant: `src/auth.py#login`, `src/auth.py#L10-L20`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from onrecord import paths
from onrecord.coldstart import content_hash, dumps
from onrecord.errors import UnsafePath
from onrecord.freshness import project_files
from onrecord.freshness.check import IndexedAnchor
from onrecord.git import repository, work_tree
from onrecord.record.memory import Anchor, Memory

MAX_ANCHORS = 100


def project_root(store_root: str) -> str:
    """The project a store belongs to; empty for the user's own store, whose records are tied to no project."""
    real = os.path.realpath(store_root)
    root, tail = real[: -len(paths.STORE)], real[-len(paths.STORE) :]
    is_project = tail == paths.STORE and real != os.path.realpath(paths.user_store())
    return root.rstrip(os.sep) or os.sep if is_project else ""


def add_missing(record: Memory, root: str, now: str) -> Memory:
    """A record with an anchor for each of its files that has none yet and can be read."""
    if not root or not (record.related_files or record.anchors):
        return record
    named = dict.fromkeys(split_reference(root, text) for text in record.related_files)
    head = _head(root)
    whole = [anchor if anchor.blob or anchor.hash else _retaken(anchor, root, head, now) for anchor in record.anchors]
    covered = {(anchor.path, anchor.symbol) for anchor in whole}
    paths_covered = {anchor.path for anchor in whole}
    for path, symbol in named:
        if (path, symbol) not in covered and (symbol or path not in paths_covered):
            taken = take(root, path, symbol, head, now)
            whole += [taken] if taken else []
    return record._replace(
        related_files=tuple(dict.fromkeys(path for path, _ in named)), anchors=tuple(whole)[:MAX_ANCHORS]
    )


def renew(before: Memory, after: Memory, root: str, now: str) -> Memory:
    """A changed record with its anchors: new content was checked against the files as they are now."""
    if root and after.content != before.content and after.anchors == before.anchors:
        head = _head(root)
        after = after._replace(anchors=tuple(_retaken(anchor, root, head, now) for anchor in after.anchors))
    dropped = set(before.related_files).difference(after.related_files)
    remaining = tuple(anchor for anchor in after.anchors if anchor.path not in dropped)
    return add_missing(after._replace(anchors=remaining), root, now)


def confirm(record: Memory, root: str, now: str, moved: Mapping[str, str]) -> Memory:
    """A record anchored to its files as they are now, under the paths they have now; lost files are dropped."""
    files = tuple(dict.fromkeys(moved.get(file, file) for file in record.related_files))
    bare = tuple(Anchor(moved.get(a.path, a.path), symbol=a.symbol, unknown=a.unknown) for a in record.anchors)
    whole = add_missing(record._replace(related_files=files, anchors=bare), root, now)
    return whole._replace(anchors=tuple(anchor for anchor in whole.anchors if anchor.blob or anchor.hash))


def take(root: str, path: str, symbol: str, head: str | None, now: str) -> Anchor | None:
    """The anchor of a file as it is now; None if it is not a file of the project, or too large.

    `head` is the commit that is checked out, empty before the first one, and None where there is no git.
    """
    try:
        data = project_files.read(root, path)
    except UnsafePath:
        return None
    if data is None or len(data) > project_files.MAX_FILE_BYTES:
        return None
    block = project_files.block_id(data, symbol) if symbol else ""
    if head is None:
        return Anchor(path, hash=content_hash(data), symbol=symbol, block=block, date=now)
    return Anchor(path, blob=work_tree.blob_id(data, len(head)), commit=head, symbol=symbol, block=block, date=now)


def to_indexed(record: Memory) -> list[IndexedAnchor]:
    """A record's anchors as they are checked: those that say what the file was."""
    return [
        IndexedAnchor(a.path, a.blob or a.hash, a.commit, (a.date or record.updated_at)[:10], a.symbol, a.block)
        for a in record.anchors
        if a.path and (a.blob or a.hash)
    ]


def dump(record: Memory) -> str:
    """A record's anchors as the search index holds them: JSON lists; empty if there is none."""
    anchors = to_indexed(record)
    return dumps(anchors) if anchors else ""


def split_reference(root: str, text: str) -> tuple[str, str]:
    """The file that a text names, relative to the project, and the part of it that is meant."""
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


def _retaken(anchor: Anchor, root: str, head: str | None, now: str) -> Anchor:
    """The anchor of the same file as it is now, or the old one where the file cannot be anchored."""
    taken = take(root, anchor.path, anchor.symbol, head, now)
    return taken._replace(unknown=anchor.unknown) if taken else anchor


def _head(root: str) -> str | None:
    repo = repository.find(root)
    return repo.head if repo else None
