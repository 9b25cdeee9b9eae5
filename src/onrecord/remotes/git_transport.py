"""A shared store in a git repository: fetched into a mirror of our own, written as commits, pushed with retry.

Records lie at the repository's root (`decisions/…`) or below `.claude/memory/`. Nothing else of the repository is
touched, and nothing is checked out. If the branch does not take our changes, they go to a branch of our own.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, Offline
from onrecord.git.mirror import Answer, Mirror
from onrecord.git.repository import is_commit
from onrecord.remotes import git_answers, git_commit, git_tree
from onrecord.remotes.git_answers import BEHIND, DONE, Heads
from onrecord.remotes.git_tree import BrokenMirror
from onrecord.remotes.transport import Pulled, Push, Pushed, Version, fingerprint

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
        below = git_tree.place(self._mirror, head)
        is_first = cursor in ("", _EMPTY)
        if is_first or not self._is_in_history(cursor, head):
            blobs = git_tree.files(self._mirror, head, below)
            return Pulled(git_tree.versions(self._mirror, blobs), head, is_reset=not is_first)
        blobs = git_tree.changed(self._mirror, cursor, head, below)
        return Pulled(self._in_order(cursor, head, below, blobs), head)

    def _in_order(self, cursor: str, head: str, below: str, blobs: Sequence[git_tree.Blob]) -> Iterator[Version]:
        """What changed, our own commits first: whoever merged or changed them built on them."""
        for ref in (_PUSHED, _WAITING):
            own = self._mirror.commit_of(ref)
            if own and self._is_in_history(own, head) and not self._is_in_history(own, cursor):
                parent = self._mirror.commit_of(f"{own}^")
                if parent:
                    ours = git_tree.changed(self._mirror, parent, own, below)
                    yield from git_tree.versions(self._mirror, ours)
        yield from git_tree.versions(self._mirror, blobs)

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
            below = git_tree.place(self._mirror, head) if head else ""
            by_state = self._sorted(changes, head, below)
            if not by_state.due:
                return Pushed(by_state.same, by_state.outdated)
            commit = git_commit.make(self._mirror, head, below, by_state.due)
            if self._is_waiting(commit, head):
                return self._waits(by_state)
            answer = self._send(commit, self._heads.branch or _FIRST_BRANCH)
            outcome = git_answers.pushed(answer)
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
        own = git_commit.own_branch(self._mirror)
        names = ("refs/heads/main", "refs/heads/master", "refs/heads/trunk", f"refs/heads/{own}")
        self._heads = git_answers.heads(self._listed(*names), own)
        if self._heads.branch:
            return
        # Empty, or no branch is the default; somebody may have pushed the first one since.
        every = self._listed("refs/heads/*")
        self._heads = git_answers.heads(every, own)
        others = [line for line in every.splitlines() if "\trefs/heads/" in line and "/onrecord/" not in line]
        if others and not self._heads.branch:
            raise BadRemote(
                f"{self._url} has branches, but none of them is its default",
                fix="set the default branch of the repository: git symbolic-ref HEAD refs/heads/main",
            )

    def _listed(self, *names: str) -> str:
        answer = self._mirror.reach("ls-remote", "--symref", "--", self._url, "HEAD", *names, seconds=_LOOK)
        self._check(answer)
        return answer.text

    def _fetch(self) -> str:
        """Bring the branch into the mirror; the commit it is at."""
        if not self._heads.commit:
            return ""
        spec = f"+refs/heads/{self._heads.branch}:{_THEIRS}"
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", self._url, spec)
        self._check(self._mirror.reach(*words, seconds=_MOVE))
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
        answer = self._mirror.ask("merge-base", "--is-ancestor", commit, head)
        if answer.status not in (0, 1, 128):
            raise git_answers.failure(answer, self._url)
        return answer.is_good

    def _check(self, answer: Answer) -> None:
        if not answer.is_good:
            raise git_answers.failure(answer, self._url)

    def _sorted(self, changes: Sequence[Push], head: str, below: str) -> _Sorted:
        wanted = {change.path for change in changes}
        blobs = [blob for blob in git_tree.files(self._mirror, head, below) if blob.path in wanted] if head else []
        present = {version.path: version for version in git_tree.versions(self._mirror, blobs)}
        same, outdated, due = [], [], []
        for change in changes:
            version = present.get(change.path, Version(change.path, b""))
            if version.data == change.data and not version.flaw:
                same.append(change.path)
            elif version.flaw or fingerprint(version.data) != change.expected:
                outdated.append(change.path)
            else:
                due.append(change)
        return _Sorted(tuple(same), tuple(outdated), due)

    def _send(self, commit: str, branch: str, lease: str | None = None) -> Answer:
        self._mirror.ask("update-ref", _PUSHED if lease is None else _WAITING, commit)
        force = () if lease is None else (f"--force-with-lease=refs/heads/{branch}:{lease}",)
        words = ("push", "--porcelain", "--no-verify", *force, "--", self._url, f"{commit}:refs/heads/{branch}")
        answer = self._mirror.reach(*words, seconds=_MOVE)
        if not git_answers.pushed(answer) and isinstance(error := git_answers.failure(answer, self._url), _NO_ANSWER):
            raise error
        return answer

    def _is_waiting(self, commit: str, head: str) -> bool:
        """Whether our own branch holds just these changes already, on top of what the remote has."""
        waiting = self._mirror.commit_of(_WAITING)
        if not waiting or waiting != self._heads.own:
            return False
        trees = [self._mirror.ask("rev-parse", f"{each}^{{tree}}").output for each in (commit, waiting)]
        return trees[0] == trees[1] and self._mirror.commit_of(f"{waiting}^") == head

    def _on_own_branch(self, by_state: _Sorted, commit: str, refusal: Answer) -> Pushed:
        """Push to a branch of our own what the branch of all does not take."""
        answer = self._send(commit, git_commit.own_branch(self._mirror), lease=self._heads.own)
        if git_answers.pushed(answer) == DONE:
            self._heads = self._heads._replace(own=commit)
            return self._waits(by_state)
        reason = f"the remote does not take it: {git_answers.shortened(refusal.message)}"
        return Pushed(by_state.same, by_state.outdated, refused={change.path: reason for change in by_state.due})

    def _waits(self, by_state: _Sorted) -> Pushed:
        own, branch = git_commit.own_branch(self._mirror), self._heads.branch or _FIRST_BRANCH
        note = f"{branch} does not take changes directly: they are on the branch {own}; ask for a merge"
        waiting = tuple(change.path for change in by_state.due)
        return Pushed(by_state.same, by_state.outdated, waiting, note=note)
