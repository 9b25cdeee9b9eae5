"""History: what git knows of one file since a commit: which commits changed it, and where it went.

A file is followed forward, from the commit it was anchored at: where it disappears, the commit that removed it
is asked whether it renamed it.
"""

from __future__ import annotations

from typing import NamedTuple

from recollect.git.repository import Repository, is_commit

MOST_COMMITS = 1_000
MOST_RENAMES = 20
MOST_UNTRACKED = 200
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
    """What happened to a file: the commits, oldest first, its name in the last one, and how sure that is."""

    steps: tuple[Step, ...]
    path: str
    """Empty when it is gone."""

    is_complete: bool = True
    """Whether it starts where it was asked to, and git answered in time."""


def follow(repository: Repository, path: str, commit: str, deadline: float) -> Trail:
    """The trail of a file from a commit to HEAD; from as far back as is known if the commit is not."""
    lines = _log(repository, f"{commit}..HEAD", path, deadline) if is_commit(commit) else None
    is_complete = lines is not None
    if lines is None:
        lines = _log(repository, "HEAD", path, deadline)
    steps: list[Step] = []
    for _ in range(MOST_RENAMES):
        if lines is None:
            return Trail(tuple(steps), path, False)
        rename = _walk(repository, path, lines, steps, deadline)
        if not rename:
            break
        path = rename
        lines = _log(repository, f"{steps[-1].commit}..HEAD", path, deadline)
    is_gone = bool(steps) and not steps[-1].after and not steps[-1].is_merge
    changes = tuple(step for step in steps if step.before != step.after or step.is_merge)
    return Trail(changes, "" if is_gone else path, is_complete)


def changes_since(trail: Trail, blob: str) -> tuple[Step, ...] | None:
    """The commits that changed a file after it held a blob; None if that cannot be told."""
    steps = trail.steps
    reached = [number for number, step in enumerate(steps, 1) if step.after == blob]
    if not trail.is_complete:
        return steps[reached[-1] :] if reached else None
    # A blob that no commit held yet when the memory was saved: counting starts where it was committed.
    return steps[reached[0] :] if reached and steps[0].before != blob else steps


def renamed_since(repository: Repository, path: str, start: str, deadline: float) -> str:
    """The name that a file of an earlier commit has in HEAD, found by comparing the two; empty if none."""
    if not is_commit(start):
        return ""
    question = ("diff-tree", *_RENAMES, start, "HEAD")
    return _target(repository.ask(*question, deadline=deadline).output, path)[0]


def renamed_in_index(repository: Repository, path: str, deadline: float) -> str:
    """The name that a file of HEAD has in the index; empty if it was not renamed there."""
    question = ("diff-index", "--cached", *_RENAMES, "HEAD")
    return _target(repository.ask(*question, deadline=deadline).output, path)[0]


def untracked(repository: Repository, deadline: float) -> list[str]:
    """Files that git has never been told of, a bounded number of them."""
    answer = repository.ask("ls-files", "--others", "--exclude-standard", "-z", deadline=deadline)
    return _names(answer.output)[:MOST_UNTRACKED] if answer.is_good else []


def _walk(repository: Repository, path: str, lines: list[str], steps: list[Step], deadline: float) -> str:
    """Add the steps in a log up to where the file got another name; that name."""
    for step in _steps(lines):
        target, blob = "", ""
        if not step.after and not step.is_merge:
            question = ("diff-tree", "--no-commit-id", "--root", *_RENAMES, step.commit)
            target, blob = _target(repository.ask(*question, deadline=deadline).output, path)
        steps.append(step._replace(after=blob) if target else step)
        if target:
            return target
    return ""


def _log(repository: Repository, span: str, path: str, deadline: float) -> list[str] | None:
    answer = repository.ask(*_LOG, span, "--", path, deadline=deadline)
    return answer.output.decode("utf-8", "replace").splitlines() if answer.is_good else None


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


def _target(output: bytes, path: str) -> tuple[str, str]:
    """The new name and blob of a path, in git's raw list of differences."""
    parts = _names(output)
    at = 0
    while at + 1 < len(parts):
        words = parts[at].split(" ")
        is_rename = len(words) == 5 and words[4].startswith("R")
        if is_rename and at + 2 < len(parts) and parts[at + 1] == path:
            return parts[at + 2], words[3]
        at += 3 if is_rename or (len(words) == 5 and words[4].startswith("C")) else 2
    return "", ""


def _names(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]
