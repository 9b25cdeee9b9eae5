"""States of real repositories for `python -m bench digest`, and the records that help in them.

A case is a commit of a public repository taken as work in progress: its files not committed on a branch or on main, or
committed on a branch of its own, or just pulled by somebody who has not begun. Labels say which of the project's
records help in that state, and which are defensible. In the cases marked `read` all records were looked through; in
the others those that some variant of the digest had proposed, and what was not looked at counts as wrong.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import data
from onrecord.digest.work_context import WorkContext
from onrecord.git.changes import Changes
from onrecord.search import query

CASES = data.OWN / "digest" / "cases.jsonl"
REPOSITORIES = {
    "life-bitwarden": "bitwarden/clients",
    "life-guardian": "guardian/dotcom-rendering",
    "life-hass": "home-assistant/core",
    "life-numpy": "numpy/numpy",
    "life-opentofu": "opentofu/opentofu",
    "life-zoo": "zooniverse/front-end-monorepo",
}
"""Of the sets that are no part of this repository; ours say it themselves."""

_BRANCH_WORDS = 4
_NUMBER = re.compile(r"\(#\d+\)|^[A-Za-z+/() ]+:|\[[^]]*\]")


class Case(NamedTuple):
    """A state of a repository, and the keys of the records that help in it, are defensible, or are neither."""

    project: str
    commit: str
    state: str
    branch: str
    is_read: bool
    helps: frozenset[str]
    maybe: frozenset[str]
    others: frozenset[str]


class Commit(NamedTuple):
    """What git says of a commit."""

    subject: str
    files: tuple[str, ...]


def load() -> list[Case]:
    return [
        Case(
            *(raw[name] for name in ("project", "commit", "state")),
            raw.get("branch", ""),
            raw["read"],
            *(frozenset(raw.get(name, ())) for name in ("helps", "maybe", "others")),
        )
        for raw in data.lines(CASES)
    ]


def repository(project: str) -> str:
    """Where a project lives, as `owner/name`."""
    if project in REPOSITORIES:
        return REPOSITORIES[project]
    return str(json.loads((data.OWN / project / "project.json").read_text(encoding="utf-8"))["repository"])


def read_commits(clone: Path, hashes: Sequence[str]) -> dict[str, Commit]:
    """Subject and files of commits, as far as the clone has them."""
    form = ("-m", "--first-parent", "-z", "--name-only", "--no-renames", "--format=%x01%H%x02%s%x02")
    command = ("git", "-C", str(clone), "log", "--no-walk=unsorted", "--stdin", *form)
    done = subprocess.run(command, input="\n".join(hashes).encode(), capture_output=True, check=True)
    commits: dict[str, Commit] = {}
    for part in done.stdout.decode("utf-8", "replace").split("\1")[1:]:
        full, subject, names = part.split("\2", 2)
        files = tuple(name for name in names.strip("\0\n").split("\0") if name)
        commits.update({short: Commit(subject, files) for short in hashes if full.startswith(short)})
    return commits


def context(case: Case, commit: Commit) -> WorkContext:
    """The work as a session's start would see it."""
    files = commit.files
    by_state = {
        "branch": Changes(uncommitted=files, is_own=True),
        "commits": Changes(committed=files, subjects=(commit.subject,), is_own=True),
        # What others committed last only shows that there is a history.
        "main": Changes(uncommitted=files, committed=files),
        "pulled": Changes(committed=files, subjects=(commit.subject,)),
    }
    is_shared = case.state in ("main", "pulled")
    branch = "main" if is_shared else case.branch or named_after(commit.subject)
    return WorkContext(None, branch, by_state[case.state], [])


def named_after(subject: str) -> str:
    """What somebody would call a branch for this work: the first words of its subject."""
    words = [word.lower() for word in re.findall(r"\w+", _NUMBER.sub(" ", subject))]
    return "-".join([word for word in words if word not in query.ENGLISH][:_BRANCH_WORDS]) or "work"
