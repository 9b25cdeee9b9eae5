"""Sessions: the prompts a person typed in a project, from the transcripts that Claude Code keeps. Only read.

The format is internal to the host and changes, and a transcript holds whatever a session met: a line that is not
understood is passed over, and nothing in it costs more than its length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from recollect import paths, timestamps
from recollect.coldstart import NamedTuple
from recollect.session import transcript

LARGEST = 32_000_000
"""Bytes of one transcript that are read, from its end."""

MOST_FILES = 200
_LONGEST_NAME = 200
_LONGEST_LINE = 8_000_000
_LONGEST_PROMPT = 100_000
_EDITOR = "<ide_"
"""How the texts begin that an editor puts beside what was typed."""

_ABOUT = ("timestamp", "uuid", "cwd")


class Prompt(NamedTuple):
    """Something a person typed: when, where, in which words."""

    at: str
    text: str
    uuid: str = ""
    cwd: str = ""


class Session(NamedTuple):
    """One conversation: its name, its prompts in order, and whether its beginning was read too."""

    name: str
    prompts: tuple[Prompt, ...]
    is_whole: bool


def folders(project: str) -> list[str]:
    """The folders of the host that may hold sessions of a project: its own, then those of the folders below it."""
    base = os.path.join(os.path.dirname(paths.user_store()), "projects")
    name = mangled(project)
    try:
        there = sorted(os.listdir(base))
    except OSError:
        return []
    if len(name) > _LONGEST_NAME:
        # The host cuts such a name and puts a hash behind it.
        return [os.path.join(base, each) for each in there if each.startswith(name[:_LONGEST_NAME] + "-")]
    below = [each for each in there if each.startswith(name.rstrip("-") + "-")]
    return [os.path.join(base, each) for each in ([name] if name in there else []) + below]


def mangled(path: str) -> str:
    """A path as the host names a folder after it: every UTF-16 unit that is not a letter or digit is a hyphen."""
    parts = (char if char.isascii() and char.isalnum() else "-" * (1 + (char > "\uffff")) for char in path)
    return "".join(parts)


def recent(places: Sequence[str], last: int, project: str = "") -> list[Session]:
    """The sessions that hold the last prompts, of one project if it is named; a place is a folder or a transcript."""
    recent_sessions: list[Session] = []
    times: list[str] = []
    for path, changed in _newest_first(places):
        if len(times) >= last and times[-last] >= changed:
            break
        session = read(path)
        if session.prompts and (not project or _is_of(session, path, project)):
            recent_sessions.append(session)
            times = sorted([*times, *(prompt.at for prompt in session.prompts)])
    return recent_sessions


def read(path: str) -> Session:
    """The prompts in a transcript; none if it cannot be read."""
    name = os.path.basename(path).rpartition(".")[0] or path
    lines, is_whole = transcript.tail(path, LARGEST)
    return Session(name, tuple(prompt for line in lines for prompt in _prompts(line)), is_whole)


def _newest_first(places: Sequence[str]) -> list[tuple[str, str]]:
    """Transcripts with the moment each was last written."""
    changed: dict[str, str] = {}
    for place in places:
        for path in _files(place):
            try:
                changed[path] = timestamps.at(os.stat(path).st_mtime)
            except (OSError, ValueError, OverflowError):
                continue
    return sorted(changed.items(), key=lambda each: (each[1], each[0]), reverse=True)[:MOST_FILES]


def _files(place: str) -> list[str]:
    if not os.path.isdir(place):
        return [place]
    try:
        return [os.path.join(place, name) for name in os.listdir(place) if name.endswith(".jsonl")]
    except OSError:
        return []


def _is_of(session: Session, path: str, project: str) -> bool:
    """Whether a session was held in a project: its transcript lies in the project's folder, or says so itself."""
    if os.path.basename(os.path.dirname(path)) == mangled(project):
        return True
    where = next((prompt.cwd for prompt in session.prompts if prompt.cwd), "")
    return bool(where) and paths.is_within(project, where)


def _prompts(line: bytes) -> Iterator[Prompt]:
    if b'"user"' not in line or b'"tool_use_id"' in line:
        return
    entry = transcript.entry(line, _LONGEST_LINE)
    message = entry.get("message")
    if entry.get("type") != "user" or not isinstance(message, dict):
        return
    text = _text(message.get("content"))
    if text and not transcript.is_machine_turn(text):
        at, uuid, cwd = (value if isinstance(value, str) else "" for value in map(entry.get, _ABOUT))
        is_place = os.path.isabs(cwd) and "\0" not in cwd
        yield Prompt(at if timestamps.is_instant(at) else "", text, uuid, cwd if is_place else "")


def _text(content: Any) -> str:
    """What was typed, without what the editor and hooks put beside it."""
    if isinstance(content, str):
        parts = [content]
    else:
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = (block.get("text") for block in blocks if block.get("type") == "text")
        parts = [text for text in texts if isinstance(text, str) and not text.startswith(_EDITOR)]
    return transcript.without_blocks("\n".join(parts)[:_LONGEST_PROMPT])
