"""What people typed to coding agents in public projects, and the commands that the agents ran, read from clones.

Nothing of others is in this repository. Three forms of transcripts are read: those that `entire` keeps on a branch of
their own, whole sessions of Claude Code, the pages that SpecStory exports, and the history that Aider writes. A command
or a prompt is named after its session and its place in it; a session without an identity of its own, after a hash.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import repositories

CHECKPOINTS = "entire/checkpoints/v1"
_PAGES = ".specstory/history/"
_SHELL = re.compile(r'^<tool-use data-tool-type="shell".*?\n\n?`(.+?)`\n', re.MULTILINE | re.DOTALL)
_SPEAKER = re.compile(r"^_\*\*(User|Human|Assistant|Agent)\b[^\n]*\*\*_[ \t\r]*$", re.MULTILINE)
_SESSION = re.compile(r"^<!--.*?\bSession ([0-9a-f-]{32,36})\b", re.MULTILINE)
_RULE = re.compile(r"(\s*^-{3,}[ \t\r]*$)+\s*\Z", re.MULTILINE)
_AIDER = ".aider.chat.history.md"
_CHAT = re.compile(r"^# aider chat started at [^\n]*\n", re.MULTILINE)
_TYPED = re.compile(r"(?:^#### ?[^\n]*(?:\n|\Z))+", re.MULTILINE)
_SLASH = re.compile(r"/[\w:-]+\s*(⎿|\Z)")
_ASKING = re.compile(r"/(ask|code|architect|chat-mode)\s+\S")
_PERSON = re.compile(r"((?:/|\\+)(?:Users|home)(?:/|\\+))[^/\\\s'\"]+")
_USER = r"\1user"
MAX_CHARACTERS = 4_000
_NOT_TYPED = (
    "<", "[Request interrupted", "Caveat:", "This session is being continued", "Implement the following plan", "# ",
    "Base directory for this skill", "You are ", "@agent Try Again", "@agent Continue",
)  # fmt: skip
"""Beginnings of texts that a program or an earlier plan wrote."""


def commands(clone: Path) -> dict[str, str]:
    """Return the commands in the transcripts of a clone, by name; names of home folders are replaced."""
    refs = repositories.git(clone, "for-each-ref", "--format=%(refname:short)").decode().split("\n")
    return _named(_entire(clone, _commands_in) if CHECKPOINTS in refs else _specstory(clone))


def prompts(clone: Path, ref: str = CHECKPOINTS) -> dict[str, str]:
    """Return the prompts that people typed in the sessions that a branch or a commit of a clone has, by name."""
    sessions = _entire(clone, _prompts_in, ref)
    for path, data in blobs(clone, ref, lambda path: _is_page(path) or path.endswith(_AIDER)):
        text = data.decode("utf-8", "replace")
        parts = page(path, text) if _is_page(path) else chats(path, text)
        for session, texts in parts.items():
            if len(texts) > len(sessions.get(session, ())):
                sessions[session] = texts
    return _named(sessions)


def page(path: str, text: str) -> dict[str, list[str]]:
    """Return the prompts of a page of SpecStory, under the name of its session."""
    heads = list(_SPEAKER.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    texts = [
        _RULE.sub("", text[head.end() : end]).strip() for head, end in zip(heads, ends) if head[1] in ("User", "Human")
    ]
    session = _SESSION.search(text)
    return {session[1] if session else hash_of(path): [prompt for prompt in texts if _is_typed(prompt)]}


def chats(path: str, text: str) -> dict[str, list[str]]:
    """Return the prompts of each chat in a history of Aider; a chat is named after its file and its start."""
    starts = list(_CHAT.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    found: dict[str, list[str]] = {}
    for start, end in zip(starts, ends):
        blocks = (block[0] for block in _TYPED.finditer(text[start.end() : end]))
        said = ("\n".join(line[4:].strip() for line in block.splitlines()).strip() for block in blocks)
        found[hash_of(path + start[0])] = [
            prompt for prompt in said if _is_typed(prompt) and (prompt[0] not in "/!" or _ASKING.match(prompt))
        ]
    return found


def _is_page(path: str) -> bool:
    return _PAGES in path and path.endswith(".md")


def _is_typed(text: str) -> bool:
    return bool(text) and not text.startswith(_NOT_TYPED) and not _SLASH.match(text)


def _named(sessions: dict[str, list[str]]) -> dict[str, str]:
    return {
        f"{session}:{number}": _PERSON.sub(_USER, text)[:MAX_CHARACTERS]
        for session, texts in sessions.items()
        for number, text in enumerate(texts, 1)
    }


def hash_of(text: str) -> str:
    """Return a short hash, which tells whether a clone has the text that was labelled."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def blobs(clone: Path, ref: str, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield paths and contents of the wanted files of a ref; those that the clone does not have are left out."""
    listing = repositories.git(clone, "ls-tree", "-r", "-z", ref).decode("utf-8", "replace").split("\0")[:-1]
    entries = [line.split("\t", 1) for line in listing]
    words = repositories.command(clone, "cat-file", "--batch")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as batch:
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


def _entire(clone: Path, read: Callable[[dict[str, Any]], list[str]], ref: str = CHECKPOINTS) -> dict[str, list[str]]:
    """Return what `read` finds in each session: of its checkpoints, the one that has most."""
    sessions: dict[str, list[str]] = {}
    for _, data in blobs(clone, ref, lambda path: path.endswith("/full.jsonl")):
        session, texts = "", list[str]()
        for entry in _objects(data):
            session = session or str(entry.get("sessionId") or "")
            texts += read(entry)
        if session and len(texts) > len(sessions.get(session, ())):
            sessions[session] = texts
    return sessions


def _content(entry: dict[str, Any]) -> Any:
    message = entry.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _commands_in(entry: dict[str, Any]) -> list[str]:
    content = _content(entry)
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    calls = [part for part in parts if part.get("name") == "Bash" and part.get("type") == "tool_use"]
    return [str((call.get("input") or {}).get("command", "")) for call in calls]


def _prompts_in(entry: dict[str, Any]) -> list[str]:
    """Return the prompt of an entry, unless a program wrote it."""
    if entry.get("type") != "user" or entry.get("isMeta") or entry.get("isSidechain"):
        return []
    content = _content(entry)
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        if any(part.get("type") == "tool_result" for part in parts):
            return []
        content = "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    text = content.strip() if isinstance(content, str) else ""
    return [text] if text and not text.startswith(_NOT_TYPED) else []


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            raw = json.loads(line)
        except ValueError:
            continue
        if isinstance(raw, dict):
            yield raw


def _specstory(clone: Path) -> dict[str, list[str]]:
    pages = blobs(clone, "HEAD", _is_page)
    return {path.rsplit("/", 1)[1]: _SHELL.findall(data.decode("utf-8", "replace")) for path, data in pages}
