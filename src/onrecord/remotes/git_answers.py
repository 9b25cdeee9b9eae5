"""What git says about a remote, in our terms: which branch, which commit, and why something did not work."""

from __future__ import annotations

from shlex import quote

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRemote, Offline, OnrecordError, Refused
from onrecord.git.mirror import Answer
from onrecord.git.repository import NO_GIT, is_commit
from onrecord.remotes.git_tree import broken

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


def heads(listing: str, own: str) -> Heads:
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


def failure(answer: Answer, url: str) -> OnrecordError:
    """Why a remote could not be read or written."""
    reason = shortened(answer.message) or f"git ended with {answer.status}"
    lowered = answer.message.lower()
    fix = f"see whether git reaches it: git ls-remote {quote(url)}"
    if answer.message == NO_GIT:
        return BadRemote("git is not installed", fix="install git")
    is_reached = not any(words in lowered for words in _UNREACHABLE)
    if is_reached and _is_ours_broken(lowered):
        return broken(reason)
    if is_reached and any(words in lowered for words in _NOT_ALLOWED):
        return Refused(f"{url} does not let us in: {reason}", fix=fix)
    if is_reached and any(words in lowered for words in _NO_STORE):
        return BadRemote(f"{url} cannot be used: {reason}", fix=fix)
    return Offline(f"{url} cannot be reached: {reason}", fix=f"{fix}; later: onrecord sync")


def _is_ours_broken(message: str) -> bool:
    """Whether git speaks of a damage, and not the other side."""
    ours = [line for line in message.splitlines() if not line.startswith("remote:")]
    return any(words in line for line in ours for words in _BROKEN)


def shortened(message: str) -> str:
    """What a message of git says in one line, without its advice."""
    lines = [line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in message.splitlines()]
    reasons = [line for line in lines if line and not line.startswith(_ADVICE)]
    return "; ".join(reasons[:_MOST_LINES])[:_LONGEST]


def pushed(answer: Answer) -> str:
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
