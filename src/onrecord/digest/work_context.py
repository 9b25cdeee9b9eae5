"""The work at hand: the active feature, the branch, the changed files. No failure raises.

A project may keep its features in `docs/features/<name>/.meta.json`, with a `spec.md` beside it.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths, state_file
from onrecord.coldstart import NamedTuple
from onrecord.git import changes, repository
from onrecord.git.changes import SHARED_BRANCHES, Changes
from onrecord.search import query, terms
from onrecord.text import cut

MAX_WORDS = 20
MAX_SUBJECTS = 5
"""Commits of a branch, the newest, whose subjects say what it is about."""

_MAX_SUBJECT_CHARACTERS = 120
FEATURES = os.path.join("docs", "features")
MAX_FEATURES = 500
"""The last by name: where features are numbered these are the newest."""

_MAX_BYTES = 60_000
_MAX_PARAGRAPH_CHARACTERS = 400
_KINDS_OF_BRANCH = frozenset("feature features feat fix bugfix hotfix chore".split())
_GENERIC_NAMES = frozenset("src lib init index main mod test tests spec docs readme".split())
_NORMAL = ("not a git repository", "HEAD is detached", "fewer than two commits")


class Feature(NamedTuple):
    """A feature that is being built: its slug, the first paragraph of its specification, and its last phase."""

    slug: str
    paragraph: str
    phase: str


class WorkContext(NamedTuple):
    """The work that a session seems to be about, and notes on what could not be read."""

    feature: Feature | None
    branch: str
    changes: Changes
    notes: list[str]

    @property
    def files(self) -> list[str]:
        """The files of the work at hand: not committed, or committed on this branch alone."""
        own = self.changes.committed if self.changes.is_own else ()
        return list(dict.fromkeys((*self.changes.uncommitted, *own)))

    @property
    def intent(self) -> str:
        """The intent in words: the active feature, the name of the branch, the subjects of its commits."""
        subjects = self.changes.subjects[:MAX_SUBJECTS] if self.changes.is_own else ()
        short = [cut(subject, _MAX_SUBJECT_CHARACTERS) for subject in subjects]
        parts = [*(self.feature or ()), *branch_words(self.branch), *short]
        return " ".join(part for part in parts if part)

    @property
    def signals(self) -> list[tuple[str, str]]:
        """The facts about the work, each apart, with its name; what is not known is left out.

        On a branch that everybody shares, the last commits are the work only if a feature is being built there.
        """
        feature = self.feature or Feature("", "", "")
        recent = self.changes.committed if self.feature or self.changes.is_own else ()
        # Where a specification describes the work, the subjects of its commits add words about the process.
        subjects = self.changes.subjects[:MAX_SUBJECTS] if self.changes.is_own and not self.feature else ()
        signals = {
            "feature": " ".join(_split(feature.slug)),
            "paragraph": feature.paragraph,
            "phase": feature.phase,
            "branch": " ".join(branch_words(self.branch)),
            "subjects": " ".join(cut(subject, _MAX_SUBJECT_CHARACTERS) for subject in subjects),
            "files": " ".join(file_words([*self.changes.uncommitted, *recent])),
        }
        return [(name, text) for name, text in signals.items() if text]

    @property
    def is_empty(self) -> bool:
        """True if nothing tells what is being worked on: no git, a clean main without a feature, hardly a commit."""
        return not self.signals

    @property
    def warnings(self) -> list[str]:
        """The notes about files of the project that are broken."""
        return [note for note in self.notes if note.startswith(FEATURES)]


def branch(project: str) -> str:
    """Return the branch that is checked out in a project; empty if there is none."""
    repo = repository.find(project) if project else None
    return repo.branch if repo else ""


def read(project: str, deadline: float) -> WorkContext:
    """Return the context of a project; what could not be read is in the notes, and failures go to the failure log."""
    if not project:
        return WorkContext(None, "", Changes(), ["no project"])
    notes: list[str] = []
    feature = active_feature(project, notes)
    repo = repository.find(project)
    branch, changed = repo.branch if repo else "", Changes()
    if repo is None:
        notes.append("not a git repository")
    else:
        notes += [] if branch else ["HEAD is detached"]
        changed = _of_the_work(changes.read(repo, project, deadline))
        notes += repo.notes
    for note in notes:
        if note not in _NORMAL:
            state_file.log_failure("session start signals", f"{project}: {note}")
    return WorkContext(feature, branch, changed, notes)


def _of_the_work(changed: Changes) -> Changes:
    """Return the changes without those to the memory itself, which say nothing about the work."""
    uncommitted, committed = (
        [path for path in paths if not path.startswith(".claude/")]
        for paths in (changed.uncommitted, changed.committed)
    )
    return changed._replace(uncommitted=uncommitted, committed=committed)


def branch_words(branch: str) -> list[str]:
    """Return the words of a branch's name; a branch that everybody shares says nothing about the work."""
    if branch.lower() in SHARED_BRANCHES:
        return []
    return [word for word in _split(branch) if word not in _KINDS_OF_BRANCH]


