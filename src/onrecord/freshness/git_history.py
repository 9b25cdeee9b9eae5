"""The history of an anchored file in git: the commits that changed it since, its current path, and the changed lines.

The file is followed forward from the commit that it was anchored at. Where it disappears, the commit that removed it
is searched for a rename.
"""

from __future__ import annotations

import os
import time

from onrecord.coldstart import NamedTuple
from onrecord.errors import UnsafePath
from onrecord.freshness import project_files
from onrecord.git import work_tree
from onrecord.git.repository import LOG, Repository, find, is_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.freshness.check import IndexedAnchor

_MAX_COMMITS = 1_000
_MAX_RENAMES = 20
_MAX_UNTRACKED = 60
"""Untracked files that are read in search of a moved file; files of the same name come first."""

_DIFF_SECONDS = 2.0
_MAX_DIFF_BYTES = 400_000
"""Largest version that is compared; a diff of larger files could take many seconds."""

_MAX_EQUAL_PAIRS = 2_000_000
"""Pairs of equal lines, one of each version, beyond which no diff is shown: it looks at all of them, more than once."""

_MAX_DIFF_LINES = 200
_LOG = (
    *LOG, "--raw", "--no-abbrev", "--no-renames", "--reverse", "--topo-order",
    f"--max-count={_MAX_COMMITS}", "--format=commit %H %cd", "--date=format:%Y-%m-%d",
)  # fmt: skip
_RENAMES = ("-r", "-z", "--raw", "--no-abbrev", "--find-renames=50%", "-l1000", "--no-ext-diff", "--no-textconv")


class FileCommit(NamedTuple):
    """A commit that changed a file, with the blobs before and after; a blob is empty for no file, and in a merge."""

    commit: str
    day: str
    before: str = ""
    after: str = ""

    @property
    def is_merge(self) -> bool:
        """True if git printed no blobs: it prints none for a merge."""
        return not (self.before or self.after)

    @property
    def is_removal(self) -> bool:
        return not self.after and not self.is_merge


class Trail(NamedTuple):
    """The commits that changed a file, oldest first, and its path after the last one; no path if it was deleted."""

    commits: tuple[FileCommit, ...]
    path: str
    is_complete: bool
    """True if the trail starts at the anchor's commit and git answered in time."""

    def changes_since(self, blob: str) -> tuple[FileCommit, ...] | None:
        """Return the commits that changed the file since its content was `blob`; None if unknown."""
        reached = [number for number, commit in enumerate(self.commits, 1) if commit.after == blob]
        if not self.is_complete:
            return self.commits[reached[-1] :] if reached else None
        # The blob may have been committed only after the record was saved: count from that commit.
        return self.commits[reached[0] :] if reached and self.commits[0].before != blob else self.commits


class FileHistory(NamedTuple):
    """The current path of an anchored file, and the commits that changed it since."""

    path: str
    """Relative to the project; empty if the file is gone."""

    is_same: bool
    """True if the file at `path` has the anchored content."""

    commits: int
    """Number of commits that changed it since; -1 if unknown."""

    last_commit: str
    day: str
    is_committed: bool
    """True if the file on disk has the content of the last of these commits."""

    is_cut_short: bool
    """True if git did not finish in time."""


def trace(root: str, repository: Repository, anchor: IndexedAnchor, data: bytes | None, deadline: float) -> FileHistory:
    """Return the history of a file that differs from its anchor; `data` is its content now, None if it is gone."""
    history = _History(root, repository, anchor, deadline)
    trail = history.follow()
    commits = trail.changes_since(anchor.id)
    now = history.path_on_disk(trail, is_there=data is not None)
    if now and now != anchor.path:
        data = project_files.read(root, now)
    last = commits[-1] if commits else FileCommit("", "")
    return FileHistory(
        now,
        is_same=data is not None and project_files.is_same(data, anchor),
        commits=-1 if commits is None else len(commits),
        last_commit=last.commit,
        day=last.day,
        is_committed=data is not None and work_tree.has_id(data, last.after),
        is_cut_short=history.is_cut_short,
    )


def committed(root: str, repository: Repository, path: str, deadline: float) -> bytes | None:
    """Return the content of a project's file in the commit that is checked out; None if it has no such file."""
    if not project_files.is_lexically_inside(path):
        return None
    result = repository.run("cat-file", "blob", f"HEAD:{repository.inner(root)}{path}", deadline=deadline)
    return result.output if result.is_good else None


