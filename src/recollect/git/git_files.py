"""The files that tell git how to keep a store: what to leave out, and how to merge what it keeps."""

from __future__ import annotations

import os

from recollect import files, paths
from recollect.errors import RecollectError, Unwritable

DRIVER = "recollect"
_LARGEST = 1_000_000
WANTED = {
    ".gitignore": (".lock", ".journal", ".tmp-*", f"{paths.INBOX}/"),
    ".gitattributes": (f"{paths.INDEX_MD} merge=union", f"*/*.json merge={DRIVER}"),
}


def ensure(root: str) -> list[str]:
    """Write what is missing of a store's git files; the names of those that changed."""
    return [name for name, lines in WANTED.items() if _complete(root, name, lines)]


def missing(root: str) -> list[str]:
    """Names of the store's git files that lack something."""
    return [name for name, lines in WANTED.items() if _lacking(_read_if_possible(root, name), lines)]


def _complete(root: str, name: str, lines: tuple[str, ...]) -> bool:
    text = _read(root, name)
    lacking = _lacking(text, lines)
    if lacking:
        gap = "\n" if text and not text.endswith("\n") else ""
        whole = text + gap + "\n".join(lacking) + "\n"
        files.write(os.path.join(root, name), whole.encode("utf-8", "surrogateescape"))
    return bool(lacking)


def _lacking(text: str, lines: tuple[str, ...]) -> list[str]:
    """The lines whose pattern the file does not mention: what a user wrote about one is left as it is."""
    spoken = {words[0].lstrip("!") for words in map(str.split, text.splitlines()) if words}
    return [line for line in lines if line.split()[0] not in spoken]


def _read_if_possible(root: str, name: str) -> str:
    try:
        return _read(root, name)
    except RecollectError:
        return ""


def _read(root: str, name: str) -> str:
    """The text of a git file; a link out of the store is refused, or its target would end up in the repository."""
    full = files.inside(root, name)
    try:
        return files.read(full, _LARGEST).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unwritable(f"cannot read {full}: {error.strerror or error}", fix=f"move {full} away") from error
