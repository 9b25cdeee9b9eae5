"""The current work in a project as git shows it: uncommitted files, the branch's commits; and who brought a file."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.git import work_tree
from onrecord.git.repository import LOG, MAX_LISTING_BYTES, NO_GIT, Repository, is_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onrecord.git.process import ProcessResult

MAX_FILES = 400
SHARED_BRANCHES = frozenset("main master trunk develop development dev default head".split())
"""Names of branches that everyone commits to, so the latest commits there may be anyone's work."""

MAX_FOLDERS = 8
"""Untracked folders whose files are listed; of any further folder only the name is listed, as git does."""

_MAX_OWN_COMMITS, _MAX_SHARED_COMMITS = 10, 3
"""Commits that are read on a branch for one piece of work, and on a shared branch."""

INCOMPLETE = "not all files could be compared"
"""The note on a working tree that is too large for the time; every other note is about a command that failed."""

_SUBJECT, _NAMES = "\1", "\2"
# Without showRoot=false, the first commit of a repository or a shallow clone would list every file.
_LOG = (
    "-c", "log.showRoot=false", *LOG, "--first-parent", "-m", "-r", "-z", "--name-only", "--no-renames",
    "--ignore-submodules=all", "--format=%x01%s%x02",
)  # fmt: skip
_UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
_STAGED = (
    "diff-index", "--cached", "-r", "-z", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames",
    "--ignore-submodules=all", "HEAD",
)  # fmt: skip
_FILE_LOG = (*LOG, "-1", "--no-renames", "--format=%H%x00%an%x00%aI%x00%s")
_SHORT = 10
_AT_ONCE = 8
"""Processes of git at a time."""

BASES = (
    "refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
    "refs/heads/master", "refs/heads/trunk", "refs/heads/develop",
)  # fmt: skip
"""The branches that other branches usually start from."""


class Provenance(NamedTuple):
    """The commit that added a file, and the last one that changed it, if that is another."""

    commit: str
    author: str
    date: str
    subject: str
    changed_in: str = ""
    changed_by: str = ""
    is_on_this_branch_only: bool = False
    base: str = ""
    """The branch that it was compared with; empty if none is known."""

    def __str__(self) -> str:
        parts = [f"commit {self.commit[:_SHORT]} by {self.author} on {self.date[:10]} ({self.subject})"]
        if self.changed_in:
            parts.append(f"last changed in {self.changed_in[:_SHORT]} by {self.changed_by}")
        if self.is_on_this_branch_only:
            parts.append(f"on this branch only, not in {self.base}")
        return "; ".join(parts)


class Changes(NamedTuple):
    """Uncommitted files, and the files and subjects of the latest commits; paths are relative to the project."""

    uncommitted: Sequence[str] = ()
    committed: Sequence[str] = ()
    subjects: Sequence[str] = ()
    is_own: bool = False
    """True if these commits belong to this branch alone, so they are part of the current work."""


def read(repository: Repository, project: str, deadline: float) -> Changes:
    """Return the changes in a project. If git fails, add the reason to `repository.notes`."""
    inner = repository.inner(project)
    below = ("--", inner) if inner else ()
    bases = branch_bases(repository)
    commands = _state_commands(below, (*_UNTRACKED, "--directory", "--no-empty-directory"))
    if repository.branch:
        commands.append((_log_command(bases), False))
    index, staged, untracked, *log = repository.run_all(commands, deadline)
    paths = [*_tracked(repository, index, staged, deadline), *_untracked(repository, untracked, deadline)]
    committed, subjects = _commits(repository, log[0], inner) if log else ([], [])
    uncommitted, committed = _within(paths, inner)[:MAX_FILES], _within(committed, inner)[:MAX_FILES]
    return Changes(uncommitted, committed, subjects, is_own=bool(bases))


def all_uncommitted(repository: Repository, project: str, deadline: float) -> list[str]:
    """Return every file of a project that is not as it was committed, however many, also in untracked folders.

    If git fails, add the reason to `repository.notes`.
    """
    inner = repository.inner(project)
    below = ("--", inner) if inner else ()
    index, staged, untracked = repository.run_all(_state_commands(below, _UNTRACKED), deadline)
    files = _names(repository, "git ls-files --others", untracked)
    return _within([*_tracked(repository, index, staged, deadline), *files], inner)


