"""The files that tell git how to keep a store: what to leave out, and how to merge what it keeps."""

from __future__ import annotations

import os

from recollect import files, paths

DRIVER = "recollect"
WANTED = {
    ".gitignore": (".lock", ".journal", ".tmp-*", f"{paths.INBOX}/"),
    ".gitattributes": (f"{paths.CATALOG} merge=union", f"*/*.json merge={DRIVER}"),
}


def ensure(root: str) -> list[str]:
    """Write what is missing of a store's git files; the names of those that changed."""
    return [name for name, lines in WANTED.items() if _complete(os.path.join(root, name), lines)]


def missing(root: str) -> list[str]:
    """Names of the store's git files that lack something."""
    return [name for name, lines in WANTED.items() if _lacking(_read(os.path.join(root, name)), lines)]


def _complete(path: str, lines: tuple[str, ...]) -> bool:
    text = _read(path)
    lacking = _lacking(text, lines)
    if lacking:
        gap = "\n" if text and not text.endswith("\n") else ""
        files.write(path, (text + gap + "\n".join(lacking) + "\n").encode("utf-8", "surrogateescape"))
    return bool(lacking)


def _lacking(text: str, lines: tuple[str, ...]) -> list[str]:
    """The lines whose pattern the file does not mention: what a user wrote about one is left as it is."""
    spoken = {words[0].lstrip("!") for words in map(str.split, text.splitlines()) if words}
    return [line for line in lines if line.split()[0] not in spoken]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:
        return ""
