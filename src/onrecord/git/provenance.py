"""The commit that brought a file into a repository: which, by whom, and whether it is on this branch only."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.git import changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.git.repository import Repository

_LOG = (
    "log", "-1", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--no-notes", "--no-show-signature",
    "--no-mailmap", "--format=%H%x00%an%x00%aI%x00%s",
)  # fmt: skip
_SHORT = 10


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


def of_file(repository: Repository, path: str, deadline: float) -> Provenance | None:
    """Return what git knows of a file, by its path in the repository; None if it is not committed or git fails."""
    added, changed = repository.run_all(
        [((*_LOG, "--diff-filter=A", "--", path), False), ((*_LOG, "--", path), False)], deadline
    )
    first = _fields(added.output) if added.is_good else []
    if not first:
        return None
    last = _fields(changed.output) if changed.is_good else []
    commit, author, date, subject = first
    found = Provenance(commit, author, date, subject)
    if last and last[0] != found.commit:
        found = found._replace(changed_in=last[0], changed_by=last[1])
    return _compared(repository, found, deadline)


def _compared(repository: Repository, provenance: Provenance, deadline: float) -> Provenance:
    """Return the same with whether the branches that others start from have the commit."""
    for name in changes.BASES:
        base = repository.commit_of(name)
        if base:
            result = repository.run("merge-base", "--is-ancestor", provenance.commit, base, deadline=deadline)
            # 0 if it is an ancestor, 1 if it is not; anything else is a failure.
            is_only_here = result.status == 1
            short = name.replace("refs/remotes/", "").replace("refs/heads/", "").replace("/HEAD", "")
            return provenance._replace(is_on_this_branch_only=is_only_here, base=short)
    return provenance


def _fields(output: bytes) -> list[str]:
    parts = output.decode("utf-8", "replace").strip("\n").split("\0")
    return parts if len(parts) == 4 and parts[0] else []
