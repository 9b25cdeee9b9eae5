"""Whether what a record says it is about is there, and what its author probably meant if it is not.

For commands only: a misspelt file makes a record that is never shown at the file it means.
"""

from __future__ import annotations

import difflib
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, UnsafePath
from onrecord.freshness import anchors, project_files
from onrecord.git import repository
from onrecord.record.schema import shorten

_PATIENCE = 5.0
"""Seconds for git to list the files of a project."""

_MOST_FILES = 50_000
"""Files among which a misspelt name is looked for: half a second of comparing."""

_MOST_NAMES = 5_000
_ALIKE = 0.7
"""Similarity of two names, of 1, from which the one may be a misspelling of the other."""

_GLOB = ("*", "?")
_INSIDE = "name files relative to the project, such as src/auth.py"
_LATER = "correct it, or add --force for a file that will come"


class FileProblem(NamedTuple):
    """A related file that is not there: what is wrong, and what was probably meant, if anything."""

    text: str
    what: str
    nearest: str = ""
    is_outside: bool = False
    """Whether it can never be a file of this project."""


def refuse_missing(root: str, texts: Iterable[str], *, may_come: bool) -> None:
    """BadInput if a text names no file of a project, unless that may still come."""
    wrong = [flaw for flaw in problems(root, texts) if flaw.is_outside or not may_come]
    if wrong:
        what = "; ".join(f"related file {shorten(flaw.text)!r} {flaw.what}" for flaw in wrong)
        nearest = [flaw.nearest for flaw in wrong if flaw.nearest]
        guess = f"did you mean {', '.join(nearest)}? " if nearest else ""
        is_outside = any(flaw.is_outside for flaw in wrong)
        places = (("related_files", f"{what}; {guess}".rstrip("; ")),)
        raise BadInput(what, fix=guess + (_INSIDE if is_outside else _LATER), places=places)


def refuse_missing_in_store(
    store_root: str, texts: Iterable[str], before: Collection[str] = (), *, may_come: bool
) -> None:
    """The same for a record of a store, of the files that it did not name before; the user's own is about none."""
    root = anchors.project_root(store_root)
    if root:
        refuse_missing(root, [text for text in texts if text not in before], may_come=may_come)


def problems(root: str, texts: Iterable[str]) -> Iterator[FileProblem]:
    """What is wrong with texts that name files of a project; globs may match what is still to come."""
    for text in texts:
        path, symbol = anchors.split_reference(root, text)
        if any(sign in path for sign in _GLOB):
            continue
        flaw = _missing(root, text, path) or (_no_symbol(root, text, path, symbol) if symbol else None)
        if flaw:
            yield flaw


def _missing(root: str, text: str, path: str) -> FileProblem | None:
    full = os.path.join(root, path)
    if not project_files.is_lexically_inside(path) or not paths.is_within(root, full):
        return FileProblem(text, "lies outside the project", is_outside=True)
    if os.path.exists(full):
        return None
    file, _, symbol = path.partition("#")
    nearest = _nearest_file(root, file)
    return FileProblem(text, "is not there", f"{nearest}#{symbol}" if nearest and symbol else nearest)


def _nearest_file(root: str, path: str) -> str:
    """The file that has this name elsewhere, or a name like it; of several, the one with a path like it."""
    by_name: dict[str, list[str]] = {}
    for each in _files(root):
        by_name.setdefault(_stem(each), []).append(each)
    names = difflib.get_close_matches(_stem(path), by_name, n=1, cutoff=_ALIKE)
    nearest = difflib.get_close_matches(path, by_name[names[0]], n=1, cutoff=0) if names else []
    return nearest[0] if nearest else ""


def _stem(path: str) -> str:
    return os.path.splitext(path.rstrip("/").rpartition("/")[2])[0].lower()


def _files(root: str) -> list[str]:
    repo = repository.find(root)
    if repo:
        prefix = repo.inner(root)
        listing = ("ls-files", "--cached", "--others", "--exclude-standard", "-z", *(("--", prefix) if prefix else ()))
        answer = repo.run(*listing, deadline=time.monotonic() + _PATIENCE, in_work_tree=True)
        names = answer.output.decode("utf-8", "replace").split("\0")[:_MOST_FILES]
        return [name[len(prefix) :] for name in names if name]
    return list(_walked(root))


def _walked(root: str) -> Iterator[str]:
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            count += 1
            if count >= _MOST_FILES:
                return


def _no_symbol(root: str, text: str, path: str, symbol: str) -> FileProblem | None:
    """A part of a file that is not in it; a name that is there counts, even where we see no definition."""
    try:
        data = project_files.read(root, path) or b""
    except UnsafePath:
        return FileProblem(text, "cannot be read")
    if len(data) > project_files.MAX_FILE_BYTES or project_files.block_id(data, symbol):
        return None
    if project_files.line_range(symbol):
        return FileProblem(text, f"names lines that {path} does not have")
    names = list(dict.fromkeys(re.findall(r"[^\W\d]\w+", data.decode("utf-8", "replace"))))[:_MOST_NAMES]
    wanted = re.split(r"\.|::", symbol.removesuffix("()"))
    if wanted[-1] in names:
        return None
    alike = difflib.get_close_matches(wanted[-1], names, n=1, cutoff=_ALIKE)
    nearest = f"{path}#{'.'.join([*wanted[:-1], alike[0]])}" if alike else ""
    return FileProblem(text, f"names a part that {path} does not have", nearest)
