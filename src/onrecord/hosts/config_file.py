"""A change to a file of a coding agent: computed first, shown, then made whole or not at all."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Callable

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, Unwritable

LARGEST = 4_000_000
"""Bytes of a config file; the largest seen was 60 kB."""

OWN_FILE = "Written by `onrecord connect"
"""In every file that is ours as a whole."""

_BOM = "\ufeff"
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.+/=-]+|[^\S\n]+|[\s\S]')


class Change(NamedTuple):
    """What a file holds and what it shall hold; None where it is not there, or shall not be."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    @property
    def is_own_file(self) -> bool:
        """Whether the file is ours as a whole."""
        return OWN_FILE.encode() in (self.after or self.before or b"")

    def diff(self) -> str:
        """What changes, and nothing beside it, not even on the same line: that may be a key."""
        before, after = (_lines(data) for data in (self.before, self.after))
        lines = [f"--- {self.path}", f"+++ {self.path}"]
        for tag, first, last, start, end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
            if tag != "equal":
                old, new = _differing("".join(before[first:last]), "".join(after[start:end]))
                lines += [f"@@ line {first + 1} @@", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
        return "".join(f"{line}\n" for line in lines)


def read(path: str, inside: str = "") -> bytes | None:
    """What a config file holds; None if there is none. `inside` names the folder that no link may lead out of."""
    try:
        data = files.read(files.inside(inside, path) if inside else path, LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"cannot read {path}: {reason}", fix="check what it is and who may read it") from error
    if len(data) > LARGEST:
        raise BadInput(f"{path} is larger than {LARGEST:,} bytes", fix="check that it is the agent's config")
    return data


def edited(path: str, edit: Callable[[str], str], inside: str = "") -> Change:
    """The change that an edit of a text makes to a file; a file that is left empty goes."""
    before = read(path, inside)
    try:
        text = (before or b"").decode("utf-8")
        mark = _BOM if text.startswith(_BOM) else ""
        after = edit(text.removeprefix(_BOM))
        data = (mark + after).encode("utf-8")
    except ValueError as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        fix = "correct it by hand, or remove the entry by hand; nothing was written"
        raise BadInput(f"{path} cannot be changed: {reason}", fix=fix) from error
    if not after.strip() and before is not None and text.strip():
        return Change(path, before, None)
    return Change(path, before, None if before is None and not after else data)


def make(change: Change, inside: str = "") -> None:
    """Carry a change out, unless the file was changed since; a link stays, and what it leads to is written."""
    target = files.inside(inside, change.path) if inside else os.path.realpath(change.path)
    if read(target) != change.before:
        fix = "look at what changed, and give the command again; this file was not written"
        raise Changed(f"{change.path} was changed while this command ran", fix=fix)
    if change.after is None:
        # Of a link, what it leads to goes as well: linked again, it would bring our entries back.
        files.remove(target)
        files.remove(change.path)
        _remove_empty(os.path.dirname(change.path))
    else:
        _write(target, change.after, is_new=change.before is None)


def _write(path: str, data: bytes, *, is_new: bool) -> None:
    try:
        mode = None if is_new else stat.S_IMODE(os.stat(path).st_mode)
        if mode is not None and not os.access(path, os.W_OK):
            raise PermissionError(13, "it may not be written")
    except OSError as error:
        fix = f"check the permissions of {path}"
        raise Unwritable(f"cannot write {path}: {error.strerror}", fix=fix) from error
    files.write(path, data, mode=mode)


def _remove_empty(folder: str) -> None:
    """Remove a folder without any files, and those above it up to the home folder."""
    home = os.path.expanduser("~")
    while folder != home and folder.startswith(home + os.sep) and not os.listdir(folder):
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _differing(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines of two texts without what both begin and end with, and without the words that both have between."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    head = _shared(before, after)
    tail = _shared(before[head:][::-1], after[head:][::-1])
    start = "".join(before[:head])
    mark = "…" if start.strip() else start
    parts = [tokens[head : len(tokens) - tail] for tokens in (before, after)]
    both = {token for token in set(parts[0]) & set(parts[1]) if len(token) > 1 and not token.isspace()}
    texts = ["".join("…" if token in both else token for token in part) for part in parts]
    removed, added = ((mark + text).splitlines() if text.strip() else [] for text in texts)
    return removed, added


def _shared(tokens: list[str], others: list[str]) -> int:
    """How many tokens two lists have in common at their beginning."""
    pairs = enumerate(zip(tokens, others))
    return next((number for number, (left, right) in pairs if left != right), min(len(tokens), len(others)))
