"""The files of a repository and the state of the records about them: the numbers behind the map."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from onrecord import globs
from onrecord.coldstart import NamedTuple
from onrecord.git import repository

BARE, COVERED, CHANGED, CORRECTED = "bare", "covered", "changed", "corrected"
STATES = (BARE, COVERED, CHANGED, CORRECTED)
"""The states of a file: no record names it, one does, it changed since, the user corrected an agent with it. Of several
the last one counts."""

_GIT_TIMEOUT_SECONDS = 3.0
_MAX_FILES = 200_000
_MAX_DEPTH = 40
"""Levels of folders; what is deeper counts as a file of the last one."""

_MAX_COMPARED = 60_000
"""Comparisons of a glob with a file: half a second."""


class RecordedFiles(NamedTuple):
    """The files, folders and globs that one record names, and the state that it puts them into."""

    patterns: Sequence[str]
    state: str = COVERED


_NO_FILES = dict.fromkeys(STATES, 0)


class Area:
    """A folder or a file of the repository, with the numbers of the records about it."""

    __slots__ = ("below", "children", "direct", "files", "name", "path", "states")

    def __init__(self, path: str, name: str) -> None:
        self.path = path
        self.name = name
        self.children: dict[str, Area] = {}
        """What is in the folder; empty for a file."""
        self.files = 0
        self.direct: set[int] = set()
        """Numbers of the records that name exactly this folder or file."""
        self.below: set[int] = set()
        """Numbers of the records that name it or something in it."""
        self.states = _NO_FILES.copy()
        """Number of files in each state."""

    @property
    def with_records(self) -> int:
        return self.files - self.states[BARE]

    @property
    def state(self) -> str:
        """The state that needs a look most, of all files in it."""
        return next((state for state in reversed(STATES) if self.states[state]), BARE)

    def add_counts(self, child: Area) -> None:
        """Count the files of `child`, too."""
        self.files += child.files
        if child.below:
            self.below |= child.below
        for state, number in child.states.items():
            self.states[state] += number

    def leaves(self) -> Iterator[Area]:
        """Yield the files in it, or itself if it is one."""
        if not self.children:
            yield self
        for child in self.children.values():
            yield from child.leaves()


class Coverage(NamedTuple):
    """The repository as a tree, and what was left out of it."""

    root: Area
    is_complete: bool
    """False if there are so many globs or files that some were not looked at."""

    def area(self, path: str) -> Area | None:
        """Return the folder or file at `path`; None if there is none."""
        area: Area | None = self.root
        for name in path.strip("/").split("/") if path.strip("/") else ():
            area = area.children.get(name) if area else None
        return area

    def numbers_about(self, area: Area) -> set[int]:
        """Return the numbers of the records about an area: those that name it, a part of it, or a folder above it."""
        numbers, parent = set(area.below), self.root
        for name in area.path.split("/") if area.path else ():
            numbers |= parent.direct
            parent = parent.children[name]
        return numbers


def tracked_files(root: str) -> list[str]:
    """Return the files that git tracks; empty without a repository."""
    repo = repository.find(root)
    if repo is None:
        return []
    result = repo.run("ls-files", "-z", "--", ".", deadline=time.monotonic() + _GIT_TIMEOUT_SECONDS, in_work_tree=True)
    return [name for name in result.output.decode("utf-8", "replace").split("\0") if name]


def measure(tracked: Sequence[str], recorded_files: Sequence[RecordedFiles]) -> Coverage:
    """Return which of the tracked files the records are about; a record's number is its position."""
    root = Area("", "")
    folders = {"": root}
    for path in tracked[:_MAX_FILES]:
        _add(folders, path)
    coverage = Coverage(root, len(tracked) <= _MAX_FILES)
    globs_by_pattern: dict[str, list[int]] = {}
    for number, record in enumerate(recorded_files):
        for pattern in record.patterns:
            plain = pattern.partition("#")[0].removeprefix("./")
            if "*" in plain or "?" in plain:
                globs_by_pattern.setdefault(plain, []).append(number)
            elif area := coverage.area(plain):
                area.direct.add(number)
    is_complete = coverage.is_complete and _apply(coverage, globs_by_pattern)
    _settle(root, [STATES.index(record.state) for record in recorded_files], 0)
    return coverage._replace(is_complete=is_complete)


def _add(areas_by_path: dict[str, Area], path: str) -> None:
    """Add a file to the folder that it is in; what is not there yet of the folders above it is added, too."""
    above, _, name = path.rpartition("/")
    folder = areas_by_path.get(above) or _folder(areas_by_path, above)
    if name not in folder.children:
        folder.children[name] = Area(f"{folder.path}/{name}" if folder.path else name, name)


def _folder(areas_by_path: dict[str, Area], path: str) -> Area:
    """Return a folder with those above it; the deepest one that is drawn for one that is deeper."""
    area = areas_by_path[""]
    names = path.split("/")
    for level, name in enumerate(names[: _MAX_DEPTH - 1], start=1):
        above, area = area, area.children.get(name) or Area("/".join(names[:level]), name)
        above.children[name] = area
    areas_by_path[path] = area
    return area


def _apply(coverage: Coverage, globs_by_pattern: dict[str, list[int]]) -> bool:
    """Give each file the records whose globs match it; return False if there was no time for all of them."""
    left = _MAX_COMPARED
    for pattern, numbers in globs_by_pattern.items():
        fixed = list(_fixed(pattern.split("/")))
        top = coverage.area("/".join(fixed))
        if top and pattern.endswith("/**") and len(fixed) == pattern.count("/"):
            # The glob of a whole folder.
            top.direct.update(numbers)
        elif top:
            walk = globs.walk(pattern)
            bits = walk.start()
            for name in fixed:
                bits = walk.enter(bits, name)
            left = _give(top, numbers, walk, bits, left)
    return left >= 0


def _give(area: Area, numbers: Iterable[int], walk: globs.Walk, bits: int, left: int) -> int:
    """Give the files below an area the records of a glob that matches them; return how many may still be compared."""
    for child in area.children.values():
        if left < 0:
            break
        if child.children:
            inner = walk.enter(bits, child.name)
            left = _give(child, numbers, walk, inner, left) if inner or walk.is_of_name else left
            continue
        left -= 1
        if left >= 0 and walk.has(bits, child.name):
            child.direct.update(numbers)
    return left


def _fixed(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        if "*" in part or "?" in part:
            return
        yield part


def _settle(area: Area, states: Sequence[int], inherited: int) -> None:
    """Count the files of an area by state; a folder's records count for everything in it."""
    state = max(inherited, *(states[number] for number in area.direct)) if area.direct else inherited
    area.below = set(area.direct) if area.children else area.direct
    if not area.children:
        area.files = 1
        area.states[STATES[state]] = 1
    for child in area.children.values():
        _settle(child, states, state)
        area.add_counts(child)
