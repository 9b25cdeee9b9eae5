"""The git repository of a project, and the only way to run git.

A repository may be hostile: its config, attributes and hooks name programs, and git would run them. So git only runs
commands that read its own database and list folders. It never converts, compares or fetches anything; the repository is
passed to it by path, never discovered; and its time and output are limited. The branch and the commit are read from
files, as data only: they never affect how git runs.
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
"""Size of an index listing of about 100,000 files. More could not be compared in a session's first seconds."""

_MAX_FILE_BYTES = 200_000
_MAX_PACKED_REFS_BYTES = 8_000_000
_MAX_BRANCH_CHARACTERS = 250
_MAX_URL_CHARACTERS = 500
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
LOG = ("log", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-decorate", "--no-mailmap")
"""`git log` that starts no program which a repository names, and prints the same whatever it or the user has set."""

_USERS_CONFIG = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
NO_GIT = "git was not found"
_NEUTRAL_FOLDER = os.path.dirname(os.path.abspath(__file__))
"""The current folder of git commands that need no file of the project: a folder outside any project."""


class Repository:
    """A working tree: its root, and the folder of git's own files."""

    __slots__ = ("git_dir", "notes", "root")

    def __init__(self, root: str, git_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        """Used only to read files ourselves; git gets the path of `.git`."""
        self.notes: list[str] = []
        """Messages about git commands that failed, with the reasons."""

    @property
    def branch(self) -> str:
        """The branch that is checked out; empty when HEAD is detached."""
        head = _first_line(os.path.join(self.git_dir, "HEAD"))
        prefix = "ref: refs/heads/"
        name = head[len(prefix) :].strip() if head.startswith(prefix) else ""
        # In a repository with reftables, HEAD names the branch `.invalid`.
        return "" if name == ".invalid" else name[:_MAX_BRANCH_CHARACTERS]

    @property
    def origin(self) -> str:
        """The URL of the remote `origin`, read from the config file without git; empty if there is none."""
        section = ""
        for line in _read(os.path.join(self._common, "config")).split("\n"):
            text = line.strip()
            if text.startswith("["):
                section = text.partition("]")[0].strip("[ ").lower()
            elif section == 'remote "origin"':
                key, equals, value = text.partition("=")
                if equals and key.strip().lower() == "url":
                    return value.strip().strip('"')[:_MAX_URL_CHARACTERS]
        return ""

    @property
    def head(self) -> str:
        """The commit that is checked out; empty before the first one."""
        if os.path.isdir(os.path.join(self._common, "reftable")):
            result = self.run("rev-parse", "--verify", "--quiet", "HEAD", deadline=time.monotonic() + 0.5)
            commit = result.output.decode("ascii", "replace").strip() if result.is_good else ""
            return commit if is_commit(commit) else ""
        return self.commit_of("HEAD")

    @property
    def _common(self) -> str:
        """The git folder that linked working trees share."""
        shared = _first_line(os.path.join(self.git_dir, "commondir"))
        return os.path.join(self.git_dir, shared) if shared else self.git_dir

    @property
    def main_root(self) -> str:
        """The folder that all linked working trees of the repository share: that of the main one, or a bare one."""
        if self._common == self.git_dir:
            return self.root
        common = os.path.realpath(self._common)
        return os.path.dirname(common) if os.path.basename(common) == ".git" else common

    def commit_of(self, ref: str) -> str:
        """Return the commit that `ref` points to; empty if there is no such ref, or if refs are not stored in files."""
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
        packed = _read(os.path.join(common, "packed-refs"), _MAX_PACKED_REFS_BYTES)
        before, separator, _ = packed.partition(f" {name}\n")
        return before.rpartition("\n")[2] if separator else ""

    def inner(self, project: str) -> str:
        """Return the path of a project in its repository, ending in a slash; empty if it is the root."""
        path = os.path.relpath(os.path.realpath(project), os.path.realpath(self.root)).replace(os.sep, "/")
        return "" if path == "." else path + "/"

    def run(self, *words: str, deadline: float, in_work_tree: bool = False) -> process.ProcessResult:
        """Run a git command and return its result; paths are literal and relative to the root.

        With `in_work_tree` git sees the project's files; such a command must not read their content.
        """
        return self.run_all([(words, in_work_tree)], deadline)[0]

    def run_all(self, commands: Sequence[tuple[Sequence[str], bool]], deadline: float) -> list[process.ProcessResult]:
        """Run several git commands in parallel. Each command is a pair: its words, and `in_work_tree` (see `run`)."""
        program = process.find("git", outside=self.root)
        if not program:
            return [process.ProcessResult(None, b"", NO_GIT) for _ in commands]
        command_lines = []
        for words, in_work_tree in commands:
            folder = self.root if in_work_tree else _NEUTRAL_FOLDER
            pins = ("-C", folder, f"--git-dir={os.path.join(self.root, '.git')}", f"--work-tree={folder}")
            # `check-ignore` is the one command that refuses this option.
            literal = () if words[0] == "check-ignore" else ("--literal-pathspecs",)
            command_lines.append((program, *pins, *PINNED, *literal, *words))
        return process.run_all(command_lines, environment(), deadline, MAX_LISTING_BYTES)


def find(folder: str) -> Repository | None:
    """Return the repository that contains `folder`; None if there is none, or if it belongs to another user."""
    here = start = os.path.realpath(folder)
    while True:
        mark = os.path.join(here, ".git")
        # Like git, skip a folder of this name that has no HEAD.
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
    """True if the repository belongs to this user or to the owner of `folder`: two users in many containers."""
    try:
        owner = os.lstat(mark).st_uid
        return os.name == "nt" or owner in (os.geteuid(), os.stat(folder).st_uid)
    except OSError:
        return False


def merge_text(
    our_file: str, base_file: str, their_file: str, marker_size: int, deadline: float
) -> process.ProcessResult:
    """Merge three files line by line into `our_file`.

    The result's status is the number of conflicts; above 127 means that git failed.
    """
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    words = (f"--marker-size={marker_size}", *labels, *map(os.path.abspath, (our_file, base_file, their_file)))
    return _run(f"--git-dir={os.devnull}", "merge-file", *words, deadline=deadline)


def _run(*words: str, deadline: float) -> process.ProcessResult:
    here = find(os.getcwd())
    program = process.find("git", outside=here.root if here else os.getcwd())
    if not program:
        return process.ProcessResult(None, b"", NO_GIT)
    return process.run_all([(program, *PINNED, *words)], environment(), deadline)[0]


def is_commit(text: str) -> bool:
    """True if `text` looks like the id of a commit or blob. Only such a text may be put on a command line."""
    return 7 <= len(text) <= 64 and not text.strip("0123456789abcdef")


def environment() -> dict[str, str]:
    """Return the user's environment without the variables that lead git to another repository, program or network."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _USERS_CONFIG}
    return {
        **inherited,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        # Limits the memory for one object, however well it was compressed.
        "GIT_ALLOC_LIMIT": "100m",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def _first_line(path: str) -> str:
    return _read(path).split("\n", 1)[0].strip()


def _read(path: str, max_bytes: int = _MAX_FILE_BYTES) -> str:
    try:
        return files.read(path, max_bytes).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
