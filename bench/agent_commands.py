"""Commands that coding agents ran in public projects, read from clones: nothing of others is in this repository.

Two forms of transcripts are read: those that `entire` keeps on a branch of their own, whole sessions of Claude Code,
and the pages that SpecStory exports. A command is named after its session and its place in it.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHECKPOINTS = "entire/checkpoints/v1"
_PAGES = ".specstory/history/"
_SHELL = re.compile(r'^<tool-use data-tool-type="shell".*?\n\n?`(.+?)`\n', re.MULTILINE | re.DOTALL)
_PERSON = re.compile(r"(/Users|/home)/[^/\s'\"]+")
MAX_CHARACTERS = 4_000


def clone(folder: Path, repository: str) -> Path:
    """The clone of a repository in a folder of clones."""
    path = folder / repository.replace("/", "+")
    return path / "repo" if (path / "repo").is_dir() else path


def read(clone: Path) -> dict[str, str]:
    """The commands in the transcripts of a clone, by name; names of home folders are replaced."""
    refs = _git(clone, "for-each-ref", "--format=%(refname:short)").decode().split("\n")
    sessions = _entire(clone) if CHECKPOINTS in refs else _specstory(clone)
    return {
        f"{session}:{number}": _PERSON.sub(r"\1/user", command)[:MAX_CHARACTERS]
        for session, commands in sessions.items()
        for number, command in enumerate(commands, 1)
    }


def _git(clone: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), *words], capture_output=True, check=True).stdout


def blobs(clone: Path, ref: str, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the wanted files of a ref; those that the clone does not have are left out."""
    listing = _git(clone, "ls-tree", "-r", "-z", ref).decode("utf-8", "replace").split("\0")[:-1]
    entries = [line.split("\t", 1) for line in listing]
    batch = subprocess.Popen(
        ["git", "-C", str(clone), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert batch.stdin and batch.stdout
    for about, path in entries:
        if not is_wanted(path):
            continue
        batch.stdin.write(about.split()[2].encode() + b"\n")
        batch.stdin.flush()
        head = batch.stdout.readline().split()
        if len(head) == 3:
            yield path, batch.stdout.read(int(head[2]))
            batch.stdout.read(1)
    batch.stdin.close()
    batch.wait()


def _entire(clone: Path) -> dict[str, list[str]]:
    """The commands of each session: of its checkpoints, the one that has most."""
    sessions: dict[str, list[str]] = {}
    for _, data in blobs(clone, CHECKPOINTS, lambda path: path.endswith("/full.jsonl")):
        session, commands = "", list[str]()
        for raw in _objects(data):
            session = session or str(raw.get("sessionId") or "")
            message = raw.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for part in content if isinstance(content, list) else ():
                if isinstance(part, dict) and part.get("name") == "Bash" and part.get("type") == "tool_use":
                    commands.append(str((part.get("input") or {}).get("command", "")))
        if session and len(commands) > len(sessions.get(session, ())):
            sessions[session] = commands
    return sessions


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            raw = json.loads(line)
        except ValueError:
            continue
        if isinstance(raw, dict):
            yield raw


def _specstory(clone: Path) -> dict[str, list[str]]:
    pages = blobs(clone, "HEAD", lambda path: _PAGES in path and path.endswith(".md"))
    return {path.rsplit("/", 1)[1]: _SHELL.findall(data.decode("utf-8", "replace")) for path, data in pages}
