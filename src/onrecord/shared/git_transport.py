"""A shared store in a git repository: fetched into a mirror of our own, written as commits, pushed with retry.

Records lie at the repository's root (`decisions/…`) or below `.claude/memory/`. Nothing else of the repository is
touched, and nothing is checked out. If the branch does not take our changes, they go to a branch of our own.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from shlex import quote

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, Offline, OnrecordError, Refused
from onrecord.git.repository import NO_GIT, is_commit
from onrecord.shared import git_commits
from onrecord.shared.git_commits import BrokenMirror, broken_mirror
from onrecord.shared.git_mirror import GitResult, Mirror
from onrecord.shared.transport import Pulled, Push, Pushed, Version, version_hash

_EMPTY = "empty"
"""The cursor of a repository without a commit."""

_THEIRS, _PUSHED, _WAITING = "refs/onrecord/theirs", "refs/onrecord/pushed", "refs/onrecord/waiting"
"""What the remote has; what we pushed last, whether or not we heard the answer; what waits for a merge."""

_FIRST_BRANCH = "main"
_LOOK, _MOVE = 30.0, 600.0
"""Seconds for a look at the remote, and for a fetch or a push."""

_NO_ANSWER = (Offline, BrokenMirror)
_ATTEMPTS = 8
_LONGEST_PAUSE = 2.0
_POLL_EVERY = 15.0
"""Seconds between two looks while waiting for others: git servers do not call back."""


class _Sorted(NamedTuple):
    """Changes by what the remote has: the same already, another version by now, or what we expect."""

    same: tuple[str, ...]
    outdated: tuple[str, ...]
    due: list[Push]


class GitTransport:
    """A connection to one repository, through a mirror in a folder of ours."""

    def __init__(self, url: str, folder: str) -> None:
        self._url = url
        self._mirror = Mirror(folder)
        self._heads = Heads("")

    def pull(self, cursor: str) -> Pulled:
        try:
            return self._pull(cursor)
        except BrokenMirror:
            # Everything in it can be fetched again.
            self._mirror.remove()
            return self._pull(cursor)

    def _pull(self, cursor: str) -> Pulled:
        self._check(self._mirror.create())
        self._look()
        if not self._heads.commit:
            return Pulled((), _EMPTY, is_reset=cursor not in ("", _EMPTY))
        if self._heads.commit == cursor:
            return Pulled((), cursor)
        head = self._fetch()
        below = git_commits.store_prefix(self._mirror, head)
        is_first = cursor in ("", _EMPTY)
        if is_first or not self._is_in_history(cursor, head):
            blobs = git_commits.store_files(self._mirror, head, below)
            return Pulled(git_commits.read_versions(self._mirror, blobs), head, is_reset=not is_first)
        blobs = git_commits.changed_files(self._mirror, cursor, head, below)
        return Pulled(self._in_order(cursor, head, below, blobs), head)

    def _in_order(self, cursor: str, head: str, below: str, blobs: Sequence[git_commits.Blob]) -> Iterator[Version]:
        """What changed, our own commits first: whoever merged or changed them built on them."""
        for ref in (_PUSHED, _WAITING):
            own = self._mirror.commit_of(ref)
            if own and self._is_in_history(own, head) and not self._is_in_history(own, cursor):
                parent = self._mirror.commit_of(f"{own}^")
                if parent:
                    ours = git_commits.changed_files(self._mirror, parent, own, below)
                    yield from git_commits.read_versions(self._mirror, ours)
        yield from git_commits.read_versions(self._mirror, blobs)

    def push(self, changes: Sequence[Push]) -> Pushed:
        try:
            return self._push(changes)
        except BrokenMirror:
            self._mirror.remove()
            self._check(self._mirror.create())
            self._look()
            self._fetch()
            return self._push(changes)

    def _push(self, changes: Sequence[Push]) -> Pushed:
        for attempt in range(_ATTEMPTS):
            head = self._head()
            below = git_commits.store_prefix(self._mirror, head) if head else ""
            by_state = self._sorted(changes, head, below)
            if not by_state.due:
                return Pushed(by_state.same, by_state.outdated)
            commit = git_commits.make_commit(self._mirror, head, below, by_state.due)
            if self._is_waiting(commit, head):
                return self._waits(by_state)
            answer = self._send(commit, self._heads.branch or _FIRST_BRANCH)
            outcome = push_outcome(answer)
            if outcome == DONE:
                return Pushed((*by_state.same, *(change.path for change in by_state.due)), by_state.outdated)
            if outcome != BEHIND:
                return self._on_own_branch(by_state, commit, answer)
            # Others write at the same time; whoever waits longest is not always the same.
            time.sleep(random.random() * min(_LONGEST_PAUSE, 0.05 * 2**attempt))
            self._look()
            self._fetch()
        return Pushed(by_state.same, (*by_state.outdated, *(change.path for change in by_state.due)))

    def wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        before = self._heads.commit
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _POLL_EVERY))
            self._look()
            if self._heads.commit != before:
                return True
        return False

    def close(self) -> None:
        """Nothing is open between two questions."""

    def _look(self) -> None:
        """Ask for the branches that matter, without fetching anything."""
        own = git_commits.own_branch(self._mirror)
        names = ("refs/heads/main", "refs/heads/master", "refs/heads/trunk", f"refs/heads/{own}")
        self._heads = parse_heads(self._listed(*names), own)
        if self._heads.branch:
            return
        # Empty, or no branch is the default; somebody may have pushed the first one since.
        every = self._listed("refs/heads/*")
        self._heads = parse_heads(every, own)
        others = [line for line in every.splitlines() if "\trefs/heads/" in line and "/onrecord/" not in line]
        if others and not self._heads.branch:
            raise BadRemote(
                f"{self._url} has branches, but none of them is its default",
                fix="set the default branch of the repository: git symbolic-ref HEAD refs/heads/main",
            )

    def _listed(self, *names: str) -> str:
        answer = self._mirror.run_remote("ls-remote", "--symref", "--", self._url, "HEAD", *names, seconds=_LOOK)
        self._check(answer)
        return answer.text

    def _fetch(self) -> str:
        """Bring the branch into the mirror; the commit it is at."""
        if not self._heads.commit:
            return ""
        spec = f"+refs/heads/{self._heads.branch}:{_THEIRS}"
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", self._url, spec)
        self._check(self._mirror.run_remote(*words, seconds=_MOVE))
        return self._head()

    def _head(self) -> str:
        """The commit that the branch was at when we looked, or the fetched one if it was replaced since."""
        if not self._heads.commit:
            return ""
        # Not the fetched one first: a fetch that outlived a killed sync may set that back.
        return self._mirror.commit_of(self._heads.commit) or self._mirror.commit_of(_THEIRS)

    def _is_in_history(self, commit: str, head: str) -> bool:
        """Whether one commit is in the history of another; one that the mirror does not have (git says 128) is not."""
        if not is_commit(commit):
            return False
        answer = self._mirror.run_local("merge-base", "--is-ancestor", commit, head)
        if answer.status not in (0, 1, 128):
            raise error_from_git(answer, self._url)
        return answer.is_good

    def _check(self, answer: GitResult) -> None:
        if not answer.is_good:
            raise error_from_git(answer, self._url)

    def _sorted(self, changes: Sequence[Push], head: str, below: str) -> _Sorted:
        wanted = {change.path for change in changes}
        blobs = (
            [blob for blob in git_commits.store_files(self._mirror, head, below) if blob.path in wanted] if head else []
        )
        present = {version.path: version for version in git_commits.read_versions(self._mirror, blobs)}
        same, outdated, due = [], [], []
        for change in changes:
            version = present.get(change.path, Version(change.path, b""))
            if version.data == change.data and not version.flaw:
                same.append(change.path)
            elif version.flaw or version_hash(version.data) != change.expected:
                outdated.append(change.path)
            else:
                due.append(change)
        return _Sorted(tuple(same), tuple(outdated), due)

    def _send(self, commit: str, branch: str, lease: str | None = None) -> GitResult:
        self._mirror.run_local("update-ref", _PUSHED if lease is None else _WAITING, commit)
        force = () if lease is None else (f"--force-with-lease=refs/heads/{branch}:{lease}",)
        words = ("push", "--porcelain", "--no-verify", *force, "--", self._url, f"{commit}:refs/heads/{branch}")
        answer = self._mirror.run_remote(*words, seconds=_MOVE)
        if not push_outcome(answer) and isinstance(error := error_from_git(answer, self._url), _NO_ANSWER):
            raise error
        return answer

    def _is_waiting(self, commit: str, head: str) -> bool:
        """Whether our own branch holds just these changes already, on top of what the remote has."""
        waiting = self._mirror.commit_of(_WAITING)
        if not waiting or waiting != self._heads.own:
            return False
        trees = [self._mirror.run_local("rev-parse", f"{each}^{{tree}}").output for each in (commit, waiting)]
        return trees[0] == trees[1] and self._mirror.commit_of(f"{waiting}^") == head

    def _on_own_branch(self, by_state: _Sorted, commit: str, refusal: GitResult) -> Pushed:
        """Push to a branch of our own what the branch of all does not take."""
        answer = self._send(commit, git_commits.own_branch(self._mirror), lease=self._heads.own)
        if push_outcome(answer) == DONE:
            self._heads = self._heads._replace(own=commit)
            return self._waits(by_state)
        reason = f"the remote does not take it: {shorten(refusal.message)}"
        return Pushed(by_state.same, by_state.outdated, refused={change.path: reason for change in by_state.due})

    def _waits(self, by_state: _Sorted) -> Pushed:
        own, branch = git_commits.own_branch(self._mirror), self._heads.branch or _FIRST_BRANCH
        note = f"{branch} does not take changes directly: they are on the branch {own}; ask for a merge"
        waiting = tuple(change.path for change in by_state.due)
        return Pushed(by_state.same, by_state.outdated, waiting, note=note)


DONE, BEHIND, PROTECTED = "done", "behind", "protected"
_BRANCHES = ("main", "master", "trunk")
"""Tried in this order where a repository does not say which branch is its default."""

_BROKEN = (
    "bad object",
    "not a git repository",
    "corrupt",
    "is empty",
    "did not send all necessary objects",
    "unable to read",
)
"""What git says where its own copy is damaged, as after a power failure."""

_UNREACHABLE = ("could not resolve", "failed to connect", "connection refused", "timed out", "unreachable")
"""Looked for first: the address that stands beside them may hold any word."""

_NOT_ALLOWED = (
    "permission denied", "authentication failed", "access denied", "error: 403", "error: 401", "http 403", "http 401",
    "terminal prompts disabled", "could not read username", "could not read password", "host key verification failed",
    "denied to", "not authorized", "unauthorized", "not allowed", "read-only", "protected",
)  # fmt: skip
_NO_STORE = (
    "does not appear to be a git repository", "repository not found", "not found", "dubious ownership",
    "transport", "larger than", "answered more than", "couldn't find remote ref",
)  # fmt: skip
_RACES = (
    "cannot lock ref",
    "failed to update ref",
    "incorrect old value",
    "reference already exists",
    "unable to lock",
)
_SYMBOLIC = "ref: refs/heads/"
_ADVICE = ("hint:", "To ", "Please make sure", "and the repository exists", "Could not read from remote")
_MOST_LINES = 3
_LONGEST = 300


class Heads(NamedTuple):
    """The branch of a remote that holds the records, its commit (empty for none), and the commit of our own branch."""

    branch: str
    commit: str = ""
    own: str = ""


def parse_heads(listing: str, own: str) -> Heads:
    """What `git ls-remote --symref` lists of a remote; a branch without a name if it does not say which one counts."""
    commits: dict[str, str] = {}
    default = ""
    for line in listing.splitlines():
        value, _, name = line.partition("\t")
        if value.startswith(_SYMBOLIC) and name == "HEAD" and _is_branch(value[len(_SYMBOLIC) :]):
            default = value[len(_SYMBOLIC) :]
        elif is_commit(value):
            commits.setdefault(name, value)
    if f"refs/heads/{default}" not in commits:
        present = [branch for branch in _BRANCHES if f"refs/heads/{branch}" in commits]
        default = default if default and "HEAD" in commits else (present or [""])[0]
    commit = commits.get(f"refs/heads/{default}") or (commits.get("HEAD", "") if default else "")
    return Heads(default, commit, commits.get(f"refs/heads/{own}", ""))


def _is_branch(name: str) -> bool:
    """Whether a branch may have this name: a server could send anything, and it goes into a command."""
    return name.isprintable() and not set(" ~^:?*[\\").intersection(name) and ".." not in name and len(name) < 250


def error_from_git(answer: GitResult, url: str) -> OnrecordError:
    """Why a remote could not be read or written."""
    reason = shorten(answer.message) or f"git ended with {answer.status}"
    lowered = answer.message.lower()
    fix = f"see whether git reaches it: git ls-remote {quote(url)}"
    if answer.message == NO_GIT:
        return BadRemote("git is not installed", fix="install git")
    is_reached = not any(words in lowered for words in _UNREACHABLE)
    if is_reached and _is_ours_broken(lowered):
        return broken_mirror(reason)
    if is_reached and any(words in lowered for words in _NOT_ALLOWED):
        return Refused(f"{url} does not let us in: {reason}", fix=fix)
    if is_reached and any(words in lowered for words in _NO_STORE):
        return BadRemote(f"{url} cannot be used: {reason}", fix=fix)
    return Offline(f"{url} cannot be reached: {reason}", fix=f"{fix}; later: onrecord sync")


def _is_ours_broken(message: str) -> bool:
    """Whether git speaks of a damage, and not the other side."""
    ours = [line for line in message.splitlines() if not line.startswith("remote:")]
    return any(words in line for line in ours for words in _BROKEN)


def shorten(message: str) -> str:
    """What a message of git says in one line, without its advice."""
    lines = [line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in message.splitlines()]
    reasons = [line for line in lines if line and not line.startswith(_ADVICE)]
    return "; ".join(reasons[:_MOST_LINES])[:_LONGEST]


def push_outcome(answer: GitResult) -> str:
    """How a push of one branch ended, from its porcelain lines; empty if it failed as a whole."""
    for line in answer.text.splitlines():
        flag, _, rest = line.partition("\t")
        if len(flag) != 1 or "\t" not in rest:
            continue
        summary = rest.partition("\t")[2].lower()
        if flag != "!":
            return DONE
        is_race = summary.startswith("[rejected]") or any(words in summary for words in _RACES)
        return BEHIND if is_race else PROTECTED
    return ""
