"""What git knows of an anchored file: which commits changed it since, and what it is called now.

A file is followed forward, from the commit it was anchored at: where it disappears, the commit that removed it
is asked whether it renamed it.
"""

from __future__ import annotations

import os
import time

from onrecord.coldstart import NamedTuple
from onrecord.errors import UnsafePath
from onrecord.freshness import project_files
from onrecord.freshness.check import CHANGED, FRESH, MISSING, UNKNOWN, IndexedAnchor, Verdict
from onrecord.git import work_tree
from onrecord.git.repository import Repository, is_commit

MOST_COMMITS = 1_000
MOST_RENAMES = 20
MOST_UNTRACKED = 60
"""Untracked files that are read to see whether a lost file was moved there: those of the same name come first."""

_LOG = (
    "log", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature",
    "--no-decorate", "--no-notes", "--no-color", "--reverse", "--topo-order", f"--max-count={MOST_COMMITS}",
    "--format=commit %H %cd", "--date=format:%Y-%m-%d",
)  # fmt: skip
_RENAMES = ("-r", "-z", "--raw", "--no-abbrev", "--find-renames=50%", "-l1000", "--no-ext-diff", "--no-textconv")


class Step(NamedTuple):
    """A commit that changed a file: the blobs before and after, empty where there was none or a merge hides it."""

    commit: str
    day: str
    before: str = ""
    after: str = ""
    is_merge: bool = False


class Trail(NamedTuple):
    """What happened to a file: the commits, oldest first, and its path in the last one, empty when it is gone."""

    steps: tuple[Step, ...]
    path: str
    is_complete: bool = True
    """Whether it starts where it was asked to, and git answered in time."""

    def changes_since(self, blob: str) -> tuple[Step, ...] | None:
        """The commits that changed the file after it held a blob; None if that is unknown."""
        reached = [number for number, step in enumerate(self.steps, 1) if step.after == blob]
        if not self.is_complete:
            return self.steps[reached[-1] :] if reached else None
        # A blob that no commit held yet when the record was saved: counting starts where it was committed.
        return self.steps[reached[0] :] if reached and self.steps[0].before != blob else self.steps


def verdict(
    root: str, repository: Repository, anchor: IndexedAnchor, data: bytes | None, deadline: float
) -> tuple[Verdict, bool]:
    """The verdict on a file that holds something else, or is gone; and whether it holds until the file changes."""
    history = _History(root, repository, anchor, deadline)
    trail = history.follow()
    steps = trail.changes_since(anchor.id)
    now = history.path_on_disk(trail, is_there=data is not None)
    if now and now != anchor.path:
        data = project_files.read(root, now)
    if now and data is not None and project_files.is_same(data, anchor):
        return Verdict(anchor, FRESH, now), True
    if not now and history.is_cut_short:
        return Verdict(anchor, UNKNOWN, anchor.path, reason="not checked: git took too long"), False
    last = steps[-1] if steps else Step("", "")
    commits = -1 if steps is None else len(steps)
    state = CHANGED if now else MISSING
    is_committed = bool(now) and data is not None and work_tree.has_id(data, last.after)
    return Verdict(anchor, state, now or anchor.path, commits, last.commit, last.day), is_committed


