"""The line by which git ignores a store, so that nobody else gets its records, and the lines to write instead."""

from __future__ import annotations

import os

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Unwritable
from onrecord.git import git_files

_FILE = ".gitignore"
_SAMPLE = ".claude/memory/decisions/a-record.json"
_WHOLE_FOLDER = (".claude", ".claude/*", ".claude/**")
_OPEN_AGAIN = ("!.claude/", ".claude/*", "!.claude/memory/", "!.claude/memory/**")
"""Lines after all others that let git see the store again, whatever ignored it: the last line that matches decides."""

_MAX_RULES = 5
"""Lines that are written at most, one after the other: a file may ignore the store by several."""

_MAX_BYTES = 1_000_000


class IgnoreRule(NamedTuple):
    """A line that makes git ignore a store: its file as git names it, its number, and the pattern."""

    file: str
    line: int
    pattern: str

    @property
    def sentence(self) -> str:
        """What is wrong, for people."""
        place = f"{self.file}, line {self.line}"
        return f"git ignores .claude/memory/ ({place}: `{self.pattern}`), so other people do not get these records"

    @property
    def is_replaced(self) -> bool:
        """True if the line itself is to be replaced: below an ignored folder git looks no further."""
        return self.file == _FILE and self._core in _WHOLE_FOLDER

    @property
    def new_lines(self) -> tuple[str, ...]:
        """The lines to write into the project's .gitignore; none if that line stands next to the records."""
        if "memory" in self._core.split("/") or self.file.startswith(".claude/"):
            return ()
        return (".claude/*", "!.claude/memory/") if self.is_replaced else _OPEN_AGAIN

    @property
    def fix(self) -> str:
        """What to do about it."""
        if not self.new_lines:
            return f"delete that line of {self.file}, unless the records are for you alone"
        return f"{self.offer[:1].lower()}{self.offer[1:]}; this does it: onrecord init --yes"

    @property
    def offer(self) -> str:
        """What can be done about it, as the beginning of a question."""
        if self.is_replaced:
            return f"Replace line {self.line} of {_FILE} with {self.lines_text}"
        return f"Add {self.lines_text} at the end of {_FILE}"

    @property
    def lines_text(self) -> str:
        """The lines to write, for people."""
        return " and ".join(f"`{line}`" for line in self.new_lines)

    def write(self, root: str) -> None:
        """Write the new lines into the .gitignore of the project at `root`.

        If git ignores the store even then, the file is put back and BadInput raised.
        """
        before, rule = _read(root), find(root)
        for _ in range(_MAX_RULES):
            if rule is None:
                return
            if not rule.new_lines:
                break
            rule._apply(root)
            rule = find(root)
        _write(root, before)
        left = rule or self
        raise BadInput(f"git would ignore .claude/memory/ by {left.file}, line {left.line}, all the same", fix=left.fix)

    def _apply(self, root: str) -> None:
        text = _read(root)
        lines, ending = text.splitlines(), "\r\n" if "\r\n" in text else "\n"
        at = self.line - 1 if self.is_replaced else len(lines)
        lines[at : at + self.is_replaced] = self.new_lines
        _write(root, "".join(line + ending for line in lines))

    @property
    def _core(self) -> str:
        return self.pattern.removeprefix("**/").strip("/")


def find(root: str) -> IgnoreRule | None:
    """Return the line by which git ignores the store of the project at `root`; None if it does not."""
    text = git_files.ignoring_line(root, _SAMPLE)
    place, _, _ = text.rpartition("\t")
    # The name of the file may have a colon, and so may the pattern: the number between two of them is the line.
    parts = place.split(":")
    number = next((at for at, part in enumerate(parts) if at and part.isdigit()), 0)
    if not number:
        return None
    pattern = ":".join(parts[number + 1 :])
    return None if pattern.startswith("!") else IgnoreRule(":".join(parts[:number]), int(parts[number]), pattern)


def _read(root: str) -> str:
    try:
        return files.read_inside(root, _FILE, _MAX_BYTES).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unwritable(
            f"cannot read {os.path.join(root, _FILE)}: {error.strerror or error}", fix="check its permissions"
        ) from error


def _write(root: str, text: str) -> None:
    full = files.inside(root, _FILE)
    if text:
        files.write(full, text.encode("utf-8", "surrogateescape"))
    else:
        files.remove(full)


def note(store_root: str) -> str:
    """Return what is wrong and what to do if git ignores this store of a project; else an empty text."""
    if not paths.is_project(paths.prefix_of(store_root)):
        return ""
    rule = find(paths.project_of(store_root))
    return f"{rule.sentence}: {rule.fix}" if rule else ""
