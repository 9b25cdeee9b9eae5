"""What was changed in a store on this machine, oldest first, with what each file held before: for `log` and `undo`.

It lies in the user's state folder, not in the store: whoever writes a repository could otherwise plant there what an
undo would write. A line is added before a change is made and another after it, so a killed writer leaves a line
that says what it may have done.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Union

from onrecord import coldstart, files, paths, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.state_file import StateFile

FOLDER = "history"
SYNC = "sync"
"""The action that takes what others wrote in a shared store: not ours to take back."""

_LARGEST = 16_000_000
"""Bytes of one store's history; beyond it the older half goes. A change of a record takes two to four thousand."""

_LARGEST_CHANGE = 6_000_000
"""Bytes of one change, so that several fit; of a larger one only the names are logged."""

AGENTS = (
    *("CLAUDECODE", "CURSOR_AGENT", "GEMINI_CLI", "CODEX_SANDBOX", "COPILOT_CLI", "OPENCODE"),
    *("QWEN_CODE", "QWEN_PROJECT_DIR", "FACTORY_PROJECT_DIR"),
)
"""Variables that agents set for the programs they start."""


class FileChange(NamedTuple):
    """One file of a change: what it held before (None: it was not there), and a fingerprint of what it held after."""

    path: str
    before: Union[str, None]
    after: str
    title: str


class LoggedChange(NamedTuple):
    """A change: when, what, by whom, to which files."""

    id: str
    at: str
    action: str
    by: str
    files: tuple[FileChange, ...]
    is_whole: bool = True
    """False if it was too large for the texts to be kept: it cannot be taken back."""

    undoes: str = ""
    """The change that it took back."""

    is_done: bool = False
    """Whether its writer lived to say that it was made."""

    is_undone: bool = False


def who() -> str:
    """Who runs this program: an agent, or a person."""
    return "agent" if any(os.environ.get(name) for name in AGENTS) else "person"


def begin(root: str, action: str, files: tuple[FileChange, ...], undoes: str = "") -> str:
    """Note a change that is about to be made; its id."""
    seed = f"{root}{os.getpid()}{time.monotonic_ns()}"
    # Eight hex digits name one of the few thousand changes that a history holds.
    change_id = coldstart.digest(seed.encode("utf-8", "surrogatepass"))[:8]
    by = action if action in ("import", SYNC) else who()
    line = {"id": change_id, "at": timestamps.now(), "action": action, "by": by, "undoes": undoes}
    text = json.dumps({**line, "files": [list(file) for file in files]})
    if len(text) > _LARGEST_CHANGE:
        names = [[file.path, None, file.after, file.title] for file in files]
        text = json.dumps({**line, "files": names, "cut": True})
    _file(root).append(text + "\n")
    return change_id


def end(root: str, change_id: str) -> None:
    """Note that a change was made."""
    _file(root).append(json.dumps({"done": change_id}) + "\n")


def read(root: str) -> list[LoggedChange]:
    """The changes of a store, oldest first; lines that are no changes are passed over."""
    lines = [line for text in _file(root).lines() if (line := _decoded(text)) is not None]
    done = {line.get("done") for line in lines if "done" in line}
    changes = [change for line in lines if (change := _change(line)) is not None]
    undone = {change.undoes for change in changes if change.undoes and change.id in done}
    return [change._replace(is_done=change.id in done, is_undone=change.id in undone) for change in changes]


def forget(root: str) -> None:
    """Delete the changes of a store that is gone."""
    files.remove(_file(root).path)


def title_in(text: str | None) -> str:
    """The title of the record or draft in a file's text; empty if there is none."""
    raw = _decoded(text or "") or {}
    record = raw.get("record") if isinstance(raw.get("record"), dict) else raw
    title = record.get("title") if isinstance(record, dict) else ""
    return title if isinstance(title, str) else ""


def _file(root: str) -> StateFile:
    name = coldstart.digest(os.path.realpath(root).encode("utf-8", "surrogatepass"))
    return StateFile(os.path.join(paths.state_dir(), FOLDER, f"{name}.jsonl"), _LARGEST, "history")


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _change(line: Mapping[str, Any]) -> LoggedChange | None:
    texts = [text for key in ("id", "at", "action", "by") if isinstance(text := line.get(key), str)]
    rows = line.get("files")
    if len(texts) < 4 or not isinstance(rows, list):
        return None
    files = tuple(FileChange(*row) for row in rows if isinstance(row, list) and len(row) == len(FileChange._fields))
    undoes = line.get("undoes")
    is_whole = not line.get("cut") and len(files) == len(rows)
    change_id, at, action, by = texts
    return LoggedChange(change_id, at, action, by, files, is_whole, undoes if isinstance(undoes, str) else "")
