"""The transport for a shared store in a git repository: fetch into a mirror, write commits, push with retries.

Records are at the repository's root (`decisions/…`) or in `.claude/memory/`. Nothing else of the repository is
touched, and nothing is checked out. If the main branch refuses our changes, they go to a branch of our own.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from shlex import quote

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, Offline, OnrecordError, Refused
from onrecord.git.repository import NO_GIT, is_commit
from onrecord.shared import git_commits, incoming, local_repository
from onrecord.shared.git_commits import BrokenMirror, broken_mirror
from onrecord.shared.git_mirror import REMOTE, GitResult, Mirror
from onrecord.shared.transport import Pulled, Push, Pushed, StoreAccess, Version, version_hash

_EMPTY = "empty"
"""The cursor of a repository without a commit."""

_THEIRS, _PUSHED, _WAITING = "refs/onrecord/theirs", "refs/onrecord/pushed", "refs/onrecord/waiting"
"""The remote's commit; our last push, answered or not; our commit that waits for a merge."""

_FIRST_BRANCH = "main"
_BRANCH = "refs/heads/"
_LIST_SECONDS, _TRANSFER_SECONDS = 30.0, 600.0
"""Time limits for listing the remote's branches, and for a fetch or a push."""

_UNANSWERED = (Offline, BrokenMirror)
_ATTEMPTS = 8
_MAX_PAUSE_SECONDS = 2.0
_POLL_SECONDS = 15.0
"""Time between two polls for changes: git servers send no notifications."""

_UNRUN_GATES = "it has hooks that decide about changes, and programs of a folder are not run"
DONE, BEHIND, PROTECTED = "done", "behind", "protected"
_BRANCHES = ("main", "master", "trunk")
"""Tried in this order if a repository names no default branch."""

_BROKEN = (
    "bad object",
    "not a git repository",
    "corrupt",
    "is empty",
    "did not send all necessary objects",
    "unable to read",
)
"""Messages of git about a damaged mirror, as after a power failure."""

_UNREACHABLE = ("could not resolve", "failed to connect", "connection refused", "timed out", "unreachable")
"""Checked first: the address in the same message may contain any word."""

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
_MAX_REASON_LINES = 3
_MAX_REASON_LENGTH = 300


class _PushPlan(NamedTuple):
    """Changes by state of the remote: it has the same, another version, or the version that we expect."""

    same: tuple[str, ...]
    outdated: tuple[str, ...]
    due: list[Push]


class Heads(NamedTuple):
    """The branch of the records at a remote, its commit (empty for none), and the commit of our own branch."""

    branch: str
    commit: str = ""
    own: str = ""


