"""FileChange: a change to a config file of a coding agent, computed first, shown, then written whole or not at all."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Callable, Sequence

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, OnrecordError, Unwritable
from onrecord.paths import OLD_NAME

MAX_BYTES = 4_000_000
"""The largest config file that is read; the largest that we saw had 60 kB."""

MAX_EDITED_BYTES = 1_000_000
"""The largest config file that is changed: that takes several passes over it."""

_OWN_BYTES = 20_000
"""More than all of our entries in a file take."""

_MANY_LINES = 1_000
OWN_FILE = "Written by `onrecord connect"
"""A mark in every file that is ours as a whole."""

_OLD_OWN_FILE = f"Written by `{OLD_NAME} connect"

_BOM = "\ufeff"
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.+/=-]+|[^\S\n]+|[\s\S]')


class FileChange(NamedTuple):
    """The old and the new content of a file; None if it does not exist, or is removed."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    @property
    def is_own_file(self) -> bool:
        """True if the file is ours as a whole."""
        return is_own_text((self.after or self.before or b"").decode("utf-8", "replace"))

    def diff(self) -> str:
        """Return only the parts that differ, without the rest of a line, which may be a secret."""
        before, after = (_lines(data) for data in (self.before, self.after))
        lines = [f"--- {self.path}", f"+++ {self.path}"]
        # Comparing each line with each would take minutes in a large file of equal lines.
        matcher = difflib.SequenceMatcher(None, before, after, len(before) > _MANY_LINES)
        for tag, first, last, start, end in matcher.get_opcodes():
            if tag != "equal":
                old, new = _differing("".join(before[first:last]), "".join(after[start:end]))
                lines += [f"@@ line {first + 1} @@", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
        return "".join(f"{line}\n" for line in lines)


def is_own_text(text: str) -> bool:
    """True if a text is that of a file which this version or an earlier one wrote as a whole."""
    return OWN_FILE in text or _OLD_OWN_FILE in text


def read(path: str, inside: str = "") -> bytes | None:
    """Return the content of a config file, or None. No link may lead out of the folder `inside`.

    Raises BadInput, and Unwritable if the disk fails.
    """
    try:
        data = files.read(files.inside(inside, path) if inside else path, MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        if files.is_fault(error):
            raise files.unreadable(path, error) from error
        reason = error.strerror or str(error)
        raise BadInput(f"cannot read {path}: {reason}", fix="check what it is and who may read it") from error
    if len(data) > MAX_BYTES:
        raise BadInput(f"{path} is larger than {MAX_BYTES:,} bytes", fix="check that it is the agent's config")
    return data


def edited(path: str, edit: Callable[[str], str], inside: str = "") -> FileChange:
    """Return the change that `edit` makes to the text of a file; an empty file is removed. Raises BadInput."""
    before = read(path, inside)
    # What could be connected can be disconnected, too.
    is_connected = any(name in (before or b"") for name in (b"onrecord", OLD_NAME.encode()))
    spare = _OWN_BYTES if is_connected else 0
    if len(before or b"") > MAX_EDITED_BYTES + spare:
        fix = "make the file smaller, or add the entry by hand; nothing was written; how: onrecord docs agents/README"
        raise BadInput(f"{path} is larger than {MAX_EDITED_BYTES:,} bytes", fix=fix)
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
        return FileChange(path, before, None)
    return FileChange(path, before, None if before is None and not after else data)


def carry_out_all(file_changes: Sequence[FileChange], inside: str) -> None:
    """Write all of these changes; after an error, take back those that are written. Raises Changed and Unwritable."""
    for number, file_change in enumerate(file_changes):
        try:
            carry_out(file_change, inside)
        except OnrecordError as error:
            tried = reversed(file_changes[: number + 1])
            left = [path for change in tried if (path := _take_back(change, inside))]
            error.fix += f"; {files.LEFT}: {', '.join(left)}" if left else "; nothing was changed"
            raise


def _take_back(file_change: FileChange, inside: str) -> str:
    """Give a file its old content back, if it has the new one; return its path if that fails."""
    try:
        if read(file_change.path, inside) == file_change.after:
            carry_out(FileChange(file_change.path, file_change.after, file_change.before), inside)
    except OnrecordError:
        return file_change.path
    return ""


def carry_out(file_change: FileChange, inside: str = "") -> None:
    """Write a change. A link stays, and its target is written. Raises Changed if the file was changed since."""
    target = files.inside(inside, file_change.path) if inside else os.path.realpath(file_change.path)
    if read(target) != file_change.before:
        fix = "look at what changed, and give the command again; this file was not written"
        raise Changed(f"{file_change.path} was changed while this command ran", fix=fix)
    if file_change.after is None:
        # Remove the target of a link too: a new link to it would restore our entries.
        files.remove(target)
        _remove_link(file_change.path)
        _remove_empty(os.path.dirname(file_change.path))
    else:
        _write(target, file_change.after, is_new=file_change.before is None)


def _write(path: str, data: bytes, *, is_new: bool) -> None:
    try:
        mode = None if is_new else stat.S_IMODE(os.stat(path).st_mode)
        if mode is not None and not os.access(path, os.W_OK):
            raise PermissionError(13, "it may not be written")
    except OSError as error:
        fix = f"check the permissions of {path}"
        raise Unwritable(f"cannot write {path}: {error.strerror}", fix=fix) from error
    files.write(path, data, mode=mode)


def _remove_link(path: str) -> None:
    """Remove a link whose target is gone. One that stays leads nowhere, and the change was made all the same."""
    try:
        os.unlink(path)
    except OSError:
        pass


def _remove_empty(folder: str) -> None:
    """Remove `folder` and the folders above it, up to the home folder, as long as they are empty."""
    home = os.path.expanduser("~")
    while folder != home and folder.startswith(home + os.sep):
        try:
            os.rmdir(folder)
        except OSError:
            # It is not empty, or cannot be removed: an empty folder does no harm.
            return
        folder = os.path.dirname(folder)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _differing(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the lines of two texts without their common start, end and words."""
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
    """Return the number of tokens that two lists have in common at their start."""
    pairs = enumerate(zip(tokens, others))
    return next((number for number, (token, other) in pairs if token != other), min(len(tokens), len(others)))
