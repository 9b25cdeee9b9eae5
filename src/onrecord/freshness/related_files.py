"""Checks that the files in a record's `related_files` exist, and suggests what was probably meant.

Otherwise a record with a misspelt file name would never be shown when that file is edited. Hooks do not use this
module, only commands do.
"""

from __future__ import annotations

import difflib
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, UnsafePath
from onrecord.freshness import anchors, project_files
from onrecord.git import repository
from onrecord.record.schema import shorten

_GIT_SECONDS = 5.0
"""Time for git to list the files of a project."""

_MAX_FILES = 50_000
"""Files that a misspelt name is compared with, which takes half a second."""

_MAX_NAMES = 5_000
_MIN_SIMILARITY = 0.7
"""Similarity of two names, from 0 to 1, at which one may be a misspelling of the other."""

_GLOB = ("*", "?")
_INSIDE = "name files relative to the project, such as src/auth.py"
_LATER = "correct it, or add --force for a file that does not exist yet"


class FileProblem(NamedTuple):
    """An entry of `related_files` that is not a file, what is wrong with it, and a suggestion, if any."""

    text: str
    what: str
    nearest: str = ""
    is_outside: bool = False
    """True if it can never be a file of this project."""


def refuse_missing(root: str, texts: Iterable[str], *, may_come: bool) -> None:
    """Raise BadInput if one of `texts` is not a file of the project.

    With `may_come`, a file inside the project may be missing.
    """
    wrong = [problem for problem in problems(root, texts) if problem.is_outside or not may_come]
    if wrong:
        what = "; ".join(f"related file {shorten(problem.text)!r} {problem.what}" for problem in wrong)
        nearest = [problem.nearest for problem in wrong if problem.nearest]
        guess = f"did you mean {', '.join(nearest)}? " if nearest else ""
        is_outside = any(problem.is_outside for problem in wrong)
        field_errors = (("related_files", f"{what}; {guess}".rstrip("; ")),)
        raise BadInput(what, fix=guess + (_INSIDE if is_outside else _LATER), field_errors=field_errors)


def refuse_missing_in_store(
    store_root: str, texts: Iterable[str], old_texts: Collection[str] = (), *, may_come: bool
) -> None:
    """Call `refuse_missing` for a record of a store, without the `old_texts` it had before the update.

    The user's own store belongs to no project, so it has no files to check.
    """
    root = anchors.project_root(store_root)
    if root:
        refuse_missing(root, [text for text in texts if text not in old_texts], may_come=may_come)


def problems(root: str, texts: Iterable[str]) -> Iterator[FileProblem]:
    """Yield the problems with entries of `related_files`. Globs are not checked: they may match future files."""
    for text in texts:
        path, symbol = anchors.split_reference(root, text)
        if any(sign in path for sign in _GLOB):
            continue
        problem = _check_file(root, text, path) or (_check_symbol(root, text, path, symbol) if symbol else None)
        if problem:
            yield problem


def _check_file(root: str, text: str, path: str) -> FileProblem | None:
    full = os.path.join(root, path)
    if not project_files.is_lexically_inside(path) or not paths.is_within(root, full):
        return FileProblem(text, "is outside the project", is_outside=True)
    if files.status(full) is not None:
        return None
    file, _, symbol = path.partition("#")
    nearest = _nearest_file(root, file)
    return FileProblem(text, "does not exist", f"{nearest}#{symbol}" if nearest and symbol else nearest)


def _nearest_file(root: str, path: str) -> str:
    """Return the file with the name most similar to that of `path`; of several, the one with the most similar path.

    Empty if no name is similar.
    """
    by_name: dict[str, list[str]] = {}
    for file in _files(root):
        by_name.setdefault(_stem(file), []).append(file)
    name = _most_similar(_stem(path), by_name)
    return _most_similar(path, by_name[name], cutoff=0) if name else ""


def _most_similar(text: str, choices: Iterable[str], cutoff: float = _MIN_SIMILARITY) -> str:
    return next(iter(difflib.get_close_matches(text, list(choices), cutoff=cutoff)), "")


def _stem(path: str) -> str:
    return os.path.splitext(path.rstrip("/").rpartition("/")[2])[0].lower()


def _files(root: str) -> list[str]:
    repo = repository.find(root)
    if repo:
        prefix = repo.inner(root)
        listing = ("ls-files", "--cached", "--others", "--exclude-standard", "-z", *(("--", prefix) if prefix else ()))
        result = repo.run(*listing, deadline=time.monotonic() + _GIT_SECONDS, in_work_tree=True)
        names = result.output.decode("utf-8", "replace").split("\0")[:_MAX_FILES]
        return [name[len(prefix) :] for name in names if name]
    return list(_walk(root))


def _walk(root: str) -> Iterator[str]:
    count = 0
    for folder, folders, names in files.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            count += 1
            if count >= _MAX_FILES:
                return


def _check_symbol(root: str, text: str, path: str, symbol: str) -> FileProblem | None:
    """Return the problem if `symbol` is not in its file. It may just occur there, without being defined."""
    try:
        data = project_files.read(root, path) or b""
    except UnsafePath:
        return FileProblem(text, "cannot be read")
    if len(data) > project_files.MAX_FILE_BYTES or project_files.block_id(data, symbol):
        return None
    if project_files.line_range(symbol):
        return FileProblem(text, f"refers to lines that {path} does not have")
    names = list(dict.fromkeys(re.findall(r"[^\W\d]\w+", data.decode("utf-8", "replace"))))[:_MAX_NAMES]
    parts = re.split(r"\.|::", symbol.removesuffix("()"))
    if parts[-1] in names:
        return None
    similar = _most_similar(parts[-1], names)
    nearest = f"{path}#{'.'.join([*parts[:-1], similar])}" if similar else ""
    return FileProblem(text, f"refers to a part that {path} does not have", nearest)