class _History:
    """Runs git for one anchored file."""

    def __init__(self, root: str, repository: Repository, anchor: IndexedAnchor, deadline: float) -> None:
        self.root = root
        self.repository = repository
        self.anchor = anchor
        self.deadline = deadline
        self.prefix = repository.inner(root)
        self.is_cut_short = False
        """True if a git command was skipped or killed because the time was up."""

    def follow(self) -> Trail:
        """Return the trail of the file up to HEAD, from the anchor's commit or, if that is unknown, its first one."""
        path, commit = self.prefix + self.anchor.path, self.anchor.commit
        lines = self._log(f"{commit}..HEAD", path) if is_commit(commit) else None
        is_complete = lines is not None
        if lines is None:
            lines = self._log("HEAD", path)
        commits: list[FileCommit] = []
        for _ in range(_MAX_RENAMES):
            if lines is None:
                return Trail(tuple(commits), path, False)
            rename = self._walk(path, lines, commits)
            if not rename:
                break
            path = rename
            lines = self._log(f"{commits[-1].commit}..HEAD", path)
        is_gone = bool(commits) and commits[-1].is_removal
        changes = tuple(commit for commit in commits if commit.before != commit.after or commit.is_merge)
        return Trail(changes, "" if is_gone else path, is_complete)

    def path_on_disk(self, trail: Trail, *, is_there: bool) -> str:
        """Return the current path of the file on disk, relative to the project; empty if it is gone."""
        path = self._existing(trail.path)
        if path or is_there:
            return path or self.anchor.path
        if not trail.path:
            return ""
        staged = self._find_rename("diff-index", "--cached", *_RENAMES, "HEAD", path=trail.path)[0]
        return self._existing(staged) or self._moved_untracked() or self._renamed_between_ends(trail)

    def _walk(self, path: str, lines: list[str], commits: list[FileCommit]) -> str:
        """Add the commits of a log to `commits`, up to a rename of the file, and return its new path."""
        for commit in _parse_log(lines):
            if commit.is_removal:
                words = ("diff-tree", "--no-commit-id", *_RENAMES, commit.commit)
                target, blob = self._find_rename(*words, path=path)
                if target:
                    commits.append(commit._replace(after=blob))
                    return target
            commits.append(commit)
        return ""

    def _renamed_between_ends(self, trail: Trail) -> str:
        """Return the new path found by diffing start and HEAD, when the history between is incomplete."""
        is_certain = trail.is_complete and not any(commit.is_merge for commit in trail.commits[-1:])
        start = self.anchor.commit
        if is_certain or not is_commit(start):
            return ""
        return self._existing(
            self._find_rename("diff-tree", *_RENAMES, start, "HEAD", path=self.prefix + self.anchor.path)[0]
        )

    def _moved_untracked(self) -> str:
        """Return the path of an untracked file with the anchored content; files of the same name come first."""
        output = self._run_git("ls-files", "--others", "--exclude-standard", "-z", in_work_tree=True)
        name = self.anchor.path.rpartition("/")[2]
        others = sorted(_names(output or b""), key=lambda other: not other.endswith(name))
        for path in filter(None, map(self._existing, others[:_MAX_UNTRACKED])):
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
        """Return a path of the repository relative to the project; empty if there is no such file."""
        name = path[len(self.prefix) :] if path.startswith(self.prefix) else ""
        return name if name and os.path.isfile(os.path.join(self.root, name)) else ""

    def _log(self, span: str, path: str) -> list[str] | None:
        output = self._run_git(*_LOG, span, "--", path)
        return None if output is None else output.decode("utf-8", "replace").split("\n")

    def _find_rename(self, *words: str, path: str) -> tuple[str, str]:
        """Run a diff command, and return the new path and blob of the file that was at `path`."""
        parts = iter(_names(self._run_git(*words) or b""))
        for details, before in zip(parts, parts):
            blob, kind = details.split(" ")[3:]
            if kind.startswith("R"):
                after = next(parts, "")
                if before == path:
                    return after, blob
        return "", ""

    def _run_git(self, *words: str, in_work_tree: bool = False) -> bytes | None:
        if time.monotonic() >= self.deadline:
            self.is_cut_short = True
            return None
        result = self.repository.run(*words, deadline=self.deadline, in_work_tree=in_work_tree)
        self.is_cut_short = self.is_cut_short or (result.status is None and time.monotonic() >= self.deadline)
        return result.output if result.is_good else None


def _parse_log(lines: list[str]) -> list[FileCommit]:
    commits: list[FileCommit] = []
    for line in lines:
        words = line.split()
        if line.startswith("commit "):
            commits.append(FileCommit(words[1], words[2]))
        elif line.startswith(":"):
            before, after = (blob if blob.strip("0") else "" for blob in words[2:4])
            commits[-1] = commits[-1]._replace(before=before, after=after)
    return commits


def _names(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def changed_lines(root: str, blob: str, path: str) -> list[str]:
    """Return the unified diff from `blob` to the project's file at `path`.

    Empty if git no longer has the blob, and for files that take too long to compare.
    """
    import difflib

    repo = find(root)
    data = project_files.read(root, path)
    if repo is None or data is None or not is_commit(blob):
        return []
    result = repo.run("cat-file", "blob", blob, deadline=time.monotonic() + _DIFF_SECONDS)
    if not result.is_good or max(len(result.output), len(data)) > _MAX_DIFF_BYTES:
        return []
    old, new = (text.decode("utf-8", "replace").splitlines() for text in (result.output, data))
    if _equal_pairs(old, new) > _MAX_EQUAL_PAIRS:
        return []
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    tail = [f"… {len(lines) - _MAX_DIFF_LINES} more lines"] if len(lines) > _MAX_DIFF_LINES else []
    return [*lines[:_MAX_DIFF_LINES], *tail]


def _equal_pairs(old_lines: Sequence[str], new_lines: Sequence[str]) -> int:
    """Return the number of pairs of equal lines, without those of the lines that `difflib` takes for too frequent."""
    from collections import Counter

    counts = Counter(old_lines)
    most = len(new_lines) // 100 + 1 if len(new_lines) >= 200 else len(new_lines)
    return sum(count * counts[line] for line, count in Counter(new_lines).items() if count <= most)
