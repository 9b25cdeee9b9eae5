"""The folders a client works in, asked for where it has not started the server in one that has a memory."""

from __future__ import annotations

import os

from onrecord import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

ID = "onrecord-roots"
REQUEST = {"jsonrpc": "2.0", "id": ID, "method": "roots/list"}
_MOST = 50
_SCHEME = "file://"


def has_memory(folder: str) -> bool:
    """Whether the project of a folder has a store of its own."""
    store = paths.project_store(folder)
    return os.path.isdir(store) and os.path.realpath(store) != os.path.realpath(paths.user_store())


def chosen(response: Mapping[str, Any]) -> str:
    """The first folder in a client's answer whose project has a store; empty if none has."""
    result = response.get("result") if response.get("id") == ID else None
    listed = result.get("roots") if isinstance(result, dict) else None
    return next(filter(has_memory, _folders(listed if isinstance(listed, list) else [])), "")


def _folders(roots: list[Any]) -> Iterator[str]:
    for root in roots[:_MOST]:
        uri = root.get("uri") if isinstance(root, dict) else None
        path = _path(uri) if isinstance(uri, str) and uri.startswith(_SCHEME) else ""
        if os.path.isabs(path) and "\0" not in path and os.path.isdir(path):
            yield path


def _path(uri: str) -> str:
    """The path in a `file://` address of this machine."""
    from urllib.parse import unquote

    path = unquote(uri[len(_SCHEME) :], errors="surrogateescape").removeprefix("localhost")
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path
