"""The names of the files in a store that may be records."""

from __future__ import annotations

import os
from collections.abc import Iterator

from onrecord import files
from onrecord.errors import BadRecord, OnrecordError
from onrecord.record import schema


def every(root: str) -> Iterator[str]:
    """Relative paths of the files that may be records, folder by folder."""
    for folder in schema.FOLDERS.values():
        for name in names_in(root, folder):
            yield f"{folder}/{name}"


def names_in(root: str, folder: str) -> list[str]:
    """Names of the record files in one folder; a folder that cannot be read or leads out of the store holds none."""
    try:
        return names(root, folder)
    except OnrecordError:
        return []


def names(root: str, folder: str) -> list[str]:
    """The same, but BadRecord or UnsafePath for a folder that cannot be read."""
    full = os.path.join(root, folder)
    try:
        if os.path.islink(full):
            files.inside(root, folder)
        return sorted(name for name in os.listdir(full) if name.endswith(".json") and name[0] != ".")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadRecord(
            f"{folder}: {error.strerror or error}", fix=f"check the type and the permissions of {full}"
        ) from error