def _state_commands(pathspec: Sequence[str], for_untracked: Sequence[str]) -> list[tuple[Sequence[str], bool]]:
    """Return the commands that list the index, what is staged, and what is untracked."""
    return [
        (("ls-files", "--stage", "--debug", "-z", *pathspec), False),
        ((*_STAGED, *pathspec), False),
        ((*for_untracked, *pathspec), True),
    ]


def _tracked(repository: Repository, index: ProcessResult, staged: ProcessResult, deadline: float) -> list[str]:
    """Return the changed files that git tracks."""
    return sorted({*_unstaged(repository, index, deadline), *_staged(repository, staged, index)})


def staged(repository: Repository, project: str, deadline: float) -> list[str]:
    """Return the files of a project that the next commit changes."""
    inner = repository.inner(project)
    result = repository.run(*_STAGED, *(("--", inner) if inner else ()), deadline=deadline)
    return _within(_names(repository, "git diff-index", result), inner)[:MAX_FILES]


def branch_bases(repository: Repository) -> list[str]:
    """Return the commits that the branch may have started from; empty for a shared branch, or if none is known."""
    if repository.branch.lower() in SHARED_BRANCHES:
        return []
    commits = map(repository.commit_of, BASES)
    return list(dict.fromkeys(commit for commit in commits if is_commit(commit)))


def _log_command(bases: Sequence[str]) -> Sequence[str]:
    if not bases:
        return (*_LOG, f"-{_MAX_SHARED_COMMITS}", "HEAD", "--")
    return (*_LOG, f"-{_MAX_OWN_COMMITS}", "HEAD", "--not", *bases, "--")


def _within(paths: Iterable[str], inner: str) -> list[str]:
    """Return the paths of the repository that are in the project, relative to it and without duplicates."""
    relative = (path[len(inner) :] for path in paths if path.startswith(inner) and path != inner)
    return list(dict.fromkeys(relative))


def _unstaged(repository: Repository, index: ProcessResult, deadline: float) -> list[str]:
    if not index.is_good:
        _note(repository, "git ls-files", index)
        return []
    paths, is_complete = work_tree.changed_paths(index.output, repository.root, deadline)
    if not is_complete or len(index.output) >= MAX_LISTING_BYTES:
        repository.notes.append(INCOMPLETE)
    return paths


def _staged(repository: Repository, staged: ProcessResult, index: ProcessResult) -> list[str]:
    if staged.status and index.is_good:
        # diff-index fails before the first commit, when every file in the index is new.
        return work_tree.all_paths(index.output)
    return _names(repository, "git diff-index", staged)


def _untracked(repository: Repository, result: ProcessResult, deadline: float) -> list[str]:
    """Return the untracked files, including those in untracked folders. If time is up, return the folders' names."""
    names = _names(repository, "git ls-files --others", result)
    folders = [name for name in names if name.endswith("/")][:MAX_FOLDERS]
    if not folders:
        return names
    inside = repository.run(*_UNTRACKED, "--", *folders, deadline=deadline, in_work_tree=True)
    if not inside.is_good:
        return names
    files = inside.output.decode("utf-8", "replace").split("\0")[:-1]
    expanded = {folder for folder in folders if any(file.startswith(folder) for file in files)}
    return [*(name for name in names if name not in expanded), *files[:MAX_FILES]]


def _commits(repository: Repository, log: ProcessResult, inner: str) -> tuple[list[str], list[str]]:
    """Return the paths and subjects of the latest commits that touch the project, newest first."""
    if log.status:
        # There is no commit yet.
        repository.notes.append("fewer than two commits")
        return [], []
    if not log.is_good:
        _note(repository, "git log", log)
        return [], []
    paths: list[str] = []
    subjects: list[str] = []
    for commit in log.output.decode("utf-8", "replace").split(_SUBJECT)[1:]:
        subject, _, names = commit.partition(_NAMES)
        changed = [name for name in names.lstrip("\0\n").split("\0") if name and name.startswith(inner)]
        subjects += [subject] if changed else []
        paths += changed[:MAX_FILES]
    return paths, subjects


