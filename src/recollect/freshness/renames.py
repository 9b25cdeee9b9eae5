"""Whereabouts: what became of a file that is not what it was when it was anchored. Git is asked here."""

from __future__ import annotations

import os

from recollect.errors import UnsafePath
from recollect.freshness import check, git_history, project_files
from recollect.freshness.git_history import Step, Trail
from recollect.freshness.verdict import DRIFTED, FRESH, MISSING, Pin, Verdict
from recollect.git.repository import Repository


def inquire(root: str, repository: Repository, pin: Pin, data: bytes | None, deadline: float) -> tuple[Verdict, bool]:
    """The verdict on a file that holds something else, or is gone; and whether it holds until the file changes."""
    search = _Search(root, repository, pin, deadline)
    trail = git_history.follow(repository, search.prefix + pin.path, pin.commit, deadline)
    steps = git_history.changes_since(trail, pin.id)
    now = search.on_disk(trail, is_there=data is not None)
    if not now:
        return _verdict(pin, MISSING, "", steps), False
    if now != pin.path:
        data = project_files.read(root, now)
    if data is not None and check.is_same(data, pin):
        return Verdict(pin, FRESH, now), True
    is_committed = data is not None and bool(steps) and project_files.has_id(data, steps[-1].after if steps else "")
    return _verdict(pin, DRIFTED, now, steps), is_committed


class _Search:
    """Looks for one file under the names it may have."""

    def __init__(self, root: str, repository: Repository, pin: Pin, deadline: float) -> None:
        self.root = root
        self.repository = repository
        self.pin = pin
        self.deadline = deadline
        inner = os.path.relpath(os.path.realpath(root), os.path.realpath(repository.root)).replace(os.sep, "/")
        self.prefix = "" if inner == "." else inner + "/"

    def on_disk(self, trail: Trail, *, is_there: bool) -> str:
        """The name the file has on disk, relative to the project; empty if it is not to be found there."""
        name = self._existing(trail.path)
        if name or is_there:
            return name or self.pin.path
        if not trail.path:
            return ""
        staged = git_history.renamed_in_index(self.repository, trail.path, self.deadline)
        return self._existing(staged) or self._moved_by_hand() or self._moved_in_the_dark(trail)

    def _moved_in_the_dark(self, trail: Trail) -> str:
        """The name that a comparison of the two ends finds, where the commits between them are not all to be seen."""
        if trail.is_complete and not any(step.is_merge for step in trail.steps[-1:]):
            return ""
        path = self.prefix + self.pin.path
        return self._existing(git_history.renamed_since(self.repository, path, self.pin.commit, self.deadline))

    def _existing(self, path: str) -> str:
        """A path of the repository as one of the project, if there is such a file."""
        name = path[len(self.prefix) :] if path.startswith(self.prefix) else ""
        return name if name and os.path.isfile(os.path.join(self.root, name)) else ""

    def _moved_by_hand(self) -> str:
        """A file that git was not told of and that holds exactly what was anchored."""
        name = self.pin.path.rpartition("/")[2]
        others = filter(None, map(self._existing, git_history.untracked(self.repository, self.deadline)))
        return next((other for other in sorted(others, key=lambda o: not o.endswith(name)) if self._holds(other)), "")

    def _holds(self, path: str) -> bool:
        try:
            data = project_files.read(self.root, path)
        except UnsafePath:
            return False
        return bool(data) and project_files.has_id(data or b"", self.pin.id)


def _verdict(pin: Pin, state: str, now: str, steps: tuple[Step, ...] | None) -> Verdict:
    last = steps[-1] if steps else Step("", "")
    commits = -1 if steps is None else len(steps)
    return Verdict(pin, state, now, commits=commits, last=last.commit, day=last.day)
