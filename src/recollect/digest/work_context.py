"""Signals of what is being worked on: the active feature, the branch, the files in play. No failure raises."""

from __future__ import annotations

import os

from recollect import failure_log
from recollect.git import repository
from recollect.search import stopwords, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.digest.active_feature import Feature

MOST_WORDS = 20
_SHARED_BRANCHES = frozenset("main master trunk develop development dev default head".split())
_KINDS_OF_BRANCH = frozenset("feature features feat fix bugfix hotfix chore".split())
_SAY_NOTHING = frozenset("src lib init index main mod test tests spec docs readme".split())
_NORMAL = ("not a git repository", "HEAD is detached", "fewer than two commits")


class Signals:
    """What a session seems to be about."""

    __slots__ = ("branch", "feature", "files", "notes")

    def __init__(self, feature: Feature | None, branch: str, files: list[str], notes: list[str]) -> None:
        self.feature = feature
        self.branch = branch
        self.files = files
        self.notes = notes

    @property
    def query(self) -> str:
        """The signals as one text to search by; empty when there is no work context."""
        parts = [self.feature.slug, self.feature.paragraph, self.feature.phase] if self.feature else []
        parts += branch_words(self.branch)
        parts += [word for word in file_words(self.files) if word not in parts]
        return " ".join(part for part in parts if part)


def branch(project: str) -> str:
    """The branch that is checked out in a project, or nothing."""
    found = repository.around(project) if project else None
    return found.branch if found else ""


def read(project: str, deadline: float) -> Signals:
    """The signals of a project; what was not to be had is in the notes, and what failed is traced."""
    if not project:
        return Signals(None, "", [], ["no project"])
    notes: list[str] = []
    current = _feature(project, notes)
    found = repository.around(project)
    checked_out, files = "", []
    if found is None:
        notes.append("not a git repository")
    else:
        checked_out = found.branch
        notes += [] if checked_out else ["HEAD is detached"]
        # Changes to the memory itself say nothing about the work.
        files = [path for path in found.files_in_play(project, deadline) if not path.startswith(".claude/")]
        notes += found.notes
    for note in notes:
        if note not in _NORMAL:
            failure_log.leave("session start signals", f"{project}: {note}")
    return Signals(current, checked_out, files, notes)


def _feature(project: str, notes: list[str]) -> Feature | None:
    if not os.path.isdir(os.path.join(project, "docs", "features")):
        return None
    from recollect.digest.active_feature import active

    return active(project, notes)


def branch_words(branch: str) -> list[str]:
    """The words of a branch's name; a branch that everybody shares says nothing about the work."""
    if branch.lower() in _SHARED_BRANCHES:
        return []
    return [word for word in _split(branch) if word not in _KINDS_OF_BRANCH]


def file_words(files: list[str]) -> list[str]:
    """Up to 20 words from the names of files, their folders' words last; files that begin with a dot are left out."""
    seen = [path.rstrip("/") for path in files if not path.startswith(".") and "/." not in path]
    names = (os.path.splitext(path.rpartition("/")[2])[0] for path in seen)
    folders = dict.fromkeys(path.rpartition("/")[0] for path in seen)
    words: dict[str, None] = {}
    for text in (*names, *folders):
        words.update((word, None) for word in _split(text) if word not in _SAY_NOTHING)
        if len(words) >= MOST_WORDS:
            break
    return list(words)[:MOST_WORDS]


def _split(text: str) -> list[str]:
    words = [part.lower() for word in terms.words(text) for part in terms.cased_parts(word)]
    return [word for word in words if len(word) > 1 and not word.isdigit() and word not in stopwords.ENGLISH]
