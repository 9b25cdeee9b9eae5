"""The git repository around a project, and the one way in which git is run.

A repository may be hostile: its config, attributes and hooks name programs, and git would run them. So git is only
asked what it can answer from its own database and from folder listings. It never converts, compares or fetches
anything; it gets the repository by name, never by discovery; and its time and output are bounded. The branch and the
commit are read from files, as data only: what git does never depends on what we read there.
"""

from __future__ import annotations

import os
import time

from onrecord import files
from onrecord.git import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LISTING_BYTES = 24_000_000
"""Bytes of an index listing, about 100,000 files: more are not compared in a session's first seconds."""

_LARGEST_FILE = 200_000
_LARGEST_PACK = 8_000_000
_LONGEST_BRANCH = 250
_LONGEST_ADDRESS = 500
PINNED = (
    "--no-pager", "--no-replace-objects", "--no-optional-locks",
    "-c", "safe.bareRepository=explicit",
    "-c", "core.fsmonitor=false",
    "-c", "core.untrackedCache=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.quotePath=false",
    "-c", "protocol.allow=never",
    "-c", "log.showSignature=false",
)  # fmt: skip
_USERS_CONFIG = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
NO_GIT = "there is no git to ask"
_NOWHERE = os.path.dirname(os.path.abspath(__file__))
"""Where git works when no file of the project is needed: a folder that is not the project's."""