def file_words(files: list[str]) -> list[str]:
    """Return up to 20 words from the names of files, their folders' words last; dot files are left out."""
    visible = [path.rstrip("/") for path in files if not path.startswith(".") and "/." not in path]
    names = (os.path.splitext(path.rpartition("/")[2])[0] for path in visible)
    folders = dict.fromkeys(path.rpartition("/")[0] for path in visible)
    words: dict[str, None] = {}
    for text in (*names, *folders):
        words.update((word, None) for word in _split(text) if word not in _GENERIC_NAMES)
        if len(words) >= MAX_WORDS:
            break
    return list(words)[:MAX_WORDS]


def _split(text: str) -> list[str]:
    words = [part.lower() for word in terms.words(text) for part in terms.cased_parts(word)]
    return [word for word in words if len(word) > 1 and not word.isdigit() and word not in query.ENGLISH]


def active_feature(project: str, notes: list[str]) -> Feature | None:
    """Return the newest active feature of a project; what could not be read is added to `notes`."""
    active: list[tuple[int, str, dict[str, object]]] = []
    for name in _features(project):
        meta, modified = _meta(project, os.path.join(FEATURES, name, ".meta.json"), notes)
        if meta.get("status") == "active":
            active.append((modified, name, meta))
    if not active:
        return None
    _, name, meta = max(active, key=lambda feature: feature[:2])
    if not _text(meta.get("slug")):
        notes.append(f"{os.path.join(FEATURES, name, '.meta.json')}: no slug; the folder's name is used")
    from onrecord import markdown

    spec = _read(project, os.path.join(FEATURES, name, "spec.md"), notes)
    paragraph = cut(markdown.first_paragraph(spec), _MAX_PARAGRAPH_CHARACTERS)
    return Feature(_text(meta.get("slug")) or name, paragraph, _text(meta.get("lastCompletedPhase")))


def _features(project: str) -> list[str]:
    folder = os.path.join(project, FEATURES)
    try:
        return sorted(os.listdir(folder))[-MAX_FEATURES:] if paths.is_within(project, folder) else []
    except OSError:
        return []


def _meta(project: str, path: str, notes: list[str]) -> tuple[dict[str, object], int]:
    """Return the metadata of a feature, and when it was written."""
    text = _read(project, path, notes)
    if not text:
        return {}, 0
    try:
        meta = coldstart.loads(text.lstrip("\ufeff"))
        modified = os.stat(os.path.join(project, path)).st_mtime_ns
    except (OSError, ValueError) as error:
        notes.append(f"{path}: {error}")
        return {}, 0
    if not isinstance(meta, dict):
        notes.append(f"{path}: not a JSON object")
        return {}, 0
    return meta, modified


def _read(project: str, path: str, notes: list[str]) -> str:
    full = os.path.join(project, path)
    if not os.path.lexists(full):
        return ""
    if not paths.is_within(project, full):
        notes.append(f"{path}: leads out of the project")
        return ""
    try:
        return files.read(full, _MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        notes.append(f"{path}: {error}")
        return ""


def _text(value: object) -> str:
    return " ".join(value.split())[:200] if isinstance(value, str) else ""
