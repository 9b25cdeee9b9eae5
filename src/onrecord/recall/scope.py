"""The scope of a record compared with a project: by repository, languages, files and branch.

Everything is read as data and within bounds: git is not run, no link is followed, and what was found out is kept for
the next record. A hook asks this only for records that are limited at all.
"""

from __future__ import annotations

import os

from onrecord import globs, paths, scopes
from onrecord.text import first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onrecord.scopes import Scope

_MAX_ENTRIES = 4_000
"""Files and folders that are looked at for a glob: a few milliseconds. With more, the record counts as fitting."""

_MAX_COMPARED_CHARACTERS = 2_000_000
"""Characters of paths that globs are compared with, for all records: half a second, whatever the globs are. A record
that would need more counts as fitting."""

_GLOB_COST = 2_000
"""Fixed cost of one glob, in characters compared."""

_MAX_NAMES = 2_000
"""Names that are looked at for languages, in the project's folder and in the folders directly in it."""

_MAX_NAMED = 3
"""Patterns that are named where a record does not apply."""

_PASSED_OVER = ("node_modules", "__pycache__", "vendor", "target", "dist")
"""Folders with files of others, or made by programs."""


class ProjectScope:
    """A project that the scopes of records are compared with; everything is found out once, when it is needed."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._answers: dict[tuple[str, str], str] = {}
        self._names: list[str] | None = None
        self._languages: set[str] | None = None
        self._listed: tuple[list[str], bool] | None = None
        self._compared = 0

    def fits(self, scope: str, file: str = "") -> bool:
        """True if a record with this scope, as `scopes.pack` writes it, applies in the project, or at a file of it."""
        return not scope or not self.misfit(scope, file)

    def misfit(self, scope: str, file: str = "") -> str:
        """Return what keeps a record from applying, such as `branch release/*`; empty if it applies.

        This alone decides for every store and moment. Without a `file`, a path fits if it covers any file of the
        project; with one, if it covers that file.
        """
        if (scope, file) not in self._answers:
            self._answers[scope, file] = self._misfit(scopes.unpack(scope), file)
        return self._answers[scope, file]

    def _misfit(self, limits: Scope, file: str) -> str:
        kinds: list[tuple[str, Sequence[str], Callable[[str], bool]]] = [
            ("repository", limits.repositories, self._is_called),
            ("language", limits.languages, lambda language: self._has_language(language, file)),
            ("branch", limits.branches, self._is_on),
            ("path", limits.paths, (lambda pattern: globs.matches(pattern, file)) if file else self._has_file),
        ]
        for kind, patterns, fits in kinds:
            if patterns and not (self._project and any(map(fits, patterns))):
                return f"{kind} {first_few(patterns, _MAX_NAMED)}"
        return ""

    def _is_called(self, pattern: str) -> bool:
        if self._names is None:
            self._names = _names(self._project)
        return any(globs.matches(pattern.lower(), name) for name in self._names)

    def _has_language(self, language: str, file: str) -> bool:
        if file and language in scopes.languages_of([os.path.basename(file)]):
            return True
        if self._languages is None:
            self._languages = scopes.languages_of(_listing(self._project))
        return language in self._languages

    def _is_on(self, pattern: str) -> bool:
        from onrecord.git import repository

        repo = repository.find(self._project)
        branch = repo.branch if repo else ""
        # As in a digest: where no branch is checked out, a record for some branches applies.
        return not branch or globs.matches(pattern, branch)

    def _has_file(self, pattern: str) -> bool:
        plain = pattern.strip("/").removeprefix("./")
        if "*" not in plain and "?" not in plain:
            full = os.path.join(self._project, plain)
            return paths.is_within(self._project, full) and os.path.lexists(full)
        if self._listed is None:
            first = [path for _, path in zip(range(_MAX_ENTRIES + 1), _walk(self._project))]
            self._listed = first[:_MAX_ENTRIES], len(first) > _MAX_ENTRIES
        files, has_more = self._listed
        if has_more or self._compared > _MAX_COMPARED_CHARACTERS:
            return True
        ending = plain[max(plain.rfind("*"), plain.rfind("?")) + 1 :]
        # A glob without a slash is compared with names, wherever they are.
        start = plain.replace("?", "*").partition("*")[0].rstrip("/") if "/" in plain else ""
        alike = [path for path in files if path.endswith(ending) and path.startswith(start)]
        self._compared += _GLOB_COST + sum(map(len, alike))
        return self._compared > _MAX_COMPARED_CHARACTERS or any(globs.matches(plain, path) for path in alike)


def _names(project: str) -> list[str]:
    """Return the names for repository patterns: `host/owner/name` of git's origin, its ends, and the folder."""
    from onrecord.git import repository

    repo = repository.find(project)
    folders = {os.path.basename(project), os.path.basename(repo.root if repo else project)}
    parts = identity(repo.origin).split("/") if repo else [""]
    ends = ["/".join(parts[start:]) for start in range(len(parts))]
    return [name.lower() for name in (*ends, *sorted(folders)) if name]


def identity(url: str) -> str:
    """Return `host/owner/name` of a repository's address in any form; empty for a path on a disk."""
    scheme, separator, rest = url.partition("://")
    if separator:
        authority, _, path = rest.partition("/")
        host = authority.rpartition("@")[2].partition(":")[0]
    else:
        authority, colon, path = url.partition(":")
        host = authority.rpartition("@")[2] if colon and "/" not in authority else ""
    path = path.strip("/")
    whole = f"{host}/{path[: -len('.git')] if path.endswith('.git') else path}"
    return whole if host and path and scheme != "file" and whole.isprintable() else ""


def _listing(project: str) -> Iterator[str]:
    """Yield the names of the files in a project's folder, and in the folders directly in it, within a bound."""
    names_left = _MAX_NAMES
    for folder in (project, *(entry.path for entry in _entries(project) if _is_looked_into(entry))):
        for entry in _entries(folder):
            names_left -= 1
            if names_left < 0:
                return
            if not entry.is_dir(follow_symlinks=False):
                yield entry.name


def _walk(project: str) -> Iterator[str]:
    """Yield the paths of files and folders in a project, those nearest to its root first."""
    folders = [""]
    for folder in folders:
        for entry in _entries(os.path.join(project, folder)):
            path = f"{folder}/{entry.name}" if folder else entry.name
            yield path
            if _is_looked_into(entry):
                folders.append(path)


def _is_looked_into(dir_entry: os.DirEntry[str]) -> bool:
    return dir_entry.is_dir(follow_symlinks=False) and dir_entry.name not in (".git", *_PASSED_OVER)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, within a bound and in order; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for _, entry in zip(range(_MAX_ENTRIES), entries)), key=lambda entry: entry.name)
    except OSError:
        return []