class GitTransport:
    """A connection to one repository, through a mirror in `folder`."""

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
        self._list_heads()
        if not self._heads.commit:
            return Pulled((), _EMPTY, is_reset=cursor not in ("", _EMPTY))
        if self._heads.commit == cursor:
            return Pulled((), cursor)
        head = self._fetch()
        prefix = git_commits.store_prefix(self._mirror, head)
        is_first = cursor in ("", _EMPTY)
        if is_first or not self._is_in_history(cursor, head):
            blobs = git_commits.store_files(self._mirror, head, prefix)
            return Pulled(git_commits.read_versions(self._mirror, blobs), head, is_reset=not is_first)
        blobs = git_commits.changed_files(self._mirror, cursor, head, prefix)
        return Pulled(self._own_first(cursor, head, prefix, blobs), head)

    def _own_first(self, cursor: str, head: str, prefix: str, blobs: Sequence[git_commits.Blob]) -> Iterator[Version]:
        """Yield what changed, our own commits first: merges and later changes are built on them."""
        for ref in (_PUSHED, _WAITING):
            own = self._mirror.commit_of(ref)
            if own and self._is_in_history(own, head) and not self._is_in_history(own, cursor):
                parent = self._mirror.commit_of(f"{own}^")
                if parent:
                    own_blobs = git_commits.changed_files(self._mirror, parent, own, prefix)
                    yield from git_commits.read_versions(self._mirror, own_blobs)
        yield from git_commits.read_versions(self._mirror, blobs)

    def push(self, changes: Sequence[Push]) -> Pushed:
        try:
            return self._push(changes)
        except BrokenMirror:
            self._mirror.remove()
            self._check(self._mirror.create())
            self._list_heads()
            self._fetch()
            return self._push(changes)

    def _push(self, changes: Sequence[Push]) -> Pushed:
        for attempt in range(_ATTEMPTS):
            head = self._head()
            prefix = git_commits.store_prefix(self._mirror, head) if head else ""
            plan = self._plan_push(changes, head, prefix)
            if not plan.due:
                return Pushed(plan.same, plan.outdated)
            commit = git_commits.make_commit(self._mirror, head, prefix, plan.due)
            if self._is_waiting(commit, head):
                return self._pushed_to_own_branch(plan)
            if gates := self._gates():
                return self._on_own_branch(plan, commit, GitResult(1, b"", f"{_UNRUN_GATES}: {', '.join(gates)}"))
            git_result = self._send(commit, self._heads.branch or _FIRST_BRANCH)
            outcome = push_outcome(git_result)
            if outcome == DONE:
                return Pushed((*plan.same, *(change.path for change in plan.due)), plan.outdated)
            if outcome != BEHIND:
                return self._on_own_branch(plan, commit, git_result)
            # Others write at the same time: a random pause gives each writer a chance.
            time.sleep(random.random() * min(_MAX_PAUSE_SECONDS, 0.05 * 2**attempt))
            self._list_heads()
            self._fetch()
        return Pushed(plan.same, (*plan.outdated, *(change.path for change in plan.due)))

    def access(self) -> StoreAccess:
        """Return what is in the repository, and whether it lets us push; what is fetched stays in the mirror."""
        pulled_paths = [version.path for version in self.pull("").versions]
        drafts = sum(map(incoming.is_draft, pulled_paths))
        return StoreAccess(len(pulled_paths) - drafts, drafts, self._role())

    def _role(self) -> str:
        """Return what a push of nothing new says; nothing is known of an empty repository."""
        head = self._head()
        if not head or self._gates():
            return ""
        words = (
            "push",
            "--dry-run",
            "--porcelain",
            "--no-verify",
            "--",
            REMOTE,
            f"{head}:{_BRANCH}{self._heads.branch}",
        )
        git_result = self._mirror.run_remote(self._url, *words, seconds=_LIST_SECONDS)
        if push_outcome(git_result) in (DONE, BEHIND):
            return "writer"
        return "reader" if isinstance(error_from_git(git_result, self._url), Refused) else ""

    def wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        old_commit = self._heads.commit
        while (remaining := deadline - time.monotonic()) > 0:
            time.sleep(min(remaining, _POLL_SECONDS))
            self._list_heads()
            if self._heads.commit != old_commit:
                return True
        return False

    def close(self) -> None:
        """Do nothing: no connection stays open."""

    def _list_heads(self) -> None:
        """List the relevant branches without a fetch. Raises BadRemote if the repository has no default branch."""
        own = git_commits.own_branch(self._mirror)
        names = ("refs/heads/main", "refs/heads/master", "refs/heads/trunk", f"refs/heads/{own}")
        self._heads = parse_heads(self._list_remote(*names), own)
        if self._heads.branch:
            return
        # Empty, or without a default branch; or the first branch was pushed just now.
        listing = self._list_remote("refs/heads/*")
        self._heads = parse_heads(listing, own)
        others = [line for line in listing.splitlines() if "\trefs/heads/" in line and "/onrecord/" not in line]
        if others and not self._heads.branch:
            raise BadRemote(
                f"{self._url} has branches, but none of them is its default",
                fix="set the default branch of the repository: git symbolic-ref HEAD refs/heads/main",
            )

    def _list_remote(self, *names: str) -> str:
        words = ("ls-remote", "--symref", "--", REMOTE, "HEAD", *names)
        git_result = self._mirror.run_remote(self._url, *words, seconds=_LIST_SECONDS)
        self._check(git_result)
        return git_result.text

    def _fetch(self) -> str:
        """Fetch the branch into the mirror; return its commit."""
        if not self._heads.commit:
            return ""
        spec = f"+refs/heads/{self._heads.branch}:{_THEIRS}"
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", REMOTE, spec)
        self._check(self._mirror.run_remote(self._url, *words, seconds=_TRANSFER_SECONDS))
        return self._head()

    def _head(self) -> str:
        """Return the commit of the listed branch, or the fetched one if the branch was rewritten since."""
        if not self._heads.commit:
            return ""
        # The fetched commit comes second: a fetch that outlived a killed sync may have set it back.
        return self._mirror.commit_of(self._heads.commit) or self._mirror.commit_of(_THEIRS)

    def _is_in_history(self, commit: str, head: str) -> bool:
        """True if `commit` is in the history of `head`. A commit that the mirror lacks (git's status 128) is not."""
        if not is_commit(commit):
            return False
        git_result = self._mirror.run_local("merge-base", "--is-ancestor", commit, head)
        if git_result.status not in (0, 1, 128):
            raise error_from_git(git_result, self._url)
        return git_result.is_good

    def _check(self, git_result: GitResult) -> None:
        if not git_result.is_good:
            raise error_from_git(git_result, self._url)

    def _plan_push(self, changes: Sequence[Push], head: str, prefix: str) -> _PushPlan:
        paths = {change.path for change in changes}
        blobs = git_commits.store_files(self._mirror, head, prefix) if head else []
        blobs = [blob for blob in blobs if blob.path in paths]
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
        return _PushPlan(tuple(same), tuple(outdated), due)

    def _send(self, commit: str, branch: str, lease: str | None = None) -> GitResult:
        self._mirror.run_local("update-ref", _PUSHED if lease is None else _WAITING, commit)
        force = () if lease is None else (f"--force-with-lease=refs/heads/{branch}:{lease}",)
        words = ("push", "--porcelain", "--no-verify", *force, "--", REMOTE, f"{commit}:refs/heads/{branch}")
        git_result = self._mirror.run_remote(self._url, *words, seconds=_TRANSFER_SECONDS)
        if not push_outcome(git_result) and isinstance(error := error_from_git(git_result, self._url), _UNANSWERED):
            raise error
        return git_result

    def _gates(self) -> list[str]:
        """Return the hooks of a local repository that may refuse a push; a server runs its own."""
        path = local_repository.local_path(self._url)
        return local_repository.gates(path) if path else []

    def _is_waiting(self, commit: str, head: str) -> bool:
        """True if our own branch already has exactly these changes on top of `head`."""
        waiting = self._mirror.commit_of(_WAITING)
        if not waiting or waiting != self._heads.own:
            return False
        trees = [self._mirror.run_local("rev-parse", f"{name}^{{tree}}").output for name in (commit, waiting)]
        return trees[0] == trees[1] and self._mirror.commit_of(f"{waiting}^") == head

    def _on_own_branch(self, plan: _PushPlan, commit: str, refusal: GitResult) -> Pushed:
        """Push what the main branch refused to our own branch."""
        git_result = self._send(commit, git_commits.own_branch(self._mirror), lease=self._heads.own)
        if push_outcome(git_result) == DONE:
            self._heads = self._heads._replace(own=commit)
            return self._pushed_to_own_branch(plan)
        reason = f"the remote refused it: {shorten(refusal.message)}"
        return Pushed(plan.same, plan.outdated, refused={change.path: reason for change in plan.due})

    def _pushed_to_own_branch(self, plan: _PushPlan) -> Pushed:
        own, branch = git_commits.own_branch(self._mirror), self._heads.branch or _FIRST_BRANCH
        note = f"{branch} does not accept direct changes: they are on the branch {own}; ask for a merge"
        waiting = tuple(change.path for change in plan.due)
        return Pushed(plan.same, plan.outdated, waiting, note=note)


