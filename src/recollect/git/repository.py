"""The git repository around a project. What a file can tell is read; git is asked for the rest, in bounded time.

The repository may be hostile: nothing its config names is run, and nothing leaves the machine.
"""

from __future__ import annotations

import os
import time

from recollect import files
from recollect.git import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FILES = 400
_LONGEST = 200_000
_LONGEST_BRANCH = 250
_LARGEST_PACK = 8_000_000
_SAFE = (
    "--no-pager",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.quotePath=false",
)  # fmt: skip
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
_CHANGED = ("diff-tree", "-r", "-z", "--name-only", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-renames")


class Repository:
    """A working tree: where it begins and where git keeps its own files."""

    __slots__ = ("git_dir", "notes", "root")

    def __init__(self, root: str, git_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
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
    def head(self) -> str:
        """The commit that is checked out; empty before the first one."""
        if os.path.isdir(os.path.join(self._common_dir, "reftable")):
            return self._asked_head()
        name = "HEAD"
        for _ in range(5):
            found = self._ref(name)
            if not found.startswith("ref: "):
                return found if is_commit(found) else ""
            name = found[5:].strip()
        return ""

    def _asked_head(self) -> str:
        """The same from git: reftables are not for others to read."""
        answer = self.ask("rev-parse", "--verify", "--quiet", "HEAD", deadline=time.monotonic() + 0.5)
        found = answer.output.decode("ascii", "replace").strip()
        return found if answer.is_good and is_commit(found) else ""

    def _ref(self, name: str) -> str:
        if ".." in name.split("/") or os.path.isabs(name):
            return ""
        loose = _first_line(os.path.join(self.git_dir, name)) or _first_line(os.path.join(self._common_dir, name))
        if loose:
            return loose
        packed = _read(os.path.join(self._common_dir, "packed-refs"), _LARGEST_PACK)
        before, found, _ = packed.partition(f" {name}\n")
        return before.rpartition("\n")[2] if found else ""

    def ask(self, *question: str, deadline: float) -> process.Outcome:
        """What git says about this repository, paths taken literally."""
        program = process.find("git")
        if not program:
            return process.Outcome(None, b"", "there is no git to ask")
        command = (program, *_SAFE, "--literal-pathspecs", "-C", self.root, *question)
        return process.run_all([command], _environment(), deadline)[0]

    def changed_files(self, project: str, deadline: float) -> list[str]:
        """Files of a project that are changed and not committed, then those of the last commits."""
        program = process.find("git")
        if not program:
            self.notes.append("there is no git to ask")
            return []
        inert = self._inert_filters(program, deadline)
        if inert is None:
            return []
        base = (program, *_SAFE, *inert, "-C", project)
        status = (*base, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal",
                  "--ignore-submodules=all", "--", ".")  # fmt: skip
        commands = [status, *([_between(base, 3)] if self.branch else [])]
        outcomes = process.run_all(commands, _environment(), deadline)
        if len(outcomes) > 1 and outcomes[1].status not in (0, None):
            # Fewer than four commits, or a shallow clone.
            outcomes[1] = process.run_all([_between(base, 1)], _environment(), deadline)[0]
        pending = [entry[3:] for entry in self._names("git status", outcomes[0])]
        recent = self._recent(outcomes[1]) if len(outcomes) > 1 else []
        return list(dict.fromkeys([*self._below(project, pending), *recent]))[:MOST_FILES]

    def _recent(self, outcome: process.Outcome) -> list[str]:
        if outcome.status:
            self.notes.append("fewer than two commits")
            return []
        return self._names("git diff", outcome)

    def _names(self, what: str, outcome: process.Outcome) -> list[str]:
        if not outcome.is_good:
            self.notes.append(f"{what}: {outcome.reason}")
            return []
        return outcome.output.decode("utf-8", "replace").split("\0")[:-1]

    def _below(self, project: str, paths: list[str]) -> list[str]:
        """Paths relative to the repository as paths relative to the project, which may lie inside it."""
        prefix = os.path.relpath(os.path.realpath(project), os.path.realpath(self.root)).replace(os.sep, "/")
        if prefix == ".":
            return paths
        return [path[len(prefix) + 1 :] for path in paths if path.startswith(prefix + "/") and path != prefix + "/"]

    def _inert_filters(self, program: str, deadline: float) -> tuple[str, ...] | None:
        """Options that keep git from running the filters this repository's own config names; None if they cannot."""
        config = _read(os.path.join(self._common_dir, "config")) + _read(os.path.join(self.git_dir, "config.worktree"))
        if len(config) < _LONGEST and not any(word in config.lower() for word in ("filter", "include")):
            return ()
        ask = (program, *_SAFE, "-C", self.root, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
        (answer,) = process.run_all([ask], _environment(), deadline)
        if answer.status not in (0, 1):
            self.notes.append(f"git config: {answer.reason}")
            return None
        names = {key[7:].rpartition(".")[0] for key in answer.output.decode("utf-8", "replace").split("\0") if key}
        if any("=" in name or "\n" in name or "�" in name for name in names):
            self.notes.append("its config names a filter that cannot be switched off")
            return None
        settings = [
            f"filter.{name}.{key}" for name in sorted(names) for key in ("clean=", "process=", "required=false")
        ]
        return tuple(word for setting in settings for word in ("-c", setting))

    @property
    def _common_dir(self) -> str:
        """Where a linked worktree finds what it shares with the others."""
        shared = _first_line(os.path.join(self.git_dir, "commondir"))
        return os.path.join(self.git_dir, shared) if shared else self.git_dir


def around(folder: str) -> Repository | None:
    """The repository a folder lies in, or none."""
    here = os.path.realpath(folder)
    while True:
        mark = os.path.join(here, ".git")
        # Git passes over a folder of this name that has no HEAD, too.
        if os.path.lexists(os.path.join(mark, "HEAD")):
            return Repository(here, mark)
        if os.path.isfile(mark):
            target = _first_line(mark)
            git_dir = os.path.join(here, target[8:].strip()) if target.startswith("gitdir: ") else ""
            return Repository(here, git_dir) if os.path.isdir(git_dir) else None
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def is_commit(text: str) -> bool:
    """Whether a text could be the id of a commit; anything else must not reach a command line."""
    return 7 <= len(text) <= 64 and not text.strip("0123456789abcdef")


def _between(base: Sequence[str], commits: int) -> Sequence[str]:
    return (*base, *_CHANGED, "--relative", f"HEAD~{commits}", "HEAD", "--")


def _environment() -> dict[str, str]:
    """The user's environment, without what would point git at another repository, program or network."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _KEPT}
    return {
        **kept,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def _first_line(path: str) -> str:
    return _read(path).split("\n", 1)[0].strip()


def _read(path: str, most: int = _LONGEST) -> str:
    try:
        return files.read(path, most).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