class Repository:
    """A working tree: where it begins and where git keeps its own files."""

    __slots__ = ("git_dir", "notes", "root")

    def __init__(self, root: str, git_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        """Read by us only; git is given `.git`, and follows it in its own way."""
        self.notes: list[str] = []
        """What could not be found out, and why."""

    @property
    def branch(self) -> str:
        """The branch that is checked out; empty when HEAD is detached."""
        head = _first_line(os.path.join(self.git_dir, "HEAD"))
        prefix = "ref: refs/heads/"
        name = head[len(prefix) :].strip() if head.startswith(prefix) else ""
        # A repository with reftables keeps this in HEAD for programs that look there.
        return "" if name == ".invalid" else name[:_LONGEST_BRANCH]

    @property
    def origin(self) -> str:
        """The address of the remote that git calls origin, read from the config as data; empty if there is none."""
        section = ""
        for line in _read(os.path.join(self._common, "config")).split("\n"):
            text = line.strip()
            if text.startswith("["):
                section = text.partition("]")[0].strip("[ ").lower()
            elif section == 'remote "origin"':
                key, equals, value = text.partition("=")
                if equals and key.strip().lower() == "url":
                    return value.strip().strip('"')[:_LONGEST_ADDRESS]
        return ""

    @property
    def head(self) -> str:
        """The commit that is checked out; empty before the first one."""
        if os.path.isdir(os.path.join(self._common, "reftable")):
            answer = self.run("rev-parse", "--verify", "--quiet", "HEAD", deadline=time.monotonic() + 0.5)
            commit = answer.output.decode("ascii", "replace").strip() if answer.is_good else ""
            return commit if is_commit(commit) else ""
        return self.commit_of("HEAD")

    @property
    def _common(self) -> str:
        """What the linked working trees of a repository share."""
        shared = _first_line(os.path.join(self.git_dir, "commondir"))
        return os.path.join(self.git_dir, shared) if shared else self.git_dir

    def commit_of(self, ref: str) -> str:
        """The commit that a ref names; empty if there is no such ref, or it is not kept in files."""
        common = self._common
        for _ in range(5):
            value = self._ref(ref, common)
            if not value.startswith("ref: "):
                return value if is_commit(value) else ""
            ref = value[5:].strip()
        return ""

    def _ref(self, name: str, common: str) -> str:
        if ".." in name.split("/") or os.path.isabs(name):
            return ""
        loose = _first_line(os.path.join(self.git_dir, name)) or _first_line(os.path.join(common, name))
        if loose:
            return loose
        packed = _read(os.path.join(common, "packed-refs"), _LARGEST_PACK)
        before, separator, _ = packed.partition(f" {name}\n")
        return before.rpartition("\n")[2] if separator else ""

    def inner(self, project: str) -> str:
        """The path of a project in its repository, with a slash at the end; empty if it is all of it."""
        path = os.path.relpath(os.path.realpath(project), os.path.realpath(self.root)).replace(os.sep, "/")
        return "" if path == "." else path + "/"

    def run(self, *question: str, deadline: float, in_work_tree: bool = False) -> process.ProcessResult:
        """What git answers about this repository, paths taken literally and from its root.

        Only a question about files gets to see the project's; it must be one that reads no content.
        """
        return self.run_all([(question, in_work_tree)], deadline)[0]

    def run_all(self, questions: Sequence[tuple[Sequence[str], bool]], deadline: float) -> list[process.ProcessResult]:
        program = process.find("git", outside=self.root)
        if not program:
            return [process.ProcessResult(None, b"", NO_GIT) for _ in questions]
        commands = []
        for question, in_work_tree in questions:
            place = self.root if in_work_tree else _NOWHERE
            pins = ("-C", place, f"--git-dir={os.path.join(self.root, '.git')}", f"--work-tree={place}")
            # `check-ignore` alone refuses to take paths literally.
            literal = () if question[0] == "check-ignore" else ("--literal-pathspecs",)
            commands.append((program, *pins, *PINNED, *literal, *question))
        return process.run_all(commands, environment(), deadline, MAX_LISTING_BYTES)


def find(folder: str) -> Repository | None:
    """The repository a folder lies in, or none; one of a stranger, such as in a shared folder above, does not count."""
    here = start = os.path.realpath(folder)
    while True:
        mark = os.path.join(here, ".git")
        # Git passes over a folder of this name that has no HEAD, too.
        if os.path.lexists(os.path.join(mark, "HEAD")):
            return Repository(here, mark) if _is_trusted(mark, start) else None
        if os.path.isfile(mark):
            target = _first_line(mark)
            git_dir = os.path.join(here, target[8:].strip()) if target.startswith("gitdir: ") else ""
            return Repository(here, git_dir) if os.path.isdir(git_dir) and _is_trusted(mark, start) else None
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def _is_trusted(mark: str, folder: str) -> bool:
    """Whether a repository belongs to this user or to the owner of the folder; in containers the two often differ."""
    try:
        owner = os.lstat(mark).st_uid
        return os.name == "nt" or owner in (os.geteuid(), os.stat(folder).st_uid)
    except OSError:
        return False


def merge_text(ours: str, base: str, theirs: str, marker_size: int, deadline: float) -> process.ProcessResult:
    """Merge three files line by line into the first; the status is the number of conflicts, or above 127."""
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    words = (f"--marker-size={marker_size}", *labels, *map(os.path.abspath, (ours, base, theirs)))
    return _run(f"--git-dir={os.devnull}", "merge-file", *words, deadline=deadline)


def _run(*words: str, deadline: float) -> process.ProcessResult:
    here = find(os.getcwd())
    program = process.find("git", outside=here.root if here else os.getcwd())
    if not program:
        return process.ProcessResult(None, b"", NO_GIT)
    return process.run_all([(program, *PINNED, *words)], environment(), deadline)[0]


def is_commit(text: str) -> bool:
    """Whether a text could be the id of a commit; anything else must not reach a command line."""
    return 7 <= len(text) <= 64 and not text.strip("0123456789abcdef")


def environment() -> dict[str, str]:
    """The user's environment, without what would point git at another repository, program or network."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _USERS_CONFIG}
    return {
        **own,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        # One object cannot take more memory than this, however well it was compressed.
        "GIT_ALLOC_LIMIT": "100m",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def _first_line(path: str) -> str:
    return _read(path).split("\n", 1)[0].strip()


def _read(path: str, most: int = _LARGEST_FILE) -> str:
    try:
        return files.read(path, most).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