def parse_heads(text: str, own: str) -> Heads:
    """Parse the output of `git ls-remote --symref`; the branch is empty if none is the default."""
    commits: dict[str, str] = {}
    default = ""
    for line in text.splitlines():
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
    """True if a branch can have this name: a server can send anything, and it becomes part of a command."""
    return name.isprintable() and not set(" ~^:?*[\\").intersection(name) and ".." not in name and len(name) < 250


def error_from_git(git_result: GitResult, url: str) -> OnrecordError:
    """Return the error for a git command that could not read or write the remote."""
    reason = shorten(git_result.message) or f"git ended with {git_result.status}"
    lowered = git_result.message.lower()
    fix = f"check that git can reach it: git ls-remote {quote(url)}"
    if git_result.message == NO_GIT:
        return BadRemote("git is not installed", fix="install git")
    is_reached = not any(words in lowered for words in _UNREACHABLE)
    if is_reached and _is_mirror_damaged(lowered):
        return broken_mirror(reason)
    if is_reached and any(words in lowered for words in _NOT_ALLOWED):
        return Refused(f"{url} denies access: {reason}", fix=fix)
    if is_reached and any(words in lowered for words in _NO_STORE):
        return BadRemote(f"{url} cannot be used: {reason}", fix=fix)
    return Offline(f"{url} cannot be reached: {reason}", fix=f"{fix}; later: onrecord sync")


def _is_mirror_damaged(message: str) -> bool:
    """True if git, and not the remote, reports damage."""
    lines = [line for line in message.splitlines() if not line.startswith("remote:")]
    return any(words in line for line in lines for words in _BROKEN)


def shorten(message: str) -> str:
    """Return a message of git on one line, without its advice."""
    lines = [line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in message.splitlines()]
    reasons = [line for line in lines if line and not line.startswith(_ADVICE)]
    return "; ".join(reasons[:_MAX_REASON_LINES])[:_MAX_REASON_LENGTH]


def push_outcome(git_result: GitResult) -> str:
    """Return DONE, BEHIND or PROTECTED from the porcelain output of a push; empty if it failed as a whole."""
    for line in git_result.text.splitlines():
        flag, _, rest = line.partition("\t")
        if len(flag) != 1 or "\t" not in rest:
            continue
        summary = rest.partition("\t")[2].lower()
        if flag != "!":
            return DONE
        is_race = summary.startswith("[rejected]") or any(words in summary for words in _RACES)
        return BEHIND if is_race else PROTECTED
    return ""
