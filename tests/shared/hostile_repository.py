"""A git repository whose trees hold what no working tree could: every name and mode that the format has room for."""

from __future__ import annotations

import hashlib
import subprocess
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Union

FILE, PROGRAM, LINK, SUBMODULE = b"100644", b"100755", b"120000", b"160000"
_FOLDER = b"40000"
_WHO = "Mallory <mallory@example.org> 1700000000 +0000"


class Node(NamedTuple):
    """A file of a tree: its mode, and its content or, for a submodule, nothing."""

    data: bytes
    mode: bytes = FILE


Tree = Mapping[bytes, Union["Tree", Node]]  # type: ignore[misc]


class HostileRepository:
    """A bare repository that is written object by object, past all that git checks."""

    def __init__(self, root: Path) -> None:
        self.root = root
        subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(root)), check=True, timeout=120)

    @property
    def url(self) -> str:
        return str(self.root)

    def commit(self, tree: Tree) -> None:
        """Make a tree the newest commit of the main branch."""
        head = self.root / "refs" / "heads" / "main"
        parent = f"parent {head.read_text()}" if head.exists() else ""
        body = f"tree {self._tree(tree)}\n{parent}author {_WHO}\ncommitter {_WHO}\n\nx\n"
        head.write_text(self._object(b"commit", body.encode()) + "\n")

    def _tree(self, tree: Tree) -> str:
        rows = sorted((self._row(name, node) for name, node in tree.items()), key=lambda row: row[1])
        return self._object(
            b"tree", b"".join(mode + b" " + name + b"\0" + bytes.fromhex(id) for mode, name, id in rows)
        )

    def _row(self, name: bytes, node: Tree | Node) -> tuple[bytes, bytes, str]:
        if not isinstance(node, Node):
            return _FOLDER, name, self._tree(node)
        if node.mode == SUBMODULE:
            return node.mode, name, "1" * 40
        return node.mode, name, self._object(b"blob", node.data)

    def _object(self, kind: bytes, data: bytes) -> str:
        """Write an object as git keeps it: git itself would refuse to make some of them."""
        whole = kind + b" %d\0" % len(data) + data
        name = hashlib.sha1(whole).hexdigest()
        file = self.root / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(whole, 1))
        return name


def folded(paths: Iterable[tuple[bytes, Node]]) -> Tree:
    """Return the tree of `paths`, in which a slash is a folder."""
    tree: dict[bytes, Tree | Node] = {}
    for path, node in paths:
        *folders, name = path.split(b"/")
        inner = tree
        for folder in folders:
            inner = inner.setdefault(folder, {})  # type: ignore[assignment]
        inner[name] = node
    return tree