class _History:
    """Asks git about one anchored file."""

    def __init__(self, root: str, repository: Repository, anchor: IndexedAnchor, deadline: float) -> None:
        self.root = root
        self.repository = repository
        self.anchor = anchor
        self.deadline = deadline
        self.prefix = repository.inner(root)
        self.is_cut_short = False
        """Whether a question was left open because time was up."""

    def follow(self) -> Trail:
        """The trail of the file from the anchor's commit to HEAD; from as far back as possible if that is unknown."""
        path, commit = self.prefix + self.anchor.path, self.anchor.commit
        lines = self._log(f"{commit}..HEAD", path) if is_commit(commit) else None
        is_complete = lines is not None
        if lines is None:
            lines = self._log("HEAD", path)
        steps: list[Step] = []
        for _ in range(MOST_RENAMES):
            if lines is None:
                return Trail(tuple(steps), path, False)
            rename = self._walk(path, lines, steps)
            if not rename:
                break
            path = rename
            lines = self._log(f"{steps[-1].commit}..HEAD", path)
        is_gone = bool(steps) and not steps[-1].after and not steps[-1].is_merge
        changes = tuple(step for step in steps if step.before != step.after or step.is_merge)
        return Trail(changes, "" if is_gone else path, is_complete)

    def path_on_disk(self, trail: Trail, *, is_there: bool) -> str:
        """The path of the file on disk, relative to the project; empty if it is not there."""
        path = self._existing(trail.path)
        if path or is_there:
            return path or self.anchor.path
        if not trail.path:
            return ""
        staged = self._renamed("diff-index", "--cached", *_RENAMES, "HEAD", path=trail.path)[0]
        return self._existing(staged) or self._moved_untracked() or self._renamed_between_ends(trail)

    def _walk(self, path: str, lines: list[str], steps: list[Step]) -> str:
        """Add the steps in a log up to where the file got another path; that path."""
        for step in _steps(lines):
            target, blob = "", ""
            if not step.after and not step.is_merge:
                target, blob = self._renamed("diff-tree", "--no-commit-id", "--root", *_RENAMES, step.commit, path=path)
            steps.append(step._replace(after=blob) if target else step)
            if target:
                return target
        return ""

    def _renamed_between_ends(self, trail: Trail) -> str:
        """Rename found by diffing start and HEAD when the history between is incomplete."""
        is_certain = trail.is_complete and not any(step.is_merge for step in trail.steps[-1:])
        start = self.anchor.commit
        if is_certain or not is_commit(start):
            return ""
        return self._existing(
            self._renamed("diff-tree", *_RENAMES, start, "HEAD", path=self.prefix + self.anchor.path)[0]
        )

    def _moved_untracked(self) -> str:
        """An untracked file that holds exactly what was anchored; the same file name is tried first."""
        answer = self._run_git("ls-files", "--others", "--exclude-standard", "-z", in_work_tree=True)
        name = self.anchor.path.rpartition("/")[2]
        others = sorted(_names(answer or b""), key=lambda other: not other.endswith(name))
        for path in filter(None, map(self._existing, others[:MOST_UNTRACKED])):
            if time.monotonic() >= self.deadline:
                self.is_cut_short = True
                break
            try:
                data = project_files.read(self.root, path)
            except UnsafePath:
                continue
            if data and work_tree.has_id(data, self.anchor.id):
                return path
        return ""

    def _existing(self, path: str) -> str:
        """A path of the repository as one of the project, if there is such a file."""
        name = path[len(self.prefix) :] if path.startswith(self.prefix) else ""
        return name if name and os.path.isfile(os.path.join(self.root, name)) else ""

    def _log(self, span: str, path: str) -> list[str] | None:
        output = self._run_git(*_LOG, span, "--", path)
        return None if output is None else output.decode("utf-8", "replace").splitlines()

    def _renamed(self, *question: str, path: str) -> tuple[str, str]:
        """The new path and blob of a file, in git's raw list of differences."""
        parts = _names(self._run_git(*question) or b"")
        at = 0
        while at + 1 < len(parts):
            words = parts[at].split(" ")
            kind = words[4][:1] if len(words) == 5 else ""
            if kind == "R" and at + 2 < len(parts) and parts[at + 1] == path:
                return parts[at + 2], words[3]
            at += 3 if kind in ("R", "C") else 2
        return "", ""

    def _run_git(self, *question: str, in_work_tree: bool = False) -> bytes | None:
        if time.monotonic() >= self.deadline:
            self.is_cut_short = True
            return None
        answer = self.repository.run(*question, deadline=self.deadline, in_work_tree=in_work_tree)
        self.is_cut_short = self.is_cut_short or (answer.status is None and time.monotonic() >= self.deadline)
        return answer.output if answer.is_good else None


def _steps(lines: list[str]) -> list[Step]:
    steps: list[Step] = []
    for line in lines:
        words = line.split()
        if line.startswith("commit "):
            steps.append(Step(words[1], words[2], is_merge=True))
        elif line.startswith(":") and steps:
            before, after = (blob if blob.strip("0") else "" for blob in words[2:4])
            steps[-1] = steps[-1]._replace(before=before, after=after, is_merge=False)
    return steps


def _names(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]