def _names(repository: Repository, command: str, result: ProcessResult) -> list[str]:
    if not result.is_good:
        _note(repository, command, result)
        return []
    return result.output.decode("utf-8", "replace").split("\0")[:-1]


def _note(repository: Repository, command: str, result: ProcessResult) -> None:
    note = result.reason if result.reason == NO_GIT else f"{command}: {result.reason}"
    if note not in repository.notes:
        repository.notes.append(note)


def commit_subjects(repository: Repository, project: str, limit: int, deadline: float) -> list[str]:
    """Return the subjects of the last commits except merges, newest first."""
    inner = repository.inner(project)
    below = ("--", inner) if inner else ()
    words = (*LOG, "--no-merges", "-z", f"--max-count={limit}", "--format=%s", *below)
    result = repository.run(*words, deadline=deadline)
    return [text for text in result.output.decode("utf-8", "replace").split("\0") if text] if result.is_good else []


def provenance(repository: Repository, path: str, deadline: float) -> Provenance | None:
    """Return what git knows of a file, by its path in the repository; None if it is not committed or git fails."""
    added, changed = repository.run_all(
        [((*_FILE_LOG, "--diff-filter=A", "--", path), False), ((*_FILE_LOG, "--", path), False)], deadline
    )
    first = _log_fields(added.output) if added.is_good else []
    if not first:
        return None
    last = _log_fields(changed.output) if changed.is_good else []
    commit, author, date, subject = first
    brought_by = Provenance(commit, author, date, subject)
    if last and last[0] != brought_by.commit:
        brought_by = brought_by._replace(changed_in=last[0], changed_by=last[1])
    return _compared_with_base(repository, brought_by, deadline)


def texts_at_addition(repository: Repository, files_of: Mapping[str, str], deadline: float) -> dict[str, bytes]:
    """Return what files contained in the commits that added other files.

    `files_of` has, by the path of an added file, the path of the file whose content is wanted; both are relative to the
    root of the repository. The result is by the second one; what git does not know is not in it.
    """
    if not files_of:
        return {}
    words = (*LOG, "--no-renames", "--diff-filter=A", "--name-only", "-z", "--format=%x01%H%x02", "--", *files_of)
    log = repository.run(*words, deadline=deadline)
    if not log.is_good:
        return {}
    blobs: dict[str, str] = {}
    # Newest first: of a file that was added again, the last time counts.
    for commit in log.output.decode("utf-8", "replace").split(_SUBJECT)[1:]:
        name, _, added = commit.partition(_NAMES)
        for path in filter(files_of.__contains__, added.lstrip("\0\n").split("\0")):
            blobs.setdefault(files_of[path], name)
    results: dict[str, bytes] = {}
    others = list(blobs)
    for first in range(0, len(others), _AT_ONCE):
        few = others[first : first + _AT_ONCE]
        commands = [(("cat-file", "blob", f"{blobs[other]}:{other}"), False) for other in few]
        outputs = repository.run_all(commands, deadline)
        results.update((other, output.output) for other, output in zip(few, outputs) if output.is_good)
    return results


def _compared_with_base(repository: Repository, provenance: Provenance, deadline: float) -> Provenance:
    """Return the same with whether the branches that others start from have the commit."""
    for name in BASES:
        base = repository.commit_of(name)
        if base:
            result = repository.run("merge-base", "--is-ancestor", provenance.commit, base, deadline=deadline)
            # 0 if it is an ancestor, 1 if it is not; anything else is a failure.
            is_only_here = result.status == 1
            short = name.replace("refs/remotes/", "").replace("refs/heads/", "").replace("/HEAD", "")
            return provenance._replace(is_on_this_branch_only=is_only_here, base=short)
    return provenance


def _log_fields(output: bytes) -> list[str]:
    parts = output.decode("utf-8", "replace").strip("\n").split("\0")
    return parts if len(parts) == 4 and parts[0] else []
