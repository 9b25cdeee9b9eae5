"""What somebody is working on, as git knows it: files that are not committed, and the commits of the branch."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.git import work_tree
from onrecord.git.repository import MAX_LISTING_BYTES, NO_GIT, Repository, is_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.git.process import ProcessResult

MAX_FILES = 400
SHARED_BRANCHES = frozenset("main master trunk develop development dev default head".split())
"""Names of branches on which everybody works: what was committed there last may be anybody's work."""

MAX_FOLDERS = 8
"""Untracked folders that are looked into; git lists such a folder as one name."""

_MOST_OWN, _MOST_SHARED = 10, 3
"""Commits that are read: of a branch its own, of a shared one the last few."""

_SUBJECT, _NAMES = "\1", "\2"
# The first commit of all, or of a shallow clone, would list every file.
_LOG = (
    "-c", "log.showRoot=false", "log", "--first-parent", "-m", "-r", "-z", "--name-only", "--no-ext-diff",
    "--no-textconv", "--no-renames", "--ignore-submodules=all", "--no-color", "--no-notes", "--format=%x01%s%x02",
)  # fmt: skip
_UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
_STAGED = (
    "diff-index", "--cached", "-r", "-z", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames",
    "--ignore-submodules=all", "HEAD",
)  # fmt: skip
_BASES = (
    "refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
    "refs/heads/master", "refs/heads/trunk", "refs/heads/develop",
)  # fmt: skip
"""Where a branch usually begins."""


class Changes(NamedTuple):
    """Files that are not committed, and what the latest commits changed; paths are those within the project."""

    uncommitted: Sequence[str] = ()
    committed: Sequence[str] = ()
    subjects: Sequence[str] = ()
    is_own: bool = False
    """Whether these commits belong to the branch alone, so that they are the work at hand."""


def read(repository: Repository, project: str, deadline: float) -> Changes:
    """The changes in a project; what could not be read is added to the notes of the repository."""
    inner = repository.inner(project)
    below = ("--", inner) if inner else ()
    base = branch_bases(repository)
    questions: list[tuple[Sequence[str], bool]] = [
        (("ls-files", "--stage", "--debug", "-z", *below), False),
        ((*_STAGED, *below), False),
        ((*_UNTRACKED, "--directory", "--no-empty-directory", *below), True),
    ]
    if repository.branch:
        questions.append((_latest(base), False))
    index, staged, untracked, *log = repository.run_all(questions, deadline)
    paths = sorted({*_unstaged(repository, index, deadline), *_staged(repository, staged, index)})
    paths += _untracked(repository, untracked, deadline)
    committed, subjects = _commits(repository, log[0], inner) if log else ([], [])
    return Changes(_within(paths, inner), _within(committed, inner), subjects, is_own=bool(base))


def branch_bases(repository: Repository) -> list[str]:
    """The commits in which a branch may have begun; none for a shared branch, or where no such branch is left."""
    if repository.branch.lower() in SHARED_BRANCHES:
        return []
    commits = map(repository.commit_of, _BASES)
    return list(dict.fromkeys(commit for commit in commits if is_commit(commit)))


def _latest(base: Sequence[str]) -> Sequence[str]:
    if not base:
        return (*_LOG, f"-{_MOST_SHARED}", "HEAD", "--")
    return (*_LOG, f"-{_MOST_OWN}", "HEAD", "--not", *base, "--")


def _within(paths: Iterable[str], inner: str) -> list[str]:
    """Paths of the repository as paths of the project, each once."""
    own = (path[len(inner) :] for path in paths if path.startswith(inner) and path != inner)
    return list(dict.fromkeys(own))[:MAX_FILES]


def _unstaged(repository: Repository, index: ProcessResult, deadline: float) -> list[str]:
    if not index.is_good:
        _note(repository, "git ls-files", index)
        return []
    paths, is_complete = work_tree.changed_paths(index.output, repository.root, deadline)
    if not is_complete or len(index.output) >= MAX_LISTING_BYTES:
        repository.notes.append("there are more files than could be compared")
    return paths


def _staged(repository: Repository, staged: ProcessResult, index: ProcessResult) -> list[str]:
    if staged.status and index.is_good:
        # Before the first commit all of the index is new.
        return work_tree.all_paths(index.output)
    return _names(repository, "git diff-index", staged)


def _untracked(repository: Repository, listed: ProcessResult, deadline: float) -> list[str]:
    """Untracked files, those in untracked folders too; a folder stays a name if there is no time to look into it."""
    names = _names(repository, "git ls-files --others", listed)
    folders = [name for name in names if name.endswith("/")][:MAX_FOLDERS]
    if not folders:
        return names
    inside = repository.run(*_UNTRACKED, "--", *folders, deadline=deadline, in_work_tree=True)
    if not inside.is_good:
        return names
    files = inside.output.decode("utf-8", "replace").split("\0")[:-1]
    looked_into = {folder for folder in folders if any(file.startswith(folder) for file in files)}
    return [*(name for name in names if name not in looked_into), *files[:MAX_FILES]]


def _commits(repository: Repository, log: ProcessResult, inner: str) -> tuple[list[str], list[str]]:
    """Paths and subjects of the latest commits that touch the project, the newest first."""
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
        touched = [name for name in names.lstrip("\0\n").split("\0") if name and name.startswith(inner)]
        subjects += [subject] if touched else []
        paths += touched[:MAX_FILES]
    return paths, subjects


def _names(repository: Repository, question: str, outcome: ProcessResult) -> list[str]:
    if not outcome.is_good:
        _note(repository, question, outcome)
        return []
    return outcome.output.decode("utf-8", "replace").split("\0")[:-1]


def _note(repository: Repository, question: str, outcome: ProcessResult) -> None:
    note = outcome.reason if outcome.reason == NO_GIT else f"{question}: {outcome.reason}"
    if note not in repository.notes:
        repository.notes.append(note)


def commit_subjects(repository: Repository, project: str, most: int, deadline: float) -> list[str]:
    """The subjects of the last commits that are no merges, the newest first."""
    inner = repository.inner(project)
    below = ("--", inner) if inner else ()
    words = ("log", "--no-merges", "--no-color", "--no-notes", "-z", f"--max-count={most}", "--format=%s", *below)
    answer = repository.run(*words, deadline=deadline)
    return [text for text in answer.output.decode("utf-8", "replace").split("\0") if text] if answer.is_good else []
