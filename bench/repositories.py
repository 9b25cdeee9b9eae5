"""Clones of public repositories in a folder: where they are, and what git says about them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path


def find(clones: Path, repository: str) -> Path:
    """Return the clone, bare or not, of `owner/name` or `owner+name`. Raises FileNotFoundError if there is none.

    Below `clones` it is called `owner+name`, `owner+name/repo`, `owner/name`, `name` or `name.git`.
    """
    owner, _, name = (repository if "/" in repository else repository.replace("+", "/", 1)).partition("/")
    for path in (f"{owner}+{name}/repo", f"{owner}+{name}", f"{owner}/{name}", name, f"{name}.git"):
        clone = clones / path
        if (clone / ".git").exists() or (clone / "HEAD").is_file():
            return clone
    raise FileNotFoundError(f"no clone of {repository} in {clones}: git clone it there as {name}")


def missing(clones: Path, repositories: Iterable[str]) -> list[str]:
    """Return the repositories of which there is no clone."""
    absent = []
    for repository in sorted(set(repositories)):
        try:
            find(clones, repository)
        except FileNotFoundError:
            absent.append(repository)
    return absent


def command(clone: Path, *words: str) -> list[str]:
    """Return the words of a git command about a clone."""
    folder = clone / ".git" if (clone / ".git").exists() else clone
    return ["git", f"--git-dir={folder}", *words]


def git(clone: Path, *words: str, stdin: str = "") -> bytes:
    """Return the output of a git command about a clone."""
    return subprocess.run(command(clone, *words), input=stdin.encode(), capture_output=True, check=True).stdout


def text(clone: Path, commit: str, path: str) -> str:
    """Return the text of a file at a commit."""
    return git(clone, "show", f"{commit}:{path}").decode("utf-8-sig", "replace")
